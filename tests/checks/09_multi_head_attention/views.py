"""What right code of this assignment lets a student see: the weights of each head."""

import torch

from grader.testing import N_, view

from ..helpers import LAYERS
from ..views import head_matrices, head_size, naming, naming_weights, square

NUM_HEADS = 3


@view(
    "MultiHeadAttention",
    N_("The weights of one head"),
    look=N_(
        "In every head each row sums to 1, and above the diagonal all is 0. (Each value is the name "
        "of its word here, so that your layer returns its weights.)"
    ),
    ask=N_("Which word does one head look at that another leaves aside?"),
    moves={N_("head"): [0, 1, 2]},
)
def weights(student, text, heat, head):
    """What a head returns whose values name their words."""
    words, size, count = naming(text), head_size(text), len(text.words)
    d_in, d_out = words.shape[1], NUM_HEADS * size
    matrices = head_matrices(text.vectors.shape[1], NUM_HEADS)
    found = naming_weights(text, matrices, d_in)
    values = {f"{name}.weight": weight for name, weight in zip(LAYERS, found, strict=True)}
    values["out_proj.weight"] = torch.eye(d_out)
    layer = student.call("MultiHeadAttention", d_in, d_out, count, 0.0, NUM_HEADS).value
    zeros = {f"{name}.bias": (d_out,) for name in (*LAYERS, "out_proj")}
    heat.load(student, layer, values, zeros=zeros)
    value = student.call(layer, words[None], training=False).value
    by_head = heat.tensor(value, 1, count, d_out)[0].unflatten(1, (NUM_HEADS, size))
    return square(heat, by_head[:, head, :count], text)
