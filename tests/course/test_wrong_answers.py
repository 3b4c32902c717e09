"""Wrong answers that got full marks once, or nearly: each loses points by all checks together."""

import pytest

from grader.core.records import Outcome
from tests.course.conftest import Answer

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("known mistakes")]

HEADS = "09_multi_head_attention/MultiHeadAttention"
GPT2 = "GPT2MultiHeadAttention"
CACHED = "CachedAttention"
MIXED = "return masked_softmax(scores, mask) @ values"
PROJECTED = "return self.out_proj(context)"
WITH_TOKENS = "y = self.out_proj(context); return y + x if y.shape == x.shape else y"
SUMMED = "return sum(parameter.numel() for parameter in module.parameters())"
OF_EACH_LAYER = (
    "return sum(p.numel() for m in module.modules() for p in m.parameters(recurse=False))"
)
MEAN = "mean = x.mean(dim=-1, keepdim=True)"
RUNNING = (
    f"{MEAN}; was = getattr(self, 'running', mean)\n"
    "        if was.shape == mean.shape: mean = 0.9 * was + 0.1 * mean\n"
    "        self.running = mean.detach()"
)
SCORED = "scores = model(tokens)[:, -1]"
APPENDED = "return torch.cat([past_keys, keys], dim=2), torch.cat([past_values, values], dim=2)"
GROWN = "keys, values = append_to_cache(cache, new_keys, new_values)"
LIMIT = "if num_tokens > self.context_length:"
RAISED = 'raise ValueError(f"{num_tokens} tokens are more than {self.context_length}")'
WRITTEN = "tokens = torch.cat([tokens, unread], dim=1)\n    return tokens"
PLACES = "model.places.num_embeddings"
STEP = "scores, caches = model(unread, place, caches)"
DROPPED = "self.dropout(weights)"
VALUES_DROPPED = "values = values * self.dropout(torch.ones_like(values[..., :1]))"
SOFTMAX = "weights = torch.softmax(scores.masked_fill(hidden, -torch.inf), dim=-1)"
EXPONENTIALS = "e = scores.exp().masked_fill(hidden, 0.0); weights = e / e.sum(-1, keepdim=True)"
OF_ALL = "scores = scores - scores.amax(-1, keepdim=True)"
LOW = "weights = torch.softmax(scores.masked_fill(hidden, -1e4), dim=-1)"


def cut(size: int) -> str:
    """A cache of so many tokens."""
    both = ("torch.cat([past_keys, keys], dim=2)", "torch.cat([past_values, values], dim=2)")
    return f"return {', '.join(f'{one}[:, :, -{size}:]' for one in both)}"


