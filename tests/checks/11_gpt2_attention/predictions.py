"""What students predict in this assignment, and how their code answers."""

from grader.testing import N_, prediction


@prediction(
    "GPT2MultiHeadAttention",
    N_("`context_length` is 32 in place of 16. How many numbers does the layer learn?"),
    choices=[N_("as many"), N_("twice as many"), N_("four times as many")],
    right=1,
    why=N_(
        "Only the mask grows with the length, and the mask is not learnt. Time and memory do grow: the "
        "weights of a text are a square."
    ),
)
def longer_texts(student):
    """How many numbers both learn."""
    short, long = (
        sum(value.numel() for value in parameters(student, length).values()) for length in (16, 32)
    )
    number = 1 if short == long else 2 if long < 3 * short else 3
    return number, f"{short} → {long}"


def parameters(student, length):
    """The parameters of a layer for texts of this length, by name."""
    named = {"d_in": 6, "d_out": 12, "context_length": length, "num_heads": 3}
    model = student.call("GPT2MultiHeadAttention", **named).value
    return student.state(model, values=False).parameters
