"""Attacks by text: names, messages, notebooks and sources that break those who read them."""

import json
from pathlib import Path

import pytest


@pytest.fixture
def launcher(without_namespaces):
    """What is read does not depend on namespaces."""
    return without_namespaces


UNHARMED = (8, {}, "")
NOT_DEFINED = {
    "double": "missing blocked blocked",
    "total": "missing blocked",
    "Layer": "missing blocked blocked",
}
CONTROLS = "\x1b[2J\x1b[31m\x07\x00\x9b31m\u202e\u2066\r::error::\x7f"

HONEST = (Path(__file__).parent / "submissions" / "honest.py").read_text("utf-8")


def texts(value):
    """Every text in a record."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from texts(key)
            yield from texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from texts(item)


def notebook(*sources, **others):
    """A notebook of code cells."""
    cells = [{"cell_type": "code", "source": s, "outputs": [], "metadata": {}} for s in sources]
    return json.dumps({"cells": cells, "nbformat": 4, "nbformat_minor": 5, **others})


# What student code says.

SAYINGS = {
    "a message": "raise ValueError({0!r})",
    "a message of many megabytes": "raise ValueError({0!r} * 2**20)",
    "a message that is none": "raise ValueError(Odd())",
    "the name of an exception": "raise type({0!r}.replace(chr(0), ''), (Exception,), {{}})('x')",
    "a type that does not travel": "return type({0!r}.replace(chr(0), ''), (), {{}})()",
    "a text": "return {0!r}",
    "keys": "return {{{0!r}: {{{0!r}: {0!r}}}}}",
    "halves of characters": "return '\\ud800' + {0!r} + '\\udfff'",
    "an exception with a forged place": "raise SyntaxError('no', ({0!r}, 1, 1, {0!r}))",
    "a message in many lines": "raise ValueError('\\n\\n8 of 8 points\\n' * 100)",
    "printed text": "print({0!r} * 1000)",
}


@pytest.mark.parametrize("saying", SAYINGS.values(), ids=SAYINGS.keys())
def test_what_student_code_says_is_escaped_and_cut(attack, saying):
    """It stands in our sentences as an appendix; the fixture looks for control characters."""
    odd = "class Odd:\n    def __str__(self):\n        raise SystemExit\n\n    __repr__ = __str__\n"
    score, lost, reason = attack(f"{odd}\n\ndef double(x):\n    {saying.format(CONTROLS)}\n")
    kind = reason.partition(" ")[0]
    assert (score, lost, kind in ("raised", "wrong")) == (
        5,
        {"double": "failed blocked blocked"},
        True,
    )


def test_names_of_classes_and_parameters_are_escaped(attack):
    """An instance is shown by the name of its class, parameters by their own."""
    score, lost, _ = attack(
        f"""
        class Layer(nn.Module):
            def __init__(self, *_):
                super().__init__()
                self.register_parameter({CONTROLS!r}.replace(".", ""), nn.Parameter(torch.ones(1)))
                type(self).__name__ = type(self).__qualname__ = {CONTROLS!r}.replace(chr(0), "")
        """
    )
    assert (score, lost) == (5, {"Layer": "failed blocked blocked"})


# What stands in files.

SOURCES = {
    "a hundred thousand minus signs": "x = " + "-" * 100_000 + "1",
    "a hundred thousand parentheses": "x = " + "(" * 100_000 + ")" * 100_000,
    "deep brackets": "x = " + "[" * 150 + "]" * 150,
    "deep blocks": "\n".join(" " * n + "if 1:" for n in range(120)),
    "a sum of a hundred thousand": "x = " + "1+" * 100_000 + "1",
    "a chain of a hundred thousand dots": "x = a" + ".a" * 100_000,
    "a null": "x = 1\x00",
    "a huge number": "x = " + "9" * 100_000,
    "a power": "x = 10 ** 10 ** 7 if False else 1",
    "an f-string in an f-string": "x = " + "f'{" * 10 + "1" + "}'" * 10,
    "a very long line": "x = 1  # " + "x" * 400_000,
    "a hundred thousand lines": "x = 1\n" * 80_000,
    "a name in other letters": "ｘ = 1; \u202e = 2",
    "a text that does not end": 'x = """' + "x" * 100_000,
    "a form feed and carriage returns": "\x0cx = 1\r\ry = 2\r",
    "walls of decorators": "@a\n" * 20_000 + "def f(): pass",
    "a thousand comparisons": "x = " + "1 < " * 50_000 + "2",
    "a lambda in a lambda": "x = " + "lambda: " * 50_000 + "1",
}


@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES.keys())
def test_a_source_that_breaks_parsers_costs_its_own_cell(grader, source):
    """The trusted side never parses it; what else stands in the notebook counts."""
    result = grader.submit(
        {"01_first/first.ipynb": notebook(HONEST, source)}, load_seconds=20.0, memory_mib=1024
    )
    assert grader.verdict(result) == UNHARMED


def test_many_blank_lines_take_no_time(grader):
    """A script without any of the names, that fails and then is empty for a long time."""
    result = grader.submit({"01_first/first.py": "1 / 0\n" + "\n" * 20_000})
    assert grader.verdict(result) == (0, NOT_DEFINED, "not defined")


def test_an_encoding_that_takes_quadratic_time_is_not_decoded(grader):
    """Python knows more encodings than texts are written in; half a megabyte of this takes long.

    It is read as what it is besides, UTF-8.
    """
    text = "# -*- coding: punycode -*-\n-" + "a" * 1000
    result = grader.submit({"01_first/first.py": text.encode("ascii")})
    assert grader.verdict(result) == (0, NOT_DEFINED, "not defined")


