"""What right code of this assignment lets a student see: nothing comes back from the future."""

from grader.testing import N_, view

from ..views import moved, square


@view(
    "CausalAttention",
    N_("Who notices when a word is replaced"),
    look=N_(
        "In each column, that word is replaced; the numbers say how far each context vector moves. "
        "Above the diagonal all is 0: nobody notices what comes later."
    ),
    ask=N_("Which word moves every context vector, and which only its own?"),
)
def noticed(student, text, heat):
    """How far context vectors move."""
    count, d_in = text.vectors.shape
    layer = student.call("CausalAttention", d_in, 2, count, 0.0, seed=123).value
    far = moved(heat, student, layer, text, 2).norm(dim=2)
    return square(heat, far, text, axes=[N_("context vector"), N_("replaced")])
