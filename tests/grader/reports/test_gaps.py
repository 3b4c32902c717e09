"""What was not handed in, what does not count and what is undecided are no zeros, in any report."""

import csv
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import made_results as made
import pytest
from msgspec.structs import replace

from grader.classes.deciding import decided
from grader.classes.decisions import Personal
from grader.core.entry_points import entries
from grader.core.records import AssignmentResult, Finding, Mistake, Outcome, Result
from grader.course.course import Course, load_course
from grader.judging.scoring import nothing_handed_in
from grader.reports.base import OF_GRADE, GradedClass, graded
from grader.reports.html.class_views import score_cell, students_map
from grader.reports.insights import alike, exercise_insights, misunderstood

SLIP = Finding((Mistake("not-scaled", "Scores are not scaled.", "By what?"),))
NOW = datetime(2027, 1, 1, tzinfo=UTC)
SCORES, MIXTURE = "01_scores", "02_mixture"


@pytest.fixture(scope="module")
def small(root: Path) -> Course:
    """A course of two assignments."""
    return load_course(root / "tests" / "example_course")


def handed_in(course: Course, id_: str, outcome: Outcome, *findings: Finding) -> AssignmentResult:
    """An assignment all of whose checks ended so."""
    exercises = (
        made.exercise(e.id, None, e.points, made.check("c", outcome, "No."), findings=findings)
        for e in course.by_id[id_].exercises
    )
    return made.assignment(id_, *exercises, score=None)


@pytest.fixture(scope="module")
def student(small: Course) -> Callable[..., Result]:
    """Makes a student who handed in some assignments, of which some do not count."""

    def make(name: str, *parts: AssignmentResult, exempt: tuple[str, ...] = ()) -> Result:
        known = {part.id: part for part in parts}
        everything = [known.get(a.id) or nothing_handed_in(a) for a in small.assignments if parts]
        more = {"score": None, "max_score": small.max_score, "submitted": bool(parts)}
        outcomes = made.result(name, *everything, **more)
        ids = frozenset(e.id for id_ in exempt for e in small.by_id[id_].exercises)
        return decided(small, outcomes, Personal(exempt=ids))

    return make


@pytest.fixture(scope="module")
def everybody(small: Course, student: Callable[..., Result]) -> dict[str, Result]:
    """A student of each kind; `full` is the only one who handed in everything."""
    right, wrong = (
        {id_: handed_in(small, id_, end) for id_ in (SCORES, MIXTURE)}
        for end in (Outcome.PASSED, Outcome.FAILED)
    )
    open_ = handed_in(small, MIXTURE, Outcome.ERROR)
    results = (
        student("full", right[SCORES], right[MIXTURE]),
        student("gap", right[SCORES]),
        student("zero", wrong[SCORES], wrong[MIXTURE]),
        student("exempt", right[SCORES], wrong[MIXTURE], exempt=(MIXTURE,)),
        student("freed", right[SCORES], exempt=(SCORES, MIXTURE)),
        student("only-gap", right[SCORES], exempt=(SCORES,)),
        student("absent"),
        student("absent-and-freed", exempt=(SCORES, MIXTURE)),
        student("open", right[SCORES], open_),
    )
    return {one.student: one for one in results}


@pytest.fixture(scope="module")
def files(small: Course, everybody: dict[str, Result]) -> dict[str, str]:
    """Every report of the class, by its file."""
    run = GradedClass(small, list(everybody.values()), {}, NOW)
    return {f.path: f.text for f in graded(entries(OF_GRADE), run) if f.content is not None}


def test_every_report_of_every_kind_of_student_is_made(files: dict[str, str]) -> None:
    """A gap, an exemption and an open score end none of them."""
    kinds = {path.partition("/")[0] for path in files}
    assert kinds == {*entries(OF_GRADE)} - {"csv"}


@pytest.mark.parametrize(
    ("name", "score", "marks"),
    [
        ("full", "6", ["2", "1", "3"]),
        ("gap", "2", ["2", "", ""]),
        ("zero", "0", ["0", "0", "0"]),
        ("exempt", "2", ["2", "–", "–"]),
        ("freed", "–", ["–", "–", "–"]),
        ("only-gap", "–", ["–", "", ""]),
        ("absent", "", ["", "", ""]),
        ("absent-and-freed", "–", ["–", "–", "–"]),
        ("open", "?", ["2", "?", "?"]),
    ],
)
def test_the_map_tells_them_apart(
    small: Course, everybody: dict[str, Result], name: str, score: str, marks: list[str]
) -> None:
    """Blank, a dash, a question mark and a zero are four things."""
    ((result, cells),) = students_map([everybody[name]], small)
    assert (score_cell(result), [text for text, _ in cells]) == (score, marks)


