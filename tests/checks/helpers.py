"""What the checks of several assignments share."""

JOURNEY = 1
"""The token that the documents follow."""

FOUR_DECIMALS = 5.1e-5
"""Figures with 4 decimals: half a unit of the last digit."""


def inputs_004(printed):
    """The six tokens as 004 has them: it prints nothing, and its second token differs."""
    inputs = printed("T45").tensor.clone()
    inputs[JOURNEY, 2] = 0.64
    return inputs
