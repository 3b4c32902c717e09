"""Tests that one slip costs once inside a file, and that nothing but a neighbour's absence costs nothing."""

from contextlib import closing
from dataclasses import replace

import pytest

from grader.core.records import Outcome
from grader.judging.known_mistakes import RecordedMistakes
from grader.judging.submission_grader import Scope, full_grader, grade
from grader.sessions.answers import Answers
from grader.sessions.child import ChildSession
from grader.sessions.in_process import InProcessSession
from grader.submissions.submission import read_submission
from tests.course.conftest import with_edit

pytestmark = pytest.mark.slow

MASK = "torch.ones(context_length, context_length).triu(diagonal=1)"
WRONG_MASK = MASK.replace("triu(diagonal=1)", "tril(diagonal=-1)")
STUB = 'raise NotImplementedError("05_causal_mask/upper_triangular_mask: not attempted yet")'
ALONE = """
import torch
from torch import nn

def count_parameters(module: nn.Module) -> int:
    return sum(parameter.numel() for parameter in module.parameters())
"""
LOOP = "    scores = torch.zeros(len(inputs), len(inputs))\n    return scores\n"
ENDLESS = """\
    unread, place, caches = tokens, 0, None
    while model(unread, place, caches):
        pass
"""
OWN_BEND = """
import torch
from torch import nn

def gelu(x):
    raise NotImplementedError("14_gpt_block/gelu: not attempted yet")

class FeedForward(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.c_fc = nn.Linear(features, 4 * features)
        self.c_proj = nn.Linear(4 * features, features)
        self.bend = nn.{bend}

    def forward(self, x):
        return self.c_proj(self.bend(self.c_fc(x)))
"""


@pytest.fixture(scope="module")
def bench(course, launcher):
    """What it is graded with."""
    with closing(full_grader(course, "1", launcher=launcher)) as made:
        yield made


@pytest.fixture
def solution(course):
    """The text of a solution."""

    def text(id_):
        return course.paths(course.by_id[id_]).solution.read_text("utf-8")

    return text


@pytest.fixture
def graded(course, bench, launcher, tmp_path):
    """Grades files in one assignment, with or without names of mistakes; its exercises by name."""
    without_names = replace(bench, mistakes=RecordedMistakes({}))

    def run(id_, files, *, in_process=False, names=False):
        for name, text in files.items():
            (tmp_path / name).write_text(text, "utf-8")
        submission = read_submission(course, tmp_path, "someone")
        session = InProcessSession(submission)
        if not in_process:
            session = ChildSession(launcher, submission, course.limits)
        exercises = {exercise.id: exercise for exercise in course.by_id[id_].exercises}
        with closing(session):
            made = bench if names else without_names
            result = grade(made, submission, session, Scope(exercises))
        return {exercise.name: exercise for exercise in result.exercises}

    return run


def test_a_slip_in_a_mask_costs_nothing_where_the_mask_is_used(graded, solution):
    """The weights are judged with a right mask, and say so; the mask has lost its own points."""
    text = solution("05_causal_mask")
    found = graded("05_causal_mask", {"causal_mask.py": text.replace(MASK, WRONG_MASK)})
    assert found["upper_triangular_mask"].score < 1
    assert (found["causal_weights"].score, found["causal_weights"].judged_with) == (
        3,
        ("upper_triangular_mask",),
    )


USED = "upper_triangular_mask(scores.shape[-1])"
WEIGHTS = "def causal_weights(scores: Tensor, d_k: int"


@pytest.mark.parametrize(
    ("before", "parameter", "used"),
    [
        ("future = upper_triangular_mask", "", "future"),
        ("", ", future=upper_triangular_mask", "future"),
        ("MASKS = {'future': upper_triangular_mask}", "", "MASKS['future']"),
    ],
    ids=["a second name", "a default", "a table"],
)
def test_a_part_is_answered_by_whatever_name_it_is_called(
    graded, solution, before, parameter, used
):
    """Also where the name was given while the file was loaded."""
    text = solution("05_causal_mask").replace(MASK, WRONG_MASK)
    text = text.replace(USED, USED.replace("upper_triangular_mask", used))
    text = text.replace(WEIGHTS, f"{before}\n\n\n{WEIGHTS}{parameter}")
    found = graded("05_causal_mask", {"causal_mask.py": text})["causal_weights"]
    assert (found.score, found.judged_with) == (3, ("upper_triangular_mask",))


def test_a_mistake_of_its_own_is_found_beside_a_wrong_part(graded, solution):
    """With a right mask in its place, what is wrong in the weights themselves has its name."""
    text = solution("05_causal_mask").replace(MASK, WRONG_MASK)
    text = text.replace("masked / d_k**0.5", "masked")
    found = graded("05_causal_mask", {"causal_mask.py": text}, names=True)["causal_weights"]
    assert 0 < found.score < 3
    assert found.judged_with == ("upper_triangular_mask",)
    assert found.misconceptions == ("causal-weights-not-scaled",)


