"""From outcomes to points: exact, rounded once, and never a number where there is none."""

import csv
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

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

PASSED, FAILED, ERROR = Outcome.PASSED, Outcome.FAILED, Outcome.ERROR
DECIDED = [outcome for outcome in Outcome if not outcome.is_undecided]


def check(outcome, weight=1):
    """One check's outcome."""
    return CheckResult("01_a/f::visible::c", "It holds", Visibility.VISIBLE, weight, outcome, "", 0)


def score(points, *outcomes):
    """The score of checks, each an outcome or an outcome and its weight."""
    pairs = [outcome if isinstance(outcome, tuple) else (outcome, 1) for outcome in outcomes]
    return exercise_score(points, [check(*pair) for pair in pairs])


# One exercise.


@pytest.mark.parametrize(
    ("points", "outcomes", "expected"),
    [
        (2, [PASSED, PASSED], "2"),
        (2, [PASSED, FAILED], "1"),
        (2, [FAILED, FAILED], "0"),
        (10, [PASSED], "10"),
        (100, [PASSED], "100"),
        (1, [PASSED, FAILED, FAILED], "0.33"),
        (1, [PASSED, PASSED, FAILED], "0.67"),
        (1, [PASSED] + [FAILED] * 7, "0.13"),
        (3, [(PASSED, 3), (FAILED, 1)], "2.25"),
        (3, [(PASSED, 1), (FAILED, 2), (PASSED, 3)], "2"),
        (5, [PASSED, (Outcome.REMARK, 0)], "5"),
        (5, [FAILED, (PASSED, 0)], "0"),
    ],
)
def test_a_score_is_the_share_of_the_weight_that_passed(points, outcomes, expected):
    """Points times the passed share, to hundredths, halves up, written without trailing zeros."""
    assert str(score(points, *outcomes)) == expected


@pytest.mark.parametrize("outcome", [o for o in DECIDED if o is not PASSED])
def test_only_a_passed_check_earns_points(outcome):
    """Every other outcome that is not the grader's own fault earns nothing."""
    assert score(4, PASSED, outcome) == Decimal(2)


@pytest.mark.parametrize("outcome", [ERROR, Outcome.NO_TURN])
def test_what_is_not_the_students_fault_leaves_the_score_undecided(outcome):
    """One such check among passed ones: there is no score, which is not a zero."""
    assert score(4, PASSED, PASSED, outcome) is None
    assert score(4, PASSED, (outcome, 0)) is None


def test_no_checks_leave_the_score_undecided():
    """An exercise of which nothing was judged has no score."""
    assert score(4) is None


def test_checks_without_weight_earn_nothing():
    """Remarks alone decide no points."""
    assert score(4, (PASSED, 0), (Outcome.REMARK, 0)) == Decimal(0)


OUTCOMES = st.lists(
    st.tuples(st.sampled_from(DECIDED), st.integers(0, 7)),
    min_size=1,
    max_size=9,
)
POINTS = st.integers(1, 1_000)
MODEST = settings(max_examples=150)


@MODEST
@given(POINTS, OUTCOMES)
def test_a_score_lies_between_nothing_and_all(points, outcomes):
    """Whatever the checks, no score is below 0 or above the points, and it has two decimals."""
    found = score(points, *outcomes)
    assert 0 <= found <= points
    assert found == found.quantize(Decimal("0.01"))


@MODEST
@given(POINTS, OUTCOMES, st.data())
def test_passing_one_more_check_never_costs(points, outcomes, data):
    """A score does not fall when another check passes."""
    position = data.draw(st.integers(0, len(outcomes) - 1))
    better = list(outcomes)
    better[position] = (PASSED, outcomes[position][1])
    assert score(points, *better) >= score(points, *outcomes)


@MODEST
@given(POINTS, st.lists(st.integers(1, 7), min_size=1, max_size=9))
def test_passing_everything_earns_exactly_all_points(points, weights):
    """Rounding takes nothing off a full score and adds nothing to none."""
    assert score(points, *[(PASSED, weight) for weight in weights]) == points
    assert score(points, *[(FAILED, weight) for weight in weights]) == 0


