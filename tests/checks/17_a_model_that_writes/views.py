"""What right code of this assignment lets a student see: which tokens numbers draw."""

import torch

from grader.testing import N_, view

LETTERS = "abcdef"
LOGITS = torch.tensor([0.0, 1.0, 3.0, 2.0, 0.5, 1.5])
COUNT = 12


@view(
    "next_token",
    N_("Which token each number draws"),
    look=N_(
        "Each row is a number, from 0 at the top to nearly 1. A long column is a likely token."
    ),
    ask=N_("At which temperature is every token drawn, and at which hardly more than one?"),
    moves={N_("temperature"): [0.2, 0.5, 1, 2, 10], "top_k": [6, 3]},
)
def drawn(student, heat, temperature, top_k):
    """A 1 for the token that each number draws."""
    numbers = [place / COUNT for place in range(COUNT)]
    found = [
        student.call("next_token", LOGITS, float(temperature), top_k, number).value
        for number in numbers
    ]
    value = torch.tensor([[float(token == place) for place in range(6)] for token in found])
    rows = [f"{number:.2f}" for number in numbers]
    return heat(value, rows=rows, columns=LETTERS, axes=(N_("number"), N_("token")))
