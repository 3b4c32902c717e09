"""Tests of which checks are shown, and what stands beside their titles."""

from decimal import Decimal

import pytest
from msgspec.structs import replace

from grader.core.records import (
    CheckResult,
    CodeLocation,
    Decision,
    DecisionKind,
    ExerciseResult,
    Finding,
    Mistake,
    Outcome,
    Visibility,
)
from grader.judging.outcomes import (
    check_head,
    details,
    leading_lines,
    notes_above,
    reported_checks,
    shown_checks,
)

WHERE = CodeLocation("a.py", 3)
OUT_OF_BOUNDS = "IndexError: index 2 is out of bounds"


def check(name, raised="", where=WHERE, outcome=Outcome.FAILED, message="It raised."):
    """A check that ended in this way."""
    of = (name, f"{name} holds.", Visibility.VISIBLE, 1, outcome, message, 0.0)
    return CheckResult(*of, where=where, raised=raised)


def shown(*checks):
    """Names and messages of the checks that are shown."""
    exercise = ExerciseResult("01_a/one", Decimal(0), 1, checks=checks)
    assert reported_checks(exercise) == shown_checks(exercise)
    return [(found.id, found.message) for found in shown_checks(exercise)]


def test_checks_that_one_exception_ended_are_shown_as_one():
    """Numbers in its message may differ; the others stay, in their order."""
    four = OUT_OF_BOUNDS.replace("2", "4")
    assert shown(
        check("a", message="Wrong."),
        check("b", OUT_OF_BOUNDS),
        check("c", four),
        check("d", message="Wrong, too."),
        check("e", four, outcome=Outcome.REMARK),
    ) == [
        ("a", "Wrong."),
        ("b", "It raised.\n2 more checks were ended by the same exception."),
        ("d", "Wrong, too."),
    ]


@pytest.mark.parametrize(
    "other",
    [
        check("b", OUT_OF_BOUNDS, CodeLocation("a.py", 4)),
        check("b", OUT_OF_BOUNDS, CodeLocation("b.py", 3)),
        check("b", "KeyError: 2"),
        check("b"),
    ],
    ids=["line", "file", "exception", "none"],
)
def test_another_exception_is_another_failure(other):
    """Or the same one at another line."""
    assert shown(check("a", OUT_OF_BOUNDS), other) == [("a", "It raised."), ("b", "It raised.")]


@pytest.mark.parametrize("outcome", [Outcome.FAILED, Outcome.REMARK])
def test_the_title_of_a_check_that_an_exception_ended_accuses_of_nothing(outcome):
    """What it says was not judged."""
    head = check_head(check("a", OUT_OF_BOUNDS, outcome=outcome))
    assert head == "a holds.  (ended by IndexError)"
    assert check_head(check("a"), beside=" (wrong)") == "a holds. (wrong)"


def test_what_may_follow_from_an_earlier_failure_is_counted_there():
    """Its title would accuse of what may hold; a remark and what has a reason of its own stay."""
    follows = [replace(check(name, message="Differs."), may_follow=True) for name in "bc"]
    told = "Wrong.\n2 more checks fail, too, perhaps for this reason alone."
    remark = check("e", outcome=Outcome.REMARK, message="Better.")
    other = check("d", message="Not so.")
    assert shown(check("a", message="Wrong."), *follows, other, remark) == [
        ("a", told),
        ("d", "Not so."),
        ("e", "Better."),
    ]


@pytest.mark.parametrize(
    ("known", "expected"),
    [
        ({"judged_with": ("f",)}, "Judged with a right `f`, because yours is not."),
        ({"judged_with": ("f", "g")}, "Judged with right `f`, `g`, because yours are not."),
        ({"may_come_from": ("f",)}, "Part of this may come from your `f`, which is not right yet."),
        ({"to_judge_with": ("f",)}, "Judged with a right `f` when it is graded."),
        ({"to_judge_with": ("f", "g")}, "Judged with right `f`, `g` when it is graded."),
    ],
)
def test_what_an_exercise_was_judged_with_is_said_first(known, expected):
    """Once for the exercise, before its mistakes and its checks; nothing where nothing was replaced."""
    exercise = ExerciseResult("01_a/one", Decimal(0), 1, checks=(check("a", message="Wrong."),))
    assert leading_lines(replace(exercise, **known)) == [expected]
    assert details(replace(exercise, **known)).splitlines()[0] == expected
    assert leading_lines(exercise) == []


SLIP = Finding((Mistake("other-axis", "The columns sum to 1.", "Over which axis?"),))


def test_a_page_says_why_a_recognised_slip_leaves_less_than_elsewhere():
    """Behind an exception nothing was judged, so that its least does not hold."""
    exercise = ExerciseResult("01_a/one", Decimal(0), 2, findings=(SLIP,))
    (note,) = notes_above(exercise)
    assert note.startswith("Fewer points are left than is usual for a slip: the code ended in an")
    assert leading_lines(exercise)[-1] == note
    (note,) = notes_above(replace(exercise, findings=(replace(SLIP, is_partial=True),)))
    assert note.endswith("is usual for a slip: not each check that fails is explained by it.")


@pytest.mark.parametrize(
    "known",
    [
        {"score": Decimal("1.4")},
        {"score": None},
        {"findings": ()},
        {"decision": Decision(DecisionKind.OVERRIDE, Decimal(1))},
    ],
    ids=["as elsewhere", "undecided", "not recognised", "by a person"],
)
def test_nothing_is_said_where_the_points_have_another_reason(known):
    """What its kind leaves is there, or something else decided."""
    exercise = ExerciseResult("01_a/one", Decimal(0), 2, findings=(SLIP,))
    assert notes_above(replace(exercise, **known)) == []
