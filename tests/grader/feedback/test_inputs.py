"""Tests of what tensors are called in messages, and of the line that draws them again."""

import pytest
import torch

from grader.feedback.inputs import Inputs
from grader.feedback.messages import call_lines
from grader.testing.draw import Draw
from grader.testing.student import Call

TEXT = torch.arange(18.0).reshape(6, 3)
INPUTS = Inputs({"INPUTS": TEXT, "ONE": torch.tensor(1.0)})


@pytest.mark.parametrize(
    ("tensor", "name"),
    [
        (TEXT.clone(), "INPUTS"),
        (TEXT[1], "INPUTS[1]"),
        (TEXT[:4], "INPUTS[:4]"),
        (torch.stack([TEXT, TEXT]), "torch.stack([INPUTS] * 2)"),
        (TEXT + 1, ""),
        (TEXT.double(), ""),
        (TEXT[1:3], ""),
        (TEXT.T, ""),
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
    drawn = [
        draw.normal(4, 5, std=0.5, dtype=torch.float64),
        draw.uniform(3, 2, low=1.0, high=2.0),
        draw.permutation(5),
    ]
    draw.normal(3, 3)
    inputs = Inputs({}, draw.number, tuple(draw.drawn))
    line, call = call_lines((Call("f", (*drawn[:2], drawn[2]), {}),), inputs)
    assert call == "f(x3, x4, x5)"
    assert "x1" not in line
    assert "(3, 3)" not in line
    found: dict[str, torch.Tensor] = {}
    exec(line, {"torch": torch}, found)
    assert all(torch.equal(found[f"x{n}"], value) for n, value in enumerate(drawn, 3))


def test_nothing_drawn_needs_no_line():
    """Nor does a check that draws too much for a line."""
    draw = Draw("visible", "a::visible::b")
    values = [draw.normal(3, 3) for _ in range(9)]
    inputs = Inputs({}, draw.number, tuple(draw.drawn))
    assert call_lines((Call("f", (values[0],), {}),), inputs) == ["f(<tensor (3, 3)>)"]
    assert call_lines((Call("f", (TEXT,), {}),), INPUTS) == ["f(INPUTS)"]
