"""Decisions: what they mean for each student, and that they never go astray."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from grader.classes.deciding import LateWork, best_of, decided
from grader.classes.decisions import (
    Decisions,
    DroppedCheck,
    Exemption,
    ExerciseSet,
    Extension,
    GivenCheck,
    LateDays,
    Override,
)
from grader.core.records import (
    AssignmentResult,
    CheckResult,
    ExerciseResult,
    Outcome,
    Result,
    Visibility,
)
from grader.course.course import Assignment, Course, Exercise, LateRule, Limits
from grader.judging.results import for_student, from_json, to_json
from grader.judging.scoring import late_factor, rounded, scored

DUE = datetime(2027, 2, 1, tzinfo=UTC)
IDS = ("01_a", "02_b", "03_c")
COURSE = Course(
    root=Path("course"),
    title="A course",
    prefer="py",
    limits=Limits(),
    late=LateRule(percent_per_day=15),
    assignments=tuple(
        Assignment(id_, id_, tuple(Exercise(id_, name, 3) for name in ("f", "g")), due=DUE)
        for id_ in IDS
    ),
)
EXERCISES = tuple(COURSE.exercises)
CHECKS = tuple(f"{id_}::{kind}::test_it" for id_ in EXERCISES for kind in Visibility)
ADA, ALL = {"student": "ada"}, {"label": "all"}


def outcomes_of(passed, late, outcome=Outcome.FAILED):
    """What somebody handed in: the checks that passed, and days late by assignment."""

    def check(id_, kind):
        how = Outcome.PASSED if id_ in passed else outcome
        return CheckResult(id_, "It holds", kind, 1, how, "", 0.0)

    return Result(
        *("ada", None, COURSE.max_score, False, True, (), "1", {}, "c0", "be"),
        tuple(
            AssignmentResult(
                *(one.id, "a.py", None, 0),
                exercises=tuple(
                    ExerciseResult(
                        e.id,
                        None,
                        0,
                        checks=tuple(check(f"{e.id}::{k}::test_it", k) for k in Visibility),
                    )
                    for e in one.exercises
                ),
                submitted_at=DUE + timedelta(days=days),
            )
            for one, days in zip(COURSE.assignments, late, strict=True)
        ),
    )


HANDED_IN = st.builds(
    outcomes_of,
    st.sets(st.sampled_from(CHECKS)),
    st.lists(st.floats(-2, 9), min_size=3, max_size=3),
)
NOTHING = Result("ada", None, COURSE.max_score, False, False, (), "1", {}, "c0", "", ())
MOMENTS = st.integers(-3, 12).map(lambda days: DUE + timedelta(days=days))
WHOM = st.sampled_from([ADA, ALL, {"student": "bob"}, {"label": "none"}])
SOME = st.sets(st.sampled_from(EXERCISES), min_size=1).map(lambda ids: tuple(sorted(ids)))
EXTENSIONS = st.builds(
    lambda whom, id_, time: Extension(**whom, assignment=id_, **time),
    WHOM,
    st.sampled_from(["", *IDS]),
    st.integers(1, 5).map(lambda days: {"days": days}) | MOMENTS.map(lambda at: {"until": at}),
)
EXEMPTIONS = st.builds(lambda whom, ids: Exemption(**whom, exercises=ids), WHOM, SOME)
POINTS = st.decimals(0, 9, places=2).map(float)
OVERRIDES = st.builds(Override, st.just("ada"), st.sampled_from(EXERCISES), POINTS, st.just("So."))
DECISIONS = st.builds(
    Decisions,
    st.lists(EXTENSIONS, max_size=4).map(tuple),
    st.lists(EXEMPTIONS, max_size=2).map(tuple),
    st.lists(st.builds(ExerciseSet, st.sampled_from(["all", "none"]), SOME), max_size=2).map(tuple),
    st.lists(OVERRIDES, max_size=3, unique_by=lambda one: one.exercise).map(tuple),
    st.lists(st.builds(DroppedCheck, st.sampled_from(CHECKS[::2])), max_size=2, unique=True).map(
        tuple
    ),
    st.lists(st.builds(GivenCheck, st.sampled_from(CHECKS[1::2])), max_size=2, unique=True).map(
        tuple
    ),
    st.none() | st.builds(LateDays, st.integers(0, 6), st.integers(0, 3)),
)


def about_check(id_, reason="", *, is_given):
    """A decision about one check."""
    if is_given:
        return Decisions(full_marks=(GivenCheck(id_, reason),))
    return Decisions(drop=(DroppedCheck(id_, reason),))


def result_of(outcomes, decisions):
    """A student's result with decisions."""
    return decided(COURSE, outcomes, decisions.of(COURSE, "ada", ["all"]))


def earned(outcomes, decisions):
    """A student's score with decisions; nothing where everything is exempt, which has none."""
    return result_of(outcomes, decisions).score or 0


@given(HANDED_IN, DECISIONS, EXTENSIONS)
def test_more_time_never_costs_points(outcomes, decisions, extension):
    """One more extension, whatever else was decided: no assignment's best total falls."""
    more = replace(decisions, extensions=(*decisions.extensions, extension))
    assert earned(outcomes, more) >= earned(outcomes, decisions)


