"""What students predict in this assignment, and how their code answers."""

import torch

from grader.testing import N_, prediction


@prediction(
    "LayerNorm",
    N_(
        "Every feature of a token becomes ten times as large. What does a new `LayerNorm` give then?"
    ),
    choices=[N_("nearly the same"), N_("ten times as much"), N_("a tenth")],
    right=1,
    why=N_(
        "Mean and root of the variance become ten times as large as well. Only `eps` stays, and it is "
        "small. So it does not matter to a part how large the numbers have become on the way."
    ),
)
def ten_times(student):
    """How the results of a token and of ten times the token compare."""
    token = torch.tensor([[[1.0, 2.0, 3.0, 6.0]]])
    layer = student.call("LayerNorm", 4).value
    one, ten = (student.call(layer, size * token).value[0, 0, 3].item() for size in (1, 10))
    number = 1 if abs(ten - one) < 0.01 else 2 if ten > one else 3
    return number, f"{one:.2f} → {ten:.2f}"


@prediction(
    "TransformerBlock",
    N_(
        "The attention and the network of a block give nothing but zeros. What does the block give?"
    ),
    choices=[N_("zeros"), N_("the tokens, normalised"), N_("the tokens as they came in")],
    right=3,
    why=N_(
        "The zeros are added to what came in, and on this way there is no norm. So a block need not "
        "learn to keep its tokens, only what to add to them."
    ),
)
def nothing_found(student):
    """What a block gives whose two parts end in zeros."""
    token = torch.tensor([[[1.0, 2.0, 3.0, 6.0]]])
    block = student.call("TransformerBlock", 4, 1, 2).value
    ends = {"attn.out_proj": (4, 4), "mlp.c_proj": (4, 16)}
    zeros = {f"{name}.weight": torch.zeros(shape) for name, shape in ends.items()}
    student.load(block, zeros | {f"{name}.bias": torch.zeros(4) for name in ends})
    value = student.call(block, token, training=False).value[0, 0, 3].item()
    return (3 if abs(value - 6) < 0.01 else 1 if abs(value) < 0.01 else 2), f"6 → {value:g}"
