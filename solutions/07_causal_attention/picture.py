"""The picture of this assignment: a batch on its way through the layer, and the mask cut to size."""

from causal_attention import INPUTS, CausalAttention, stack_batch

from grader.course.drawing import Box, Drawing, Gap

TOKENS = 4
"""A text shorter than the layer allows."""


def picture() -> Drawing:
    """The shapes of two texts of four tokens each."""
    layer = CausalAttention(3, 2, 6, 0.0)
    batch = stack_batch(INPUTS[:TOKENS], 2)
    queries = layer.W_query(batch)
    scores = queries @ layer.W_key(batch).transpose(1, 2)
    (mask,) = layer.buffers()
    return Drawing(
        "Two texts at once, each with scores of its own",
        [
            [Box("inputs", f"(b, num_tokens, d_in) = {tuple(batch.shape)}")],
            [
                Box("queries", str(tuple(queries.shape)), of=["inputs"]),
                Box("keys", str(tuple(queries.shape)), of=["inputs"]),
                Box("values", str(tuple(queries.shape)), tint="orange", of=["inputs"]),
            ],
            [
                Box(
                    "scores",
                    str(tuple(scores.shape)),
                    "a square for each text",
                    "blue",
                    2,
                    of=["queries", "keys"],
                ),
                Gap(),
            ],
            [
                Box(
                    "masked scores",
                    str(tuple(scores.shape)),
                    f"the mask is a buffer of {tuple(mask.shape)}; its first {TOKENS} rows and "
                    "columns are used for both texts",
                    "blue",
                    2,
                    of=["scores"],
                ),
                Gap(),
            ],
            [
                Box(
                    "weights",
                    str(tuple(scores.shape)),
                    "scaled, softmax, dropout",
                    "blue",
                    2,
                    of=["masked scores"],
                ),
                Gap(),
            ],
            [
                Box(
                    "context vectors",
                    f"(b, num_tokens, d_out) = {tuple(layer(batch).shape)}",
                    of=["weights", "values"],
                ),
            ],
        ],
        "b is the number of texts. No product mixes one text with the other.",
    )
