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
    "training_step",
    N_(
        "A model gives the score 0 to every one of 26 letters. What is the loss before its first step?"
    ),
    choices=["0", "1/26", "ln 26"],
    right=3,
    why=N_(
        "Equal scores are equal probabilities, 1/26 each, and the loss is minus the logarithm of the "
        "probability of the right letter: ln 26, 3.26. Whatever training reaches is measured from there."
    ),
)
def loss_of_a_guess(student):
    """The loss of a model of zeros."""
    model = student.call("LastLetterModel").value
    optimizer = student.call("GradientDescent", model, 1.0).value
    texts = torch.arange(6)[None]
    loss = student.call("training_step", model, optimizer, texts[:, :-1], texts[:, 1:]).value
    return {0.0: 1, 0.0385: 2, 3.2581: 3}[round(float(loss), 4)], f"{float(loss):.4f}"


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
