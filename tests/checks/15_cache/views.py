"""What right code of this assignment lets a student see: the mask of new tokens."""

from grader.testing import N_, view


@view(
    "causal_mask_with_past",
    N_("What new tokens may use"),
    look=N_(
        "Each row goes one column further than the row above, and the last row goes to the end."
    ),
    ask=N_("What is left of the mask when a single token is new?"),
    moves={"num_past": [0, 1, 2, 3, 4, 5]},
)
def used(student, text, heat, num_past):
    """The mask of the words behind the first ones."""
    count = len(text.words)
    num_past = min(num_past, count - 1)
    value = student.call("causal_mask_with_past", count - num_past, num_past).value
    mask = heat.tensor(value, count - num_past, count).float()
    axes = (N_("new token"), N_("token"))
    return heat(mask, rows=text.words[num_past:], columns=text.words, axes=axes)
