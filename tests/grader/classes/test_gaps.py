"""Gaps and exemptions in comparisons and decisions: no student gains or loses by them."""

from decimal import Decimal

import pytest

from grader.classes.compare import Comparison, compare_results
from grader.classes.deciding import decided
from grader.classes.decisions import NO_DECISIONS, Decisions, Group, Override, Personal
from grader.classes.explain import Request, states
from grader.classes.records import Records
from grader.classes.rows import row_of
from grader.classes.score import not_lower
from grader.core.records import (
    AssignmentResult,
    CheckResult,
    ExerciseResult,
    Outcome,
    Result,
    Visibility,
)
from grader.course.course import load_course
from grader.judging.results import record_texts
from grader.judging.scoring import nothing_handed_in
from tests.grader.classes.conftest import STUDENTS

SCORES, MIXTURE = "01_scores", "02_mixture"


@pytest.fixture(scope="module")
def course(root):
    """A course of two assignments, of 2 and 4 points."""
    return load_course(root / "tests" / "example_course")


@pytest.fixture
def student(course):
    """Makes a student: by assignment how its checks ended; None where nothing was handed in."""

    def part(id_, outcome):
        if outcome is None:
            return nothing_handed_in(course.by_id[id_])
        exercises = tuple(
            ExerciseResult(
                *(e.id, None, e.points),
                checks=(
                    CheckResult(f"{e.id}::visible::c", "It", Visibility.VISIBLE, 1, outcome, "", 0),
                ),
            )
            for e in course.by_id[id_].exercises
        )
        return AssignmentResult(id_, f"{id_}.py", None, 0, exercises=exercises)

    def made(personal=NO_DECISIONS, **outcomes):
        parts = tuple(part(a.id, outcomes[a.id]) for a in course.assignments if a.id in outcomes)
        rest = ((), "1", {}, "", "", parts)
        known = Result("ada", None, course.max_score, False, bool(parts), *rest)
        return decided(course, known, personal)

    return made


def ids(course, assignment):
    """The exercises of an assignment."""
    return frozenset(e.id for e in course.by_id[assignment].exercises)


def by(**outcomes):
    """How the checks of the two assignments ended."""
    return {{"scores": SCORES, "mixture": MIXTURE}[name]: one for name, one in outcomes.items()}


PASSED, FAILED = Outcome.PASSED, Outcome.FAILED


@pytest.mark.parametrize(
    ("before", "after", "exempt", "told"),
    [
        (
            by(scores=PASSED),
            by(scores=PASSED, mixture=PASSED),
            "",
            "by an assignment that one of the runs lacks",
        ),
        (
            by(scores=PASSED, mixture=None),
            by(scores=PASSED, mixture=PASSED),
            "",
            "by an assignment that was handed in since",
        ),
        (
            by(scores=PASSED, mixture=PASSED),
            by(scores=PASSED, mixture=PASSED),
            MIXTURE,
            "by what does not count in one of the runs",
        ),
        (
            by(scores=PASSED, mixture=PASSED),
            by(scores=PASSED, mixture=PASSED),
            "02_mixture/weights",
            "by what does not count in one of the runs",
        ),
    ],
)
def test_nobody_gains_or_loses_by_what_one_run_lacks(course, student, before, after, exempt, told):
    """A new assignment, one that was handed in since, and an exemption are said apart."""
    freed = frozenset(e for e in course.exercises if exempt and e.startswith(exempt))
    change = compare_results(student(**before), student(Personal(exempt=freed), **after))
    assert change.is_of_score
    sentence = Comparison(1, (change,)).sentence
    assert "0 gain, 0 lose" in sentence
    assert sentence.endswith(f"; 0 have other outcomes and the same score. 1 differ only {told}.")
    (part,) = change.parts
    assert None in (part.before, part.after)


def test_work_that_vanished_is_lost(student):
    """It was there in the earlier run, and its points are gone."""
    before = student(**by(scores=PASSED, mixture=PASSED))
    change = compare_results(before, student(**by(scores=PASSED, mixture=None)))
    assert "0 gain, 1 lose" in Comparison(1, (change,)).sentence
    (part,) = change.parts
    assert part.lines == ("02_mixture -4", "  nothing handed in in the later run")


