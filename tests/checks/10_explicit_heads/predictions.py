"""What students predict in this assignment, and how their code answers."""

import torch

from grader.testing import N_, prediction


@prediction(
    "head_output",
    N_(
        "Two keys change places, and their values with them. The queries stay. What happens to the "
        "outputs?"
    ),
    choices=[
        N_("nothing"),
        N_("two rows change places"),
        N_("all rows change"),
    ],
    right=1,
    why=N_(
        "Each query meets the same pairs of key and value in another order, and a sum does not depend on "
        "the order. A row belongs to a query, and the queries stayed."
    ),
)
def keys_and_values(student):
    """The outputs before and after."""
    drawn = torch.Generator().manual_seed(3)
    queries, keys, values = (torch.randn(4, 2, generator=drawn) for _ in range(3))
    order = [2, 1, 0, 3]
    before = student.call("head_output", queries, keys, values).value
    after = student.call("head_output", queries, keys[order], values[order]).value
    change = (after - before).abs().max().item()
    is_swapped = (after - before[order]).abs().max() < 1e-4
    return 1 if change < 1e-4 else 2 if is_swapped else 3, f"{before[0, 0]:.4f} → {after[0, 0]:.4f}"
