"""What right code of this assignment lets a student see: all words at once."""

import torch

from grader.testing import N_, view

from ..views import square


@view(
    "attention_scores_matmul",
    N_("Every word's score with every word"),
    look=N_("It stays the same when it is mirrored at the diagonal."),
    ask=N_("Is there a word that fits another word better than itself?"),
)
def scores(student, text, heat):
    """The scores of all words."""
    return square(heat, student.call("attention_scores_matmul", text.vectors).value, text)


@view(
    "attention_weights",
    N_("How much each word attends to each"),
    look=N_("Each row sums to 1: every word shares out all of its attention."),
    ask=N_("Scores are the same when mirrored at the diagonal. Are the weights?"),
)
def weights(student, text, heat):
    """The weights of all words."""
    fits = torch.inner(text.vectors, text.vectors)
    return square(heat, student.call("attention_weights", fits).value, text)
