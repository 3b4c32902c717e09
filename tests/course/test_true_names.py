"""Wrong answers of real students: what they are named, and what they are not."""

import pytest

from grader.core.records import ExerciseResult, Outcome, Visibility
from tests.course.conftest import Answer

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("known mistakes")]

SCORES = "return torch.stack([dot_product(query, token) for token in inputs])"
MERGED = "return pieces.reshape(batch_size, num_tokens, num_heads * head_dim)"
HEAD_SCORES = "return queries @ keys.transpose(2, 3)"
EXPONENTIALS = "exponentials = torch.exp(x - x.max())"


def told(result: ExerciseResult) -> list[str]:
    """The lines that a student reads."""
    return [line for check in result.checks for line in check.message.splitlines()]


@pytest.mark.parametrize(
    ("exercise", "find", "put"),
    [
        ("attention_scores", SCORES, "return torch.dot(query, inputs)"),
        ("attention_scores", SCORES, "return inputs @ query[None]"),
        (
            "merge_heads",
            MERGED,
            "return pieces.reshape(batch_size, num_tokens, num_heads + head_dim)",
        ),
        ("head_scores", HEAD_SCORES, "return queries @ keys"),
        ("softmax_stable", EXPONENTIALS, "exponentials = torch.exp(x - x[0])"),
        ("softmax_stable", EXPONENTIALS, "exponentials = torch.exp(x) * torch.nan"),
    ],
    ids=["dot", "row", "sum of sizes", "not transposed", "first subtracted", "NaN"],
)
def test_an_exception_or_nan_of_another_cause_is_given_no_name(
    answer: Answer, exercise: str, find: str, put: str
) -> None:
    """The operation, or the shapes, or the finite values are not those of a known mistake."""
    result = answer(exercise, find, put)
    assert not result.is_solved
    assert result.findings == ()


@pytest.mark.parametrize(
    ("exercise", "find", "put", "name"),
    [
        ("attention_scores", SCORES, "return torch.matmul(query, inputs)", "query-meets-columns"),
        ("merge_heads", MERGED, MERGED.replace("reshape", "view"), "view-of-swapped-axes"),
        (
            *("head_scores", HEAD_SCORES, "return queries @ keys.swapaxes(1, 2)"),
            "head-scores-wrong-axes-swapped",
        ),
        ("softmax_stable", EXPONENTIALS, "exponentials = torch.exp(x)", "nothing-subtracted"),
    ],
)
def test_an_exception_or_nan_of_a_known_mistake_is_named(
    answer: Answer, exercise: str, find: str, put: str, name: str
) -> None:
    """However it is written."""
    assert answer(exercise, find, put).misconceptions == (name,)


SOFTMAX = "torch.softmax(scores / d_k**0.5, dim=-1)"
PAIR = "scores[i, j] = torch.dot(query, token)"
RETURNED = "requires_grad=False)\n    return W_query, W_key, W_value"
DRAWN = "torch.rand(weights.shape) >= p"
MIXTURE = "return weights @ "
ADDED = "mixture-with-the-token-added"


