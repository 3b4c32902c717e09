"""Reading notebooks as plain JSON: code cells with their numbers, or a sentence why not."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.core.errors import SubmissionError
from grader.submissions.notebooks import Cell, code_cells, notebook_text
from tests.grader.submissions.conftest import cell, notebook

X, Y = "x = 1", "y = 2"
TEXT = cell("# Title", "markdown")
LOCKED = cell("run()", nbgrader={"grade": True, "solution": False, "locked": True})
BEFORE_2015 = [TEXT, {"cell_type": "code", "input": [X], "language": "python"}]
PRINTED = {**cell(X), "outputs": [{"text": Y}], "execution_count": 7, "more": []}


def cells_in(data, encodings=("cp1252",)):
    """The code cells of a notebook, given as text or bytes."""
    raw = data if isinstance(data, bytes) else data.encode()
    return code_cells(notebook_text(raw, encodings).text)


@pytest.mark.parametrize(
    ("text", "cells"),
    [
        (notebook(TEXT, X, TEXT, Y), {2: X, 4: Y}),
        (notebook([f"{X}\n", Y]), {1: f"{X}\n{Y}"}),
        (notebook(), {}),
        (notebook(PRINTED), {1: X}),
        (notebook(X, LOCKED, Y), {1: X, 3: Y}),
        (notebook(cell(X, tags=["experiment"]), cell(Y, tags=["a"])), {2: Y}),
        (f"\ufeff{notebook(X)}", {1: X}),
        (json.dumps({"worksheets": [{"cells": BEFORE_2015}], "nbformat": 3}), {2: X}),
        (json.dumps({"cells": ["what", cell(X)]}), {2: X}),
        *((notebook(cell(source), X), {1: "", 2: X}) for source in (None, 5, [None, 5], [["x"]])),
    ],
    ids=[
        *("numbers as Jupyter counts", "lines", "no cells", "what it printed", "a test cell"),
        *("an experiment", "a byte order mark", "worksheets", "no cell", *["no text"] * 4),
    ],
)
def test_code_cells_are_read_with_their_numbers(text, cells):
    """Prose and what a kernel runs for the course is left out, and counts."""
    assert cells_in(text) == tuple(Cell(number, code) for number, code in cells.items())


@pytest.mark.parametrize(
    "marks",
    [
        {"grade": True, "solution": True},
        {"grade": False, "solution": True},
        {"grade": False, "solution": False, "locked": True},
        *({}, [], None, "grade"),
    ],
)
def test_any_other_cell_of_nbgrader_is_read(marks):
    """Answer cells, those graded by hand, and odd metadata are the student's."""
    assert cells_in(notebook(cell(X, nbgrader=marks))) == (Cell(1, X),)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "utf-8-sig", "cp1252"])
def test_a_notebook_in_another_encoding_is_read(encoding):
    """By its mark, or as one of those that the course tries."""
    data = json.dumps({"cells": [cell("x = 'é'")]}, ensure_ascii=False).encode(encoding)
    assert cells_in(data) == (Cell(1, "x = 'é'"),)


HALF = "#" * 2**18
NO_LIST = "its JSON has no list of cells, so it is not a notebook"


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (
            b'{\n "cells": [\n  {"cell_type": "code"},\n  ',
            "its JSON is damaged at line 4, column 3",
        ),
        (b"", "its JSON is damaged at line 1, column 1"),
        *((data, "it is not JSON") for data in (b"[" * 200_000, b"1" * 5_000)),
        *(
            (data, "it is not text in UTF-8; open it, and save it again as UTF-8")
            for data in (b"\xff\xfe{", b"\xe9{}", b"{}\0", b"\x89PNG\r\n\x1a\n")
        ),
        *((data, "its JSON is not a notebook") for data in (b"[]", b"null", b'"cells"', b"5")),
        *((b'{"cells": %b}' % cells, NO_LIST) for cells in (b"{}", b'"x = 1"', b"null")),
        *((b'{"worksheets": %b}' % found, NO_LIST) for found in (b"[]", b"[5]", b"[{}]")),
        (b'{"worksheets": {"cells": []}}', NO_LIST),
        (b"{}", NO_LIST),
        (notebook(*[""] * 5_001).encode(), "it has 5001 cells; at most 5000 are read"),
        (notebook(HALF, HALF, "#").encode(), "it has 524289 characters of code; 524288 are read"),
        (b" " * (64 * 2**20 + 1), "it has 67108865 bytes; at most 67108864 are read"),
    ],
    ids=lambda given: given[:20] if isinstance(given, str) else "",
)
def test_what_is_no_notebook_is_told(data, said):
    """Where it breaks off, what it is instead, or how much too much it is."""
    with pytest.raises(SubmissionError) as caught:
        cells_in(data, ())
    assert str(caught.value) == said


def test_as_much_as_may_be_is_read():
    """5000 cells, and half a mebibyte of code; prose does not count."""
    assert len(cells_in(notebook(*[""] * 5_000))) == 5_000
    assert len(cells_in(notebook(HALF, HALF, cell(HALF, "markdown")))) == 2


# Whatever JSON lies in a notebook.

WORDS = [
    "cells",
    "worksheets",
    "cell_type",
    "source",
    "input",
    "metadata",
    "nbgrader",
    "grade",
    "solution",
]
PLAIN = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
KEYS = st.sampled_from(WORDS) | st.text(max_size=3)
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


@pytest.mark.slow
@MODEST
@given(st.binary(max_size=100) | JSON.map(lambda document: json.dumps(document).encode()))
def test_any_bytes_give_cells_or_a_submission_error(data):
    """Bytes and JSON of any kind end in nothing else."""
    assert are_cells(cells_or_nothing(data) or ())


@pytest.mark.slow
@MODEST
@given(NOTEBOOKS)
def test_any_list_of_cells_is_read(document):
    """Odd things in it are passed over and nothing is refused, in worksheets neither."""
    assert are_cells(cells_in(json.dumps(document)))
    assert are_cells(cells_in(json.dumps({"worksheets": [document]})))


@pytest.mark.slow
@MODEST
@given(st.lists(st.text(max_size=30), max_size=6))
def test_text_comes_back_as_it_was_written(texts):
    """What a student wrote is not changed, whatever characters are in it."""
    assert cells_in(notebook(*texts)) == tuple(Cell(n, text) for n, text in enumerate(texts, 1))


@pytest.mark.slow
@MODEST
@given(NOTEBOOKS, st.integers(min_value=1, max_value=200))
def test_a_notebook_that_breaks_off_anywhere_is_told(document, size):
    """Any notebook that is cut off is refused."""
    data = json.dumps(document).encode()
    assert cells_or_nothing(data[: min(size, len(data) - 1)]) is None
