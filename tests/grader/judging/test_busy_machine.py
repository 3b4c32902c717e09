"""Tests of checks on a busy machine: run once more, then not judged; never a lost point."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from grader.core.records import ExerciseResult, Outcome
from grader.course.course import Course
from grader.judging.answer_cache import AnswerCacheSession
from grader.judging.submission_grader import Scope, SubmissionGrader, grade
from grader.sandbox.stream import Raw
from grader.sandbox.wire import decode_header, split
from grader.sessions.child import ChildSession
from grader.sessions.stopwatch import NotScheduled
from grader.submissions.submission import read_submission

RIGHT = "def scores(queries, keys):\n    return queries @ keys.T / keys.shape[-1] ** 0.5\n"
LOADING, CALLING = ("open",), ("call", "batch")
SENTENCE = "This was not judged: the computer was busy, and your code got no turn. Run it again."


@dataclass(eq=False)
class Crowded(ChildSession):
    """A child that gets no turn in some of its requests.

    Args:
        verbs: of those requests.
        missed: how many of them there still are.
    """

    verbs: tuple[str, ...] = CALLING
    missed: int = 0

    def _timed(self, request: bytes, seconds: float) -> Raw:
        verbs = [decode_header(header)["verb"] for header, _payload in split(request)]
        if self.missed and any(verb in self.verbs for verb in verbs):
            self.missed -= 1
            raise NotScheduled
        return super()._timed(request, seconds)


@pytest.fixture
def graded(
    course: Course, bench: SubmissionGrader, warm_parent: Any, tmp_path: Path
) -> Callable[[tuple[str, ...], int], ExerciseResult]:
    """Grades a right answer whose first requests of a kind get no turn; its one exercise."""

    def run(verbs: tuple[str, ...], missed: int) -> ExerciseResult:
        (tmp_path / "scores.py").write_text(RIGHT, "utf-8")
        submission = read_submission(course, tmp_path, "student")
        child = Crowded(warm_parent, submission, course.limits, verbs=verbs, missed=missed)
        session = AnswerCacheSession(child, bench.answers)
        try:
            return grade(bench, submission, session, Scope(course.exercises)).exercises[0]
        finally:
            session.close()

    return run


@pytest.mark.parametrize("verbs", [LOADING, CALLING], ids=["loading", "calling"])
def test_who_got_no_turn_once_is_judged_in_a_new_process(
    graded: Callable[[tuple[str, ...], int], ExerciseResult], verbs: tuple[str, ...]
) -> None:
    """While the file is loaded, or in a call: nothing is lost, also where answers are known."""
    for _student in range(2):
        exercise = graded(verbs, 1)
        assert (exercise.score, exercise.undecided) == (exercise.max_score, False)


@pytest.mark.parametrize(("verbs", "times"), [(LOADING, 3), (CALLING, 2)])
def test_who_got_no_turn_again_is_not_judged(
    graded: Callable[[tuple[str, ...], int], ExerciseResult], verbs: tuple[str, ...], times: int
) -> None:
    """Undecided, never zero; the checks after it are not waited for one by one."""
    exercise = graded(verbs, times)
    first, *others = exercise.checks
    assert (exercise.score, exercise.had_no_turn) == (None, True)
    assert (first.outcome, first.message) == (Outcome.NO_TURN, SENTENCE)
    assert {check.outcome for check in others} == {Outcome.BLOCKED}
