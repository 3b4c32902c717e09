"""Stubs and notebooks are what the solutions make, for students and for nbgrader alike."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest

from grader.course.check_helpers import predicted
from grader.course.course import Course
from grader.release.solution_cells import read_solution
from grader.release.stubs import generate, notebook_text, stale, student_notebook


def test_regenerating_changes_no_byte(course: Course) -> None:
    """What is committed is what the solutions make."""
    assert [file.path for file in stale(course)] == []


def test_generating_twice_gives_the_same(course: Course) -> None:
    """Cell ids come from the exercises, not from chance."""
    assert [file.text for file in generate(course)] == [file.text for file in generate(course)]


def test_untouched_stubs_and_notebooks_run_through(course: Course) -> None:
    """From the first line to the last, as Run All does; 08 takes one's own 07 to run."""
    for assignment in course.assignments:
        if assignment.imports:
            continue
        paths = course.paths(assignment)
        cells = nbformat.read(paths.notebook, as_version=4).cells
        code = [cell.source for cell in cells if cell.cell_type == "code"]
        exec("\n".join(text for text in code if "grader.notebook" not in text), {})
        exec(paths.stub.read_text("utf-8"), {})


@pytest.mark.slow
@pytest.mark.parametrize("is_solved", [True, False], ids=["solution", "stub"])
def test_experiments_run_from_top_to_bottom(
    course: Course,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    is_solved: bool,
) -> None:
    """On the solutions they print figures, on stubs what is still to be written."""
    for assignment in course.assignments:
        for id_ in assignment.imports:
            built_on = course.paths(course.by_id[id_]).solution
            monkeypatch.syspath_prepend(str(built_on.parent))
            monkeypatch.delitem(sys.modules, built_on.stem, raising=False)
        paths = course.paths(assignment)
        builds_on = [course.by_id[id_] for id_ in assignment.imports]
        for one in builds_on:
            monkeypatch.syspath_prepend(str(course.paths(one).solution.parent))
        cells = nbformat.read(paths.notebook, as_version=4).cells
        codes = [cell.source for cell in cells if "experiment" in cell.metadata.get("tags", ())]
        names: dict[str, Any] = {}
        if codes:
            exec((paths.solution if is_solved else paths.stub).read_text("utf-8"), names)
        for code in codes:
            exec(code, names)
            assert code not in paths.stub.read_text("utf-8")
            first, *_others = capsys.readouterr().out.splitlines()
            words = "is still to be written. Run this cell again when it is solved."
            assert first.endswith(words) is not is_solved
            assert "ended in" not in first
        for one in builds_on:  # other tests of this process bring their own
            sys.modules.pop(one.module, None)


def test_every_notebook_is_valid_and_its_ids_are_unique(course: Course) -> None:
    """Each notebook is valid, and its grade ids are unique as nbgrader wants them."""
    for assignment in course.assignments:
        notebook = nbformat.read(course.paths(assignment).notebook, as_version=4)
        nbformat.validate(notebook)
        marks = [cell.metadata.nbgrader for cell in notebook.cells if "nbgrader" in cell.metadata]
        ids = [mark.grade_id for mark in marks]
        assert len(set(ids)) == len(ids) == 2 * len(assignment.exercises) + bool(assignment.imports)
        assert sum(mark.get("points", 0) for mark in marks) == assignment.max_score


def test_no_stub_contains_a_marker_or_a_line_of_a_solution(course: Course) -> None:
    """A stub has neither markers nor what stands between them."""
    for assignment in course.assignments:
        paths = course.paths(assignment)
        for path in (paths.stub, paths.notebook):
            text = path.read_text("utf-8")
            assert "SOLUTION" not in text
            for exercise in assignment.exercises:
                assert f"{exercise.id}: not attempted yet" in text


@pytest.mark.slow
@pytest.mark.proof
def test_nbgraders_own_generate_assignment_makes_the_same_notebook(
    course: Course, tmp_path: Path
) -> None:
    """The source notebook is cleared by nbgrader to what we generate, cell for cell.

    nbgrader has one stub text for all exercises, so the exercise's name is put in afterwards.
    """
    assignment = course.assignments[0]
    source = read_solution(
        assignment, course.paths(assignment).solution, predicted(course, assignment)
    )
    folder = tmp_path / "source" / assignment.id
    folder.mkdir(parents=True)
    text = notebook_text(source, lambda cell: cell.text)
    (folder / f"{assignment.module}.ipynb").write_text(text, "utf-8")
    (tmp_path / "nbgrader_config.py").write_text(
        "c = get_config()\n"
        "c.CourseDirectory.course_id = 'attention'\n"
        "c.ClearSolutions.code_stub = {'python': "
        "'raise NotImplementedError(\"EXERCISE: not attempted yet\")'}\n"
    )
    binaries = Path(sys.executable).parent
    done = subprocess.run(
        [sys.executable, "-m", "nbgrader", "generate_assignment", assignment.id],
        cwd=tmp_path,
        env={**os.environ, "PATH": f"{binaries}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    released = tmp_path / "release" / assignment.id / f"{assignment.module}.ipynb"
    theirs = json.loads(released.read_text("utf-8"))["cells"]
    ours = json.loads(student_notebook(source))["cells"]
    assert [_comparable(cell) for cell in theirs] == [_comparable(cell) for cell in ours]


def _comparable(cell: dict[str, Any]) -> tuple[str, str, str, object]:
    """What of a cell both sides must agree on; nbgrader adds checksums."""
    text = cell["source"] if isinstance(cell["source"], str) else "".join(cell["source"])
    marks = dict(cell["metadata"].get("nbgrader", {}))
    for added in ("checksum", "cell_type"):
        marks.pop(added, None)
    name = marks.get("grade_id", "")
    for full in (f"01_simple_attention/{name}", "EXERCISE"):
        text = text.replace(f"{full}: not attempted yet", "…: not attempted yet")
    return cell["cell_type"], cell["id"], text, marks
