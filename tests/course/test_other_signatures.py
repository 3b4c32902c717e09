"""Classes with other signatures, other names, or several of one name: a slip costs once."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from grader.core.records import AssignmentResult, Outcome
from grader.course.course import Course, load_course
from grader.judging.fixtures import live_environment
from grader.judging.known_mistakes import RecordedMistakes
from grader.judging.submission_grader import Scope, SubmissionGrader, grade
from grader.sessions.in_process import InProcessSession
from grader.submissions.submission import read_submission

pytestmark = pytest.mark.slow
PROOF = pytest.mark.proof

HEAD, WRAPPER = "07_causal_attention/CausalAttention", "08_multi_head_wrapper"
BATCHED = "09_multi_head_attention/MultiHeadAttention"
EXPLICIT = "10_explicit_heads/MultiHeadAttention"
GPT2 = "11_gpt2_attention/GPT2MultiHeadAttention"

Edits = tuple[tuple[str, str], ...]
Graded = Callable[..., dict[str, AssignmentResult]]

NO_DEFAULT: Edits = (("qkv_bias: bool = False", "qkv_bias: bool"),)
SIZES_SWAPPED: Edits = (("self, d_in: int, d_out: int", "self, d_out: int, d_in: int"),)
SEED = "super().__init__()\n        # TODO"
ALONE: Edits = (("class MaskedAttention", "class Another"),)
"""Without the step before, in which the same slip would be paid for."""

SEEDED: Edits = ((SEED, f"torch.manual_seed(1)\n        {SEED}"),)


@pytest.fixture(scope="module")
def course(root: Path) -> Course:
    """The course itself."""
    return load_course(root)


@pytest.fixture(scope="module")
def bench(course: Course) -> Iterator[SubmissionGrader]:
    """All checks; mistakes are not named."""
    made = SubmissionGrader(live_environment(course, "1"), RecordedMistakes({}))
    yield made
    made.close()


@pytest.fixture
def text(course: Course) -> Callable[..., str]:
    """The solution of an assignment, with edits."""

    def edited(id_: str, *edits: tuple[str, str]) -> str:
        found = course.paths(course.by_id[id_]).solution.read_text("utf-8")
        for find, put in edits:
            assert find in found
            found = found.replace(find, put)
        return found

    return edited


@pytest.fixture
def graded(course: Course, bench: SubmissionGrader, tmp_path: Path) -> Graded:
    """The results of some exercises, by assignment, for files by name."""

    def made(files: dict[str, str], *wanted: str) -> dict[str, AssignmentResult]:
        for name, content in files.items():
            path = tmp_path / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(content, "utf-8")
        exercises = {
            id_: one
            for id_, one in course.exercises.items()
            if id_ in wanted or one.assignment in wanted
        }
        submission = read_submission(course, tmp_path, "someone")
        result = grade(bench, submission, InProcessSession(submission), Scope(exercises))
        return {each.id: each for each in result.assignments}

    return made


def failed(results: dict[str, AssignmentResult]) -> list[str]:
    """The names of the checks that did not pass, remarks aside."""
    checks = [c for a in results.values() for e in a.exercises for c in e.checks if c.weight]
    return [c.id.rpartition("::")[2] for c in checks if c.outcome is not Outcome.PASSED]


def place(id_: str) -> str:
    """The file of an assignment."""
    return f"{id_}/{id_[3:]}.py"


AS_PRINTED = "test_the_context_vectors_of_the_batch_as_printed"
LAYER_AS_PRINTED = "test_the_layer_of_seed_123_as_printed"
NAMES_AND_SHAPES = "test_the_parameters_have_the_names_and_shapes_of_the_text"


@pytest.mark.parametrize(
    ("exercise", "edits", "expected"),
    [
        (HEAD, NO_DEFAULT, AS_PRINTED),
        (HEAD, SIZES_SWAPPED, AS_PRINTED),
        (BATCHED, NO_DEFAULT, LAYER_AS_PRINTED),
        (
            BATCHED,
            (
                ("float,\n        num_heads: int,", "float,\n        n: int,"),
                ("        if d_out %", "        num_heads = n\n        if d_out %"),
            ),
            LAYER_AS_PRINTED,
        ),
        (
            BATCHED,
            (
                (
                    "dropout: float,\n        num_heads: int,",
                    "num_heads: int,\n        dropout: float,",
                ),
            ),
            LAYER_AS_PRINTED,
        ),
        (EXPLICIT, (("embed_dim", "d_model"),), NAMES_AND_SHAPES),
        (
            GPT2,
            (
                ("qkv_bias: bool = False", "qkv_bias: bool"),
                ("dropout: float = 0.1", "dropout: float = 0.1, *"),
            ),
            "test_the_number_of_heads_comes_before_dropout",
        ),
    ],
    ids=[
        *("no default", "sizes swapped", "no default in 09", "another name", "another order"),
        *("another name in 10", "by keyword alone"),
    ],
)
def test_a_slip_in_a_signature_costs_once(
    graded: Graded, text: Callable[..., str], exercise: str, edits: Edits, expected: str
) -> None:
    """Everything else calls the class as it is written."""
    id_ = exercise.partition("/")[0]
    found = failed(graded({place(id_): text(id_, *edits)}, exercise))
    assert found[:1] == [expected]
    assert len(found) == (2 if exercise == GPT2 else 1)


@pytest.mark.parametrize(
    "edits",
    [
        (("context_length", "block_size"),),
        (("dropout: float", "p: float"), ("nn.Dropout(dropout)", "nn.Dropout(p)")),
    ],
    ids=["block_size", "p"],
)
def test_what_is_given_by_position_may_have_any_name(
    graded: Graded, text: Callable[..., str], edits: Edits
) -> None:
    """Hidden checks follow the student's names as visible ones do."""
    assert failed(graded({place(HEAD[:19]): text(HEAD[:19], *edits)}, HEAD)) == []


