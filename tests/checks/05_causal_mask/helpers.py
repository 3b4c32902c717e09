"""What the checks of assignment 05 share."""

import torch


def figures(called, num_tokens):
    """A mask's figures: `True` counts as one."""
    return called.has_shape(num_tokens, num_tokens, dtype=None).to(torch.float32)
