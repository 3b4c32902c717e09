"""Tests of how an exception becomes data, however odd the exception is."""

import contextlib
from collections.abc import Callable
from typing import Any

import pytest

from grader.sandbox.failures import MAX_MESSAGE

WHERE = {"file": "first.py", "cell": None, "line": 2, "text": "raise Odd('x')", "column": None}


@pytest.fixture
def failure_of(serve: Callable[..., Any]) -> Callable[[str], dict[str, Any]]:
    """The failure that a call of a submission's `f` ends in."""
    return lambda text: serve(text).call("f").failure  # type: ignore[no-any-return]


def test_a_failure_tells_type_bases_message_and_line(failure_of: Callable[..., Any]) -> None:
    """The built-in base classes are enough to compare it with another's."""
    text = "class Mine(KeyError): ...\n\n\ndef f():\n    raise Mine('a')\n"
    assert failure_of(text) == {
        "kind": "exception",
        "type": "Mine",
        "bases": ["KeyError", "LookupError", "Exception", "BaseException", "object"],
        "message": "'a'",
        "where": {**WHERE, "line": 5, "text": "raise Mine('a')"},
        "own": True,
        "wrote": "",
        "meant": "",
        "set_at": None,
        "in_text": "",
        "called": None,
    }


def test_the_last_of_the_students_own_lines_is_told(failure_of: Callable[..., Any]) -> None:
    """Not the call that led there, nor a line of torch below."""
    text = (
        "import torch\n\n\ndef g():\n    return torch.nn.functional.linear(torch.ones(2), 3)\n\n\n"
        "def h():\n    return torch.nn.Linear(2, 3)(torch.ones(4))\n\n\n"
        "def f():\n    return h()\n"
    )
    failure = failure_of(text)
    assert (failure["where"]["line"], failure["own"]) == (9, False)


@pytest.mark.parametrize(
    ("body", "called"),
    [
        ("return inner(x)", 6),
        ("y = 2\n    return [inner(x) for _ in (1,)]", 7),
        ("return middle(x)", 2),
        ("return x / 0", None),
        ("return [x / 0 for _ in (1,)]", None),
    ],
)
def test_a_failure_tells_the_last_line_of_the_file_that_led_there(
    serve: Callable[..., Any], body: str, called: int | None
) -> None:
    """Where that is another line than the one that failed."""
    helpers = "def inner(x):\n    return x / 0\n\n\n"
    if "middle" in body:
        helpers = f"def middle(x):\n    return inner(x)\n{helpers}"
    failure = serve(f"{helpers}def f(x):\n    {body}\n").call("f", 1).failure
    assert (failure["called"] and failure["called"]["line"]) == called


def test_a_failure_of_sizes_tells_what_took_an_axis_away(failure_of: Callable[..., Any]) -> None:
    """The line above it that sets a name of the line that failed."""
    text = (
        "import torch\n\ndef f():\n    x = torch.ones(2, 3)\n    total = x.sum(dim=-1)\n"
        "    return x / total\n"
    )
    assert failure_of(text)["set_at"]["text"] == "total = x.sum(dim=-1)"
    assert failure_of(text.replace("x.sum(dim=-1)", "torch.ones(2)"))["set_at"] is None


def test_a_call_with_wrong_arguments_has_no_line_of_the_students(serve: Callable[..., Any]) -> None:
    """It fails before any of their lines is run."""
    failure = serve("def f(a, b): ...\n").call("f", 1).failure
    assert failure == {
        "kind": "exception",
        "type": "TypeError",
        "bases": ["TypeError", "Exception", "BaseException", "object"],
        "message": "f() missing 1 required positional argument: 'b'",
        "where": None,
        "own": False,
        "wrote": "",
        "meant": "",
        "set_at": None,
        "in_text": "",
        "called": None,
    }


def test_code_in_a_text_fails_at_the_line_that_ran_it(failure_of: Callable[..., Any]) -> None:
    """A syntax error inside `eval` is at the `eval`, not in a file of that name."""
    failure = failure_of("def f():\n    return eval('1 +')\n")
    assert (failure["type"], failure["where"]["text"]) == ("SyntaxError", "return eval('1 +')")


