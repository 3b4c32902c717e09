"""Tests of checks on a busy machine: run once more, then not judged; never a lost point."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from grader.core.records import ExerciseResult, Outcome
from grader.judging.answer_cache import AnswerCacheSession
from grader.judging.submission_grader import SubmissionGrader
from grader.sandbox.stream import Raw
from grader.sandbox.wire import decode_header, split
from grader.sessions.child import ChildSession
from grader.sessions.stopwatch import NotScheduled

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
def exercise(bench: SubmissionGrader, graded: Any) -> Callable[..., ExerciseResult]:
    """Grades a right answer whose first requests of a kind get no turn; its one exercise."""

    def run(verbs: tuple[str, ...], missed: int) -> ExerciseResult:
        def crowded(parent: Any, work: Any, limits: Any) -> AnswerCacheSession:
            child = Crowded(parent, work, limits, verbs=verbs, missed=missed)
            return AnswerCacheSession(child, bench.answers)

        result, _ended = graded(bench, RIGHT, crowded)
        return result.exercises[0]

    return run


@pytest.mark.parametrize("verbs", [LOADING, CALLING], ids=["loading", "calling"])
def test_who_got_no_turn_once_is_judged_in_a_new_process(exercise: Any, verbs: Any) -> None:
    """While the file is loaded, or in a call: nothing is lost, also where answers are known."""
    for _student in range(2):
        found = exercise(verbs, 1)
        assert (found.score, found.undecided) == (found.max_score, False)


@pytest.mark.parametrize(("verbs", "times"), [(LOADING, 3), (CALLING, 2)])
def test_who_got_no_turn_again_is_not_judged(exercise: Any, verbs: Any, times: int) -> None:
    """Undecided, never zero; the checks after it are not waited for one by one."""
    found = exercise(verbs, times)
    first, *others = found.checks
    assert (found.score, found.had_no_turn) == (None, True)
    assert (first.outcome, first.message) == (Outcome.NO_TURN, SENTENCE)
    assert {check.outcome for check in others} == {Outcome.BLOCKED}