@pytest.mark.parametrize(
    ("exercise", "find", "put", "name"),
    [
        (
            "dot_product",
            "(a * b).sum()",
            "[x * y for x, y in zip(a, b)][-1]",
            "products-last-alone",
        ),
        (
            "attention_scores_loop",
            PAIR,
            "scores[i][i] = query @ token",
            "pairs-on-the-diagonal-alone",
        ),
        ("init_weights", RETURNED, RETURNED[:-15] + "W_key, W_key", "rand-key-returned-twice"),
        (
            "init_weights",
            RETURNED,
            RETURNED[:-15] + "W_query, W_value",
            "rand-query-returned-twice",
        ),
        (
            "scaled_weights",
            SOFTMAX,
            "(scores / d_k ** 1/2).softmax(-1)",
            "scores-power-before-division",
        ),
        ("scaled_weights", SOFTMAX, "(scores / 1.4142135).softmax(-1)", "scores-fixed-root"),
        ("scaled_weights", SOFTMAX, "(scores / d_k / d_k).softmax(-1)", "scores-squared-size"),
        ("SelfAttention_v1", "return weights @", "return weights.T @", "v1-weights-turned-round"),
        ("SelfAttention_v2", "self.W_key(x)", "x @ self.W_key", "v2-layers-not-called"),
        ("dot_product", "(a * b).sum()", "a[0] * b[0]", "products-return-too-early"),
        ("SelfAttention_v1", f"{MIXTURE}values", f"{MIXTURE}keys", "v1-values-by-the-key-matrix"),
        ("SelfAttention_v2", "qkv_bias: bool = False", "qkv_bias=True", "v2-always-biased"),
        ("SelfAttention_v2", "=qkv_bias", "=not qkv_bias", "v2-bias-turned-round"),
        (
            "SelfAttention_v2",
            "return attn_weights @ values",
            "return (attn_weights @ values).softmax(1)",
            "v2-softmax-of-the-mixture",
        ),
        ("context_vectors", "return weights @", "return inputs + weights @", ADDED),
        (
            "SelfAttention_v1",
            "queries = x @ self.W_query",
            "queries = torch.einsum('ti,io->to', x, self.W_key)",
            "v1-queries-by-the-key-matrix",
        ),
        ("gelu", "0.044715 * x**3", "0.44715 * x * x * x", "gelu-point-misplaced"),
        (
            "LayerNorm",
            "x.var(dim=-1, keepdim=True, correction=0)",
            "x.std(dim=-1, keepdim=True, correction=0)",
            "norm-root-of-the-deviation",
        ),
        (
            "masked_softmax",
            "return weights.masked_fill(hidden, 0.0)",
            "return torch.where(mask, scores, torch.zeros_like(scores)).softmax(-1)",
            "masked-softmax-zero-for-hidden-scores",
        ),
        (
            "generate",
            "scores.argmax(dim=-1, keepdim=True)",
            "torch.distributions.Categorical(logits=scores).sample()[:, None]",
            "generate-drawn",
        ),
        (
            "06_dropout/dropout",
            DRAWN,
            "torch.full(weights.shape, torch.rand(()).item()) >= p",
            "dropout-one-draw-for-all",
        ),
    ],
)
def test_a_mistake_is_named_however_it_is_written(
    answer: Answer, exercise: str, find: str, put: str, name: str
) -> None:
    """By what it makes of the values."""
    assert answer(exercise, find, put).misconceptions == (name,)


@pytest.mark.parametrize(
    ("exercise", "find", "put"),
    [
        ("normalize_scores", "scores.sum()", "scores.abs().sum()"),
        (
            "causal_weights",
            "masked = mask_scores(",
            "masked = -1e9 * upper_triangular_mask(len(scores)) + scores  # (",
        ),
    ],
    ids=["sizes", "large number"],
)
def test_what_is_right_by_accident_is_remarked(
    answer: Answer, exercise: str, find: str, put: str
) -> None:
    """It costs nothing, and it is said."""
    result = answer(exercise, find, put)
    assert result.is_solved
    assert [c.outcome for c in result.checks].count(Outcome.REMARK) == 1


CONFIG = '"context_length": 1024'


@pytest.mark.parametrize(
    ("exercise", "find", "put", "sentence"),
    [
        (
            *("SelfAttention_v1", "x @ self.W_query", "x @ W_query"),
            "Did you mean self.W_query when you wrote W_query?",
        ),
        (
            *("SelfAttention_v1", "self.W_query", "self.Wq"),
            "You have Wq; the exercise calls it W_query.",
        ),
        (
            *("GPT2_CONFIG", CONFIG, CONFIG.replace("length", "lenght")),
            "Did you mean context_length when you wrote context_lenght?",
        ),
        ("dot_product", "(a * b).sum()", "np.dot(a, b)", "Is `import numpy as np` missing?"),
    ],
    ids=["self", "parameter", "key", "import"],
)
def test_a_slip_in_a_name_is_answered_with_the_right_one(
    checked: Answer, exercise: str, find: str, put: str, sentence: str
) -> None:
    """Whatever the version of Python."""
    assert sentence in told(checked(exercise, find, put))


