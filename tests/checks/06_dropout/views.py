"""What right code of this assignment lets a student see: weights that are dropped."""

import torch

from grader.testing import N_, view

from ..views import example_scores, square


@view(
    "dropout",
    N_("Weights in training"),
    look=N_(
        "What is dropped is 0, what is kept is 1 / (1 - p) times as large. A row sums to 1 only on "
        "average over many draws."
    ),
    ask=N_("Which row changed most, and what does its word lose for this one step?"),
    moves={"p": [0, 0.1, 0.5, 0.9]},
)
def dropped(student, text, heat, p):
    """The weights after dropout, and the sums of their rows."""
    weights = torch.softmax(example_scores(text), 1)
    value = student.call("dropout", weights, p, True, seed=123).value
    value = heat.tensor(value, *weights.shape)
    sums = heat(value.sum(1)[:, None], rows=text.words, columns=[heat.words(N_("sum"))])
    return [square(heat, value, text), sums]
