"""`--never-lower`: in each assignment the better of two scores."""

import shutil
from decimal import Decimal

import pytest
from msgspec.structs import replace

from grader.classes.compare import compare_runs
from grader.classes.records import open_records
from grader.classes.score import not_lower
from grader.core.records import (
    AssignmentResult,
    CheckResult,
    ExerciseResult,
    Outcome,
    Result,
    Visibility,
)

NOTE = "The score of an earlier run is kept, because it is higher."


ERROR = CheckResult("01_a/f::test", "It holds.", Visibility.VISIBLE, 1, Outcome.ERROR, "", 0.0)


def result_of(*scores, most=3):
    """A result with these scores of assignments; None stands for undecided."""
    assignments = tuple(
        AssignmentResult(
            *(f"0{number}_a", "a.py", score and Decimal(score), most),
            exercises=(
                ExerciseResult(f"0{number}_a/f", score and Decimal(score), most, checks=(ERROR,)),
            ),
        )
        for number, score in enumerate(scores, 1)
    )
    is_undecided = None in scores
    total = None if is_undecided or not scores else Decimal(sum(map(int, scores)))
    rest = (bool(scores), (), "1", {}, "c0", "be", assignments)
    return Result("ada", total, most * len(scores), is_undecided, *rest)


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
    run, old = make("out"), tmp_path / "old"
    run.run()
    shutil.copytree(run.out, old)
    before = {row.student: row.assignments for row in run.result.rows}
    run.harder("01_scores")
    run.harder("02_mixture")
    run.run()
    harder = {row.student: row.assignments for row in run.result.rows}
    count = run.graded.copy()
    run.run(never_lower=open_records(old))
    assert run.graded == count
    for row in run.result.rows:
        both = (before[row.student], harder[row.student])
        assert row.assignments == {id_: max(one[id_] for one in both) for id_ in both[0]}
        assert row.score == pytest.approx(sum(row.assignments.values()))
    found = compare_runs(*map(open_records, (old, run.out)))
    assert all(change.difference >= 0 for change in found.changes)
    better = run.results()
    run.run(never_lower=open_records(run.out))
    assert [one.assignments for one in run.results()] == [one.assignments for one in better]
    run.run()
    assert {row.student: row.assignments for row in run.result.rows} == harder
