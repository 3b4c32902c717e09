"""15: its layer is torch's own attention and that of 09, and waits for it; its notebook runs."""

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from kernels import printed, run_assignment
from torch.nn import functional

from grader.core.records import Outcome
from grader.course.course import Course
from tests.course.conftest import Answer, with_edit

HEADS, D_IN, D_OUT, LENGTH = 3, 6, 12, 7


@pytest.fixture
def own(defined_by: Callable[[str], SimpleNamespace]) -> SimpleNamespace:
    """What the solution defines, and the layer of 09."""
    layer = defined_by("09_multi_head_attention").MultiHeadAttention
    return SimpleNamespace(**vars(defined_by("15_cache")), layer_of_09=layer)


@pytest.mark.parametrize("pieces", [[7], [3, 4], [1] * 7, [2, 1, 4]], ids=str)
def test_a_text_in_pieces_is_what_torch_and_the_layer_of_09_make_of_it(
    own: SimpleNamespace, pieces: list[int]
) -> None:
    """With 09's state, whatever the pieces; by `scaled_dot_product_attention` as well."""
    torch.manual_seed(1)
    layer = own.layer_of_09(D_IN, D_OUT, LENGTH, 0.0, HEADS, qkv_bias=True)
    cached = own.CachedAttention(D_IN, D_OUT, LENGTH, 0.0, HEADS, qkv_bias=True)
    cached.load_state_dict(layer.state_dict(), strict=False)
    x, cache, found = torch.randn(2, LENGTH, D_IN), None, []
    for piece in x.split(pieces, dim=1):
        vectors, cache = cached(piece, cache)
        found.append(vectors)
    queries, keys, values = (
        own.split_heads(one(x), HEADS) for one in (layer.W_query, layer.W_key, layer.W_value)
    )
    mixed = functional.scaled_dot_product_attention(queries, keys, values, is_causal=True)
    by_torch = layer.out_proj(own.merge_heads(mixed))
    for right in (layer(x), by_torch):
        torch.testing.assert_close(torch.cat(found, dim=1), right, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(cache, (keys, values))


def test_the_mask_is_what_torchs_own_attention_takes(own: SimpleNamespace) -> None:
    """The last tokens alone, by torch's attention with the mask."""
    torch.manual_seed(1)
    queries, keys, values = torch.randn(3, 2, HEADS, LENGTH, 4)
    whole = functional.scaled_dot_product_attention(queries, keys, values, is_causal=True)
    mask = own.causal_mask(4, LENGTH)
    last = functional.scaled_dot_product_attention(queries[:, :, 3:], keys, values, attn_mask=mask)
    torch.testing.assert_close(last, whole[:, :, 3:])


def test_the_same_is_written_with_the_cache_and_without(own: SimpleNamespace) -> None:
    """Up to the longest text that the model can read."""
    torch.manual_seed(1)
    model, tokens = own.Model(10, 20, 12, HEADS), torch.tensor([[3, 1, 4], [1, 5, 9]])
    without = own.generate(lambda text: model(text)[0], tokens, 17)
    assert torch.equal(own.generate_cached(model, tokens, 17), without)


SPLIT = ("num_tokens, num_heads, d_out // num_heads)\n", "num_tokens, -1, num_heads).mT\n")
APPEND = ("torch.cat([past_keys, keys], dim=2)", "torch.cat([keys, past_keys], dim=2)")
EXCHANGED = ("past_keys, past_values = cache", "past_values, past_keys = cache")
NUMBERS = (", dtype=torch.bool).tril(num_keys", ").tril(num_keys")


@pytest.mark.parametrize(
    ("edited", "edit", "waits"),
    [
        ("09_multi_head_attention", SPLIT, "`split_heads` of assignment 09"),
        ("15_cache", APPEND, "`append_to_cache`"),
        ("15_cache", EXCHANGED, "`append_to_cache`"),
        ("13_masks", NUMBERS, "`causal_mask` of assignment 13"),
    ],
    ids=["a wrong 09", "a wrong cache", "keys and values exchanged", "a mask of numbers"],
)
def test_the_layer_waits_for_what_it_needs(
    course: Course, tmp_path: Path, edited: str, edit: tuple[str, str], waits: str
) -> None:
    """What is wrong elsewhere costs there alone."""
    checks = with_edit(course, tmp_path, "15_cache/CachedAttention", edited, edit).checks
    assert {check.outcome for check in checks} == {Outcome.BLOCKED}
    assert checks[0].message == f"It needs your {waits}, which is not right yet."


@pytest.mark.slow
def test_writing_waits_for_a_layer_that_keeps_its_cache(checked: Answer) -> None:
    """The first text is right, and the next one goes on with its cache."""
    kept = "keys, values = self.past = append_to_cache(getattr(self, 'past', None), new_keys, new_values)"
    layer = checked("CachedAttention", GROWN, kept)
    assert not layer.is_solved
    found = checked("generate_cached", GROWN, kept)
    assert {check.outcome for check in found.checks} == {Outcome.BLOCKED}
    assert found.checks[0].message == "It needs your `CachedAttention`, which is not right yet."


GROWN = "keys, values = append_to_cache(cache, new_keys, new_values)"
GOES_ON = """if not hasattr(self, "past"):
            self.past = cache
        keys, values = self.past = append_to_cache(self.past, new_keys, new_values)"""
ITS_OWN = """held = vars(self).get("held") if cache else None
        keys, values = new_keys, new_values
        if held:
            keys, values = (torch.cat(both, 2) for both in zip(held, (keys, values), strict=True))
        self.held = keys, values"""
ITS_OWN_FIRST = """if cache and "mine" in vars(self):
            cache = self.mine
        self.mine = keys, values = append_to_cache(cache, new_keys, new_values)"""


@pytest.mark.slow
@pytest.mark.proof
@pytest.mark.parametrize(
    ("kept", "name"),
    [
        (ITS_OWN, "cached-in-the-module"),
        (GOES_ON, "cached-in-the-module-for-good"),
        (ITS_OWN_FIRST, "cached-in-the-module-first"),
    ],
    ids=["what is given does not count", "for good", "before what is given"],
)
def test_a_cache_kept_in_the_layer_is_named_and_leaves_two_fifths(
    single: Answer, kept: str, name: str
) -> None:
    """However it is written: it is the mistake that the text warns of."""
    found = single("CachedAttention", GROWN, kept, hidden=True)
    assert found.misconceptions == (name,)
    assert found.score is not None
    assert found.score <= Decimal("0.4") * found.max_score


@pytest.mark.long
@pytest.mark.proof
@pytest.mark.parametrize("is_written", [False, True], ids=["as handed out", "all written"])
def test_the_notebook_runs_from_top_to_bottom(
    course: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_written: bool
) -> None:
    """In a real kernel."""
    written = None if is_written else ()
    said = printed(*run_assignment(course, "15_cache", tmp_path, monkeypatch, written).cells)
    assert ("tokens read: 1 2 3 4 5 6 7 8 together: 36" in said) == is_written
    assert ("at most 0.000000 apart" in said) == is_written
    assert said.count("the same: True") == (6 if is_written else 0)
    assert ("15_cache/generate is still to be written" in said) != is_written
