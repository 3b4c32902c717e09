"""Wrong layers: what they are named, and which promise they break."""

import re

import pytest

from grader.core.records import Outcome
from tests.course.conftest import Answer

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("known mistakes")]

CUT = "self.mask[:num_tokens, :num_tokens]"
KEPT = "kept = self.dropout(weights)"
GPT2 = "GPT2MultiHeadAttention"
HIDDEN_SCORES = f"scores = scores.masked_fill({CUT}, -torch.inf)"
NAN_MASK = f"scores = scores + {CUT} * -torch.inf"
HEADS = "09_multi_head_attention/MultiHeadAttention"
EXPLICIT = "10_explicit_heads/MultiHeadAttention"
WRAPPER = "MultiHeadAttentionWrapper"
DROPPED = "weights = self.dropout(weights)"
ROW_SUMS = f"{DROPPED}; weights = weights / weights.sum(-1, keepdim=True)"
GPT2_SCALE = "scores / self.head_dim**0.5"


@pytest.mark.parametrize(
    ("exercise", "find", "put", "name"),
    [
        ("CausalAttention", HIDDEN_SCORES, "", "causal-nothing-masked"),
        (HEADS, HIDDEN_SCORES, "", "multi-head-nothing-masked"),
        pytest.param(
            *(HEADS, HIDDEN_SCORES, NAN_MASK, "multi-head-not-a-number"), marks=pytest.mark.long
        ),
        (HEADS, DROPPED, ROW_SUMS, "multi-head-dropout-renormalised"),
        # No mistake alone shows all that this one does, so that all pairs are tried.
        pytest.param(
            *(HEADS, "scores = head_scores(queries,", "scores = head_scores(queries / 8**0.5,"),
            "multi-head-root-forgotten",
            marks=[pytest.mark.proof, pytest.mark.long],
        ),
        (
            HEADS,
            "merge_heads(weights @",
            "merge_heads(weights.mT @",
            "multi-head-weights-turned-round",
        ),
        ("head_output", "weights @", "weights.T @", "explicit-head-weights-turned-round"),
        (EXPLICIT, GPT2_SCALE, "scores / self.head_dim**-0.5", "explicit-heads-multiplied-by-root"),
        (EXPLICIT, "weights @", "weights[0] @", "explicit-heads-weights-of-the-first-head"),
        pytest.param(
            GPT2,
            "[:num_tokens, :num_tokens]",
            "[num_tokens:, num_tokens:]",
            "gpt2-mask-smaller-than-the-text",
            marks=pytest.mark.proof,
        ),
        pytest.param(
            GPT2,
            DROPPED,
            f"{DROPPED}; {DROPPED}",
            "gpt2-dropout-twice",
            marks=pytest.mark.proof,
        ),
        (WRAPPER, "dropout, qkv_bias)", "qkv_bias, dropout)", "wrapper-dropout-and-bias-swapped"),
        (
            "dropout_scale",
            "return 1 / (1 - p)",
            "return (1 / (1 - p)) // 1",
            "dropout-scale-without-fraction",
        ),
        (
            "CausalAttention",
            "softmax(scores / keys.shape[-1] ** 0.5, dim=-1)",
            "softmax(scores, dim=-1) * keys.shape[-1] ** -0.5",
            "causal-scaled-after-softmax",
        ),
        (
            "CausalAttention",
            "return kept @ values",
            "return (kept @ values).clamp(min=0)",
            "causal-relu-of-the-result",
        ),
        (
            "CausalAttention",
            "return kept @ values",
            "for context in kept @ values: pass\n        return context",
            "causal-one-text-returned",
        ),
        (
            "CausalAttention",
            "x.shape[1], self.mask.shape[0]",
            "len(x), len(self.mask)\n        if len(x) > len(self.mask): raise ValueError('long')",
            "causal-batch-size-for-tokens",
        ),
        pytest.param(
            WRAPPER,
            "[head(x) for head in self.heads]",
            "[head(x) for head in self.heads][::-1]",
            "wrapper-heads-in-reverse-order",
            marks=pytest.mark.proof,
        ),
        (
            "head_scores",
            "return queries @ keys.transpose(2, 3)",
            "return torch.einsum('bhid,bhjd->bij', queries, keys)[:, None].repeat(1, len(queries[0]), 1, 1)",
            "head-scores-summed-over-heads",
        ),
        (
            "head_output",
            "return weights @ values",
            "return (scores @ values).softmax(1)",
            "explicit-head-softmax-of-the-mixture",
        ),
        (
            EXPLICIT,
            "self.head_dim = head_dim",
            "self.head_dim = embed_dim // num_heads",
            "explicit-heads-head-dim-replaced",
        ),
        pytest.param(
            GPT2,
            "torch.softmax(scores / self.head_dim**0.5, dim=-1)",
            "scores.softmax(-1) / self.head_dim**0.5",
            "gpt2-scaled-after-softmax",
            marks=pytest.mark.proof,
        ),
        (
            HEADS,
            'register_buffer("mask"',
            'mask = self.register_buffer("mask"',
            "multi-head-mask-set-to-none",
        ),
        ("GPT2_CONFIG", '"dropout": 0.1,\n}', '"dropout": 0.1,\n},', "config-a-tuple"),
    ],
)
def test_a_name_says_what_the_values_show(
    answer: Answer, exercise: str, find: str, put: str, name: str
) -> None:
    """Codes with the same values have one name, which is true of all of them."""
    assert answer(exercise, find, put).misconceptions == (name,)


