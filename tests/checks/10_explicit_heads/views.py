"""What right code of this assignment lets a student see: the weights of each head, unmasked."""

import torch

from grader.testing import N_, view

from ..views import head_matrices, head_size, naming, naming_weights, square
from .helpers import PROJECTIONS

HEADS = 3


@view(
    "MultiHeadAttention",
    N_("The weights of one head, without a mask"),
    look=N_(
        "In every head each row sums to 1, and words look at what comes later, too. (Each value is "
        "the name of its word here, so that your module returns its weights.)"
    ),
    ask=N_("Which of these weights would a causal mask take away, and who would get them?"),
    moves={N_("head"): [0, 1, 2]},
)
def weights(student, text, heat, head):
    """What a head returns whose values name their words."""
    size, count = head_size(text), len(text.words)
    words = naming(text, HEADS * size)
    width = words.shape[1]
    matrices = head_matrices(text.vectors.shape[1], HEADS)
    found = naming_weights(text, matrices, width)
    values = {f"{name}.weight": weight for name, weight in zip(PROJECTIONS, found, strict=True)}
    values["out_proj.weight"] = torch.eye(width, HEADS * size)
    module = student.call("MultiHeadAttention", width, size, HEADS).value
    zeros = {f"{name}.bias": (HEADS * size,) for name in PROJECTIONS}
    heat.load(student, module, values, zeros={**zeros, "out_proj.bias": (width,)})
    value = heat.tensor(student.call(module, words).value, count, width)
    by_head = value[:, : HEADS * size].unflatten(1, (HEADS, size))
    return square(heat, by_head[:, head, :count], text)
