"""The picture of this assignment: two heads written out, joined, and brought back to size."""

import torch
from explicit_heads import KEYS, QUERIES, MultiHeadAttention, head_output, join_heads

from grader.course.drawing import Box, Drawing


def picture() -> Drawing:
    """The shapes of four tokens on their way through two heads."""
    layer = MultiHeadAttention(embed_dim=3, head_dim=2, num_heads=2)
    tokens = torch.ones(len(QUERIES), 3)
    output = head_output(QUERIES, KEYS, KEYS)
    weight = layer.out_proj.weight.T
    joined = torch.cat([output, output], dim=-1)
    result = join_heads([output, output], weight)
    return Drawing(
        "Each head computes its own, then all are joined",
        [
            [Box("tokens", f"(num_tokens, embed_dim) = {tuple(tokens.shape)}")],
            [
                Box(
                    name,
                    str(tuple(output.shape)),
                    "`softmax(Q Kᵀ) V`",
                    tint,
                    of=["tokens"],
                )
                for name, tint in (("first head", "blue"), ("second head", "orange"))
            ],
            [
                Box(
                    "joined along the features",
                    f"(num_tokens, num_heads · head_dim) = {tuple(joined.shape)}",
                    of=["first head", "second head"],
                ),
            ],
            [
                Box(
                    "output",
                    f"(num_tokens, embed_dim) = {tuple(result.shape)}",
                    f"times the output weight, {tuple(weight.shape)}",
                    of=["joined along the features"],
                ),
            ],
        ],
        "The same as in 08 and 09 in other words: embed_dim is d_in, q_proj is W_query. There is "
        "no mask, no axis for a batch and no scaling: step 3 also divides the scores by √head_dim.",
    )
