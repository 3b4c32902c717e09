"""The picture of this assignment: the weights of five tokens at once, and of the last two after three."""

import torch
from masks import causal_mask

from grader.course.drawing import Drawing, Map, Step

WORDS = ["Your", "journey", "starts", "with", "one"]
INPUTS = torch.tensor(
    [
        [0.43, 0.15, 0.89],  # Your
        [0.55, 0.87, 0.66],  # journey
        [0.57, 0.85, 0.64],  # starts
        [0.22, 0.58, 0.33],  # with
        [0.77, 0.25, 0.10],  # one
    ]
)


def weights(num_past: int) -> list[list[float | None]]:
    """The weights of all tokens behind the past, by plain dot products; None where there is none."""
    new = INPUTS[num_past:]
    mask = causal_mask(len(new), len(INPUTS))
    found = torch.softmax((new @ INPUTS.T).masked_fill(~mask, -torch.inf), dim=-1)
    return [
        [value if is_used else None for value, is_used in zip(*rows, strict=True)]
        for rows in zip(found.tolist(), mask.tolist(), strict=True)
    ]


def picture() -> Drawing:
    """The weights of a whole text, and those of its new tokens alone."""
    return Drawing(
        "New tokens need their own rows, and the keys and values of all",
        [
            [Map("Five tokens at once", weights(0), rows=WORDS, columns=WORDS)],
            Step("three tokens are in the cache, and two are new"),
            [Map("The two new tokens", weights(3), rows=WORDS[3:], columns=WORDS)],
        ],
    )
