"""What right code of this assignment lets a student see."""

from grader.testing import N_, view


@view(
    "attention_weights",
    N_("How much each word attends to each"),
    look=N_("Each row sums to 1: a word shares its attention out among all six."),
    ask=N_("Which words have the largest weight with themselves, and which have not?"),
)
def weights(student, text, heat):
    """The weights of the text."""
    value = student.call("attention_weights", text.vectors).value
    return heat(value, rows=text.words, columns=text.words, axes=[N_("query"), N_("key")])
