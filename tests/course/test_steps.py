"""One's own work carries on: a slip that comes along is paid for once, and 08 is compared with 09."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from grader.core.records import Outcome
from grader.course.course import Course
from grader.judging.known_mistakes import RecordedMistakes
from grader.judging.submission_grader import (
    ALL_CHECKS,
    VISIBLE_CHECKS,
    Scope,
    SubmissionGrader,
    grade,
)
from grader.progress.progress import work_keys
from grader.sessions.in_process import InProcessSession
from grader.submissions.submission import read_submission
from tests.course.conftest import Answer

BATCHED, MASKED, CAUSAL = "BatchAttention", "MaskedAttention", "CausalAttention"
STEPS = (BATCHED, MASKED, CAUSAL)
SHORT = STEPS[:2]
"""Without the last, of which most mistakes are known: what `make test` grades."""

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("known mistakes")]

ROOTS = ("k.shape[-1] ** 0.5", "key.shape[-1] ** 0.5", "keys.shape[-1] ** 0.5")
UNSCALED = tuple((root, "1") for root in ROOTS)
KEYS = (
    ("dim=-1) @ v\n", "dim=-1) @ k\n"),
    ("weights @ value", "weights @ key"),
    ("kept @ values", "kept @ keys"),
)
BIASES = tuple((f"d_out, {how})", "d_out)") for how in ("qkv_bias", "bias=qkv_bias"))
SEEN = (("torch.triu(ones, 1)", "torch.triu(ones, 2)"), ("triu(diagonal=1)", "triu(diagonal=2)"))
PLAIN = tuple(
    (f'self.register_buffer("mask", {mask})', f"self.mask = {mask}")
    for mask in ("torch.triu(ones, 1).bool()", "future")
)
SEED = "        super().__init__()\n"


@pytest.mark.parametrize(
    ("edits", "paid", "later"),
    [
        pytest.param(KEYS, BATCHED, (MASKED,), id="keys"),
        pytest.param(UNSCALED, BATCHED, (MASKED, CAUSAL), id="scale", marks=pytest.mark.proof),
        pytest.param(BIASES, BATCHED, (MASKED, CAUSAL), id="bias", marks=pytest.mark.proof),
        pytest.param(
            [(SEED, f"{SEED}        torch.manual_seed(123)\n")],
            BATCHED,
            (MASKED, CAUSAL),
            id="seed",
            marks=pytest.mark.proof,
        ),
        pytest.param(SEEN, MASKED, (CAUSAL,), id="mask", marks=pytest.mark.proof),
        pytest.param(PLAIN, MASKED, (CAUSAL,), id="buffer", marks=pytest.mark.proof),
    ],
)
def test_a_slip_that_comes_along_costs_points_once(
    answer: Answer, edits: tuple[tuple[str, str], ...], paid: str, later: tuple[str, ...]
) -> None:
    """In the class where it was made, and in none that grows from it."""
    first, *more = edits
    wrong = answer(paid, *first, *more, hidden=True)
    assert wrong.score < wrong.max_score
    for name in later:
        result = answer(name, *first, *more, hidden=True)
        assert [check.id for check in result.checks if check.outcome is Outcome.FAILED] == []
        assert result.is_solved


V2 = "attn_scores / keys.shape[-1] ** 0.5"
V1_AND_NORMAL = (("scores / keys.shape[-1] ** 0.5", "scores"), ("@ keys.T / d_k**0.5", "@ keys.T"))


def hand_in(course: Course, folder: Path, id_: str, *edits: tuple[str, str]) -> None:
    """Write an assignment's solution there, with texts replaced."""
    solution = course.paths(course.by_id[id_]).solution
    text = solution.read_text("utf-8")
    for old, new in edits:
        assert old in text
        text = text.replace(old, new)
    (folder / solution.name).write_text(text, "utf-8")


@pytest.mark.parametrize(
    "steps",
    [pytest.param(SHORT, id="two"), pytest.param(STEPS, id="all", marks=pytest.mark.proof)],
)
def test_a_slip_comes_along_from_an_assignment_that_is_not_graded(
    course: Course, grader: SubmissionGrader, tmp_path: Path, steps: tuple[str, ...]
) -> None:
    """It is looked for there, and none of the classes that grow from one another pays for it."""
    hand_in(course, tmp_path, "04_self_attention", (V2, "attn_scores"))
    hand_in(course, tmp_path, "07_causal_attention", *UNSCALED)
    submission = read_submission(course, tmp_path, "me")
    scope = Scope(course.select(tuple(f"07/{name}" for name in steps)))
    result = grade(grader, submission, InProcessSession(submission), scope)
    assert [assignment.id for assignment in result.assignments] == ["07_causal_attention"]
    assert [exercise.is_solved for exercise in result.exercises] == [True] * len(steps)


