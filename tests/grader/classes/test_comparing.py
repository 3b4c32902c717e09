"""Two runs side by side: exactly whom a change concerns, by how much, and by what."""

import csv
import json
import re
import shutil
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from msgspec.structs import replace

from grader.classes.compare import (
    NOT_THERE,
    Change,
    CheckChange,
    Comparison,
    Part,
    by_check,
    compare_results,
    compare_runs,
    is_same_work,
    to_record,
)
from grader.classes.deciding import decided
from grader.classes.decisions import (
    Decisions,
    DroppedCheck,
    Extension,
    GivenCheck,
    LateDays,
    Override,
)
from grader.classes.records import open_records
from grader.core.errors import UsageError
from grader.core.records import (
    AssignmentResult,
    AttemptScore,
    CheckResult,
    ExerciseResult,
    Outcome,
    Result,
    Visibility,
)
from grader.course.course import Assignment, Course, Exercise, LateRule, Limits
from grader.extras.items import stability_table
from grader.reports.html.pages import comparison_page
from tests.grader.classes.conftest import STUDENTS

DUE = datetime(2027, 2, 1, tzinfo=UTC)
IDS = tuple(f"01_a/f::{kind}::test_it" for kind in Visibility)


def course(points=2):
    """A course of one exercise."""
    one = Assignment("01_a", "A", (Exercise("01_a", "f", points),), due=DUE)
    return Course(
        *("course", "A course", "py", Limits(), LateRule(percent_per_day=10), (one,)),
    )


def result_of(*outcomes, decisions=None, points=2, weight=1):
    """A student's result, a day late."""
    checks = tuple(
        CheckResult(id_, "It holds.", kind, weight, outcome, "", 0.0)
        for id_, kind, outcome in zip(IDS, Visibility, outcomes, strict=True)
    )
    exercises = (ExerciseResult("01_a/f", None, 0, checks=checks),)
    part = AssignmentResult(
        "01_a", "a.py", None, 0, exercises=exercises, submitted_at=DUE + timedelta(1)
    )
    outcomes = Result(*("ada", None, 2, False, True, (), "1", {}, "c0", "be"), (part,))
    personal = (decisions or Decisions()).of(course(points), "ada", [])
    return decided(course(points), outcomes, personal)


PASSED, FAILED = Outcome.PASSED, Outcome.FAILED
BEFORE = result_of(PASSED, FAILED)
NOTHING = Result("ada", None, 2, False, False, (), "1", {}, "c0", "", ())


@pytest.mark.parametrize(
    ("after", "score", "lines"),
    [
        (BEFORE, None, None),
        (
            result_of(PASSED, PASSED),
            "1.8",
            [
                "01_a/f +1.2",
                "  hidden::test_it: failed → passed",
                "01_a -0.12",
                "  days late: 1, of another score",
            ],
        ),
        (
            result_of(PASSED, Outcome.TIMEOUT),
            "0.72",
            ["01_a/f", "  hidden::test_it: failed → timeout"],
        ),
        (
            result_of(PASSED, FAILED, weight=2),
            "0.72",
            [
                "01_a/f",
                "  visible::test_it: passed → passed, weight 2",
                "  hidden::test_it: failed → failed, weight 2",
            ],
        ),
        (result_of(PASSED, FAILED, points=4), "1.44", ["01_a/f +0.8", "  points: 2 → 4"]),
        (
            result_of(
                *(PASSED, FAILED),
                decisions=Decisions(overrides=(Override("ada", "01_a/f", 2, "So."),)),
            ),
            "1.8",
            ["01_a/f +1.2", "  decided: no decision → override"],
        ),
        (
            result_of(PASSED, FAILED, decisions=Decisions(drop=(DroppedCheck(IDS[1]),))),
            "1.8",
            [
                *("01_a/f +1.2", "  hidden::test_it: failed → counts for nobody"),
                "  decided: no decision → check",
            ],
        ),
        (
            result_of(PASSED, FAILED, decisions=Decisions(late_days=LateDays(1, 1))),
            "0.8",
            ["01_a +0.08", "  days late: 1 → 1 (1 paid with late days)"],
        ),
        (
            result_of(
                PASSED,
                FAILED,
                decisions=Decisions((Extension("ada", assignment="01_a", days=1),)),
            ),
            "0.8",
            ["01_a +0.08", "  days late: 1 → 0"],
        ),
        (
            result_of(PASSED, Outcome.ERROR),
            "undecided",
            [
                "01_a/f -0.8",
                "  hidden::test_it: failed → error",
            ],
        ),
        (
            NOTHING,
            "nothing handed in",
            ["01_a -0.72", "  nothing handed in in the later run"],
        ),
    ],
)
def test_what_a_difference_comes_from(after, score, lines):
    """Checks, points, decisions, dates; the parts add up to what is gained."""
    change = compare_results(BEFORE, after)
    if lines is None:
        assert change is None
        return
    assert (change.shown_before, change.shown_after) == ("0.72", score)
    found = [line for part in change.parts for line in part.lines]
    assert found[: len(lines)] == lines
    if change.difference is not None:
        assert change.difference == sum(part.difference for part in change.parts)