IN_OTHER_WORDS: Edits = (
    ("self, d_in: int, d_out: int", "self, outs: int, ins: int"),
    ("nn.Linear(d_in, d_out", "nn.Linear(ins, outs"),
)
CALLED_SO = ("CausalAttention(d_in, d_out", "CausalAttention(d_out, d_in")


@pytest.mark.parametrize(
    ("head", "wrapper"),
    [
        pytest.param(NO_DEFAULT, (), id="no default", marks=PROOF),
        pytest.param(SIZES_SWAPPED, (CALLED_SO,), id="sizes swapped", marks=PROOF),
        pytest.param(IN_OTHER_WORDS, (CALLED_SO,), id="other words"),
        pytest.param((("context_length", "block_size"),), (), id="names", marks=PROOF),
        pytest.param((("self.W_", "self.my_"),), (), id="layers"),
        pytest.param(SEEDED, (), id="seed", marks=PROOF),
        pytest.param(
            (("CausalAttention", "CausalSelfAttention"),),
            (("CausalAttention", "CausalSelfAttention"),),
            id="class",
            marks=PROOF,
        ),
    ],
)
def test_a_slip_in_a_head_does_not_cost_its_wrapper(
    graded: Graded, text: Callable[..., str], head: Edits, wrapper: Edits
) -> None:
    """It was charged where the head was written."""
    files = {place(HEAD[:19]): text(HEAD[:19], *head), place(WRAPPER): text(WRAPPER, *wrapper)}
    assert failed(graded(files, WRAPPER)) == []


