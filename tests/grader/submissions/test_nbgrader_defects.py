"""Tests of what the instructor is told of notebooks that nbgrader stumbles over."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from grader.submissions.notebooks import defects

Cells = list[dict[str, Any]]


def cell(name: str, text: str, *, is_test: bool = False) -> dict[str, Any]:
    """A cell as nbgrader knows it."""
    marks = {"grade_id": name, "grade": is_test, "solution": not is_test, "locked": is_test}
    return {"cell_type": "code", "source": [text], "metadata": {"nbgrader": marks}}


def released() -> Cells:
    """A notebook of two exercises."""
    return [
        {"cell_type": "markdown", "source": "# Title", "metadata": {}},
        cell("one", "def one(): ..."),
        cell("test_one", "check('one')", is_test=True),
        cell("two", "def two(): ..."),
        cell("test_two", "check('two')", is_test=True),
    ]


def notebook(cells: Cells) -> bytes:
    """A notebook's bytes."""
    return json.dumps({"cells": cells, "nbformat": 4}).encode()


def found(change: Callable[[Cells], object]) -> tuple[str, ...]:
    """The defects of the released notebook after a change."""
    cells = released()
    change(cells)
    return defects(notebook(cells), notebook(released()))


def test_a_notebook_that_was_filled_in_has_none() -> None:
    """Other answers, more cells, and space around a test cell's text."""

    def fill_in(cells: Cells) -> None:
        cells[1]["source"] = "def one(): return 1"
        cells[2]["source"] = ["check('one')\n", "\n"]
        cells.append({"cell_type": "code", "source": "print(one())", "metadata": {}})

    assert found(fill_in) == ()


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (
            lambda cells: cells.insert(1, cell("one", "def one(): ...")),
            "the cell one stands more than once: nbgrader would stop here, for the whole class",
        ),
        (
            lambda cells: cells.append(cells[2]),
            "the cell test_one stands more than once: nbgrader would stop here, for the whole "
            "class",
        ),
        (
            lambda cells: cells.pop(2),
            "the cell test_one is missing: nbgrader would leave the score to be given by hand",
        ),
        (
            lambda cells: cells[1]["metadata"].clear(),
            "the cell one is missing: nbgrader would show no comment there",
        ),
        (
            lambda cells: cells[4].update(source="2"),
            "the cell test_two was changed: nbgrader would put its own back",
        ),
        (
            lambda cells: [one["metadata"].clear() for one in cells],
            "it has lost nbgrader's marks on its cells: nbgrader would leave every score to be "
            "given by hand",
        ),
    ],
    ids=["answer doubled", "test doubled", "test gone", "marks gone", "test edited", "no marks"],
)
def test_a_defect_is_told_with_what_nbgrader_would_do(
    change: Callable[[Cells], object], told: str
) -> None:
    """In one sentence."""
    assert found(change) == (told,)


def test_a_course_whose_notebook_has_no_marks_misses_none() -> None:
    """Nothing is lost there."""
    bare = notebook([{"cell_type": "code", "source": "1"}])
    assert defects(bare, bare) == ()


def test_several_defects_are_told_one_by_one() -> None:
    """Cells of the same defect in one sentence."""

    def spoil(cells: Cells) -> None:
        del cells[4], cells[2]
        cells.append(cells[1])

    assert found(spoil) == (
        "the cell one stands more than once: nbgrader would stop here, for the whole class",
        "the cells test_one, test_two are missing: nbgrader would leave the score to be given by "
        "hand",
    )


@pytest.mark.parametrize(
    "data",
    [
        b"no notebook",
        b'{"cells": [1, null, {"metadata": 3}, {"metadata": {"nbgrader": {"grade_id": []}}}]}',
    ],
)
def test_what_nobody_wrote_on_purpose_breaks_nothing(data: bytes) -> None:
    """Untrusted files are looked at, never believed."""
    assert all("nbgrader would" in defect for defect in defects(data, notebook(released())))
