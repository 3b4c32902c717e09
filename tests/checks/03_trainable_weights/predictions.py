"""What students predict in this assignment, and how their code answers."""

import torch

from grader.testing import N_, prediction


@prediction(
    "query_scores",
    N_(
        "Queries and keys of random numbers, with mean 0 and standard deviation 1. With 4096 entries "
        "each in place of 16, how large does the standard deviation of the scores get?"
    ),
    choices=[
        N_("as large as before"),
        N_("about 16 times as large"),
        N_("about 256 times as large"),
    ],
    right=2,
    why=N_(
        "A score adds up as many products as there are entries. Products of both signs take each "
        "other back in part, so a sum of 256 times as many is not 256 times as large: it grows as "
        "the square root does."
    ),
)
def large_scores(student):
    """The spread of the scores for both sizes."""
    drawn = torch.Generator().manual_seed(1)
    spreads = [
        student.call(
            "query_scores",
            torch.randn(40, size, generator=drawn),
            torch.randn(40, size, generator=drawn),
        )
        .value.std()
        .item()
        for size in (16, 4096)
    ]
    factor = spreads[1] / spreads[0]
    number = 1 if factor < 4 else 2 if factor < 64 else 3
    return number, f"{spreads[0]:.1f} → {spreads[1]:.1f}"


@prediction(
    "scaled_weights",
    N_("The scores stay as they are, and `d_k` is 64 in place of 4. What happens to the weights?"),
    choices=[
        N_("they come nearer to each other"),
        N_("the largest grows"),
        N_("they stay as they are"),
    ],
    right=1,
    why=N_(
        "The scores are divided by 8 in place of 2, so their differences get smaller; the softmax "
        "looks at nothing but differences."
    ),
)
def larger_keys(student):
    """The largest weight for both sizes."""
    scores = torch.tensor([1.2705, 1.8524, 1.8111, 1.0795, 0.5577, 1.5440])
    small, large = (
        student.call("scaled_weights", scores, d_k).value.max().item() for d_k in (4, 64)
    )
    number = 1 if large < small else 2 if large > small else 3
    return number, f"{small:.4f} → {large:.4f}"
