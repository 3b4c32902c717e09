"""The picture of this assignment: scores of a padded text, its mask, and the weights."""

import torch
from masks import masked_softmax, padding_mask
from simple_attention import INPUTS

from grader.course.drawing import Drawing, Map, Step

PLACES = ["Your", "journey", "starts", "with", "(5)", "(6)"]
WORDS = 4


def picture() -> Drawing:
    """What a padding mask hides, and what is left."""
    padded = torch.cat((INPUTS[:WORDS], torch.zeros(2, 3)))
    scores = padded @ padded.T
    mask = padding_mask(torch.tensor([WORDS]), 6)
    weights = masked_softmax(scores[None], mask)[0]
    how = {"rows": PLACES[:WORDS], "columns": PLACES}
    return Drawing(
        "Padding has no weight",
        [
            [Map("Scores", scores[:WORDS].tolist(), **how)],
            Step("hidden where the mask is 0 (False)"),
            [Map("The mask, one row for all queries", mask[0].float().tolist(), columns=PLACES)],
            Step("softmax of each row"),
            [Map("Weights", weights[:WORDS].tolist(), **how, sums="sum")],
        ],
        "Places 5 and 6 are padding. One row of the mask holds for all queries: it hides keys, "
        "and each row of weights still sums to 1.",
    )