# Values and conduct, visible and hidden checks, known mistakes.


def one(outcome, *, hidden=False, conduct=False, weight=1, raised=""):
    """One check's outcome, of any sort."""
    visibility = Visibility.HIDDEN if hidden else Visibility.VISIBLE
    made = replace(check(outcome, weight), visibility=visibility, is_conduct=conduct)
    return replace(made, raised=raised)


def recognised(kind, *, is_partial=False):
    """A known mistake of a kind."""
    return Finding((Mistake("m", "It is wrong.", "Why?", kind),), is_partial)


@pytest.mark.parametrize(
    ("outcomes", "expected"),
    [
        ([one(FAILED), one(PASSED, conduct=True, weight=9)], "0"),
        ([one(PASSED), one(FAILED), one(PASSED, conduct=True, weight=9)], "5"),
        ([one(PASSED, weight=3), one(FAILED, conduct=True)], "7.5"),
        ([one(PASSED), one(FAILED), one(FAILED, conduct=True, weight=2)], "2.5"),
        ([one(PASSED, conduct=True), one(FAILED, conduct=True)], "2.5"),
    ],
)
def test_conduct_counts_only_as_far_as_values_are_right(outcomes, expected):
    """What is left alone earns nothing by itself, and what is broken costs its weight."""
    assert str(exercise_score(10, outcomes)) == expected


@pytest.mark.parametrize(
    ("seen", "unseen", "expected"),
    [(PASSED, FAILED, "4"), (FAILED, FAILED, "0"), (PASSED, PASSED, "10")],
)
def test_visible_checks_decide_two_fifths(seen, unseen, expected):
    """However many there are, and whatever they weigh."""
    outcomes = [one(seen), one(seen, weight=7), one(unseen, hidden=True)]
    assert str(exercise_score(10, outcomes)) == expected


@pytest.mark.parametrize(
    ("hidden_right", "expected"),
    [(0, "0"), (1, "0.75"), (2, "5.5"), (3, "5.5"), (4, "7"), (8, "7")],
)
def test_what_is_right_in_part_leaves_as_much_as_a_known_mistake(hidden_right, expected):
    """Of eight hidden values a quarter leaves the most of a step, half of them the least of a slip."""
    right = [one(PASSED, hidden=True)] * hidden_right
    wrong = [one(FAILED, hidden=True)] * (8 - hidden_right)
    assert str(exercise_score(10, [one(FAILED), *right, *wrong])) == expected


@pytest.mark.parametrize(
    ("kind", "none_right", "most_right"),
    [
        (MistakeKind.SLIP, "7", "8.5"),
        (MistakeKind.STEP, "4", "8.4"),
        (MistakeKind.IDEA, "0", "1.5"),
    ],
)
def test_a_recognised_mistake_leaves_what_its_kind_says(kind, none_right, most_right):
    """In whichever exercise it is made, and however many checks it fails there."""
    assert str(exercise_score(10, [one(FAILED)], [recognised(kind)])) == none_right
    mostly = [one(PASSED, weight=99), one(FAILED)]
    assert str(exercise_score(10, mostly, [recognised(kind)])) == most_right


@pytest.mark.parametrize(
    ("outcomes", "findings"),
    [
        ([one(FAILED)], [recognised(MistakeKind.SLIP, is_partial=True)]),
        ([one(FAILED, raised="TypeError: no")], [recognised(MistakeKind.SLIP)]),
        ([one(FAILED), one(Outcome.BLOCKED, hidden=True)], [recognised(MistakeKind.SLIP)]),
        ([one(FAILED)], [recognised(MistakeKind.SLIP), recognised(MistakeKind.IDEA)]),
    ],
)
def test_nothing_is_left_for_what_was_not_shown(outcomes, findings):
    """Where more is wrong, no value was judged, or a graver mistake was recognised as well."""
    assert exercise_score(10, outcomes, findings) == 0


