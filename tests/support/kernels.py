"""Notebooks that run in a real kernel."""

from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from grader.course.course import Course

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