OTHER_NAMES = (("W_query", "Wq"), ("W_key", "Wk"), ("W_value", "Wv"))
V2_SCORES = "attn_scores / keys.shape[-1] ** 0.5"
OTHER_ORDER = ("dropout: float,\n        num_heads: int", "num_heads: int,\n        dropout: float")
START = "super().__init__()\n"
QUERY = "self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)"


@pytest.mark.parametrize(
    ("exercise", "find", "put", "slip", "name"),
    [
        ("SelfAttention_v2", V2_SCORES, "attn_scores", OTHER_NAMES, "v2-scale-missing"),
        (
            *("CausalAttention", QUERY, f"torch.manual_seed(123)\n        {QUERY}"),
            *(OTHER_NAMES, "causal-sets-the-seed"),
        ),
        (
            *("CausalAttention", 'self.register_buffer("mask", future)', "self.mask = future"),
            *(OTHER_NAMES, "causal-mask-plain-attribute"),
        ),
        (HEADS, DROPPED, "", OTHER_NAMES, "multi-head-dropout-unused"),
        (HEADS, "scores / head_dim**0.5", "scores", OTHER_NAMES, "multi-head-not-scaled"),
        (HEADS, "scores / head_dim**0.5", "scores", (OTHER_ORDER,), "multi-head-not-scaled"),
        (
            *(HEADS, "scores / head_dim**0.5", "scores"),
            *((("qkv_bias: bool = False", "qkv_bias: bool"),), "multi-head-not-scaled"),
        ),
    ],
    ids=["scale of v2", "seed", "mask", "dropout", "scale", "scale and order", "scale and default"],
)
def test_a_slip_in_names_or_signature_hides_no_mistake(
    answer: Answer, exercise: str, find: str, put: str, slip: tuple[tuple[str, str], ...], name: str
) -> None:
    """What failed for the slip alone says so, and is no sign of anything else."""
    assert answer(exercise, find, put, *slip).misconceptions == (name,)


@pytest.mark.parametrize(
    ("exercise", "edits"),
    [
        pytest.param(
            name, (("W_query", "one"), ("W_key", "two"), ("W_value", "three")), marks=marks
        )
        for name, marks in (
            ("SelfAttention_v2", []),
            ("CausalAttention", pytest.mark.proof),
            (HEADS, [pytest.mark.proof, pytest.mark.long]),
        )
    ],
)
@pytest.mark.parametrize("order", ["another", "the same"])
def test_a_seeded_check_alone_names_nothing_where_weights_were_not_found(
    answer: Answer, exercise: str, edits: tuple[tuple[str, str], ...], order: str
) -> None:
    """What the numbers depend on is not known there."""
    swapped = (("self.W_query = ", "self.W_ = "), ("self.W_key = ", "self.W_query = "))
    more = (*swapped, ("self.W_ = ", "self.W_key = ")) if order == "another" else ()
    result = answer(exercise, START, START, *more, *edits)
    assert not result.is_solved
    assert result.findings == ()


