"""What assignments say before their exercises: short, with a time, and every figure computed anew."""

import base64
import json
import math
import re
import runpy
import sys
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode

from grader.course.course import Assignment, load_course
from grader.release.solution_cells import read_solution

COURSE = load_course(Path(__file__).parents[2])
TRAINED = Path(__file__).parents[1] / "checks/12_train_it/trained.json"
MOST_WORDS = 250
MEASURE = re.compile(r"\*\*About (\d+) minutes, difficulty ([123]) of 3\.\*\* You need ")
FIGURE = re.compile(r"(?<![\w.,])(?:\d+\.\d{2,}|\d{1,3}(?:,\d{3})+)(?![\w.,]\d)")
YOUR, JOURNEY, STARTS, WITH, ONE, STEP = range(6)
LENGTH, HEADS, FEATURES = 1024, 12, 768
MANY = 4000
PRODUCTS = ("mm", "addmm", "bmm")


class Products(TorchDispatchMode):
    """Counts matrix products."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        """Count it, and do it."""
        self.count += func.overloadpacket.__name__ in PRODUCTS
        return func(*args, **(kwargs or {}))


def products(layer: nn.Module, x: Tensor) -> int:
    """How many matrix products a call takes."""
    with Products() as mode:
        layer(x)
    return mode.count


def by_number(number: int) -> Assignment:
    """The assignment whose id begins with that number."""
    (found,) = (a for a in COURSE.assignments if a.id.startswith(f"{number:02}_"))
    return found


@cache
def solution(number: int) -> SimpleNamespace:
    """What the solution of an assignment defines."""
    assignment = by_number(number)
    folders = [str(COURSE.paths(COURSE.by_id[id_]).solution.parent) for id_ in assignment.imports]
    sys.path[:0] = folders
    try:
        return SimpleNamespace(**runpy.run_path(str(COURSE.paths(assignment).solution)))
    finally:
        del sys.path[: len(folders)]
        for id_ in assignment.imports:  # other tests of this process bring their own
            sys.modules.pop(COURSE.by_id[id_].module, None)


def cosine(a: Tensor, b: Tensor) -> Tensor:
    """Of the angle between two vectors."""
    return a @ b / a.norm() / b.norm()


def first() -> dict[str, float]:
    """The mean and what stands against it; lengths and directions."""
    own = solution(1)
    words, one, starts = own.INPUTS, own.INPUTS[ONE], own.INPUTS[STARTS]
    mean = words.mean(dim=0)
    journey = own.context_vector(own.softmax_stable(words @ words[JOURNEY]), words)
    assert (journey - words[JOURNEY]).norm() < (mean - words[JOURNEY]).norm()
    return {
        **dict(zip(("0.4317", "0.5833", "0.5283"), mean, strict=True)),
        **dict(zip(("0.4419", "0.6515", "0.5683"), journey, strict=True)),
        **dict(zip(("0.55", "0.87", "0.66"), words[JOURNEY], strict=True)),
        "0.6654": one @ one,
        "0.7154": one @ starts,
        "1.2071": starts.norm(),
        "0.8157": one.norm(),
        "0.7266": cosine(one, starts),
        "768": solution(11).GPT2_CONFIG["d_in"],
    }


def second() -> dict[str, float]:
    """A symmetric square, and weights that are not."""
    own = solution(2)
    scores = own.attention_scores_matmul(own.INPUTS)
    weights = own.attention_weights(scores)
    assert scores.equal(scores.T)
    return {
        "1,048,576": LENGTH**2,
        "1.0865": scores[JOURNEY, STEP],
        "0.1581": weights[JOURNEY, STEP],
        "0.2184": weights[STEP, JOURNEY],
        "0.8434": scores[WITH, JOURNEY],
        "0.4937": scores[WITH, WITH],
    }


def spread(d_k: int) -> tuple[float, float, float]:
    """The deviation of random scores; the mean largest of six weights, not scaled and scaled."""
    generator = torch.Generator().manual_seed(123)
    parts = []
    for _ in range(MANY // 200):
        query, keys = (torch.randn(200, n, d_k, generator=generator) for n in (1, 6))
        parts.append((keys @ query.transpose(1, 2)).squeeze(2))
    scores = torch.cat(parts)
    plain, scaled = (
        s.softmax(dim=1).amax(dim=1).mean().item() for s in (scores, scores / d_k**0.5)
    )
    return scores.std().item(), plain, scaled


def third() -> dict[str, float]:
    """Scores that are not symmetric; what scaling is for."""
    own = solution(3)
    torch.manual_seed(123)
    queries, keys, _ = (own.project(own.INPUTS, weight) for weight in own.init_weights(3, 2))
    same = queries @ queries.T
    assert same[STEP, JOURNEY] == pytest.approx(same[JOURNEY, STEP])
    found = {d_k: spread(d_k) for d_k in (1, 16, 256, 4096)}
    for d_k, (deviation, _plain, _scaled) in found.items():
        assert deviation == pytest.approx(d_k**0.5, rel=0.03)
    plain = dict(zip(("0.36", "0.78", "0.94", "0.99"), (f[1] for f in found.values()), strict=True))
    scaled = [f[2] for f in found.values()]
    assert scaled == pytest.approx([0.36, 0.42, 0.42, 0.42], abs=0.015)
    scores = torch.tensor([[0.0, 0.0], [torch.tensor(99.0).log().item(), 0.0]], requires_grad=True)
    weights = scores.softmax(dim=1)[:, 0]
    weights.sum().backward()
    assert weights.tolist() == pytest.approx([0.5, 0.99])
    assert scores.grad is not None
    return {
        "1.0865": own.INPUTS[JOURNEY] @ own.INPUTS[STEP],
        "1.5440": queries[JOURNEY] @ keys[STEP],
        "1.3165": queries[STEP] @ keys[JOURNEY],
        "1.6432": same[JOURNEY, STEP],
        **plain,
        "0.42": scaled[-1],
        "0.25": scores.grad[0, 0],
        "0.0099": scores.grad[1, 0],
    }


def fourth() -> dict[str, float]:
    """Parameters, and what an optimizer says where there are none."""
    parameters = list(solution(4).SelfAttention_v1(3, 2).parameters())
    with pytest.raises(ValueError, match="empty parameter list"):
        torch.optim.SGD([])
    return {"3 parameters": len(parameters), "18": sum(p.numel() for p in parameters)}


def fifth() -> dict[str, float]:
    """What is spent on the future."""
    own = solution(5)
    future = own.WEIGHTS.triu(diagonal=1)
    return {
        "0.8079": future[YOUR].sum(),
        "0.6300": future[JOURNEY].sum(),
        "15": (future > 0).sum(),
        "36": own.WEIGHTS.numel(),
    }


def sixth() -> dict[str, float]:
    """The weights of "journey", and the row sums of the printed draw."""
    own = solution(5)
    printed = next(p for p in read_ledger() if p["id"] == "T24")["values"]
    torch.manual_seed(789)
    attention = solution(4).SelfAttention_v2(3, 2)
    words = solution(4).INPUTS
    weights = own.causal_weights(attention.W_query(words) @ attention.W_key(words).T, 2)
    sums = torch.tensor(printed).sum(dim=1)
    assert sums[0] == 2
    return {
        **dict(zip(("0.5517", "0.4483"), weights[JOURNEY], strict=False)),
        **dict(zip(("0.90", "0.62", "1.04", "0.43", "0.33"), sums[1:], strict=True)),
    }


def read_ledger() -> list[dict]:
    """The printed tensors as the ledger has them."""
    (path,) = COURSE.ledger_files
    found = json.loads(path.read_text("utf-8"))
    return found if isinstance(found, list) else found["tensors"]


def seventh() -> dict[str, float]:
    """Axes that are turned."""
    keys = torch.zeros(4, 6, 2)
    reversed_, text = keys.permute(2, 1, 0), prose(7)[0]
    assert str(tuple(keys.shape)) in text
    assert str(tuple(reversed_.shape)) in text
    return {}


def head_weights(head: nn.Module, x: Tensor) -> Tensor:
    """The weights of a causal head without dropout."""
    queries, keys = head.W_query(x), head.W_key(x)
    scores = (queries @ keys.T).masked_fill(head.mask.bool(), -torch.inf)
    return (scores / keys.shape[-1] ** 0.5).softmax(dim=-1)


def eighth() -> dict[str, float]:
    """Where two heads look."""
    own = solution(8)
    torch.manual_seed(123)
    layer = own.MultiHeadAttentionWrapper(3, 2, 6, 0.0, num_heads=2)
    one, other = (head_weights(head, own.INPUTS)[STEP] for head in layer.heads)
    assert (one.argmax(), other.argmax()) == (JOURNEY, ONE)
    return {
        "0.1709": one.max(),
        "0.1758": other.max(),
        "36": sum(p.numel() for p in layer.parameters()),
    }


def ninth() -> dict[str, float]:
    """Matrix products, with several heads and more; the same weights make the same."""
    wrapper = solution(8).MultiHeadAttentionWrapper
    layer = solution(9).MultiHeadAttention
    torch.manual_seed(123)
    x = torch.rand(1, 6, 24)
    heads, joined = wrapper(24, 2, 6, 0.0, num_heads=12), layer(24, 24, 6, 0.0, num_heads=12)
    few = layer(24, 24, 6, 0.0, num_heads=2)
    assert solution(11).count_parameters(few) == solution(11).count_parameters(joined)
    assert products(few, x) == products(joined, x)
    with torch.no_grad():
        for name in ("W_query", "W_key", "W_value"):
            each = [getattr(head, name).weight for head in heads.heads]
            getattr(joined, name).weight.copy_(torch.cat(each))
        joined.out_proj.weight.copy_(torch.eye(24))
        joined.out_proj.bias.zero_()
    torch.testing.assert_close(joined(x), heads(x))
    return {
        "5 products": products(heads, x) / 12,
        "60": products(heads, x),
        "takes 6": products(joined, x),
        "64": FEATURES / HEADS,
    }


def tenth() -> dict[str, float]:
    """A score by hand, and heads joined along the wrong axis."""
    own = solution(10)
    query, key = own.QUERIES[0], own.KEYS[0]
    figures = zip(("1.0277", "0.4852", "1.0057", "0.6135"), (*query, *key), strict=True)
    return {**dict(figures), "1.3312": query @ key, "8 rows": len(torch.cat([own.KEYS] * 2))}


def eleventh() -> dict[str, float]:
    """Sizes."""
    own = solution(11)
    layer = own.GPT2MultiHeadAttention(**own.GPT2_CONFIG)
    with_biases = own.GPT2MultiHeadAttention(**own.GPT2_CONFIG, qkv_bias=True)
    return {
        "2,360,064": own.count_parameters(layer),
        "2,362,368": own.count_parameters(with_biases),
        "12,582,912": HEADS * LENGTH**2,
        "1,048,576": layer.mask.numel(),
        "1.41": 2**0.5,
        "divided by 8": (FEATURES / HEADS) ** 0.5,
    }


def twelfth() -> dict[str, float]:
    """A guess, and what the model that hidden checks load loses with each head."""
    own, stored = solution(12), json.loads(TRAINED.read_text("utf-8"))
    assert f"once in {len(own.LETTERS)} times" in prose(12)[0]
    numbers = np.frombuffer(base64.b64decode(stored["float16"]), dtype=np.float16)
    model, start = own.LetterModel(), 0
    with torch.no_grad():
        for name, shape in stored["shapes"].items():
            end = start + math.prod(shape)
            piece = torch.from_numpy(numbers[start:end].astype(np.float32)).reshape(shape)
            model.get_parameter(name).copy_(piece)
            start = end
    texts = own.draw_texts(256, torch.Generator().manual_seed(1000))
    assert own.accuracy(model, texts) > 0.99
    least, *others = sorted(
        own.accuracy_without(model, texts, b, h) for b in (0, 1) for h in (0, 1)
    )
    assert min(others) > 0.98
    return {"3.26": math.log(len(own.LETTERS)), "0.18": least, "0.98": 0.98}


def thirteenth() -> dict[str, float]:
    """What words spend on padding of zeros."""
    words = solution(1).INPUTS[:4]
    padded = torch.cat((words, torch.zeros(2, 3)))
    spent = (padded @ padded.T).softmax(dim=1)[:, 4:].sum(dim=1)
    return {"0.1741": spent[YOUR], "0.2028": spent[WITH]}


def fourteenth() -> dict[str, float]:
    """What a model of GPT-2's size learns, part by part; both forms of the GELU."""
    own = solution(14)
    plain, biased = (own.numbers_at_gpt2_size(qkv_bias) for qkv_bias in (False, True))
    with torch.device("meta"):
        model = own.GPT(50257, LENGTH, FEATURES, HEADS, 12)
    block = model.h[0]
    parts = (model.wte, model.wpe, block.attn, block.mlp, block, model.h, model.ln_f)
    wte, wpe, attn, mlp, one, all_, last = (
        sum(p.numel() for p in part.parameters()) for part in parts
    )
    x = torch.linspace(-5, 5, 1001)
    assert (own.gelu(x) - nn.functional.gelu(x)).abs().max() < 0.0005
    return {
        "124,412,160": plain,
        "124,439,808": biased,
        "163,009,536": plain + wte,
        "38,597,376": wte,
        "786,432": wpe,
        "2,360,064": attn,
        "4,722,432": mlp,
        "3,072": one - attn - mlp,
        "1,536": last,
        "7,085,568": one,
        "85,026,816": all_,
        "27,648": biased - plain,
        "50,257": model.wte.num_embeddings,
        "0.0005": 0.0005,
        "0.044715": 0.044715,
    }


