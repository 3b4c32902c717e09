"""Assignment 07 in steps: a slip that comes along from the step before is paid for there."""

import pytest

from grader.core.records import Outcome
from tests.course.conftest import Answer

BATCHED, MASKED, CAUSAL = "BatchAttention", "MaskedAttention", "CausalAttention"
ROOTS = ("k.shape[-1] ** 0.5", "key.shape[-1] ** 0.5", "keys.shape[-1] ** 0.5")
UNSCALED = tuple((root, "1") for root in ROOTS)
KEYS = (
    ("dim=-1) @ v\n", "dim=-1) @ k\n"),
    ("weights @ value", "weights @ key"),
    ("kept @ values", "kept @ keys"),
)
BIASES = tuple((f"d_out, {how})", "d_out)") for how in ("qkv_bias", "bias=qkv_bias"))
SEEN = (("torch.triu(ones, 1)", "torch.triu(ones, 2)"), ("triu(diagonal=1)", "triu(diagonal=2)"))
PLAIN = tuple(
    (f'self.register_buffer("mask", {mask})', f"self.mask = {mask}")
    for mask in ("torch.triu(ones, 1).bool()", "future")
)
SEED = "        super().__init__()\n"


@pytest.mark.parametrize(
    ("edits", "paid", "later"),
    [
        pytest.param(UNSCALED, BATCHED, (MASKED, CAUSAL), id="scale"),
        pytest.param(KEYS, BATCHED, (MASKED,), id="keys"),
        pytest.param(BIASES, BATCHED, (MASKED, CAUSAL), id="bias"),
        pytest.param(
            [(SEED, f"{SEED}        torch.manual_seed(1)\n")], BATCHED, (MASKED, CAUSAL), id="seed"
        ),
        pytest.param(SEEN, MASKED, (CAUSAL,), id="mask"),
        pytest.param(PLAIN, MASKED, (CAUSAL,), id="buffer"),
    ],
)
def test_a_slip_that_comes_along_costs_points_once(
    checked: Answer, edits: tuple[tuple[str, str], ...], paid: str, later: tuple[str, ...]
) -> None:
    """In the class where it was made, and in none that grows from it."""
    first, *more = edits
    assert checked(paid, *first, *more, hidden=True).score < checked(paid, "", "").max_score
    for name in later:
        result = checked(name, *first, *more, hidden=True)
        assert [check.id for check in result.checks if check.outcome is Outcome.FAILED] == []
        assert result.is_solved


@pytest.mark.parametrize("name", [MASKED, CAUSAL])
def test_a_slip_of_a_step_of_its_own_costs_points(checked: Answer, name: str) -> None:
    """The step before is right; a class that does not mix the tokens is none to build on."""
    ((old, new),) = (
        edit
        for edit in UNSCALED
        if edit[0].startswith("keys") == (name == CAUSAL) and edit[0] != ROOTS[0]
    )
    assert not checked(name, old, new).is_solved


def test_a_step_before_that_mixes_nothing_stands_for_none(checked: Answer) -> None:
    """Values that come back as they are cost points in every step."""
    edits = (
        ("dim=-1) @ v\n", "dim=-1) * 0 @ v + v\n"),
        ("weights @ value", "weights * 0 @ value + value"),
    )
    assert not checked(MASKED, *edits[0], edits[1]).is_solved


def test_a_step_is_judged_by_the_solution_where_the_one_before_is_missing(checked: Answer) -> None:
    """Whoever hands in the last class alone has its points."""
    missing = (("class BatchAttention", "class Other"), ("class MaskedAttention", "class Another"))
    assert checked(CAUSAL, *missing[0], missing[1]).is_solved
    result = checked(CAUSAL, "keys.shape[-1] ** 0.5", "1", *missing)
    assert not result.is_solved
