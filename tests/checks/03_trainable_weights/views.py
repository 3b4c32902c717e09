"""What right code of this assignment lets a student see: why scores are scaled."""

import torch

from grader.testing import N_, view

from ..views import square


@view(
    "scaled_weights",
    N_("Weights of longer and longer keys"),
    look=N_(
        "Queries and keys are random here, with d_k features. Divided by the root of d_k, the "
        "weights stay spread out; not divided, long keys leave nearly all of a row to a word or two."
    ),
    ask=N_("Where a weight is almost 0 or 1, what is left of the softmax's gradient?"),
    moves={"d_k": [1, 4, 64, 4096]},
)
def weights(student, text, heat, d_k):
    """The weights of random queries and keys, scaled and not."""
    generator = torch.Generator().manual_seed(123)
    query, key = torch.randn(2, len(text.words), d_k, generator=generator)
    scores = torch.inner(query, key)
    titles = {N_("divided by the root of d_k"): d_k, N_("not divided"): 1}
    return [
        square(heat, student.call("scaled_weights", scores, size).value, text, title=title)
        for title, size in titles.items()
    ]
