"""Tests of what the servant answers: values, calls, changes in place, gradients, failures."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

from grader.sandbox.servant import Servant
from grader.sandbox.wire import Frame, RemoteObject, Unsupported

Serve = Callable[..., Any]

LAYER = """\
import torch
from torch import nn


class Layer(nn.Module):
    def __init__(self, d_in=2, d_out=3):
        super().__init__()
        self.W = nn.Parameter(torch.ones(d_in, d_out))
        self.dropout = nn.Dropout(0.5)

    def forward(self, x, scale=1.0):
        return scale * self.dropout(x @ self.W)
"""


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("x = {'d_in': 768, 'bias': False}", {"d_in": 768, "bias": False}),
        ("x = [1.5, (None, 'a')]", [1.5, (None, "a")]),
        ("def x(): ...", RemoteObject(0, "function", "x")),
        ("x = len", RemoteObject(0, "function", "len")),
        ("class x: ...", RemoteObject(0, "class", "x")),
        ("import math as x", Unsupported("module")),
        ("x = object()", Unsupported("object")),
        ("class T: ...\nx = T()", Unsupported("first.T")),
        ("x = 10**2000", Unsupported("a huge int")),
    ],
)
def test_a_constant_is_told_and_anything_else_by_its_kind(
    serve: Serve, text: str, value: object
) -> None:
    """The verb `get`: a value, a reference that only describes, or the name of a type."""
    assert serve(text).get("x").value == value


def test_a_name_that_is_not_there_is_missing(serve: Serve) -> None:
    """For `get` and for `call`."""
    conversation = serve("def other(): ...\n")
    expected = {"failure": {"kind": "missing", "message": "one"}, "output": ""}
    assert conversation.get("one").header == expected
    assert conversation.call("one").header == expected


def test_a_function_is_called_with_positions_and_keywords(serve: Serve) -> None:
    """Plain data and tensors, in order and by name."""
    conversation = serve("def f(a, *rest, b=0, **more):\n    return [a, rest, b, more]\n")
    reply = conversation.call("f", torch.tensor([1]), "x", b=(1, None), c={"k": 2.5})
    assert reply.header["changed"] == []
    first, *others = reply.value
    assert (first.tolist(), others) == ([1], [("x",), (1, None), {"c": {"k": 2.5}}])


def test_operations_are_counted_where_that_is_asked_for(serve: Serve) -> None:
    """By the names of torch's functions as the student's code calls them, not what these call."""
    text = "from torch import nn\n\n\ndef f(x):\n    return nn.Softmax(0)(x) + x.exp() * x.exp()\n"
    conversation = serve(text)
    assert "operations" not in conversation.call("f", torch.ones(2)).header
    reply = conversation.call("f", torch.ones(2), operations=True)
    assert reply.header["operations"] == {"softmax": 1, "exp": 2, "mul": 1, "add": 1}


def test_the_names_of_parameters_are_told(serve: Serve) -> None:
    """Those of a function, of a class's constructor, and none of what does not tell."""
    conversation = serve(f"{LAYER}\n\ndef f(a, *rest, b=0): ...\n\n\nx = 1\n")
    found = {name: conversation.get(name).header["parameters"] for name in ("f", "Layer", "x")}
    assert found == {"f": ["a", "rest", "b"], "Layer": ["d_in", "d_out"], "x": []}


def test_a_class_is_made_an_instance_that_stays_and_can_be_called(serve: Serve) -> None:
    """The answer is a reference; calling it runs `forward`."""
    conversation = serve(LAYER)
    layer = conversation.call("Layer", 2, d_out=1).value
    assert layer == RemoteObject(1, "module", "Layer")
    reply = conversation.call(layer, torch.tensor([[1.0, 2.0]]), scale=2.0, training=False)
    assert reply.value.tolist() == [[6.0]]


def test_instances_are_arguments_and_answers_too(serve: Serve) -> None:
    """By reference: the same instance is the same number."""
    conversation = serve(f"{LAYER}\n\ndef same(layer):\n    return [layer, layer.dropout, layer]\n")
    layer = conversation.call("Layer").value
    dropout = RemoteObject(2, "module", "Dropout")
    assert conversation.call("same", layer).value == [layer, dropout, layer]
    assert conversation.call("same", layer).value == [layer, dropout, layer]


def test_an_instance_without_call_is_run_by_its_forward(serve: Serve) -> None:
    """A plain class with a `forward` is no module, and works."""
    conversation = serve("class Plain:\n    def forward(self, x):\n        return x + 1\n")
    plain = conversation.call("Plain").value
    assert plain == RemoteObject(1, "instance", "Plain")
    assert conversation.call(plain, 1).value == 2


