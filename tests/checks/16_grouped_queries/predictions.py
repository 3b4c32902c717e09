"""What students predict in this assignment, and how their code answers."""

import torch

from grader.testing import N_, prediction


@prediction(
    "repeat_kv",
    N_("Four heads share two key-value heads. Which heads use key-value head 0?"),
    choices=[N_("0 and 1"), N_("0 and 2"), N_("all four")],
    right=1,
    why=N_(
        "The heads of a group stand side by side: the first half of the heads has the first "
        "key-value head. `split_heads` cuts features the same way."
    ),
)
def heads_of_the_first(student):
    """Which heads have the first key-value head."""
    two = torch.arange(2.0).reshape(1, 2, 1, 1)
    order = student.call("repeat_kv", two, 4).value.flatten().tolist()
    choices = [[0, 0, 1, 1], [0, 1, 0, 1], [0, 0, 0, 0]]
    return choices.index(order) + 1, " ".join(f"{number:g}" for number in order)


@prediction(
    "GroupedQueryAttention",
    N_(
        "A layer from 12 to 12 features has 6 heads. With 2 key-value heads in place of 6, how many "
        "numbers does it learn?"
    ),
    choices=[N_("about a third"), N_("about two thirds"), N_("as many")],
    right=2,
    why=N_(
        "Of four matrices, those of keys and values shrink to a third; those of queries and of "
        "`out_proj` stay. The cache saves more: all of it shrinks to a third."
    ),
)
def fewer_numbers(student):
    """How many numbers both layers learn."""
    many, few = (learnt(student, kv_heads) for kv_heads in (6, 2))
    number = 1 if few < many / 2 else 2 if few < many else 3
    return number, f"{many} → {few}"


def learnt(student, kv_heads):
    """How many numbers a layer with so many key-value heads learns."""
    layer = student.call("GroupedQueryAttention", 12, 12, 6, 0.0, 6, kv_heads, seed=123).value
    shapes = student.state(layer, values=False).parameters
    return sum(value.numel() for value in shapes.values())


@prediction(
    "kv_cache_bytes",
    N_(
        "A text becomes twice as long, and a layer gets a quarter of the key-value heads. What becomes "
        "of the cache?"
    ),
    choices=[N_("it gets half as large"), N_("it stays as large"), N_("it gets twice as large")],
    right=1,
    why=N_(
        "It grows in proportion to the tokens and to the key-value heads: 2 times a quarter is a half."
    ),
)
def longer_text(student):
    """How large both caches are."""
    one = student.call("kv_cache_bytes", 2, 8, 8, 32, 16, 2).value
    other = student.call("kv_cache_bytes", 2, 8, 2, 32, 32, 2).value
    number = 1 if other < one else 2 if other == one else 3
    return number, f"{one} → {other}"
