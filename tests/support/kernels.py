"""Notebooks that run in a real kernel."""

import shutil
from collections.abc import Collection
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from grader.course.course import Course
from grader.release.solution_cells import SolutionCell, cleared, read_solution
from grader.release.stubs import notebook_text

SECONDS = 90


def run_notebook(text: str, course: Course, folder: Path, patch: pytest.MonkeyPatch) -> Any:
    """A notebook with the outputs of all its cells, of which none ended in an error.

    Args:
        text: the notebook.
        course: that its cells look for.
        folder: where it runs, and where the kernel keeps what it remembers.
        patch: sets the environment.
    """
    for name in ("IPYTHONDIR", "XDG_STATE_HOME"):
        patch.setenv(name, str(folder))
    patch.setenv("GRADER_COURSE", str(course.root))
    notebook = nbformat.reads(text, as_version=4)
    resources = {"metadata": {"path": str(folder)}}
    NotebookClient(notebook, timeout=SECONDS, resources=resources).execute()
    return notebook


def printed(*cells: Any) -> str:
    """What cells printed, one after the other."""
    outputs = [out for cell in cells for out in cell.get("outputs", [])]
    return "".join(out.get("text", "") for out in outputs)


def run_assignment(
    course: Course,
    id_: str,
    folder: Path,
    patch: pytest.MonkeyPatch,
    written: Collection[str] | None = None,
) -> Any:
    """The notebook of an assignment, run beside the solutions of what it imports.

    Args:
        course: the course.
        id_: the assignment's.
        folder: where it runs.
        patch: sets the environment.
        written: the exercises that are solved; None for all.
    """
    assignment = course.by_id[id_]
    source = read_solution(assignment, course.paths(assignment).solution)
    for imported in assignment.imports:
        shutil.copy(course.paths(course.by_id[imported]).solution, folder)

    def text_of(cell: SolutionCell) -> str:
        is_written = written is None or cell.exercise in written
        return cell.text if is_written else cleared(assignment, cell)

    text = notebook_text(source, text_of)
    return run_notebook(text, course, folder, patch)
