"""Wrong answers of real students: what they are named, and what they are not."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from grader.core.records import ExerciseResult, Outcome, Visibility
from grader.course.course import Course, load_course
from grader.grading.known_mistakes import LiveMistakes
from grader.grading.submission_grader import (
    ALL_CHECKS,
    VISIBLE_CHECKS,
    Scope,
    SubmissionGrader,
    grade,
    visible_grader,
)
from grader.sessions.in_process import InProcessSession
from grader.submissions.notebooks import Cell

Answer = Callable[..., ExerciseResult]

SCORES = "return inputs @ query"
MERGED = "return pieces.reshape(batch_size, num_tokens, num_heads * head_dim)"
HEAD_SCORES = "return queries @ keys.transpose(2, 3)"
EXPONENTIALS = "exponentials = torch.exp(x - x.max())"


def told(result: ExerciseResult) -> list[str]:
    """The lines that a student reads."""
    return [line for check in result.checks for line in check.message.splitlines()]


@pytest.fixture(scope="module")
def course(root: Path) -> Course:
    """The course itself."""
    return load_course(root)


@pytest.fixture(scope="module")
def grader(course: Course) -> Iterator[SubmissionGrader]:
    """What students check with."""
    made = visible_grader(course)
    yield made
    made.close()


@pytest.fixture
def answer(course: Course, grader: SubmissionGrader) -> Answer:
    """Grades the solution of an exercise in which a piece of text is replaced."""

    def graded(exercise: str, find: str, put: str, hidden: bool = False) -> ExerciseResult:
        (id_, found), *_others = course.select((exercise,)).items()
        assert isinstance(grader.mistakes, LiveMistakes)
        solutions = grader.mistakes.solutions
        key = solutions.readings[found.assignment].sources[0]
        text = solutions.sources[key].cells[0].text
        assert find in text
        changed = replace(solutions.sources[key], cells=(Cell(None, text.replace(find, put)),))
        submission = replace(solutions, sources={**solutions.sources, key: changed})
        session, scope = InProcessSession(submission), ALL_CHECKS if hidden else VISIBLE_CHECKS
        result = grade(grader, submission, session, Scope({id_: found}, scope))
        return result.exercises[0]

    return graded


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
        (
            "06_dropout/dropout",
            DRAWN,
            "torch.linspace(0, 1, weights.numel()).view(weights.shape) >= p",
            "dropout-same-draw",
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
    answer: Answer, exercise: str, find: str, put: str, sentence: str
) -> None:
    """Whatever the version of Python."""
    assert sentence in told(answer(exercise, find, put))


def test_inputs_are_called_by_their_names(answer: Answer) -> None:
    """The student's own constants, with the line as an editor opens it."""
    lines = told(answer("attention_scores", SCORES, "return torch.dot(query, inputs)"))
    assert lines[0] == "attention_scores(INPUTS[1], INPUTS)"
    assert lines[2].startswith("  at 01_simple_attention/simple_attention.py:")


def test_the_inputs_of_hidden_checks_are_not_written_down(answer: Answer) -> None:
    """Neither by name nor as the line that draws them."""
    result = answer("attention_scores", SCORES, "return inputs @ query * 2", hidden=True)
    hidden = [c.message for c in result.checks if c.visibility is Visibility.HIDDEN and c.message]
    assert hidden
    assert not [m for m in hidden if "INPUTS" in m or "x1" in m or "manual_seed" in m]


CUT = "self.mask[:num_tokens, :num_tokens]"
BUFFER = 'self.register_buffer("mask", future)'
KEPT = "kept: Tensor = self.dropout(weights)"
CAUSAL_SCALE = "scores / keys.shape[-1] ** 0.5"
GPT2 = "GPT2MultiHeadAttention"
DIVISIBLE = "if d_out % num_heads != 0:"


@pytest.mark.parametrize(
    ("exercise", "find", "put", "name"),
    [
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
        (
            GPT2,
            "output: Tensor = self.out_proj(context)",
            "output = context",
            "gpt2-out-proj-unused",
        ),
        (GPT2, DIVISIBLE, DIVISIBLE.replace("d_out", "d_in"), "gpt2-divisibility-of-d-in"),
        (GPT2, DIVISIBLE, "if False:", "gpt2-divisibility-unchecked"),
        (GPT2, "nn.Dropout(dropout)", "nn.Dropout(0.1)", "gpt2-dropout-of-a-tenth-always"),
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
    answer: Answer, find: str, put: str, sentence: str
) -> None:
    """It costs nothing, and it is not passed over in silence."""
    result = answer("CausalAttention", find, put)
    assert result.score == result.max_score
    assert sentence in remarks(result)


HIDDEN_SCORES = "scores = scores.masked_fill(self.mask[:num_tokens, :num_tokens], -torch.inf)"
NAN_MASK = "scores = scores + self.mask[:num_tokens, :num_tokens] * -torch.inf"
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
        (
            *(HEADS, "scores = head_scores(queries,", "scores = head_scores(queries / 8**0.5,"),
            "multi-head-root-forgotten",
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
    answer: Answer, exercise: str, find: str, put: str, title: str
) -> None:
    """A promise that is broken fails the check of this promise, and no other."""
    checks = answer(exercise, find, put).checks
    assert [c.title.split("\n")[0] for c in checks if c.outcome is Outcome.FAILED] == [title]


def test_heads_that_are_told_everything_are_not_said_to_lack_something(answer: Answer) -> None:
    """Where a wrapper has too few of them, single heads say nothing about its texts."""
    lines = told(answer(WRAPPER, "range(num_heads)", "range(num_heads - 1)"))
    assert not [line for line in lines if "A single head refuses" in line]


def test_large_scores_are_remarked(answer: Answer) -> None:
    """They cost nothing where the largest score is not subtracted."""
    put = "torch.exp(scores) / torch.exp(scores).sum(dim=-1, keepdim=True)"
    result = answer("head_output", "torch.softmax(scores, dim=-1)", put)
    assert result.is_solved
    assert remarks(result) == [
        "Scores of 100 give NaN: their exponentials are infinite in float32."
    ]
