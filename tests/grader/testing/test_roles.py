"""Tests of parameters under other names: which stands for which."""

import pytest

from grader.testing.roles import Roles, alike_in_place

WORDS = {"query": "q wq query", "key": "k wk key", "value": "v wv value", "out": "out proj"}
ROLES = Roles({role: tuple(words.split()) for role, words in WORDS.items()})
THREE = ["W_query.weight", "W_key.weight", "W_value.weight"]


@pytest.mark.parametrize(
    "names",
    ["Wq Wk Wv", "query key value", "to_q to_k to_v", "qLinear kLinear vLinear", "a.q a.k a.v"],
)
def test_a_layer_is_known_by_its_role(names: str) -> None:
    """By a word in its name."""
    own = [f"{name}.weight" for name in names.split()]
    assert ROLES.stand_ins(THREE, own) == dict(zip(THREE, own, strict=True))


def pairs(text: str) -> dict[str, str]:
    """Names with what stands for them, `name=other`."""
    return dict(pair.split("=") for pair in text.split())


@pytest.mark.parametrize(
    ("missing", "others", "expected"),
    [
        ("W_query", "Wq", "W_query=Wq"),
        ("W_query", "Wq.weight", ""),
        ("W_query.weight", "a.q.weight b.q.weight", ""),
        ("heads.1.W_key.bias", "h.0.k.bias h.1.k.bias", "heads.1.W_key.bias=h.1.k.bias"),
        ("out_proj.weight", "c_proj.weight", "out_proj.weight=c_proj.weight"),
        (
            *("W_key.bias out_proj.weight out_proj.bias", "fc.weight fc.bias"),
            "out_proj.weight=fc.weight out_proj.bias=fc.bias",
        ),
        ("out_proj.weight out_proj.bias", "fc.weight", ""),
        ("out_proj.weight", "fc.weight norm.weight", ""),
        (" ".join(THREE), "qkv.weight", ""),
        (
            "h.0.attn.out_proj.weight h.0.mlp.c_proj.weight",
            "blocks.0.attn.proj.weight blocks.0.ff.0.weight blocks.0.ff.2.weight",
            "h.0.attn.out_proj.weight=blocks.0.attn.proj.weight",
        ),
        ("h.0.mlp.c_proj.weight", "h.0.attn.out_proj.weight h.0.mlp.layers.0.weight", ""),
        (
            *("h.0.mlp.c_proj.weight", "h.0.attn.out_proj.weight h.0.mlp.proj.weight"),
            "h.0.mlp.c_proj.weight=h.0.mlp.proj.weight",
        ),
    ],
    ids=[
        *("parameter", "layer for parameter", "two of a role", "by number", "projection"),
        *("the one left", "not its bias", "two left", "one for three", "a rival elsewhere"),
        *("of another module", "of its own module"),
    ],
)
def test_only_what_is_unambiguous_stands_for_another(
    missing: str, others: str, expected: str
) -> None:
    """By role, kind and number; or as the only layer that is left."""
    assert ROLES.stand_ins(missing.split(), others.split()) == pairs(expected)


def test_without_roles_only_what_is_left_stands_for_another() -> None:
    """A course that says none has its parameters by name."""
    assert Roles().stand_ins(["W_query"], ["Wq", "Wk"]) == {}
    assert Roles().stand_ins(["W_query"], ["Wq"]) == {"W_query": "Wq"}


FOUR, TALL, WIDE = (4,), (8, 2), (2, 8)


@pytest.mark.parametrize(
    ("missing", "others", "expected"),
    [
        (
            *({"weight": FOUR, "bias": FOUR}, {"scale": FOUR, "shift": FOUR}),
            "weight=scale bias=shift",
        ),
        (
            *({"up.w": TALL, "down.w": WIDE}, {"net.2.w": WIDE, "net.0.w": TALL}),
            "up.w=net.0.w down.w=net.2.w",
        ),
        (
            *({"h.0.a.w": FOUR, "h.1.a.w": FOUR}, {"b.1.n.scale": FOUR, "b.0.n.scale": FOUR}),
            "h.0.a.w=b.0.n.scale h.1.a.w=b.1.n.scale",
        ),
        (
            *({"first.w": FOUR, "second.w": FOUR}, {"norm2.w": FOUR, "norm1.w": FOUR}),
            "first.w=norm1.w second.w=norm2.w",
        ),
        ({"first.w": FOUR, "second.w": FOUR}, {"norm.w": FOUR}, ""),
        ({"first.w": TALL}, {"norm.w": WIDE}, ""),
    ],
    ids=["parameters", "shapes", "numbered parts", "numbers at the end", "too few", "turned"],
)
def test_a_layer_may_stand_in_anothers_place(
    missing: dict[str, tuple[int, ...]], others: dict[str, tuple[int, ...]], expected: str
) -> None:
    """By the shapes of its parameters, and by order."""
    assert alike_in_place(missing, others) == pairs(expected)
