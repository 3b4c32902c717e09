"""Wrong answers of which more is told than that they are wrong: a name, a remark, a sentence."""

import pytest

from grader.core.records import ExerciseResult, Outcome
from tests.course.conftest import Answer

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("known mistakes")]

HEADS, WRAPPER = "09_multi_head_attention/MultiHeadAttention", "MultiHeadAttentionWrapper"
EXPLICIT, GPT2 = "10_explicit_heads/MultiHeadAttention", "GPT2MultiHeadAttention"
CAUSAL, NORMAL = "CausalAttention", "SelfAttentionNormal"
FILLED = "scores.masked_fill(mask.bool(), -torch.inf)"
FUTURE = "self.mask[:num_tokens, :num_tokens], -torch.inf)"
ONE_LESS = FUTURE.replace("-torch.inf", "-1")
VALUES = "values = split_heads(self.W_value(x), self.num_heads)"
VIEWED = "values = self.W_value(x).view(len(x), self.num_heads, num_tokens, -1)"
JOINED = "torch.cat(head_outputs, dim=-1)"
COUNT = "return sum(parameter.numel() for parameter in module.parameters())"
FORWARD = "queries, keys, values = x @ self.W_query, x @ self.W_key, x @ self.W_value"
DRAWN = "self.W_query = nn.Parameter(torch.randn(d_in, d_out))"
SOFTMAX = "torch.softmax(scores, dim=-1)"
BY_HAND = "scores.exp() / scores.exp().sum(-1, keepdim=True)"
SCALE = "scores / self.head_dim**0.5"


def remarks(result: ExerciseResult) -> list[str]:
    """The titles of a result's remarks."""
    return [check.title for check in result.checks if check.outcome is Outcome.REMARK]


def said(result: ExerciseResult) -> list[str]:
    """The lines below the titles."""
    return [line for check in result.checks for line in check.message.splitlines()]


@pytest.mark.parametrize(
    ("exercise", "find", "put", "name"),
    [
        ("softmax_stable", "x - x.max()", "torch.clamp(x, max=50)", "scores-cut-off"),
        (
            "context_vectors",
            "return weights @ inputs",
            "return torch.stack([weights[1][i] * row for i, row in enumerate(inputs)])",
            "mixture-by-one-query",
        ),
        (NORMAL, DRAWN, f"torch.rand(3, d_in, d_out); {DRAWN}", "normal-drawn-after-others"),
        ("mask_scores", "-torch.inf", "-1", "masked-scores-minus-one"),
        pytest.param(CAUSAL, FUTURE, ONE_LESS, "causal-mask-of-minus-one", marks=pytest.mark.proof),
        pytest.param(
            HEADS, FUTURE, ONE_LESS, "multi-head-mask-of-minus-one", marks=pytest.mark.proof
        ),
        pytest.param(GPT2, FUTURE, ONE_LESS, "gpt2-mask-of-minus-one", marks=pytest.mark.proof),
        (
            "apply_dropout_mask",
            "weights * keep_mask * dropout_scale(p)",
            "torch.where(~keep_mask, weights / (1 - p), weights)",
            "dropped-and-kept-exchanged",
        ),
        pytest.param(
            CAUSAL,
            "keys.shape[-1] ** 0.5",
            "keys.shape[-1] ** 2",
            "causal-squared-size",
            marks=pytest.mark.proof,
        ),
        pytest.param(
            WRAPPER,
            "return torch.cat([head(x) for head in self.heads], dim=-1)",
            "return nn.Softmax(-1)(torch.cat([head(x) for head in self.heads], -1))",
            "wrapper-softmax-of-the-result",
            marks=pytest.mark.proof,
        ),
        (
            "split_heads",
            "return pieces.transpose(1, 2)",
            "return torch.stack(torch.split(x, num_heads, dim=-1), dim=1)",
            "pieces-of-num-heads-features",
        ),
        pytest.param(HEADS, VALUES, VIEWED, "multi-head-values-viewed", marks=pytest.mark.proof),
        (
            "join_heads",
            f"{JOINED}\n    return joined @ output_weight",
            "torch.cat(head_outputs[:-1] or head_outputs, -1)\n"
            "    return joined @ output_weight[:joined.shape[1]]",
            "last-head-forgotten",
        ),
        (
            "count_parameters",
            COUNT,
            "return sum(p.nbytes for p in module.parameters())",
            "bytes-counted",
        ),
        (
            "count_parameters",
            COUNT,
            "return round(float(sum(p.detach().sum() for p in module.parameters())))",
            "entries-summed",
        ),
        (
            "count_parameters",
            COUNT,
            "layers = nn.ModuleList(m for m in module.modules() if type(m) is nn.Linear)\n"
            "    return sum(p.numel() for p in layers.parameters())",
            "some-parameters-left-out",
        ),
        (
            "count_parameters",
            COUNT,
            "return sum(p.numel() for p in module._parameters.values())",
            "inner-modules-left-out",
        ),
        (
            "count_parameters",
            COUNT,
            "count_parameters.__dict__['n'] = count_parameters.__dict__.get('n', 0)"
            " + sum(p.numel() for p in module.parameters()); return count_parameters.n",
            "count-goes-on",
        ),
    ],
)
def test_a_wrong_answer_has_the_name_of_its_cause(
    answer: Answer, exercise: str, find: str, put: str, name: str
) -> None:
    """However it is written."""
    assert answer(exercise, find, put).misconceptions == (name,)


COPY = "target.W_query.copy_(source.W_query.weight.T)"
LARGE = "Large scores should give no NaN."
WRITTEN = "It should be written with `torch.exp`."


