"""From outcomes to points: exact, rounded once, and never a number where there is none."""

import csv
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from grader.classes.rows import row_of, scores_csv
from grader.core.records import (
    AssignmentResult,
    CheckResult,
    ExerciseResult,
    Finding,
    Mistake,
    MistakeKind,
    Outcome,
    Result,
    Visibility,
)
from grader.course.course import Assignment, Course, Exercise, LateRule, Limits
from grader.judging.scoring import (
    days_late,
    exercise_score,
    late_factor,
    rounded,
    scored,
    total,
)

PASSED, FAILED = Outcome.PASSED, Outcome.FAILED
DECIDED = [outcome for outcome in Outcome if not outcome.is_undecided]
SLIP, STEP, IDEA = MistakeKind.SLIP, MistakeKind.STEP, MistakeKind.IDEA


def one(outcome, *, hidden=False, conduct=False, weight=1, raised=""):
    """One check's outcome, of any sort."""
    visibility = Visibility.HIDDEN if hidden else Visibility.VISIBLE
    made = CheckResult("01_a/f::visible::c", "It holds", visibility, weight, outcome, "", 0)
    return replace(made, is_conduct=conduct, raised=raised)


ENDS = {"+": PASSED, "-": FAILED, "!": FAILED, "b": Outcome.BLOCKED, "r": Outcome.REMARK}


def read(words):
    """Checks in words: hidden (h), conduct (c), weight, passed (+) or not (-), raised (!)."""
    return [
        one(
            ENDS[word[-1]],
            hidden="h" in word,
            conduct="c" in word,
            weight=int("".join(filter(str.isdigit, word)) or 1),
            raised="TypeError: no" * word.endswith("!"),
        )
        for word in words.split()
    ]


def recognised(kind, *, is_partial=False):
    """A known mistake of a kind."""
    return Finding((Mistake("m", "It is wrong.", "Why?", kind),), is_partial)


# One exercise.


@pytest.mark.parametrize(
    ("points", "outcomes", "expected"),
    [
        # The share of the weight that passed, to hundredths, halves up, without trailing zeros.
        *((2, "+ +", "2"), (2, "+ -", "1"), (2, "- -", "0"), (10, "+", "10"), (100, "+", "100")),
        *((1, "+ - -", "0.33"), (1, "+ + -", "0.67"), (1, "+ - - - - - - -", "0.13")),
        *((3, "3+ 1-", "2.25"), (3, "1+ 2- 3+", "2")),
        *((5, "+ 0r", "5"), (5, "- 0+", "0"), (4, "0+ 0r", "0")),
        # Conduct counts as far as values are right, and costs its weight.
        *((10, "- c9+", "0"), (10, "+ - c9+", "5"), (10, "3+ c-", "7.5")),
        *((10, "+ - c2-", "2.5"), (10, "c+ c-", "2.5")),
        # Visible checks decide two fifths.
        *((10, "+ 7+ h-", "4"), (10, "- 7- h-", "0"), (10, "+ 7+ h+", "10")),
        # A quarter of the hidden values leaves the most of a step, half the least of a slip.
        *((10, "- 8h-", "0"), (10, "- 1h+ 7h-", "0.75"), (10, "- 2h+ 6h-", "5.5")),
        *((10, "- 3h+ 5h-", "5.5"), (10, "- 4h+ 4h-", "7"), (10, "- 8h+", "7")),
    ],
)
def test_an_exercise_has_the_points_of_what_is_right_in_it(points, outcomes, expected):
    """Of values first; what is right in part leaves as much as a known mistake."""
    assert str(exercise_score(points, read(outcomes))) == expected


@pytest.mark.parametrize("outcome", [o for o in Outcome if o is not PASSED])
def test_only_a_passed_check_earns_points(outcome):
    """What is not the student's fault leaves the score undecided, which is not a zero."""
    earned = None if outcome.is_undecided else 2
    assert exercise_score(4, [one(PASSED), one(outcome)]) == earned
    assert exercise_score(4, [one(PASSED), one(outcome, weight=0)]) == (earned and 4)