def compared(before, after):
    """The comparison of two folders."""
    return compare_runs(open_records(before), open_records(after))


def test_whom_a_whole_assignment_concerns_comes_last():
    """It is one line, and counted apart."""
    other = replace(BEFORE.assignments[0], id="02_b", score=1)
    lacking, changed = (replace(BEFORE, student=name) for name in ("ada", "bo"))
    after = [
        replace(one, score=one.score + 1, assignments=(*one.assignments, other))
        for one in (lacking, replace(result_of(PASSED, PASSED), student="bo"))
    ]
    changes = [compare_results(*two) for two in zip((lacking, changed), after, strict=True)]
    found = Comparison(2, tuple(changes))
    assert [change.student for change in found.of_scores] == ["bo", "ada"]
    assert changes[0].parts[0].lines == ("02_b +1", "  not in the earlier run")
    told = "1 differ only by an assignment that one of the runs lacks."
    assert found.sentence.endswith(told)


def test_a_changed_check_concerns_exactly_whom_grading_everybody_again_does(make, tmp_path):
    """The run goes on where it was; another one grades everybody from the start."""
    run, old = make("out"), tmp_path / "old"
    run.run()
    shutil.copytree(run.out, old)
    before = {row.student: row.score for row in run.result.rows}
    run.harder("01_scores")
    run.run()
    fresh = make("fresh")
    fresh.run(seed="11")
    concerned = {
        row.student: (before[row.student], row.score)
        for row in fresh.result.rows
        if row.score != before[row.student]
    }
    found = compared(old, run.out)
    assert {
        change.student: (float(change.before), float(change.after)) for change in found.of_scores
    } == concerned
    assert concerned
    assert {one.id.partition("::")[0] for one in by_check(found)} == {"01_scores/scores"}
    for change in found.changes:
        assert change.difference == sum(part.difference for part in change.parts)
    named = {name for one in by_check(found) for name in (*one.gaining, *one.losing)}
    assert named == set(concerned)
    same = len(found.changes) - len(concerned)
    assert found.sentence.endswith(f"; {same} have other outcomes and the same score.")


def test_a_dropped_check_concerns_exactly_whom_the_decision_does(make, tmp_path):
    """It is named as what the difference comes from."""
    run, old = make("out"), tmp_path / "old"
    run.run()
    shutil.copytree(run.out, old)
    id_ = "01_scores/scores::hidden::test_other_queries_and_keys"
    run.run(decisions=Decisions(full_marks=(GivenCheck(id_),)))
    found = compared(old, run.out)
    (effect,) = by_check(found)
    assert effect.id == id_
    assert effect.gaining == effect.students == tuple(one.student for one in found.of_scores)
    assert effect.students == tuple(run.result.changed)
    assert effect.losing == ()
    page = comparison_page(found, "old", "new")
    assert all(name in page for name in effect.students)
    record = json.loads(json.dumps(to_record(found)))
    assert [one["student"] for one in record["changes"]] == [*effect.students]
    assert record["checks"][0]["gaining"] == [*effect.students]


def test_who_is_in_one_run_only_is_told_apart(make, tmp_path):
    """The others are compared."""
    run, old = make("out"), tmp_path / "old"
    run.run()
    shutil.copytree(run.out, old)
    run.run(names=STUDENTS[1:])
    (old / "results" / f"{STUDENTS[5]}.json").unlink()
    found = compared(old, run.out)
    assert (found.students, found.changes) == (18, ())
    assert (found.only_before, found.only_after) == ((STUDENTS[0],), (STUDENTS[5],))


def test_the_same_work_ends_the_same_way_or_checks_are_named(make, tmp_path):
    """Another seed explains other outcomes; where nothing does, the students are named."""
    run, seeded = make("out"), make("seeded")
    run.run()
    again = tmp_path / "again"
    shutil.copytree(run.out, again)
    (line,) = compared(run.out, again).same_work.lines
    assert line == "20 students have the same work in both: every check ended as before."
    seeded.run(seed="12")
    (line,) = compared(run.out, seeded.out).same_work.lines
    assert "checks ended otherwise; the seed changed." in line
    record = again / "results" / f"{STUDENTS[3]}.json"
    id_ = "01_scores/scores::hidden::test_other_queries_and_keys"
    text = record.read_text("utf-8")
    (line,) = re.findall(rf'.*"{id_}".*', text)
    other = {"passed": "failed", "failed": "passed"}
    flipped = re.sub(r'(?<="outcome": ")\w+', lambda found: other[found[0]], line)
    record.write_text(text.replace(line, flipped), "utf-8")
    first, named, _ = compared(run.out, again).same_work.lines
    assert first.endswith(
        "1 check ended otherwise, although course, seed and versions are the same:"
    )
    assert named == f"  {id_}: {STUDENTS[3]}"
    rows = [
        *csv.DictReader(
            stability_table(
                *([*open_records(out).results()] for out in (run.out, again))
            ).splitlines()
        )
    ]
    row = next(row for row in rows if row["check"] == "test_other_queries_and_keys")
    assert (row["students"], row["same_work"], row["ended_otherwise"], row["who"]) == (
        *("20", "20", "1", STUDENTS[3]),
    )
    assert row["passed_moved"] in ("-0.050", "+0.050")
    assert {r["ended_otherwise"] for r in rows if r is not row} == {"0"}
    assert {r["passed_moved"] for r in rows if r is not row} == {"+0.000"}


