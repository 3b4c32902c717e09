"""Tests of what tensors are called in messages, and of the line that draws them again."""

import pytest
import torch

from grader.judging.inputs import Inputs
from grader.judging.messages import call_lines
from grader.testing.draw import Draw
from grader.testing.student import Call

TEXT = torch.arange(18.0).reshape(6, 3)
INPUTS = Inputs({"INPUTS": TEXT, "ONE": torch.tensor(1.0)})


def run(*lines):
    """What lines of a message make, with torch alone and a layer."""
    found = {"torch": torch, "Linear": torch.nn.Linear}
    exec("\n".join(lines), found)
    return found


@pytest.mark.parametrize(
    ("tensor", "name"),
    [
        (TEXT.clone(), "INPUTS"),
        (TEXT[1], "INPUTS[1]"),
        (TEXT[:4], "INPUTS[:4]"),
        (torch.stack([TEXT, TEXT]), "torch.stack([INPUTS] * 2)"),
        (TEXT + 1, ""),
        (TEXT.double(), "INPUTS.double()"),
        (TEXT.double() + 1e-9, ""),
        (TEXT[1:3], ""),
        (TEXT.T, "INPUTS.T"),
        (torch.zeros(5), "torch.zeros(5)"),
        (torch.ones(2, 3, dtype=torch.bool), "torch.ones(2, 3, dtype=torch.bool)"),
        (torch.eye(3).double(), "torch.eye(3, dtype=torch.float64)"),
        (torch.eye(4).repeat(8, 1, 1), "torch.eye(4).repeat(8, 1, 1)"),
        (torch.eye(4)[:2], ""),
        (torch.tensor(1.0), ""),
    ],
)
def test_a_tensor_is_called_by_the_name_that_the_student_knows(tensor, name):
    """The whole, a row, the beginning, several; a single number is short enough."""
    assert INPUTS.name(tensor) == name


def test_a_call_shows_the_names():
    """As the student would write it."""
    calls = (Call("attention_scores", (TEXT[1], TEXT), {"more": [TEXT]}),)
    assert call_lines(calls, INPUTS) == ["attention_scores(INPUTS[1], INPUTS, more=[INPUTS])"]


def test_what_was_drawn_can_be_drawn_again_from_one_line():
    """Whatever stood before it in the check; what came after is left out."""
    draw = Draw("visible", "a::visible::b")
    draw.normal(2, 2)
    draw.whole(1, 6)
    drawn = [draw.normal(4, 5, std=0.5, dtype=torch.float64), draw.uniform(3, 2, low=1.0, high=2.0)]
    drawn.append(draw.permutation(5))
    draw.normal(3, 3)
    inputs = Inputs({}, draw.number, tuple(draw.drawn))
    line, call = call_lines((Call("f", tuple(drawn), {}),), inputs)
    assert call == "f(x3, x4, x5)"
    assert "x1" not in line
    assert "(3, 3)" not in line
    found = run(line)
    assert all(torch.equal(found[f"x{n}"], value) for n, value in enumerate(drawn, 3))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_layer_can_be_made_again_with_the_weights_that_it_was_given(dtype):
    """All that the lines need is torch and the student's class."""
    draw = Draw("visible", "a::visible::b")
    weight, other = draw.normal(3, 2).to(dtype), draw.normal(3, 2)
    x = draw.normal(4, 2).to(dtype)
    given = {"weight": weight, "bias": torch.zeros(3, dtype=dtype)}
    calls = (
        Call("Linear", (2, 3), {}, instance=1, given=given),
        Call("Linear", (2, 3), {}, instance=2, given={"weight": other}),
        Call("Linear", (x,), {}, is_forward=True, instance=1),
    )
    lines = call_lines(calls, Inputs({}, draw.number, tuple(draw.drawn)))
    assert "torch.randn(3, 2) * 0.8; torch.randn(3, 2) * 0.8;" in lines[0]
    found = run(*lines[:-1], f"result = {lines[-1]}")
    assert torch.equal(found["result"], x @ weight.T)