@pytest.mark.parametrize("training", [True, False])
def test_training_and_eval_mode_are_set_before_the_call(serve: Serve, training: bool) -> None:
    """For the instance and its parts."""
    conversation = serve(LAYER)
    layer = conversation.call("Layer", 1, 1000).value
    value = conversation.call(layer, torch.ones(1, 1), training=training, seed=1).value
    assert bool((value == 0).any()) is training


def test_a_seed_repeats_what_is_drawn(serve: Serve) -> None:
    """It seeds torch's generator, as `torch.manual_seed` does, and Python's."""
    text = "import random, torch\n\n\ndef f():\n    return [torch.rand(3), random.random()]\n"
    conversation = serve(text)
    one, two, other = (conversation.call("f", seed=seed).value for seed in (123, 123, 124))
    expected = torch.rand(3, generator=torch.Generator().manual_seed(123))
    assert torch.equal(one[0], expected)
    assert (torch.equal(one[0], two[0]), one[1] == two[1]) == (True, True)
    assert (torch.equal(one[0], other[0]), one[1] == other[1]) == (False, False)


@pytest.mark.parametrize(
    ("body", "changed"),
    [
        ("a += 1", "0"),
        ("a.masked_fill_(a > 0, float('nan'))", "0"),
        ("a.unsqueeze_(0)", "0"),
        ("a.data = a.double()", "0"),
        ("a.requires_grad_()", "0"),
        ("b.pop(0)", "1"),
        ("b.append(b[0])", "1"),
        ("b.reverse()", "1"),
        ("b[1] = 2 * b[1]", "1"),
        ("b[1] += 1", "1"),
        ("b[1] = None", "1"),
        ("c[0].zero_()", "2"),
        ("d['x'].zero_()", "d"),
        ("d.pop('x')", "d"),
        ("d['y'] = 1", "d"),
    ],
)
def test_an_argument_changed_in_place_is_named(serve: Serve, body: str, changed: str) -> None:
    """By position or keyword: values, shape, dtype, and what a list holds; an unchanged NaN is none."""
    conversation = serve(f"def f(a, b, c, nan, *, d):\n    {body}\n    return c[1]\n")
    b = [torch.tensor([1.0, 2.0]), torch.tensor([3.0, 2.0])]
    c, nan = (torch.ones(2), torch.ones(2)), torch.tensor([float("nan"), 1.0])
    for _ in range(2):
        reply = conversation.call("f", torch.ones(2), b, c, nan, d={"x": torch.ones(2)})
        assert reply.header["changed"] == [changed]


def test_an_argument_that_wanted_gradients_before_is_not_changed(serve: Serve) -> None:
    """As it does where gradients were asked for."""
    conversation = serve("def f(a):\n    a.requires_grad_()\n    return 2 * a\n")
    asked = conversation.call("f", torch.ones(2), cotangent=torch.ones(2))
    assert asked.header["changed"] == []


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("x /= 2", 2),
        ("x[0] = 3", 2),
        ("y = 1\n    x.data.mul_(2)", 3),
        ("for i in range(2):\n        x[i, :] += i", 3),
        ("x.data = 2 * x\n    [x].pop()", 2),
        ("y = x\n    y += 1", None),
        ("x[0] = 5\n    x[1] = 6", None),
        ("x[0] = 5\n    x = 3", None),
        ("x.clone().add_(1)\n    x.view(-1).add_(1)", None),
    ],
)
def test_the_line_that_changed_an_argument_is_told_where_one_alone_can(
    serve: Serve, body: str, line: int | None
) -> None:
    """Of a function and of a module; by the parameter's name."""
    module = "class L(torch.nn.Module):\n  def forward(self, z, x):\n    "
    for start, is_forward in (("def f(z, x):\n    ", False), (module, True)):
        conversation = serve(f"import torch\n{start}{body}\n")
        target = conversation.call("L").value if is_forward else "f"
        reply = conversation.call(target, 0, torch.ones(2, 2))
        ((name, at),) = reply.header["writes"]
        at_line = None if line is None else line + 1 + is_forward
        assert (name, at and at["line"]) == ("x", at_line)


def test_a_callee_that_cannot_be_looked_at_has_no_line(serve: Serve) -> None:
    """Its arguments have no names of their own."""
    text = "class C:\n    def __call__(self, *a):\n        a[0][0] = 5\nf = C()\n"
    assert serve(text).call("f", torch.ones(2)).header["writes"] == [["a", None]]