def fifteenth() -> dict[str, float]:
    """How many tokens are read with and without a cache, and what the cache takes."""
    own, read, prompt = solution(15), [], torch.zeros(1, 100, dtype=torch.long)

    def counting(
        tokens: Tensor, place: int = 0, caches: list[Tensor] | None = None
    ) -> tuple[Tensor, list[Tensor]]:
        read[-1] += tokens.shape[1]
        return torch.zeros(*tokens.shape, 2), caches or []

    read.append(0)
    own.generate(lambda tokens: counting(tokens)[0], prompt, 100)
    read.append(0)
    own.generate_cached(counting, prompt, 100)
    without, cached = read
    layer = own.CachedAttention(FEATURES, FEATURES, LENGTH, 0.0, HEADS)
    keys, values = layer(torch.zeros(1, 1, FEATURES))[1]
    kept = 12 * (keys.numel() + values.numel())
    return {
        "14,950": without,
        "199": cached,
        "75": without / cached,
        "18,432": kept,
        "72": kept * LENGTH * 4 / 2**20,
    }


def sixteenth() -> dict[str, float]:
    """What the cache of a model takes, with all heads and with groups."""
    own = solution(16)
    layers, heads, features, tokens = 32, 32, 4096, 32768
    every, grouped = (
        own.kv_cache_bytes(layers, heads, kv_heads, features, tokens) / 1e9
        for kv_heads in (heads, 8)
    )
    return {"17.18": every, "4.29": grouped, "4,096": features, "32,768": tokens}


