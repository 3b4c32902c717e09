"""Wrong answers of the first five assignments: what is said of them is true of each that gets it."""

import pytest

from grader.core.records import ExerciseResult, Outcome
from tests.course.conftest import Answer

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("known mistakes")]

V1, V2, NORMAL = "SelfAttention_v1", "SelfAttention_v2", "SelfAttentionNormal"
PRODUCTS = "return (a * b).sum()"
SCALED = "return torch.softmax(scores / d_k**0.5, dim=-1)"
V1_SOFTMAX = (
    "weights = torch.softmax(scores / keys.shape[-1] ** 0.5, dim=-1)\n        return weights"
)
MIXED = "return weights @ inputs"
MASKED = "masked = mask_scores(scores, upper_triangular_mask(scores.shape[-1]))"
FILLED = "return scores.masked_fill(mask.bool(), -torch.inf)"
ROWS = "return weights / weights.sum(dim=-1, keepdim=True)"
EXPONENTIALS = "exponentials = torch.exp(x)\n    return exponentials / exponentials.sum()"
MADE = "self.W_{0} = nn.Parameter(torch.rand(d_in, d_out))"
MADE_LATER = (
    "any(setattr(self, f'W_{name}', nn.Parameter(torch.rand(d_in, d_out)))"
    " for name in ('query', 'key', 'value')) or None"
)
MATRICES = "\n        ".join(map(MADE.format, ("query", "key", "value")))


def failed(result: ExerciseResult) -> list[str]:
    """The titles that stand alone: of checks that failed, and not perhaps for an earlier reason."""
    checks = [check for check in result.checks if check.outcome is Outcome.FAILED]
    return [check.title for check in checks if not check.may_follow]


def lines(result: ExerciseResult) -> list[str]:
    """What stands below the titles."""
    return [line for check in result.checks for line in check.message.splitlines()]


@pytest.mark.parametrize(
    ("exercise", "find", "put", "name"),
    [
        ("scaled_weights", SCALED, "return (scores / (2 * d_k)).softmax(-1)", "power-before"),
        ("scaled_weights", SCALED, "return (scores / d_k ** 1 / 2).softmax(-1)", "power-before"),
        (V1, "keys.shape[-1] ** 0.5", "keys.shape[-1] * 0.5", "power-before"),
        ("scaled_weights", SCALED, "return (scores / (d_k / 2)).softmax(-1)", "half-power"),
        ("scaled_weights", SCALED, "return (scores / 5).softmax(-1)", "power-of-zero"),
        ("dot_product", PRODUCTS, f"with torch.no_grad(): {PRODUCTS}", "made-a-new-tensor"),
        ("dot_product", PRODUCTS, "return (a.data * b.data).sum()", "made-a-new-tensor"),
        ("mask_scores", "-torch.inf", "-1e-9", "masked-scores-zero"),
        ("mask_scores", FILLED, "scores[mask.bool()] = -torch.inf; return scores", "in-place"),
    ],
)
def test_a_mistake_is_told_without_the_syntax_of_one_way_to_make_it(
    answer: Answer, exercise: str, find: str, put: str, name: str
) -> None:
    """Other code with the same values reads the same sentence."""
    (finding,) = answer(exercise, find, put).findings
    (told,) = finding.candidates
    assert name in told.id
    assert not {"**", "underscore", ".item()"} & {*f"{told.symptom} {told.question}".split()}
    assert "`" not in told.symptom


