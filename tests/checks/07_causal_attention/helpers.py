"""What the checks of assignment 07 share."""

import torch

from grader.testing import N_

NAMES = ("W_query", "W_key", "W_value")
AXES = (N_("batch entry"), N_("token"), N_("feature"))

DRAWS = 512
"""Copies of one text in a batch: enough that each way of dropping the weights of a row occurs."""


def drawn(draw, d_in, d_out, dtype=torch.float32):
    """Values for the three linear layers."""
    return {f"{name}.weight": draw.normal(d_out, d_in, dtype=dtype) for name in NAMES}


def made(attempt, weights, *arguments, **options):
    """An instance with given parameters.

    A bias that should not be there is set to zero: it is judged in a check of its own.
    """
    weight = weights["W_query.weight"]
    d_out, d_in = weight.shape
    zeros = {f"{name}.bias": torch.zeros(d_out, dtype=weight.dtype) for name in NAMES}
    how = {"given": weights, "spare": zeros, "seed": 1, **options}
    return attempt.instance(d_in, d_out, *arguments, **how)


def judge_dropped(judge, value, plain, kept):
    """Judge that each weight is dropped in one text and kept in another, and scaled by `kept`."""
    # The largest and the smallest of many draws are the same for every draw.
    axes = (N_("query"), N_("key"))
    judge(value.amax(dim=0), plain / kept, what="the weights where they are kept", axes=axes)
    judge(value.amin(dim=0), torch.zeros_like(plain), what="the weights where dropped", axes=axes)
    is_either = (value == 0) | ((value - plain / kept).abs() < 1e-5)
    judge.that(bool(is_either.all()), "Some weights are neither dropped nor kept and scaled")


def judge_whole_values(judge, value):
    """Judge that no text lost a part of a value, where all features of a value are equal."""
    value = value.detach()
    # The largest of many draws is the same for every draw; 1e-4 is float32 noise around 10.
    spread = (value.amax(dim=-1) - value.amin(dim=-1)).amax(dim=0)
    what = N_(
        "how far the features of a context vector are apart, with equal features in all values"
    )
    judge(spread, torch.zeros(len(spread)), what=what, atol=1e-4, axes=("token",))
