"""Tests of how an exception becomes data, however odd the exception is."""

import contextlib
from collections.abc import Callable
from typing import Any

import pytest

from grader.sandbox.failures import MAX_MESSAGE

FailureOf = Callable[[str], dict[str, Any]]


@pytest.fixture
def failure_of(serve: Callable[..., Any]) -> FailureOf:
    """The failure that a call of a submission's `f` ends in."""
    return lambda text: serve(text).call("f").failure


def line_of(place: dict[str, Any] | None) -> int | None:
    """The line of a place, where there is one."""
    return place["line"] if place else None


def test_a_failure_tells_type_bases_message_and_line(failure_of: FailureOf) -> None:
    """The built-in base classes are enough to compare it with another's."""
    text = "class Mine(KeyError): ...\n\n\ndef f():\n    raise Mine('a')\n"
    place = {"file": "first.py", "cell": None, "line": 5, "column": None}
    assert failure_of(text) == {
        "kind": "exception",
        "type": "Mine",
        "bases": ["KeyError", "LookupError", "Exception", "BaseException", "object"],
        "message": "'a'",
        "where": {**place, "text": "raise Mine('a')"},
        "own": True,
        **dict.fromkeys(("wrote", "meant", "in_text"), ""),
        **dict.fromkeys(("set_at", "called")),
    }


def test_the_last_of_the_students_own_lines_is_told(failure_of: FailureOf) -> None:
    """Not the call that led there, nor a line of torch below."""
    failure = failure_of(
        "import torch\n\n\ndef h():\n    return torch.nn.Linear(2, 3)(torch.ones(4))\n\n\n"
        "def f():\n    return h()\n"
    )
    assert (line_of(failure["where"]), failure["own"]) == (5, False)


@pytest.mark.parametrize(
    ("body", "called"),
    [
        ("return inner()", 6),
        ("y = 2\n    return [inner() for _ in (1,)]", 7),
        ("return middle()", 2),
        ("return 1 / 0", None),
        ("return [1 / 0 for _ in (1,)]", None),
    ],
)
def test_a_failure_tells_the_last_line_of_the_file_that_led_there(
    failure_of: FailureOf, body: str, called: int | None
) -> None:
    """Where that is another line than the one that failed."""
    helpers = "def inner():\n    return 1 / 0\n\n\n"
    if "middle" in body:
        helpers = f"def middle():\n    return inner()\n{helpers}"
    assert line_of(failure_of(f"{helpers}def f():\n    {body}\n")["called"]) == called


def test_a_failure_of_sizes_tells_what_took_an_axis_away(failure_of: FailureOf) -> None:
    """The line above it that sets a name of the line that failed."""
    text = "import torch\n\ndef f():\n    x = torch.ones(2, 3)\n    y = {}\n    return x / y\n"
    assert failure_of(text.format("x.sum(dim=-1)"))["set_at"]["text"] == "y = x.sum(dim=-1)"
    assert failure_of(text.format("torch.ones(2)"))["set_at"] is None


def test_a_call_with_wrong_arguments_has_no_line_of_the_students(failure_of: FailureOf) -> None:
    """It fails before any of their lines is run."""
    failure = failure_of("def f(a): ...\n")
    assert failure["message"] == "f() missing 1 required positional argument: 'a'"
    assert (failure["type"], failure["where"], failure["own"]) == ("TypeError", None, False)


@pytest.mark.parametrize(
    ("line", "kind"), [("return eval('1 +')", "SyntaxError"), ("return f()", "RecursionError")]
)
def test_what_has_no_line_of_its_own_fails_at_the_line_that_ran_it(
    failure_of: FailureOf, line: str, kind: str
) -> None:
    """Code in a text is no file of that name; a recursion without end is where it calls itself."""
    failure = failure_of(f"def f():\n    {line}\n")
    assert (failure["type"], failure["where"]["text"]) == (kind, line)


@pytest.mark.parametrize(
    ("statement", "kind"),
    [
        ("raise MemoryError", "out_of_memory"),
        ("import torch; torch.zeros(2**50)", "out_of_memory"),
        ("raise SystemExit(3)", "exception"),
        ("raise TimeoutError", "exception"),
        ("raise BaseExceptionGroup('both', [ValueError(1), KeyError(2)])", "exception"),
    ],
)
def test_every_exception_has_its_kind(failure_of: FailureOf, statement: str, kind: str) -> None:
    """Memory is told apart, from Python's own and from torch's."""
    assert failure_of(f"def f():\n    {statement}\n")["kind"] == kind


@pytest.mark.parametrize(
    ("method", "message"),
    [
        ("raise ValueError", "(its message could not be read)"),
        ("raise SystemExit", "(its message could not be read)"),
        ("return 5", "(its message could not be read)"),
        ("return 'a\\ud800b'", "a\ud800b"),
        (f"return 'x' * {2 * MAX_MESSAGE}", "x" * MAX_MESSAGE),
    ],
)
def test_a_message_that_cannot_be_read_does_no_harm(
    failure_of: FailureOf, method: str, message: str
) -> None:
    """Reading it runs the student's code once more; a long one is cut."""
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
    assert isinstance(line_of(reply.failure["where"]), int | None)


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
    failure_of: FailureOf, expression: str, wrote: str, meant: str
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
    ("setting", "text", "in_text", "line"),
    [
        ("self.head = 1", "`heads`", "heads", 6),
        ("self.head: int = 1", "a `head`", "head", 6),
        ("self.register_buffer('head', 1)", "`head` and `heads`", "", 6),
        ("self.head = 1", "some", "", 6),
        ("Layer.head = 1; self.zzz = self.head == 1", "some", "", None),
        ("setattr(self, 'head', 1)", "some", "", None),
    ],
)
def test_a_similar_attribute_comes_with_the_line_that_sets_it(
    failure_of: FailureOf, setting: str, text: str, in_text: str, line: int | None
) -> None:
    """In `__init__`; which of the two is right is known where the exercise's text names one alone."""
    failure = failure_of(SET.replace("{0}", text).replace("{1}", setting))
    assert (failure["wrote"], failure["meant"], failure["in_text"]) == ("heads", "head", in_text)
    assert line_of(failure["set_at"]) == line
    assert line is None or failure["set_at"]["text"] == setting


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
    failure_of: FailureOf, body: str, line: int | None
) -> None:
    """The slip may be there; a parameter's name is the stub's."""
    parameter = "scors=1, " if "==" in body else ""
    failure = failure_of(f"def f({parameter}x=(1,)):\n    {body}\n")
    assert (failure["wrote"], failure["meant"], failure["in_text"]) == ("scores", "scors", "")
    assert line_of(failure["set_at"]) == line


def test_an_object_that_cannot_be_looked_at_leads_to_no_proposal(failure_of: FailureOf) -> None:
    """`dir` runs the student's code."""
    text = "class Odd:\n    def __dir__(self):\n        raise SystemExit\n\n\ndef f():\n    Odd().one\n"
    failure = failure_of(text)
    assert (failure["type"], failure["wrote"]) == ("AttributeError", "")
