"""What students predict in this assignment, and how their code answers."""

from grader.testing import N_, prediction

from ..views import EXAMPLE


@prediction(
    "SelfAttention_v1",
    N_("The text is read backwards, the last token first. What happens to the context vectors?"),
    choices=[
        N_("each token gets another one"),
        N_("each token keeps its own, in the new order"),
        N_("they are the same, in the old order"),
    ],
    right=2,
    why=N_(
        "Every step treats each token alike and sums over all of them, so another order of the tokens "
        "gives the same vectors in that order. Attention by itself does not know where a token stands."
    ),
)
def backwards(student):
    """The context vectors of the text, forwards and backwards."""
    vectors = EXAMPLE.text().vectors
    model = student.call("SelfAttention_v1", 3, 2, seed=123).value
    before, after = (student.call(model, x).value.detach() for x in (vectors, vectors.flip(0)))
    turned, same = ((after - x).abs().max().item() for x in (before.flip(0), before))
    number = 2 if turned < 1e-4 else 3 if same < 1e-4 else 1
    return number, f"{before[0, 0]:.4f} → {after[-1, 0]:.4f}"