def test_of_mistakes_that_look_alike_the_mildest_counts():
    """Nobody loses more than what is certain."""
    alike = Finding(
        recognised(MistakeKind.IDEA).candidates + recognised(MistakeKind.SLIP).candidates
    )
    assert exercise_score(10, [one(FAILED)], [alike]) == 7


def test_who_has_all_right_has_full_marks_whatever_was_recognised():
    """A mistake that costs nothing is a remark."""
    assert exercise_score(10, [one(PASSED)], [recognised(MistakeKind.IDEA)]) == 10


ANY = st.builds(
    one,
    st.sampled_from([PASSED, FAILED, Outcome.BLOCKED]),
    hidden=st.booleans(),
    conduct=st.booleans(),
    weight=st.integers(0, 4),
    raised=st.sampled_from(["", "TypeError: no"]),
)
FOUND = st.lists(
    st.builds(recognised, st.sampled_from(MistakeKind), is_partial=st.booleans()), max_size=2
)


@MODEST
@given(st.lists(ANY, min_size=1, max_size=7), FOUND, st.data())
def test_one_more_passed_check_never_costs_whatever_its_sort(checks, findings, data):
    """With the same mistakes recognised; and every score lies between nothing and all."""
    position = data.draw(st.integers(0, len(checks) - 1))
    better = list(checks)
    better[position] = replace(checks[position], outcome=PASSED, raised="")
    before, after = (exercise_score(10, some, findings) for some in (checks, better))
    assert 0 <= before <= after <= 10


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
        (Fraction(1, 200), "0.01"),
        (Fraction(3, 200), "0.02"),
        (Fraction(5, 200), "0.03"),
        (Fraction(1, 200) - Fraction(1, 10**30), "0"),
        (Fraction(2675, 1000), "2.68"),
        (Fraction(10), "10"),
        (Fraction(0), "0"),
        (Fraction(10**30), str(10**30)),
    ],
)
def test_halves_are_rounded_up(value, expected):
    """A half of a hundredth goes up, exactly, where a float would go down."""
    assert format(rounded(value), "f") == expected


@MODEST
@given(st.fractions(min_value=0, max_value=10_000))
def test_rounding_moves_a_number_by_half_a_hundredth_at_most(value):
    """What is rounded stays as near as hundredths allow."""
    assert abs(Fraction(rounded(value)) - value) <= Fraction(1, 200)


def test_a_sum_is_exact():
    """Ten times 0.1 is 1."""
    assert total([Decimal("0.1")] * 10) == Decimal(1)
    assert total([]) == Decimal(0)


def test_a_sum_with_something_undecided_is_undecided():
    """An unknown part makes an unknown sum, wherever it stands."""
    assert total([Decimal(1), None]) is None
    assert total([None, Decimal(1)]) is None


# Late work.

DUE = datetime(2027, 2, 1, 23, 59, tzinfo=UTC)


@pytest.mark.parametrize(
    ("after", "days"),
    [
        (timedelta(days=-3), 0),
        (timedelta(0), 0),
        (timedelta(minutes=15), 0),
        (timedelta(minutes=15, microseconds=1), 1),
        (timedelta(days=1, minutes=15), 1),
        (timedelta(days=1, minutes=15, microseconds=1), 2),
        (timedelta(days=9, hours=12), 10),
        (timedelta(days=4_000, minutes=15, microseconds=1), 4_001),
    ],
)
def test_each_day_begun_after_the_grace_counts(after, days):
    """A submission is late by the days begun since the due date and its grace."""
    assert days_late(DUE, DUE + after, LateRule(grace_minutes=15)) == days


def test_lateness_is_told_across_time_zones():
    """The same moment is as late wherever its clock stands."""
    moment = (DUE + timedelta(minutes=1)).astimezone(timezone(timedelta(hours=9)))
    assert days_late(DUE, moment, LateRule()) == 1


def test_without_a_date_nothing_is_late():
    """No due date, or no known time of submission: nothing is taken off."""
    assert days_late(None, DUE, LateRule()) == 0
    assert days_late(DUE, None, LateRule()) == 0


