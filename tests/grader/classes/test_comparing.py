"""Two runs side by side: exactly whom a change concerns, by how much, and by what."""

import csv
import json
import re
import shutil
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from msgspec.structs import replace

from grader.classes import compare
from grader.classes.compare import Change, CheckChange, Comparison, Part, compare_results
from grader.classes.deciding import decided
from grader.classes.decisions import (
    NO_DECISIONS,
    Decisions,
    DroppedCheck,
    Extension,
    GivenCheck,
    LateDays,
    Override,
    Personal,
)
from grader.classes.records import open_records
from grader.core.errors import UsageError
from grader.core.records import AttemptScore, Outcome, Visibility
from grader.course.course import Assignment, Course, Exercise, LateRule, Limits
from grader.extras.items import stability_table
from grader.judging.scoring import nothing_handed_in
from grader.reports.html.pages import comparison_page
from tests.grader.classes.conftest import HIDDEN_CHECK, STUDENTS, student_of, work_of

DUE = datetime(2027, 2, 1, tzinfo=UTC)
VISIBLE, HIDDEN = (f"01_a/f::{kind}::test_it" for kind in Visibility)
PASSED, FAILED = Outcome.PASSED, Outcome.FAILED


def course(points=2):
    """A course of two assignments, of which the first has one exercise and a due date."""
    first = Assignment("01_a", "A", (Exercise("01_a", "f", points),), due=DUE)
    second = Assignment("02_b", "B", (Exercise("02_b", "f", 1), Exercise("02_b", "g", 3)))
    rest = ("A course", "py", Limits(), LateRule(percent_per_day=10))
    return Course("course", *rest, (first, second))


def result_of(hidden, points=2, weight=1, **decisions):
    """A student's result in the first assignment, a day late: how its hidden check ended."""
    ends = {VISIBLE: PASSED, HIDDEN: hidden}.get
    here = course(points).only(("01_a",))
    part = work_of(here.assignments[0], ends, weight, submitted_at=DUE + timedelta(1))
    return decided(here, student_of(part), Decisions(**decisions).of(here, "ada", []))


BEFORE = result_of(FAILED)
NOTHING = student_of()
BETTER = result_of(PASSED)
BY_BO = replace(BETTER, assignments=(replace(BETTER.assignments[0], handed_in_by="bo"),))


FAILS = "hidden::test_it: failed"
OVERRIDE, EXTENSION = (
    Override("ada", "01_a/f", 2, "So."),
    Extension("ada", assignment="01_a", days=1),
)
DIFFERENCES = {
    f"1.8: 01_a/f +1.2, {FAILS} → passed, 01_a -0.12, days late: 1, of another score": BETTER,
    f"0.72: 01_a/f, {FAILS} → timeout": result_of(Outcome.TIMEOUT),
    f"0.72: 01_a/f, visible::test_it: passed → passed, weight 2, {FAILS} → failed, weight 2": (
        result_of(FAILED, weight=2)
    ),
    "1.44: 01_a/f +0.8, points: 2 → 4": result_of(FAILED, points=4),
    "1.8: 01_a/f +1.2, decided: no decision → override": result_of(FAILED, overrides=(OVERRIDE,)),
    f"1.8: 01_a/f +1.2, {FAILS} → counts for nobody, decided: no decision → check": (
        result_of(FAILED, drop=(DroppedCheck(HIDDEN),))
    ),
    "0.8: 01_a +0.08, days late: 1 → 1 (1 paid with late days)": (
        result_of(FAILED, late_days=LateDays(1, 1))
    ),
    "0.8: 01_a +0.08, days late: 1 → 0": result_of(FAILED, extensions=(EXTENSION,)),
    f"undecided: 01_a/f -0.8, {FAILS} → error": result_of(Outcome.ERROR),
    "nothing handed in: 01_a -0.72, nothing handed in in the later run": NOTHING,
}


@pytest.mark.parametrize(("said", "after"), DIFFERENCES.items())
def test_what_a_difference_comes_from(said, after):
    """Checks, points, decisions, dates; the parts add up to what is gained."""
    change = compare_results(BEFORE, after)
    lines = ", ".join(line.strip() for part in change.parts for line in part.lines)
    assert f"{change.shown_after}: {lines}".startswith(said)
    assert change.shown_before == "0.72"
    if change.difference is not None:
        assert change.difference == sum(part.difference for part in change.parts)
    assert compare_results(after, after) is None


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [(NOTHING, BY_BO, "the"), (BEFORE, BY_BO, "the"), (BY_BO, BEFORE, "no longer the")],
)
def test_the_work_of_a_group_is_a_gain_and_no_work_of_ones_own(before, after, words):
    """Whose work counts is said, and when it does no longer."""
    change = compare_results(before, after)
    assert change.not_counted == ""
    assert change.parts[0].why == (f"{words} group's work, handed in by bo",)


# What no student gains or loses by.


