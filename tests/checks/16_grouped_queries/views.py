"""What right code of this assignment lets a student see: the weights of heads that share keys."""

import torch

from grader.testing import N_, view

from ..helpers import LAYERS
from ..views import head_matrices, head_size, naming, naming_weights, square

NUM_HEADS = 4


@view(
    "GroupedQueryAttention",
    N_("The weights of heads that share keys"),
    look=N_(
        "The heads of a group ask the same keys, each with queries of its own. In every head each row "
        "sums to 1. (Each value is the name of its word here, so that your layer returns its weights.)"
    ),
    ask=N_("Which heads stay as they are when two key-value heads become one, and why?"),
    moves={"num_kv_heads": [4, 2, 1], N_("head"): [0, 1, 2, 3]},
)
def weights(student, text, heat, num_kv_heads, head):
    """What a head returns whose values name their words."""
    words, size, count = naming(text), head_size(text), len(text.words)
    d_in, d_out = words.shape[1], NUM_HEADS * size
    matrices = head_matrices(text.vectors.shape[1], NUM_HEADS)
    found = naming_weights(text, matrices, d_in)
    rows = (d_out, num_kv_heads * size, num_kv_heads * size)
    named = zip(LAYERS, found, rows, strict=True)
    values = {f"{name}.weight": weight[:n] for name, weight, n in named}
    values["out_proj.weight"] = torch.eye(d_out)
    sizes = (d_in, d_out, count, 0.0, NUM_HEADS, num_kv_heads)
    layer = student.call("GroupedQueryAttention", *sizes).value
    zeros = {f"{name}.bias": (n,) for name, n in zip(LAYERS, rows, strict=True)}
    heat.load(student, layer, values, zeros=zeros | {"out_proj.bias": (d_out,)})
    value = student.call(layer, words[None], training=False).value
    by_head = heat.tensor(value, 1, count, d_out)[0].unflatten(1, (NUM_HEADS, size))
    return square(heat, by_head[:, head, :count], text)