def test_inputs_are_called_by_their_names(checked: Answer) -> None:
    """The student's own constants, with the line as an editor opens it."""
    lines = told(checked("attention_scores", SCORES, "return torch.dot(query, inputs)"))
    assert lines[0] == "attention_scores(INPUTS[1], INPUTS)"
    assert lines[2].startswith("  at 01_simple_attention/simple_attention.py:")


def test_the_inputs_of_hidden_checks_are_not_written_down(checked: Answer) -> None:
    """Neither by name nor as the line that draws them."""
    result = checked("attention_scores", SCORES, "return inputs @ query * 2", hidden=True)
    hidden = [c.message for c in result.checks if c.visibility is Visibility.HIDDEN and c.message]
    assert hidden
    assert not [m for m in hidden if "INPUTS" in m or "x1" in m or "manual_seed" in m]


CUT = "self.mask[:num_tokens, :num_tokens]"
BUFFER = 'self.register_buffer("mask", future)'
KEPT = "kept = self.dropout(weights)"
CAUSAL_SCALE = "scores / keys.shape[-1] ** 0.5"
GPT2 = "GPT2MultiHeadAttention"
DIVISIBLE = "if d_out % num_heads != 0:"


@pytest.mark.parametrize(
    ("exercise", "find", "put", "name"),
    [
        ("SelfAttention_v2", "keys.shape[-1] ** 0.5", "keys.shape[-1] ** 5", "v2-fifth-power"),
        (
            "SelfAttention_v2",
            "attn_weights @ values",
            "attn_weights.T @ values",
            "v2-weights-turned-round",
        ),
        ("CausalAttention", KEPT, f"self.train(); {KEPT}", "causal-forward-trains"),
        ("CausalAttention", KEPT, f"self.dropout.train(); {KEPT}", "causal-dropout-always"),
        (
            "CausalAttention",
            KEPT,
            "self.dropout(weights); kept = weights",
            "causal-dropout-not-applied",
        ),
        ("CausalAttention", CUT, CUT.replace("mask", "mask.mT"), "causal-mask-transposed"),
        ("CausalAttention", CUT, "self.mask[:num_tokens]", "causal-mask-not-cut"),
        *(
            ("CausalAttention", CAUSAL_SCALE, CAUSAL_SCALE.replace("0.5", power), name)
            for power, name in (
                ("5", "causal-fifth-power"),
                ("0.05", "causal-power-near-zero"),
                ("0 / 5", "causal-divided-by-five"),
                ("1 / 2", "causal-divided-by-size-and-two"),
            )
        ),
        (
            *("CausalAttention", BUFFER, "self.mask = nn.Parameter(future, requires_grad=False)"),
            "causal-mask-trained",
        ),
        (GPT2, "return self.out_proj(context)", "return context", "gpt2-out-proj-unused"),
        (GPT2, DIVISIBLE, DIVISIBLE.replace("d_out", "d_in"), "gpt2-divisibility-of-d-in"),
        (GPT2, DIVISIBLE, "if False:", "gpt2-divisibility-unchecked"),
        pytest.param(
            *(GPT2, "nn.Dropout(dropout)", "nn.Dropout(0.1)", "gpt2-dropout-of-a-tenth-always"),
            marks=[pytest.mark.proof, pytest.mark.long],
        ),
    ],
)
def test_a_mistake_of_the_layers_has_the_name_of_its_cause(
    answer: Answer, exercise: str, find: str, put: str, name: str
) -> None:
    """Mistakes that look alike are told apart, however they are written."""
    assert answer(exercise, find, put).misconceptions == (name,)


