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


def test_the_cells_of_a_notebook_share_their_names(load: Load) -> None:
    """In the order in which they stand."""
    opened = load("A = 1", "B = A + 1", "def c():\n    return B")
    assert opened.header() == {"failures": [], "names": ["A", "B", "c"]}


def test_a_failing_cell_does_not_stop_the_cells_after_it(load: Load) -> None:
    """Only the rest of that cell is left out; the place names the cell and the line in it."""
    opened = load("A = 1", "B = 2\nC = A / 0\nD = 3", "E = 4")
    (failure,) = opened.failures
    assert (opened.header()["names"], failure.where) == (
        ["A", "B", "E"],
        CodeLine("first.ipynb", 2, 2, "C = A / 0"),
    )


def test_a_cell_that_is_no_python_does_not_stop_the_cells_after_it(load: Load) -> None:
    """Nothing of that cell is run: Jupyter would not run it either."""
    opened = load("A = 1", "B = 2\nC = (", "D = 3")
    (failure,) = opened.failures
    assert (opened.header()["names"], failure.type, failure.where) == (
        ["A", "D"],
        "SyntaxError",
        CodeLine("first.ipynb", 2, 2, "C = (", 5),
    )


def test_every_failure_is_told_in_order(load: Load) -> None:
    """One for each cell."""
    opened = load("1 / 0", "A = 1", "[][0]", "unknown")
    assert [failure.type for failure in opened.failures] == [
        "ZeroDivisionError",
        "IndexError",
        "NameError",
    ]


def test_future_imports_count_in_the_cells_after_them(load: Load) -> None:
    """As they do in Jupyter."""
    opened = load("from __future__ import annotations", "def f(x: Unknown): ...")
    assert opened.failures == []


def test_display_is_there_and_is_no_name_of_the_students(load: Load) -> None:
    """Jupyter offers it without an import."""
    assert load("A = 1\ndisplay(A)").header() == {"failures": [], "names": ["A"]}


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
    opened = load(f"def f():\n    return 1\n\nif True:\n{magic}\nA = f()\nB = A / 0"
                  if magic.startswith(" ")
                  else f"def f():\n    return 1\n\n{magic}\n\nA = f()\nB = A / 0")  # fmt: skip
    (failure,) = opened.failures
    assert failure.where is not None
    names = [name for name in opened.header()["names"] if name in "fAB"]
    assert (names, failure.type, failure.where.text) == (
        ["f", "A"],
        "ZeroDivisionError",
        "B = A / 0",
    )


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


@pytest.mark.parametrize("magic", ["%%time", "%%capture out", "%%timeit -n 1", "\n\n%%time"])
def test_a_cell_under_a_magic_that_runs_python_counts(load: Load, magic: str) -> None:
    """Timing a cell, or catching what it prints, still defines its names."""
    assert load(f"{magic}\nA = 1\n").header() == {"failures": [], "names": ["A"]}


@pytest.mark.parametrize("magic", ["%%bash", "%%writefile mine.py", "%%html", "%%unknown", "%%"])
def test_a_cell_under_any_other_magic_is_passed_over(load: Load, magic: str) -> None:
    """It is no Python, or not run here."""
    assert load(f"{magic}\nA = 1\n)(", "B = 2").header() == {"failures": [], "names": ["B"]}


def test_an_empty_cell_is_nothing(load: Load) -> None:
    """Neither is one of blank lines."""
    assert load("", "\n \n", "# a comment").header() == {"failures": [], "names": []}


@given(st.text(alphabet="%!?=ab \n\t", max_size=40))
def test_blanking_magics_keeps_the_number_of_lines(text: str) -> None:
    """Lines of failures are right, unless the whole cell is passed over."""
    blanked = without_magics(text)
    assert blanked == "" or blanked.count("\n") == text.count("\n")