@pytest.mark.parametrize(
    ("exercise", "find", "put", "name"),
    [
        ("context_vector", MIXED, f"{MIXED} / weights.sum()", "context-of-divided-weights"),
        (
            "context_vector",
            MIXED,
            "return sum((w * x for w, x in zip(weights, inputs)), weights[0] * inputs[0])",
            "first-weighted-token-twice",
        ),
        ("attention_scores_loop", "(query, token)", "(token, token)", "pairs-other-token-twice"),
        (
            "attention_scores_matmul",
            "inputs.T",
            "inputs.view(inputs.shape[::-1])",
            "scores-reshaped-instead-of-transposed",
        ),
        ("context_vectors", MIXED, "return (weights @ inputs).cumsum(0)", "mixture-sum-goes-on"),
        (
            "init_weights_normal",
            "W_query = nn.Parameter(torch.randn(d_in, d_out))\n"
            "    W_key = nn.Parameter(torch.randn(d_in, d_out))\n"
            "    W_value = nn.Parameter(torch.randn(d_in, d_out))\n",
            "W_query, W_key, W_value = map(nn.Parameter, torch.randn(3, d_in, d_out))\n",
            "normal-one-draw-for-all",
        ),
        (
            "weighted_values",
            "return weights @ values",
            "return (weights / weights.sum(-1, True)) @ values",
            "values-of-divided-weights",
        ),
        (V1, V1_SOFTMAX, "return (scores / scores.sum(1, True))", "v1-plain-shares"),
        (
            V2,
            "keys = self.W_key(x)",
            "x = queries; keys = self.W_key(x)",
            "v2-projected-twice",
        ),
        ("causal_weights", MASKED, MASKED[:-1] + ".mT)", "causal-weights-mask-turned-round"),
        (
            "mask_scores",
            FILLED,
            "return scores * (1 - mask.int()).float().log().where(mask.bool(), torch.ones(()))",
            "masked-scores-times-infinity",
        ),
        ("renormalize_rows", ROWS, f"{ROWS}.clamp(0.01)", "renormalized-with-a-floor"),
    ],
)
def test_a_common_mistake_of_the_first_steps_is_named(
    answer: Answer, exercise: str, find: str, put: str, name: str
) -> None:
    """However it is written."""
    assert answer(exercise, find, put).misconceptions == (name,)


@pytest.mark.parametrize(
    ("exercise", "find", "put", "titles"),
    [
        (
            "attention_scores_loop",
            "(query, token)",
            "(token, token)",
            ["The scores of all tokens should be the example's."],
        ),
        (
            "lower_triangular_mask",
            ".tril()",
            ".tril(-1)",
            ["For six tokens, the mask should be the example's (numbers or truth values)."],
        ),
        (
            "causal_weights",
            MASKED,
            MASKED[:-1] + ".mT)",
            ["The example's scores should become the example's causal weights."],
        ),
        (
            "softmax_naive",
            EXPONENTIALS,
            f"{EXPONENTIALS.replace('return', 'return torch.round(')}, decimals=4)",
            ["Scores in float64 should give weights in float64, with all their digits."],
        ),
    ],
    ids=["pairs", "mask", "turned round", "rounded"],
)
def test_a_title_that_holds_is_not_shown_as_failed(
    checked: Answer, exercise: str, find: str, put: str, titles: list[str]
) -> None:
    """Where only the values are wrong, the first check that says so stands for the others."""
    assert failed(checked(exercise, find, put)) == titles


@pytest.mark.parametrize(
    ("exercise", "find", "put", "sentence"),
    [
        (
            "softmax_naive",
            "torch.exp(x)",
            "2.718 ** x",
            "Only the first digits are right: is the result, or a number in your code, rounded?",
        ),
        (
            V1,
            f"{MATRICES}\n",
            f"self.register_forward_pre_hook(lambda self, _: {MADE_LATER})\n",
            "A new instance has no parameters yet: are they made in `__init__`, as attributes of `self`?",
        ),
        (
            *(V2, "return attn_weights", "return nn.functional.dropout(attn_weights, 0.1)"),
            "Two calls with the same tokens differ: is something in `forward` drawn at random, "
            "as by dropout, or kept from call to call?",
        ),
        (
            V1,
            "queries = x @",
            "queries = x.requires_grad_() @",
            "It changed its argument in place.",
        ),
        (
            "upper_triangular_mask",
            "return torch.ones(context_length, context_length).triu(diagonal=1)",
            "return ~torch.ones(context_length, context_length, dtype=torch.int).tril()",
            "Every value is 2 less than the expected one.",
        ),
    ],
    ids=["digits", "made in forward", "dropout", "gradients switched on", "own numbers of a mask"],
)
def test_what_is_amiss_is_said(
    checked: Answer, exercise: str, find: str, put: str, sentence: str
) -> None:
    """In a sentence of its own, beside the numbers."""
    result = checked(exercise, find, put)
    assert sentence in lines(result)