@pytest.mark.parametrize(
    ("exercise", "find", "put", "name"),
    [
        (HEADS, ".triu(diagonal=1)", ".tril(diagonal=1).logical_not()", "multi-head-sees-the-next"),
        (
            *("CausalAttention", ".triu(diagonal=1)", ".tril(diagonal=1).logical_not()"),
            "causal-sees-the-next",
        ),
        (
            EXPLICIT,
            "return self.out_proj(joined)",
            "return joined",
            "explicit-heads-out-proj-unused",
        ),
        (
            *(EXPLICIT, "= nn.Linear(num_heads * head_dim, embed_dim)", "= nn.Identity()"),
            "explicit-heads-out-proj-missing",
        ),
        ("SelfAttention_v1", "keys.T", "keys.swapaxes(1, 2)", "v1-batches-only"),
        (
            "SelfAttention_v2",
            "return attn_weights @ values",
            "return attn_weights",
            "v2-values-not-mixed",
        ),
        ("CausalAttention", "self.W_value(x)", "self.W_query(x)", "causal-values-made-by-queries"),
    ],
)
def test_slips_that_were_seen_in_a_class_have_names(
    answer: Answer, exercise: str, find: str, put: str, name: str
) -> None:
    """However they are written."""
    assert answer(exercise, find, put).misconceptions == (name,)


SECOND = "Texts should stay as they are, and give the same after a call with another one."
SINGLE = "With given parameters, shorter texts should give the right vectors, a single one too."
TRAINED = "In training, each weight should be either dropped or kept and scaled by 1 / (1 - p)."
HEADS_TRAINED = (
    "In training mode alone, weights should be dropped after the softmax and the rest scaled."
)
ALONE = "A text of one token should give `out_proj` of its value, whatever its scores."
OWN_VALUE = "The context vector of the first token should be its own value."
AS_THEY_ARE = "A single head should get the tokens as they are."
NOT_ZERO = "scores = scores.masked_fill(scores.tril() == 0, -torch.inf)"
COUNTED = "self.calls = getattr(self, 'calls', 0) + 1; return self.calls * kept @ values"
CUT_FOR_GOOD = f"self.mask = {CUT}; scores = scores.masked_fill(self.mask, -torch.inf)"
KEPT_ZEROS = "torch.zeros(pieces.transpose(1, 2).shape) + pieces.transpose(1, 2)"


@pytest.mark.parametrize(
    ("exercise", "find", "put", "title"),
    [
        ("CausalAttention", HIDDEN_SCORES, CUT_FOR_GOOD, SECOND),
        ("CausalAttention", "return kept @ values", COUNTED, SECOND),
        ("CausalAttention", "return kept @ values", "return (kept @ values).squeeze()", SINGLE),
        ("CausalAttention", KEPT, f"torch.manual_seed(1); {KEPT}", TRAINED),
        ("CausalAttention", "return kept", "self.eval(); return kept", TRAINED),
        ("CausalAttention", HIDDEN_SCORES, NOT_ZERO, OWN_VALUE),
        (HEADS, HIDDEN_SCORES, NOT_ZERO, ALONE),
        (HEADS, DROPPED, f"torch.manual_seed(1); {DROPPED}", HEADS_TRAINED),
        pytest.param(
            GPT2,
            "return self.out_proj(context)",
            "self.eval(); return self.out_proj(context)",
            HEADS_TRAINED,
            marks=pytest.mark.proof,
        ),
        ("split_heads", "pieces.transpose(1, 2)", KEPT_ZEROS, AS_THEY_ARE),
        (
            *(
                WRAPPER,
                "for head in self.heads], dim=-1)",
                "for head in self.heads], dim=-1).squeeze()",
            ),
            "A text shorter or longer than `context_length` should fare as with a single head.",
        ),
    ],
)
def test_what_the_text_promises_is_checked_in_one_place(
    checked: Answer, exercise: str, find: str, put: str, title: str
) -> None:
    """A promise that is broken fails the check of this promise, and no other."""
    checks = checked(exercise, find, put).checks
    assert [c.title.split("\n")[0] for c in checks if c.outcome is Outcome.FAILED] == [title]


