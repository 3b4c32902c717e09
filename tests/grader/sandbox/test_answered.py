"""Tests of what stands for code that is answered from outside: it computes as the original would."""

import inspect

import pytest
import torch
from torch import nn

from grader.sandbox.answered import answer, as_declared, stand_in
from grader.sandbox.wire import Frame, Packer


class Part(nn.Module):
    """Something to learn, something kept, and a little chance."""

    def __init__(self, d_in, d_out, dropout=0.0):
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(d_in, d_out), nn.Dropout(dropout))
        self.register_buffer("scale", torch.tensor([2.0]), persistent=False)

    def forward(self, x, start=None):
        """A tensor, and what is kept in it for the next call."""
        result = self.inner(x) * self.scale
        return result, {"kept": (result if start is None else start + result, None, 3)}


def mixed(x, mask):
    """Two tensors of one, a tensor of truth values, and a text."""
    return [x.masked_fill(mask, 0.0) * 2, mask.logical_not(), "text"]


def refuses(x):
    """No tensor is right."""
    raise ValueError(f"{len(x)} are too many")


OWN = {"Part": Part, "mixed": mixed, "refuses": refuses}


@pytest.fixture
def asked():
    """The questions that were asked."""
    return []


@pytest.fixture
def ask(asked):
    """Answers a question as the process of the solutions does."""

    def reply(question):
        asked.append(question)
        packer = Packer()
        target = OWN[question.header["name"]]
        try:
            header = answer(target, question.header, question.payload, packer)
        except ValueError as error:
            return Frame({"failure": {"type": "ValueError", "message": str(error)}})
        return Frame(header, packer.payload())

    return reply


@pytest.fixture
def part(ask):
    """What stands for the class."""
    return stand_in("Part", ["d_in", "d_out", "dropout"], Part, ask)


def test_a_function_answers_and_gradients_reach_its_arguments(ask):
    """Through what comes back, as through the function itself; what is no number of theirs is kept."""
    x, mask = torch.randn(2, 3), torch.tensor([[True, False, False]] * 2)
    answered = stand_in("mixed", ["x", "mask"], mixed, ask)
    results = []
    for function in (mixed, answered):
        leaf = x.clone().requires_grad_()
        values = function(leaf * 3, mask=mask)
        (values[0] * torch.arange(6.0).reshape(2, 3)).sum().backward()
        results.append((values[0].tolist(), values[1].tolist(), values[2], leaf.grad.tolist()))
    assert results[0] == results[1]
    assert not answered(x, mask)[0].requires_grad


def test_an_exception_of_the_solutions_is_raised_where_it_was_asked(ask):
    """With its type, where Python knows it, and its words."""
    with pytest.raises(ValueError, match=r"^2 are too many$"):
        stand_in("refuses", ["x"], refuses, ask)(torch.ones(2))


def test_while_a_file_is_loaded_the_original_is_called(ask, asked):
    """What a file shows of itself asks nobody, however large it is."""
    loading = [True]
    double = stand_in("double", ["x"], lambda x: x + x, ask, lambda: bool(loading))
    part = stand_in("Part", ["d_in", "d_out", "dropout"], Part, ask, lambda: bool(loading))
    assert (double(3), type(part(3, 2)), asked) == (6, Part, [])
    loading.clear()
    made = part(3, 2)
    assert (type(made), len(asked)) == (part, 1)


def test_an_instance_begins_with_the_same_numbers(part):
    """From the same seed, and what is drawn after it is the same as well."""
    found = []
    for kind in (Part, part):
        torch.manual_seed(7)
        made = kind(3, 2)
        found.append(([p.tolist() for p in made.parameters()], torch.rand(2).tolist()))
    assert found[0] == found[1]


def test_an_instance_has_the_names_of_the_solutions_parameters(part):
    """It is an ordinary module: it can be counted, given parameters and told to train."""
    made, right = part(3, d_out=2), Part(3, 2)
    shapes, expected = ([(n, p.shape) for n, p in one.named_parameters()] for one in (made, right))
    assert (shapes, list(made.state_dict())) == (expected, list(right.state_dict()))
    made.load_state_dict(right.state_dict())
    x = torch.randn(4, 3)
    assert torch.equal(made.eval()(x)[0], right.eval()(x)[0])
    assert (type(made).__name__, made.scale.tolist()) == ("Part", [2.0])


@pytest.mark.parametrize("training", [True, False])
def test_gradients_reach_its_parameters(part, training):
    """Through nested values and what an earlier call gave, with the same weights dropped."""
    right = Part(3, 2, 0.5).train(training)
    made = part(3, 2, 0.5).train(training)
    made.load_state_dict(right.state_dict())
    found = []
    for layer in (right, made):
        torch.manual_seed(5)
        x = torch.arange(12.0).reshape(4, 3).requires_grad_()
        first, state = layer(x)
        second, state = layer(x * 2, start=state["kept"][0])
        (state["kept"][0] ** 2).sum().backward()
        gradients = [leaf.grad for leaf in (x, *layer.parameters())]
        found.append([one.tolist() for one in (first, second, *gradients)] + [state["kept"][1:]])
    assert found[0] == found[1]


def test_of_a_model_that_has_only_shapes_nothing_but_shapes_is_sent(part, asked):
    """On the device "meta" a model of any size is made in a moment."""
    with torch.device("meta"):
        made = part(50_000, 4_000)
    assert sum(p.numel() for p in made.parameters()) == 50_000 * 4_000 + 4_000
    assert all(p.is_meta for p in made.parameters())
    assert len(asked[0].payload) < 10_000


@pytest.mark.parametrize(
    ("own", "args", "kwargs", "expected"),
    [
        (lambda d_in, d_out: 0, (3, 2), {}, {"d_in": 3, "d_out": 2}),
        (lambda d_out, d_in: 0, (3, 2), {}, {"d_in": 2, "d_out": 3}),
        (lambda width, height: 0, (3,), {"height": 2}, {"d_in": 3, "d_out": 2}),
        (lambda d_out, width: 0, (3, 2), {}, {"d_in": 2, "d_out": 3}),
        (lambda d_in, d_out, more=1: 0, (3, 2, 1), {}, {"d_in": 3, "d_out": 2}),
    ],
)
def test_a_call_of_the_students_becomes_one_of_the_solutions(own, args, kwargs, expected):
    """By name, and what has another name in order; what the solution lacks is left out."""
    found = as_declared(inspect.signature(own), ["d_in", "d_out"], args, kwargs)
    assert found == ([], expected)


def test_a_call_that_the_students_own_would_refuse_is_refused(part, asked):
    """As Python words it, and nothing is asked."""
    with pytest.raises(TypeError, match="missing a required argument: 'd_out'"):
        part(3)
    assert asked == []
