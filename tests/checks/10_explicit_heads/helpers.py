"""What the checks of assignment 10 share: modules with given parameters."""

import torch

from grader.testing import N_

HEAD_DIM, NUM_HEADS, NUM_TOKENS = 6, 3, 5
WIDTH = NUM_HEADS * HEAD_DIM
PROJECTIONS = ("q_proj", "k_proj", "v_proj")
AXES = (N_("token"), N_("feature"))


def drawn_head(draw, *shape):
    """Queries, keys and values of one head."""
    return [draw.normal(*shape) for _ in range(3)]


def drawn_heads(draw):
    """What three heads return."""
    return [draw.normal(NUM_TOKENS, HEAD_DIM) for _ in range(NUM_HEADS)]


def drawn_parameters(draw, embed_dim, dtype=torch.float32):
    """Values for all parameters of a module."""
    shapes = {f"{name}.weight": (WIDTH, embed_dim) for name in PROJECTIONS}
    shapes |= {f"{name}.bias": (WIDTH,) for name in PROJECTIONS}
    shapes |= {"out_proj.weight": (embed_dim, WIDTH), "out_proj.bias": (embed_dim,)}
    return {name: draw.normal(*shape, std=0.4).to(dtype) for name, shape in shapes.items()}


def given(attempt, values):
    """A module with these parameters."""
    embed_dim = len(values["out_proj.bias"])
    return attempt.instance(embed_dim, HEAD_DIM, NUM_HEADS, given=values)