def test_heads_that_are_told_everything_are_not_said_to_lack_something(checked: Answer) -> None:
    """Where a wrapper has too few of them, single heads say nothing about its texts."""
    checks = checked(WRAPPER, "range(num_heads)", "range(num_heads - 1)").checks
    assert not [c for c in checks if "A single head refuses" in c.message]


def test_large_scores_are_remarked(checked: Answer) -> None:
    """They cost nothing where the largest score is not subtracted."""
    put = "torch.exp(scores) / torch.exp(scores).sum(dim=-1, keepdim=True)"
    result = checked("head_output", "torch.softmax(scores, dim=-1)", put)
    assert result.is_solved
    said = [c.message.splitlines()[-1] for c in result.checks if c.outcome is Outcome.REMARK]
    assert said == ["Scores of 100 give NaN: their exponentials are infinite in float32."]


SEEN = "self.seen = weights.detach()"


@pytest.mark.parametrize(
    ("exercise", "find"),
    [
        ("CausalAttention", KEPT),
        (HEADS, DROPPED),
        pytest.param(GPT2, DROPPED, marks=pytest.mark.proof),
    ],
)
def test_a_result_that_each_call_keeps_costs_nothing(
    checked: Answer, exercise: str, find: str
) -> None:
    """A mask that the first call makes and keeps does."""
    assert checked(exercise, find, f"{SEEN}; {find}").is_solved
    once = f"self.__dict__.setdefault('future', torch.ones(3)); {find}"
    (failed,) = (c for c in checked(exercise, find, once).checks if c.outcome is Outcome.FAILED)
    assert "'future'" in failed.message


NORM = "self.norm = nn.LayerNorm(d_in); self.W_query ="


def test_dropout_is_not_blamed_for_heads_of_another_size(checked: Answer) -> None:
    """Where the weights are wrong in eval mode, nothing is said of what was dropped."""
    find = "(batch_size, num_tokens, self.num_heads, self.head_dim)"
    put = "(batch_size, num_tokens, self.head_dim, self.num_heads)"
    messages = "".join(check.message for check in checked(GPT2, find, put).checks)
    assert "What shows the weights, in eval mode" in messages
    assert "was dropped" not in messages


@pytest.mark.parametrize("exercise", [HEADS, pytest.param(GPT2, marks=pytest.mark.proof)])
def test_parameters_that_should_not_be_there_are_named(checked: Answer, exercise: str) -> None:
    """Of dropout nothing is said where no weights show."""
    result = checked(exercise, "self.W_query =", NORM)
    failed = [c for c in result.checks if c.outcome is Outcome.FAILED and not c.may_follow]
    named = "There are parameters that should not be there: norm.bias, norm.weight."
    assert named in failed[0].message
    result = checked(exercise, "weights @ values)", "weights @ torch.relu(values - 1))")
    (dropping,) = (c for c in result.checks if "after the softmax" in c.title)
    assert dropping.may_follow


@pytest.mark.parametrize("exercise", [HEADS, pytest.param(GPT2, marks=pytest.mark.proof)])
def test_dropout_is_not_blamed_for_what_hides_it(checked: Answer, exercise: str) -> None:
    """A norm behind the last layer: neither zeros nor the scale can be seen."""
    output = "return self.out_proj(context)"
    put = "y = self.out_proj(context); return nn.functional.layer_norm(y, y.shape[-1:])"
    checks = checked(exercise, output, put, hidden=True).checks
    told = [c for c in checks if c.outcome is Outcome.FAILED and not c.may_follow]
    assert not [c for c in told if "softmax" in c.title or "1 / 0.8" in c.title]