def seventeenth() -> dict[str, float]:
    """How many characters the text has, and with which deviation weights begin."""
    own = solution(17)
    return {"6,944": len(own.TEXT), "0.02": own.initial_std("wte.weight", 2)}


FIGURES = (
    *(first, second, third, fourth, fifth, sixth),
    *(seventh, eighth, ninth, tenth, eleventh, twelfth, thirteenth),
)
COMPUTED = {
    **dict(enumerate(FIGURES, start=1)),
    14: fourteenth,
    15: fifteenth,
    16: sixteenth,
    17: seventeenth,
}


def prose(number: int) -> list[str]:
    """The texts between an assignment's code."""
    assignment = by_number(number)
    cells = read_solution(assignment, COURSE.paths(assignment).solution).cells
    return [cell.text for cell in cells if cell.kind == "markdown"]


@pytest.mark.parametrize("number", COMPUTED)
def test_every_figure_is_what_the_course_computes(number: int) -> None:
    """With as many digits as it is written with; figures of random draws within 0.015."""
    text = " ".join(" ".join(prose(number)).split())
    computed = COMPUTED[number]()
    assert set(FIGURE.findall(text)) - computed.keys() == set()
    for written, value in computed.items():
        assert re.search(rf"(?<![\w.,]){re.escape(written)}(?![\w])", text), written
        (figure,) = re.findall(r"[\d.,]+\d|\d", written)
        decimals = len(figure.partition(".")[2])
        close = 0.015 if decimals == 2 else 0.51 * 10**-decimals
        actual = torch.as_tensor(value).detach().item()
        assert actual == pytest.approx(float(figure.replace(",", "")), abs=close), written


