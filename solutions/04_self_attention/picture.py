"""The picture of this assignment: what a module keeps, and what passes through it."""

import torch
from self_attention import INPUTS, SelfAttention_v1

from grader.course.drawing import Box, Drawing, Map, Step


def picture() -> Drawing:
    """The parameters of the layer between what goes in and what comes out."""
    torch.manual_seed(123)
    layer = SelfAttention_v1(3, 2)
    context = layer(INPUTS)
    total = sum(parameter.numel() for parameter in layer.parameters())
    kept = [
        Map(f"`{name}`", parameter.tolist(), str(tuple(parameter.shape)), most=1.0)
        for name, parameter in layer.named_parameters()
    ]
    return Drawing(
        "The module keeps three matrices; the words pass through",
        [
            [Box("inputs", f"(num_tokens, d_in) = {tuple(INPUTS.shape)}")],
            Step("times what the module keeps, each (d_in, d_out)"),
            kept,
            Step("scores, weights, mixture"),
            [Box("context vectors", f"(num_tokens, d_out) = {tuple(context.shape)}")],
        ],
        f"Training changes these {total} numbers and nothing else.",
    )
