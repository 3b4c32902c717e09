"""What students predict in this assignment, and how their code answers."""

import torch

from grader.testing import N_, prediction


@prediction(
    "causal_mask",
    N_(
        "A text has five tokens, and the queries are those of the last two. How many keys may the "
        "first of these queries use?"
    ),
    choices=[N_("1"), N_("2"), N_("4"), N_("5")],
    right=3,
    why=N_("It is the query of the fourth token: that sees itself and the three before it."),
)
def last_two(student):
    """How many keys the first of two queries sees."""
    count = int(student.call("causal_mask", 2, 5).value[0].sum())
    return [1, 2, 4, 5].index(count) + 1, ""


@prediction(
    "masked_softmax",
    N_("Every place of a text is padding. Which weights should its rows have?"),
    choices=[
        N_("NaN, since nothing can be divided"),
        N_("all the same, so that they sum to 1"),
        N_("zeros, so that nothing is mixed in"),
    ],
    right=3,
    why=N_(
        "Equal weights would mix in padding, and a NaN would spoil the loss and all gradients. With "
        "zeros, what comes out is zero, and nothing else notices."
    ),
)
def nothing_to_see(student):
    """The weights of a row in which everything is hidden."""
    scores, mask = torch.zeros(1, 1, 4), torch.zeros(1, 1, 4, dtype=torch.bool)
    weight = student.call("masked_softmax", scores, mask).value[0, 0, 0].item()
    if weight != weight:
        return 1, ""
    return (2 if weight > 0 else 3), f"{weight:g}"
