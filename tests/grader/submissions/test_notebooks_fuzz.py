"""Whatever JSON lies in a notebook, reading it gives cells or a `SubmissionError`."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.core.errors import SubmissionError
from grader.submissions.notebooks import Cell, code_cells, notebook_text

pytestmark = pytest.mark.slow

PLAIN = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
KEYS = st.sampled_from(
    (
        *("cells", "worksheets", "cell_type", "source", "input", "metadata", "nbgrader"),
        *("grade", "solution"),
    )
) | st.text(max_size=3)
JSON = st.recursive(
    PLAIN | st.just("code"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)
CELLS = st.fixed_dictionaries(
    {},
    optional={
        "cell_type": st.sampled_from(["code", "markdown"]) | JSON,
        "source": st.text(max_size=8) | st.lists(st.text(max_size=4), max_size=3) | JSON,
        "input": JSON,
        "metadata": st.fixed_dictionaries({"nbgrader": JSON}) | JSON,
    },
)
NOTEBOOKS = st.fixed_dictionaries({"cells": st.lists(CELLS | JSON, max_size=5)})

MODEST = settings(max_examples=150)


def cells_in(data):
    """The code cells of a notebook's bytes."""
    return code_cells(notebook_text(data, ["cp1252"]).text)


def cells_or_nothing(data):
    """The cells; None where the reader said in a sentence why there are none."""
    try:
        return cells_in(data)
    except SubmissionError as error:
        reason = str(error)
    assert reason.startswith(("it ", "its "))
    return None


def are_cells(value):
    """Whether a value is what the reader promises: numbered cells of text, in order."""
    numbers = [cell.number for cell in value]
    return (
        isinstance(value, tuple)
        and all(isinstance(cell, Cell) and isinstance(cell.text, str) for cell in value)
        and numbers == sorted(set(numbers))
        and min(numbers, default=1) >= 1
    )


@MODEST
@given(st.binary(max_size=100))
def test_any_bytes_give_cells_or_a_submission_error(data):
    """Bytes of any kind end in nothing else."""
    assert are_cells(cells_or_nothing(data) or ())


@MODEST
@given(JSON)
def test_any_json_gives_cells_or_a_submission_error(document):
    """JSON of any kind ends in nothing else."""
    assert are_cells(cells_or_nothing(json.dumps(document).encode()) or ())


@MODEST
@given(NOTEBOOKS)
def test_any_list_of_cells_is_read(document):
    """Once there is a list of cells, odd things in it are passed over and nothing is refused."""
    assert are_cells(cells_in(json.dumps(document).encode()))


@MODEST
@given(NOTEBOOKS)
def test_any_list_of_worksheet_cells_is_read(document):
    """The layout with worksheets is read as leniently."""
    assert are_cells(cells_in(json.dumps({"worksheets": [document]}).encode()))


@MODEST
@given(st.lists(st.text(max_size=30), max_size=6))
def test_text_comes_back_as_it_was_written(texts):
    """What a student wrote is not changed, whatever characters are in it."""
    cells = [{"cell_type": "code", "source": text, "metadata": {}} for text in texts]
    read = cells_in(json.dumps({"cells": cells}).encode())
    assert read == tuple(Cell(number, text) for number, text in enumerate(texts, 1))


@MODEST
@given(NOTEBOOKS, st.integers(min_value=1, max_value=200))
def test_a_notebook_that_breaks_off_anywhere_is_told(document, size):
    """Any notebook that is cut off is refused."""
    data = json.dumps(document).encode()
    assert cells_or_nothing(data[: min(size, len(data) - 1)]) is None
