"""The same work gets the same scores on both kinds of processor, which draw different masks."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from torch.nn import functional

from grader.core.records import Outcome
from grader.course.course import Course, Exercise
from grader.course.printed_tensors import Ledger
from grader.judging.known_mistakes import LiveMistakes, RecordedMistakes
from grader.judging.submission_grader import Scope, SubmissionGrader, full_grader, grade
from grader.release.recorder import other_processor
from grader.sessions.in_process import InProcessSession
from grader.submissions.submission import Submission

pytestmark = pytest.mark.xdist_group("processors")

SEED = "1"

FEW = 20
"""Only exercises with at most so many known mistakes are handed in with one: where a draw makes a
difference, they are run two at a time.
"""

DRAWN = ("06_dropout", "07_causal_attention", "08_multi_head_wrapper")
DRAWN += ("09_multi_head_attention", "11_gpt2_attention")
"""The assignments with dropout."""


@pytest.fixture(scope="module")
def bench(course: Course) -> Iterator[SubmissionGrader]:
    """What to grade with, on this processor."""
    made = full_grader(course, SEED)
    yield made
    made.close()


@dataclass(frozen=True)
class Work:
    """A submission, which exercise of it to grade, and whether there is a mistake in it."""

    submission: Submission
    exercise: Exercise
    is_mistaken: bool = False


def work_with_dropout(course: Course, known_mistakes: LiveMistakes) -> dict[str, Work]:
    """Each solution with dropout, and each with a mistake in its dropout."""
    found = {}
    for assignment in course.assignments:
        if assignment.id not in DRAWN:
            continue
        for exercise in assignment.exercises:
            found[exercise.id] = Work(known_mistakes.solutions, exercise)
            mistakes = known_mistakes.of(exercise)
            for known in mistakes if len(mistakes) <= FEW else ():
                mistaken = known_mistakes.with_mistakes(exercise, known)
                if "drop" in known.mistake.id and mistaken is not None:
                    found[known.mistake.id] = Work(mistaken, exercise, is_mistaken=True)
    return found


def graded_here(bench: SubmissionGrader, work: Work) -> dict[str, Any]:
    """What a piece of work gets that runs in this process: score, mistakes named, outcomes."""
    if not work.is_mistaken:  # no name is looked for, which takes long
        bench = SubmissionGrader(bench.environment, RecordedMistakes({}))
    session = InProcessSession(work.submission)
    result = grade(bench, work.submission, session, Scope({work.exercise.id: work.exercise}))
    ((exercise,),) = (assignment.exercises for assignment in result.assignments)
    return {
        "score": exercise.score,
        "findings": exercise.findings,
        "checks": {check.id: check.outcome for check in exercise.checks},
    }


@pytest.fixture(scope="module")
def drawn_here(course: Course, bench: SubmissionGrader) -> dict[str, dict[str, Any]]:
    """What work with dropout gets on this processor."""
    assert isinstance(bench.mistakes, LiveMistakes)
    work = work_with_dropout(course, bench.mistakes)
    return {name: graded_here(bench, one) for name, one in work.items()}


def test_the_two_kinds_of_processor_draw_different_masks(course: Course) -> None:
    """One seed gives two masks, so that a check that depends on a draw would be found out."""

    def mask(processor: AbstractContextManager[None]) -> torch.Tensor:
        with processor, torch.random.fork_rng(devices=[]):
            torch.manual_seed(123)
            return functional.dropout(torch.ones(6, 6), 0.5)

    here, there = mask(nullcontext()), mask(other_processor())
    assert not torch.equal(here, there)
    printed = Ledger(course.root, course.ledger)("T23").tensor
    assert [here.unique().tolist(), there.unique().tolist(), printed.unique().tolist()] == [
        [0.0, 2.0]
    ] * 3


@pytest.mark.proof
def test_work_with_dropout_gets_the_same_on_both_kinds_of_processor(
    course: Course, bench: SubmissionGrader, drawn_here: dict[str, dict[str, Any]]
) -> None:
    """Work that runs on the other kind gets the same scores, and its mistakes the same names."""
    assert isinstance(bench.mistakes, LiveMistakes)
    work = work_with_dropout(course, bench.mistakes)
    with other_processor():
        drawn_there = {name: graded_here(bench, one) for name, one in work.items()}
    assert drawn_there == drawn_here


@pytest.mark.proof
@pytest.mark.long
def test_grading_on_the_other_kind_of_processor_gives_the_same(
    course: Course, bench: SubmissionGrader, drawn_here: dict[str, dict[str, Any]]
) -> None:
    """The trusted side may run on the other kind as well: solutions still get full marks."""
    assert isinstance(bench.mistakes, LiveMistakes)
    work = work_with_dropout(course, bench.mistakes)
    solutions = {name: one for name, one in work.items() if name in course.exercises}
    with other_processor():
        there = full_grader(course, SEED)
        drawn_there = {name: graded_here(there, one) for name, one in solutions.items()}
        there.close()
    assert drawn_there == {name: drawn_here[name] for name in solutions}
    assert {name: one["score"] for name, one in drawn_there.items()} == {
        name: course.exercises[name].points for name in solutions
    }


@pytest.mark.slow
def test_the_documents_printed_mask_is_right_on_both_kinds_of_processor(
    course: Course, bench: SubmissionGrader
) -> None:
    """Whatever a processor draws, the mask that the documents printed gives what they printed."""
    assert isinstance(bench.mistakes, LiveMistakes)
    exercise = course.exercises["06_dropout/apply_dropout_mask"]
    work = Work(bench.mistakes.solutions, exercise)
    for processor in (nullcontext(), other_processor()):
        with processor:
            outcomes = graded_here(bench, work)["checks"]
        printed = {id_: how for id_, how in outcomes.items() if id_.endswith("as_printed")}
        assert len(printed) == 2
        assert set(printed.values()) == {Outcome.PASSED}
