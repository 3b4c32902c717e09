"""16: torch's own attention agrees, 09's state fits, what is built of a wrong part waits."""

import runpy
import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from kernels import printed, run_notebook
from torch import nn

from grader.core.records import Outcome
from grader.course.course import Course
from grader.grading.submission_grader import VISIBLE_CHECKS, Scope, grade, visible_grader
from grader.release.solution_cells import cleared, read_solution
from grader.release.stubs import notebook_text
from grader.sessions.in_process import InProcessSession
from grader.submissions.submission import read_submission

ID, OF_09 = "16_grouped_queries", "09_multi_head_attention"
HEADS, FEATURES, TOKENS = 6, 24, 7


@pytest.fixture
def own(course: Course, monkeypatch: pytest.MonkeyPatch) -> Iterator[SimpleNamespace]:
    """What the solution defines, and the layer of 09."""
    built_on = course.paths(course.by_id[OF_09]).solution
    monkeypatch.syspath_prepend(str(built_on.parent))
    layer = runpy.run_path(str(built_on))["MultiHeadAttention"]
    found = runpy.run_path(str(course.paths(course.by_id[ID]).solution))
    yield SimpleNamespace(**found, MultiHeadAttention=layer)
    monkeypatch.delitem(__import__("sys").modules, built_on.stem, raising=False)


@pytest.mark.parametrize("num_kv_heads", [1, 2, 3, 6])
def test_the_layer_is_torchs_attention_of_groups(own: SimpleNamespace, num_kv_heads: int) -> None:
    """`F.scaled_dot_product_attention` with `enable_gqa=True`, given the same weights."""
    torch.manual_seed(1)
    layer = own.GroupedQueryAttention(5, FEATURES, TOKENS, 0.0, HEADS, num_kv_heads, True)
    x = torch.randn(2, TOKENS, 5)
    queries = layer.W_query(x).unflatten(-1, (HEADS, -1)).transpose(1, 2)
    mixed = nn.functional.scaled_dot_product_attention(
        queries, *layer.keys_and_values(x), is_causal=True, enable_gqa=True
    )
    torch.testing.assert_close(layer(x), layer.out_proj(mixed.transpose(1, 2).flatten(2)))


def test_with_as_many_key_value_heads_it_is_the_layer_of_09(own: SimpleNamespace) -> None:
    """A converted state is the same, and gives the same."""
    torch.manual_seed(1)
    sizes = (5, FEATURES, TOKENS, 0.0, HEADS)
    one, x = own.MultiHeadAttention(*sizes), torch.randn(2, TOKENS, 5)
    other = own.GroupedQueryAttention(*sizes, HEADS)
    other.load_state_dict(own.mha_to_gqa(one.state_dict(), HEADS, HEADS))
    torch.testing.assert_close(other(x), one(x))


def test_heads_that_are_alike_lose_nothing(own: SimpleNamespace) -> None:
    """Where the heads of a group have the same keys and values, the converted layer gives the same."""
    torch.manual_seed(1)
    sizes = (5, FEATURES, TOKENS, 0.0, HEADS)
    one, x = own.MultiHeadAttention(*sizes, True), torch.randn(2, TOKENS, 5)
    with torch.no_grad():
        for layer in (one.W_key, one.W_value):
            for tensor in layer.parameters():
                heads = tensor.unflatten(0, (2, 3, -1))
                tensor.copy_(heads[:, :1].expand_as(heads).flatten(0, 2))
    other = own.GroupedQueryAttention(*sizes, 2, True)
    other.load_state_dict(own.mha_to_gqa(one.state_dict(), HEADS, 2))
    torch.testing.assert_close(other(x), one(x))


@pytest.mark.parametrize(
    ("place", "old", "new", "message"),
    [
        (
            OF_09,
            "return pieces.transpose(1, 2)",
            "return pieces.transpose(1, 2).flip(1)",
            "It needs your `split_heads` of assignment 09, which is not right yet",
        ),
        (
            ID,
            "x.repeat_interleave(group_size, dim=1)",
            "x.repeat(1, group_size, 1, 1)",
            "It needs your `repeat_kv`, which is not right yet",
        ),
    ],
    ids=["of 09", "of 16"],
)
def test_the_layer_waits_for_a_part_that_is_wrong(
    course: Course, tmp_path: Path, place: str, old: str, new: str, message: str
) -> None:
    """A slip in what it is built of costs once."""
    for id_ in (OF_09, ID):
        solution = course.paths(course.by_id[id_]).solution
        text = solution.read_text("utf-8")
        assert id_ != place or text.count(old) == 1
        wrong = text.replace(old, new) if id_ == place else text
        (tmp_path / solution.name).write_text(wrong, "utf-8")
    submission = read_submission(course, tmp_path, "me")
    name = f"{ID}/GroupedQueryAttention"
    scope = Scope({name: course.exercises[name]}, VISIBLE_CHECKS)
    with closing(visible_grader(course)) as grader:
        (found,) = grade(grader, submission, InProcessSession(submission), scope).exercises
    assert found.checks[0].message.startswith(message)
    assert {check.outcome for check in found.checks} == {Outcome.BLOCKED}


@pytest.mark.long
@pytest.mark.proof
@pytest.mark.parametrize("is_written", [False, True], ids=["as handed out", "all written"])
def test_the_notebook_runs_from_top_to_bottom(
    course: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_written: bool
) -> None:
    """In a real kernel."""
    assignment, built_on = course.by_id[ID], course.by_id[OF_09]
    source = read_solution(assignment, course.paths(assignment).solution)
    shutil.copy(course.paths(built_on).solution, tmp_path)
    text = notebook_text(
        source, lambda cell: cell.text if is_written else cleared(assignment, cell)
    )
    said = printed(*run_notebook(text, course, tmp_path, monkeypatch).cells)
    assert ("17.18 GB" in said) == is_written
    assert ("they differ by 0.000000" in said) == is_written
    assert (f"{ID}/kv_cache_bytes is still to be written" in said) != is_written
