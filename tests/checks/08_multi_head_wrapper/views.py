"""What right code of this assignment lets a student see: heads that notice different things."""

from grader.testing import N_, view

from ..views import moved, square


@view(
    "MultiHeadAttentionWrapper",
    N_("Who notices when a word is replaced, head by head"),
    look=N_(
        "In each column, that word is replaced; the numbers say how far each head's context vectors "
        "move. Every head has weights of its own; above the diagonal all is 0 in both."
    ),
    ask=N_("Which change does one head notice much more than the other?"),
)
def noticed(student, text, heat):
    """How far the context vectors of two heads move."""
    count, d_in = text.vectors.shape
    layer = student.call("MultiHeadAttentionWrapper", d_in, 2, count, 0.0, 2, seed=123).value
    far = moved(heat, student, layer, text, 4).unflatten(2, (2, 2)).norm(dim=3)
    axes = [N_("context vector"), N_("replaced")]
    return [
        square(
            heat,
            far[:, :, head],
            text,
            title=heat.words(N_("head {number}"), number=head),
            axes=axes,
        )
        for head in range(2)
    ]
