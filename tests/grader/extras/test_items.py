"""Item analysis: figures worked out by hand."""

import csv
from datetime import UTC, datetime
from decimal import Decimal

import pytest
from msgspec.structs import replace

from grader.core.records import (
    AssignmentResult,
    CheckResult,
    ExerciseResult,
    Finding,
    Mistake,
    Outcome,
    Result,
    Visibility,
)
from grader.course.course import load_course
from grader.extras.items import effective_weight, grade
from grader.intake.roster import Enrolled
from grader.reports.base import GradedClass

SLIP = Mistake("not-scaled", "Scores are not scaled.", "By what?")


def result(student, scores, weights=0, mixture=0, *findings):
    """A student with these points; a check passes where all points are there."""

    def exercise(id_, points, most, found=()):
        outcome = Outcome.PASSED if points == most else Outcome.FAILED
        check = CheckResult(f"{id_}::visible::c", "It holds", Visibility.VISIBLE, 1, outcome, "", 0)
        return ExerciseResult(id_, Decimal(points), most, checks=(check,), findings=found)

    one = (exercise("01_scores/scores", scores, 2, findings),)
    others = (
        exercise("02_mixture/weights", weights, 1),
        exercise("02_mixture/Mixture", mixture, 3),
    )
    first, rest = Decimal(scores), Decimal(weights + mixture)
    parts = (
        AssignmentResult("01_scores", "scores.py", first, 2, exercises=one),
        AssignmentResult("02_mixture", "mixture.py", rest, 4, exercises=others),
    )
    return Result(student, first + rest, 6, False, True, (), "1", {}, "", "", parts)


@pytest.fixture
def tables(root):
    """The tables of a class, each as rows by their columns."""

    def made(*results, roster=()):
        course = load_course(root / "tests" / "example_course")
        enrolled = {one.student: one for one in roster}
        run = GradedClass(course, results, {}, datetime(2027, 1, 1, tzinfo=UTC), enrolled)
        return {f.path: [*csv.DictReader(f.content.splitlines())] for f in grade(run)}

    return made


def test_every_exercise_and_check_has_its_figures(tables):
    """The share that passed, by fifths of the class, and how it goes with the rest."""
    found = tables(*(result(f"s{n}", 2, n >= 5, 3 if n >= 4 else 0) for n in range(10)))
    rows = {(row["exercise"], row["check"]): row for row in found["items.csv"]}
    assert [*rows] == [
        (name, check) for name in ("scores", "weights", "Mixture") for check in ("", "c")
    ]
    weights = rows["weights", "c"]
    assert (weights["students"], weights["passed"]) == ("10", "0.500")
    fifths = [weights[f"fifth_{number}"] for number in range(1, 6)]
    assert fifths == ["0.000", "0.000", "0.500", "1.000", "1.000"]
    assert float(weights["separation"]) == pytest.approx(0.816, abs=1e-3)
    assert rows["scores", ""]["separation"] == ""  # everybody solves it
    both = [float(rows[name, ""]["effective_weight"]) for name in ("weights", "Mixture")]
    assert sum(both) == pytest.approx(1, abs=1e-3)
    assert rows["Mixture", ""]["nominal_weight"] == "0.750"


def test_an_items_weight_is_its_share_of_the_variance():
    """What nobody differs in weighs nothing, whatever its points."""
    assert effective_weight([5, 5, 5], [5, 6, 7]) == 0
    assert effective_weight([0, 1, 2], [0, 1, 2]) == pytest.approx(1)
    assert effective_weight([1], [1]) is None


def test_a_mistake_is_compared_with_the_rest(tables):
    """Who makes it, and how they do elsewhere in the assignment; who handed in nothing is left out."""
    nothing = Result("eve", None, 6, False, False, (), "1", {}, "", "", ())
    known = Finding((SLIP,))
    found = tables(result("ada", 1, 1, 3, known), result("bo", 2, 1, 3), nothing)
    (row,) = found["mistakes.csv"]
    assert (row["exercise"], row["mistake"]) == ("01_scores/scores", "not-scaled")
    assert (row["students"], row["share"]) == ("1", "0.500")
    assert row["rest_with"] == row["rest_without"] == ""  # the assignment has nothing else
    *_, course = found["reliability.csv"]
    told = (course["assignment"], course["students"], course["mean"])
    assert told == ("the course", "2", "5.500")


def test_a_class_of_nobody_has_empty_tables(tables):
    """Nothing is divided by zero."""
    found = tables(Result("eve", None, 6, False, False, (), "1", {}, "", "", ()))
    assert [row["students"] for row in found["items.csv"]] == ["0", "0", "0"]
    assert found["mistakes.csv"] == []


def test_sections_and_tutors_are_compared(tables):
    """Each beside the rest of its column; who is alone in a section is not, nor one without any."""
    results = [result(f"s{n:02}", 2, n % 2, 3 if n < 8 else 0) for n in range(18)]
    sections = "A" * 8 + "B" * 8 + "C"
    roster = [
        Enrolled(f"s{n:02}", section=section, tutor=f"T{n % 2}")
        for n, section in enumerate(sections)
    ]
    rows = tables(*results, roster=roster)["sections.csv"]
    assert {(row["column"], row["group"]) for row in rows} == {
        *(("section", "A"), ("section", "B"), ("tutor", "T0"), ("tutor", "T1"))
    }
    by_group = {(row["exercise"], row["column"], row["group"]): row for row in rows}
    row = by_group["Mixture", "section", "A"]
    assert (row["students"], row["passed"], row["others"], row["others_passed"]) == (
        *("8", "1.000", "9", "0.000"),
    )
    assert row["difference"] == "+1.000"
    assert "sections.csv" not in tables(*results)


def test_a_remark_that_is_made_is_no_pass(tables):
    """It costs nothing, and there was something to say."""
    one = result("ada", 2)
    (part, *others) = one.assignments
    (exercise,) = part.exercises
    checks = (replace(exercise.checks[0], outcome=Outcome.REMARK, weight=0),)
    part = replace(part, exercises=(replace(exercise, checks=checks),))
    row = tables(replace(one, assignments=(part, *others)))["items.csv"][1]
    assert (row["check"], row["passed"]) == ("c", "0.000")
