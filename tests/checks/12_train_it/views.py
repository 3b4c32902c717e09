"""What right code of this assignment lets a student see: two heads with queries of their own kind."""

import torch

from grader.testing import N_, view

from ..views import AXES

LETTERS = "journeyjourn"
LARGE = 8.0
"""The scaled score of a key that a query asks for; that of all others is 0."""


@view(
    "head_weights",
    N_("Two heads that look for different things"),
    look=N_(
        "The queries and keys are chosen here, so that the first head looks at the place before, and "
        "the second at the same letter: itself, and where it stood before."
    ),
    ask=N_(
        "After the second j comes an o. Which letter shows that, and why does neither head look at it?"
    ),
)
def weights(student, heat):
    """The weights of a head that asks for a place, and of one that asks for a letter."""
    count = len(LETTERS)
    places = torch.eye(count)
    letters = places[[LETTERS.index(letter) for letter in LETTERS]]
    before = places[[max(0, place - 1) for place in range(count)]]
    queries = LARGE * count**0.5 * torch.cat((before, letters), dim=1)
    keys = torch.cat((places, letters), dim=1)
    value = student.call("head_weights", queries[None], keys[None], 2).value
    return [
        heat(one, rows=LETTERS, columns=LETTERS, axes=AXES, title=title)
        for title, one in zip(
            (N_("by place"), N_("by letter")),
            heat.tensor(value, 1, 2, count, count)[0],
            strict=True,
        )
    ]
