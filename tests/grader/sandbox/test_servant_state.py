"""Tests of the verbs `state` and `load`: what an instance holds, and giving it values."""

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
import torch

from grader.sandbox import module_state

Serve = Callable[..., Any]


def layer(init: str, forward: str = "return x", base: str = "nn.Module") -> str:
    """A class `Layer` of these statements."""
    lines = [*(["super().__init__()"] if base != "object" else []), *init.strip().splitlines()]
    body = "".join(f"        {line}\n" for line in lines)
    return (
        f"import torch\nfrom torch import nn\nclass Layer({base}):\n    def __init__(self):\n{body}"
        f"    def forward(self, x):\n        {forward}\n"
    )


@pytest.fixture
def made(serve: Serve) -> Callable[..., tuple[Any, Any]]:
    """A conversation, and an instance of the class `Layer` of these statements."""

    def make(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
        conversation = serve(layer(*args, **kwargs))
        return conversation, conversation.call("Layer").value

    return make


def shapes(tensors: dict[str, torch.Tensor]) -> dict[str, tuple[int, ...]]:
    """The shapes of tensors by name."""
    return {name: tuple(tensor.shape) for name, tensor in tensors.items()}


def test_the_state_of_a_module_is_its_parameters_and_buffers(made: Any) -> None:
    """By their full names; nothing is loose."""
    conversation, instance = made(
        'self.q = nn.Linear(2, 3, bias=False)\nself.register_buffer("mask", torch.ones(4))'
    )
    state = conversation.state(instance)
    assert shapes(state.pop("parameters")) == {"q.weight": (3, 2)}
    assert shapes(state.pop("buffers")) == {"mask": (4,)}
    expected = {"loose": {}, "aliases": [], "training": True, "output": "", "shared": []}
    assert state == {**expected, "modules": {"q": "Linear"}, "classes": {}, "anew": []}


def test_a_module_has_its_parts_by_every_name(made: Any) -> None:
    """Parts of parts, and one under two names, with the names of their classes."""
    conversation, instance = made(
        "self.drop = nn.Dropout()\nself.heads = nn.ModuleList([nn.Linear(1, 1), self.drop])"
    )
    assert conversation.state(instance)["modules"] == {
        "drop": "Dropout",
        "heads": "ModuleList",
        "heads.0": "Linear",
        "heads.1": "Dropout",
    }


@pytest.mark.parametrize(
    ("statement", "shared"),
    [
        ("to.w = from_.w", ["w"]),
        ("to.w = nn.Parameter(from_.w.T)", ["w"]),
        ("to.w.data = from_.w.data[:1]", ["w"]),
        ("to.w = nn.Parameter(from_.w.T.clone())", []),
        ("to.w.data.copy_(from_.w)", []),
    ],
)
def test_parameters_that_share_their_numbers_with_another_instance_are_named(
    serve: Serve, statement: str, shared: list[str]
) -> None:
    """What training changes in one of them, it changes in the other."""
    init = "self.w = nn.Parameter(torch.ones(2, 2))\nself.b = nn.Parameter(torch.ones(2))"
    conversation = serve(f"{layer(init)}\ndef share(from_, to):\n    {statement}\n")
    from_, to = (conversation.call("Layer").value for _ in range(2))
    conversation.call("share", from_, to)
    assert conversation.state(to)["shared"] == shared
    assert conversation.state(from_)["shared"] == shared


def test_one_parameter_under_two_names_is_an_alias(made: Any) -> None:
    """A head that all share shows, and both names are there."""
    conversation, instance = made(
        "head = nn.Linear(2, 3)\nself.heads = nn.ModuleList([head, head])\n"
        'self.register_buffer("a", torch.ones(1))\nself.register_buffer("b", self.a)'
    )
    state = conversation.state(instance)
    assert sorted(state["parameters"]) == [
        *("heads.0.bias", "heads.0.weight", "heads.1.bias", "heads.1.weight"),
    ]
    assert sorted(state["aliases"]) == [
        ["a", "b"],
        ["heads.0.bias", "heads.1.bias"],
        ["heads.0.weight", "heads.1.weight"],
    ]


def test_what_the_last_call_set_is_set_anew(serve: Serve) -> None:
    """A result that each call keeps, but not what the first one alone has made."""
    init = "self.before = torch.ones(1)"
    made = "self.made = getattr(self, 'made', None) or [torch.ones(1)]"
    conversation = serve(layer(init, f"self.seen = x * 2; {made}; return x"))
    instance = conversation.call("Layer").value
    found = []
    for _call in range(2):
        conversation.call(instance, torch.ones(1))
        found.append(conversation.state(instance)["anew"])
    assert found == [["seen", "made.0"], ["seen"]]


def test_tensors_and_modules_outside_of_torchs_books_are_loose(made: Any) -> None:
    """In plain attributes, lists, tuples and mappings however deep, and in the parts of the module."""
    conversation, instance = made(
        "self.mask = torch.ones(2)\n"
        "self.heads = [[nn.Linear(1, 1)], nn.Dropout(), {'v': (torch.ones(1),)}]\n"
        "self.pair = (torch.ones(1), 5)\n"
        "self.part = nn.Identity()\n"
        "self.part.cache = torch.ones(1)\n"
        "self.size = 3"
    )
    assert conversation.state(instance)["loose"] == {
        "mask": "tensor",
        "heads.0.0": "torch.nn.modules.linear.Linear",
        "heads.1": "torch.nn.modules.dropout.Dropout",
        "heads.2.v.0": "tensor",
        "pair.0": "tensor",
        "part.cache": "tensor",
    }


def test_the_state_of_a_plain_object_is_what_lies_in_its_attributes(made: Any) -> None:
    """A class that is no module holds loose tensors only."""
    conversation, instance = made("self.W = torch.ones(2)\nself.n = 1", base="object")
    state = conversation.state(instance)
    assert {name: value for name, value in state.items() if value} == {"loose": {"W": "tensor"}}


def test_the_mode_is_part_of_the_state(made: Any) -> None:
    """As the last call left it."""
    conversation, instance = made("pass")
    conversation.call(instance, 1, training=False)
    assert conversation.state(instance)["training"] is False


# Loading.

LINEARS = "self.q = nn.Linear(2, 3)\nself.out = nn.Linear(3, 2, bias=False)"
PARTS = "self.W = nn.Parameter(torch.ones(1))\nself.p = nn.Module()\nself.p.W = nn.Parameter(torch.ones(1))"
SHARED = "self.a = nn.Linear(2, 2, bias=False)\nself.b = self.a"


@pytest.mark.parametrize(
    ("init", "given", "report", "not_given", "zero"),
    [
        (LINEARS, {"q__bias": 3}, {"q.bias": "loaded"}, "q.weight out.weight", "q.bias"),
        (LINEARS, {"bias": 3}, {"bias": "loaded"}, "q.weight out.weight", "q.bias"),
        (LINEARS, {"ias": 3}, {"ias": "missing"}, "q.weight q.bias out.weight", ""),
        (LINEARS, {"weight": 3}, {"weight": "ambiguous"}, "q.weight q.bias out.weight", ""),
        (LINEARS, {"q__bias": 4}, {"q.bias": "wrong shape (3,)"}, "q.weight out.weight", ""),
        (PARTS, {"W": 1}, {"W": "loaded"}, "p.W", "W"),
        (SHARED, {"a__weight": (2, 2)}, {"a.weight": "loaded"}, "", "a.weight b.weight"),
    ],
    ids=["whole", "suffix", "no part", "ambiguous", "wrong shape", "whole is no suffix", "shared"],
)
def test_what_is_given_is_loaded_where_one_name_alone_is_meant(
    made: Any, init: str, given: dict[str, Any], report: Any, not_given: str, zero: str
) -> None:
    """By a whole name or its unique end in whole parts; what is not given is told, and stays."""
    conversation, instance = made(init)
    found = conversation.load(instance, **{name: torch.zeros(size) for name, size in given.items()})
    assert (found["report"], found["not_given"]) == (report, not_given.split())
    parameters = conversation.state(instance)["parameters"]
    assert [name for name, value in parameters.items() if not value.any()] == zero.split()


def test_the_names_that_were_meant_are_told(made: Any) -> None:
    """Each with the one that it stands for."""
    conversation, instance = made(LINEARS)
    names = conversation.load(instance, bias=torch.zeros(3))["names"]
    assert names == {"bias": "q.bias"}


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_parameters_take_the_dtype_of_what_they_are_given(made: Any, dtype: torch.dtype) -> None:
    """And gradients arrive in it."""
    conversation, instance = made("self.W = nn.Parameter(torch.ones(2))", "return self.W * x")
    ones = torch.ones(2, dtype=dtype)
    conversation.call(instance, torch.ones(2), cotangent=torch.ones(2))
    conversation.load(instance, W=2 * ones)
    reply = conversation.call(instance, ones, cotangent=ones)
    assert (reply.value.dtype, reply.gradients["parameters"]["W"].dtype) == (dtype, dtype)
    assert reply.value.tolist() == [2.0, 2.0]


@pytest.mark.parametrize(
    ("init", "use"),
    [
        ("self.W = torch.ones(2)", "self.W"),
        ("self.W = torch.ones(2, requires_grad=True)", "self.W"),
        ("self.all = {'W': torch.ones(2)}", "self.all['W']"),
        ("self.part = nn.Identity()\nself.part.W = torch.ones(2)", "self.part.W"),
        ("self.h = [nn.Module()]\nself.h[0].W = nn.Parameter(torch.ones(2))", "self.h[0].W"),
    ],
    ids=["attribute", "with gradient", "mapping", "part", "module in a list"],
)
def test_loose_tensors_are_given_values_too(made: Any, init: str, use: str) -> None:
    """What is stored in the wrong way is still judged by what it computes."""
    conversation, instance = made(init, f"return {use} * x")
    report = conversation.load(instance, W=torch.full((2,), 5.0))
    assert report["report"] == {"W": "loaded"}
    assert conversation.call(instance, torch.ones(2)).value.tolist() == [5.0, 5.0]


def test_tensors_in_a_plain_tuple_are_given_values_too(made: Any) -> None:
    """A tuple cannot be changed, what it holds can."""
    conversation, instance = made("self.pair = (torch.ones(2), 1)", "return self.pair[0]")
    assert conversation.load(instance, pair__0=torch.zeros(2))["report"] == {"pair.0": "loaded"}
    assert conversation.call(instance, 1).value.tolist() == [0.0, 0.0]


def test_a_plain_object_is_given_values_too(made: Any) -> None:
    """A class that is no module has no parameters that were not given."""
    conversation, instance = made("self.W = torch.ones(2)", "return self.W", base="object")
    report = conversation.load(instance, W=torch.zeros(2), V=torch.zeros(2))
    assert (report["report"], report["not_given"]) == ({"W": "loaded", "V": "missing"}, [])
    assert conversation.call(instance, 1).value.tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    ("init", "wants"),
    [
        ("self.W = torch.ones(2, requires_grad=True)", True),
        ("self.W = nn.Parameter(torch.ones(2), requires_grad=False)", False),
    ],
)
def test_loading_changes_values_and_dtype_and_nothing_else(
    made: Any, init: str, wants: bool
) -> None:
    """A frozen parameter stays frozen, and what requires a gradient still does."""
    conversation, instance = made(init, "return self.W")
    conversation.load(instance, W=torch.zeros(2))
    assert conversation.call(instance, 1).value.requires_grad is wants


@pytest.mark.slow
def test_gradients_import_nothing_that_takes_long() -> None:
    """Torch's own way from a cotangent imports its symbolic shapes first."""
    code = (
        "import sys, torch; from grader.sandbox.module_state import warm_up; warm_up(); "
        "sys.exit('torch.fx.experimental.symbolic_shapes' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_gradients_are_those_of_torch_to_the_bit(dtype: torch.dtype) -> None:
    """Also through a cotangent of another type, with NaN and infinities in it."""
    cotangent = torch.linspace(-2, 2, 6).reshape(2, 3)
    cotangent[0, 0], cotangent[1, 2] = torch.nan, torch.inf
    layer = torch.nn.Linear(3, 3).to(dtype)
    x = torch.arange(6.0).reshape(2, 3).to(dtype)
    torch.autograd.backward(layer(x), cotangent)
    expected = {name: parameter.grad for name, parameter in layer.named_parameters()}
    found = module_state.gradients(layer(x), cotangent, layer, {})["parameters"]
    assert {name: repr(grad.tolist()) for name, grad in found.items()} == {
        name: repr(grad.tolist()) for name, grad in expected.items()
    }