@pytest.mark.parametrize(
    ("find", "put"),
    [
        ("context_length, dropout, qkv_bias)", "6, dropout, qkv_bias)"),
        ("context_length, dropout, qkv_bias)", "context_length, 0.0, qkv_bias)"),
        ("context_length, dropout, qkv_bias)", "context_length, dropout)"),
        (
            "d_in, d_out, context_length, dropout, qkv_bias)",
            "d_out, d_in, context_length, dropout)",
        ),
    ],
    ids=["context length", "dropout", "bias", "sizes"],
)
@pytest.mark.parametrize("alias", [False, pytest.param(True, marks=PROOF)])
def test_heads_of_another_name_are_judged_by_their_own_class(
    graded: Graded, text: Callable[..., str], find: str, put: str, alias: bool
) -> None:
    """A wrapper's mistakes show, also where no `CausalAttention` is in its file."""
    head = text(HEAD[:19])
    imported = "from causal_attention import CausalAttention\n"
    if alias:
        start = imported.replace("\n", " as CausalSelfAttention\n")
        files = {place(HEAD[:19]): head}
    else:
        start, files = head.replace("CausalAttention", "CausalSelfAttention"), {}
    rest = text(WRAPPER, (find, put)).replace(imported, "").replace("CausalA", "CausalSelfA")
    assert failed(graded({**files, place(WRAPPER): f"{start}\n{rest}"}, WRAPPER)) != []


@pytest.mark.parametrize(
    ("exercise", "names", "expected"),
    [
        ("04_self_attention/SelfAttention_v1", "Wq Wk Wv", "test_it_has_three_parameters"),
        ("04_self_attention/SelfAttentionNormal", "q k v", "test_it_has_three_parameters"),
        ("04_self_attention/SelfAttention_v2", "to_q to_k to_v", "test_it_has_three_linear_layers"),
        (HEAD, "Wq Wk Wv", "test_without_qkv_bias_there_are_three_parameters"),
        (HEAD, "query key value", "test_without_qkv_bias_there_are_three_parameters"),
        (BATCHED, "query key value", NAMES_AND_SHAPES),
        (GPT2, "q_proj k_proj v_proj", NAMES_AND_SHAPES),
    ],
)
def test_other_names_of_layers_cost_once(
    graded: Graded, text: Callable[..., str], exercise: str, names: str, expected: str
) -> None:
    """The values are judged by which layer is which."""
    id_ = exercise.partition("/")[0]
    own = zip(("W_query", "W_key", "W_value"), names.split(), strict=True)
    alone = ALONE if exercise == HEAD else ()
    results = graded({place(id_): text(id_, *own, *alone)}, exercise)
    assert failed(results) == [expected]
    (check,) = [c for c in results[id_].exercises[0].checks if c.outcome is Outcome.FAILED]
    assert check.message.endswith(f"You have {names.split()[0]}; the exercise calls it W_query.")


def test_an_output_layer_of_another_name_costs_once(
    graded: Graded, text: Callable[..., str]
) -> None:
    """It is the one layer that is left."""
    results = graded({place(BATCHED[:23]): text(BATCHED[:23], ("out_proj", "fc"))}, BATCHED)
    assert failed(results) == [NAMES_AND_SHAPES]


@pytest.mark.parametrize("exercise", [HEAD, BATCHED])
def test_a_seed_in_the_constructor_is_seen_whatever_the_layers_are_called(
    graded: Graded, text: Callable[..., str], exercise: str
) -> None:
    """Two instances start alike."""
    id_ = exercise.partition("/")[0]
    alone = ALONE if exercise == HEAD else ()
    edits = (*SEEDED, ("W_query", "Wq"), ("W_key", "Wk"), ("W_value", "Wv"), *alone)
    found = failed(graded({place(id_): text(id_, *edits)}, exercise))
    assert "test_each_instance_draws_its_own_weights" in found


def notebook(*cells: str) -> str:
    """A notebook of these cells."""
    made = [{"cell_type": "code", "metadata": {}, "outputs": [], "source": c} for c in cells]
    return json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


