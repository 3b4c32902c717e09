"""What the checks of assignment 14 share: models with given parameters, and what waits for a part."""

import re
from collections.abc import Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial

import torch

from grader.testing import N_, StudentOutcome
from grader.testing.attempt import Called

from ..helpers import (
    FOUND_PARAMETERS,
    LAYERS,
    called_unless_waiting,
    is_as_expected,
    is_close,
    judge_own,
    judge_tensors,
    linear_parameters,
    prefixed,
)

FEATURES, CONTEXT_LENGTH, NUM_HEADS = 12, 7, 3
VOCAB_SIZE, NUM_LAYERS = 11, 2
BLOCK_SIZES = (FEATURES, CONTEXT_LENGTH, NUM_HEADS)
GPT_SIZES = (VOCAB_SIZE, CONTEXT_LENGTH, FEATURES, NUM_HEADS, NUM_LAYERS)
OF_SCORES = (N_("batch"), N_("token"), N_("token of the vocabulary"))
OF_SUMS = 1e-4
"""Sums of up to 50 products, of sums: ten times the usual noise."""
OF_BENDS = 1e-2
"""What a block or a model of the exact GELU may differ by; the network is where that is judged."""
OF_GRADIENTS = 5e-2
"""The same of the gradients of a model: sums over all tokens, through its blocks."""


def norm_parameters(draw, features=FEATURES):
    """Values for the parameters of a `LayerNorm`."""
    return {"weight": 1 + draw.normal(features, std=0.5), "bias": draw.normal(features)}


def network_parameters(draw, features=FEATURES):
    """Values for the parameters of a `FeedForward`."""
    first = prefixed("c_fc", linear_parameters(draw, features, 4 * features))
    return first | prefixed("c_proj", linear_parameters(draw, 4 * features, features))


def attention_parameters(draw, features=FEATURES, qkv_bias=False):
    """Values for the parameters of a `MultiHeadAttention`."""
    found = {f"{name}.weight": draw.normal(features, features, std=0.3) for name in LAYERS}
    if qkv_bias:
        found |= {f"{name}.bias": draw.normal(features, std=0.5) for name in LAYERS}
    return found | prefixed("out_proj", linear_parameters(draw, features, features))


def block_parameters(draw, features=FEATURES, qkv_bias=False):
    """Values for the parameters of a `TransformerBlock`."""
    return {
        **prefixed("ln_1", norm_parameters(draw, features)),
        **prefixed("attn", attention_parameters(draw, features, qkv_bias)),
        **prefixed("ln_2", norm_parameters(draw, features)),
        **prefixed("mlp", network_parameters(draw, features)),
    }


def gpt_parameters(draw, sizes=GPT_SIZES, qkv_bias=False):
    """Values for the parameters of a `GPT` of these sizes."""
    vocab_size, context_length, features, _num_heads, num_layers = sizes
    found = {
        "wte.weight": draw.normal(vocab_size, features),
        "wpe.weight": draw.normal(context_length, features),
    }
    for number in range(num_layers):
        found |= prefixed(f"h.{number}", block_parameters(draw, features, qkv_bias))
    return found | prefixed("ln_f", norm_parameters(draw, features))


HEADS = ("out_head", "lm_head", "head", "output_layer", "fc_out", "unembed")
"""What a head with a matrix of its own is called."""
FUSED = ("c_attn", "qkv", "W_qkv", "to_qkv")
"""What a layer is called that makes queries, keys and values at once, in this order."""
FUSED_BY_PLACE = re.compile(r"\bc_attn\.|\bto_qkv\.weight")


def surplus(values):
    """What need not be there: biases of zeros, a head of its own, queries, keys and values at once."""
    found = surplus_biases(values)
    if "wte.weight" in values:
        found |= {f"{name}.weight": values["wte.weight"] for name in HEADS}
        found["lm_head.bias"] = torch.zeros(len(values["wte.weight"]))
        found["pos_emb"] = values["wpe.weight"][None]
    for name in [name for name in values if name.endswith("W_query.weight")]:
        start = name.removesuffix("W_query.weight")
        weights = [values[f"{start}{layer}.weight"] for layer in LAYERS]
        # Those of which there is none are zero.
        biases = [{**found, **values}.get(f"{start}{layer}.bias") for layer in LAYERS]
        for fused in FUSED:
            found[f"{start}{fused}.weight"] = torch.cat(weights)
            found[f"{start}{fused}.bias"] = torch.cat(biases)
    return found


