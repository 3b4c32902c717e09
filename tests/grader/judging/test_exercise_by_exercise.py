"""Tests of the order in which a submission is judged, and of what is known of earlier exercises."""

from contextlib import closing
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from grader.core.records import CheckResult, Finding, Mistake, Outcome, Visibility
from grader.judging.exercise_judge import Judgement, with_right_parts
from grader.judging.known_mistakes import KnownMistakes
from grader.judging.run import CheckRun
from grader.judging.submission_grader import Scope
from grader.sessions.in_process import InProcessSession
from grader.submissions.submission import Reading
from grader.testing.earlier import Judged, judged
from grader.testing.lookup import SubmissionHandle

SLIP = "def scores(queries, keys):\n    return queries @ keys.T\n"
TELLS = """
import torch

def scores(queries, keys):
    seen.append(tuple(queries.shape))
    return queries @ keys.T / keys.shape[-1] ** 0.5

seen = []

def weights(raw):
    print("seen so far:", seen)
    return torch.zeros_like(raw)
"""
SHAPE_OF_THE_HIDDEN_CHECK = "(4, 5)"


@dataclass
class Asked:
    """Known mistakes that note when they are asked for."""

    inner: KnownMistakes
    run: list[str] = field(default_factory=list)

    def known(self, exercise, checks, size):
        """As they are."""
        self.run.append(f"mistakes of {exercise.name}")
        return self.inner.known(exercise, checks, size)


def test_an_exercise_is_judged_whole_before_the_next_begins(bench, graded, monkeypatch):
    """Its hidden checks and its known mistakes come before the first check of the next one."""
    asked = Asked(bench.mistakes)
    environment, fixtures = bench.environment, type(bench.environment).fixtures

    def noted(self, student, exercise, check, visibility):
        if student.submission.student == "student":
            asked.run.append(f"{visibility} of {exercise.name}")
        return fixtures(self, student, exercise, check, visibility)

    monkeypatch.setattr(type(environment), "fixtures", noted)
    text = f"{SLIP}\nimport torch\ndef weights(raw):\n    return raw\n"
    graded(replace(bench, mistakes=asked), text)
    order = list(dict.fromkeys(asked.run))
    assert order[:3] == ["visible of scores", "hidden of scores", "mistakes of scores"]
    assert order[3:6] == ["visible of weights", "hidden of weights", "mistakes of weights"]


def test_what_hidden_checks_asked_stands_in_no_message_of_a_later_exercise(bench, graded):
    """They run in another process, so that code cannot remember there what to print later."""
    result, _session = graded(bench, TELLS)
    visible = [c for e in result.exercises for c in e.checks if c.visibility is Visibility.VISIBLE]
    printed = [check.message for check in visible if "seen so far" in check.message]
    assert printed
    assert not [message for message in printed if SHAPE_OF_THE_HIDDEN_CHECK in message]


def test_what_is_known_of_an_exercise_is_kept_for_later_ones(bench, submit):
    """Whether it is right and attempted, and the names that were recognised in it."""
    course, submission = bench.environment.course, submit({"01_scores/scores.py": SLIP})
    readings = {"01_scores": Reading(("01_scores/scores.py",), "01_scores/scores.py")}
    submission = replace(submission, readings=readings)
    session = InProcessSession(submission)
    handle = SubmissionHandle(submission, session, course.limits, course.assignments)
    with closing(CheckRun(bench.environment, handle, bench.checks(Scope(course.exercises)))) as run:
        run.exercise("01_scores/scores")
    assert handle.judged == {"01_scores/scores": Judged(is_attempted=True, is_right=False)}


def result(outcome, weight=1):
    """A check that ended so."""
    return CheckResult("a/b::visible::c", "", Visibility.VISIBLE, weight, outcome, "", 0.0)


MISTAKES = [Mistake(name, "", "") for name in ("one", "other")]
NAMED = Finding((MISTAKES[0],))


@pytest.mark.parametrize(
    ("outcomes", "findings", "expected"),
    [
        ([Outcome.PASSED], (), Judged(is_attempted=True, is_right=True)),
        ([Outcome.PASSED, Outcome.FAILED], (), Judged(True, False)),
        ([Outcome.MISSING, Outcome.BLOCKED], (), Judged(False, False)),
        ([Outcome.PASSED, Outcome.NOT_ATTEMPTED], (), Judged(False, False)),
        ([Outcome.FAILED], (NAMED,), Judged(True, False, ("one",), is_explained=True)),
        (
            [Outcome.FAILED],
            (msgspec.structs.replace(NAMED, is_partial=True),),
            Judged(True, False, ("one",)),
        ),
        ([Outcome.FAILED], (Finding(tuple(MISTAKES)),), Judged(True, False, (), is_explained=True)),
    ],
)
def test_how_an_exercise_stands(outcomes, findings, expected):
    """A stub anywhere is no attempt; only names that are certain are names."""
    assert judged([result(outcome) for outcome in outcomes], findings) == expected


@pytest.mark.parametrize(("is_used", "findings"), [(True, ()), (False, (NAMED,))])
def test_where_nothing_can_be_asked_what_a_wrong_part_may_have_done_has_no_name(
    is_used: bool, findings: tuple[Finding, ...]
) -> None:
    """The part's mistake is told there; a layer that does not use the part has its own."""
    part = SimpleNamespace(id="a/scores", name="scores")
    course = SimpleNamespace(exercises={"a/scores": part}, has_solutions=False)
    submission = SimpleNamespace(
        judged={"a/scores": SimpleNamespace(is_attempted=True, is_right=False)},
        uses=lambda _exercise, _name: is_used,
    )
    environment = SimpleNamespace(course=course, reference=None)
    run: Any = SimpleNamespace(environment=environment, submission=submission)
    exercise: Any = SimpleNamespace(id="a/Layer", name="Layer")
    first = Judgement((result(Outcome.FAILED),), {}, (NAMED,))
    made = with_right_parts(run, exercise, first, ["a/scores"], lambda _records: ())
    assert made.findings == findings
    assert made.to_judge_with == ("scores",) * is_used
