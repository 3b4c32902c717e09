"""The picture of this assignment: four tokens on the line from which one is drawn."""

import torch

from grader.course.drawing import Drawing, Map, Step

LOGITS = torch.tensor([0.0, 1.0, 2.0, 1.0])


def picture() -> Drawing:
    """The pieces of the line at two temperatures."""
    columns = ["a", "b", "c", "d"]
    low, high = (torch.softmax(LOGITS / temperature, dim=0) for temperature in (0.5, 2.0))
    return Drawing(
        "The temperature decides how long the piece of each token is",
        [
            [Map("the logits", [LOGITS.tolist()], columns=columns)],
            Step("divided by the temperature, softmax"),
            [
                Map("temperature 0.5", [low.tolist()], columns=columns, sums="sum"),
                Map("temperature 2", [high.tolist()], columns=columns, sums="sum"),
            ],
        ],
        "Side by side the pieces are 1 long; the token on whose piece a number lies is drawn.",
    )