def with_attempts(counting, result=BEFORE, submission="be"):
    """A result of two attempts, of which this one counts."""
    part = result.assignments[0]
    attempts = (AttemptScore(f"2027-01-0{n}", None, 0, n == counting, {}) for n in (1, 2))
    part = replace(part, attempts=tuple(attempts))
    return replace(result, submission_hash=submission, assignments=(part,))


@pytest.mark.parametrize(
    ("before", "after", "is_same"),
    [
        (BEFORE, BEFORE, True),
        (BEFORE, replace(BEFORE, submission_hash="c0"), False),
        (NOTHING, NOTHING, False),
        (with_attempts(1), with_attempts(1, submission="c0"), True),
        (with_attempts(1), with_attempts(2), False),
        (BEFORE, with_attempts(1), False),
        (
            BEFORE,
            replace(BEFORE, assignments=(replace(BEFORE.assignments[0], handed_in_by="bo"),)),
            False,
        ),
    ],
)
def test_of_attempts_and_groups_it_is_what_counts(before, after, is_same):
    """The hash of a submission is of the last attempt, and of the student's own."""
    assert is_same_work(before, after) == is_same


def test_work_that_changed_is_not_the_same(make):
    """Nothing is said of its checks."""
    run, other = make("out"), make("other")
    run.run()
    for name in STUDENTS:
        (run.folder / name / "scores.py").write_text(f"# {name}, again\n", "utf-8")
    other.run()
    found = compared(run.out, other.out)
    assert found.same_work.lines == ("Nobody's work is known to be the same in both runs.",)
    table = stability_table(*([*open_records(out).results()] for out in (run.out, other.out)))
    assert {row["same_work"] for row in csv.DictReader(table.splitlines())} == {"0"}


def test_what_is_no_run_is_said_so(tmp_path):
    """With what to give."""
    with pytest.raises(UsageError, match=r"holds no results\. Give the --out folder of a run"):
        compared(tmp_path, tmp_path)
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "ada.json").write_text("{", "utf-8")
    (tmp_path / "other" / "results").mkdir(parents=True)
    (tmp_path / "other" / "results" / "ada.json").write_text("{}", "utf-8")
    with pytest.raises(UsageError, match=r"There is no folder .*nowhere\."):
        compared(tmp_path / "nowhere", tmp_path)
    with pytest.raises(UsageError, match="cannot be read as a result"):
        compared(tmp_path, tmp_path / "other")


def test_the_work_of_a_group_is_a_gain():
    """Somebody else handed it in, and it counts by a decision: that is no new work of one's own."""
    (part,) = BEFORE.assignments
    after = replace(BEFORE, assignments=(replace(part, handed_in_by="bo"),))
    change = compare_results(NOTHING, after)
    assert change is not None
    assert change.not_counted == ""
    assert change.parts[0].lines == ("01_a +0.72", "  the group's work, handed in by bo")


def test_the_better_work_of_a_group_is_no_better_work_of_ones_own():
    """Both handed in: the exercise says whose work counts, and when it does no longer."""
    after = result_of(PASSED, PASSED)
    shared = replace(after, assignments=(replace(after.assignments[0], handed_in_by="bo"),))
    for runs, words in (((BEFORE, shared), "the"), ((shared, BEFORE), "no longer the")):
        change = compare_results(*runs)
        assert change is not None
        assert change.parts[0].why == (f"{words} group's work, handed in by bo",)


@pytest.mark.parametrize(
    ("ends", "said"),
    [
        (
            ("failed", NOT_THERE),
            "0 have other outcomes and the same score. 1 differ only by a check",
        ),
        (("failed", "passed"), "1 have other outcomes and the same score."),
    ],
)
def test_a_check_that_is_gone_is_no_other_outcome(ends, said):
    """A check was taken out of the course: nobody's work ended otherwise."""
    part = Part("01_a/f", BEFORE.score, BEFORE.score, (CheckChange(IDS[0], "It holds.", *ends),))
    change = Change("ada", BEFORE.score, BEFORE.score, "", "", (part,))
    assert said in Comparison(1, (change,)).sentence


def test_exercises_that_change_places_are_other_outcomes():
    """Their points add up to the same, and no check is gone."""
    parts = (Part("01_a/f", *map(Decimal, (1, 2))), Part("01_a/g", *map(Decimal, (2, 1))))
    change = Change("ada", Decimal(3), Decimal(3), "", "", parts)
    assert not change.is_of_other_checks
