"""The picture of this assignment: heads are pieces of the features."""

import torch
from multi_head_attention import INPUTS, MultiHeadAttention, head_scores, merge_heads, split_heads

from grader.course.drawing import Box, Drawing, Map, Step

WORDS = ["Your", "journey", "starts"]


def picture() -> Drawing:
    """The features of three tokens, cut into heads and put together again."""
    torch.manual_seed(123)
    layer = MultiHeadAttention(3, 4, 6, 0.0, num_heads=2)
    batch = INPUTS[None, : len(WORDS)]
    queries = layer.W_query(batch)
    heads, keys, values = (
        split_heads(made(batch), 2) for made in (layer.W_query, layer.W_key, layer.W_value)
    )
    mask = torch.ones(len(WORDS), len(WORDS)).triu(1).bool()
    scores = head_scores(heads, keys).masked_fill(mask, -torch.inf)
    context = torch.softmax(scores / heads.shape[-1] ** 0.5, dim=-1) @ values
    merged = merge_heads(context)
    groups = ["head 0", "head 0", "head 1", "head 1"]
    return Drawing(
        "Each head works on its own piece of the features",
        [
            [
                Map(
                    "Queries",
                    queries[0].tolist(),
                    f"(b, num_tokens, d_out) = {tuple(queries.shape)}",
                    rows=WORDS,
                    groups=groups,
                ),
            ],
            Step("`view` cuts the features, `transpose` puts the heads before the tokens"),
            [
                Map("`(num_tokens, head_dim)`", heads[0, 0].tolist(), groups=groups[:2]),
                Map("`(num_tokens, head_dim)`", heads[0, 1].tolist(), groups=groups[2:]),
            ],
            [
                Box(
                    "queries of all heads",
                    "(b, num_heads, num_tokens, head_dim)",
                    str(tuple(heads.shape)),
                )
            ],
            Step("in each head: scores, mask, softmax, mixture"),
            [
                Box(
                    "context of all heads",
                    "(b, num_heads, num_tokens, head_dim)",
                    str(tuple(context.shape)),
                )
            ],
            Step("`transpose` back, `reshape`: the pieces side by side"),
            [
                Map(
                    "Merged",
                    merged[0].tolist(),
                    f"(b, num_tokens, d_out) = {tuple(merged.shape)}",
                    rows=WORDS,
                    groups=groups,
                ),
            ],
        ],
        "Cutting and merging change no number. Last, `out_proj` mixes the heads. The matrices are other "
        "random ones than in 08.",
    )