@pytest.mark.parametrize(
    ("name", "data"), [("first.py", bytes(range(128, 256))), ("first.ipynb", bytes(1000))]
)
def test_what_is_no_text_in_any_coding_is_undecided(grader, name, data):
    """Nobody knows what was written: it is no zero."""
    result = grader.submit({f"01_first/{name}": data})
    assert grader.verdict(result) == (None, {}, "")
    assert result.undecided


@pytest.mark.parametrize(
    "data",
    [
        b"# coding: no-such-codec\n",
        b"# coding: zlib_codec\nx",
        b"# coding: utf-8\n\xff\xff",
        b"\xef\xbb\xbf# coding: latin-1\n",
        b"\xff\xfe\x00\x00",
    ],
)
def test_a_coding_that_does_not_fit_is_passed_over(grader, data):
    """What names it is read by its mark, as UTF-8, or by the course's list."""
    result = grader.submit({"01_first/first.py": data})
    assert grader.verdict(result) == (0, NOT_DEFINED, "not defined")


# Notebooks.

NOTEBOOKS = {
    "nested lists": "[" * 200_000,
    "nested objects": '{"cells":' * 100_000,
    "nested lists in a cell": '{"cells": [{"source": ' + "[" * 100_000,
    "a number without end": '{"cells": ' + "9" * 200_000 + "}",
    "infinity": '{"cells": Infinity}',
    "cells that are an object": '{"cells": {"0": "print(1)"}}',
    "cells that are a text": '{"cells": "print(1)"}',
    "worksheets that are none": '{"worksheets": [7]}',
    "a list": "[]",
    "nothing": "",
    "half of it": notebook(HONEST)[:-20],
    "a million cells": '{"cells": [' + ",".join(["{}"] * 100_000) + "]}",
    "a huge cell": notebook("x" * (2**19 + 1)),
    "bytes that are no text": b"\xff\xfe{}",
}


@pytest.mark.parametrize("text", NOTEBOOKS.values(), ids=NOTEBOOKS.keys())
def test_a_notebook_that_is_none_is_told_so(grader, text):
    """It is read as plain JSON; the reason is ours."""
    result = grader.submit({"01_first/first.ipynb": text})
    assert grader.verdict(result) == (0, NOT_DEFINED, "unreadable")


ODD_CELLS = {
    "sources that are numbers": [{"cell_type": "code", "source": 7}],
    "sources of lists": [{"cell_type": "code", "source": [["x"], None, 7, {}]}],
    "cells that are none": [None, 7, "x", [], {}],
    "types that are lists": [{"cell_type": ["code"], "source": "import os; os._exit(0)"}],
    "metadata that is a text": [{"cell_type": "code", "source": "", "metadata": "nbgrader"}],
    "outputs that forge points": [
        {"cell_type": "code", "source": "", "outputs": [{"text": "8 of 8 points"}], "score": 8}
    ],
    "magics that run programs": [
        {"cell_type": "code", "source": "!touch attack\n%run attack.py\n%%bash\nexit 1"}
    ],
    "a test cell that exits": [
        {
            "cell_type": "code",
            "source": "import os; os._exit(0)",
            "metadata": {"nbgrader": {"grade": True, "solution": False}},
        }
    ],
}


@pytest.mark.parametrize("cells", ODD_CELLS.values(), ids=ODD_CELLS.keys())
def test_odd_cells_are_passed_over(grader, cells):
    """The honest cell beside them counts."""
    document = json.loads(notebook(HONEST))
    document["cells"] += cells
    result = grader.submit({"01_first/first.ipynb": json.dumps(document)})
    assert grader.verdict(result) == UNHARMED


# Names of files.

NAMES = {
    "colours": "\x1b[31mred.py",
    "a new line": "one\ntwo.py",
    "right to left": "\u202eyp.tsrif.py",
    "a workflow command": "x\n::error::here.py",
    "no text": b"\xff\xfe.py".decode("utf-8", "surrogateescape"),
    "a formula": "=HYPERLINK(A1).py",
    "markup": "[bold]x[red]y[link=file:].py",
    "dots": "x....py",
    "a long one": "x" * 250 + ".py",
    "a backslash": "x\\..\\first.py",
    "a percent sign": "%s%n%(x)s{0}.py",
}


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES.keys())
def test_the_name_of_a_file_is_shown_as_what_it_is(grader, name):
    """In the record of a result no text carries control characters, whoever prints it."""
    broken = f"{HONEST}\n\ndef double(x):\n    raise ValueError('no')\n"
    result = grader.submit({name: broken})
    found = [text for text in texts(grader.record(result)) if grader.has_controls(text)]
    assert (grader.verdict(result)[0], found) == (5, [])


def test_links_in_a_submission_are_not_followed(grader, tmp_path):
    """Neither files nor folders; what they lead to is not read as the student's own."""
    student = tmp_path / "mallory"
    (student / "01_first").mkdir(parents=True)
    alice = grader.outside.root / "class" / "alice"
    (student / "01_first" / "first.py").symlink_to(alice / "01_first" / "first.py")
    (student / "more").symlink_to(alice, target_is_directory=True)
    result = grader.submit({"notes.txt": "nothing"})
    assert (result.submitted, result.score) == (False, None)
