"""What students predict in this assignment, and how their code answers."""

import torch

from grader.testing import N_, prediction


@prediction(
    "inputs_and_targets",
    N_("A text has 25 letters. For how many of them does it say which one comes next?"),
    choices=["1", "24", "25"],
    right=2,
    why=N_(
        "Every letter but the last is followed by one. So a model is asked 24 times in one reading, and "
        "the mask keeps each letter from seeing its answer."
    ),
)
def letters_with_an_answer(student):
    """How many targets a text of 25 letters has."""
    _, targets = student.call("inputs_and_targets", torch.arange(25)[None]).value
    return {1: 1, 24: 2, 25: 3}[targets.numel()], ""


@prediction(
    "head_weights",
    N_(
        "Four tokens in a row have the same vector, so their queries are the same, and their keys. How "
        "does the last one share out its weights?"
    ),
    choices=[N_("all to itself"), N_("all to the first one"), N_("a quarter to each")],
    right=3,
    why=N_(
        "Equal keys get equal scores, and equal scores get equal weights. Attention does not know where a "
        "token stands. That is why the model adds a vector for the place."
    ),
)
def equal_tokens(student):
    """The weights of the last of four equal tokens."""
    x = torch.ones(1, 4, 2)
    weights = student.call("head_weights", x, x, 1).value[0, 0, 3].tolist()
    choices = [[0.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 0.0], [0.25] * 4]
    rounded = [round(weight, 4) for weight in weights]
    return choices.index(rounded) + 1, " ".join(f"{weight:g}" for weight in rounded)
