"""Every report of every student of the example class, made from what grading really found."""

import csv
import io
from datetime import UTC, datetime
from decimal import Decimal
from math import floor
from pathlib import PurePosixPath
from typing import Any

import pytest

from grader.core.entry_points import entries
from grader.core.records import Outcome, Visibility
from grader.judging.results import points
from grader.reports.base import OF_GRADE, GradedClass
from grader.reports.base import graded as reported

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("example class")]


@pytest.fixture(scope="module")
def reports(graded: Any) -> dict[str, str | None]:
    """All reports by path."""
    moment = datetime(2027, 2, 1, tzinfo=UTC)
    run = GradedClass(graded.course, list(graded.results.values()), {}, moment)
    return {file.path: file.content for file in reported(entries(OF_GRADE), run)}


def test_every_report_is_valid_and_all_agree_on_the_score(
    graded: Any, reports: dict[str, str], schemas: Any
) -> None:
    """Each against its platform's schema; exactly, or rounded per exercise."""
    text = (graded.out / "scores.csv").read_text("utf-8")
    rows = {row["student"]: row for row in csv.DictReader(io.StringIO(text))}
    for student, result in graded.results.items():
        junit = schemas.junit(reports[f"junit/{student}.xml"])
        if result.score is None:
            assert reports[f"classroom50/{student}.json"] is None
            assert reports[f"gradescope/{student}.json"] is None
            assert (rows[student]["score"], len(junit)) == ("", 0)
            continue
        exact = points(result.score)
        exercises = [e for a in result.assignments for e in a.exercises]
        whole = sum(floor((e.score or Decimal(0)) + Decimal("0.5")) for e in exercises)
        fifty = schemas.classroom50(reports[f"classroom50/{student}.json"])
        scope = schemas.gradescope(reports[f"gradescope/{student}.json"])
        suites = junit.findall("testsuite/properties/property[@name='score']")
        assert fifty["score"] == whole
        found = [scope["score"], float(rows[student]["score"])]
        found.append(round(sum(float(s.get("value") or 0) for s in suites), 2))
        assert found == [exact] * 3
        assert f"**{exact} of {result.max_score} points**" in reports[f"github/{student}.md"]


def test_no_report_tells_what_hidden_checks_said(
    graded: Any, reports: dict[str, str | None]
) -> None:
    """Of no student, in no platform's form, unless a visible check says the same."""
    for student, result in graded.results.items():
        checks = [c for a in result.assignments for e in a.exercises for c in e.checks]
        told = {c.message for c in checks if c.visibility is Visibility.VISIBLE}
        secret = {
            line
            for check in checks
            if check.visibility is Visibility.HIDDEN and check.outcome is not Outcome.PASSED
            for line in check.message.splitlines()
            if len(line) > 40 and not any(line in text for text in told)
        }
        for path, text in reports.items():
            if PurePosixPath(path).stem == student:
                assert [line for line in secret if line in (text or "")] == []


def test_an_outcome_that_is_about_a_line_has_it(graded: Any) -> None:
    """Wherever students wrote something that was judged, or that failed."""
    for result in graded.results.values():
        for assignment in result.assignments:
            checks = [c for e in assignment.exercises for c in e.checks]
            judged = [c for c in checks if c.outcome is Outcome.FAILED]
            assert [c.id for c in judged if c.where is None] == []
            assert [c.id for c in checks if c.outcome is Outcome.PASSED and c.where] == []