@given(HANDED_IN, DECISIONS, st.integers(1, 3))
def test_more_late_days_never_cost_points(outcomes, decisions, days):
    """A larger budget, or more of it for one assignment."""
    before = decisions.late_days or LateDays(0, 0)
    more = LateDays(before.budget + days, before.per_assignment + days)
    after = replace(decisions, late_days=more)
    assert earned(outcomes, after) >= earned(outcomes, decisions)


@given(HANDED_IN | st.just(NOTHING), DECISIONS, st.randoms(use_true_random=False))
def test_the_order_of_entries_does_not_matter(outcomes, decisions, random):
    """Each list in another order: the same result to the letter."""

    def shuffled(entries):
        return tuple(random.sample(entries, len(entries)))

    other = Decisions(
        *(
            shuffled(e)
            for e in (decisions.extensions, decisions.exemptions, decisions.exercise_sets)
        ),
        *(shuffled(e) for e in (decisions.overrides, decisions.drop, decisions.full_marks)),
        decisions.late_days,
    )
    assert result_of(outcomes, other) == result_of(outcomes, decisions)


@given(HANDED_IN | st.just(NOTHING), DECISIONS)
def test_scores_stay_between_nothing_and_all(outcomes, decisions):
    """Of exercises, assignments and the whole; and what is written is read back as it was."""
    result = result_of(outcomes, decisions)
    assert 0 <= result.max_score <= COURSE.max_score
    for one in (*result.exercises, *result.assignments, result):
        assert one.score is None or 0 <= one.score <= one.max_score
    for one in result.assignments:
        assert (one.score is None) == one.is_missing
    assert (result.score is None) == (not any(one.counts for one in result.assignments))
    undated = tuple(structs.replace(one, submitted_at=None) for one in result.assignments)
    assert from_json(to_json(result)) == structs.replace(result, assignments=undated)


@given(HANDED_IN, DECISIONS)
def test_full_marks_for_a_check_never_cost_points(outcomes, decisions):
    """Neither do they give more than the exercise is worth."""
    more = replace(decisions, drop=(), full_marks=tuple(map(GivenCheck, CHECKS)))
    less = replace(decisions, drop=(), full_marks=())
    assert earned(outcomes, more) >= earned(outcomes, less)


@given(HANDED_IN | st.just(NOTHING))
def test_without_decisions_nothing_is_different(outcomes):
    """Not even where something was decided about others."""
    others = Decisions((Extension("bob", days=3),), (Exemption("bob", exercises=EXERCISES),))
    assert result_of(outcomes, others) == scored(COURSE, outcomes)


@given(
    st.lists(
        st.builds(LateWork, st.none() | st.decimals(0, 9, places=2), st.integers(0, 6)),
        min_size=1,
        max_size=4,
    ),
    st.builds(LateDays, st.integers(0, 5), st.integers(0, 3)),
    st.sampled_from([0, 7, 15, 50]),
)
def test_late_days_are_spent_as_is_best(works, allowed, percent):
    """As good as trying everything; never more than there are, nor than an assignment is late."""
    rule = LateRule(percent_per_day=percent)

    def left(spent):
        pairs = zip(works, spent, strict=True)
        scores = ((Fraction(work.score or 0), work.days - days) for work, days in pairs)
        return sum(rounded(score * late_factor(days, rule)) for score, days in scores)

    ways = [()]
    for work in works:
        most = min(work.days, allowed.per_assignment)
        ways = [(*way, days) for way in ways for days in range(most + 1)]
    possible = [way for way in ways if sum(way) <= allowed.budget]
    spent = tuple(days for _, days in best_of([[work] for work in works], rule, allowed))
    assert spent in possible
    assert left(spent) == max(map(left, possible))
    assert sum(spent) == min(sum(way) for way in possible if left(way) == left(spent))


# What a student reads.


def test_a_date_counts_and_days_are_added_to_it():
    """The latest date of all, the course's too; then all the days. No entry shortens."""
    extensions = (
        Extension(**ALL, days=2),
        Extension(**ADA, assignment="01_a", days=1),
        Extension(**ADA, assignment="02_b", until=DUE + timedelta(days=4)),
        Extension(**ADA, assignment="03_c", until=DUE - timedelta(days=4)),
    )
    due = dict(Decisions(extensions).of(COURSE, "ada", ["all"]).due)
    assert [(due[id_] - DUE).days for id_ in IDS] == [3, 6, 2]


def notes_of(decisions, *late, passed=CHECKS):
    """The notes of each assignment."""
    outcomes = outcomes_of(set(passed), late or (0, 0, 0))
    return [one.notes for one in for_student(result_of(outcomes, decisions)).assignments]


def test_more_time_is_told_and_its_reason_is_not():
    """The student reads the date that counts, and what lateness takes off from there."""
    first, second, _third = notes_of(
        Decisions((Extension(**ADA, assignment="01_a", days=2),)), 3, 1, 0
    )
    assert first == (
        "Your due date for this assignment: 2027-02-03 00:00 (UTC).",
        "1 day late: 15 percent taken off.",
    )
    assert second == ("1 day late: 15 percent taken off.",)


