"""What students predict in this assignment, and how their code answers."""

from grader.testing import N_, prediction

from ..views import EXAMPLE


@prediction(
    "CausalAttention",
    N_(
        "A batch has the same text twice. In the second one the last word is exchanged. Which context vectors change?"
    ),
    choices=[
        N_("the last one of the second text"),
        N_("all of the second text"),
        N_("the last one of each text"),
        N_("all of both texts"),
    ],
    right=1,
    why=N_(
        "No token looks ahead, so the tokens before the last never see it; and the texts of a batch do "
        "not see each other."
    ),
)
def last_word(student):
    """The context vectors that differ from those of the text alone."""
    vectors = EXAMPLE.text().vectors
    other = vectors.clone()
    other[-1] = vectors[0]
    model = student.call("CausalAttention", 3, 2, 6, 0.0, seed=123).value
    before, after = (
        student.call(model, x, training=False).value.detach()
        for x in (vectors.expand(2, -1, -1), vectors.new_tensor([vectors.tolist(), other.tolist()]))
    )
    first, second = ((after - before).abs().amax(dim=-1) > 1e-5).tolist()
    is_last, is_both = sum(second) == second[-1] == 1, any(first)
    number = (3 if is_both else 1) if is_last else (4 if is_both else 2)
    return number, f"{before[1, -1, 0]:.4f} → {after[1, -1, 0]:.4f}"
