"""What students predict in this assignment, and how their code answers."""

from grader.testing import N_, prediction

from ..views import EXAMPLE


@prediction(
    "MultiHeadAttentionWrapper",
    N_("`d_out` is 2, and there are 4 heads. How many features has a context vector?"),
    choices=["2", "4", "6", "8"],
    right=4,
    why=N_(
        "Each head makes a context vector of its own, of size `d_out`, and they are put side by side, "
        "not added up."
    ),
)
def features(student):
    """The size of a context vector."""
    model = student.call("MultiHeadAttentionWrapper", 3, 2, 6, 0.0, 4, seed=123).value
    size = student.call(model, EXAMPLE.text().vectors.unsqueeze(0)).value.shape[-1]
    return ["2", "4", "6", "8"].index(str(size)) + 1, ""
