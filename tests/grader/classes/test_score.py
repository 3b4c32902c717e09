"""Scores: the better of two in each assignment (`--never-lower`), and one file handed in for several."""

import shutil
from decimal import Decimal

import pytest
from msgspec.structs import replace

from grader.classes.records import open_records
from grader.classes.score import not_lower, without_others_files
from grader.core.records import AssignmentResult, ExerciseResult, Outcome
from tests.grader.classes.conftest import checked, student_of

NOTE = "The score of an earlier run is kept, because it is higher."
ERROR = checked("01_a/f::visible::test", Outcome.ERROR)


def result_of(*scores, most=3):
    """A result with these scores of assignments; None stands for undecided."""
    given = [score and Decimal(score) for score in scores]
    parts = (
        AssignmentResult(id_, "a.py", score, most, exercises=(exercise,))
        for number, score in enumerate(given, 1)
        for id_ in [f"0{number}_a"]
        for exercise in [ExerciseResult(f"{id_}/f", score, most, checks=(ERROR,))]
    )
    total = None if None in scores or not scores else sum(given)
    found = student_of(*parts, max_score=most * len(scores))
    return replace(found, score=total, undecided=None in scores)


@pytest.mark.parametrize(
    ("now", "earlier", "score", "kept"),
    [
        (result_of("1", "3"), result_of("2", "2"), 5, ["kept 01_a"]),
        (result_of("2", "3"), result_of("2", "3"), 5, []),
        (result_of("1", "3"), result_of(), 4, []),
        (result_of(None, "1"), result_of("2", "2"), None, ["kept 02_a"]),
        (result_of("1", "1"), result_of(None, "2"), 3, ["kept 02_a"]),
        (result_of("1", "1"), result_of("2", "2", most=2), 2, []),
        (result_of(), result_of("2", "1"), 3, ["kept 01_a", "kept 02_a"]),
        (result_of("1"), result_of("2", "2"), 2, ["kept 01_a"]),
    ],
)
def test_the_better_score_of_each_assignment_stays(now, earlier, score, kept):
    """What is undecided stays so; other points are no better and no worse."""
    found = not_lower(now, earlier)
    assert (found.score, list(found.decided)) == (score, kept)
    assert [f"kept {one.id}" for one in found.assignments if NOTE in one.notes] == kept
    assert found.automatic == (now.score if kept else None)
    again = not_lower(now, replace(found, automatic=None))
    assert again.assignments == found.assignments


def test_no_score_falls_and_no_code_is_run(make, tmp_path):
    """Everybody has the better of both in each assignment, from a copy or from the folder itself."""
    run = make("out")
    before = {row.student: row.assignments for row in run.run()}
    old = shutil.copytree(run.out, tmp_path / "old")
    run.harder("01_scores")
    run.harder("02_mixture")
    harder = {row.student: row.assignments for row in run.run()}
    count = run.graded.copy()
    for row in run.run(never_lower=open_records(old)):
        both = (before[row.student], harder[row.student])
        assert row.assignments == {id_: max(one[id_] for one in both) for id_ in both[0]}
        assert row.score == pytest.approx(sum(row.assignments.values()))
    better = [one.assignments for one in run.results()]
    run.run(never_lower=open_records(run.out))
    assert [one.assignments for one in run.results()] == better
    assert {row.student: row.assignments for row in run.run()} == harder
    assert run.graded == count


# One file that was handed in for several assignments.

MISSING, BLOCKED, FAILED = Outcome.MISSING, Outcome.BLOCKED, Outcome.FAILED


def assignment(id_, read_from, *outcomes):
    """An assignment's result, with an exercise for each outcome."""
    checks = (checked(f"{id_}/f::visible::test", outcome) for outcome in outcomes)
    exercises = (ExerciseResult(f"{id_}/f", Decimal(0), 1, checks=(check,)) for check in checks)
    return AssignmentResult(id_, read_from, Decimal(0), 1, exercises=tuple(exercises))


def test_one_file_counts_for_the_assignments_of_which_it_defines_something():
    """A zero for the others would be a grade for what is not due yet."""
    found = without_others_files(
        (
            assignment("01_a", "all.py", MISSING, FAILED),
            assignment("02_b", "all.py", MISSING, BLOCKED),
            assignment("03_c", "03_c/own.py", MISSING),
            assignment("04_d", "", MISSING),
        )
    )
    assert [part.read_from for part in found] == ["all.py", "", "03_c/own.py", ""]
    assert [bool(part.checks) for part in found] == [True, False, True, True]


def test_one_file_that_defines_nothing_was_handed_in_all_the_same():
    """It may be one that cannot be read."""
    parts = tuple(assignment(id_, "all.py", MISSING) for id_ in ("01_a", "02_b"))
    assert without_others_files(parts) == parts
