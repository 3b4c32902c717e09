"""Tests of imports between a submission's files, and of namespaces taken over from a kernel."""

import sys
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from grader.sandbox.failures import CodeLine, describe_failure
from grader.sandbox.loader import Loader, Opened

Load = Callable[[str | Mapping[str, str | list[str]]], Opened]


def test_a_file_is_loaded_once_however_often_it_is_imported(
    sources_of: Callable[..., Loader], capsys: pytest.CaptureFixture[str]
) -> None:
    """Its definitions are the same objects for everybody."""
    users = {f"{name}.py": "from first import one\n" for name in ("b", "c")}
    sources = sources_of({**users, "first.py": "print('loaded')\n\n\ndef one(): ...\n"})
    opened = [sources.open(key).namespace["one"] for key in ("b.py", "c.py", "first.py")]
    assert (len(set(map(id, opened))), capsys.readouterr().out) == (1, "loaded\n")


def test_files_that_import_each_other_end_as_in_python(load: Load) -> None:
    """The second finds the first half loaded."""
    files = {"a.py": "A = 1\nimport b\nB = b.B\n", "b.py": "import a\nB = a.A + 1\n"}
    opened = load(files)
    assert (opened.failures, opened.namespace["B"]) == ([], 2)


def test_an_import_of_a_name_that_is_not_there_is_told_at_the_importing_line(load: Load) -> None:
    """What the other file defined before it failed can still be imported."""
    text = "from a import one\nfrom a import two\n"
    opened = load({"b.py": text, "a.py": "one = 1\n1 / 0\ntwo = 2\n"})
    (failure,) = opened.failures
    assert (failure.type, opened.header()["names"]) == ("ImportError", ["one"])
    assert failure.where == CodeLine("b.py", None, 2, "from a import two")


def test_a_file_named_like_a_library_does_not_replace_it(
    sources_of: Callable[..., Loader],
) -> None:
    """A student's `torch.py` is no torch."""
    sources = sources_of({"torch.py": "import torch\nONES = torch.ones(2)\n"}, register=False)
    sources.texts["torch.py"]["importable"] = False
    assert sources.open("torch.py").failures == []


def test_a_namespace_that_was_taken_over_counts_as_it_is(
    sources_of: Callable[..., Loader],
) -> None:
    """A notebook's kernel stands for its file, and what it defines later is there later."""
    sources = sources_of({"a.py": "raise ValueError"})
    namespace = {"one": 1}
    sources.adopt("a.py", namespace)
    namespace["two"] = 2
    assert sources.open("a.py").header() == {"failures": [], "names": ["one", "two"]}


def test_a_line_of_the_kernel_is_a_line_of_the_file_it_stands_for(
    sources_of: Callable[..., Loader],
) -> None:
    """Kernels give their cells file names of their own."""
    sources = sources_of({"a.py": ""})
    names = ("<ipython-input-3-abc>", "/tmp/ipykernel_12/345.py")
    assert [*map(sources.find_cell, names)] == [None] * 2
    sources.adopt("a.py", {})
    assert [*map(sources.find_cell, names)] == [("a.py", None)] * 2


def test_two_submissions_in_one_process_do_not_meet(sources_of: Callable[..., Loader]) -> None:
    """Each finds its own file under the same module name."""
    user = "from first import ONE\n"
    loaded = [sources_of({"b.py": user, "first.py": f"ONE = {n}\n"}) for n in (1, 2)]
    assert [sources.open("b.py").namespace["ONE"] for sources in loaded] == [1, 2]
    assert "first" not in sys.modules


def test_two_files_of_one_name_each_show_their_own_lines(
    sources_of: Callable[..., Loader],
) -> None:
    """A failure shows the text of the file it happened in, whatever was loaded since."""
    sources = sources_of({"01/mine.py": "def f():\n    return 1 / 0\n", "02/mine.py": "\nB = 2\n"})
    failing = sources.open("01/mine.py").namespace["f"]
    sources.open("02/mine.py")
    with pytest.raises(ZeroDivisionError) as caught:
        failing()
    where = describe_failure(caught.value, sources.find_cell).where
    assert where == CodeLine("mine.py", None, 2, "return 1 / 0")