@pytest.mark.parametrize(
    ("exercise", "find", "put", "title"),
    [
        (
            *("init_weights", "return W_query, W_key, W_value", "return [W_query, W_key, W_value]"),
            "The three should come back as a tuple.",
        ),
        (
            NORMAL,
            "self.W_query = nn.Parameter(torch.randn(d_in, d_out))\n"
            "        self.W_key = nn.Parameter(torch.randn(d_in, d_out))\n"
            "        self.W_value = nn.Parameter(torch.randn(d_in, d_out))\n",
            "drawn = [nn.Parameter(torch.randn(d_in, d_out)) for _ in range(3)]\n"
            "        self.inner = SelfAttention_v1(d_in, d_out)\n"
            "        self.inner.W_query, self.inner.W_key, self.inner.W_value = drawn\n"
            "        self.__dict__.update(self.inner._parameters)\n",
            "W_query, W_key and W_value should be attributes of the layer itself.",
        ),
    ],
    ids=["list", "inner layer"],
)
def test_what_another_form_lacks_is_remarked(
    checked: Answer, exercise: str, find: str, put: str, title: str
) -> None:
    """It costs nothing."""
    result = checked(exercise, find, put)
    assert result.score == result.max_score
    assert title in [c.title for c in result.checks if c.outcome is Outcome.REMARK]


def test_scores_that_happen_to_be_zero_count(answer: Answer) -> None:
    """A mask that takes them for hidden ones is caught by a visible check, and named."""
    put = "masked = scores.masked_fill(scores.tril() == 0, -torch.inf)"
    result = answer("causal_weights", MASKED, put)
    title = "A score of zero should have a weight as well, on and below the diagonal."
    assert failed(result) == [title]
    assert result.misconceptions == ("causal-weights-scores-of-zero-hidden",)


def test_a_causal_mask_turned_round_is_told_nothing_of_very_low_scores(checked: Answer) -> None:
    """The future has weight for ordinary scores as well: minus infinity is not the cause."""
    result = checked("causal_weights", MASKED, MASKED[:-1] + ".mT)")
    assert Outcome.REMARK not in [check.outcome for check in result.checks]


@pytest.mark.parametrize(
    ("exercise", "find", "put"),
    [
        ("normalize_scores", "return scores / scores.sum()", "return (scores / scores.sum()){}"),
        ("mask_weights", "return weights * mask", "return (weights * mask){}"),
        ("stack_batch", "[inputs] * copies, dim=0)", "[inputs] * copies, dim=0){}"),
        ("dropout_scale", "return 1 / (1 - p)", "return round(1 / (1 - p), 4)"),
    ],
)
def test_rounding_to_the_printed_digits_is_seen(
    answer: Answer, exercise: str, find: str, put: str
) -> None:
    """Where all that is printed has four digits, another input shows it."""
    result = answer(exercise, find, put.format(".round(decimals=4)"))
    told = "It is the expected result rounded to 4 digits after the point."
    assert len(failed(result)) == 1
    assert told in lines(result)


@pytest.mark.parametrize(
    ("exercise", "find", "put"),
    [
        ("project", "return x @ weight", "return (x @ weight).squeeze()"),
        ("weighted_values", "return weights @ values", "return (weights @ values).squeeze()"),
        ("context_vectors", MIXED, "return (weights @ inputs).squeeze()"),
    ],
)
def test_a_matrix_of_one_row_stays_a_matrix(
    answer: Answer, exercise: str, find: str, put: str
) -> None:
    """Its axis of size 1 is not to be dropped."""
    result = answer(exercise, find, put)
    assert len(failed(result)) == 1
    assert "It lacks 1 axis of size 1." in lines(result)


def test_no_weight_is_too_small_to_be_kept(answer: Answer) -> None:
    """Whether one is dropped does not depend on its size."""
    drawn = "torch.rand(weights.shape) >= p"
    result = answer("dropout", drawn, "torch.rand(weights.shape) * weights >= p")
    assert [title for title in failed(result) if "as p says" in title]


@pytest.mark.parametrize(
    ("exercise", "edits", "name"),
    [
        (
            V2,
            (
                *(("W_query", "one"), ("W_key", "two"), ("W_value", "three")),
                ("return attn_weights @ values", "return attn_weights"),
            ),
            "v2-values-not-mixed",
        ),
        (
            "MultiHeadAttentionWrapper",
            (
                (
                    "CausalAttention(d_in, d_out, context_length",
                    "CausalAttention(d_in, d_out // num_heads, context_length",
                ),
            ),
            "wrapper-width-divided",
        ),
    ],
)
def test_a_mistake_of_shapes_is_named_where_no_weights_are_taken(
    answer: Answer, exercise: str, edits: tuple[tuple[str, str], ...], name: str
) -> None:
    """A shape does not depend on the numbers that were drawn."""
    (find, put), *more = edits
    (finding,) = answer(exercise, find, put, *more).findings
    assert [mistake.id for mistake in finding.candidates] == [name]
