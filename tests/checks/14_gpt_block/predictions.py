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
    N_("Which part of a block learns more numbers?"),
    choices=[N_("the attention"), N_("the network"), N_("both as many")],
    right=2,
    why=N_(
        "With d features, the attention has four matrices of d · d numbers. The network has two of "
        "4 · d · d: twice as many."
    ),
)
def largest_part(student):
    """How many numbers the attention and the network of a block learn."""
    block = student.call("TransformerBlock", 48, 8, 3).value
    shapes = student.state(block, values=False).parameters
    attention, network = (
        sum(value.numel() for name, value in shapes.items() if f".{part}." in f".{name}")
        for part in ("attn", "mlp")
    )
    number = 1 if attention > network else 2 if network > attention else 3
    return number, f"{attention} : {network}"
