"""What students predict in this assignment, and how their code answers."""

import torch

from grader.testing import N_, prediction


@prediction(
    "split_heads",
    N_("A token has the features 0 to 5, and there are two heads. Which features has head 0?"),
    choices=["0, 1, 2", "0, 2, 4", "0, 1, 2, 3, 4, 5"],
    right=1,
    why=N_(
        "The features are cut into neighbouring pieces, one for each head. No head gets all of them."
    ),
)
def first_head(student):
    """The features of the first head."""
    token = torch.arange(6).reshape(1, 1, 6)
    features = student.call("split_heads", token, 2).value[0, 0, 0].tolist()
    choices = [[0, 1, 2], [0, 2, 4], [0, 1, 2, 3, 4, 5]]
    return choices.index(features) + 1, ""


@prediction(
    "MultiHeadAttention",
    N_("`d_out` is 12. With 6 heads in place of 2, how many numbers does the layer learn?"),
    choices=[N_("a third"), N_("as many"), N_("three times as many")],
    right=2,
    why=N_(
        "The four linear layers have the same size, however many heads there are: the heads share the "
        "features out among themselves."
    ),
)
def more_heads(student):
    """How many numbers both learn."""
    few, many = (
        sum(value.numel() for value in parameters(student, heads).values()) for heads in (2, 6)
    )
    number = 1 if many < few else 2 if many == few else 3
    return number, f"{few} → {many}"


def parameters(student, heads):
    """The parameters of a layer with this many heads, by name."""
    model = student.call("MultiHeadAttention", 4, 12, 6, 0.0, heads, seed=123).value
    return student.state(model, values=False).parameters
