"""The second course, examples/linear_regression, stays whole: run as its authors run it."""

import csv
from pathlib import Path

import pytest
from example_courses import copy_of, run

from grader.course.course import load_course
from grader.release.stubs import stale

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("second course")]

# What the four students of its class earn, of 25 points: all; known mistakes; half of the first
# assignment; exceptions and mistakes without a name.
SCORES = {"s1": 25.0, "s2": 15.05, "s3": 5.0, "s4": 8.64}


OF_STUDENTS = ("nbgrader", "github")
"""Releases that CI makes of the other courses alone."""


@pytest.fixture(scope="module")
def second_course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of it, apart from the kit's own course."""
    return copy_of("linear_regression", tmp_path_factory.mktemp("second") / "linear_regression")


@pytest.mark.proof
@pytest.mark.long
def test_it_keeps_its_promises(second_course: Path) -> None:
    """Every known mistake is named; what is not translated, or left open, would be said."""
    said = run(second_course, "validate")
    assert "The course keeps its promises." in said
    assert not [line for line in said.splitlines() if line.startswith(("✗", "!", "~", "⚠"))]


def test_its_stubs_are_current(second_course: Path) -> None:
    """Stubs and notebooks are those that the solutions make."""
    assert stale(load_course(second_course)) == []


@pytest.mark.proof
def test_its_class_is_graded(second_course: Path, tmp_path: Path) -> None:
    """Four students; a `fit` that is right itself pays for a wrong `gradient` as for a slip."""
    how = ("--seed", "1", "--isolation", "process", "--quiet", "--report", "html")
    run(second_course, "grade", "tests/example_class", "--out", str(tmp_path / "graded"), *how)
    with (tmp_path / "graded" / "scores.csv").open(encoding="utf-8", newline="") as file:
        rows = {row["student"]: row for row in csv.DictReader(file)}
    assert {name: float(row["score"]) for name, row in rows.items()} == SCORES
    assert (
        float(rows["s2"]["02_gradient_descent/fit"]) == 3
    )  # judged with right parts: its slips are paid for where they are
    assert (tmp_path / "graded" / "reports" / "html" / "students" / "s2.html").is_file()


@pytest.mark.long
@pytest.mark.proof
def test_no_mutant_survives(second_course: Path) -> None:
    """What is right all the same is written down."""
    assert "No mutant survives." in run(second_course, "mutate")


@pytest.mark.proof
@pytest.mark.parametrize(
    "to",
    [
        "gradescope",
        *(pytest.param(to, marks=pytest.mark.long) for to in ("students", *OF_STUDENTS)),
    ],
)
def test_it_is_released(second_course: Path, tmp_path: Path, to: str) -> None:
    """Every release is made; no folder has a hidden check in it, and the copy checks its stubs."""
    assert f"Released to {to}" in run(second_course, "release", str(tmp_path / to), "--to", to)
    assert not list((tmp_path / to).rglob("test_hidden.py"))
    if to in ("students", "github"):
        assert "0 of 25 points" in run(tmp_path / to, "check", code=1)
