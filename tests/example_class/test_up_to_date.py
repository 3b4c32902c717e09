"""The example class fits together: its list, its table, its golden results, its stubs."""

import json
from pathlib import Path
from typing import Any

import pytest

from grader.intake.folders import read_class
from grader.intake.roster import read_roster

HERE = Path(__file__).parent
STUDENTS = [
    student.id
    for student in read_class(HERE / "submissions", roster=read_roster(HERE / "roster.csv"))
]

NOTEBOOKS = [  # of an assignment's own name, but for one whose JSON breaks off
    path.relative_to(HERE / "submissions").as_posix()
    for path in sorted((HERE / "submissions").glob("*/*/*.ipynb"))
    if "broken_notebook" not in path.parts
]
STUBS = (
    "one_form_filled/01_simple_attention/simple_attention.py",
    "one_form_filled/02_all_tokens/all_tokens.ipynb",
    "untouched_stubs/01_simple_attention/simple_attention.py",
    "untouched_stubs/02_all_tokens/all_tokens.py",
    "untouched_stubs/03_trainable_weights/trainable_weights.ipynb",
    "untouched_stubs/04_self_attention/self_attention.ipynb",
    "untouched_stubs/04_self_attention/self_attention.py",
)
"""Files that are in the class as the course hands them out."""


def test_the_roster_lists_every_student() -> None:
    """It has those with a folder, and one more."""
    rows = (HERE / "roster.csv").read_text("utf-8").splitlines()
    assert rows == ["student", *STUDENTS]


def test_the_readme_lists_every_student() -> None:
    """The table has a row for each student, by name."""
    lines = (HERE / "README.md").read_text("utf-8").splitlines()
    assert [line.split("`")[1] for line in lines if line.startswith("| `")] == STUDENTS


def test_every_golden_result_is_of_a_student(request: pytest.FixtureRequest) -> None:
    """Nobody who left the class is still in `golden/`."""
    left = [path for path in sorted((HERE / "golden").iterdir()) if path.stem not in STUDENTS]
    if request.config.getoption("--update-golden"):
        while left:
            left.pop().unlink()
    assert left == []


@pytest.mark.parametrize("name", STUBS)
def test_an_untouched_file_is_the_one_that_the_course_hands_out(
    root: Path, name: str, request: pytest.FixtureRequest
) -> None:
    """Students who left a file as it was have the course's own."""
    path = HERE / "submissions" / name
    handed_out = (root / "assignments" / name.partition("/")[2]).read_bytes()
    if request.config.getoption("--update-golden"):
        path.write_bytes(handed_out)
    assert path.read_bytes() == handed_out


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_has_the_test_cells_of_the_present_release(
    root: Path, name: str, request: pytest.FixtureRequest
) -> None:
    """So that `make demo` has nothing to say of what nbgrader would do."""
    path = HERE / "submissions" / name
    released = graded_cells(json.loads((root / "assignments" / name.partition("/")[2]).read_text()))
    notebook = json.loads(path.read_text("utf-8"))
    if request.config.getoption("--update-golden"):
        for id_, cell in graded_cells(notebook).items():
            cell["source"] = released[id_]["source"]
        path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", "utf-8")
    found = graded_cells(notebook)
    assert {id_: text(found[id_]) for id_ in found} == {
        id_: text(released[id_]) for id_ in released
    }


def graded_cells(notebook: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The cells that nbgrader grades, by their names."""
    marked = ((cell["metadata"].get("nbgrader", {}), cell) for cell in notebook["cells"])
    return {marks["grade_id"]: cell for marks, cell in marked if marks.get("grade")}


def text(cell: dict[str, Any]) -> str:
    """A cell's text, which may stand there in lines."""
    return "".join(cell["source"])
