"""Tests of the cell by which a notebook finds the assignments that it builds on."""

import importlib
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.course.course import Course
from grader.notebook import use_own

ONE = "def one():\n    return 1\n"


@pytest.fixture
def kernel(
    small_course: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[str, str], Path]:
    """Puts the kernel into a folder, below a place with a student's `first`; answers the place."""
    monkeypatch.setenv("GRADER_COURSE", str(small_course.root))
    monkeypatch.delitem(sys.modules, "first", raising=False)

    def start(here: str, path: str, text: str = ONE) -> Path:
        folder, file = tmp_path / here, tmp_path / path
        folder.mkdir(parents=True, exist_ok=True)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
        monkeypatch.chdir(folder)
        return tmp_path

    yield start
    sys.modules.pop("first", None)


@pytest.mark.parametrize(
    ("here", "path"),
    [
        ("work/02_second", "work/02_second/first.py"),
        ("work/02_second", "work/01_first/first.py"),
        ("work/02_second", "work/first.py"),
        ("nb/autograded/me/02_second", "nb/submitted/me/01_first/first.py"),
    ],
    ids=["beside", "next door", "flat", "as nbgrader collected it"],
)
def test_the_students_own_module_is_found(
    kernel: Callable[..., Path], here: str, path: str
) -> None:
    """Wherever students and nbgrader keep it."""
    kernel(here, path)
    use_own("01_first")
    assert importlib.import_module("first").one() == 1


def test_a_notebook_is_as_good_as_a_script(kernel: Callable[..., Path]) -> None:
    """Cells that fail are passed over."""
    cells = [{"cell_type": "code", "source": text} for text in ("1 / 0", ONE)]
    kernel("work/02_second", "work/01_first/first.ipynb", json.dumps({"cells": cells}))
    use_own("01_first")
    assert importlib.import_module("first").one() == 1


def test_the_form_that_was_filled_in_counts(
    kernel: Callable[..., Path], small_course: Course
) -> None:
    """Beside an untouched stub, as a students' copy has both."""
    stub = (small_course.root / "assignments" / "01_first" / "first.py").read_text("utf-8")
    place = kernel("work/02_second", "work/01_first/first.py", stub)
    cells = [{"cell_type": "code", "source": ONE}]
    notebook = place / "work" / "01_first" / "first.ipynb"
    notebook.write_text(json.dumps({"cells": cells}), "utf-8")
    use_own("01_first")
    assert importlib.import_module("first").one() == 1


def test_what_is_not_there_is_asked_for(
    kernel: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """In a sentence on stdout: what is missing, and where to put it."""
    kernel("work/02_second", "elsewhere/other.py")
    use_own("01_first")
    assert capsys.readouterr() == (
        "Your assignment 01_first is not here, and this notebook builds on it. Put your first.py "
        "or first.ipynb beside this notebook.\n",
        "",
    )
