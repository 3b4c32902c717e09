"""What the checks of assignment 09 share: how its layer is made."""

from ..helpers import MultiHeadLayers


class Layers(MultiHeadLayers):
    """Layers of `MultiHeadAttention`."""

    def make(self, attempt, d_in, d_out, context_length, num_heads, *, dropout=0.0, **how):
        """A layer of these sizes."""
        return attempt.instance(d_in, d_out, context_length, dropout, num_heads, **how)