def test_a_slip_without_a_name_is_paid_for_in_every_step(single: Answer) -> None:
    """Who scales by another number, alike in all classes, has not been recognised in the first."""
    first, *more = ((root, f"(1.7 * {root})") for root in ROOTS)
    wrong = single(BATCHED, *first, *more)
    assert wrong.findings == ()
    assert not single(MASKED, *first, *more).is_solved


@pytest.mark.parametrize("is_named", [pytest.param(True, marks=pytest.mark.proof), False])
def test_in_a_students_copy_their_own_class_stands_for_a_mistake_with_a_name(
    course: Course, grader: SubmissionGrader, tmp_path: Path, is_named: bool
) -> None:
    """There is no solution that the mistake could be put into; without a name nothing stands."""
    hand_in(course, tmp_path, "04_self_attention", *V1_AND_NORMAL)
    submission = read_submission(course, tmp_path, "me")
    scope = Scope(course.select(("04/SelfAttention_v1", "04/SelfAttentionNormal")), VISIBLE_CHECKS)
    first = next(iter(scope.exercises.values()))
    named = {}
    if is_named:
        checks = grader.checks(Scope({first.id: first}, VISIBLE_CHECKS))
        named[first.id] = grader.mistakes.known(first, checks, 1), []
    recorded = RecordedMistakes(named)
    result = grade(
        replace(grader, mistakes=recorded), submission, InProcessSession(submission), scope
    )
    assert [one.is_solved for one in result.exercises] == [False, is_named]


@pytest.mark.parametrize("name", [MASKED, CAUSAL])
def test_a_slip_of_a_step_of_its_own_costs_points(checked: Answer, name: str) -> None:
    """The step before is right; a class that does not mix the tokens is none to build on."""
    ((old, new),) = (
        edit
        for edit in UNSCALED
        if edit[0].startswith("keys") == (name == CAUSAL) and edit[0] != ROOTS[0]
    )
    assert not checked(name, old, new).is_solved


def test_a_step_before_that_mixes_nothing_stands_for_none(checked: Answer) -> None:
    """Values that come back as they are cost points in every step."""
    edits = (
        ("dim=-1) @ v\n", "dim=-1) * 0 @ v + v\n"),
        ("weights @ value", "weights * 0 @ value + value"),
    )
    assert not checked(MASKED, *edits[0], edits[1]).is_solved


def test_a_step_is_judged_by_the_solution_where_the_one_before_is_missing(checked: Answer) -> None:
    """Whoever hands in the last class alone has its points."""
    missing = (("class BatchAttention", "class Other"), ("class MaskedAttention", "class Another"))
    assert checked(CAUSAL, *missing[0], missing[1]).is_solved
    result = checked(CAUSAL, "keys.shape[-1] ** 0.5", "1", *missing)
    assert not result.is_solved


NONSENSE = sorted((Path(__file__).parent / "nonsense").glob("*.py"))


@pytest.mark.proof
@pytest.mark.parametrize("path", NONSENSE, ids=[path.stem for path in NONSENSE])
def test_nonsense_in_every_step_earns_next_to_nothing(
    course: Course, one_at_a_time: SubmissionGrader, tmp_path: Path, path: Path
) -> None:
    """Not even where all classes agree with one another, or one behaves otherwise beside others.

    In `make test`, test_validate tries nonsense in all exercises of a small course at once.
    """
    for assignment in (course.by_id["04_self_attention"], course.by_id["07_causal_attention"]):
        shutil.copy(path, tmp_path / course.paths(assignment).solution.name)
    submission = read_submission(course, tmp_path, "me")
    scope = Scope(course.select(tuple(f"07/{name}" for name in STEPS)))
    result = grade(one_at_a_time, submission, InProcessSession(submission), scope)
    shares = {one.id: float(one.score or 0) / one.max_score for one in result.exercises}
    if path.stem.startswith("two_faced"):  # where that class is right
        assert shares.pop(f"07_causal_attention/{BATCHED}") > 0.15
    assert {id_: share for id_, share in shares.items() if share > 0.15} == {}


WRAPPER = "08_multi_head_wrapper/MultiHeadAttentionWrapper"


@pytest.mark.parametrize("is_nonsense", [True, False])
def test_heads_that_ignore_their_parameters_judge_no_wrapper(
    course: Course, grader: SubmissionGrader, tmp_path: Path, is_nonsense: bool
) -> None:
    """Zeros beside zeros are no answer; heads that all begin alike are heads."""
    kept, seed = "return kept @ values", "super().__init__()"
    edits = [(kept, "return 0 * (kept @ values)")] if is_nonsense else []
    hand_in(
        course, tmp_path, "07_causal_attention", *edits, (seed, f"{seed}; torch.manual_seed(1)")
    )
    joined = "torch.cat([head(x) for head in self.heads], dim=-1)"
    edits = [(joined, f"0 * {joined}")] if is_nonsense else []
    hand_in(course, tmp_path, "08_multi_head_wrapper", *edits)
    submission = read_submission(course, tmp_path, "me")
    scope = Scope({WRAPPER: course.exercises[WRAPPER]}, ALL_CHECKS)
    used = replace(grader, mistakes=RecordedMistakes({}))
    (exercise,) = grade(used, submission, InProcessSession(submission), scope).exercises
    waited = "07_causal_attention/CausalAttention" if is_nonsense else ""
    assert (exercise.score, exercise.waits_for) == (0 if is_nonsense else 5, waited)


