"""A class whose `forward` is still open is judged on its `__init__`; one may wait for another."""

import ast
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from grader.cli.render import exercise_sign
from grader.core.records import Outcome, Result
from grader.course.course import Course, load_course
from grader.judging.known_mistakes import RecordedMistakes
from grader.judging.outcomes import checks_passed, shown_checks, status_words
from grader.judging.submission_grader import VISIBLE_CHECKS, Scope, grade, visible_grader
from grader.sessions.in_process import InProcessSession
from grader.submissions.submission import Submission, read_submission

pytestmark = pytest.mark.slow

CLASSES = {1: 18, 5: 8}
"""How many there are in every one, and in every fifth assignment from 04 on."""


def nameless(course: Course, submission: Submission, scope: Scope) -> Result:
    """What a submission gets, in this process and without the names of mistakes."""
    with closing(visible_grader(course)) as made:
        grader = replace(made, mistakes=RecordedMistakes({}))
        return grade(grader, submission, InProcessSession(submission), scope)


def with_open_forwards(solution: Path, course: Course) -> tuple[str, list[str]]:
    """A solution with a stub in place of each `forward` that students write, and their classes' ids."""
    tree = ast.parse(solution.read_text("utf-8"))
    ids = []
    for node in tree.body:
        id_ = f"{solution.parent.name}/{getattr(node, 'name', '')}"
        if isinstance(node, ast.ClassDef) and id_ in course.exercises:
            ids.append(id_)
            (forward,) = (n for n in node.body if getattr(n, "name", "") == "forward")
            stub = f"raise NotImplementedError('{ids[-1]}: not attempted yet')"
            forward.body = ast.parse(stub).body
    return ast.unparse(tree), ids


@pytest.mark.parametrize(
    "step",
    [pytest.param(5, id="some"), pytest.param(1, id="all", marks=pytest.mark.proof)],
)
def test_parameters_count_while_forward_is_open(root: Path, tmp_path: Path, step: int) -> None:
    """In all classes: they are partly written, and have points for what is there."""
    course, ids = load_course(root), []
    for assignment in course.assignments[3::step]:
        solution = course.paths(assignment).solution
        text, found = with_open_forwards(solution, course)
        if found:
            (tmp_path / solution.name).write_text(text, "utf-8")
        ids += found
    assert len(ids) == CLASSES[step]
    submission = read_submission(course, tmp_path, "me")
    scope = Scope({id_: course.exercises[id_] for id_ in ids}, VISIBLE_CHECKS)
    result = nameless(course, submission, scope)
    for exercise in result.exercises:
        assert exercise.checks[0].message == "`forward` is not written yet."
        assert {c.outcome for c in exercise.checks} == {Outcome.NOT_ATTEMPTED, Outcome.PASSED}
        assert shown_checks(exercise) == [exercise.checks[0]]
        assert exercise_sign(exercise)[0] == "·"
        count = sum(bool(check.weight) for check in exercise.checks)
        assert status_words(exercise) == "partly written"
        assert checks_passed(exercise).endswith(f" of {count} checks")
        assert exercise.score == 0  # parameters alone compute nothing


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("kept @ values", "kept @ values)"),
        ("kept @ values", "nothing"),
        ("import torch\n", "import torch\n\n1 / 0\n"),
        ("", None),
    ],
    ids=["syntax", "called", "imported", "no file"],
)
def test_a_wrapper_waits_for_the_head_that_it_cannot_use(
    root: Path, tmp_path: Path, old: str, new: str | None
) -> None:
    """Whatever is wrong with the head, it is the head that the wrapper waits for."""
    course = load_course(root)
    wrapper, head = (course.by_id[id_] for id_ in ("08_multi_head_wrapper", "07_causal_attention"))
    sources = {a.id: course.paths(a).solution for a in (wrapper, head)}
    texts = {id_: solution.read_text("utf-8") for id_, solution in sources.items()}
    (tmp_path / sources[wrapper.id].name).write_text(texts[wrapper.id], "utf-8")
    if new is not None:
        broken = texts[head.id].replace(old, new, 1)
        (tmp_path / sources[head.id].name).write_text(broken, "utf-8")
    submission = read_submission(course, tmp_path, "me")
    exercises = {exercise.id: exercise for exercise in wrapper.exercises}
    (exercise,) = nameless(course, submission, Scope(exercises, VISIBLE_CHECKS)).exercises
    assert exercise.waits_for == "07_causal_attention/CausalAttention"


def test_what_waits_for_what_waits_says_where_to_begin(root: Path, tmp_path: Path) -> None:
    """The exercise behind all of them, two steps further down, and not the nearest one alone."""
    course, ids = load_course(root), ("gelu", "FeedForward", "TransformerBlock", "GPT")
    for id_ in ("09_multi_head_attention", "14_gpt_block"):
        solution = course.paths(course.by_id[id_]).solution
        text = solution.read_text("utf-8").replace("1 + torch.tanh(inner)", "1 + torch.erf(inner)")
        (tmp_path / solution.name).write_text(text, "utf-8")
    submission = read_submission(course, tmp_path, "me")
    chosen = {e.id: e for e in course.by_id["14_gpt_block"].exercises if e.name in ids}
    *_others, last = nameless(course, submission, Scope(chosen, VISIBLE_CHECKS)).exercises
    assert last.checks[0].message.splitlines() == [
        "It needs your `TransformerBlock`, which waits for `gelu`: begin there."
    ]
