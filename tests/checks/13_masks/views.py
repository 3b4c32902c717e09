"""What right code of this assignment lets a student see: padding has no weight; the last tokens' mask."""

import torch

from grader.testing import N_, view

from ..views import example_scores, square


@view(
    "causal_mask",
    N_("What new tokens may use"),
    look=N_(
        "Each row goes one column further than the row above, and the last row goes to the end."
    ),
    ask=N_("What is left of the mask when a single token is new?"),
    moves={"num_past": [0, 1, 2, 3, 4, 5]},
)
def used(student, text, heat, num_past):
    """The mask of the words behind the first ones."""
    count = len(text.words)
    num_past = min(num_past, count - 1)
    value = student.call("causal_mask", count - num_past, count).value
    mask = heat.tensor(value, count - num_past, count).float()
    axes = (N_("new token"), N_("token"))
    return heat(mask, rows=text.words[num_past:], columns=text.words, axes=axes)


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