@pytest.mark.parametrize(
    ("name", "grades"),
    [
        ("gap", ["2", ""]),
        ("exempt", ["2", "EX"]),
        ("absent", ["", ""]),
        ("absent-and-freed", ["EX", "EX"]),
        ("open", ["2", ""]),
    ],
)
def test_canvas_has_no_zero_for_them(files: dict[str, str], name: str, grades: list[str]) -> None:
    """Exempt is EX also where nothing was handed in."""
    rows = {row[0]: row[5:] for row in csv.reader(files["canvas/gradebook.csv"].splitlines())}
    assert rows[name] == grades


def test_means_and_separations_count_who_handed_in(
    small: Course, everybody: dict[str, Result]
) -> None:
    """Of the mixture these are the full one and the one with zeros."""
    by_id = {one.id: one for one in exercise_insights(list(everybody.values()), small)}
    scores, weights = by_id["01_scores/scores"], by_id["02_mixture/weights"]
    assert (weights.tried, weights.solved, weights.mean) == (2, 1, 0.5)
    assert (scores.tried, scores.solved, scores.mean) == (4, 3, 1.5)


def test_item_tables_count_who_handed_in(files: dict[str, str]) -> None:
    """The course's reliability is of those who have a score in all of it."""
    rows = list(csv.DictReader(files["items/reliability.csv"].splitlines()))
    assert [(row["students"], row["mean"]) for row in rows] == [
        ("4", "1.500"),
        ("2", "2.000"),
        ("2", "3.000"),
    ]
    items = csv.DictReader(files["items/items.csv"].splitlines())
    assert {row["students"] for row in items if row["assignment"] == MIXTURE} == {"2"}


def test_a_mistake_is_made_by_so_many_of_those_who_handed_in(
    small: Course, student: Callable[..., Result]
) -> None:
    """Who is exempt, and who handed in something else, is not among them."""
    mine = handed_in(small, SCORES, Outcome.FAILED, SLIP)
    other = handed_in(small, MIXTURE, Outcome.PASSED)
    results = [
        student("ada", mine),
        student("bo", handed_in(small, SCORES, Outcome.PASSED)),
        student("cem", other),
        student("dee", mine, other, exempt=(SCORES,)),
    ]
    (one,) = misunderstood(results)
    assert (one.students, one.of, one.percent) == (("ada",), 2, 50)


def test_what_is_alike_is_so_for_so_many_of_those_who_handed_in(
    small: Course, student: Callable[..., Result]
) -> None:
    """Exempt work is not looked at."""
    part = handed_in(small, SCORES, Outcome.FAILED)
    exercise = part.exercises[0]
    raised = replace(exercise.checks[0], raised="ValueError: no")
    part = replace(part, exercises=(replace(exercise, checks=(raised,)),))
    other = handed_in(small, MIXTURE, Outcome.PASSED)
    results = [student(name, part) for name in "abc"]
    results += [student("d", part, exempt=(SCORES,)), student("e", other)]
    (group,) = alike(results)
    assert (group.students, group.of) == (("a", "b", "c"), 3)


def test_junit_skips_what_has_no_score(files: dict[str, str]) -> None:
    """A gap is no error of the grader's."""
    text = files["junit/gap.xml"]
    assert 'errors="0"' in text
    assert text.count('<skipped message="not handed in"') == 2
    assert files["junit/exempt.xml"].count('<skipped message="does not count"') == 2


def test_github_lists_gaps_once(files: dict[str, str]) -> None:
    """Not exercise by exercise, and as nothing to do next."""
    text = files["github/gap.md"]
    assert "Nothing was handed in for it." in text
    assert "02_mixture/" not in text
    assert "Nothing of it counts for you" in files["github/freed.md"]


@pytest.mark.parametrize("name", ["gap", "exempt"])
def test_platforms_have_no_test_for_them(files: dict[str, str], name: str) -> None:
    """Gradescope and Classroom 50 show the exercises that count."""
    for report in ("gradescope", "classroom50"):
        assert "02_mixture/" not in files[f"{report}/{name}.json"]


def test_pages_tell_them_apart(files: dict[str, str]) -> None:
    """What a student reads: no points, no zero, no question mark."""
    gap, exempt = files["html/students/gap.html"], files["html/students/exempt.html"]
    assert "2 not handed in" in gap
    assert "? / 4" not in gap
    assert "2 do not count" in exempt
    assert "Nothing of it counts for you" in files["html/students/absent-and-freed.html"]
    assert "Nothing was handed in." in files["html/students/absent.html"]


def test_only_who_has_a_score_is_in_the_mean_of_the_class(files: dict[str, str]) -> None:
    """6, 2, 0 and 2 points."""
    page = files["html/index.html"]
    assert "<dt>mean</dt><dd>2.5</dd>" in page
