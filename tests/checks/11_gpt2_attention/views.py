"""What right code of this assignment lets a student see: what a layer costs."""

import torch

from grader.testing import N_, view

from .helpers import named, numbers

WIDTHS, HEADS = (192, 384, 768), (1, 4, 12)


@view(
    "GPT2MultiHeadAttention",
    N_("How many numbers a layer learns"),
    look=N_("Twice the width makes about four times as many; the number of heads changes nothing."),
    ask=N_("Why do more heads cost nothing?"),
)
def learnt(student, heat):
    """The parameters of layers of several widths, with more and more heads."""
    counts = []
    for heads in HEADS:
        sizes = [named(width, width, 1024, heads) for width in WIDTHS]
        layers = [student.call("GPT2MultiHeadAttention", **one, dropout=0.0).value for one in sizes]
        counts.append([numbers(student.state(layer, values=False)) for layer in layers])
    rows, columns = ([str(size) for size in some] for some in (HEADS, WIDTHS))
    axes = [N_("heads"), N_("width")]
    return heat(torch.tensor(counts), rows=rows, columns=columns, axes=axes)
