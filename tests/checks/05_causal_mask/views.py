"""What right code of this assignment lets a student see: no word looks ahead."""

from grader.testing import N_, view

from ..helpers import future
from ..views import example_scores, square

D_K = 2


@view(
    "mask_scores",
    N_("What no word may see"),
    look=N_("Minus infinity stands above the diagonal, and nowhere else."),
    ask=N_("What does the softmax make of minus infinity?"),
)
def masked(student, text, heat):
    """The scores, the future hidden."""
    value = student.call("mask_scores", example_scores(text), future(len(text.words))).value
    return square(heat, value, text)


@view(
    "causal_weights",
    N_("Who looks at whom"),
    look=N_("Each row sums to 1, and above the diagonal all is 0."),
    ask=N_("Which word has no choice, and why?"),
)
def weights(student, text, heat):
    """The causal weights."""
    return square(heat, student.call("causal_weights", example_scores(text), D_K).value, text)