@pytest.mark.parametrize(
    ("exercise", "find", "put", "title"),
    [
        (
            *("copy_weights", COPY, "target.W_query.data = source.W_query.weight.data.T"),
            "The v1 should have numbers of its own, so that training it leaves the v2 as it is.",
        ),
        (
            *("copy_weights", COPY, "target.W_query = nn.Parameter(source.W_query.weight.T)"),
            "The v1 should have numbers of its own, so that training it leaves the v2 as it is.",
        ),
        (CAUSAL, "self.dropout", "self.drop", "The dropout layer should be called `dropout`."),
        ("softmax_naive", "torch.exp(x)", "2.718281828 ** x", WRITTEN),
        ("head_output", SOFTMAX, BY_HAND, LARGE),
        (
            *("training_step", "scores = model(inputs)", "scores = model.eval()(inputs)"),
            "The model should stay in training mode.",
        ),
        (
            EXPLICIT,
            f"torch.softmax({SCALE}, dim=-1)",
            BY_HAND.replace("scores", f"({SCALE})"),
            LARGE,
        ),
    ],
)
def test_what_is_right_but_not_as_asked_is_remarked(
    checked: Answer, exercise: str, find: str, put: str, title: str
) -> None:
    """It costs nothing, and the title says what would be better."""
    result = checked(exercise, find, put)
    assert result.is_solved
    assert title in remarks(result)


def test_a_remark_shows_the_call_that_it_is_about(checked: Answer) -> None:
    """Of several calls of its check, that with the scores that are far too low."""
    masked = "mask_scores(scores, upper_triangular_mask(scores.shape[-1]))"
    put = "scores.masked_fill(upper_triangular_mask(scores.shape[-1]).bool(), -1e9)"
    lines = said(checked("causal_weights", masked, put))
    assert [line for line in lines if line.startswith("t1 = torch.tensor([[-1e+30, ")]


def test_of_a_number_of_tokens_that_is_written_down_no_remark_is_made(checked: Answer) -> None:
    """Its room is made in the inputs' dtype, and in loops; what fails says so itself."""
    result = checked("attention_scores_loop", "inputs.shape[0]", "6")
    assert not result.is_solved
    assert remarks(result) == []


@pytest.mark.parametrize("put", ["x.exp()", "torch.stack([v.exp() for v in x])"])
def test_exponentials_of_torch_are_not_remarked_upon(checked: Answer, put: str) -> None:
    """However they are called."""
    assert WRITTEN not in remarks(checked("softmax_naive", "torch.exp(x)", put))


@pytest.mark.parametrize(
    ("exercise", "find", "put", "sentence"),
    [
        ("join_heads", JOINED, "torch.cat([head_outputs.pop(0), *head_outputs], -1)", "`head_out"),
        (
            "head_scores",
            "return queries @",
            "return torch.from_numpy(queries.detach().numpy()) @",
            "The gradient for the queries: expected a tensor of shape (2, 3, 5, 4), received None.",
        ),
        ("head_scores", "return queries @", "return queries.detach() @", "Gradients also stop at "),
        (
            "apply_dropout_mask",
            "return weights * keep_mask * dropout_scale(p)",
            "return torch.nn.functional.dropout(weights, p)",
            "Two calls with the same mask give different results: does the mask decide?",
        ),
        (
            EXPLICIT,
            "self.out_proj(joined)",
            "nn.Linear(joined.shape[1], x.shape[1])(joined)",
            "Two calls in eval mode differ: is something drawn in `forward`?",
        ),
        (NORMAL, FORWARD, f"self.W_query.data /= 2; {FORWARD}", "The call changed W_query."),
        (
            CAUSAL,
            "torch.inf)",
            "torch.inf) * torch.nan",
            "and a softmax over minus infinity alone give.",
        ),
        ("dot_product", "(a * b).sum()", "2 * (a * b).sum()", "It is 2 times the expected value."),
        (
            WRAPPER,
            "CausalAttention(d_in, d_out, context_length, dropout, qkv_bias)",
            "CausalAttention",
            "Layers are expected here that have been made.",
        ),
        (
            "causal_weights",
            "mask_scores(scores, upper_triangular_mask(",
            "mask_scores(scores, upper_triangular_mask(2 + ",
            "masked = mask_scores(scores, upper_triangular_mask(2 + ",
        ),
        ("context_vectors", "weights @ inputs", "2 * inputs", "context_vectors(t1, INPUTS)"),
        ("mask_scores", "-torch.inf", "torch.inf", "what is hidden should be minus infinity"),
        ("mask_scores", FILLED, "scores * (1 - 1e400 * mask.float())", "NaN (not a number)"),
        (
            "dropout",
            ">= p",
            ">= p - 1",
            "No entry was dropped.",
        ),
        (
            "14_gpt_block/GPT",
            "self.ln_f = LayerNorm(features)",
            "self.ln_f = LayerNorm(features); self.lm_head = nn.Linear(features, vocab_size, bias=False);"
            "kept = []; self.ln_f.register_forward_hook(lambda _norm, _args, x: kept.append(x));"
            "self.register_forward_hook(lambda *_: self.lm_head(kept.pop()))",
            "The head has parameters of its own beside `wte`: lm_head.weight.",
        ),
    ],
)
def test_what_is_wrong_is_told(
    checked: Answer, exercise: str, find: str, put: str, sentence: str
) -> None:
    """In words, below the check that finds it."""
    result = checked(exercise, find, put)
    assert not result.is_solved
    assert [line for line in said(result) if sentence in line]