def surplus_biases(values):
    """Biases that change nothing, for queries, keys and values that have some unasked."""
    starts = [name.removesuffix("out_proj.bias") for name in values if name.endswith("proj.bias")]
    return {
        f"{start}{layer}.bias": torch.zeros_like(values[f"{start}out_proj.bias"])
        for start in starts
        if f"{start}out_proj.bias" in values
        for layer in LAYERS
        if f"{start}{layer}.bias" not in values
    }


def given(attempt, values, *sizes, **how):
    """An instance of these sizes with these parameters."""
    spare = surplus(values)
    # A layer that makes all three may have another name, with biases or without.
    by_place = [*values, *(name for name in spare if FUSED_BY_PLACE.search(name))]
    return attempt.instance(*sizes, given=values, spare=spare, by_place=by_place, **how)


@dataclass(frozen=True)
class Part:
    """What an exercise needs of the student's own: a function, or a class with these parameters."""

    name: str
    sizes: tuple[float, ...] = ()
    values: Mapping[str, torch.Tensor] = field(default_factory=dict)
    assignment: str = ""

    def right(self, attempt, x):
        """What the solution's gives."""
        made = self.name
        if self.sizes:
            made = attempt.reference.call(self.name, *self.sizes).value
            attempt.reference.load(made, self.values)
        return attempt.reference.call(made, x, **self.how).value

    def is_right(self, attempt, x, right):
        """Whether the student's gives the same."""
        own = attempt.beside(self.name)
        if self.sizes:
            own = given(own, self.values, *self.sizes)
        return is_close(own(x, **self.how).value, right)

    @property
    def how(self):
        """How it is called."""
        return {"training": False} if self.sizes else {}


def attention_part(draw, *, qkv_bias=False):
    """The student's own layer of assignment 09."""
    sizes = (FEATURES, FEATURES, CONTEXT_LENGTH, 0.0, NUM_HEADS, qkv_bias)
    values = attention_parameters(draw, qkv_bias=qkv_bias)
    return Part("MultiHeadAttention", sizes, values, "09")


@contextmanager
def waiting_for_biases(attempt, draw):
    """What fails here waits where the student's own layer of 09 has no right biases."""
    part, x = attention_part(draw, qkv_bias=True), draw.normal(2, 5, FEATURES)
    right = part.right(attempt, x)
    try:
        yield
    except (AssertionError, StudentOutcome):
        judge_parts(attempt, [part], x, [right])
        raise


def called_with(attempt, call, inputs, parts, x):
    """The call that a gate judges; it waits where a part of the student's own is to blame.

    Args:
        attempt: what is judged.
        call: makes a call.
        inputs: what it is made with, and other ones of axes that all differ.
        parts: what it needs.
        x: what each part is tried with.
    """
    # The solution is asked beforehand, whatever the student's code gives.
    right = [part.right(attempt, x) for part in parts]
    first, other = inputs

    def is_right(called):
        with suppress(StudentOutcome):
            return is_as_expected(called) and is_as_expected(call(other))
        return False

    waits = partial(judge_parts, attempt, parts, x, right)
    return called_unless_waiting(lambda: call(first), waits, is_right)


def judge_parts(attempt, parts, x, right):
    """End the check where a part is not right.

    Args:
        attempt: what is judged.
        parts: what it needs.
        x: what each part is tried with.
        right: what right ones give.
    """
    settings = attempt.student.roles.other_names.of("settings")
    for part, value in zip(parts, right, strict=True):
        own = ()
        if part.sizes and attempt.student.uses(part.name):
            with suppress(StudentOutcome):  # which `judge_own` tells
                own = attempt.beside(part.name).student.parameters(part.name)
        if {*own} & {*settings}:  # no right one can stand in its place
            continue
        is_right = partial(part.is_right, attempt, x, value)
        judge_own(attempt, f"`{part.name}`", is_right, part.assignment)


