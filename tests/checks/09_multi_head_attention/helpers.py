"""What the checks of assignment 09 share: how its layer is made, and other ways to the same."""

import torch

from grader.testing import StudentOutcome

from ..helpers import LAYERS, MultiHeadLayers

WRAPPER = "08_multi_head_wrapper/MultiHeadAttentionWrapper"


class Layers(MultiHeadLayers):
    """Layers of `MultiHeadAttention`."""

    def make(self, attempt, d_in, d_out, context_length, num_heads, *, dropout=0.0, **how):
        """A layer of these sizes."""
        return attempt.instance(d_in, d_out, context_length, dropout, num_heads, **how)


def by_torch(values, num_heads, x):
    """What torch's ready-made attention gives with these weights, head by head."""
    heads = [
        (x @ values[f"{layer}.weight"].T).unflatten(-1, (num_heads, -1)).transpose(1, 2)
        for layer in LAYERS
    ]
    mixed = torch.nn.functional.scaled_dot_product_attention(*heads, is_causal=True)
    return mixed.transpose(1, 2).flatten(2)


def by_the_wrapper(attempt, values, sizes, x):
    """What the student's own wrapper of assignment 08 gives with these weights; None without one.

    Args:
        attempt: of the layer.
        values: the layer's parameters.
        sizes: of the layer, the number of heads last.
        x: the texts.
    """
    d_in, d_out, context_length, num_heads = sizes
    student = attempt.student.aside(WRAPPER)
    pieces = {layer: values[f"{layer}.weight"].chunk(num_heads) for layer in LAYERS}
    weights = {
        f"heads.{head}.{layer}.weight": pieces[layer][head]
        for layer in LAYERS
        for head in range(num_heads)
    }
    arguments = (d_in, d_out // num_heads, context_length, 0.0, num_heads)
    try:
        wrapper = student.call(WRAPPER.rpartition("/")[2], *arguments, seed=1).value
        if student.load(wrapper, weights).problems:
            return None
        return student.call(wrapper, x, training=False).value
    except StudentOutcome:
        return None


def is_near(one, other):
    """Whether both are the same tensor, within the noise of float32."""
    are_alike = all(isinstance(value, torch.Tensor) for value in (one, other))
    are_alike = are_alike and (one.shape, one.dtype) == (other.shape, other.dtype)
    return are_alike and torch.allclose(one, other, atol=1e-4)