def work(personal=NO_DECISIONS, **ends):
    """A result: how all checks of `a` and `b` ended; None where nothing was handed in."""
    named = {{"01_a": "a", "02_b": "b"}[one.id]: one for one in course().assignments}
    parts = (
        nothing_handed_in(named[name])
        if end is None
        else work_of(named[name], lambda _, end=end: end)
        for name, end in ends.items()
    )
    return decided(course(), student_of(*parts, max_score=6), personal)


BOTH = {"a": PASSED, "b": PASSED}


@pytest.mark.parametrize(
    ("before", "after", "exempt", "told"),
    [
        ({"a": PASSED}, BOTH, (), "by an assignment that one of the runs lacks"),
        (BOTH | {"b": None}, BOTH, (), "by an assignment that was handed in since"),
        (BOTH, BOTH, ("02_b/f", "02_b/g"), "by what does not count in one of the runs"),
        (BOTH, BOTH, ("02_b/f",), "by what does not count in one of the runs"),
    ],
)
def test_nobody_gains_or_loses_by_what_one_run_lacks(before, after, exempt, told):
    """A new assignment, one that was handed in since, and an exemption are said apart, and last."""
    change = compare_results(work(**before), work(Personal(exempt=exempt), **after))
    better = compare_results(BEFORE, result_of(PASSED))
    found = Comparison(2, (change, better))
    assert found.of_scores == (better, change)
    assert "1 gain, 0 lose" in found.sentence
    assert found.sentence.endswith(
        f"; 0 have other outcomes and the same score. 1 differ only {told}."
    )
    (part,) = change.parts
    assert None in (part.before, part.after)


@pytest.mark.parametrize(
    ("before", "after"),
    [(BOTH, BOTH | {"b": None}), ({"a": PASSED}, {"a": FAILED, "b": PASSED})],
)
def test_who_has_less_loses(before, after):
    """Work that vanished; less in one assignment, even where a new one gives more than that."""
    change = compare_results(work(**before), work(**after))
    assert "0 gain, 1 lose" in Comparison(1, (change,)).sentence


def test_who_has_nothing_that_counts_handed_in_something():
    """In a comparison this is not "nothing handed in"."""
    everything = Personal(exempt=tuple(course().exercises))
    change = compare_results(work(**BOTH), work(everything, **BOTH))
    assert (change.shown_before, change.shown_after) == ("6", "does not count")


@pytest.mark.parametrize(
    ("now", "said"),
    [
        (compare.NOT_THERE, "0 have other outcomes and the same score. 1 differ only by a check"),
        ("passed", "1 have other outcomes and the same score."),
    ],
)
def test_a_check_that_is_gone_is_no_other_outcome(now, said):
    """A check was taken out of the course: nobody's work ended otherwise."""
    gone = CheckChange(VISIBLE, "It holds.", "failed", now)
    part = Part("01_a/f", BEFORE.score, BEFORE.score, (gone,))
    change = Change("ada", BEFORE.score, BEFORE.score, "", "", (part,))
    assert said in Comparison(1, (change,)).sentence


def test_exercises_that_change_places_are_other_outcomes():
    """Their points add up to the same, and no check is gone."""
    parts = (Part("01_a/f", *map(Decimal, (1, 2))), Part("01_a/g", *map(Decimal, (2, 1))))
    assert not Change("ada", Decimal(3), Decimal(3), "", "", parts).is_of_other_checks


# Runs.


def compared(before, after):
    """The comparison of two folders."""
    return compare.compare_runs(open_records(before), open_records(after))


@pytest.fixture
def two(run, tmp_path):
    """A class that was graded, and a copy of what was written."""
    return run, shutil.copytree(run.out, tmp_path / "old")


def test_a_changed_check_concerns_exactly_whom_grading_everybody_again_does(two, make):
    """The run goes on where it was; another one grades everybody from the start."""
    run, old = two
    before = {row.student: row.score for row in run.result.rows}
    run.harder("01_scores")
    run.run()
    now = {row.student: row.score for row in make("fresh").run()}
    concerned = {name: (before[name], now[name]) for name in now if before[name] != now[name]}
    found = compared(old, run.out)
    told = {one.student: (float(one.before), float(one.after)) for one in found.of_scores}
    assert told == concerned != {}
    effects = compare.by_check(found)
    assert {one.id.partition("::")[0] for one in effects} == {"01_scores/scores"}
    for change in found.changes:
        assert change.difference == sum(part.difference for part in change.parts)
    assert {name for e in effects for name in (*e.gaining, *e.losing)} == {*concerned}
    same = len(found.changes) - len(concerned)
    assert found.sentence.endswith(f"; {same} have other outcomes and the same score.")


