"""Gaps and exemptions, and why scores changed: no student gains or loses by what is not there."""

import pytest

from grader.classes.decisions import Decisions, Exemption
from grader.classes.explain import Request, states
from grader.classes.records import Records
from grader.classes.rows import row_of
from grader.classes.score import not_lower
from grader.core.records import Outcome
from grader.judging.results import record_texts
from grader.judging.scoring import nothing_handed_in
from tests.grader.classes.conftest import STUDENTS, student_of, work_of
from tests.grader.classes.test_decisions import COURSE, NOTHING, result_of

NONE, EXEMPT = Decisions(), Decisions(exemptions=(Exemption("ada", assignment="01_a"),))


def handed_in(outcome):
    """Work of which all checks of the first assignment ended so, None for nothing handed in."""
    first, *others = COURSE.assignments
    part = work_of(first, lambda _: outcome) if outcome else nothing_handed_in(first)
    passed = (work_of(one, lambda _: Outcome.PASSED) for one in others)
    return student_of(part, *passed, max_score=COURSE.max_score)


def test_exempt_without_work_is_exempt():
    """Not blank as where nothing was handed in; nobody else is."""
    row = row_of(result_of(NOTHING, EXEMPT), "")
    assert (row.score, row.max_score, row.submitted) == (None, 12, False)
    assert "01_a" in row.exempt
    assert "02_b" not in row.exempt


def test_an_exemption_that_is_taken_back_is_not_kept():
    """It is no earlier score that is higher."""
    before, now = (result_of(handed_in(None), one) for one in (EXEMPT, NONE))
    assert not_lower(now, before) == now


@pytest.mark.parametrize(
    ("decisions", "outcome", "now"),
    [
        (NONE, None, "nothing was handed in"),
        (EXEMPT, Outcome.PASSED, "does not count"),
        (NONE, Outcome.ERROR, "undecided"),
        (NONE, Outcome.PASSED, "3 of 3"),
    ],
)
def test_a_request_about_a_gap_is_not_undecided(tmp_path, decisions, outcome, now):
    """What stands beside a request."""
    text = record_texts(result_of(handed_in(outcome), decisions))[0]
    asked = [Request("ada", "01_a/f", "Why?")]
    (state,) = states(COURSE, Records(tmp_path, {"ada": lambda: text}), asked)
    assert state.now == now


def test_why_scores_changed_is_told_apart(run):
    """Graded again, other work, and points are three reasons."""
    run.harder()
    run.run()
    assert {*run.result.why} == {"graded again"}
    run.edit("course.toml", "scores = 2", "scores = 3")
    run.run()
    assert {*run.result.why} == {"points or dates"}
    for name in STUDENTS:
        (run.folder / name / "scores.py").write_text(f"# other than {name}\n", "utf-8")
    run.run()
    assert {*run.result.why} == {"other work"}


@pytest.mark.parametrize("is_harder", [False, True])
def test_a_new_assignment_is_a_reason_of_its_own(make, is_harder):
    """Where the earlier one is graded again and has another score, that is the reason, and not other work."""
    run = make("out")
    before = {row.student: row.assignments for row in run.run(assignments=("01_scores",))}
    if is_harder:
        run.harder()
    moved = [
        row for row in run.run() if row.assignments["01_scores"] != before[row.student]["01_scores"]
    ]
    assert bool(moved) == is_harder
    assert run.result.why["graded again"] == len(moved)
    assert {*run.result.why} - {"graded again"} == {"a new assignment"}
