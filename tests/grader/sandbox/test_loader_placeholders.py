"""Tests of imports that fail: the rest of the file is run, and the use of what is missing is told."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from grader.sandbox.failures import CodeLine, Failure, describe_failure
from grader.sandbox.loader import Loader, Opened
from grader.sandbox.placeholders import NotImported

Load = Callable[[str | Mapping[str, str | list[str]]], Opened]

IMPORT = "import nowhere.plots as plt\n"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (IMPORT, "plt"),
        ("import nowhere.plots\n", "nowhere"),
        ("import math, nowhere as n, json\n", "n"),
        ("from nowhere import sin\n", "sin"),
        ("from torch import no_such_name as sin\n", "sin"),
        (f"{IMPORT}plt.use('window')\n", "plt"),
        (f"{IMPORT}made = plt.make(3)\n", "made"),
        (f"{IMPORT}made, other = plt\n", "other"),
        (f"{IMPORT}for made in plt.all(): pass\n", "made"),
        (f"{IMPORT}with plt.open() as made: pass\n", "made"),
        (f"{IMPORT}class Own(plt.Plot): ...\n", "Own"),
        ("from nowhere import Plot\nclass Own(Plot): ...\n", "Own"),
        (f"{IMPORT}@plt.quick\ndef own(): ...\n", "own"),
        (f"{IMPORT}def draw(): plt.draw()\ndraw()\n", "plt"),
        ("def draw(): import nowhere\ndraw()\n", ""),
        ("if True:\n    import nowhere\n", "nowhere"),
        ("from nowhere import *\nclass Own(Base): ...\n", "Own"),
    ],
)
@pytest.mark.parametrize("is_notebook", [False, True])
def test_an_import_that_fails_ends_no_file(
    load: Load, text: str, name: str, is_notebook: bool
) -> None:
    """Nor does the use of what it did not bring, at the top of the file."""
    text = f"{text}import math\n\n\ndef below(): return math.pi\n"
    opened = load({"first.ipynb": [text]} if is_notebook else {"first.py": text})
    assert (opened.failures, opened.namespace["below"]()) == ([], pytest.approx(3.14159, abs=1e-5))
    assert not name or isinstance(opened.namespace[name], NotImported)


@pytest.mark.parametrize(
    "use",
    [
        "plt.plot",
        "plt()",
        "plt[0]",
        "plt['a'] = 1",
        "plt + 1",
        "1 @ plt",
        "plt < 1",
        "not plt",
        "list(plt)",
        "1 in plt",
        "float(plt)",
        "isinstance(1, plt)",
        "with plt: pass",
        "class A(plt): pass",
    ],
)
def test_whatever_is_done_with_it_says_which_import_failed(load: Load, use: str) -> None:
    """With the line of the use, and that of the import."""
    opened = load(f"{IMPORT}def use():\n    {use}\n")
    failure = failure_of(opened.namespace["use"], "first.py")
    assert (failure.type, failure.message) == (
        "ModuleNotFoundError",
        "No module named 'nowhere'",
    )
    assert failure.where is None or failure.where.line == 3
    assert (failure.wrote, failure.set_at) == (
        "plt",
        CodeLine("first.py", None, 1, IMPORT.strip()),
    )


def failure_of(function: Callable[[], object], file: str) -> Failure:
    """How a function of a loaded file fails."""
    with pytest.raises(ImportError) as caught:
        function()
    return describe_failure(caught.value, lambda name: (file, None) if file in name else None)


def test_a_class_on_top_of_what_is_missing_fails_where_it_stands(
    sources_of: Callable[..., Loader],
) -> None:
    """It is asked for by name, and has no line that could run."""
    sources = sources_of(f"{IMPORT}class Own(plt.Plot): ...\n")
    opened = sources.open("01_first/first.py")
    failure = failure_of(lambda: opened.namespace["Own"](), "nothing")
    assert failure.where == CodeLine("first.py", None, 2, "class Own(plt.Plot): ...")
    assert opened.header()["names"] == ["plt", "Own"]


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        ("from nowhere import F\ndef f(x: F['a b']) -> F['a']: return x\nx = f(1)\n", "x", 1),
        (f"{IMPORT}ran = []\nfor _ in [0]:\n    ran.append(1)\n    plt.show()\n", "ran", [1]),
        ("try:\n    import nowhere\nexcept ImportError:\n    nowhere = None\n", "nowhere", None),
    ],
    ids=["annotations ask for nothing", "a use is run once", "what the file allows to fail fails"],
)
def test_the_file_goes_on(load: Load, text: str, name: str, value: object) -> None:
    """Only a definition is tried again, without its annotations."""
    opened = load(text)
    assert (opened.failures, opened.namespace[name]) == ([], value)


def test_which_imports_failed_is_reported(sources_of: Callable[..., Loader]) -> None:
    """Each of them, in order; a module of the course's is missing only where it is used, too."""
    sources = sources_of(
        "import math, nowhere\nfrom elsewhere import a\nfrom other import One\ntwo = 2\n"
    )
    sources.add({}, {"other": ""})
    opened = sources.open("01_first/first.py")
    assert (opened.failures, opened.namespace["two"]) == ([], 2)
    assert [found["message"] for found in opened.header()["not_imported"]] == [
        f"No module named '{name}'" for name in ("nowhere", "elsewhere", "other")
    ]


def test_a_library_that_fails_while_it_is_imported_ends_no_file(
    load: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As one that cannot write its cache; its own error is told."""
    (tmp_path / "drawing_library.py").write_text("raise PermissionError('no cache')\n")
    monkeypatch.syspath_prepend(tmp_path)
    opened = load("import drawing_library as d\nX = 1\n\n\ndef use():\n    return d.draw()\n")
    assert (opened.failures, opened.namespace["X"]) == ([], 1)
    failure = failure_of(opened.namespace["use"], "first.py")
    assert (failure.type, failure.message) == ("PermissionError", "no cache")
    assert failure.where == CodeLine("first.py", None, 1, "import drawing_library as d")


@pytest.mark.parametrize("text", ["from __future__ import nothing\n", "import torch as 1\n"])
def test_an_import_that_is_no_python_ends_the_file(load: Load, text: str) -> None:
    """That is for the student to mend."""
    assert [failure.type for failure in load(text).failures] == ["SyntaxError"]
