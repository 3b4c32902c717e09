"""The picture of this assignment: the model, and the way of a token around attention."""

import torch
from train_it import FEATURES, LETTERS, NUM_HEADS, NUM_TOKENS, LetterModel

from grader.course.drawing import Box, Drawing


def picture() -> Drawing:
    """The shapes of a batch of texts on its way through the model."""
    model, size = LetterModel(), FEATURES // NUM_HEADS
    inputs = torch.zeros(64, NUM_TOKENS, dtype=torch.long)
    start = model.before_block(0, inputs)
    found = model.blocks[0].attention(start)
    one, two = (model.before_block(number, inputs) for number in (1, 2))
    scores = model(inputs)
    return Drawing(
        "In each block a token goes on, and what attention finds is added",
        [
            [Box("numbers of letters", f"(b, num_tokens) = {tuple(inputs.shape)}")],
            [
                Box(
                    "letter vectors",
                    str(tuple(model.letters.weight.shape)),
                    "learnt",
                    "orange",
                    of=["numbers of letters"],
                ),
                Box(
                    "place vectors",
                    str(tuple(model.places.weight.shape)),
                    "learnt",
                    "orange",
                ),
            ],
            [
                Box(
                    "tokens",
                    f"(b, num_tokens, features) = {tuple(start.shape)}",
                    "letter plus place",
                    of=["letter vectors", "place vectors"],
                )
            ],
            [
                Box("unchanged", str(tuple(start.shape)), "the way around", of=["tokens"]),
                Box(
                    "what attention finds",
                    str(tuple(found.shape)),
                    f"{NUM_HEADS} heads of {size}",
                    "blue",
                    of=["tokens"],
                ),
            ],
            [
                Box(
                    "after the first block",
                    str(tuple(one.shape)),
                    "the sum of both",
                    of=["unchanged", "what attention finds"],
                )
            ],
            [
                Box(
                    "after the second block",
                    str(tuple(two.shape)),
                    "the same once more, with a layer of its own",
                    "blue",
                    of=["after the first block"],
                )
            ],
            [
                Box(
                    "scores",
                    f"(b, num_tokens, {len(LETTERS)}) = {tuple(scores.shape)}",
                    "for each token a score for each letter that may come next",
                    of=["after the second block"],
                )
            ],
        ],
        "The largest score is the model's answer. Every token answers at once, and the mask keeps "
        "each from seeing what comes after it.",
    )
