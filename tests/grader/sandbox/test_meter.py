"""What a call costs, by the operations that torch computes."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

from grader.sandbox.meter import metered

X = torch.ones(2, 3, 4)
HEADS = torch.ones(2, 2, 5, 4)
WEIGHT = torch.nn.Parameter(torch.ones(5, 4))

Function = Callable[[], Any]


def cost_of(function: Function) -> dict[str, Any]:
    """What was counted while a function ran."""
    with metered() as meter:
        function()
    return meter.header()


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda: X[0] @ X[0].T, 36),
        (lambda: X @ X.mT, 72),
        (lambda: torch.einsum("bij,bkj->bik", X, X), 72),
        (lambda: torch.einsum("ij,j->ij", X[0], X[0, 0]), 12),
        (lambda: X[0] @ X[0, 0], 12),
        (lambda: X[0, 0] @ X[0, 0], 4),
        (lambda: X[0, 0] @ X[0].T, 12),
        (lambda: functional.linear(X, WEIGHT, torch.zeros(5)), 120),
        (lambda: torch.baddbmm(torch.zeros(2, 3, 3), X, X.mT), 72),
        (lambda: functional.scaled_dot_product_attention(HEADS, HEADS, HEADS), 900),
        (lambda: X * X + X / 2, 48),
        (lambda: X.clone().mul_(2), 24),
        (lambda: X.softmax(-1), 24),
        (lambda: torch.vmap(lambda a: a @ a.T)(X), 72),
        (lambda: X.exp().cumsum(0).tril().transpose(0, 1).contiguous(), 0),
    ],
)
def test_multiplications_are_counted_by_formulas(function: Function, expected: int) -> None:
    """Where torch computes in one piece, and where it takes a function apart."""
    cost = cost_of(function)
    assert (cost["multiplications"], cost["unknown"]) == (expected, [])


def test_the_same_is_counted_where_torch_keeps_no_gradients() -> None:
    """There it does not take a function apart by itself."""
    with torch.inference_mode():
        cost = cost_of(lambda: functional.linear(X, WEIGHT.detach()))
    assert (cost["multiplications"], cost["unknown"]) == (120, [])


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda: functional.conv1d(X, torch.ones(2, 3, 1)), ["convolution"]),
        (lambda: torch.cdist(X, X), ["cdist_forward"]),
        (lambda: X.tolist(), ["tolist"]),
        (lambda: X.numpy(), ["numpy"]),
        (lambda: X.sum().item(), ["item"]),
        (lambda: bool((X > 0).all()), []),
        (lambda: torch.arange(3).tolist(), []),
        (lambda: X.clone().masked_fill_(X > 0, 0.0).abs_().gt_(1), []),
    ],
)
def test_what_nobody_has_counted_is_named(function: Function, expected: list[str]) -> None:
    """Operations without a formula, and numbers that leave torch; not a condition or an index."""
    assert cost_of(function)["unknown"] == expected


def test_the_largest_tensor_and_the_operations_are_those_that_were_made() -> None:
    """A view makes no numbers; what was given is not made."""
    cost = cost_of(lambda: X.expand(9, 2, 3, 4).transpose(0, 1)[:, 0].sum(0).mT.reshape(4, 3) + 1)
    assert (cost["largest"], cost["operations"]) == (12, 2)
    assert cost_of(lambda: torch.tensor([1.0, 2.0]))["largest"] == 2


def test_what_is_kept_for_a_backward_pass_counts_once() -> None:
    """Not what was given; and not what a checkpoint computes again."""

    def twice(x: torch.Tensor) -> torch.Tensor:
        return (x.exp() * x).exp()

    x = torch.ones(3, 4, requires_grad=True)
    kept = cost_of(lambda: twice(x))["saved"]
    again = cost_of(lambda: checkpoint(twice, x, use_reentrant=False))["saved"]
    with torch.no_grad():
        nothing = cost_of(lambda: twice(x))["saved"]
    assert (kept, again, nothing) == (24, 0, 0)
