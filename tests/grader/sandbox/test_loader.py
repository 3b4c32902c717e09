"""Tests of how a submission's files are loaded: scripts, statement by statement."""

import sys
from collections.abc import Callable, Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.sandbox.failures import CodeLine
from grader.sandbox.loader import Loader, Opened
from grader.sandbox.statements import empty_body

Load = Callable[[str | Mapping[str, str | list[str]]], Opened]

WHOLE_SCRIPT = '''\
"""A docstring (with a bracket."""
import torch
from torch import nn

SIZE = 3  # a comment
WORDS = [
    "one",
    "two",
]


def first(x):
    """First."""
    text = f"""
at the margin
"""
    return x


@staticmethod
def second():
    return first(1)


class Third(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 3)


for number in range(2):
    SIZE += number
else:
    LAST = 4
'''
WHOLE = ["SIZE", "WORDS", "first", "second", "Third", "number", "LAST"]


def test_a_whole_script_is_loaded_without_failures(load: Load) -> None:
    """What it defines is told by name, without modules."""
    opened = load(WHOLE_SCRIPT)
    first, third = {"parameters": [["x", []]]}, {"cell": None, "line": 25, "parameters": []}
    classes = {"first": first, "Third": [third]}
    assert opened.header() == {"failures": [], "names": WHOLE, "classes": classes}


@pytest.mark.parametrize(
    ("definition", "line"),
    [
        ("class Late:", 5),
        ("def Late():", 5),
        ("Late = 1\nif Late:", 5),
        ("class Later:", None),
    ],
)
def test_a_name_that_is_used_above_its_definition_comes_with_that_line(
    load: Load, definition: str, line: int | None
) -> None:
    """A similar name that is there already is not what was meant."""
    (failure,) = load(f"class Lat:\n    pass\n\nLate\n{definition}\n    pass\n").failures
    assert (failure.wrote, failure.meant) == ("Late", "Late" if line else "Lat")
    assert (failure.set_at and failure.set_at.line) == line


def test_a_failure_below_the_students_line_still_names_that_line(load: Load) -> None:
    """The place is the last line of their own; that it did not raise itself is told."""
    (failure,) = load("import json\n\nDATA = json.loads('{')\n").failures
    assert failure.where == CodeLine("first.py", None, 3, "DATA = json.loads('{')")
    assert not failure.own


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("    x = 1\n<<<<<<< HEAD\n    return 1\n=======\n    return 2\n>>>>>>> other\n", []),
        ("<<<<<<< HEAD\n    return 1\n=======\n    return 2\n>>>>>>> 3f2a9c1 (home)\n", []),
        ("retrun 1 1\n", []),
        ("    return 1\n\n\n1 1\n", ["two"]),
        ("    return 1\n\n\ndef three(:\n    return 3\n", ["two"]),
        ("    return 1\n\n\ndef three()\n    return 3\n", ["two"]),
    ],
    ids=["marks of Git", "its last one", "not indented", "below it", "another", "no colon"],
)
def test_a_definition_that_a_broken_line_cuts_in_two_is_none(
    load: Load, text: str, names: list[str]
) -> None:
    """What is left of it would be called empty."""
    opened = load(f'ONE = 1\n\n\ndef two():\n    """Two."""\n{text}')
    assert opened.header()["names"] == ["ONE", *names]
    assert len(opened.failures) == 1


@pytest.mark.parametrize(
    ("rest", "line", "message"),
    [
        ("b = (1,\nc = 2\n", 2, "'(' was never closed"),
        ("\n\ndef f():\n    return (1 +)\n", 5, "invalid syntax"),
        ("b = '''text\nc = 2\n", 2, "unterminated triple-quoted string literal"),
        ("def f():\nreturn 1\n", 3, "expected an indented block after function definition"),
        ("def f():\n        x = 1\n    y = 2\n", 4, "unindent does not match"),
        ("def f():\n    return 1\n    return 2)\n", 4, "unmatched ')'"),
        ("@decorator\nx = 1\n", 3, "invalid syntax"),
        ("return 5\n", 2, "'return' outside function"),
        ("def f():\n    break\n", 3, "'break' outside loop"),
    ],
)
def test_every_kind_of_syntax_error_leaves_what_stands_before_it(
    load: Load, rest: str, line: int, message: str
) -> None:
    """The line is the one that Python names, and the definitions before it are there."""
    opened = load(f"a = 1\n{rest}")
    (failure,) = opened.failures
    assert (opened.header()["names"], failure.where and failure.where.line) == (["a"], line)
    assert (failure.type.endswith("Error"), failure.message[: len(message)]) == (True, message)


def loaded(text: str, number: int | None = None) -> Opened:
    """What is loaded of a file, a script or one cell."""
    sources = Loader()
    cells = [[number, text]]
    sources.add({"a": {"module": "a", "display": "a", "cells": cells, "importable": False}})
    return sources.open("a")