def test_an_error_and_a_busy_machine_are_not_the_students_fault():
    """And an exercise of which nothing was judged has no score, either."""
    assert {*Outcome} - {*DECIDED} == {Outcome.ERROR, Outcome.NO_TURN}
    assert exercise_score(4, []) is None


MODEST = settings(max_examples=150)
POINTS = st.integers(1, 1_000)


@MODEST
@given(POINTS, st.lists(st.integers(1, 7), min_size=1, max_size=9))
def test_passing_everything_earns_exactly_all_points(points, weights):
    """Rounding takes nothing off a full score and adds nothing to none."""
    assert exercise_score(points, [one(PASSED, weight=weight) for weight in weights]) == points
    assert exercise_score(points, [one(FAILED, weight=weight) for weight in weights]) == 0


# Known mistakes.


@pytest.mark.parametrize(
    ("kind", "none_right", "most_right"),
    [(SLIP, "7", "8.5"), (STEP, "4", "8.4"), (IDEA, "0", "1.5")],
)
def test_a_recognised_mistake_leaves_what_its_kind_says(kind, none_right, most_right):
    """In whichever exercise it is made, and however many checks it fails there."""
    assert str(exercise_score(10, read("-"), [recognised(kind)])) == none_right
    assert str(exercise_score(10, read("99+ -"), [recognised(kind)])) == most_right
    assert exercise_score(10, read("+"), [recognised(kind)]) == 10


@pytest.mark.parametrize(
    ("outcomes", "findings"),
    [
        ("-", [recognised(SLIP, is_partial=True)]),
        ("!", [recognised(SLIP)]),
        ("- hb", [recognised(SLIP)]),
        ("-", [recognised(SLIP), recognised(IDEA)]),
    ],
)
def test_nothing_is_left_for_what_was_not_shown(outcomes, findings):
    """Where more is wrong, no value was judged, or a graver mistake was recognised as well."""
    assert exercise_score(10, read(outcomes), findings) == 0


def test_of_mistakes_that_look_alike_the_mildest_counts():
    """Nobody loses more than what is certain."""
    alike = Finding(recognised(IDEA).candidates + recognised(SLIP).candidates)
    assert exercise_score(10, read("-"), [alike]) == 7


ANY = st.builds(
    one,
    st.sampled_from(DECIDED),
    hidden=st.booleans(),
    conduct=st.booleans(),
    weight=st.integers(0, 7),
    raised=st.sampled_from(["", "TypeError: no"]),
)
FOUND = st.lists(st.builds(recognised, st.sampled_from(MistakeKind), is_partial=st.booleans()))


@MODEST
@given(POINTS, st.lists(ANY, min_size=1, max_size=9), FOUND, st.data())
def test_one_more_passed_check_never_costs_whatever_its_sort(points, checks, findings, data):
    """With the same mistakes recognised; and every score lies between nothing and all."""
    position = data.draw(st.integers(0, len(checks) - 1))
    better = list(checks)
    better[position] = replace(checks[position], outcome=PASSED, raised="")
    scores: Any = [exercise_score(points, some, findings) for some in (checks, better)]
    before, after = scores
    assert 0 <= before <= after <= points
    assert before * 100 % 1 == 0


def hidden_share(checks):
    """The share of the hidden values' weight that passed."""
    hidden = [c for c in checks if c.visibility is Visibility.HIDDEN and not c.is_conduct]
    right = sum(c.weight for c in hidden if c.outcome is PASSED)
    return Fraction(right, max(1, sum(c.weight for c in hidden)))


@MODEST
@given(st.lists(ANY, min_size=1, max_size=7))
def test_who_has_few_hidden_values_right_earns_no_more_than_these_and_what_is_seen(checks):
    """What was memorised has at most two fifths, and nonsense what it guessed."""
    assume(any(c.weight and not c.is_conduct for c in checks if c.visibility is Visibility.HIDDEN))
    assume(hidden_share(checks) < Fraction(1, 4))
    seen = any(
        c.outcome is PASSED for c in checks if c.visibility is Visibility.VISIBLE and c.weight
    )
    values = [c for c in checks if c.weight and not c.is_conduct]
    only_hidden = all(c.visibility is Visibility.HIDDEN for c in values)
    share = hidden_share(checks) * (1 if only_hidden else Fraction(3, 5))
    assert exercise_score(10, checks) <= rounded(10 * (share + seen * Fraction(2, 5)))


