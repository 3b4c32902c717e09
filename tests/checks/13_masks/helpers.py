"""What the checks of assignment 13 share."""

import torch

from grader.testing import N_, by_name

OF_WEIGHTS = (N_("text"), N_("query"), N_("key"))
OF_VECTORS = (N_("text"), N_("query"), N_("feature"))
NAMES = ("W_query", "W_key", "W_value")

NAN_GRADIENTS = N_("Gradients became NaN (not a number), though no context vector is")

HALF = 1e-3
"""Weights in float16: twice the distance of its numbers below 1."""


def drawn(draw, d_in, d_context, d_out, dtype=torch.float32):
    """Values for the three linear layers."""
    sizes = (d_in, d_context, d_context)
    return {
        f"{name}.weight": draw.normal(d_out, size, dtype=dtype)
        for name, size in zip(NAMES, sizes, strict=True)
    }


def made(attempt, weights):
    """A layer with these parameters; biases that should not be there are judged by themselves."""
    d_out, d_in = weights["W_query.weight"].shape
    d_context = weights["W_key.weight"].shape[1]
    spare = {
        f"{name}.bias": torch.zeros(d_out, dtype=weights["W_query.weight"].dtype) for name in NAMES
    }
    return attempt.instance(d_in, d_context, d_out, given=weights, spare=spare, seed=1)


def padding(*lengths, num_tokens):
    """A right padding mask."""
    return torch.arange(num_tokens) < torch.tensor(lengths)[:, None, None]


def pattern(draw, num_texts, num_queries, num_keys):
    """A mask without rule, in which each query may use a key and may not use another."""
    rows = [draw.permutation(num_keys) for _ in range(num_texts * num_queries)]
    places = torch.stack(rows).reshape(num_texts, num_queries, num_keys)
    return places < num_keys // 2


def judge_finite(judge, value, sentence):
    """Judge that a tensor has no NaN; where NaN stands tells mistakes apart."""
    lost = value.isnan() if isinstance(value, torch.Tensor) else None
    judge.that(lost is None or not bool(lost.any()), sentence, about=lost)


def judge_finite_gradients(called):
    """Judge that no gradient of a layer, for its texts or its parameters, is NaN."""
    found = called.answer.gradients
    for number in ("0", "1"):
        judge_finite(called.judge, found.arguments.get(number), NAN_GRADIENTS)
    for name in NAMES:
        value = by_name(found.parameters, f"{name}.weight")
        judge_finite(called.judge, value, NAN_GRADIENTS)
