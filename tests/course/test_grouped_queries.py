"""16: torch's own attention agrees, 09's state fits, what is built of a wrong part waits."""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from kernels import printed, run_assignment
from torch import nn

from grader.core.records import Outcome
from grader.course.course import Course
from tests.course.conftest import with_edit

ID, OF_09 = "16_grouped_queries", "09_multi_head_attention"
HEADS, FEATURES, TOKENS = 6, 24, 7


@pytest.fixture
def own(defined_by: Callable[[str], SimpleNamespace]) -> SimpleNamespace:
    """What the solution defines, and the layer of 09."""
    layer = defined_by(OF_09).MultiHeadAttention
    return SimpleNamespace(**vars(defined_by(ID)), MultiHeadAttention=layer)


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
    found = with_edit(course, tmp_path, f"{ID}/GroupedQueryAttention", place, (old, new))
    assert found.checks[0].message.startswith(message)
    assert {check.outcome for check in found.checks} == {Outcome.BLOCKED}


@pytest.mark.long
@pytest.mark.proof
@pytest.mark.parametrize("is_written", [False, True], ids=["as handed out", "all written"])
def test_the_notebook_runs_from_top_to_bottom(
    course: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_written: bool
) -> None:
    """In a real kernel."""
    written = None if is_written else ()
    said = printed(*run_assignment(course, ID, tmp_path, monkeypatch, written).cells)
    assert ("17.18 GB" in said) == is_written
    assert ("they differ by 0.000000" in said) == is_written
    assert (f"{ID}/kv_cache_bytes is still to be written" in said) != is_written
