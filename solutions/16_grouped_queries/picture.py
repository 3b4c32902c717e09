"""The picture of this assignment: two key-value heads, and what each of four heads has of them."""

import torch
from grouped_queries import repeat_kv

from grader.course.drawing import Drawing, Map, Step

FEATURES = ["feature 0", "feature 1", "feature 2"]


def picture() -> Drawing:
    """The keys of one token, before and after they are repeated."""
    keys = torch.tensor([[0.4, -1.2, 0.9], [-0.3, 0.7, 1.1]])
    repeated = repeat_kv(keys[None, :, None], 4)[0, :, 0]
    groups = ["group 0", "group 1"]
    return Drawing(
        "Neighbouring heads share keys",
        [
            [
                Map(
                    "Kept: a token's keys, once for each group",
                    keys.T.tolist(),
                    "(b, num_kv_heads, num_tokens, head_dim)",
                    rows=FEATURES,
                    groups=groups,
                )
            ],
            Step("`repeat_kv` for four heads"),
            [
                Map(
                    "What each head computes with",
                    repeated.T.tolist(),
                    "(b, num_heads, num_tokens, head_dim)",
                    rows=FEATURES,
                    columns=["head 0", "head 1", "head 2", "head 3"],
                    groups=[groups[0], groups[0], groups[1], groups[1]],
                )
            ],
        ],
        "Only the upper numbers stay in memory. Each head has queries of its own.",
    )