def test_lists_of_arguments_are_the_callees_own(serve: Serve) -> None:
    """Nothing that one call changes is seen by the next."""
    conversation = serve("def f(a):\n    a.append(1)\n    return a\n")
    assert [conversation.call("f", [0]).value for _ in range(2)] == [[0, 1], [0, 1]]


# Gradients.


def test_gradients_are_those_through_the_cotangent(serve: Serve) -> None:
    """Of every parameter by name and of every floating-point argument."""
    conversation = serve(LAYER)
    layer = conversation.call("Layer").value
    x, cotangent = torch.tensor([[1.0, 2.0]]), torch.tensor([[1.0, 0.5, 0.0]])
    reply = conversation.call(layer, x, scale=2.0, training=False, cotangent=cotangent)
    assert reply.gradients["parameters"]["W"].tolist() == [[2.0, 1.0, 0.0], [4.0, 2.0, 0.0]]
    assert reply.gradients["arguments"]["0"].tolist() == [[3.0, 3.0]]
    assert list(reply.gradients["arguments"]) == ["0"]


def test_gradients_do_not_add_up_from_call_to_call(serve: Serve) -> None:
    """Each request starts from none."""
    conversation = serve(LAYER)
    layer, given = conversation.call("Layer").value, {"training": False, "cotangent": torch.ones(3)}
    replies = [conversation.call(layer, torch.ones(2), **given) for _ in range(2)]
    assert [reply.gradients["parameters"]["W"].sum().item() for reply in replies] == [6.0, 6.0]


def test_a_detached_result_has_no_gradients(serve: Serve) -> None:
    """None arrives where none arrives; that is no failure."""
    conversation = serve("def f(x, y):\n    return x.detach() * 2\n")
    reply = conversation.call("f", torch.ones(2), y=torch.ones(1), cotangent=torch.ones(2))
    assert reply.gradients == {"parameters": {}, "arguments": {"0": None, "y": None}}


MASK, WEIGHT = torch.tensor([True, False]), nn.Parameter(torch.ones(2))
TWICE = "from torch import nn\n\n\ndef f(w):\n    return w * (1 + isinstance(w, nn.Parameter))"


@pytest.mark.parametrize(
    ("text", "arguments", "gradients"),
    [
        ("def f(x, mask, n): return x * mask * n", (torch.ones(2), MASK, 3), [3.0, 0.0]),
        (TWICE, (WEIGHT,), [2.0, 2.0]),
        ("def f(x):\n    x *= 3\n    return x", (torch.ones(2),), [3.0, 3.0]),
    ],
    ids=["floating point alone", "a parameter arrives as one", "changed in place"],
)
def test_arguments_have_their_gradients(
    serve: Serve, text: str, arguments: Any, gradients: list[float]
) -> None:
    """A mask or a whole number has none; what the student's code receives is no leaf for torch."""
    reply = serve(text).call("f", *arguments, cotangent=torch.ones(2))
    found = {key: value.tolist() for key, value in reply.gradients["arguments"].items()}
    assert found == {"0": gradients}
    assert reply.header["changed"] == (["0"] if "*=" in text else [])


# Failures.


SENTENCE = "'01_first/one: not attempted yet'"
SENTINEL = f"raise NotImplementedError({SENTENCE})"


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (SENTINEL, "not_attempted"),
        (f"if a:\n        {SENTINEL}\n    return 1", "not_attempted"),
        (f"a = 1\n    {SENTINEL}\n\n\nb = 1", "not_attempted"),
        ("raise NotImplementedError", "exception"),
        (SENTINEL.replace(" yet", ""), "exception"),
        (SENTINEL.replace("yet", "yet!"), "exception"),
        (SENTINEL.replace("NotImplemented", "Runtime"), "exception"),
        ("next(iter(f for f in [__import__('torch').nn.Module()]))(1)", "exception"),
        (f"{SENTINEL}\n    return 1", "exception"),
        (f"if a:\n        {SENTINEL}\n        return 1", "exception"),
        (f"raise NotImplementedError(\n        {SENTENCE}\n    )\n    return 1", "exception"),
    ],
)
def test_only_the_stubs_own_sentinel_is_not_attempted(serve: Serve, body: str, kind: str) -> None:
    """Not another text or type, nor a library's; above code that can never run it is an attempt.

    The answer names the exercise of the stub.
    """
    failure = serve(f"def f(a=True):\n    {body}\n").call("f").failure
    assert failure["kind"] == kind
    assert kind == "exception" or failure["message"] == "01_first/one"