def test_late_days_are_told():
    """Where they were used, with how many are left."""
    first, second, third = notes_of(Decisions(late_days=LateDays(3, 2)), 3, 1, 0)
    assert first == (
        "3 days late: 15 percent taken off.",
        "Late days used here: 2. Left of your 3: 0.",
    )
    assert second == (
        "1 day late: nothing taken off.",
        "Late days used here: 1. Left of your 3: 0.",
    )
    assert third == ()


def test_what_does_not_count_is_told():
    """A whole assignment, or an exercise; the points that there are become fewer."""
    decisions = Decisions(exemptions=(Exemption(**ADA, exercises=EXERCISES[:3]),))
    result = result_of(outcomes_of(set(CHECKS), (5, 0, 0)), decisions)
    assert (result.score, result.max_score, result.automatic) == (9, 9, Decimal("13.5"))
    assert [one.notes for one in result.assignments] == [
        ("This assignment does not count for you.",),
        ("f does not count for you.",),
        (),
    ]
    assert result.decided == ("exemption 01_a", "exemption 02_b/f")


def test_a_set_of_exercises_counts_for_who_has_its_label():
    """Several sets of one student count together."""
    sets = (ExerciseSet("all", EXERCISES[:1]), ExerciseSet("more", EXERCISES[:3]))
    decisions = Decisions(exercise_sets=sets)
    counting = [decisions.of(COURSE, "ada", labels) for labels in ([], ["all"], ["all", "more"])]
    assert [6 - len(one.exempt) for one in counting] == [6, 1, 3]


@pytest.mark.parametrize(
    ("outcomes", "score", "automatic", "note"),
    [
        (
            outcomes_of({CHECKS[0]}, (0, 0, 0)),
            2,
            Decimal("1.2"),
            "f: points from your instructor: 2; by the checks: 1.2. So.",
        ),
        (NOTHING, 2, None, "f: points from your instructor: 2; the checks gave no score. So."),
        (
            outcomes_of(set(), (0, 0, 0), Outcome.ERROR),
            None,
            None,
            "f: points from your instructor: 2; the checks gave no score. So.",
        ),
    ],
)
def test_points_of_a_person_stand_over_those_of_the_checks(outcomes, score, automatic, note):
    """What the checks gave stays beneath; nothing handed in and undecided are told apart."""
    override = Override("ada", EXERCISES[0], 2, "So.")
    result = result_of(outcomes, Decisions(overrides=(override,)))
    first = result.exercises[0]
    assert (result.score, first.score, first.undecided) == (score, 2, False)
    assert first.decision.automatic == automatic
    assert result.assignments[0].notes == (note,)
    assert result.decided == ("override 01_a/f",)


@pytest.mark.parametrize(("is_given", "score"), [(True, "2.1"), (False, "0")])
def test_a_check_counts_for_nobody_or_as_passed_for_everybody(is_given, score):
    """Of `f` nothing passed: where the hidden check is given, all that is hidden is right."""
    decisions = about_check(CHECKS[1], "It was wrong.", is_given=is_given)
    result = result_of(outcomes_of(set(), (0, 0, 0)), decisions)
    assert result.exercises[0].score == Decimal(score)
    assert result.assignments[0].notes == (
        (
            "This check of f counts as passed for everybody: It holds It was wrong.",
            "f: points now: 2.1; before that: 0.",
        )
        if is_given
        else ()
    )


def test_a_dropped_check_leaves_the_others():
    """Who failed nothing but that has full marks."""
    passed = {*CHECKS} - {CHECKS[1]}
    decisions = Decisions(drop=(DroppedCheck(CHECKS[1]),))
    assert result_of(outcomes_of(passed, (0, 0, 0)), decisions).score == 18
    assert notes_of(decisions, passed=passed)[0] == (
        "This check of f counts for nobody: It holds",
        "f: points now: 3; before that: 1.2.",
    )


@pytest.mark.parametrize("is_given", [True, False])
def test_checks_that_were_not_run_are_told(is_given):
    """A check failed first of which it was decided since that it should not matter."""
    outcomes = outcomes_of(set(CHECKS), (0, 0, 0))
    first = outcomes.assignments[0]
    one, *others = first.exercises
    failed, blocked = (
        structs.replace(check, outcome=outcome)
        for check, outcome in zip(one.checks, (Outcome.FAILED, Outcome.BLOCKED), strict=True)
    )
    exercises = (structs.replace(one, checks=(failed, blocked)), *others)
    part = structs.replace(first, exercises=exercises)
    outcomes = structs.replace(outcomes, assignments=(part, *outcomes.assignments[1:]))
    decisions = about_check(failed.id, is_given=is_given)
    assert "not run 01_a/f" in result_of(outcomes, decisions).decided
    elsewhere = about_check(CHECKS[-1], is_given=is_given)
    assert result_of(outcomes, elsewhere).decided == ()
    not_first = about_check(blocked.id, is_given=is_given)
    assert "not run 01_a/f" not in result_of(outcomes, not_first).decided