HEADS = {
    "08_wrapper/heads.py": "def one():\n    return 1\n",
    "08_wrapper/parts/__init__.py": "from .inner import two\n",
    "08_wrapper/parts/inner.py": "from ..heads import one\n\n\ndef two():\n    return one() + 1\n",
    "shared.py": "from heads import one\nSHARED = one() + 2\n",
    "notes.ipynb": ["FOUR = 4"],
    "folder/five.py": "FIVE = 5\n",
}


@pytest.fixture
def wrapped(sources_of: Callable[..., Loader]) -> Callable[[str, bool], Opened]:
    """Opens a file beside these, which are the student's own or the course's."""

    def opened(text: str, importable: bool) -> Opened:
        sources = sources_of({"08_wrapper/wrapper.py": text, **HEADS})
        for key in HEADS:
            sources.texts[key]["importable"] = importable
        return sources.open("08_wrapper/wrapper.py")

    return opened


BY_NAME = [
    "from heads import one\nX = one()\n",
    "import heads as h\nX = h.one()\n",
    "from heads import *\nX = one()\n",
    "def get():\n    from heads import one\n    return one()\nX = get()\n",
]


@pytest.mark.parametrize("text", BY_NAME)
def test_files_of_the_course_are_imported_by_their_names(wrapped: Any, text: str) -> None:
    """However it is written."""
    opened = wrapped(text, True)
    assert (opened.failures, opened.namespace["X"]) == ([], 1)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *((text, 1) for text in BY_NAME),
        ("from .heads import one\nX = one()\n", 1),
        ("from . import heads\nX = heads.one()\n", 1),
        ("from parts import two\nX = two()\n", 2),
        ("from .parts.inner import two\nX = two()\n", 2),
        ("import parts.inner\nX = parts.inner.two()\n", 2),
        ("import parts.inner as p\nX = p.two()\n", 2),
        ("from parts import inner\nX = inner.two()\n", 2),
        ("from shared import SHARED as X\n", 3),
        ("from notes import FOUR as X\n", 4),
        ("from folder.five import FIVE as X\n", 5),
        ("from folder import five\nX = five.FIVE\n", 5),
        ("from five import FIVE as X\n", 5),
    ],
)
def test_modules_of_the_students_own_are_imported(wrapped: Any, text: str, value: int) -> None:
    """By any name, from beside the file, from the top and from other folders; packages, too."""
    opened = wrapped(text, False)
    assert (opened.failures, opened.not_imported, opened.namespace["X"]) == ([], [], value)


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("from .nowhere import X\n", "nowhere"),
        ("from . import (heads, nowhere)\n", "nowhere"),
        ("from parts.nowhere import X\n", "parts.nowhere"),
        ("import parts.nowhere\n", "parts.nowhere"),
    ],
)
def test_a_module_of_the_students_own_that_is_not_there_is_named(
    wrapped: Any, text: str, missing: str
) -> None:
    """The rest of the file is run."""
    opened = wrapped(f"{text}Y = 1\n", False)
    (cause,) = opened.not_imported
    assert (cause.message, opened.failures) == (f"No module named '{missing}'", [])
    assert opened.namespace["Y"] == 1


def test_what_a_module_of_the_students_own_ends_in_is_the_cause(
    sources_of: Callable[..., Loader],
) -> None:
    """Not that a name cannot be imported from it."""
    files = {"a.py": "from b import two\nY = 1\n", "b.py": "one = 1\n1 / 0\ntwo = 2\n"}
    sources = sources_of(files)
    sources.texts["b.py"]["importable"] = False
    opened = sources.open("a.py")
    assert opened.failures == []
    assert opened.namespace["Y"] == 1
    with pytest.raises(ImportError) as caught:
        opened.namespace["two"]()
    failure = describe_failure(caught.value, lambda _name: None)
    assert failure.type == "ZeroDivisionError"
    assert failure.where == CodeLine("b.py", None, 2, "1 / 0")