ASKS = """
    import gc
    from grader.sandbox.loader import Loader
    from grader.sandbox.wire import Frame, Packer
    ask = next(o.ask for o in gc.get_objects() if isinstance(o, Loader))
    for name in ("causal_weights", "mask_scores", "upper_triangular_mask"):
        packer = Packer()
        header = {"verb": "back", "name": name, "kwargs": {}, "state": {"dict": []}, "of": None}
        header |= {"random": packer.pack(torch.get_rng_state()), "on_meta": False}
        header["args"] = [packer.pack(scores), d_k] if name == "causal_weights" else [6]
        ask(Frame(header, packer.payload()))
    return scores
"""


def test_nothing_but_earlier_parts_that_are_wrong_is_answered(graded, solution, monkeypatch):
    """Neither what is being judged, nor what is right, whoever asks; and nothing is sent ahead."""
    replies, sent = set(), set()

    def to(answers, question, real=Answers.to):
        reply = real(answers, question)
        replies.add((question.header["name"], "value" in reply.header))
        return reply

    def exchange_all(session, requests, seconds, real=ChildSession.exchange_all):
        sent.add(session.answers)
        return real(session, requests, seconds)

    monkeypatch.setattr(Answers, "to", to)
    monkeypatch.setattr(ChildSession, "exchange_all", exchange_all)
    text = solution("05_causal_mask").replace(MASK, WRONG_MASK)
    start = text.index("### BEGIN SOLUTION", text.index("def causal_weights"))
    end = text.index("### END SOLUTION", start)
    graded("05_causal_mask", {"causal_mask.py": f"{text[:start]}{ASKS}    {text[end:]}"})
    answered = {"causal_weights": False, "mask_scores": False, "upper_triangular_mask": True}
    assert (replies, sent) == ({*answered.items()}, {None})


def test_a_part_that_is_not_written_is_waited_for(graded, solution):
    """Only what was attempted is answered."""
    text = solution("05_causal_mask").replace(f"return {MASK}", STUB)
    found = graded("05_causal_mask", {"causal_mask.py": text})["causal_weights"]
    assert (found.score, found.judged_with) == (0, ())
    assert found.waits_for == "upper_triangular_mask"


def test_what_the_solution_does_not_call_is_not_answered(graded, solution):
    """A product that only returns a wrong loop earns no more than the loop does."""
    text = solution("02_all_tokens")
    for name in ("loop", "matmul"):
        start = text.index("### BEGIN SOLUTION", text.index(f"def attention_scores_{name}"))
        end = text.index("### END SOLUTION", start)
        body = LOOP if name == "loop" else "    return attention_scores_loop(inputs)\n"
        text = f"{text[:start]}\n{body}    {text[end:]}"
    found = graded("02_all_tokens", {"all_tokens.py": text})
    both = [found[f"attention_scores_{name}"] for name in ("loop", "matmul")]
    assert [exercise.judged_with for exercise in both] == [(), ()]
    assert all(exercise.score < 1 for exercise in both)


def test_where_nothing_can_be_asked_the_exercise_says_with_what_it_will_be_judged(graded, solution):
    """Students' copies have no solution; where there is no process of its own, it is the same."""
    text = solution("05_causal_mask").replace(MASK, WRONG_MASK)
    found = graded("05_causal_mask", {"causal_mask.py": text}, in_process=True)["causal_weights"]
    assert (found.judged_with, found.to_judge_with) == ((), ("upper_triangular_mask",))


def test_what_is_right_but_for_a_part_is_given_no_name_where_nothing_can_be_asked(graded, solution):
    """The values are the part's: `apply_dropout_mask` divides, and what it calls shrinks."""
    text = solution("06_dropout").replace("return 1 / (1 - p)", "return 1 - p")
    found = graded("06_dropout", {"dropout.py": text}, in_process=True, names=True)
    assert [bool(exercise.findings) for exercise in found.values()] == [True, False, False]


def test_scores_made_by_ones_own_dot_product_are_judged_with_a_right_one(graded, solution):
    """As the solution makes them: products that are not added up cost their own points alone."""
    text = solution("01_simple_attention").replace("return (a * b).sum()", "return a * b")
    found = graded("01_simple_attention", {"simple_attention.py": text}, names=True)
    scores = found["attention_scores"]
    assert (scores.score, scores.judged_with, scores.findings) == (2, ("dot_product",), ())


