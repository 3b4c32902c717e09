"""The picture of this assignment: weights before and after dropout."""

import torch
from causal_mask import WEIGHTS, lower_triangular_mask, mask_weights, renormalize_rows
from dropout import apply_dropout_mask

from grader.course.drawing import Drawing, Map, Step

WORDS = ["Your", "journey", "starts", "with", "one", "step"]

KEPT = torch.tensor(
    [
        [1, 1, 1, 1, 1, 1],
        [0, 1, 0, 0, 0, 0],
        [0, 0, 1, 0, 1, 0],
        [1, 1, 0, 0, 0, 1],
        [1, 0, 0, 0, 0, 1],
        [0, 1, 0, 0, 0, 0],
    ]
)
"""The example's draw, which would differ on another processor."""


def picture() -> Drawing:
    """Which weights stay, and how they grow."""
    weights = renormalize_rows(mask_weights(WEIGHTS, lower_triangular_mask(6)))
    dropped = apply_dropout_mask(weights, KEPT.bool(), 0.5)
    stay = [tuple(place) for place in dropped.nonzero().tolist()]
    most = float(dropped.max())
    return Drawing(
        "Dropped weights are 0, kept ones are doubled",
        [
            [
                Map(
                    "Before",
                    weights.tolist(),
                    rows=WORDS,
                    columns=WORDS,
                    marked=stay,
                    sums="sum",
                    most=most,
                ),
            ],
            Step("p = 0.5: what is marked is kept, times 2 (before rounding)"),
            [
                Map(
                    "After",
                    dropped.tolist(),
                    rows=WORDS,
                    columns=WORDS,
                    marked=stay,
                    sums="sum",
                    most=most,
                ),
            ],
        ],
        "After one draw the rows no longer sum to 1; on average over many draws they do. The "
        "next draw keeps others; outside of training nothing is dropped.",
    )
