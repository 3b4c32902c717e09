"""The picture of this assignment: two heads, and their results side by side."""

import torch
from multi_head_wrapper import INPUTS, MultiHeadAttentionWrapper

from grader.course.drawing import Drawing, Map, Step

WORDS = ["Your", "journey", "starts", "with", "one", "step"]


def picture() -> Drawing:
    """What each head finds, and both joined."""
    torch.manual_seed(123)
    layer = MultiHeadAttentionWrapper(3, 2, 6, 0.0, num_heads=2)
    batch = INPUTS.unsqueeze(0)
    first, second = (head(batch)[0].tolist() for head in layer.heads)
    joined = layer(batch)[0].tolist()
    names = ["first head"] * 2, ["second head"] * 2
    return Drawing(
        "Two heads look at the same words, each in its own way",
        [
            [Map("The words", INPUTS.tolist(), rows=WORDS)],
            Step("each head is a CausalAttention with matrices of its own"),
            [
                Map("Context, 2 features", first, groups=names[0]),
                Map("Context, 2 features", second, groups=names[1]),
            ],
            Step("side by side, along the features"),
            [Map("Context, 4 features", joined, rows=WORDS, groups=names[0] + names[1])],
        ],
        "Nothing is added up: the first two features are the first head's, the others the "
        "second's.",
    )
