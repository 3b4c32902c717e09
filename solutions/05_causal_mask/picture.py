"""The picture of this assignment: scores before and after the mask, and the weights."""

import torch
from causal_mask import causal_weights, mask_scores, upper_triangular_mask
from self_attention import INPUTS, SelfAttention_v2

from grader.course.drawing import Drawing, Map, Step

WORDS = ["Your", "journey", "starts", "with", "one", "step"]


def picture() -> Drawing:
    """What a mask hides, and what the softmax makes of it."""
    torch.manual_seed(789)
    layer = SelfAttention_v2(3, 2)
    scores = (layer.W_query(INPUTS) @ layer.W_key(INPUTS).T).detach()
    masked = mask_scores(scores, upper_triangular_mask(6))
    weights = causal_weights(scores, 2)
    most = float(scores.abs().max())
    return Drawing(
        "The second way: no word looks ahead",
        [
            [Map("Scores", scores.tolist(), rows=WORDS, columns=WORDS)],
            Step("minus infinity above the diagonal"),
            [Map("Masked scores", masked.tolist(), rows=WORDS, columns=WORDS, most=most)],
            Step("scaled, softmax of each row"),
            [Map("Weights", weights.tolist(), rows=WORDS, columns=WORDS, sums="sum")],
        ],
        'The softmax makes 0 of each −∞. "Your" sees itself alone, "step" sees all six, and '
        "each row still sums to 1.",
    )