@pytest.mark.parametrize("number", COMPUTED)
def test_an_opening_is_short_and_says_how_long_the_assignment_takes(number: int) -> None:
    """As the map in the students' README does."""
    opening = prose(number)[0]
    assert len(opening.split()) <= MOST_WORDS
    minutes, difficulty = MEASURE.search(opening).groups()
    (row,) = re.findall(rf"(?m)^\| {number:02} .*$", COURSE.guide_text)
    assert row.endswith(f" | {minutes} | {difficulty} |")


def test_the_guide_adds_up() -> None:
    """The hours of all assignments, and sizes of the table of names."""
    rows = re.findall(r"(?m)^\| (\d\d) .*\| (\d+) \| [123] \|$", COURSE.guide_text)
    assert [number for number, _ in rows] == [a.id[:2] for a in COURSE.assignments]
    assert list(COMPUTED) == [int(number) for number, _ in rows]
    minutes = [int(m) for number, m in rows if not by_number(int(number)).optional]
    assert "about ten hours" in COURSE.guide_text
    assert round(sum(minutes) / 60) == 10
    config = solution(11).GPT2_CONFIG
    for name in ("d_in", "d_out", "num_heads", "context_length"):
        (row,) = re.findall(rf"(?m)^\| `{name}` .*$", COURSE.guide_text)
        assert row.endswith(f" | {config[name]} |")


def test_attention_without_a_mask_does_not_know_the_order_of_words() -> None:
    """As the guide says: other places, the same context vectors."""
    own = solution(4)
    order = torch.tensor([3, 0, 5, 1, 4, 2])
    layer = own.SelfAttention_v2(3, 2)
    torch.testing.assert_close(layer(own.INPUTS[order]), layer(own.INPUTS)[order])
