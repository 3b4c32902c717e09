"""The picture of this assignment: two parts, a norm before each, a shortcut around both."""

from gpt_block import TransformerBlock

from grader.course.drawing import Box, Drawing, Gap


def picture() -> Drawing:
    """The ways through a block, with how many numbers each part learns at GPT-2's size."""
    block = TransformerBlock(768, 1024, num_heads=12)

    def learnt(name: str) -> str:
        numbers = sum(p.numel() for p in getattr(block, name).parameters())
        return f"learnt: {numbers:,}"

    return Drawing(
        "Each part reads normalised tokens, and what it finds is added",
        [
            [Box("the tokens", "(b, num_tokens, features)", span=2)],
            [Gap(), Box("`ln_1`", "(b, num_tokens, features)", learnt("ln_1"), of=["the tokens"])],
            [
                Gap(),
                Box("`attn`", "(b, num_tokens, features)", learnt("attn"), "blue", of=["`ln_1`"]),
            ],
            [
                Box(
                    "first sum",
                    "(b, num_tokens, features)",
                    "the tokens, and what attention found",
                    span=2,
                    of=["the tokens", "`attn`"],
                )
            ],
            [Gap(), Box("`ln_2`", "(b, num_tokens, features)", learnt("ln_2"), of=["first sum"])],
            [
                Gap(),
                Box(
                    "`mlp`",
                    "(b, num_tokens, features)",
                    f"4 · features inside; {learnt('mlp')}",
                    "orange",
                    of=["`ln_2`"],
                ),
            ],
            [
                Box(
                    "second sum",
                    "(b, num_tokens, features)",
                    "the first sum, and what the network found",
                    span=2,
                    of=["first sum", "`mlp`"],
                )
            ],
        ],
        "The residual stream has no norm: what came in goes on to the last block.",
    )
