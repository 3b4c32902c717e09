"""Tests of parameters under other names: which stands for which."""

import pytest

from grader.testing.roles import Roles, alike_in_place

ROLES = Roles(
    {
        "query": ("q", "wq", "query"),
        "key": ("k", "wk", "key"),
        "value": ("v", "wv", "value"),
        "out": ("out", "proj"),
    }
)

THREE = ["W_query.weight", "W_key.weight", "W_value.weight"]


@pytest.mark.parametrize(
    "names",
    ["Wq Wk Wv", "query key value", "to_q to_k to_v", "qLinear kLinear vLinear", "a.q a.k a.v"],
)
def test_a_layer_is_known_by_its_role(names: str) -> None:
    """By a word in its name."""
    own = [f"{name}.weight" for name in names.split()]
    assert ROLES.stand_ins(THREE, own) == dict(zip(THREE, own, strict=True))


@pytest.mark.parametrize(
    ("missing", "others", "expected"),
    [
        (["W_query"], ["Wq"], {"W_query": "Wq"}),
        (["W_query"], ["Wq.weight"], {}),
        (["W_query.weight"], ["a.q.weight", "b.q.weight"], {}),
        (
            ["heads.1.W_key.bias"],
            ["h.0.k.bias", "h.1.k.bias"],
            {"heads.1.W_key.bias": "h.1.k.bias"},
        ),
        (["out_proj.weight"], ["c_proj.weight"], {"out_proj.weight": "c_proj.weight"}),
        (
            ["W_key.bias", "out_proj.weight", "out_proj.bias"],
            ["fc.weight", "fc.bias"],
            {"out_proj.weight": "fc.weight", "out_proj.bias": "fc.bias"},
        ),
        (["out_proj.weight", "out_proj.bias"], ["fc.weight"], {}),
        (["out_proj.weight"], ["fc.weight", "norm.weight"], {}),
        (THREE, ["qkv.weight"], {}),
        (
            ["h.0.attn.out_proj.weight", "h.0.mlp.c_proj.weight"],
            ["blocks.0.attn.proj.weight", "blocks.0.ff.0.weight", "blocks.0.ff.2.weight"],
            {"h.0.attn.out_proj.weight": "blocks.0.attn.proj.weight"},
        ),
        (["h.0.mlp.c_proj.weight"], ["h.0.attn.out_proj.weight", "h.0.mlp.layers.0.weight"], {}),
        (
            ["h.0.mlp.c_proj.weight"],
            ["h.0.attn.out_proj.weight", "h.0.mlp.proj.weight"],
            {"h.0.mlp.c_proj.weight": "h.0.mlp.proj.weight"},
        ),
    ],
    ids=[
        *("parameter", "layer for parameter", "two of a role", "by number", "projection"),
        *("the one left", "not its bias", "two left", "one for three", "a rival elsewhere"),
        *("of another module", "of its own module"),
    ],
)
def test_only_what_is_unambiguous_stands_for_another(
    missing: list[str], others: list[str], expected: dict[str, str]
) -> None:
    """By role, kind and number; or as the only layer that is left."""
    assert ROLES.stand_ins(missing, others) == expected


def test_without_roles_only_what_is_left_stands_for_another() -> None:
    """A course that says none has its parameters by name."""
    assert Roles().stand_ins(["W_query"], ["Wq", "Wk"]) == {}
    assert Roles().stand_ins(["W_query"], ["Wq"]) == {"W_query": "Wq"}


@pytest.mark.parametrize(
    ("missing", "others", "expected"),
    [
        (
            {"weight": (4,), "bias": (4,)},
            {"scale": (4,), "shift": (4,)},
            {"weight": "scale", "bias": "shift"},
        ),
        (
            {"up.weight": (8, 2), "down.weight": (2, 8)},
            {"net.2.weight": (2, 8), "net.0.weight": (8, 2)},
            {"up.weight": "net.0.weight", "down.weight": "net.2.weight"},
        ),
        (
            {"h.0.a.weight": (4,), "h.1.a.weight": (4,)},
            {"blocks.1.n.scale": (4,), "blocks.0.n.scale": (4,)},
            {"h.0.a.weight": "blocks.0.n.scale", "h.1.a.weight": "blocks.1.n.scale"},
        ),
        (
            {"first.weight": (4,), "second.weight": (4,)},
            {"norm2.weight": (4,), "norm1.weight": (4,)},
            {"first.weight": "norm1.weight", "second.weight": "norm2.weight"},
        ),
        ({"first.weight": (4,), "second.weight": (4,)}, {"norm.weight": (4,)}, {}),
        ({"first.weight": (4, 2)}, {"norm.weight": (2, 4)}, {}),
    ],
    ids=["parameters", "shapes", "numbered parts", "numbers at the end", "too few", "turned"],
)
def test_a_layer_may_stand_in_anothers_place(
    missing: dict[str, tuple[int, ...]],
    others: dict[str, tuple[int, ...]],
    expected: dict[str, str],
) -> None:
    """By the shapes of its parameters, and by order."""
    assert alike_in_place(missing, others) == expected