def test_a_long_message_is_cut(failure_of: Callable[..., Any]) -> None:
    """A message is kept to a size that people read."""
    failure = failure_of(f"def f():\n    raise ValueError('x' * {2 * MAX_MESSAGE})\n")
    assert failure["message"] == "x" * MAX_MESSAGE


def test_a_recursion_without_end_is_an_exception(failure_of: Callable[..., Any]) -> None:
    """With the line that calls itself."""
    failure = failure_of("def f():\n    return f()\n")
    assert (failure["type"], failure["where"]["text"]) == ("RecursionError", "return f()")


@pytest.mark.parametrize(
    ("statement", "kind"),
    [
        ("raise MemoryError", "out_of_memory"),
        ("import torch; torch.zeros(2**50)", "out_of_memory"),
        ("raise SystemExit(3)", "exception"),
        ("raise GeneratorExit", "exception"),
        ("raise TimeoutError", "exception"),
        ("raise BaseExceptionGroup('both', [ValueError(1), KeyError(2)])", "exception"),
    ],
)
def test_every_exception_has_its_kind(
    failure_of: Callable[..., Any], statement: str, kind: str
) -> None:
    """Memory is told apart, from Python's own and from torch's."""
    assert failure_of(f"def f():\n    {statement}\n")["kind"] == kind


@pytest.mark.parametrize(
    ("method", "message"),
    [
        ("raise ValueError", "(its message could not be read)"),
        ("raise SystemExit", "(its message could not be read)"),
        ("return 5", "(its message could not be read)"),
        ("return 'a\\ud800b'", "a\ud800b"),
    ],
)
def test_a_message_that_cannot_be_read_does_no_harm(
    failure_of: Callable[..., Any], method: str, message: str
) -> None:
    """Reading it runs the student's code once more."""
    text = f"class Odd(Exception):\n    def __str__(self):\n        {method}\n"
    assert failure_of(f"{text}\n\ndef f():\n    raise Odd\n")["message"] == message


@pytest.mark.parametrize(
    "odd",
    [
        "class T(str):\n    def __str__(self):\n        raise ValueError\nclass Odd(Exception):\n"
        "    def __str__(self):\n        return T('x')",
        "def Odd(x):\n    return SyntaxError('x', ('<first.py>', 1, 1, 5))",
        "def Odd(x):\n    return SyntaxError('x', ('<first.py>', 'one', 1, 'text'))",
        "def Odd(x):\n    return SyntaxError('x', (['<first.py>'], 1, 1, 'text'))",
        "def Odd(x):\n    return SyntaxError(5, ('<first.py>', 1, 1, 'text'))",
    ],
    ids=["text", "line's text", "line", "file", "message"],
)
def test_an_exception_made_to_confuse_is_a_failure_like_others(
    serve: Callable[..., Any], odd: str
) -> None:
    """Whatever its parts are, the answer is one."""
    conversation = serve(f"{odd}\ndef f():\n    raise Odd('x')\n")
    reply = None
    with contextlib.suppress(Exception):  # pytest itself cannot show these exceptions
        reply = conversation.call("f")
    assert reply is not None, "the servant raised instead of answering"
    assert reply.failure["kind"] == "exception"
    assert isinstance(reply.failure["message"], str)
    assert reply.failure["where"] is None or isinstance(reply.failure["where"]["line"], int)


@pytest.mark.parametrize(
    ("text", "shown", "column"),
    [
        ("if True:\n    x = (1\n", "    x = (1", 9),
        ("if True:\n        x = 1\n    y = 2\n", "    y = 2", 10),
        ("x = 1\nreturn x\n", "return x", 1),
    ],
    ids=["bracket", "indentation", "compiler"],
)
def test_an_error_of_syntax_tells_its_line_as_it_is_indented(
    load: Callable[..., Any], text: str, shown: str, column: int
) -> None:
    """And the column, for a caret below it; the compiler's own errors come without a text."""
    (failure,) = load(text).failures
    assert (failure.where.text, failure.where.column) == (shown, column)


