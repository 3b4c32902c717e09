"""What students predict in this assignment, and how their code answers."""

import torch

from grader.testing import N_, prediction


@prediction(
    "next_token",
    N_(
        "Three tokens have the logits 0, 1 and 2, and the number is 0.5. Which one is drawn at a "
        "temperature of 100?"
    ),
    choices=[N_("the first"), N_("the second"), N_("the third")],
    right=2,
    why=N_(
        "At so high a temperature all three are nearly as likely, and 0.5 lies in the middle of the "
        "line. At 1 the third would be drawn: it is about twice as likely as both others together."
    ),
)
def hot(student):
    """What is drawn at both temperatures."""
    logits = torch.tensor([0.0, 1.0, 2.0])
    one, hundred = (student.call("next_token", logits, t, 3, 0.5).value for t in (1.0, 100.0))
    return hundred + 1, f"{one} → {hundred}"


@prediction(
    "initial_std",
    N_("A model has four times as many blocks. What becomes of the deviation for `out_proj`?"),
    choices=[N_("a quarter"), N_("a half"), N_("it stays as large")],
    right=2,
    why=N_("Four times as many terms are twice as large together, not four times."),
)
def deeper(student):
    """The deviation for 2 and for 8 blocks."""
    name = "h.0.attn.out_proj.weight"
    two, eight = (student.call("initial_std", name, n).value for n in (2, 8))
    return {0.25: 1, 0.5: 2, 1.0: 3}[round(eight / two, 3)], f"{two:g} → {eight:g}"


@prediction(
    "attend",
    N_(
        "A layer of 8 heads gets 2 key-value heads in place of 8, so that its cache takes a quarter of "
        "the bytes. What becomes of the multiplications of one step?"
    ),
    choices=[N_("about a quarter"), N_("about three quarters"), N_("they stay as many")],
    right=2,
    why=N_(
        "Only the matrices of keys and values get smaller. Queries, scores, mixture and `out_proj` are "
        "still those of all heads: groups save memory first."
    ),
)
def fewer_heads(student):
    """What a step multiplies, and the bytes of the cache, with 8 and with 2 key-value heads."""
    (many, large), (few, small) = (step_with(student, kv_heads) for kv_heads in (8, 2))
    share = few / many
    number = 1 if share < 0.5 else 2 if share < 0.9 else 3
    return number, f"{many} → {few} · {large} → {small} bytes"


def step_with(student, kv_heads):
    """The multiplications of the step behind 60 tokens, and the bytes of the cache."""
    layer = student.call("GroupedQueryAttention", 64, 64, 61, 0.0, 8, kv_heads, seed=1).value
    x = torch.ones(1, 60, 64)
    _found, cache = student.call("attend", layer, x, None, 8).value
    step = student.call("attend", layer, x[:, :1], tuple(cache), 8, meter=True)
    return step.cost.multiplications, sum(tensor.nbytes for tensor in cache)