@pytest.mark.parametrize("form", ["script", "notebook", "two files"])
@pytest.mark.parametrize("order", [1, pytest.param(-1, marks=PROOF)])
def test_two_classes_of_one_name_each_count_where_they_fit(
    graded: Graded, text: Callable[..., str], form: str, order: int
) -> None:
    """09 and 10 both ask for a MultiHeadAttention: the constructor says which is meant."""
    parts = [text(BATCHED[:23]), text(EXPLICIT[:17])]
    parts = [part.replace("super().__", "super(MultiHeadAttention, self).__") for part in parts]
    files = {"all.py": "\n".join(parts[::order])}
    if form == "notebook":
        files = {"all.ipynb": notebook(*parts[::order])}
    elif form == "two files":
        files = {f"part_{number}.py": part for number, part in enumerate(parts[::order])}
    results = graded(files, BATCHED[:23], EXPLICIT[:17])
    assert failed(results) == []
    notes = [note for result in results.values() for note in result.notes]
    number, cell = ("09" if order == 1 else "10"), ", cell 1" if form == "notebook" else ""
    begins = f"MultiHeadAttention is defined more than once. In {number} the one in all."
    assert [note.startswith(begins) for note in notes] == ([] if form == "two files" else [True])
    assert all(f"{cell}, line " in note for note in notes)


OTHER_ORDER: Edits = (
    ("context_length: int, dropout: float", "dropout_prob: float, context_size: int"),
    ("nn.Dropout(dropout)", "nn.Dropout(dropout_prob)"),
    ("ones(context_length, context_length", "ones(context_size, context_size"),
)


def test_other_names_in_another_order_cost_once_and_are_said_first(
    graded: Graded, text: Callable[..., str]
) -> None:
    """A value goes where a part of the name says; what differs stands above all checks, once."""
    results = graded({place(HEAD[:19]): text(HEAD[:19], *OTHER_ORDER)}, HEAD)
    assert failed(results) == [AS_PRINTED]
    assert results[HEAD[:19]].notes == (
        "`__init__` of your CausalAttention takes d_in, d_out, dropout_prob, context_size, qkv_bias; "
        "in the stub it takes d_in, d_out, context_length, dropout, qkv_bias. Names and order count: "
        "the checks, and code that uses it, call it as the stub does.",
    )


def test_arguments_of_forward_in_another_order_are_said(
    graded: Graded, text: Callable[..., str]
) -> None:
    """Other names at the same places are as good."""
    given, id_ = "x: Tensor, context: Tensor, mask: Tensor", "13_masks"
    swapped = text(id_, (given, "x: Tensor, mask: Tensor, context: Tensor"))
    (note,) = graded({place(id_): swapped}, f"{id_}/CrossAttention")[id_].notes
    assert note.startswith("`forward` of your CrossAttention takes x, mask, context; in the stub")


def test_values_in_another_order_are_said(graded: Graded, text: Callable[..., str]) -> None:
    """Of a function, which the checks give its values by place."""
    given, id_ = "weights: Tensor, inputs: Tensor", "01_simple_attention"
    swapped = text(
        id_, (f"context_vector({given}", "context_vector(inputs: Tensor, weights: Tensor")
    )
    (note,) = graded({place(id_): swapped}, f"{id_}/context_vector")[id_].notes
    assert note == (
        "Your context_vector takes inputs, weights; in the stub it takes weights, inputs. The order "
        "counts: the checks, and code that uses it, give it the values in the stub's order."
    )


def test_a_class_that_fits_another_exercise_alone_is_said_to(
    graded: Graded, text: Callable[..., str]
) -> None:
    """With what it takes, and what is asked for."""
    results = graded({"all.py": text(EXPLICIT[:17])}, BATCHED, EXPLICIT)
    (note,) = results[BATCHED[:23]].notes
    assert results[EXPLICIT[:17]].notes == ()
    line = text(EXPLICIT[:17]).partition("class MultiHeadAttention")[0].count("\n") + 1
    assert note == (
        "09 asks for a MultiHeadAttention that takes d_in, d_out, context_length, dropout, "
        f"num_heads, qkv_bias; the one in all.py, line {line} takes embed_dim, head_dim, "
        "num_heads. Write one for 09, too: both may stand in one file."
    )