NEW_MASK = "torch.ones(num_tokens, num_tokens).triu(1).bool()"
ANEW = "`forward` makes a mask anew: what is the buffer for?"
COUNT = "return sum(parameter.numel() for parameter in module.parameters())"


@pytest.mark.parametrize(
    ("exercise", "find", "put", "sentence"),
    [
        ("CausalAttention", CUT, NEW_MASK, ANEW),
        (HEADS, CUT, NEW_MASK, ANEW),
        pytest.param(GPT2, CUT, NEW_MASK, ANEW, marks=pytest.mark.proof),
        ("count_parameters", COUNT, f"{COUNT} + torch.tensor(0)", "It is a tensor of one number."),
        (
            "apply_dropout_mask",
            "return weights * keep_mask * dropout_scale(p)",
            "return weights * keep_mask.float() * dropout_scale(p)",
            "The shape is right, the dtype is not: expected torch.float16, received torch.float32.",
        ),
        (
            "GPT2_CONFIG",
            '"dropout": 0.1,',
            '"dropout": 0.1, "qkv_bias": False,',
            "`qkv_bias` is not one of the five: without an entry it is False as well.",
        ),
    ],
)
def test_what_is_right_and_not_as_the_text_says_is_remarked(
    checked: Answer, exercise: str, find: str, put: str, sentence: str
) -> None:
    """It costs nothing."""
    result = checked(exercise, find, put)
    assert result.is_solved
    said = [c.message.splitlines()[-1] for c in result.checks if c.outcome is Outcome.REMARK]
    assert said == [sentence]


@pytest.mark.parametrize(
    ("exercise", "find", "put", "shown"),
    [
        (WRAPPER, "head(x) for head in self.heads]", "head(x) for head in self.heads[:1]]", 1),
        ("CausalAttention", KEPT, f"{KEPT}; kept = kept / kept.sum(-1, keepdim=True)", 1),
        (
            "stack_batch",
            "torch.stack([inputs] * copies, dim=0)",
            "inputs.repeat_interleave(copies, dim=0).view(copies, *inputs.shape)",
            1,
        ),
    ],
    ids=["shape", "NaN", "values"],
)
def test_what_follows_from_a_shape_or_from_nan_is_not_told_by_its_title(
    checked: Answer, exercise: str, find: str, put: str, shown: int
) -> None:
    """The first check says it."""
    failed = [c for c in checked(exercise, find, put).checks if c.outcome is Outcome.FAILED]
    assert len([c for c in failed if not c.may_follow]) == shown < len(failed)


def test_the_given_parameters_speak_before_the_seed(checked: Answer) -> None:
    """The order of the layers is not blamed for what is wrong in `forward`."""
    result = checked("CausalAttention", "return kept @ values", "return 1.5 * kept @ values")
    failed = [c for c in result.checks if c.outcome is Outcome.FAILED]
    assert failed[0].title.startswith("With given parameters")
    (seeded,) = (c for c in failed if "seed 123" in c.title)
    assert seeded.may_follow


def test_masks_of_one_head_that_is_shared_are_no_parameters(checked: Answer) -> None:
    """Its three parameters are named, and not its buffer."""
    one = "[CausalAttention(d_in, d_out, context_length, dropout, qkv_bias)] * num_heads\n"
    find = (
        "CausalAttention(d_in, d_out, context_length, dropout, qkv_bias)\n"
        "            for _ in range(num_heads)\n"
    )
    (check,) = (c for c in checked(WRAPPER, find, one).checks if "share their" in c.title)
    shared = re.findall(r"'heads\.0\.(\S+) = heads\.1\.\1'", check.message)
    assert shared == ["W_key.weight", "W_query.weight", "W_value.weight"]


def test_a_missing_bias_of_zeros_is_no_reason(checked: Answer) -> None:
    """Dropout is told by itself: its check needs no biases."""
    find = "if d_out % num_heads != 0:"
    result = checked(GPT2, find, f"qkv_bias, dropout = False, 0.1\n        {find}")
    told = [c.title for c in result.checks if c.outcome is Outcome.FAILED and not c.may_follow]
    assert [title for title in told if "should have biases" in title]
    assert [title for title in told if "weights should be dropped" in title]
