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
    lines = [f"        {line}" for line in init.strip().splitlines()]
    start = ["        super().__init__()"] if base != "object" else []
    return "\n".join(
        [
            "import torch",
            "from torch import nn",
            f"class Layer({base}):",
            "    def __init__(self):",
            *start,
            *lines,
            "    def forward(self, x):",
            f"        {forward}",
            "",
        ]
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
    """In plain attributes, lists, tuples and mappings, and in the parts of the module."""
    conversation, instance = made(
        "self.mask = torch.ones(2)\n"
        "self.heads = [nn.Linear(1, 1), nn.Dropout()]\n"
        "self.pair = (torch.ones(1), 5)\n"
        "self.named = {'w': torch.ones(1)}\n"
        "self.part = nn.Identity()\n"
        "self.part.cache = torch.ones(1)\n"
        "self.size = 3"
    )
    assert conversation.state(instance)["loose"] == {
        "mask": "tensor",
        "heads.0": "torch.nn.modules.linear.Linear",
        "heads.1": "torch.nn.modules.dropout.Dropout",
        "pair.0": "tensor",
        "named.w": "tensor",
        "part.cache": "tensor",
    }


def test_heads_in_lists_of_lists_are_loose_too(made: Any) -> None:
    """However deep a plain list hides them."""
    conversation, instance = made("self.heads = [[nn.Linear(1, 1)], {'v': (torch.ones(1),)}]")
    assert conversation.state(instance)["loose"] == {
        "heads.0.0": "torch.nn.modules.linear.Linear",
        "heads.1.v.0": "tensor",
    }


def test_the_state_of_a_plain_object_is_what_lies_in_its_attributes(made: Any) -> None:
    """A class that is no module holds loose tensors only."""
    conversation, instance = made("self.W = torch.ones(2)\nself.n = 1", base="object")
    assert conversation.state(instance) == {
        "parameters": {},
        "buffers": {},
        "loose": {"W": "tensor"},
        "aliases": [],
        "training": False,
        "modules": {},
        "classes": {},
        "anew": [],
        "shared": [],
        "output": "",
    }


def test_the_mode_is_part_of_the_state(made: Any) -> None:
    """As the last call left it."""
    conversation, instance = made("pass")
    conversation.call(instance, 1, training=False)
    assert conversation.state(instance)["training"] is False


# Loading.

LINEARS = "self.W_query = nn.Linear(2, 3)\nself.out = nn.Linear(3, 2, bias=False)"


def test_loaded_values_are_the_ones_that_count(made: Any) -> None:
    """What is given is used; what is not is told."""
    conversation, instance = made(LINEARS, "return self.W_query(x)")
    values = {"W_query__weight": torch.ones(3, 2), "W_query__bias": torch.zeros(3)}
    assert conversation.load(instance, **values) == {
        "report": {"W_query.weight": "loaded", "W_query.bias": "loaded"},
        "not_given": ["out.weight"],
        "names": {name: name for name in ("W_query.weight", "W_query.bias")},
        "output": "",
    }
    assert conversation.call(instance, torch.tensor([1.0, 2.0])).value.tolist() == [3.0] * 3


def test_a_unique_suffix_of_a_name_is_enough(made: Any) -> None:
    """Whole parts of it, that is."""
    conversation, instance = made("self.inner = nn.Sequential(nn.Linear(2, 3))")
    report = conversation.load(
        instance,
        bias=torch.zeros(3),
        eight=torch.zeros(3, 2),
        inner__0__weight=torch.zeros(3, 2),
    )
    assert report["report"] == {
        "bias": "loaded",
        "eight": "missing",
        "inner.0.weight": "loaded",
    }


def test_a_suffix_of_several_names_is_ambiguous_and_loads_nothing(made: Any) -> None:
    """Which one is meant cannot be known."""
    conversation, instance = made(LINEARS)
    before = conversation.state(instance)["parameters"]
    report = conversation.load(instance, weight=torch.zeros(3, 2))
    assert (report["report"], report["not_given"]) == (
        {"weight": "ambiguous"},
        ["W_query.weight", "W_query.bias", "out.weight"],
    )
    after = conversation.state(instance)["parameters"]
    assert all(torch.equal(before[name], after[name]) for name in before)


def test_a_whole_name_is_never_ambiguous(made: Any) -> None:
    """Although it ends another name, too."""
    conversation, instance = made(
        "self.W = nn.Parameter(torch.ones(1))\n"
        "self.part = nn.Module()\n"
        "self.part.W = nn.Parameter(torch.ones(1))"
    )
    assert conversation.load(instance, W=torch.zeros(1))["not_given"] == ["part.W"]


def test_a_wrong_shape_is_told_with_the_instances_own(made: Any) -> None:
    """And nothing is loaded there."""
    conversation, instance = made("self.W = nn.Parameter(torch.ones(2, 3))", "return self.W")
    report = conversation.load(instance, W=torch.zeros(3, 2))
    assert report["report"] == {"W": "wrong shape (2, 3)"}
    assert conversation.call(instance, 1).value.sum().item() == 6.0


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


def test_a_shared_parameter_is_given_once_for_all_its_names(made: Any) -> None:
    """Its other names count as given."""
    conversation, instance = made(
        "self.a = nn.Linear(2, 2, bias=False)\nself.b = self.a", "return self.b(x)"
    )
    report = conversation.load(instance, a__weight=torch.zeros(2, 2))
    assert (report["report"], report["not_given"]) == ({"a.weight": "loaded"}, [])
    assert conversation.call(instance, torch.ones(2)).value.tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    ("init", "use"),
    [
        ("self.W = torch.ones(2)", "self.W"),
        ("self.W = torch.ones(2, requires_grad=True)", "self.W"),
        ("self.all = {'W': torch.ones(2)}", "self.all['W']"),
        ("self.part = nn.Identity()\nself.part.W = torch.ones(2)", "self.part.W"),
        ("self.heads = [nn.Module()]\nself.heads[0].W = nn.Parameter(torch.ones(2))",
         "self.heads[0].W"),
    ],
    ids=["attribute", "with gradient", "mapping", "part", "module in a list"],
)  # fmt: skip
def test_loose_tensors_are_given_values_too(made: Any, init: str, use: str) -> None:
    """What is stored in the wrong way is still judged by what it computes."""
    conversation, instance = made(init, f"return {use} * x")
    report = conversation.load(instance, W=torch.full((2,), 5.0))
    assert report["report"] == {"W": "loaded"}
    assert conversation.call(instance, torch.ones(2)).value.tolist() == [5.0, 5.0]