OF_OTHER_NAMES = """
import torch
from torch import nn
from torch.nn import functional as F


class Attention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.num_heads = config.n_head
        self.all_three = nn.Linear(config.n_embd, 3 * config.n_embd, bias=BIAS)
        self.last = nn.Linear(config.n_embd, config.n_embd)

    def forward(self, x):
        q, k, v = (
            t.unflatten(2, (self.num_heads, -1)).transpose(1, 2)
            for t in self.all_three(x).chunk(3, dim=2)
        )
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.last(mixed.transpose(1, 2).flatten(2))


class Layer(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.look, self.norm1 = Attention(config), nn.LayerNorm(config.n_embd)
        self.think = nn.Sequential(
            nn.Linear(config.n_embd, 4 * config.n_embd),
            nn.GELU(approximate="tanh"),
            nn.Linear(4 * config.n_embd, config.n_embd),
        )
        self.norm2 = nn.LayerNorm(config.n_embd)

    def forward(self, x):
        x = x + self.look(self.norm1(x))
        return x + self.think(self.norm2(x))


class GPT(nn.Module):
    def __init__(self, config):
        super().__init__()
        assert config.model_type is None
        self.letters = nn.Embedding(config.vocab_size, config.n_embd)
        self.positions = nn.Embedding(config.block_size, config.n_embd)
        self.layers = nn.ModuleList(Layer(config) for _ in range(config.n_layer))
        self.end = nn.LayerNorm(config.n_embd)

    def forward(self, idx):
        x = self.letters(idx) + self.positions(torch.arange(idx.shape[1]))
        for layer in self.layers:
            x = layer(x)
        return self.end(x) @ self.letters.weight.T
"""


@pytest.mark.parametrize("bias", ["True", "False"])
def test_a_model_of_other_names_loses_what_is_said_of_names(graded: Graded, bias: str) -> None:
    """Queries, keys and values may come from one layer; biases count where they are asked for."""
    found = graded({"gpt_block.py": OF_OTHER_NAMES.replace("BIAS", bias)}, "14_gpt_block/GPT")
    lost = ["test_the_parameters_have_the_names_of_the_text"]
    if bias == "False":
        lost.append("test_biases_are_there_when_asked_for")
    assert failed(found) == lost


def test_a_head_of_its_own_leaves_the_embedding_its_values(graded: Graded) -> None:
    """Both are given the same; what is wrong is that they are two."""
    tied, own = "self.end(x) @ self.letters.weight.T", "self.out_head(self.end(x))"
    made = "        self.end = nn.LayerNorm(config.n_embd)\n"
    head = "        self.out_head = nn.Linear(config.n_embd, config.vocab_size, bias=False)\n"
    text = OF_OTHER_NAMES.replace("BIAS", "True").replace(tied, own).replace(made, made + head)
    found = graded({"gpt_block.py": text}, "14_gpt_block/GPT")
    assert "test_the_scores_for_given_parameters" not in failed(found)
    assert "test_the_head_is_tied_to_wte" in failed(found)


SHIFT_FIRST = """
import torch
from torch import nn


class LayerNorm(nn.Module):
    def __init__(self, emb_dim, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.shift = nn.Parameter(torch.zeros(emb_dim))
        self.scale = nn.Parameter(torch.ones(emb_dim))

    def forward(self, x):
        mean = x.mean(-1, keepdim=True)
        variance = x.var(-1, keepdim=True, unbiased=False)
        return (x - mean) / torch.sqrt(variance + self.eps) * self.scale + self.shift
"""


def test_what_scales_is_told_from_what_shifts_by_its_name(graded: Graded) -> None:
    """Not by which of the two is made first."""
    found = graded({"gpt_block.py": SHIFT_FIRST}, "14_gpt_block/LayerNorm")
    assert failed(found) == ["test_weight_and_bias_are_the_parameters"]


def test_a_module_that_stands_for_a_function_takes_what_its_forward_takes(graded: Graded) -> None:
    """Not what `nn.Module` takes when it is called."""
    text = """
import torch
from torch import nn


class GELU(nn.Module):
    def forward(self, x):
        return 0.5 * x * (1 + torch.tanh((2 / torch.pi) ** 0.5 * (x + 0.044715 * x**3)))
"""
    (exercise,) = graded({"gpt_block.py": text}, "14_gpt_block/gelu")["14_gpt_block"].exercises
    assert [check.message for check in exercise.checks if "args" in check.message] == []
