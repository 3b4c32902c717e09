"""Tests of a file's classes and functions: what is reported of them, and earlier ones of a name."""

from collections.abc import Callable
from typing import Any

from grader.sandbox.loader import Loader

KEY = "01_first/first.py"
TWICE = """
class One:
    def __init__(self, d_in, bias=False):
        self.size = d_in
class Two(One):
    def __init__(self, *sizes):
        super(Two, self).__init__(1)
class One(One):
    def __init__(self, width, *, scale=max):
        super(One, self).__init__(width)
"""


def test_earlier_classes_of_a_name_are_reported(sources_of: Callable[..., Loader]) -> None:
    """Each with its line and its parameters; a default that is no plain data is None."""
    assert sources_of(TWICE).open(KEY).header()["classes"] == {
        "One": [
            {"cell": None, "line": 2, "parameters": [["d_in", []], ["bias", [False]]]},
            {"cell": None, "line": 8, "parameters": [["width", []], ["scale", [None]]]},
        ],
        "Two": [{"cell": None, "line": 5, "parameters": None}],
    }


def test_what_forward_takes_is_reported(sources_of: Callable[..., Loader]) -> None:
    """Without the instance; nothing of a class that has none."""
    text = "class One:\n    def __init__(self): ...\n    def forward(self, x, mask=None): ..."
    (found,) = sources_of(text).open(KEY).header()["classes"]["One"]
    assert found["forward"] == [["x", []], ["mask", [None]]]


def test_what_functions_take_is_reported(sources_of: Callable[..., Loader]) -> None:
    """Nothing where names do not say it."""
    text = "def one(x, y=1): ...\ndef two(*x): ...\nfrom math import sqrt"
    assert sources_of(text).open(KEY).header()["classes"] == {
        "one": {"parameters": [["x", []], ["y", [1]]]},
        "two": {"parameters": None},
    }


def test_cells_of_a_notebook_are_told_apart(sources_of: Callable[..., Loader]) -> None:
    """A class is known by its cell, too; one that fails leaves the earlier one."""
    cell = "class One:\n    def __init__(self, a): ...\n"
    classes = sources_of({"first.ipynb": [cell, "\n" + cell, "class One(missing): ..."]})
    found = classes.open("first.ipynb").header()["classes"]["One"]
    assert [(one["cell"], one["line"]) for one in found] == [(1, 1), (2, 2)]


def test_classes_of_libraries_are_not_reported(sources_of: Callable[..., Loader]) -> None:
    """There are hundreds of them after `from torch.nn import *`."""
    opened = sources_of("from torch.nn import *\nHead = Linear\nclass A: ...").open(KEY)
    assert "classes" not in opened.header()


def test_a_name_stands_for_the_class_that_was_chosen(sources_of: Callable[..., Loader]) -> None:
    """Also where its own methods look it up, as in `super(One, self)`."""
    one = (
        "class One(object):\n    def __init__(self): super(One, self).__init__(); self.kind = {}\n"
    )
    opened = sources_of(one.format(0) + one.format(1)).open(KEY)
    for chosen in (1, 0, 1):
        opened.classes.choose("One", chosen)
        made: Any = opened.namespace["One"]()
        assert made.kind == chosen
