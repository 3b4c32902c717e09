"""Tests of the order in which a submission is judged, and of what later exercises know of earlier ones."""

from contextlib import closing
from dataclasses import dataclass, field

import pytest

from grader.core.records import CheckResult, Finding, Mistake, Outcome, Visibility
from grader.judging.known_mistakes import KnownMistakes
from grader.judging.run import CheckRun
from grader.judging.submission_grader import Scope, SubmissionGrader, outcomes
from grader.sessions.child import ChildSession
from grader.submissions.submission import read_submission
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


@pytest.fixture
def session_of(bench, tmp_path, warm_parent):
    """Starts a child process for a submission of one file."""

    def start(text):
        (tmp_path / "scores.py").write_text(text, "utf-8")
        course = bench.environment.course
        submission = read_submission(course, tmp_path / "scores.py", "someone")
        return submission, ChildSession(warm_parent, submission, course.limits)

    return start


@dataclass
class Asked:
    """Known mistakes that note when they are asked for."""

    inner: KnownMistakes
    run: list[str] = field(default_factory=list)

    def known(self, exercise, checks, size):
        """As they are."""
        self.run.append(f"mistakes of {exercise.name}")
        return self.inner.known(exercise, checks, size)


def test_an_exercise_is_judged_whole_before_the_next_begins(bench, session_of, monkeypatch):
    """Its hidden checks and its known mistakes come before the first check of the next one."""
    asked = Asked(bench.mistakes)
    environment, fixtures = bench.environment, type(bench.environment).fixtures

    def noted(self, student, exercise, check, visibility):
        if student.submission.student == "someone":
            asked.run.append(f"{visibility} of {exercise.name}")
        return fixtures(self, student, exercise, check, visibility)

    monkeypatch.setattr(type(environment), "fixtures", noted)
    submission, session = session_of(f"{SLIP}\nimport torch\ndef weights(raw):\n    return raw\n")
    with closing(session):
        scope = Scope(environment.course.exercises)
        outcomes(SubmissionGrader(environment, asked), submission, session, scope)
    order = list(dict.fromkeys(asked.run))
    assert order[:3] == ["visible of scores", "hidden of scores", "mistakes of scores"]
    assert order[3:6] == ["visible of weights", "hidden of weights", "mistakes of weights"]


def test_what_hidden_checks_asked_stands_in_no_message_of_a_later_exercise(bench, session_of):
    """They run in another process, so that code cannot remember there what to print later."""
    submission, session = session_of(TELLS)
    with closing(session):
        result = outcomes(bench, submission, session, Scope(bench.environment.course.exercises))
    visible = [c for c in result.checks if c.visibility is Visibility.VISIBLE]
    printed = [check.message for check in visible if "seen so far" in check.message]
    assert printed
    assert not [message for message in printed if SHAPE_OF_THE_HIDDEN_CHECK in message]


def test_what_is_known_of_an_exercise_is_kept_for_later_ones(bench, session_of):
    """Whether it is right and attempted, and the names that were recognised in it."""
    submission, session = session_of(SLIP)
    course = bench.environment.course
    with closing(session):
        handle = SubmissionHandle(submission, session, course.limits, course.assignments)
        checks = bench.checks(Scope(course.exercises))
        with closing(CheckRun(bench.environment, handle, checks)) as run:
            run.exercise("01_scores/scores")
    assert handle.judged == {"01_scores/scores": Judged(is_attempted=True, is_right=False)}


def result(outcome, weight=1):
    """A check that ended so."""
    return CheckResult("a/b::visible::c", "", Visibility.VISIBLE, weight, outcome, "", 0.0)


MISTAKES = [Mistake(name, "", "") for name in ("one", "other")]


@pytest.mark.parametrize(
    ("outcomes", "findings", "expected"),
    [
        ([Outcome.PASSED], (), Judged(is_attempted=True, is_right=True)),
        ([Outcome.PASSED, Outcome.FAILED], (), Judged(True, False)),
        ([Outcome.MISSING, Outcome.BLOCKED], (), Judged(False, False)),
        ([Outcome.PASSED, Outcome.NOT_ATTEMPTED], (), Judged(False, False)),
        (
            [Outcome.FAILED],
            (Finding((MISTAKES[0],)),),
            Judged(True, False, ("one",), is_explained=True),
        ),
        (
            [Outcome.FAILED],
            (Finding((MISTAKES[0],), is_partial=True),),
            Judged(True, False, ("one",)),
        ),
        ([Outcome.FAILED], (Finding(tuple(MISTAKES)),), Judged(True, False, (), is_explained=True)),
    ],
)
def test_how_an_exercise_stands(outcomes, findings, expected):
    """A stub anywhere is no attempt; only names that are certain are names."""
    assert judged([result(outcome) for outcome in outcomes], findings) == expected