def test_a_check_that_everybody_is_given_concerns_exactly_whom_the_decision_does(two):
    """It is named as what the difference comes from."""
    run, old = two
    run.run(decisions=Decisions(full_marks=(GivenCheck(HIDDEN_CHECK),)))
    found = compared(old, run.out)
    (effect,) = compare.by_check(found)
    assert (effect.id, effect.losing) == (HIDDEN_CHECK, ())
    assert effect.gaining == effect.students == tuple(one.student for one in found.of_scores)
    assert effect.students == tuple(run.result.changed)
    assert all(name in comparison_page(found, "old", "new") for name in effect.students)
    record = json.loads(json.dumps(compare.to_record(found)))
    assert [one["student"] for one in record["changes"]] == [*effect.students]
    assert record["checks"][0]["gaining"] == [*effect.students]


def test_who_is_in_one_run_only_is_told_apart(two):
    """The others are compared."""
    run, old = two
    run.run(names=STUDENTS[1:])
    (old / "results" / f"{STUDENTS[5]}.json").unlink()
    found = compared(old, run.out)
    assert (found.students, found.changes) == (18, ())
    assert (found.only_before, found.only_after) == ((STUDENTS[0],), (STUDENTS[5],))


def stability(*folders):
    """The table of checks for two folders."""
    text = stability_table(*([*open_records(one).results()] for one in folders))
    return {row["check"]: row for row in csv.DictReader(text.splitlines())}


def test_the_same_work_ends_the_same_way_or_checks_are_named(two, make):
    """Another seed explains other outcomes; where nothing does, the students are named."""
    run, again = two
    (line,) = compared(run.out, again).same_work.lines
    assert line == "20 students have the same work in both: every check ended as before."
    seeded = make("seeded")
    seeded.run(seed="12")
    (line,) = compared(run.out, seeded.out).same_work.lines
    assert "checks ended otherwise; the seed changed." in line
    record = again / "results" / f"{STUDENTS[3]}.json"
    text = record.read_text("utf-8")
    (line,) = re.findall(rf'.*"{HIDDEN_CHECK}".*', text)
    other = {"passed": "failed", "failed": "passed"}
    flipped = re.sub(r'(?<="outcome": ")\w+', lambda found: other[found[0]], line)
    record.write_text(text.replace(line, flipped), "utf-8")
    first, named, _ = compared(run.out, again).same_work.lines
    assert first.endswith(
        "1 check ended otherwise, although course, seed and versions are the same:"
    )
    assert named == f"  {HIDDEN_CHECK}: {STUDENTS[3]}"
    rows = stability(run.out, again)
    row = rows.pop("test_other_queries_and_keys")
    said = ("students", "same_work", "ended_otherwise", "who")
    assert [row[name] for name in said] == ["20", "20", "1", STUDENTS[3]]
    assert row["passed_moved"] in ("-0.050", "+0.050")
    others = {(other["ended_otherwise"], other["passed_moved"]) for other in rows.values()}
    assert others == {("0", "+0.000")}


def test_work_that_changed_is_not_the_same(two, make):
    """Nothing is said of its checks."""
    run, _old = two
    for name in STUDENTS:
        (run.folder / name / "scores.py").write_text(f"# {name}, again\n", "utf-8")
    other = make("other")
    other.run()
    found = compared(run.out, other.out)
    assert found.same_work.lines == ("Nobody's work is known to be the same in both runs.",)
    assert {row["same_work"] for row in stability(run.out, other.out).values()} == {"0"}


def with_attempts(counting, submission="be"):
    """A result of two attempts, of which this one counts."""
    attempts = (AttemptScore(f"2027-01-0{n}", None, 0, n == counting, {}) for n in (1, 2))
    part = replace(BEFORE.assignments[0], attempts=tuple(attempts))
    return replace(BEFORE, submission_hash=submission, assignments=(part,))


@pytest.mark.parametrize(
    ("before", "after", "is_same"),
    [
        (BEFORE, BEFORE, True),
        (BEFORE, replace(BEFORE, submission_hash="c0"), False),
        (NOTHING, NOTHING, False),
        (with_attempts(1), with_attempts(1, submission="c0"), True),
        (with_attempts(1), with_attempts(2), False),
        (BEFORE, with_attempts(1), False),
        (BEFORE, BY_BO, False),
    ],
)
def test_of_attempts_and_groups_it_is_what_counts(before, after, is_same):
    """The hash of a submission is of the last attempt, and of the student's own."""
    assert compare.is_same_work(before, after) == is_same


def test_what_is_no_run_is_said_so(tmp_path):
    """With what to give."""
    with pytest.raises(UsageError, match=r"holds no results\. Give the --out folder of a run"):
        compared(tmp_path, tmp_path)
    with pytest.raises(UsageError, match=r"There is no folder .*nowhere\."):
        compared(tmp_path / "nowhere", tmp_path)
    for name, text in (("half", "{"), ("other", "{}")):
        (tmp_path / name / "results").mkdir(parents=True)
        (tmp_path / name / "results" / "ada.json").write_text(text, "utf-8")
    with pytest.raises(UsageError, match="cannot be read as a result"):
        compared(tmp_path / "half", tmp_path / "other")
