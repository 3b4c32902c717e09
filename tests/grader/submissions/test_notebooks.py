"""Reading notebooks as plain JSON: code cells with their numbers, or a sentence why not."""

import json

import pytest

from grader.core.errors import SubmissionError
from grader.submissions.notebooks import Cell, code_cells, notebook_text


def code(source, **metadata):
    """A code cell."""
    return {"cell_type": "code", "source": source, "metadata": metadata, "outputs": []}


def text(source):
    """A cell of prose."""
    return {"cell_type": "markdown", "source": source, "metadata": {}}


def notebook(*cells, **rest):
    """A notebook as bytes."""
    return json.dumps({"cells": list(cells), "metadata": {}, "nbformat": 4, **rest}).encode()


def cells_in(data, encodings=()):
    """The code cells of a notebook's bytes."""
    return code_cells(notebook_text(data, encodings).text)


def refusal(data):
    """The sentence that says why something is not read."""
    with pytest.raises(SubmissionError) as caught:
        cells_in(data)
    return str(caught.value)


def test_code_cells_keep_the_numbers_that_jupyter_counts():
    """Prose is left out, and counts."""
    data = notebook(text("# Title"), code("x = 1"), text("so"), code("y = 2"))
    assert cells_in(data) == (Cell(2, "x = 1"), Cell(4, "y = 2"))


def test_a_source_in_lines_is_joined():
    """Jupyter writes a cell's text as a list of lines."""
    assert cells_in(notebook(code(["x = 1\n", "y = 2"]))) == (Cell(1, "x = 1\ny = 2"),)


def test_a_notebook_without_cells_has_no_code():
    """An empty notebook is read, and has nothing in it."""
    assert cells_in(notebook()) == ()


def test_what_a_cell_printed_is_not_read():
    """Outputs, counters and unknown keys make no difference."""
    cell = {**code("x = 1"), "outputs": [{"text": "y = 2"}], "execution_count": 7, "more": []}
    assert cells_in(notebook(cell)) == (Cell(1, "x = 1"),)


def test_a_locked_test_cell_is_not_read():
    """Test cells of nbgrader run checks; they are no part of what a student wrote."""
    locked = code("run()", nbgrader={"grade": True, "solution": False, "locked": True})
    assert cells_in(notebook(code("x = 1"), locked, code("y = 2"))) == (
        Cell(1, "x = 1"),
        Cell(3, "y = 2"),
    )


def test_an_experiment_is_not_read():
    """It only looks at what the other cells define; another tag means nothing."""
    tagged = [
        {**code(f"x = {n}"), "metadata": {"tags": t}} for n, t in enumerate((["experiment"], ["a"]))
    ]
    assert cells_in(notebook(*tagged)) == (Cell(2, "x = 1"),)


@pytest.mark.parametrize(
    "marks",
    [
        {"grade": True, "solution": True},
        {"grade": False, "solution": True},
        {"grade": False, "solution": False, "locked": True},
        {},
        [],
        None,
        "grade",
    ],
)
def test_any_other_cell_of_nbgrader_is_read(marks):
    """Answer cells, those graded by hand, and odd metadata are the student's."""
    assert cells_in(notebook(code("x = 1", nbgrader=marks))) == (Cell(1, "x = 1"),)


def test_a_byte_order_mark_is_passed_over():
    """An editor of another system may have put one in front."""
    assert cells_in(b"\xef\xbb\xbf" + notebook(code("x = 1"))) == (Cell(1, "x = 1"),)


def test_the_layout_with_worksheets_is_read():
    """Before 2015, cells lay in worksheets, and their text under `input`."""
    cells = [text("# Title"), {"cell_type": "code", "input": ["x = 1"], "language": "python"}]
    data = json.dumps({"worksheets": [{"cells": cells}], "nbformat": 3}).encode()
    assert cells_in(data) == (Cell(2, "x = 1"),)


@pytest.mark.parametrize("source", [None, 5, {}, [None, 5, {}], [["x"]]])
def test_a_cell_without_text_is_empty(source):
    """A source that is no text is read as none."""
    assert cells_in(notebook(code(source), code("x = 1"))) == (Cell(1, ""), Cell(2, "x = 1"))


def test_a_thing_among_the_cells_that_is_no_cell_still_counts():
    """Cells keep the numbers of their places in the list."""
    assert cells_in(notebook("what", code("x = 1"))) == (Cell(2, "x = 1"),)


def test_a_broken_notebook_says_where_its_json_breaks_off():
    """A notebook cut off in the middle is told with line and column."""
    data = b'{\n "cells": [\n  {"cell_type": "code"},\n  '
    assert refusal(data) == "its JSON is damaged at line 4, column 3"


def test_an_empty_file_is_no_notebook():
    """Nothing at all breaks off at its beginning."""
    assert refusal(b"") == "its JSON is damaged at line 1, column 1"


@pytest.mark.parametrize(
    "data",
    [b"[" * 200_000, b"1" * 5_000],
    ids=["deep", "long number"],
)
def test_text_that_is_no_json_is_told(data):
    """Endless nesting and endless numbers are one sentence each."""
    assert refusal(data) == "it is not JSON"


@pytest.mark.parametrize("data", [b"\xff\xfe{", b"\xe9{}", b"{}\0", b"\x89PNG\r\n\x1a\n"])
def test_bytes_that_are_no_text_are_told(data):
    """What no encoding fits is another thing than damaged JSON."""
    sentence = "it is not text in UTF-8; open it, and save it again as UTF-8"
    assert refusal(data) == sentence


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "utf-8-sig", "cp1252"])
def test_a_notebook_in_another_encoding_is_read(encoding):
    """By its mark, or as one of those that the course tries."""
    made = {"cells": [code("x = 'é'")]}
    data = json.dumps(made, ensure_ascii=False).encode(encoding)
    assert cells_in(data, ["cp1252"]) == (Cell(1, "x = 'é'"),)


@pytest.mark.parametrize("data", [b"[]", b"null", b'"cells"', b"5"])
def test_json_that_is_no_object_is_no_notebook(data):
    """A notebook is an object."""
    assert refusal(data) == "its JSON is not a notebook"


@pytest.mark.parametrize(
    "data",
    [
        b"{}",
        b'{"cells": {}}',
        b'{"cells": "x = 1"}',
        b'{"cells": null}',
        b'{"worksheets": []}',
        b'{"worksheets": [5]}',
        b'{"worksheets": [{}]}',
        b'{"worksheets": {"cells": []}}',
    ],
)
def test_an_object_without_a_list_of_cells_is_no_notebook(data):
    """Without a list of cells there is nothing to read."""
    assert refusal(data) == "its JSON has no list of cells, so it is not a notebook"


def test_too_many_cells_are_not_read():
    """A notebook has at most 5000 cells."""
    assert len(cells_in(notebook(*[code("")] * 5_000))) == 5_000
    assert refusal(notebook(*[code("")] * 5_001)) == "it has 5001 cells; at most 5000 are read"


def test_too_much_code_is_not_read():
    """All code together has at most half a mebibyte of characters; prose does not count."""
    half = "#" * 2**18
    assert len(cells_in(notebook(code(half), code(half), text(half)))) == 2
    assert refusal(notebook(code(half), code(half), code("#"))) == (
        "it has 524289 characters of code; 524288 are read"
    )


def test_a_file_that_is_too_large_is_not_parsed():
    """A notebook full of pictures is told before it is taken apart."""
    assert refusal(b" " * (64 * 2**20 + 1)) == "it has 67108865 bytes; at most 67108864 are read"