@MODEST
@given(
    st.lists(ANY, min_size=1, max_size=7),
    st.builds(recognised, st.sampled_from([MistakeKind.SLIP, MistakeKind.STEP])),
)
def test_the_name_of_a_mistake_moves_few_points_where_some_hidden_values_are_right(checks, finding):
    """At most 15 percent from a quarter of them on; wherever it takes points, at most as many."""
    named, unnamed = (exercise_score(10, checks, some) for some in ([finding], []))
    assert unnamed - named <= Decimal("1.5")
    if hidden_share(checks) >= Fraction(1, 4):
        assert named - unnamed <= Decimal("1.5")


@MODEST
@given(st.lists(ANY, min_size=1, max_size=7))
def test_who_has_half_of_the_hidden_values_right_has_no_less_than_a_recognised_slip(checks):
    """Whether or not somebody wrote the mistake down."""
    checks = [one(PASSED, hidden=True, weight=sum(c.weight for c in checks) + 1), *checks]
    slip = [recognised(MistakeKind.SLIP)]
    assert exercise_score(10, checks) >= exercise_score(10, checks, slip)


# Rounding and adding up.


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        *((Fraction(1, 200), "0.01"), (Fraction(3, 200), "0.02"), (Fraction(5, 200), "0.03")),
        (Fraction(1, 200) - Fraction(1, 10**30), "0"),
        *((Fraction(2675, 1000), "2.68"), (Fraction(10), "10"), (Fraction(0), "0")),
        (Fraction(10**30), str(10**30)),
    ],
)
def test_halves_are_rounded_up(value, expected):
    """A half of a hundredth goes up, exactly, where a float would go down."""
    assert format(rounded(value), "f") == expected


def test_a_sum_is_exact():
    """And unknown where a part of it is."""
    assert total([Decimal("0.1")] * 10) == Decimal(1)
    assert total([]) == Decimal(0)
    assert total([Decimal(1), None]) is total([None, Decimal(1)]) is None


# Late work.

DUE = datetime(2027, 2, 1, 23, 59, tzinfo=UTC)
MOMENT = timedelta(microseconds=1)
GRACE = timedelta(minutes=15)


@pytest.mark.parametrize(
    ("after", "days"),
    [
        *((timedelta(days=-3), 0), (timedelta(0), 0), (GRACE, 0), (GRACE + MOMENT, 1)),
        *((timedelta(days=1) + GRACE, 1), (timedelta(days=1) + GRACE + MOMENT, 2)),
        *((timedelta(days=9, hours=12), 10), (timedelta(days=4_000) + GRACE + MOMENT, 4_001)),
    ],
)
def test_each_day_begun_after_the_grace_counts(after, days):
    """Wherever a clock stands; without a due date or a time of submission nothing is late."""
    rule = LateRule(grace_minutes=15)
    moment = (DUE + after).astimezone(timezone(timedelta(hours=9)))
    assert days_late(DUE, DUE + after, rule) == days_late(DUE, moment, rule) == days
    assert days_late(None, moment, rule) == days_late(DUE, None, rule) == 0


@pytest.mark.parametrize(
    ("days", "percent", "factor"),
    [
        *((0, 10, Fraction(1)), (1, 10, Fraction(9, 10)), (3, 10, Fraction(7, 10))),
        *((10, 10, Fraction(0)), (11, 10, Fraction(0)), (5, 0, Fraction(1))),
        *((1, 100, Fraction(0)), (3, 33, Fraction(1, 100))),
    ],
)
def test_what_is_left_falls_by_the_day_to_nothing(days, percent, factor):
    """Each day takes its percent off, and no score becomes negative."""
    assert late_factor(days, LateRule(percent_per_day=percent)) == factor