def test_a_change_beside_a_new_assignment_is_counted_alone(student):
    """Less in one, and more by a new one: that is a loss."""
    before = student(**by(scores=PASSED))
    change = compare_results(before, student(**by(scores=FAILED, mixture=PASSED)))
    assert change.difference == 2
    assert "0 gain, 1 lose" in Comparison(1, (change,)).sentence


def test_who_has_nothing_that_counts_handed_in_something(course, student):
    """In a comparison this is not "nothing handed in"."""
    everything = Personal(exempt=frozenset(course.exercises))
    work = by(scores=PASSED, mixture=PASSED)
    change = compare_results(student(**work), student(everything, **work))
    assert (change.shown_before, change.shown_after) == ("6", "does not count")


def test_exempt_without_work_is_exempt(course, student):
    """Not blank as where nothing was handed in; nobody else is."""
    row = row_of(student(Personal(exempt=ids(course, SCORES))), "")
    assert (row.score, row.max_score, row.submitted) == (None, 4, False)
    assert SCORES in row.exempt
    assert MIXTURE not in row.exempt


def test_points_without_work_are_given(student):
    """A person's points for somebody who handed in nothing."""
    result = student(Personal(overrides=(Override("ada", "01_scores/scores", 1.5, "Oral."),)))
    assert (result.score, result.submitted) == (Decimal("1.5"), True)


def test_an_exemption_that_is_taken_back_is_not_kept(course, student):
    """It is no earlier score that is higher."""
    before = student(Personal(exempt=ids(course, SCORES)), **by(scores=None, mixture=PASSED))
    now = student(**by(scores=None, mixture=PASSED))
    assert not_lower(now, before) == now


@pytest.mark.parametrize(
    ("exempt", "outcome", "now"),
    [
        (False, None, "nothing was handed in"),
        (True, PASSED, "does not count"),
        (False, Outcome.ERROR, "undecided"),
        (False, PASSED, "2 of 2"),
    ],
)
def test_a_request_about_a_gap_is_not_undecided(course, student, tmp_path, exempt, outcome, now):
    """What stands beside a request."""
    personal = Personal(exempt=ids(course, SCORES) if exempt else frozenset())
    text = record_texts(student(personal, **by(scores=outcome, mixture=PASSED)))[0]
    (state,) = states(
        course,
        Records(tmp_path, {"ada": lambda: text}),
        [Request("ada", "01_scores/scores", "Why?")],
    )
    assert state.now == now


def test_a_group_is_decided_and_automatic_is_the_own_work(make):
    """Who has the group's points has in `automatic` what the own work earned."""
    run = make("out")
    before = {row.student: row for row in run.run()}
    names = tuple(sorted(STUDENTS, key=lambda name: before[name].exercises["01_scores/scores"]))
    pair = (names[0], names[-1])
    rows = {row.student: row for row in run.run(decisions=Decisions(groups=(Group(pair, SCORES),)))}
    row = rows[pair[0]]
    assert row.decided == (f"group {SCORES}",)
    assert row.score > before[pair[0]].score == row.automatic
    assert rows[pair[1]].decided == ()
    lines = (run.out / "scores.csv").read_text("utf-8").splitlines()
    assert any(f"group {SCORES}" in line for line in lines)
    assert run.result.why == {"decisions": 1}


def test_why_scores_changed_is_told_apart(make):
    """Graded again, other work, and points are three reasons."""
    run = make("out")
    run.run()
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
    before = {row.student: row.assignments for row in run.run(assignments=(SCORES,))}
    if is_harder:
        run.harder()
    moved = [row for row in run.run() if row.assignments[SCORES] != before[row.student][SCORES]]
    assert bool(moved) == is_harder
    assert run.result.why["graded again"] == len(moved)
    assert {*run.result.why} - {"graded again"} == {"a new assignment"}


def test_what_could_be_judged_now_was_undecided_before(make):
    """This is no change of points."""
    run = make("out")

    def failing(settings, students):
        for student, outcome in run.grade(settings, students):
            yield student, "no memory" if student.id == STUDENTS[0] else outcome

    run.run(failing)
    run.run()
    assert run.result.why == {"undecided before": 1}
