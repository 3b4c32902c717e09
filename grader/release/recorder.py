"""Makes the recordings that a release carries instead of solutions and misconceptions."""

from dataclasses import replace

import torch

from grader.checks.collect import collect
from grader.checks.fixtures import CheckEnvironment, read_solutions, recorded_environment
from grader.checks.recordings import Recording
from grader.checks.run import CheckRun
from grader.core.errors import CourseError
from grader.core.records import Outcome, Visibility
from grader.course.builds_on import builds_on
from grader.course.course import Assignment, Course
from grader.course.hints import read_hints
from grader.course.printed_tensors import Ledger
from grader.course.styles import read_styles
from grader.feedback.diagnosis import BROKEN, Known
from grader.grading.known_mistakes import LiveMistakes
from grader.grading.scoring import passed_share
from grader.release.other_processor import other_processor
from grader.sessions.in_process import InProcessSession
from grader.sessions.reference_sessions import RecordingSession, Transcripts
from grader.testing.lookup import SubmissionHandle


def record(course: Course, assignment: Assignment) -> Recording:
    """Run the visible checks of an assignment, on its solution and on each known mistake.

    Raises:
        CourseError: when the solution does not pass them, when what it returns depends on the
            processor, or when a check asks the reference something only where an answer is wrong.
    """
    # Small tensors are quicker on one thread, and results do not depend on the machine.
    torch.set_num_threads(1)
    run, transcripts = _run(course, assignment)
    with other_processor():
        _, others = _run(course, assignment)
    for check, transcript in transcripts.items():
        if transcript != others[check]:
            raise CourseError(
                f"{check}: the reference's answers depend on a seeded dropout draw, which differs "
                "between processors; a visible check cannot ask for that"
            )
    names = [exercise.name for exercise in assignment.exercises]
    source = read_solutions(course).readings[assignment.id].sources[0]
    hints = read_hints(assignment, course.paths(assignment).hints)
    decided = _decided(course, assignment)
    _generation, opened = run.environment.reference.opened[source]
    classes = opened.header.get("classes", {})
    styles = read_styles(course, assignment)
    parts = {exercise.id: builds_on(course, exercise) for exercise in assignment.exercises}
    recording = Recording(source, names, classes, transcripts, {}, hints, decided, styles, parts)
    return replace(recording, known=_known(course, assignment, run, recording))


def _decided(course: Course, assignment: Assignment) -> dict[str, float]:
    """The points of each exercise that its visible checks decide."""
    ids = [exercise.id for exercise in assignment.exercises]
    checks = collect(course, ids, (Visibility.VISIBLE, Visibility.HIDDEN))
    outcomes = {Visibility.VISIBLE: Outcome.PASSED, Visibility.HIDDEN: Outcome.FAILED}
    decided = {}
    for exercise in assignment.exercises:
        own = [check for check in checks if check.exercise.id == exercise.id]
        values = [check for check in own if not check.is_conduct] or own
        share = passed_share([check.result(outcomes[check.visibility]) for check in values])
        decided[exercise.id] = round(exercise.points * float(share), 4)
    return decided


def _run(course: Course, assignment: Assignment) -> tuple[CheckRun, Transcripts]:
    submission = read_solutions(course)
    session = RecordingSession(InProcessSession(submission))
    reference = SubmissionHandle(submission, session, course.limits)
    environment = CheckEnvironment(
        course, Ledger(course.root, course.ledger), reference, session, ""
    )
    student = SubmissionHandle(submission, InProcessSession(submission), course.limits)
    exercises = [exercise.id for exercise in assignment.exercises]
    run = CheckRun(environment, student, collect(course, exercises, (Visibility.VISIBLE,)))
    for checks in run.run(exercises).values():
        for check in checks:
            if check.outcome not in (Outcome.PASSED, Outcome.REMARK):
                raise CourseError(f"{check.id}: the solution does not pass it: {check.message}")
    return run, session.transcripts


def _known(
    course: Course, assignment: Assignment, run: CheckRun, recording: Recording
) -> dict[str, tuple[list[Known], list[Known]]]:
    """How the visible checks go with each known mistake, and with each two of an exercise.

    The reference replies from the recording, as it will for students.
    """
    mistakes = LiveMistakes(recorded_environment(course, {assignment.id: recording}))
    known = {}
    for exercise in assignment.exercises:
        checks = run.of(exercise.id)
        singles, pairs = (mistakes.known(exercise, checks, size) for size in (1, 2))
        for entry in (*singles, *pairs):
            _refuse_broken(entry)
        known[exercise.id] = (singles, pairs)
    return known


def _refuse_broken(entry: Known) -> None:
    for check, trace in entry.traces.items():
        if trace.end == BROKEN:
            names = " and ".join(mistake.id for mistake in entry.mistakes)
            raise CourseError(
                f"{check}: with {names} it breaks; it has to ask the reference the same in the "
                "same order, whatever the answer is"
            )
