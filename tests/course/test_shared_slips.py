"""Tests that a slip which two students share makes neither's result depend on the other's."""

import json
from contextlib import closing
from dataclasses import replace

import pytest

from grader.judging.answer_cache import AnswerCache
from grader.judging.known_mistakes import RecordedMistakes
from grader.judging.submission_grader import Scope, SubmissionGrader, full_grader, outcomes
from grader.sessions.child import ChildSession
from grader.submissions.submission import read_submission

pytestmark = pytest.mark.proof

SCALED = (" / keys.shape[-1] ** 0.5", " / key.shape[-1] ** 0.5", " / k.shape[-1] ** 0.5")


def notebook(text):
    """A notebook with one cell."""
    cell = {"cell_type": "code", "source": text, "metadata": {}, "outputs": []}
    return json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


def renamed(text):
    """The same with other names in a class's constructor."""
    before, head, after = text.partition("class SelfAttention_v2")
    assert head
    return before + head + after.replace("d_in", "size").replace("qkv_bias", "biased")


def moved(text):
    """The same with another order of what a class's constructor takes."""
    before, head, after = text.partition("class SelfAttention_v2")
    swapped = after.replace("d_in: int, d_out: int", "d_out: int, d_in: int")
    assert swapped != after
    return before + head + swapped


FORMS = {
    "a notebook": lambda text: {"self_attention.ipynb": notebook(text)},
    "another file name": lambda text: {"mine.py": text},
    "other names": lambda text: {"self_attention.py": renamed(text)},
    "another order": lambda text: {"self_attention.py": moved(text)},
    "nothing": lambda _text: {},
}


@pytest.fixture
def bench(course):
    """Grades without names of mistakes: of them it is not here."""
    with closing(full_grader(course, "1")) as made:
        yield SubmissionGrader(made.environment, RecordedMistakes({}))


@pytest.fixture
def handed_in(course, tmp_path):
    """What a student handed in of 04, with the one file of 07 that all have."""
    slips = {}
    for id_ in ("04_self_attention", "07_causal_attention"):
        text = course.paths(course.by_id[id_]).solution.read_text("utf-8")
        for scaled in SCALED:
            text = text.replace(scaled, "")
        slips[id_] = text

    def write(name, form):
        folder = tmp_path / name
        files = {"causal_attention.py": slips["07_causal_attention"]}
        for file, text in {**files, **form(slips["04_self_attention"])}.items():
            folder.mkdir(exist_ok=True)
            (folder / file).write_text(text, "utf-8")
        return read_submission(course, folder, name)

    return write


@pytest.fixture
def judged(course, launcher):
    """How each check of the layer of 04 and of those of 07 ended, and what was said."""

    def run(bench, submission):
        scope = Scope(course.select(("04/SelfAttention_v2", "07")))
        with closing(ChildSession(launcher, submission, course.limits)) as session:
            result = outcomes(bench, submission, session, scope)
        return {c.id: (c.outcome, c.message) for e in result.exercises for c in e.checks}

    return run


def test_the_same_slip_in_another_form_is_judged_as_if_alone(bench, handed_in, judged):
    """07 looks at a student's own 04, which others have as a notebook, or otherwise."""
    judged(bench, handed_in("ann", lambda text: {"self_attention.py": text}))
    for name, form in FORMS.items():
        other = handed_in(name, form)
        found = judged(bench, other)
        assert found == judged(replace(bench, answers=AnswerCache()), other), name
        assert not [id_ for id_, (outcome, _message) in found.items() if outcome == "error"]
