"""The picture of this assignment: where the numbers of GPT-2's layer are."""

from gpt2_attention import GPT2_CONFIG, GPT2MultiHeadAttention, count_parameters

from grader.course.drawing import Box, Drawing, Gap


def picture() -> Drawing:
    """The matrices with how many numbers each has, and the heads."""
    layer = GPT2MultiHeadAttention(**GPT2_CONFIG)
    tokens, features = GPT2_CONFIG["context_length"], GPT2_CONFIG["d_out"]
    heads, size = layer.num_heads, layer.head_dim

    def learnt(name: str) -> str:
        return f"{count_parameters(getattr(layer, name)):,}"

    names = ("W_query", "W_key", "W_value")
    return Drawing(
        f"{heads} heads of {size}, and {count_parameters(layer):,} numbers to learn",
        [
            [Box("one text", f"({tokens}, {features})", "tokens, features")],
            [
                Box(
                    f"`{name}`",
                    f"{features} × {features}",
                    f"learnt: {learnt(name)}",
                    "orange",
                    of=["one text"],
                )
                for name in names
            ],
            [
                Box(
                    "weights",
                    f"({heads}, {tokens}, {tokens})",
                    f"one square for each head: {heads * tokens * tokens:,} numbers, computed "
                    "anew for each text",
                    "blue",
                    2,
                    of=["`W_query`", "`W_key`"],
                ),
                Gap(),
            ],
            [
                Box(
                    "context of all heads",
                    f"({heads}, {tokens}, {size})",
                    f"{heads} · {size} = {features} features for each token",
                    "blue",
                    of=["weights", "`W_value`"],
                ),
            ],
            [
                Box(
                    "`out_proj`",
                    f"{features} × {features} + {features}",
                    f"learnt: {learnt('out_proj')}, bias included",
                    "orange",
                    of=["context of all heads"],
                ),
            ],
        ],
        f"The mask, {tokens} × {tokens}, is not learnt: it is fixed from the start.",
    )