LAYER = """
import torch
from torch import nn

class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.W_query = nn.Linear(2, 2)
        self.sizes = [1, 2]

    def forward(self, x):
        return {0}

def f():
    return Layer()(torch.ones(1, 2))
"""


@pytest.mark.parametrize(
    ("expression", "wrote", "meant"),
    [
        ("W_query(x)", "W_query", "self.W_query"),
        ("[sizes for _ in x]", "sizes", "self.sizes"),
        ("self.W_qeury(x)", "W_qeury", "W_query"),
        ("self.Wq(x)", "Wq", "W_query"),
        ("x.tranpose(0, 1)", "tranpose", "transpose"),
        ("torch.sofmax(x)", "sofmax", "softmax"),
        ("np.exp(x)", "np", "import numpy as np"),
        ("math.sqrt(x)", "math", "import math"),
        ("Layr()", "Layr", "Layer"),
        ("zzz", "", ""),
        ("self.zzz", "", ""),
        ("{}['W_qeury']", "", ""),
    ],
)
def test_an_unknown_name_comes_with_what_may_have_been_meant(
    failure_of: Callable[..., Any], expression: str, wrote: str, meant: str
) -> None:
    """On every version of Python: an attribute of `self`, an import, a similar name."""
    failure = failure_of(LAYER.replace("{0}", expression))
    assert (failure["wrote"], failure["meant"]) == (wrote, meant)


SET = """
class Layer:
    \'\'\'It has {0}.\'\'\'

    def __init__(self):
        {1}

    def register_buffer(self, name, value):
        setattr(self, name, value)

    def heed(self):
        self.head = 2

def f():
    return Layer().heads
"""


@pytest.mark.parametrize(
    "setting", ["self.head = 1", "self.head: int = 1", "self.register_buffer('head', 1)"]
)
@pytest.mark.parametrize(
    ("text", "in_text"),
    [("`heads`", "heads"), ("a `head`", "head"), ("`head` and `heads`", ""), ("some", "")],
)
def test_a_similar_attribute_comes_with_the_line_that_sets_it(
    failure_of: Callable[..., Any], setting: str, text: str, in_text: str
) -> None:
    """Which of the two is right is known where the exercise's text names one alone."""
    failure = failure_of(SET.replace("{0}", text).replace("{1}", setting))
    assert (failure["wrote"], failure["meant"]) == ("heads", "head")
    assert (failure["set_at"]["line"], failure["set_at"]["text"]) == (6, setting)
    assert failure["in_text"] == in_text


@pytest.mark.parametrize("setting", ["self.zzz = self.head == 1", "setattr(self, 'head', 1)"])
def test_an_attribute_that_init_does_not_set_has_no_line(
    failure_of: Callable[..., Any], setting: str
) -> None:
    """A comparison sets nothing."""
    text = SET.replace("{1}", f"Layer.head = 1; {setting}")
    assert failure_of(text)["set_at"] is None


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("scors = 1\n    return scores", 2),
        ("y = 1\n    for scors in x:\n        return scores", 3),
        ("y = 2; scors = 1; return scores", None),
        ("scors == 1\n    return scores", None),
    ],
)
def test_a_similar_name_comes_with_the_line_that_sets_it(
    failure_of: Callable[..., Any], body: str, line: int | None
) -> None:
    """The slip may be there; a parameter's name is the stub's."""
    parameter = "scors=1, " if "==" in body else ""
    failure = failure_of(f"def f({parameter}x=(1,)):\n    {body}\n")
    assert (failure["wrote"], failure["meant"], failure["in_text"]) == ("scores", "scors", "")
    assert (failure["set_at"] and failure["set_at"]["line"]) == line


def test_an_object_that_cannot_be_looked_at_leads_to_no_proposal(
    failure_of: Callable[..., Any],
) -> None:
    """`dir` runs the student's code."""
    text = "class Odd:\n    def __dir__(self):\n        raise SystemExit\n\n\ndef f():\n    Odd().one\n"
    failure = failure_of(text)
    assert (failure["type"], failure["wrote"]) == ("AttributeError", "")
