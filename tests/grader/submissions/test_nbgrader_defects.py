"""Tests of what the instructor is told of notebooks that nbgrader stumbles over."""

import json

import pytest

from grader.submissions.notebooks import defects
from tests.grader.submissions.conftest import cell, notebook


def marked(name, text, *, is_test=False):
    """A cell as nbgrader knows it."""
    marks = {"grade_id": name, "grade": is_test, "solution": not is_test, "locked": is_test}
    return cell([text], nbgrader=marks)


RELEASED = notebook(
    cell("# Title", "markdown"),
    marked("one", "def one(): ..."),
    marked("test_one", "check('one')", is_test=True),
    marked("two", "def two(): ..."),
    marked("test_two", "check('two')", is_test=True),
)


def fill_in(cells):
    """Other answers, more cells, and space around a test cell's text."""
    cells[1]["source"] = "def one(): return 1"
    cells[2]["source"] = ["check('one')\n", "\n"]
    cells.append(cell("print(one())"))


def spoil(cells):
    """Several defects, one of two cells."""
    del cells[4], cells[2]
    cells.append(cells[1])


TWICE = "stands more than once: nbgrader would stop here, for the whole class"
BY_HAND = "nbgrader would leave the score to be given by hand"
NO_MARKS = "nbgrader would leave every score to be given by hand"


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (fill_in, []),
        (lambda cells: cells.insert(1, cells[1]), [f"the cell one {TWICE}"]),
        (lambda cells: cells.append(cells[2]), [f"the cell test_one {TWICE}"]),
        (lambda cells: cells.pop(2), [f"the cell test_one is missing: {BY_HAND}"]),
        (
            lambda cells: cells[1]["metadata"].clear(),
            ["the cell one is missing: nbgrader would show no comment there"],
        ),
        (
            lambda cells: cells[4].update(source="2"),
            ["the cell test_two was changed: nbgrader would put its own back"],
        ),
        (
            lambda cells: [one["metadata"].clear() for one in cells],
            [f"it has lost nbgrader's marks on its cells: {NO_MARKS}"],
        ),
        (
            spoil,
            [f"the cell one {TWICE}", f"the cells test_one, test_two are missing: {BY_HAND}"],
        ),
    ],
    ids=[
        *("filled in", "answer doubled", "test doubled", "test gone", "marks gone", "test edited"),
        *("no marks", "several"),
    ],
)
def test_a_defect_is_told_with_what_nbgrader_would_do(change, told):
    """Each in one sentence, cells of the same defect together; a notebook filled in has none."""
    document = json.loads(RELEASED)
    change(document["cells"])
    assert [*defects(json.dumps(document).encode(), RELEASED.encode())] == told


def test_a_course_whose_notebook_has_no_marks_misses_none():
    """Nothing is lost there."""
    assert defects(notebook("1").encode(), notebook("1").encode()) == ()


@pytest.mark.parametrize(
    "data",
    [
        b"no notebook",
        b'{"cells": [1, null, {"metadata": 3}, {"metadata": {"nbgrader": {"grade_id": []}}}]}',
    ],
)
def test_what_nobody_wrote_on_purpose_breaks_nothing(data):
    """Untrusted files are looked at, never believed."""
    assert all("nbgrader would" in defect for defect in defects(data, RELEASED.encode()))