@pytest.mark.parametrize("statement", ["raise ", "CONFIG = "])
def test_a_constant_that_is_not_written_yet_is_not_attempted(serve: Serve, statement: str) -> None:
    """Its stub makes it an exception, which is not raised; earlier stubs raised it."""
    error = 'NotImplementedError("01_first/CONFIG: not attempted yet")'
    conversation = serve(f"{statement}{error}\nA = 1\n")
    failure = conversation.get("CONFIG").failure
    assert (failure["kind"], failure["message"]) == ("not_attempted", "01_first/CONFIG")
    assert conversation.get("OTHER").failure == {"kind": "missing", "message": "OTHER"}


def test_an_answer_whose_parts_raise_is_an_exception(serve: Serve) -> None:
    """Reading a value may run the student's code."""
    text = (
        "from collections import UserDict\n\n\nclass Odd(UserDict):\n"
        "    def items(self):\n        raise ValueError('no')\n\n\ndef f():\n    return Odd()\n"
    )
    failure = serve(text).call("f").failure
    assert (failure["type"], failure["where"]["text"]) == ("ValueError", "raise ValueError('no')")


def test_after_forgetting_instances_are_gone_and_numbered_anew(serve: Serve) -> None:
    """The file stays loaded."""
    conversation = serve(LAYER)
    layer = conversation.call("Layer").value
    assert conversation.ask("forget").header == {"output": ""}
    assert conversation.call(layer, torch.ones(1, 2)).failure["message"] == "no instance 1"
    assert conversation.call("Layer").value == layer


def test_instances_are_numbered_from_where_the_servant_is_told() -> None:
    """So that a later process never takes an earlier one's reference for its own."""
    servant = Servant(first=5_000)
    source = {"module": "a", "display": "a.py", "cells": [[None, "class A: ..."]]}
    servant.reply(Frame({"verb": "sources", "sources": {"a.py": source}}))
    call = {"verb": "call", "source": "a.py", "name": "A", "args": [], "kwargs": {}}
    assert servant.reply(Frame(call)).header["value"] == {"reference": [5001, "instance", "A"]}


@pytest.mark.parametrize(
    "header",
    [
        {},
        {"verb": "dance"},
        {"verb": "open", "source": "nowhere.py"},
        {"verb": "state", "instance": 3},
        {"verb": "call"},
        {"verb": "load", "instance": 1, "values": {"tensor": []}},
    ],
    ids=str,
)
def test_a_request_that_makes_no_sense_is_answered_with_a_failure(header: dict[str, Any]) -> None:
    """The servant never raises."""
    assert Servant().reply(Frame(header)).header["failure"]["kind"] == "exception"


def test_what_is_printed_goes_into_the_answer() -> None:
    """Whatever `drain` answers, with failures too."""
    servant = Servant(drain=lambda: "text")
    assert servant.reply(Frame({"verb": "forget"})).header == {"output": "text"}
    assert servant.reply(Frame({"verb": "dance"})).header["output"] == "text"


MODULE = "from torch import nn\n\n\nclass Layer(nn.Module):\n    def __init__(self):\n"
FORWARD = "{0}def forward(self, x):\n{0}    return x\n"


@pytest.mark.parametrize(
    ("indentation", "meant"), [(" " * 8, "__init__"), ("", "module"), (None, "")]
)
def test_a_forward_that_is_no_method_of_its_class_is_found(
    serve: Serve, indentation: str | None, meant: str
) -> None:
    """Indented too far, or not at all; torch's own `NotImplementedError` is no stub's."""
    below = "" if indentation is None else FORWARD.format(indentation)
    conversation = serve(f"{MODULE}        super().__init__()\n{below}")
    failure = conversation.call(conversation.call("Layer").value, 1).failure
    assert (failure["wrote"], failure["meant"]) == ("forward" if meant else "", meant)
    assert (failure["set_at"] and failure["set_at"]["line"]) == (7 if meant else None)
    assert (failure["kind"], failure["type"]) == ("exception", "NotImplementedError")
    assert failure["message"] == 'Module [Layer] is missing the required "forward" function'


@pytest.mark.parametrize(
    ("text", "name", "line"),
    [
        ("def f(x):\n    y = (\n        x\n    ),\n    return y @ x", "y", 4),
        ("def g(x):\n    return x,\n\n\ndef f(x):\n    y = g(x)\n    return y @ x", "y", None),
        ("def f(x):\n    y = x, x\n    return y @ x", "", None),
    ],
    ids=["comma", "returned", "two values"],
)
def test_a_tuple_of_one_value_is_found_with_the_comma_that_made_it(
    serve: Serve, text: str, name: str, line: int | None
) -> None:
    """By its value where the line failed."""
    failure = serve(text).call("f", 1).failure
    assert (failure["wrote"], failure["meant"]) == (name, name)
    assert (failure["set_at"] and failure["set_at"]["line"]) == line
