"""One file that was handed in for several assignments."""

from decimal import Decimal

from grader.classes.score import without_others_files
from grader.core.records import (
    AssignmentResult,
    CheckResult,
    ExerciseResult,
    Outcome,
    Visibility,
)


def assignment(id_, read_from, *outcomes):
    """An assignment's result, with an exercise for each outcome."""
    checks = (
        CheckResult(f"{id_}/f::visible::test", "T", Visibility.VISIBLE, 1, outcome, "", 0.1)
        for outcome in outcomes
    )
    exercises = tuple(
        ExerciseResult(f"{id_}/f", Decimal(0), 1, checks=(check,)) for check in checks
    )
    return AssignmentResult(id_, read_from, Decimal(0), len(exercises), exercises=exercises)


def test_one_file_counts_for_the_assignments_of_which_it_defines_something():
    """A zero for the others would be a grade for what is not due yet."""
    missing, blocked, failed = Outcome.MISSING, Outcome.BLOCKED, Outcome.FAILED
    parts = (
        assignment("01_a", "all.py", missing, failed),
        assignment("02_b", "all.py", missing, blocked),
        assignment("03_c", "03_c/own.py", missing),
        assignment("04_d", "", missing),
    )
    found = without_others_files(parts)
    assert [part.read_from for part in found] == ["all.py", "", "03_c/own.py", ""]
    assert [bool(part.checks) for part in found] == [True, False, True, True]


def test_one_file_that_defines_nothing_was_handed_in_all_the_same():
    """It may be one that cannot be read."""
    parts = tuple(assignment(id_, "all.py", Outcome.MISSING) for id_ in ("01_a", "02_b"))
    assert without_others_files(parts) == parts
