"""What students predict in this assignment, and how their code answers."""

import torch

from grader.testing import N_, prediction


@prediction(
    "dropout_scale",
    N_(
        "With p = 0.9, nine of ten weights are dropped on average. By what are the kept ones multiplied?"
    ),
    choices=["0.1", "0.9", "1.1", "10"],
    right=4,
    why=N_(
        "A weight is kept one time in ten. To be as large as before on average, it has to be ten times "
        "as large whenever it is kept."
    ),
)
def nine_of_ten(student):
    """The factor."""
    factor = float(student.call("dropout_scale", 0.9).value)
    guesses = (0.1, 0.9, 1.1, 10.0)
    nearest = min(guesses, key=lambda guess: abs(guess - factor))
    return guesses.index(nearest) + 1, ""


@prediction(
    "dropout",
    N_(
        "A row has 100 equal weights that sum to 1, and p = 0.5. Dropout is drawn 200 times. Where do the "
        "sums of the row lie?"
    ),
    choices=[
        N_("all at 1"),
        N_("all at 0.5"),
        N_("around 1, mostly between 0.8 and 1.2"),
        N_("anywhere from 0 to 2, each as often"),
    ],
    right=3,
    why=N_(
        "About 50 of 100 weights are kept, rarely fewer than 40 or more than 60, and each counts "
        "double. Only the average is 1; with fewer weights the sums lie further apart."
    ),
)
def sums_of_a_row(student):
    """The sums of 200 draws."""
    weights = torch.full((200, 100), 0.01)
    sums = student.call("dropout", weights, 0.5, True, seed=1).value.sum(dim=-1)
    spread, mean = sums.std().item(), sums.mean().item()
    number = 4 if spread > 0.3 else 3 if spread > 0.01 else 1 if abs(mean - 1) < 0.1 else 2
    return number, f"{sums.min():.2f} … {sums.max():.2f}"