ONES = "ones(context_length, context_length"
NAMED_PAST = (
    'self.register_buffer("past", future); type(self).mask = property(lambda module: module.past)'
)


def remarks(result: ExerciseResult) -> list[str]:
    """What the remarks of a result say."""
    return [c.message.splitlines()[-1] for c in result.checks if c.outcome is Outcome.REMARK]


@pytest.mark.parametrize(
    ("find", "put", "sentence"),
    [
        (BUFFER, NAMED_PAST, "There is no buffer `mask`; your buffers are called past."),
        (ONES, "ones(1024, 1024", "The mask has the shape (1024, 1024), not (4, 4)."),
        ("-torch.inf", "-1e9", "Where its own score is -1e10, the first token sees the second."),
    ],
    ids=["name", "size", "large number"],
)
def test_what_is_right_but_not_as_asked_is_remarked(
    checked: Answer, find: str, put: str, sentence: str
) -> None:
    """It costs nothing, and it is not passed over in silence."""
    result = checked("CausalAttention", find, put)
    assert result.score == result.max_score
    assert sentence in remarks(result)


FORWARD = "queries, keys, values = x @ self.W_query, x @ self.W_key, x @ self.W_value"
MATRIX = "self.W_value = nn.Parameter(torch.rand(d_in, d_out))"
APPLIED = "return weights * keep_mask * dropout_scale(p)"
LOST = "No gradient reaches the tokens."
MASKED = "torch.softmax(masked / d_k**0.5, dim=-1)"


@pytest.mark.parametrize(
    ("exercise", "find", "put", "sentence"),
    [
        ("SelfAttention_v1", "x @ self.", "x.detach() @ self.", LOST),
        ("SelfAttention_v2", "(x)", "(x.detach())", LOST),
        ("SelfAttentionNormal", "x @ self.", "x.detach() @ self.", LOST),
        (
            "SelfAttentionNormal",
            "super().__init__()",
            "super().__init__(); self.W_out = nn.Parameter(torch.ones(2))",
            "There are parameters that should not be there: W_out.",
        ),
        (
            *("SelfAttention_v1", MATRIX, "self.W_value = self.W_key"),
            "W_key: it shares its numbers with another of the three.",
        ),
        (
            *(
                "SelfAttention_v1",
                MATRIX,
                "self.W_value = torch.rand(d_in, d_out).requires_grad_()",
            ),
            "W_value: a plain tensor, which an optimizer does not find.",
        ),
    ],
)
def test_what_a_layer_lacks_is_said(
    checked: Answer, exercise: str, find: str, put: str, sentence: str
) -> None:
    """And nothing that it does not lack."""
    result = checked(exercise, find, put)
    assert sentence in told(result)
    assert not [line for line in told(result) if line.startswith("No gradient") and line != LOST]


@pytest.mark.parametrize(
    ("exercise", "find", "put", "check"),
    [
        (
            "SelfAttentionNormal",
            FORWARD,
            f"{FORWARD}; values = self.__dict__.setdefault('kept', values)",
            "test_asking_changes_nothing",
        ),
        (
            "SelfAttentionNormal",
            FORWARD,
            f"self.runs = getattr(self, 'runs', 0) + 1; {FORWARD}; values = values / self.runs",
            "test_asking_changes_nothing",
        ),
        ("SelfAttentionNormal", "x @ self.", "x.float() @ self.", "test_double_precision_is_kept"),
        ("apply_dropout_mask", APPLIED, f"r, c = weights.shape; {APPLIED}", "test_any_shape"),
        (
            "apply_dropout_mask",
            APPLIED,
            f"{APPLIED[:6]} ({APPLIED[7:]}).squeeze()",
            "test_any_shape",
        ),
        ("06_dropout/dropout", DRAWN, "torch.rand(*weights.shape, 1)[..., 0] >= p", ""),
        (
            "06_dropout/dropout",
            DRAWN,
            f"({DRAWN}).reshape([n for n in weights.shape if n > 1])",
            "test_any_shape",
        ),
    ],
)
def test_what_a_docstring_promises_is_checked(
    checked: Answer, exercise: str, find: str, put: str, check: str
) -> None:
    """By a check that fails alone."""
    failed = [c.id for c in checked(exercise, find, put).checks if c.outcome is Outcome.FAILED]
    assert len(failed) == bool(check)
    assert all(check in id_ for id_ in failed)


