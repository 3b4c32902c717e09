"""What right code of this assignment lets a student see: padding has no weight."""

import torch

from grader.testing import N_, view

from ..views import example_scores, square


@view(
    "masked_softmax",
    N_("Weights beside padding"),
    look=N_(
        "The last places are padding, and their columns are 0. Each row sums to 1, unless everything "
        "is hidden."
    ),
    ask=N_("Where does the weight go that hidden words would have had?"),
    moves={"padding": [0, 1, 2, 3]},
)
def beside_padding(student, text, heat, padding):
    """The weights with the last words hidden."""
    scores, count = example_scores(text), len(text.words)
    mask = torch.arange(count) < count - padding
    value = student.call("masked_softmax", scores[None], mask[None, None]).value
    return square(heat, heat.tensor(value, 1, count, count)[0], text)