def test_a_loose_tensor_that_requires_a_gradient_still_does_when_loaded(made: Any) -> None:
    """Values and dtype are given, nothing else is changed."""
    conversation, instance = made("self.W = torch.ones(2, requires_grad=True)", "return self.W")
    conversation.load(instance, W=torch.zeros(2))
    assert conversation.call(instance, 1).value.requires_grad


def test_tensors_in_a_plain_tuple_are_given_values_too(made: Any) -> None:
    """A tuple cannot be changed, what it holds can."""
    conversation, instance = made(
        "self.pair = (torch.ones(2), torch.ones(2))", "return self.pair[0]"
    )
    assert conversation.load(instance, pair__0=torch.zeros(2))["report"] == {"pair.0": "loaded"}
    assert conversation.call(instance, 1).value.tolist() == [0.0, 0.0]


def test_a_plain_object_is_given_values_too(made: Any) -> None:
    """A class that is no module has no parameters that were not given."""
    conversation, instance = made("self.W = torch.ones(2)", "return self.W", base="object")
    report = conversation.load(instance, W=torch.zeros(2), V=torch.zeros(2))
    assert (report["report"], report["not_given"]) == ({"W": "loaded", "V": "missing"}, [])
    assert conversation.call(instance, 1).value.tolist() == [0.0, 0.0]


def test_a_frozen_parameter_stays_frozen(made: Any) -> None:
    """Loading changes values and dtype, nothing else."""
    conversation, instance = made("self.W = nn.Parameter(torch.ones(2), requires_grad=False)")
    conversation.load(instance, W=torch.zeros(2))
    assert conversation.state(instance)["parameters"]["W"].requires_grad is False


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