ROW = "Each row has a largest score of its own, which an own softmax has to subtract."


@pytest.mark.parametrize(
    ("put", "expected"),
    [
        ("e = (masked / d_k**0.5).exp(); return e / e.sum(-1, True)", [ROW]),
        (
            "m = masked / d_k**0.5; e = (m - m.max()).exp(); return e / e.sum(-1, True)",
            [ROW],
        ),
        ("return torch.softmax(masked, dim=-1) / d_k**0.5", []),
    ],
)
def test_remarks_on_causal_weights_are_true(checked: Answer, put: str, expected: list[str]) -> None:
    """Of the future nothing is said where it has no weight."""
    assert remarks(checked("causal_weights", f"return {MASKED}", put)) == expected


@pytest.mark.parametrize(
    ("exercise", "find", "put", "followers"),
    [
        ("merge_heads", MERGED, MERGED + " * 1.5", ["Gradients"]),
        (
            "SelfAttention_v1",
            "self.W_",
            "self.m",
            ["Given the example's", "Gradients", "float64"],
        ),
        (
            "SelfAttention_v1",
            "self.W_query = nn.Parameter(torch.rand(d_in, d_out))",
            "self.W_query = torch.rand(d_in, d_out, requires_grad=True)",
            ["Gradients"],
        ),
    ],
    ids=["values", "names", "plain tensor"],
)
def test_a_title_accuses_of_nothing_that_follows_from_an_earlier_failure(
    answer: Answer, exercise: str, find: str, put: str, followers: list[str]
) -> None:
    """Values that are not the solution's, parameters that are not there."""
    titles = [check.title for check in answer(exercise, find, put).checks if check.may_follow]
    assert all(any(words in title for title in titles) for words in followers)


@pytest.mark.proof
def test_a_property_keeps_its_title_below_wrong_values(answer: Answer) -> None:
    """The check's own expected values say that it does not hold."""
    result = answer("SelfAttention_v1", "return weights @", "return 2 * weights @")
    failed = {c.title: c for c in result.checks if c.outcome is Outcome.FAILED}
    (sums,) = (check for title, check in failed.items() if "weights sum to 1" in title)
    assert not sums.may_follow


@pytest.mark.parametrize(
    ("exercise", "find", "put"),
    [
        ("SelfAttention_v2", "bias=qkv_bias", "bias=not qkv_bias"),
        (
            "init_weights_normal",
            "nn.Parameter(torch.randn(d_in, d_out))",
            "torch.randn(d_in, d_out)",
        ),
    ],
    ids=["turned round", "plain tensors"],
)
def test_two_names_that_contradict_each_other_are_not_given(
    answer: Answer, exercise: str, find: str, put: str
) -> None:
    """Each explains a part, but they cannot be made at once."""
    result = answer(exercise, find, put)
    assert not result.is_solved
    assert len(result.findings) <= 1


def test_values_in_another_order_are_no_mistake_in_the_product(answer: Answer) -> None:
    """`weights @ inputs` is right: each stands for the other."""
    given = "context_vector(weights: Tensor, inputs: Tensor)"
    result = answer("context_vector", given, "context_vector(inputs: Tensor, weights: Tensor)")
    assert (result.findings, result.is_solved) == ((), False)
