"""Makes the recordings that a release carries instead of solutions and misconceptions."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from unittest.mock import patch

import torch
from torch.nn import functional

from grader.core.errors import CourseError
from grader.core.records import Outcome, Visibility
from grader.course.builds_on import builds_on
from grader.course.course import Assignment, Course, Exercise
from grader.course.hints import read_hints
from grader.course.printed_tensors import Ledger
from grader.course.styles import read_styles
from grader.judging.collect import collect
from grader.judging.diagnosis import BROKEN, Known
from grader.judging.fixtures import CheckEnvironment, read_solutions, recorded_environment
from grader.judging.known_mistakes import LiveMistakes
from grader.judging.recordings import Recording
from grader.judging.run import CheckRun
from grader.judging.scoring import earned_share
from grader.sessions.in_process import InProcessSession
from grader.sessions.reference_sessions import RecordingSession, Transcripts
from grader.testing.lookup import SubmissionHandle


@dataclass(frozen=True, slots=True)
class _Solved:
    """How the visible checks of an assignment went with its solution.

    Args:
        mistakes: the known ones; the reference replies to them from the recording, as it will for
            students.
    """

    run: CheckRun
    transcripts: Transcripts
    mistakes: LiveMistakes


_solved: dict[tuple[str, str], _Solved] = {}
"""By the course's hash, and assignment: what this process has found."""


def record(course: Course, assignment: Assignment) -> Recording:
    """Run the visible checks of an assignment, on its solution and on each known mistake.

    Raises:
        CourseError: when the solution does not pass them, when what it returns depends on the
            processor, or when a check asks the reference something only where an answer is wrong.
    """
    solved = _with_solution(course, assignment)
    with other_processor():
        _, others = _run(course, assignment)
    for check, transcript in solved.transcripts.items():
        if transcript != others[check]:
            raise CourseError(
                f"{check}: the reference's answers depend on a seeded dropout draw, which differs "
                "between processors; a visible check cannot ask for that"
            )
    opened = _opened(course, assignment, solved.run, solved.transcripts)
    return replace(
        opened,
        hints=read_hints(assignment, course.paths(assignment).hints),
        decided=_decided(course, assignment),
        styles=read_styles(course, assignment),
        builds_on={exercise.id: builds_on(course, exercise) for exercise in assignment.exercises},
        known={
            exercise.id: (with_mistakes(course, exercise, 1), with_mistakes(course, exercise, 2))
            for exercise in assignment.exercises
        },
    )


def with_mistakes(course: Course, exercise: Exercise, size: int) -> list[Known]:
    """How the visible checks of an exercise go with so many of its known mistakes at a time.

    Raises:
        CourseError: as `record` does.
    """
    solved = _with_solution(course, course.by_id[exercise.assignment])
    known = solved.mistakes.known(exercise, solved.run.of(exercise.id), size)
    for entry in known:
        for check, trace in entry.traces.items():
            if trace.end == BROKEN:
                names = " and ".join(mistake.id for mistake in entry.mistakes)
                raise CourseError(
                    f"{check}: with {names} it breaks; it has to ask the reference the same in the "
                    "same order, whatever the answer is"
                )
    return known


def _with_solution(course: Course, assignment: Assignment) -> _Solved:
    """How the checks go with the solution; they run once in a process, as long as nothing changes."""
    key = course.raw_hash, assignment.id
    if key not in _solved:
        run, transcripts = _run(course, assignment)
        recording = _opened(course, assignment, run, transcripts)
        mistakes = LiveMistakes(recorded_environment(course, {assignment.id: recording}))
        _solved[key] = _Solved(run, transcripts, mistakes)
    return _solved[key]


def _opened(
    course: Course, assignment: Assignment, run: CheckRun, transcripts: Transcripts
) -> Recording:
    """A recording of the solution alone."""
    names = [exercise.name for exercise in assignment.exercises]
    source = read_solutions(course).readings[assignment.id].sources[0]
    _generation, opened = run.environment.reference.opened[source]
    return Recording(source, names, opened.header.get("classes", {}), transcripts, {}, {}, {})


def _decided(course: Course, assignment: Assignment) -> dict[str, float]:
    """The points of each exercise that its visible checks decide."""
    ids = [exercise.id for exercise in assignment.exercises]
    checks = collect(course, ids, (Visibility.VISIBLE, Visibility.HIDDEN))
    outcomes = {Visibility.VISIBLE: Outcome.PASSED, Visibility.HIDDEN: Outcome.FAILED}
    decided = {}
    for exercise in assignment.exercises:
        own = [check for check in checks if check.exercise.id == exercise.id]
        values = [check for check in own if not check.is_conduct] or own
        share = earned_share([check.result(outcomes[check.visibility]) for check in values])
        decided[exercise.id] = round(exercise.points * float(share), 4)
    return decided


def _run(course: Course, assignment: Assignment) -> tuple[CheckRun, Transcripts]:
    """How the visible checks go with the solution, as this process draws random numbers."""
    # Small tensors are quicker on one thread, and results do not depend on the machine.
    torch.set_num_threads(1)
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


@contextmanager
def other_processor() -> Iterator[None]:
    """Within this context dropout draws another mask from the same seed."""
    original = functional.dropout

    def dropout(
        input: torch.Tensor,  # noqa: A002 (torch names it so)
        p: float = 0.5,
        training: bool = True,
        inplace: bool = False,
    ) -> torch.Tensor:
        if not training or p == 0.0:
            return original(input, p, training, inplace)
        kept = torch.rand(input.shape, dtype=torch.float64).flip(-1) >= p
        factor = 1.0 / (1.0 - p) if p < 1.0 else 0.0
        return input * kept.to(input.dtype) * factor

    with patch.object(functional, "dropout", dropout):
        yield