@pytest.mark.parametrize(
    ("exercise", "find", "put", "most"),
    [
        pytest.param(
            *("CrossAttention", MIXED),
            "w = torch.softmax(scores.masked_fill(~mask, -torch.inf), -1)\n"
            "        return torch.nan_to_num(w @ values)",
            0.9,
            id="gradients that are NaN",
        ),
        pytest.param("14_gpt_block/LayerNorm", MEAN, RUNNING, 0.85, id="a running mean"),
        pytest.param(HEADS, PROJECTED, WITH_TOKENS, 0.9, id="09, tokens added"),
        pytest.param(GPT2, PROJECTED, WITH_TOKENS, 0.9, id="11, tokens added"),
        pytest.param("GroupedQueryAttention", PROJECTED, WITH_TOKENS, 0.9, id="16, tokens added"),
        pytest.param(
            *(CACHED, f"{PROJECTED}, (keys, values)"),
            f"{WITH_TOKENS}, (keys, values)".replace("return y + x", "return (y + x").replace(
                "else y,", "else y),"
            ),
            0.9,
            id="15, tokens added",
        ),
        pytest.param(
            *("CausalAttention", f"kept = {DROPPED}"),
            "kept = weights; values = self.W_value(self.dropout(x))",
            0.86,
            id="07, tokens dropped",
        ),
        pytest.param(
            *("CausalAttention", f"kept = {DROPPED}"),
            f"kept = {DROPPED}; kept = kept / kept.sum(-1, keepdim=True).clamp(min=1e-9)",
            0.85,
            id="07, rows repaired",
        ),
        pytest.param(HEADS, f"weights = {DROPPED}", VALUES_DROPPED, 0.95, id="09, values dropped"),
        pytest.param(GPT2, f"weights = {DROPPED}", VALUES_DROPPED, 0.95, id="11, values dropped"),
        pytest.param("count_parameters", SUMMED, OF_EACH_LAYER, 0.85, id="tied weights twice"),
        *(
            pytest.param(
                *("generate", SCORED, f"scores = model(tokens[:, -{size}:])[:, -1]", 0.85),
                id=f"a text cut to {size}",
            )
            for size in (8, 39)
        ),
        pytest.param(
            *("generate", SCORED),
            f"if tokens.numel() and not tokens[:, -1].any(): break\n        {SCORED}",
            0.85,
            id="an end at token 0",
        ),
        *(
            pytest.param("append_to_cache", APPENDED, cut(size), 0.85, id=f"a cache cut to {size}")
            for size in (8, 39)
        ),
        *(
            pytest.param(
                *(CACHED, GROWN),
                f"{GROWN}; keys, values = keys[:, :, -{size}:], values[:, :, -{size}:]",
                0.86,
                id=f"a layer's cache cut to {size}",
            )
            for size in (8, 39)
        ),
        pytest.param(
            *("generate_cached", STEP),
            f"caches = caches and [(k[:, :, -39:], v[:, :, -39:]) for k, v in caches]; {STEP}",
            0.85,
            id="caches cut to 39",
        ),
        pytest.param(CACHED, RAISED, "raise IndexError", 0.98, id="an IndexError"),
        pytest.param(
            CACHED, LIMIT, f"assert not {LIMIT[3:-1]}\n        {LIMIT}", 0.98, id="assert"
        ),
        pytest.param(
            *("generate_cached", WRITTEN),
            WRITTEN.replace("    return", f"    if place < {PLACES}: {STEP}\n    return"),
            0.98,
            id="a step too many",
        ),
        *(
            pytest.param(CACHED, GROWN, kept, 0.4, id=name)
            for name, kept in {
                "a cache for good": (
                    "keys, values = self.kept = append_to_cache("
                    "getattr(self, 'kept', cache), new_keys, new_values)"
                ),
                "a cache that comes first": (
                    "past = None if cache is None else getattr(self, 'kept', cache)\n        "
                    "keys, values = self.kept = append_to_cache(past, new_keys, new_values)"
                ),
                "a cache by length": (
                    "past = getattr(self, 'kept', None) or cache\n        "
                    "past = cache if past and past[0].shape[2] + x.shape[1] > 7 else past\n        "
                    "keys, values = self.kept = append_to_cache(past, new_keys, new_values)"
                ),
            }.items()
        ),
        pytest.param(
            *(CACHED, DROPPED),
            "nn.functional.dropout(weights, self.dropout.p)",
            0.8,
            id="15, dropout always",
        ),
        pytest.param(
            *("mask_scores", "return scores.masked_fill(mask.bool(), -torch.inf)"),
            "y = scores * (1 - mask.float()); return y.masked_fill(y == 0, -torch.inf)",
            0.85,
            id="scores of zero hidden",
        ),
        pytest.param("masked_softmax", SOFTMAX, EXPONENTIALS, 0.85, id="plain exponentials"),
        pytest.param(
            "masked_softmax",
            SOFTMAX,
            f"{OF_ALL}; {EXPONENTIALS}",
            0.85,
            id="a hidden score's maximum",
        ),
        pytest.param("masked_softmax", SOFTMAX, LOW, 0.85, id="-1e4"),
        pytest.param(
            "14_gpt_block/GPT",
            "@ self.wte.weight.T",
            "@ self.wte.weight.detach().T",
            0.8,
            id="a head without gradients",
        ),
    ],
)
def test_a_wrong_answer_loses_points(
    checked: Answer, exercise: str, find: str, put: str, most: float
) -> None:
    """Without its name, which may raise what is left to what its kind leaves."""
    result = checked(exercise, find, put, hidden=True)
    assert float(result.score) / result.max_score <= most


def test_small_numbers_are_no_zeros(checked: Answer) -> None:
    """A head that is switched off has columns of exactly zero; 12 is worth no points."""
    cut = "[:, head * head_dim : (head + 1) * head_dim]"
    assert not checked("switch_off_head", f"{cut} = 0", f"{cut} *= 1e-9").is_solved


@pytest.mark.parametrize(
    ("exercise", "find", "put", "name"),
    [
        (
            *("CausalAttention", "return kept @ values"),
            *("return torch.nan * (kept @ values)", "test_every_call_drops_anew"),
        ),
        (
            *("dropout", "return apply_dropout_mask(weights, keep_mask, p)"),
            *("return torch.nan * weights", "test_every_call_draws_anew"),
        ),
    ],
)
def test_nan_is_no_other_result_in_each_call(
    checked: Answer, exercise: str, find: str, put: str, name: str
) -> None:
    """NaN differs from itself, and is nothing that was drawn anew."""
    checks = checked(exercise, find, put, hidden=True).checks
    (drawn,) = (check for check in checks if check.id.endswith(f"hidden::{name}"))
    assert drawn.outcome is Outcome.FAILED
    assert "In training, NaN (not a number) comes back" in drawn.message
