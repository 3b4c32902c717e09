"""Wrong layers: what they are named, and which promise they break."""

import pytest

from grader.core.records import Outcome
from tests.course.conftest import Answer

pytestmark = pytest.mark.xdist_group("known mistakes")

CUT = "self.mask[:num_tokens, :num_tokens]"
KEPT = "kept: Tensor = self.dropout(weights)"
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
        (HEADS, HIDDEN_SCORES, NAN_MASK, "multi-head-not-a-number"),
        (HEADS, DROPPED, ROW_SUMS, "multi-head-dropout-renormalised"),
        # No mistake alone shows all that this one does, so that all pairs are tried.
        pytest.param(
            *(HEADS, "scores = head_scores(queries,", "scores = head_scores(queries / 8**0.5,"),
            "multi-head-root-forgotten",
            marks=pytest.mark.proof,
        ),
        (
            HEADS,
            "merge_heads(weights @",
            "merge_heads(weights.mT @",
            "multi-head-weights-turned-round",
        ),
        ("merge_heads", "num_heads, num_tokens, h", "num_tokens, num_heads, h", "rows-for-heads"),
        ("head_output", "weights @", "weights.T @", "explicit-head-weights-turned-round"),
        (EXPLICIT, GPT2_SCALE, "scores / self.head_dim**-0.5", "explicit-heads-multiplied-by-root"),
        (EXPLICIT, "weights @", "weights[0] @", "explicit-heads-weights-of-the-first-head"),
        (
            GPT2,
            "[:num_tokens, :num_tokens]",
            "[num_tokens:, num_tokens:]",
            "gpt2-mask-smaller-than-the-text",
        ),
        (
            GPT2,
            "= self.out_proj(context)",
            "= self.dropout(self.out_proj(context))",
            "gpt2-dropout-twice",
        ),
        (WRAPPER, "dropout, qkv_bias)", "qkv_bias, dropout)", "wrapper-dropout-and-bias-swapped"),
    ],
)
def test_a_name_says_what_the_values_show(
    answer: Answer, exercise: str, find: str, put: str, name: str
) -> None:
    """Codes with the same values have one name, which is true of all of them."""
    assert answer(exercise, find, put).misconceptions == (name,)


OTHER_NAMES = (("W_query", "Wq"), ("W_key", "Wk"), ("W_value", "Wv"))
OTHER_ORDER = ("dropout: float,\n        num_heads: int", "num_heads: int,\n        dropout: float")
START = "super().__init__()\n"


@pytest.mark.parametrize(
    ("exercise", "find", "put", "slip", "name"),
    [
        (
            *("CausalAttention", START, f"{START}        torch.manual_seed(123)\n"),
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
    ids=["seed", "mask", "dropout", "scale", "scale and order", "scale and default"],
)
def test_a_slip_in_names_or_signature_hides_no_mistake(
    answer: Answer, exercise: str, find: str, put: str, slip: tuple[tuple[str, str], ...], name: str
) -> None:
    """What failed for the slip alone says so, and is no sign of anything else."""
    assert answer(exercise, find, put, *slip).misconceptions == (name,)


@pytest.mark.parametrize(
    ("exercise", "edits"),
    [
        ("CausalAttention", (("W_query", "one"), ("W_key", "two"), ("W_value", "three"))),
        (HEADS, (("W_query", "one"), ("W_key", "two"), ("W_value", "three"))),
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
        (EXPLICIT, "= self.out_proj(joined)", "= joined", "explicit-heads-out-proj-unused"),
        (
            *(EXPLICIT, "= nn.Linear(num_heads * head_dim, embed_dim)", "= nn.Identity()"),
            "explicit-heads-out-proj-missing",
        ),
        ("SelfAttention_v1", "keys.T", "keys.swapaxes(1, 2)", "v1-batches-only"),
        (
            "SelfAttention_v2",
            "return attn_weights @ values",
            "return attn_scores",
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
HEADS_TRAINED = "In training mode weights should be dropped after the softmax, and the rest scaled."
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
        (GPT2, "return output", "self.eval(); return output", HEADS_TRAINED),
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