@pytest.mark.parametrize(("days", "factor"), [(2, Fraction(8, 10)), (3, Fraction(0))])
def test_work_that_is_too_late_earns_nothing(days, factor):
    """After the last day that counts, whatever a day costs."""
    assert late_factor(days, LateRule(percent_per_day=10, days=2)) == factor


@MODEST
@given(st.integers(0, 500), st.integers(0, 100), st.integers(0, 500))
def test_being_later_never_pays(days, percent, most):
    """What is left lies between nothing and all, and never grows with the days."""
    rule = LateRule(percent_per_day=percent, days=most)
    assert 0 <= late_factor(days + 1, rule) <= late_factor(days, rule) <= 1


# A class's cells.

HALVES = st.integers(0, 12).map(lambda n: n // 2 if n % 2 == 0 else n / 2)
WEIGHED = st.builds(one, st.sampled_from([PASSED, FAILED]), weight=st.integers(1, 7))
EXERCISES = st.tuples(HALVES, st.lists(WEIGHED, min_size=1))


def graded(assignment, checks, **known):
    """An assignment whose exercises have these checks, without points yet."""
    exercises = (
        ExerciseResult(exercise.id, None, 0, checks=tuple(some))
        for exercise, some in zip(assignment.exercises, checks, strict=True)
    )
    return AssignmentResult(assignment.id, "a.py", None, 0, exercises=tuple(exercises), **known)


def given_points(rule, assignments, outcomes):
    """A course, and the result in it."""
    course = Course(Path(), "T", "py", Limits(), rule, tuple(assignments))
    result = Result("ada", None, 0, False, True, (), "1", {}, "", "", tuple(outcomes))
    return course, scored(course, result)


@pytest.mark.slow
@given(st.lists(st.lists(EXERCISES, min_size=1), min_size=1, max_size=4), st.integers(0, 3))
def test_the_cells_add_up_to_the_score(drawn, days):
    """Of whole and half points and of none, whatever passed, with what lateness took off."""
    assignments, outcomes = [], []
    for number, exercises in enumerate(drawn, 1):
        id_ = f"{number:02}_a"
        names = tuple(Exercise(id_, f"e{n}", most) for n, (most, _) in enumerate(exercises))
        assignments.append(Assignment(id_, id_, names, due=DUE))
        checks = [some for _, some in exercises]
        late = DUE + timedelta(days=days)
        outcomes.append(graded(assignments[-1], checks, submitted_at=late))
    course, result = given_points(LateRule(0, 7), assignments, outcomes)
    (row,) = csv.DictReader(scores_csv(course, [row_of(result, "")]).splitlines())
    cells = sum(Decimal(row[id_]) for id_ in course.exercises)
    assert cells - Decimal(row["off"]) == Decimal(row["score"]) == result.score
    assert sum(Decimal(row[one.id]) for one in assignments) == result.score
    assert Decimal(row["max_score"]) == sum(Decimal(most) for a in drawn for most, _ in a)


def test_an_exercise_without_points_is_solved_when_its_checks_pass():
    """It counts for nothing, and its checks are shown all the same."""
    for words, is_solved in (("+ 0r", True), ("+ -", False)):
        exercise = ExerciseResult("01_a/f", Decimal(0), 0, checks=tuple(read(words)))
        assert exercise.is_solved == is_solved


@pytest.mark.parametrize(("handed_in", "most"), [("12", 4), ("1", 4), ("2", 3)])
def test_extra_points_add_to_a_score_and_not_to_what_there_is(handed_in, most):
    """Who leaves an optional assignment out loses no share; alone, it is out of its own points."""
    first = Assignment("01_a", "A", (Exercise("01_a", "f", 4),))
    extra = Assignment("02_b", "B", (Exercise("02_b", "f", 3),), optional=True)
    given_in = [one for one in (first, extra) if one.id[1] in handed_in]
    outcomes = [graded(one, [read("+")]) for one in given_in]
    course, result = given_points(LateRule(), (first, extra), outcomes)
    earned = sum(one.max_score for one in given_in)
    assert (course.max_score, result.score, result.max_score) == (4, earned, most)
