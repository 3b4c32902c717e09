"""What students predict in this assignment, and how their code answers."""

import torch

from grader.testing import N_, prediction


@prediction(
    "repeat_kv",
    N_("Twelve heads share four key-value heads. Which heads use key-value head 1?"),
    choices=[N_("1, 5 and 9"), N_("3, 4 and 5"), N_("4, 5, 6 and 7")],
    right=2,
    why=N_(
        "A group has 12 / 4 = 3 heads, side by side: 0, 1 and 2 are the first group, 3, 4 and 5 the "
        "second. `split_heads` cuts features the same way."
    ),
)
def heads_of_the_second(student):
    """Which heads have the second key-value head."""
    four = torch.arange(4.0).reshape(1, 4, 1, 1)
    order = student.call("repeat_kv", four, 12).value.flatten().tolist()
    heads = [head for head, number in enumerate(order) if number == 1]
    choices = [[1, 5, 9], [3, 4, 5], [4, 5, 6, 7]]
    return choices.index(heads) + 1, " ".join(f"{number:g}" for number in order)


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
