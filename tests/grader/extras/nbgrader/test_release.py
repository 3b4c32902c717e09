"""What `grader release --to nbgrader` writes, without running nbgrader's commands on it."""

import json
import tomllib
from dataclasses import replace
from pathlib import Path

import nbformat
import pytest

from grader.core.errors import UsageError
from grader.course.check_helpers import predicted
from grader.course.course import Course, load_course
from grader.extras.nbgrader.clearing import ClearOurSolutions
from grader.extras.nbgrader.release import course_id, manifest, release, source_notebook
from grader.release.solution_cells import read_solution
from grader.release.stubs import student_notebook
from grader.release.students import write_release


@pytest.fixture(scope="module")
def course(course_folder: Path) -> Course:
    """The example course."""
    return load_course(course_folder)


def test_clearing_makes_our_student_notebooks(root: Path) -> None:
    """Every assignment's source notebook, cleared as nbgrader clears it, cell for cell."""
    course = load_course(root)
    for assignment in course.assignments:
        text = source_notebook(course, assignment).text
        resources = {"nbgrader": {"assignment": assignment.id}}
        cleared, _ = ClearOurSolutions().preprocess(nbformat.reads(text, as_version=4), resources)
        solution = course.paths(assignment).solution
        source = read_solution(assignment, solution, predicted(course, assignment))
        ours = nbformat.reads(student_notebook(source), as_version=4)
        assert cleared.cells == ours.cells


def test_a_release_holds_notebooks_and_beside_each_what_it_needs(
    course: Course, tmp_path: Path
) -> None:
    """A small course for its test cells, with what it builds on; no hidden check and no script."""
    write_release(course, tmp_path, release)
    files = sorted(p.relative_to(tmp_path).as_posix() for p in tmp_path.rglob("*") if p.is_file())
    checks = "tests/checks"
    assert files == [
        "nbgrader_config.py",
        "source/01_scores/course.toml",
        "source/01_scores/scores.ipynb",
        f"source/01_scores/{checks}/01_scores/recording.bin",
        f"source/01_scores/{checks}/01_scores/test_visible.py",
        "source/02_mixture/course.toml",
        "source/02_mixture/mixture.ipynb",
        f"source/02_mixture/{checks}/01_scores/recording.bin",
        f"source/02_mixture/{checks}/01_scores/test_visible.py",
        f"source/02_mixture/{checks}/02_mixture/recording.bin",
        f"source/02_mixture/{checks}/02_mixture/test_visible.py",
    ]
    small = load_course(tmp_path / "source" / "02_mixture")
    assert (small.title, small.assignments) == (course.title, course.assignments)


def test_a_small_course_has_the_ledger_and_the_roles_of_the_whole(
    root: Path, tmp_path: Path
) -> None:
    """Its checks ask for printed tensors, and find parameters by what they stand for."""
    whole = load_course(root)
    (tmp_path / "course.toml").write_text(manifest(whole, whole.assignments[:1]), "utf-8")
    small = load_course(tmp_path)
    assert small.ledger == whole.ledger
    assert small.roles == whole.roles


def test_releasing_twice_gives_the_same(course: Course, tmp_path: Path) -> None:
    """To the byte."""
    first, second = (write_release(course, tmp_path / name, release) for name in ("one", "two"))
    assert first == second


def test_a_folder_with_files_in_it_is_refused(course: Course, tmp_path: Path) -> None:
    """Nothing of anybody's is written over."""
    (tmp_path / "gradebook.db").write_text("grades", "utf-8")
    with pytest.raises(UsageError, match="is not an empty folder"):
        write_release(course, tmp_path, release)
    assert [path.name for path in tmp_path.iterdir()] == ["gradebook.db"]


def test_the_cell_that_finds_earlier_work_is_in_notebooks_that_build_on_some(
    course: Course,
) -> None:
    """Before the first code, locked, and in no other notebook."""
    first, second = (
        json.loads(source_notebook(course, assignment).text)["cells"]
        for assignment in course.assignments
    )
    assert [cell["id"] for cell in first] == ["text-01", "code-02", "scores", "test_scores"]
    assert [cell["id"] for cell in second][:3] == ["text-01", "own_assignments", "code-02"]
    assert second[1]["source"] == (
        "# Finds your own assignment 01: beside this notebook, or in the folder next to it.\n"
        "from grader.notebook import use_own\n\n"
        'use_own("01_scores")'
    )
    marks = second[1]["metadata"]["nbgrader"]
    assert (marks["locked"], marks["grade"], marks["solution"]) == (True, False, False)


def test_any_title_can_be_written(course: Course) -> None:
    """As TOML reads it again."""
    title = 'He said "\\n": é 🙂 \x7f\t'
    table = tomllib.loads(manifest(replace(course, title=title), course.assignments))
    assert table["course"]["title"] == title


@pytest.mark.parametrize(
    ("title", "name"), [("Attention, step by step", "attention-step-by-step"), ("注意", "course")]
)
def test_the_course_has_a_name_for_nbgrader(course: Course, title: str, name: str) -> None:
    """The title in small letters."""
    assert course_id(replace(course, title=title)) == name