@pytest.mark.parametrize(
    ("days", "percent", "factor"),
    [
        (0, 10, Fraction(1)),
        (1, 10, Fraction(9, 10)),
        (3, 10, Fraction(7, 10)),
        (10, 10, Fraction(0)),
        (11, 10, Fraction(0)),
        (5, 0, Fraction(1)),
        (1, 100, Fraction(0)),
        (3, 33, Fraction(1, 100)),
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

DUE = datetime(2027, 2, 1, tzinfo=UTC)
HALVES = st.integers(0, 12).map(lambda n: n // 2 if n % 2 == 0 else n / 2)
EXERCISES = st.tuples(HALVES, st.lists(st.tuples(st.booleans(), st.integers(1, 7)), min_size=1))


@pytest.mark.slow
@given(st.lists(st.lists(EXERCISES, min_size=1), min_size=1, max_size=4), st.integers(0, 3))
def test_the_cells_add_up_to_the_score(drawn, days):
    """Of whole and half points and of none, whatever passed, with what lateness took off."""
    assignments, outcomes = [], []
    for number, exercises in enumerate(drawn, 1):
        id_ = f"{number:02}_a"
        names = [Exercise(id_, f"e{n}", most) for n, (most, _) in enumerate(exercises)]
        assignments.append(Assignment(id_, id_, tuple(names), due=DUE))
        ended = [
            ExerciseResult(
                one.id, None, 0, checks=tuple(check(PASSED if p else FAILED, w) for p, w in how)
            )
            for one, (_, how) in zip(names, exercises, strict=True)
        ]
        submitted_at = DUE + timedelta(days=days)
        outcomes.append(
            AssignmentResult(
                id_, "a.py", None, 0, exercises=tuple(ended), submitted_at=submitted_at
            )
        )
    course = Course(Path(), "T", "py", Limits(), LateRule(0, 7), tuple(assignments))
    result = scored(
        course,
        Result("ada", None, 0, False, True, (), "1", {}, "", "", tuple(outcomes)),
    )
    (row,) = csv.DictReader(scores_csv(course, [row_of(result, "")]).splitlines())
    cells = sum(Decimal(row[id_]) for id_ in course.exercises)
    assert cells - Decimal(row["off"]) == Decimal(row["score"]) == result.score
    assert sum(Decimal(row[one.id]) for one in assignments) == result.score
    assert Decimal(row["max_score"]) == sum(Decimal(most) for a in drawn for most, _ in a)


def test_an_exercise_without_points_is_solved_when_its_checks_pass():
    """It counts for nothing, and its checks are shown all the same."""
    right = ExerciseResult(
        "01_a/f", Decimal(0), 0, checks=(check(PASSED), check(Outcome.REMARK, 0))
    )
    wrong = ExerciseResult("01_a/f", Decimal(0), 0, checks=(check(PASSED), check(FAILED)))
    assert (right.is_solved, wrong.is_solved) == (True, False)


@pytest.mark.parametrize(("handed_in", "most"), [("12", 4), ("1", 4), ("2", 3)])
def test_extra_points_add_to_a_score_and_not_to_what_there_is(handed_in, most):
    """Who leaves an optional assignment out loses no share; alone, it is out of its own points."""
    first = Assignment("01_a", "A", (Exercise("01_a", "f", 4),))
    extra = Assignment("02_b", "B", (Exercise("02_b", "f", 3),), optional=True)
    course = Course(Path(), "T", "py", Limits(), LateRule(), (first, extra))
    outcomes = tuple(
        AssignmentResult(
            one.id,
            "a.py",
            None,
            0,
            exercises=(ExerciseResult(f"{one.id}/f", None, 0, checks=(check(PASSED),)),),
        )
        for one in course.assignments
        if one.id[1] in handed_in
    )
    result = scored(course, Result("ada", None, 0, False, True, (), "1", {}, "", "", outcomes))
    earned = sum(course.by_id[one.id].max_score for one in outcomes)
    assert (course.max_score, result.score, result.max_score) == (4, earned, most)
