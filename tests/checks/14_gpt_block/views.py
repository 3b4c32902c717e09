"""What right code of this assignment lets a student see: what the GELU lets pass."""

import torch

from grader.testing import N_, view

NUMBERS = (-4.0, -3.0, -2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, 3.0, 4.0)


@view(
    "gelu",
    N_("What the GELU lets pass"),
    look=N_("Large numbers come out as they are, and those far below 0 as almost 0."),
    ask=N_("Which of these numbers comes out lowest, and what would a plain cut at 0 make of it?"),
)
def passed(student, heat):
    """Numbers around 0, and what becomes of them."""
    x = torch.tensor(NUMBERS)
    value = heat.tensor(student.call("gelu", x).value, len(NUMBERS))
    names = [f"{number:g}" for number in NUMBERS]
    return heat(value[None], rows=["gelu"], columns=names)
