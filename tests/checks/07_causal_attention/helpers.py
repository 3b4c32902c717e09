"""What the checks of assignment 07 share."""

import torch

from grader.testing import N_, StudentOutcome

OF_ONE_TEXT = "SelfAttention_v2"
BEFORE = {
    "BatchAttention": OF_ONE_TEXT,
    "MaskedAttention": "BatchAttention",
    "CausalAttention": "MaskedAttention",
}
"""Of each class, the student's own class that it grows from."""

NAMES = ("W_query", "W_key", "W_value")
AXES = (N_("batch entry"), N_("token"), N_("feature"))

DRAWS = 512
"""Copies of one text in a batch: enough that each way of dropping the weights of a row occurs."""


def drawn(draw, d_in, d_out, dtype=torch.float32):
    """Values for the three linear layers."""
    return {f"{name}.weight": draw.normal(d_out, d_in, dtype=dtype) for name in NAMES}


def no_biases(weights):
    """Zeros, for biases that should not be there: they are judged in a check of their own."""
    weight = weights["W_query.weight"]
    return {f"{name}.bias": torch.zeros(len(weight), dtype=weight.dtype) for name in NAMES}


def made(attempt, weights, *arguments, **options):
    """An instance with given parameters."""
    d_out, d_in = weights["W_query.weight"].shape
    how = {"given": weights, "spare": no_biases(weights), "seed": 1, **options}
    return attempt.instance(d_in, d_out, *arguments, **how)


def step_before(layer):
    """The student's own class that this one grows from, made alike; None where it cannot be."""
    name, (args, how) = BEFORE[layer.name], layer.by
    sizes = args[:2]
    if name == "MaskedAttention":
        sizes += (args[2] if len(args) > 2 else how["context_length"],)
    biased = (True,) if args[-1] is True or how.get("qkv_bias") else ()
    values = {"given": layer.given, "spare": no_biases(layer.given)} if layer.given else {}
    elsewhere = f"04_self_attention/{name}" if name == OF_ONE_TEXT else ""
    try:
        return layer.beside(name, elsewhere).instance(
            *sizes, *biased, seed=how.get("seed"), **values
        )
    except StudentOutcome:
        return None


def by_step_before(layer, x):
    """What the step before gives for texts; None where it gives no tensor.

    A token that sees no later ones has what it has in a text that ends with it.
    """
    own = step_before(layer)
    if own is None:
        return None
    try:
        if own.name == OF_ONE_TEXT:
            return torch.stack([own(text, training=False).value for text in x])
        if own.name == "BatchAttention":
            texts = (x[:, : end + 1] for end in range(x.shape[1]))
            return torch.cat([own(text, training=False).value[:, -1:] for text in texts], dim=1)
        return own(x, training=False).value
    except (StudentOutcome, TypeError, IndexError, RuntimeError):
        return None


def alike(one, other):
    """Whether two results are the same tensor, within the noise of float32."""
    if not isinstance(one, torch.Tensor) or not isinstance(other, torch.Tensor):
        return False
    if one.shape != other.shape or one.dtype != other.dtype or not one.is_floating_point():
        return False
    return torch.allclose(one, other, atol=1e-5, equal_nan=True)


def of_step_before(called):
    """What the step before gives, where that is what came back and is not right; None elsewhere.

    A slip that stands in both classes is paid for in the one where it was made. A class that does
    not mix the tokens is no step to build on.
    """
    layer, x = called.attempt, called.args[0]
    if alike(called.value, called.expected):
        return None
    own = by_step_before(layer, x)
    if not alike(called.value, own):
        return None
    other = x.clone()
    other[:, 0] += 1
    changed = by_step_before(layer, other)
    is_mixing = isinstance(changed, torch.Tensor) and changed.shape == own.shape
    return own if is_mixing and not alike(changed[:, -1], own[:, -1]) else None


def judge_vectors(called):
    """Judge context vectors by the solution's, or by those of the student's own step before."""
    own = of_step_before(called)
    called.gives(called.expected if own is None else own, axes=AXES)


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