@given(st.integers(0, len(WHOLE_SCRIPT)))
@settings(max_examples=60)
def test_a_script_cut_anywhere_keeps_its_first_definitions(length: int) -> None:
    """Wherever it breaks off, loading does not raise, and names come in the script's order."""
    names = loaded(WHOLE_SCRIPT[:length]).header()["names"]
    assert [name for name in WHOLE if name in names] == WHOLE[: len({*WHOLE} & {*names})]


@given(st.text(alphabet="ab1 =()[]:\n\t'\"#%!?\\\x00\ud800", max_size=30))
@settings(max_examples=100)
def test_no_text_makes_loading_raise(text: str) -> None:
    """A file that is no Python at all is a failure in the answer, as a script and as a cell."""
    for number in (None, 1):
        assert isinstance(loaded(text, number).header(), dict)


SENTENCE = "11_gpt2_attention/GPT2_CONFIG: not attempted yet"


@pytest.mark.parametrize(
    ("text", "names", "kind", "message"),
    [
        (f'raise NotImplementedError("{SENTENCE}")', "ONE LAST", "NotImplementedError", SENTENCE),
        ('raise NotImplementedError("later")', "ONE", "NotImplementedError", "later"),
        (f'raise ValueError("{SENTENCE}")', "ONE", "ValueError", SENTENCE),
        ("raise SystemExit('enough')", "ONE", "SystemExit", "enough"),
        ("TWO = ONE / 0", "ONE", "ZeroDivisionError", "division by zero"),
        ("if __name__ == '__main__':\n    A = 1", "ONE LAST", "", ""),
    ],
    ids=["the stubs' sentinel", "another text", "another type", "an exit", "a failure", "main"],
)
def test_a_script_is_run_up_to_the_statement_that_fails(
    load: Load, text: str, names: str, kind: str, message: str
) -> None:
    """A constant that is not written yet is passed over; the file is loaded as an import would."""
    opened = load(f"ONE = 1\n\n{text}\nLAST = 3\n")
    assert opened.header()["names"] == names.split()
    told = [(failure.type, failure.message) for failure in opened.failures]
    assert told == ([(kind, message)] if kind else [])
    assert all(f.where and (f.where.line, f.where.text) == (3, text) for f in opened.failures)


def test_future_imports_count_in_their_file_alone(load: Load) -> None:
    """Annotations stay unread where the file asks for it; neither ours nor another file's count."""
    opened = load("from __future__ import annotations\n\n\ndef f(x: Unknown) -> Missing: ...\n")
    assert opened.failures == []
    assert opened.namespace["f"].__annotations__ == {"x": "Unknown", "return": "Missing"}
    (failure,) = load("def f(x: Unknown): ...\n").failures
    assert failure.message == "name 'Unknown' is not defined"


@pytest.mark.parametrize("register", [False, True])
def test_a_dataclass_with_annotations_as_text_loads(
    sources_of: Callable[..., Loader], monkeypatch: pytest.MonkeyPatch, register: bool
) -> None:
    """Python looks the module up by name for them, so it has to be found by name."""
    monkeypatch.setattr(sys, "modules", dict(sys.modules))
    text = "from dataclasses import dataclass\n@dataclass\nclass Config:\n    size: 'int' = 3\n"
    header = sources_of(text, register=register).open("01_first/first.py").header()
    assert (header["failures"], header["names"]) == ([], ["dataclass", "Config"])
    assert header["classes"]["Config"][0]["parameters"] == [["size", [3]]]


@pytest.mark.parametrize(
    ("body", "is_known_as"),
    [
        ("    pass", "empty"),
        ("    ...", "empty"),
        ('    """Words."""', "empty"),
        ("    pass\nreturn x", "unindented"),
        ("    pass\ntotal = 0", "unindented"),
        ("    pass\nfor i in range(3): pass", "unindented"),
        ("    pass\nINPUTS = 0", "empty"),
        ("    x + 1", ""),
        ("    print(x)", ""),
    ],
)
def test_a_body_that_does_nothing_is_known(load: Load, body: str, is_known_as: str) -> None:
    """Also where the code was meant to stand in it."""
    opened = load(f"def one(x):\n{body}\n\n\ndef two(): ...\n")
    assert empty_body(opened.namespace["one"]) == is_known_as


def test_a_method_that_does_nothing_is_known(load: Load) -> None:
    """Of an instance its `forward`; what has no code of its own is nothing to look into."""
    opened = load("class One:\n    def forward(self): ...\n\n\nX = One()\n")
    assert empty_body(opened.namespace["X"]) == "empty"
    assert empty_body(opened.namespace["One"]) == "empty"
    assert empty_body(print) == ""
