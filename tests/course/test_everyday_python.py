"""The course of values that are no tensors, examples/everyday_python, stays whole: run as its authors run it."""

import shutil
from pathlib import Path

import pytest
from example_courses import copy_of, run

from grader.course.course import load_course
from grader.release.stubs import stale

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("everyday course")]


@pytest.fixture(scope="module")
def everyday_course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of it, apart from the kit's own course."""
    return copy_of("everyday_python", tmp_path_factory.mktemp("everyday") / "everyday_python")


def test_its_stubs_are_current(everyday_course: Path) -> None:
    """Stubs and notebooks are those that the solutions make."""
    assert stale(load_course(everyday_course)) == []


def test_no_exercise_has_to_be_guessable(everyday_course: Path) -> None:
    """What its helpers hand over counts as what the exercise returned."""
    checks = (everyday_course / "tests" / "checks").rglob("*.py")
    assert not [path for path in checks if "guessable" in path.read_text("utf-8")]


@pytest.mark.proof
@pytest.mark.long
def test_its_copy_for_students_asks_for_pandas_and_checks_its_solutions(
    everyday_course: Path, tmp_path: Path
) -> None:
    """From recordings: generators, properties, files and helpers beside student code among them."""
    copy = tmp_path / "students"
    run(everyday_course, "release", str(copy), "--to", "students")
    assert "pandas" in (copy / "pyproject.toml").read_text("utf-8")
    assert "0 of 24 points" in run(copy, "check", code=1)
    for path in sorted((everyday_course / "solutions").glob("*/*.py")):
        (copy / "assignments" / path.parent.name / path.name).write_text(path.read_text("utf-8"))
    assert "24 of 24 points" in run(copy, "check")


@pytest.mark.proof
def test_a_new_exercise_is_made_in_each_assignment(everyday_course: Path, tmp_path: Path) -> None:
    """Beside files that are written, and frames."""
    course = shutil.copytree(everyday_course, tmp_path / "course")
    for assignment in ("01_values", "02_tables_and_files", "03_containers"):
        run(course, "new", "exercise", f"{assignment}/another")
