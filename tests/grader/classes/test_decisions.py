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
from grader.core.records import Outcome, Visibility
from grader.course.course import Assignment, Course, Exercise, LateRule, Limits
from grader.judging.results import for_student, from_json, to_json
from grader.judging.scoring import late_factor, rounded, scored
from tests.grader.classes.conftest import student_of, work_of

DUE = datetime(2027, 2, 1, tzinfo=UTC)
IDS = ("01_a", "02_b", "03_c")
COURSE = Course(
    *(Path("course"), "A course", "py", Limits(), LateRule(percent_per_day=15)),
    tuple(Assignment(a, a, tuple(Exercise(a, name, 3) for name in "fg"), due=DUE) for a in IDS),
)
EXERCISES = tuple(COURSE.exercises)
CHECKS = tuple(f"{id_}::{kind}::test_it" for id_ in EXERCISES for kind in Visibility)
ADA, ALL = {"student": "ada"}, {"label": "all"}


def outcomes_of(passed, late, outcome=Outcome.FAILED):
    """What somebody handed in: the checks that passed, and days late by assignment."""

    def ends(id_):
        return Outcome.PASSED if id_ in passed else outcome

    parts = (
        work_of(one, ends, submitted_at=DUE + timedelta(days=days))
        for one, days in zip(COURSE.assignments, late, strict=True)
    )
    return student_of(*parts, max_score=COURSE.max_score)


HANDED_IN = st.builds(
    outcomes_of,
    st.sets(st.sampled_from(CHECKS)),
    st.lists(st.floats(-2, 9), min_size=3, max_size=3),
)
NOTHING = student_of(max_score=COURSE.max_score)
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


def some(entries, most=2, **options):
    """A few of these, in any order."""
    return st.lists(entries, max_size=most, **options).map(tuple)


DECISIONS = st.builds(
    Decisions,
    some(EXTENSIONS, 4),
    some(EXEMPTIONS),
    some(st.builds(ExerciseSet, st.sampled_from(["all", "none"]), SOME)),
    some(OVERRIDES, 3, unique_by=lambda one: one.exercise),
    some(st.builds(DroppedCheck, st.sampled_from(CHECKS[::2])), unique=True),
    some(st.builds(GivenCheck, st.sampled_from(CHECKS[1::2])), unique=True),
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


@given(HANDED_IN | st.just(NOTHING), DECISIONS, st.randoms(use_true_random=False))
def test_the_order_of_entries_does_not_matter(outcomes, decisions, random):
    """Each list in another order: the same result to the letter."""
    lists = (getattr(decisions, one) for one in Decisions.__slots__[:6])
    shuffled = (tuple(random.sample(entries, len(entries))) for entries in lists)
    other = Decisions(*shuffled, decisions.late_days)
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


WORKS = st.builds(LateWork, st.none() | st.decimals(0, 9, places=2), st.integers(0, 6))


@given(
    st.lists(WORKS, min_size=1, max_size=4),
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


LATE = "{} late: {} taken off."
SPENT = "Late days used here: {}. Left of your 3: 0."
DATE = "Your due date for this assignment: 2027-02-03 00:00 (UTC)."


@pytest.mark.parametrize(
    ("decisions", "first", "second"),
    [
        (
            Decisions((Extension(**ADA, assignment="01_a", days=2, reason="ill"),)),
            (DATE, LATE.format("1 day", "15 percent")),
            (LATE.format("1 day", "15 percent"),),
        ),
        (
            Decisions(late_days=LateDays(3, 2)),
            (LATE.format("3 days", "15 percent"), SPENT.format(2)),
            (LATE.format("1 day", "nothing"), SPENT.format(1)),
        ),
    ],
    ids=["more time", "late days"],
)
def test_what_lateness_takes_off_is_told(decisions, first, second):
    """From the date that counts, which the student reads without its reason; late days, with the rest."""
    assert notes_of(decisions, 3, 1, 0) == [first, second, ()]


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
    ("outcomes", "score", "automatic", "said"),
    [
        (outcomes_of({CHECKS[0]}, (0, 0, 0)), 2, Decimal("1.2"), "by the checks: 1.2."),
        (NOTHING, 2, None, "the checks gave no score."),
        (outcomes_of((), (0, 0, 0), Outcome.ERROR), None, None, "the checks gave no score."),
    ],
)
def test_points_of_a_person_stand_over_those_of_the_checks(outcomes, score, automatic, said):
    """What the checks gave stays beneath; nothing handed in and undecided are told apart."""
    override = Override("ada", EXERCISES[0], 2, "So.")
    result = result_of(outcomes, Decisions(overrides=(override,)))
    first = result.exercises[0]
    assert (result.score, first.score, first.undecided) == (score, 2, False)
    assert result.submitted
    assert first.decision.automatic == automatic
    assert result.assignments[0].notes == (f"f: points from your instructor: 2; {said} So.",)
    assert result.decided == ("override 01_a/f",)


GIVEN, DROPPED = (about_check(CHECKS[1], "So.", is_given=is_given) for is_given in (True, False))
NOW = "f: points now: {}; before that: {}."


@pytest.mark.parametrize(
    ("decisions", "passed", "score", "told"),
    [
        (GIVEN, (), "2.1", ("counts as passed for everybody: It holds So.", NOW.format(2.1, 0))),
        (DROPPED, (), "0", ()),
        (
            DROPPED,
            {*CHECKS} - {CHECKS[1]},
            "3",
            ("counts for nobody: It holds So.", NOW.format(3, 1.2)),
        ),
    ],
    ids=["given", "dropped where nothing is right", "dropped where all else is"],
)
def test_a_check_counts_for_nobody_or_as_passed_for_everybody(decisions, passed, score, told):
    """Where the hidden check is given, all that is hidden is right."""
    result = result_of(outcomes_of(passed, (0, 0, 0)), decisions)
    assert result.exercises[0].score == Decimal(score)
    notes = (note.removeprefix("This check of f ") for note in result.assignments[0].notes)
    assert tuple(notes) == told


@pytest.mark.parametrize("is_given", [True, False])
def test_checks_that_were_not_run_are_told(is_given):
    """A check failed first of which it was decided since that it should not matter."""
    work = work_of(
        COURSE.assignments[0], {CHECKS[0]: Outcome.FAILED, CHECKS[1]: Outcome.BLOCKED}.get
    )
    one = structs.replace(work, exercises=work.exercises[:1])
    outcomes = student_of(one, max_score=COURSE.max_score)
    told = [result_of(outcomes, about_check(id_, is_given=is_given)).decided for id_ in CHECKS[:3]]
    assert ["not run 01_a/f" in words for words in told] == [True, False, False]
    assert told[2] == ()