def test_a_layer_is_judged_with_right_parts_that_have_parameters(graded, solution):
    """A wrong norm costs its own points; what is built of it is given parameters, and learns."""
    text = solution("14_gpt_block").replace("correction=0", "correction=1")
    files = {"gpt_block.py": text, "multi_head_attention.py": solution("09_multi_head_attention")}
    found = graded("14_gpt_block", files)
    assert found["LayerNorm"].score < 3
    whole = {
        name: (found[name].score, found[name].judged_with) for name in ("TransformerBlock", "GPT")
    }
    assert whole == {"TransformerBlock": (4, ("LayerNorm",)), "GPT": (5, ("LayerNorm",))}


@pytest.mark.proof
def test_what_waits_for_a_part_of_right_parts_is_judged_with_these(graded, solution):
    """A wrong cache makes the layer wrong; the loop that never ends is told, and neither of the two."""
    text = solution("15_cache").replace(
        "torch.cat([past_keys, keys], dim=2)", "torch.cat([keys, past_keys], dim=2)"
    )
    text = text.replace("    unread, place, caches = tokens, 0, None\n", ENDLESS)
    files = {"cache.py": text, "multi_head_attention.py": solution("09_multi_head_attention")}
    files["masks.py"] = solution("13_masks")
    found = graded("15_cache", files)
    assert found["CachedAttention"].judged_with == ("append_to_cache",)
    gate = found["generate_cached"].checks[0]
    assert (gate.outcome, found["generate_cached"].waits_for) == (Outcome.TIMEOUT, "")


BOTH = "torch.cat([past_keys, keys], dim=2), torch.cat([past_values, values], dim=2)"
QUERY = "self.W_query = nn.Linear(d_in, d_out, bias={})"


@pytest.mark.parametrize(
    ("exercise", "edited", "edit", "part"),
    [
        (
            "14_gpt_block/from_gpt2",
            "14_gpt_block",
            ("tensor.T if is_matrix", "tensor if is_matrix"),
            "`turn_layers`",
        ),
        pytest.param(
            "14_gpt_block/GPT",
            "09_multi_head_attention",
            (QUERY.format("qkv_bias"), QUERY.format("False")),
            "`MultiHeadAttention` of assignment 09",
            marks=[pytest.mark.proof, pytest.mark.long],
        ),
        pytest.param(
            "17_a_model_that_writes/attend",
            "15_cache",
            (f"return {BOTH}", f"both = {BOTH}\n    past_keys.zero_()\n    return both"),
            "`append_to_cache` of assignment 15",
            marks=[pytest.mark.proof, pytest.mark.long],
        ),
        (
            "17_a_model_that_writes/write",
            "17_a_model_that_writes",
            ("logits / temperature", "logits * temperature"),
            "`next_token`",
        ),
    ],
)
def test_the_part_that_is_wrong_is_named(course, tmp_path, exercise, edited, edit, part):
    """Where it shows in a single check as well, and with the assignment that it is of."""
    found = with_edit(course, tmp_path, exercise, edited, edit)
    messages = [c.message for c in found.checks if c.outcome is not Outcome.PASSED]
    assert messages[0].startswith(f"It needs your {part}, which is not right yet.")


@pytest.mark.parametrize(("bend", "score"), [('GELU(approximate="tanh")', 2), ("ReLU()", 0.8)])
def test_a_network_with_a_bend_of_its_own_does_not_wait_for_one(graded, bend, score):
    """`gelu` is a stub, and nothing calls it: the network is judged, and its mistake has its name."""
    text = OWN_BEND.replace("{bend}", bend)
    found = graded("14_gpt_block", {"gpt_block.py": text}, names=True)
    assert (float(found["FeedForward"].score), found["FeedForward"].waits_for) == (score, "")


def test_counting_needs_no_layer_of_the_students(graded):
    """Without one, modules of torch's own are counted."""
    found = graded("11_gpt2_attention", {"gpt2_attention.py": ALONE})
    assert found["count_parameters"].score == 2


def test_an_import_of_an_assignment_that_is_not_there_ends_no_file(graded, solution):
    """What does not use it has full marks."""
    text = "from causal_attention import CausalAttention\n" + solution("09_multi_head_attention")
    found = graded("09_multi_head_attention", {"multi_head_attention.py": text})
    assert [exercise.score for exercise in found.values()] == [2, 2, 2, 8]


def test_a_block_without_its_attention_has_everything_else(graded, solution):
    """14 without 09: only what is made of the layer waits for it."""
    found = graded("14_gpt_block", {"gpt_block.py": solution("14_gpt_block")})
    scores = {name: exercise.score for name, exercise in found.items()}
    assert scores == {
        "LayerNorm": 3,
        "gelu": 2,
        "FeedForward": 2,
        "turn_layers": 2,
        "from_gpt2": 2,
        "TransformerBlock": 0,
        "GPT": 0,
    }
    assert found["TransformerBlock"].checks[0].waits_for == (
        "09_multi_head_attention/MultiHeadAttention"
    )
