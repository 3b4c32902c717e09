"""One result, many renderings: every report of every example student is valid, and all agree."""

import csv
import io
from dataclasses import replace
from decimal import Decimal
from math import floor

import pytest
from msgspec import structs

from grader.core.entry_points import entries
from grader.core.records import Outcome, Visibility
from grader.judging.results import points
from grader.reports.base import OF_GRADE, GradedClass, graded
from grader.reports.check_csv import scores_csv

ALL = [name for name in entries(OF_GRADE) if name != "csv"]


def files(run: GradedClass) -> dict[str, str | None]:
    """All reports of a class by path."""
    return {file.path: file.content for file in graded(entries(OF_GRADE), run)}


def rows(text: str) -> dict[str, dict[str, str]]:
    """A CSV's rows by their first cell."""
    listed = list(csv.DictReader(io.StringIO(text)))
    return {next(iter(row.values())): row for row in listed}


def test_every_student_has_every_report_that_can_be_made(class_run) -> None:
    """Who handed in nothing has no file where a platform has no word for that."""
    made = files(class_run)
    for result in class_run.results:
        there = {
            name.partition("/")[0]
            for name, text in made.items()
            if name.partition("/")[2].rpartition(".")[0] == result.student and text is not None
        }
        everywhere = {"junit", "github", "classroom50", "gradescope"}
        assert there == (everywhere if result.submitted else {"junit", "github"})


@pytest.mark.slow
def test_all_reports_agree_on_every_score(class_run, schemas) -> None:
    """Exactly where a platform has fractions; rounded per exercise where it has none."""
    made = files(class_run)
    table = rows(scores_csv(class_run.course, class_run.results))
    for result in (result for result in class_run.results if result.submitted):
        exercises = [e for a in result.assignments for e in a.counting]
        whole = sum(floor(e.score + Decimal("0.5")) for e in exercises)
        fifty = schemas.classroom50(made[f"classroom50/{result.student}.json"])
        scope = schemas.gradescope(made[f"gradescope/{result.student}.json"])
        junit = schemas.junit(made[f"junit/{result.student}.xml"])
        suites = junit.findall("testsuite/properties/property[@name='score']")
        assert (fifty["score"], fifty["max-score"]) == (whole, result.max_score)
        assert sum(test["score"] for test in fifty["tests"]) == whole
        exact = points(result.score)
        assert scope["score"] == exact
        assert round(sum(test["score"] for test in scope["tests"]), 2) == exact
        assert round(sum(float(suite.get("value") or 0) for suite in suites), 2) == exact
        assert float(table[result.student]["score"]) == exact
        assert f"**{exact} of {result.max_score} points**" in made[f"github/{result.student}.md"]


@pytest.mark.slow
def test_all_reports_agree_on_names_and_mistakes(class_run, schemas) -> None:
    """The same exercises in the same order, the same named mistakes."""
    made = files(class_run)
    for result in (result for result in class_run.results if result.submitted):
        exercises = {e.id: list(e.misconceptions) for a in result.assignments for e in a.counting}
        fifty = schemas.classroom50(made[f"classroom50/{result.student}.json"])["tests"]
        scope = schemas.gradescope(made[f"gradescope/{result.student}.json"])["tests"]
        junit = schemas.junit(made[f"junit/{result.student}.xml"])
        assert {test["test-name"]: test["misconceptions"] for test in fifty} == exercises
        assert {test["name"]: test["tags"] for test in scope} == exercises
        assert [suite.get("name") for suite in junit] == [a.id for a in result.assignments]
        classes = dict.fromkeys(case.get("classname") for case in junit.iter("testcase"))
        assert list(classes) == [e.id for e in result.exercises]
        for name in {name for names in exercises.values() for name in names}:
            assert f"`{name}`" in made[f"github/{result.student}.md"]


def test_late_work_costs_the_same_in_every_report(class_run, schemas) -> None:
    """What is taken off an assignment is taken off its exercises where a platform adds them up."""
    result = next(r for r in class_run.results if r.student == "perfect_py")
    first = structs.replace(result.assignments[0], score=Decimal("10.4"), days_late=2)  # 80 % of 13
    assignments = (first, *result.assignments[1:])
    score = sum((a.score for a in assignments), Decimal(0))
    late = structs.replace(result, assignments=assignments, score=score)
    made = files(replace(class_run, results=[late]))
    fifty = schemas.classroom50(made["classroom50/perfect_py.json"])
    # Of 2, 2, 2, 2, 3 and 2 points 80 % are 1.6 (2), 1.6, 1.6, 1.6, 2.4 (2) and 1.6.
    lost = result.max_score - 1
    assert (fifty["score"], sum(test["score"] for test in fifty["tests"])) == (lost, lost)
    assert schemas.gradescope(made["gradescope/perfect_py.json"])["score"] == points(score)


@pytest.mark.parametrize("submitted", [True, False])
def test_no_score_is_nowhere_a_zero(class_run, schemas, submitted) -> None:
    """Undecided, and nothing handed in: blank, a word, or no file at all."""
    broken = structs.replace(
        class_run.results[0],
        score=None,
        undecided=submitted,
        submitted=submitted,
        assignments=(),
    )
    run = replace(class_run, results=[broken])
    made = files(run)
    student = broken.student
    assert made[f"classroom50/{student}.json"] is None
    assert made[f"gradescope/{student}.json"] is None
    cells = rows(scores_csv(run.course, run.results))[student]
    assert cells["score"] == ("undecided" if submitted else "")
    canvas = rows(made["canvas/gradebook.csv"])[student]
    moodle = rows(made["moodle/grades.csv"])[student]
    titles = [assignment.title for assignment in run.course.assignments]
    assert {canvas[title] for title in titles} | {moodle[title] for title in titles} == {""}
    said = "Undecided" if submitted else "Nothing was handed in"
    assert said in made[f"github/{student}.md"]
    schemas.junit(made[f"junit/{student}.xml"])


def test_no_report_for_a_student_tells_what_a_hidden_check_asked(class_run) -> None:
    """Nor the run's seed, nor any other student's name."""
    secret = "expected 0.1234 for the secret input"
    results = [hidden_message(result, secret) for result in class_run.results]
    made = files(replace(class_run, results=results))
    students = [result.student for result in results]
    for path, text in made.items():
        assert secret not in (text or "")
        assert "4815162342" not in (text or "")
        own = path.partition("/")[2].rpartition(".")[0]
        if own in students:
            others = [s for s in students if s not in own and s in (text or "")]
            assert others == []


def within(record, name, change):
    """A record with each of its parts of that name changed."""
    return structs.replace(record, **{name: tuple(map(change, getattr(record, name)))})


def hidden_message(result, secret):
    """The result with a message in every hidden check that did not pass."""

    def tell(check):
        is_told = check.visibility is Visibility.HIDDEN and check.outcome is not Outcome.PASSED
        return structs.replace(check, message=secret) if is_told else check

    def exercise(one):
        return within(one, "checks", tell)

    return within(result, "assignments", lambda one: within(one, "exercises", exercise))
