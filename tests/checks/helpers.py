"""What the checks of several assignments share."""

import pytest
import torch

JOURNEY = 1
"""The token that the documents follow."""

FOUR_DECIMALS = 5.1e-5
"""Figures with 4 decimals: half a unit of the last digit."""


def inputs_004(printed):
    """The six tokens as 004 has them: it prints nothing, and its second token differs."""
    inputs = printed("T45").tensor.clone()
    inputs[JOURNEY, 2] = 0.64
    return inputs


class StepsWrittenOut:
    """A remark on a layer whose steps are left to torch; `shown(attempt)` makes one with tokens."""

    @pytest.mark.remark
    def test_the_steps_are_written_out(self, attempt, judge):
        """The steps should be written out, not left to a ready-made attention of torch."""
        layer, x = self.shown(attempt)
        if attempt.student.refusal(layer.own, x) is not None:
            return
        found = layer(x, operations=True).answer.operations
        is_own = not any("attention" in operation for operation in found)
        judge.that(is_own, "It calls a ready-made attention: the point is to see what that does")


def scores_of_the_text(printed):
    """The scores that the documents go on with: those of the self-attention of seed 789.

    `nn.Linear(3, 2, bias=False)` draws its weight uniformly within 1 / sqrt(3); query comes first.
    """
    generator = torch.Generator().manual_seed(789)
    bound = 3**-0.5
    query, key = (
        torch.empty(2, 3, dtype=torch.float32).uniform_(-bound, bound, generator=generator)
        for _ in range(2)
    )
    inputs = printed("T45").tensor
    return (inputs @ query.T) @ (inputs @ key.T).T


def future(num_tokens, dtype=torch.float32):
    """Ones above the diagonal."""
    return torch.ones(num_tokens, num_tokens).triu(diagonal=1).to(dtype)
