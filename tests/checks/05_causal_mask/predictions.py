"""What students predict in this assignment, and how their code answers."""

import torch

from grader.testing import N_, prediction


@prediction(
    "causal_weights",
    N_(
        "Token 3 of 6 is exchanged, and with it row 3 and column 3 of the scores. Which rows of the "
        "weights change?"
    ),
    choices=[N_("row 3"), N_("rows 1 to 3"), N_("rows 3 to 6"), N_("all rows")],
    right=3,
    why=N_(
        "Row 3 has another query. Rows 4 to 6 look back at token 3 and find another key there. Rows 1 "
        "and 2 come before it: what they would see of it is hidden."
    ),
)
def exchanged(student):
    """The rows that change."""
    scores = torch.rand(6, 6, generator=torch.Generator().manual_seed(5))
    other = scores.clone()
    other[2, :] += torch.arange(6.0) / 3
    other[:, 2] += 1.0
    before, after = (student.call("causal_weights", x, 2).value for x in (scores, other))
    rows = [row + 1 for row in range(6) if (after - before)[row].abs().max() > 1e-4]
    sets = [[3], [1, 2, 3], [3, 4, 5, 6], [1, 2, 3, 4, 5, 6]]
    return sets.index(rows) + 1, ", ".join(map(str, rows))