LAYER = "09_multi_head_attention/MultiHeadAttention"
OTHER_WAYS = f"{LAYER}::visible::test_other_ways_give_the_same"


@pytest.mark.parametrize(
    ("own", "said"),
    [
        (None, "`scaled_dot_product_attention` gives"),
        ("multi_head_wrapper.py", "your own wrapper of assignment 08 gives"),
        ("1 / 0", "`scaled_dot_product_attention` gives"),
        ("class MultiHeadAttentionWrapper: pass", "`scaled_dot_product_attention` gives"),
    ],
    ids=["no file", "right", "raises", "another class"],
)
def test_a_layer_is_compared_with_the_heads_of_the_assignment_before(
    course: Course, grader: SubmissionGrader, tmp_path: Path, own: str | None, said: str
) -> None:
    """Where they are right; torch's ready-made attention is there in any case."""
    folders = [course.paths(a).solution for a in course.assignments[6:9]]
    for path in folders:
        shutil.copy(path, tmp_path)
    layer, wrapper = tmp_path / folders[2].name, tmp_path / folders[1].name
    text = layer.read_text("utf-8")
    layer.write_text(text.replace("scores / head_dim**0.5", "scores"), "utf-8")
    if own is None:
        wrapper.unlink()
    elif own != wrapper.name:
        wrapper.write_text(own, "utf-8")
    submission = read_submission(course, tmp_path, "me")
    scope = Scope({LAYER: course.exercises[LAYER]}, VISIBLE_CHECKS)
    used = replace(grader, mistakes=RecordedMistakes({}))
    (exercise,) = grade(used, submission, InProcessSession(submission), scope).exercises
    (remark,) = (check for check in exercise.checks if check.id == OTHER_WAYS)
    assert remark.outcome is Outcome.REMARK
    assert said in remark.message


USES_OWN = """import torch
from grader.notebook import use_own

use_own("01_simple_attention")
from simple_attention import softmax_stable
"""
WEIGHTS = "02_all_tokens/attention_weights"
ROWS = "torch.stack([softmax_stable(row) for row in scores])"
SOFTMAX = "torch.exp(x - x.max())"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (SOFTMAX, SOFTMAX),
        (SOFTMAX, "torch.exp2(x - x.max())"),
        (SOFTMAX, "1 / 0"),
        ("def softmax_stable(", "def softmax_safe("),
        ("import torch\n", "import torch)\n"),
        ("", None),
    ],
    ids=["right", "wrong", "raises", "missing", "syntax", "no file"],
)
def test_an_own_softmax_may_be_used_and_costs_points_once(
    course: Course, grader: SubmissionGrader, tmp_path: Path, old: str, new: str | None
) -> None:
    """Whatever is wrong with it, what builds on it is right."""
    softmax, tokens = (course.paths(a).solution for a in course.assignments[:2])
    text = tokens.read_text("utf-8").replace("import torch\n", USES_OWN, 1)
    text = text.replace("torch.softmax(scores, dim=-1)", ROWS)
    (tmp_path / tokens.name).write_text(text, "utf-8")
    if new is not None:
        changed = softmax.read_text("utf-8").replace(old, new, 1)
        (tmp_path / softmax.name).write_text(changed, "utf-8")
    submission = read_submission(course, tmp_path, "me")
    scope = Scope({WEIGHTS: course.exercises[WEIGHTS]}, ALL_CHECKS)
    used = replace(grader, mistakes=RecordedMistakes({}))
    (exercise,) = grade(used, submission, InProcessSession(submission), scope).exercises
    assert exercise.is_solved


def test_a_change_of_what_is_compared_asks_for_new_results(course: Course, tmp_path: Path) -> None:
    """Of the layer, where the wrapper changes, and of nothing that does not look at it."""
    for assignment in course.assignments[7:10]:
        shutil.copy(course.paths(assignment).solution, tmp_path)
    before = work_keys(course, read_submission(course, tmp_path, "me"))
    with (tmp_path / "multi_head_wrapper.py").open("a") as file:
        file.write("# one more line\n")
    after = work_keys(course, read_submission(course, tmp_path, "me"))
    changed = [id_[:2] for id_, key in after.items() if key != before[id_]]
    assert changed == ["08", "09"]