def judge_names(attempt, made, values):
    """Judge the names of an instance's parameters; what is inside its attention is judged by 09.

    A head with a matrix of its own is judged elsewhere.

    Args:
        attempt: what is judged.
        made: the instance, with values.
        values: its parameters as the docstring has them.
    """
    names = [name for name in values if is_of_its_own(name)]
    report = {name: made.loaded.by_name[name] for name in names}
    if any(name in names for name in made.loaded.renamed):
        attempt.judge(report, dict.fromkeys(names, "loaded"), what=FOUND_PARAMETERS)
    state = made.state
    again = {
        name
        for names in state.aliases
        for name in names
        if name not in values and values.keys() & set(names)
    }
    found, expected = (
        {name: list(tensor.shape) for name, tensor in tensors.items() if is_of_its_own(name)}
        for tensors in (state.parameters, values)
    )
    # A model may keep its parts in one of its own.
    plain = {full: name for name, full in made.loaded.names.items() if name in names}
    found = {plain.get(name, name): shape for name, shape in found.items() if name not in again}
    attempt.judge(found, expected, what="the parameters and their shapes")


def learned_beside_a_head(model, names):
    """Of these names of parameters, those whose gradients do not depend on the head being tied."""
    names = taken_by_name(model, names)
    return [name for name in names if name != "wte.weight" or not heads_of_their_own(model)]


def heads_of_their_own(model):
    """The names of parameters of a head that does not use the matrix of `wte`."""
    state = model.state
    tied = {name for names in state.aliases for name in names}
    heads = [name for name in state.parameters if {*name.split(".")} & {*HEADS}]
    return [name for name in heads if name not in tied]


def taken_by_name(made, names):
    """Of these names of parameters, those that stand for one of the student's own."""
    return [name for name in names if made.loaded.by_name.get(name) == "loaded"]


def is_of_its_own(name):
    """Whether a parameter is neither of the attention nor of a head with a matrix of its own."""
    return ".attn." not in f".{name}" and name.partition(".")[0] not in HEADS


class BesideTargets(Called):
    """A call of a model that gives the scores of all tokens only where targets are handed over."""

    def __init__(self, model, texts, how):
        super().__init__(model, (texts,), {"training": False, "first": True})
        self.how = how
        self.answer = model.asked(texts, texts, **how)


def scored(model, texts, **how):
    """The scores of a model, also of one that gives a loss beside them."""
    how = {"training": False, "first": True, **how}
    called = model(texts, **{name: what for name, what in how.items() if name != "cotangent"})
    value = called.value
    if isinstance(value, torch.Tensor) and value.dim() == 3 and value.shape[1] < texts.shape[1]:
        with suppress(StudentOutcome):  # where it takes no targets
            return BesideTargets(model, texts, how)
    return model(texts, **how) if "cotangent" in how else called


def has_as_many_numbers(attempt):
    """Whether the student's own layer of assignment 09 learns as many numbers as it should."""
    sizes = (FEATURES, FEATURES, CONTEXT_LENGTH, 0.0, NUM_HEADS)
    state = attempt.beside("MultiHeadAttention").instance(*sizes).state
    numbers = sum(tensor.numel() for tensor in state.parameters.values())
    return numbers == 4 * FEATURES**2 + FEATURES


def drawn_state(draw, features, num_layers, vocab_size=5):
    """A state in GPT-2's format."""
    layers = {
        "attn.c_attn": (features, 3 * features),
        "attn.c_proj": (features, features),
        "mlp.c_fc": (features, 4 * features),
        "mlp.c_proj": (4 * features, features),
    }
    state = {"wte.weight": (vocab_size, features), "wpe.weight": (3, features)}
    for block in range(num_layers):
        for name in ("ln_1", "ln_2"):
            state |= prefixed(f"h.{block}.{name}", {"weight": (features,), "bias": (features,)})
        for name, shape in layers.items():
            state |= prefixed(f"h.{block}.{name}", {"weight": shape, "bias": shape[1:]})
    state |= prefixed("ln_f", {"weight": (features,), "bias": (features,)})
    return {name: draw.normal(*shape) for name, shape in state.items()}


def judge_state(attempt, state, *parts):
    """Judge the tensors whose names have one of these parts; all of them without any.

    Args:
        attempt: what is judged.
        state: what the student's function gets.
        *parts: of names.
    """
    judge_tensors(attempt, attempt(state), lambda name: not parts or any(p in name for p in parts))


def tokens(draw, batch_size, num_tokens, vocab_size=VOCAB_SIZE):
    """Texts, as numbers of tokens; in each text all differ."""
    return torch.stack([draw.permutation(vocab_size)[:num_tokens] for _ in range(batch_size)])
