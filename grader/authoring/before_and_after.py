"""Proofs on what students see before and after an exercise: predictions, other ways to write it."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from grader.authoring.course_texts import assignments_of
from grader.core.records import CheckResult, Outcome
from grader.course.course import Assignment, Course, Exercise
from grader.course.styles import read_styles
from grader.judging.known_mistakes import LiveMistakes
from grader.judging.run import CheckRun
from grader.judging.views import CodeAnswer, answered, load_predictions
from grader.release.solution_cells import read_solution
from grader.sessions.in_process import InProcessSession
from grader.submissions.submission import Submission
from grader.testing.lookup import SubmissionHandle
from grader.testing.predictions import Prediction
from grader.testing.student import StudentOutcome

Results = Mapping[str, tuple[CheckResult, ...]]
Run = Callable[[Submission, dict[str, Exercise]], tuple[CheckRun, Results]]
"""Runs all checks of some exercises on a submission."""


def wrong_styles(
    course: Course, chosen: Mapping[str, Exercise], mistakes: LiveMistakes, run: Run
) -> Iterator[str]:
    """Every style earns full marks in place of the solution's own way.

    Args:
        course: the course.
        chosen: the exercises to prove, by id.
        mistakes: with the solutions.
        run: runs the checks.
    """
    for assignment in assignments_of(course, chosen):
        solution = read_solution(assignment, course.paths(assignment).solution)
        cells = {cell.exercise: cell.text for cell in solution.cells}
        styles = read_styles(course, assignment)
        for exercise in filter(assignment.exercises.__contains__, chosen.values()):
            for style in styles.get(exercise.name, ()):
                text = solution.text.replace(cells[exercise.name], style.code)
                tried, results = run(mistakes.with_text(exercise, text), {exercise.id: exercise})
                wrong = first_failure(tried, results[exercise.id])
                if wrong:
                    yield f"{exercise.id}: the style {style.name!r} fails {wrong}"


def unanswered_predictions(
    course: Course,
    chosen: Mapping[str, Exercise],
    mistakes: LiveMistakes,
    with_stub: Callable[[Assignment, Path], Submission],
) -> Iterator[str]:
    """The solution's code answers every prediction; that of a stub says why it cannot.

    Args:
        course: the course.
        chosen: the exercises to prove, by id.
        mistakes: with the solutions.
        with_stub: puts a stub in place of a solution.

    Raises:
        CourseError: when a file of predictions has a problem.
    """
    for id_, one in load_predictions(course, chosen).items():
        assignment = course.by_id[chosen[id_].assignment]
        answer = _answer(mistakes, mistakes.solutions, chosen[id_], one)
        if isinstance(answer, str):
            yield f"{id_}: the solution does not answer its prediction: {answer}"
        elif answer.number != one.right:
            said = f"the solution answers {answer.number}, and `right` says {one.right}"
            yield f"{id_}: to its prediction {said}"
        stub = course.paths(assignment).stub
        if stub.is_file():
            unwritten = _answer(mistakes, with_stub(assignment, stub), chosen[id_], one)
            if not isinstance(unwritten, str):
                yield f"{id_}: its prediction is answered although the exercise is not written"


def _answer(
    mistakes: LiveMistakes, submission: Submission, exercise: Exercise, one: Prediction
) -> CodeAnswer | str:
    course, session = mistakes.environment.course, InProcessSession(submission)
    handle = SubmissionHandle(submission, session, course.limits, course.assignments)
    return answered(mistakes.environment, handle, exercise, one)


def first_failure(run: CheckRun, checks: Iterable[CheckResult]) -> str:
    """The first check that did not pass, and why; "" where all did."""
    for check in checks:
        if check.outcome not in (Outcome.PASSED, Outcome.REMARK):
            record = run.records[check.id]
            return f"{check.id}: {record.check.line_of(record.raised)}{_reason(record.raised)}"
    return ""


def _reason(error: BaseException | None) -> str:
    """Why a check ended as it did, in a line."""
    if isinstance(error, StudentOutcome):
        failure = error.failure
        return f"{failure.type or failure.kind}: {failure.message}".rstrip(": ")
    name = "" if isinstance(error, AssertionError) else f"{type(error).__name__}: "
    return f"{name}{error}".partition("\n")[0]
