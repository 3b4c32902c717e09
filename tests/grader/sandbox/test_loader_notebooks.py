"""Tests of how notebooks are loaded: cell by cell, with what only Jupyter understands blanked."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.sandbox.failures import CodeLine
from grader.sandbox.loader import Loader, Opened
from grader.sandbox.statements import without_magics
from grader.submissions.submission import Submission

Load = Callable[..., Opened]


@pytest.fixture
def load(submit: Callable[..., Submission]) -> Load:
    """Loads a notebook of these code cells."""

    def make(*cells: str) -> Opened:
        sources = Loader()
        submission = submit({"first.ipynb": list(cells)})
        sources.add({key: source.header() for key, source in submission.sources.items()})
        return sources.open("first.ipynb")

    return make


LOADED = {
    "cells share their names": (["A = 1", "B = A + 1", "def c():\n    return B"], "A B c", ""),
    "a failing cell": (["A = 1", "B = 2\nC = A / 0\nD = 3", "E = 4"], "A B E", "ZeroDivisionError"),
    "what Jupyter would not run": (["A = 1", "B = 2\nC = (", "D = 3"], "A D", "SyntaxError"),
    "each failure": (["1 / 0", "A = 1", "[][0]"], "A", "ZeroDivisionError IndexError"),
    "future imports": (["from __future__ import annotations", "def f(x: No): ..."], "f", ""),
    "display without an import": (["A = 1\ndisplay(A)"], "A", ""),
    "nothing": (["", "\n \n", "# a comment"], "", ""),
    **{
        f"under {magic}": ([f"{magic}\nA = 1\n"], "A", "")
        for magic in ("%%time", "%%capture out", "%%timeit -n 1", "\n\n%%time")
    },
    **{
        f"passed over under {magic}": ([f"{magic}\nA = 1\n)(", "B = 2"], "B", "")
        for magic in ("%%bash", "%%writefile mine.py", "%%unknown", "%%")
    },
}


@pytest.mark.parametrize("name", LOADED)
def test_cells_are_loaded_one_by_one(load: Load, name: str) -> None:
    """As Jupyter would; one that fails stops none after it."""
    cells, names, failures = LOADED[name]
    opened = load(*cells)
    assert [found for found in opened.header()["names"] if found != "annotations"] == names.split()
    assert [failure.type for failure in opened.failures] == failures.split()


@pytest.mark.parametrize(("line", "column"), [("C = A / 0", None), ("C = (", 5)])
def test_the_place_of_a_failure_names_the_cell_and_the_line_in_it(
    load: Load, line: str, column: int | None
) -> None:
    """Of an exception, and of what is no Python."""
    (failure,) = load("A = 1", f"B = 2\n{line}").failures
    assert failure.where == CodeLine("first.ipynb", 2, 2, line, column)


@pytest.mark.parametrize(
    "magic",
    [
        "%matplotlib inline",
        "!pip install torch",
        "  %timeit f()",
        "?print",
        "print?",
        "torch.matmul??",
        "files = !ls",
        "t = %timeit -o f()",
        "a, b = !ls",
    ],
)
def test_a_magic_line_is_passed_over_and_the_rest_counts(load: Load, magic: str) -> None:
    """The lines keep their numbers."""
    before = "if True:\n" if magic.startswith(" ") else "\n"
    opened = load(f"def f():\n    return 1\n\n{before}{magic}\nA = f()\nB = A / 0")
    (failure,) = opened.failures
    assert [name for name in opened.header()["names"] if name in "fAB"] == ["f", "A"]
    assert (failure.type, failure.where and failure.where.line) == ("ZeroDivisionError", 7)


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ("%pylab\ndef f():\n    return 7  # is it?", 7),
        ("%pylab\ndef f():  # why?\n    return 7", 7),
        ("%pylab\ndef f():\n    return [\n        7,  # one?\n        8]", [7, 8]),
        ("%pylab\ndef f():\n    return '''\n50\n%d\n'''", "\n50\n%d\n"),
        ("%pylab\ndef f():\n    return (15\n        % 8)", 7),
        ("%pylab\ndef f():\n    # scale here?\n    return 7", 7),
    ],
    ids=["question", "header", "bracket", "text", "modulo", "comment"],
)
def test_code_beside_a_magic_stays_as_it_is(load: Load, cell: str, value: object) -> None:
    """A line that only looks like a magic (a comment that asks, a modulo) is the student's code."""
    opened = load(cell)
    assert opened.failures == []
    assert opened.namespace["f"]() == value


def test_a_cell_that_is_python_is_run_as_it_stands(load: Load) -> None:
    """Lines are looked at for magics only where Python cannot read the cell."""
    opened = load("A = (15\n% 8)\nB = 'why?'  # why?\nC = [  # so?\n1]")
    assert opened.failures == []
    assert [opened.namespace[name] for name in "ABC"] == [7, "why?", [1]]


@given(st.text(alphabet="%!?=ab \n\t", max_size=40))
def test_blanking_magics_keeps_the_number_of_lines(text: str) -> None:
    """Lines of failures are right, unless the whole cell is passed over."""
    blanked = without_magics(text)
    assert blanked == "" or blanked.count("\n") == text.count("\n")
