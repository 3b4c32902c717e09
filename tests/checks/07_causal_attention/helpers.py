"""What the checks of assignment 07 share."""

import torch

from grader.testing import N_, StudentOutcome

OF_ONE_TEXT = "SelfAttention_v2"
BEFORE = {
    "BatchAttention": OF_ONE_TEXT,
    "MaskedAttention": "BatchAttention",
    "CausalAttention": "MaskedAttention",
}
"""Of each class, the one that it grows from."""

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
    """The class that this one grows from, with the student's mistake, made alike; None without one."""
    name = BEFORE[layer.name]
    before = layer.step_before(name, "04_self_attention" if name == OF_ONE_TEXT else "")
    if before is None:
        return None
    args, how = layer.by
    sizes = args[:2]
    if before.name == "MaskedAttention":
        sizes += (args[2] if len(args) > 2 else how["context_length"],)
    biased = (True,) if args[-1] is True or how.get("qkv_bias") else ()
    values = {"given": layer.given, "spare": no_biases(layer.given)} if layer.given else {}
    made = before.instance(*sizes, *biased, seed=how.get("seed"), **values)
    try:
        return made if made.own else None
    except StudentOutcome:
        return None


def context_vectors(layer, x):
    """What a layer of assignment 07 gives for texts, and one of 04 for each of them."""
    if layer.name == OF_ONE_TEXT:
        return torch.stack([layer(text, training=False).value for text in x])
    return layer(x, training=False).value


def by_step_before(layer, x):
    """What the step before gives for texts; None where it gives no tensor.

    A token that sees no later ones has what it has in a text that ends with it.
    """
    before = step_before(layer)
    if before is None:
        return None
    try:
        if layer.name == "BatchAttention" or before.name == "MaskedAttention":
            return context_vectors(before, x)
        texts = (x[:, : end + 1] for end in range(x.shape[1]))
        return torch.cat([context_vectors(before, text)[:, -1:] for text in texts], dim=1)
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

    A mistake that comes along is paid for in the class where it was made, if it has a name there. A
    class that does not mix the tokens is no step to build on.
    """
    layer, x = called.attempt, called.args[0]
    if alike(called.value, called.expected):
        return None
    before = by_step_before(layer, x)
    if not alike(called.value, before):
        return None
    other = x.clone()
    other[:, 0] += 1
    changed = by_step_before(layer, other)
    is_mixing = isinstance(changed, torch.Tensor) and changed.shape == before.shape
    return before if is_mixing and not alike(changed[:, -1], before[:, -1]) else None


def judge_vectors(called):
    """Judge context vectors by the solution's, or by those of the step before with its mistake."""
    before = of_step_before(called)
    called.gives(called.expected if before is None else before, axes=AXES)


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