def test_equal_draws_stand_together():
    """In their order: what each of them draws is what it drew."""
    draw = Draw("visible", "a::visible::b")
    drawn = [draw.normal(2, 3), draw.normal(2, 3), draw.uniform(2), draw.normal(2, 3)]
    inputs = Inputs({}, draw.number, tuple(draw.drawn))
    line, _call = call_lines((Call("f", tuple(drawn), {}),), inputs)
    together = "x1, x2 = (torch.randn(2, 3) * 0.8 for _ in range(2)); x3 = torch.rand(2); x4 = "
    assert together in line
    found = run(line)
    assert all(torch.equal(found[f"x{n}"], value) for n, value in enumerate(drawn, 1))


def test_weights_that_no_line_can_draw_are_said_to_be_the_checks():
    """So that nobody takes what the layer draws for what it had."""
    given = {"weight": torch.arange(6.0).reshape(3, 2)}
    made, run = Call("Linear", (2, 3), {}, given=given), Call("Linear", (), {}, is_forward=True)
    assert call_lines((made, run)) == [
        "model = Linear(2, 3)",
        "# then the check gives it weights of its own",
        "model()",
    ]


@pytest.mark.parametrize(
    ("tensor", "code"),
    [
        (torch.tensor([[0.4419, 0.6515]] * 4), "torch.tensor([[0.4419, 0.6515], "),
        (torch.tensor([1 / 3] * 7).double(), "torch.tensor([0.3333333432674408, "),
        (torch.tensor([0, 1] * 4, dtype=torch.bool), "torch.tensor([False, True, "),
        (torch.tensor([2, 1] * 4), "torch.tensor([2, 1, "),
        (torch.tensor([1.0, -torch.inf] * 4), "torch.tensor([1.0, -torch.inf, "),
        (torch.tensor([1e-7, 2.0] * 4), "torch.tensor([1e-07, 2.0, "),
        (torch.tensor([2, 1] * 4).to(torch.int32), "torch.tensor([2, 1, "),
    ],
)
def test_a_tensor_of_which_nothing_is_known_is_written_out(tensor, code):
    """So that the lines give what the check gave."""
    calls = (Call("f", (tensor, tensor), {}),)
    line, call = call_lines(calls, Inputs(may_write=True))
    assert (call, line.startswith(f"t1 = {code}")) == ("f(t1, t1)", True)
    found = run(line)
    assert found["t1"].dtype == tensor.dtype
    assert torch.equal(found["t1"], tensor)
    short = f"<tensor {(*tensor.shape,)}>"
    assert call_lines(calls, Inputs({})) == [f"f({short}, {short})"]


def test_names_are_counted_and_a_large_tensor_has_none():
    """Each by its own; what has a name keeps it."""
    inputs = Inputs(INPUTS.constants, may_write=True)
    values = (TEXT, TEXT + 1, (TEXT + 1).T, [TEXT + 2], torch.rand(50), torch.arange(3))
    *lines, call = call_lines((Call("f", values, {}),), inputs)
    assert [line.partition(" = ")[0] for line in lines] == ["t1", "t2"]
    assert call == "f(INPUTS, t1, t1.T, [t2], <tensor (50,)>, tensor([0, 1, 2]))"


def test_nothing_drawn_needs_no_line():
    """Nor does a check that draws too much for a line."""
    draw = Draw("visible", "a::visible::b")
    values = [draw.normal(3, 3) for _ in range(13)]
    inputs = Inputs({}, draw.number, tuple(draw.drawn))
    assert call_lines((Call("f", (values[0],), {}),), inputs) == ["f(<tensor (3, 3)>)"]
    assert call_lines((Call("f", (TEXT,), {}),), INPUTS) == ["f(INPUTS)"]
