"""What students predict in this assignment, and how their code answers."""

from grader.testing import N_, prediction

from ..views import EXAMPLE


@prediction(
    "attention_weights",
    N_(
        "The six words have scores from 0.2935 to 1.4950. How large is the largest of the 36 weights?"
    ),
    choices=["0.24", "0.50", "0.75", "0.95"],
    right=1,
    why=N_(
        "Equal shares would be 0.17 for each of six words. These scores lie less than 0.8 apart in a "
        "row, and so no weight is three times as large as another one in its row."
    ),
)
def largest_weight(student):
    """The largest weight of the text."""
    vectors = EXAMPLE.text().vectors
    largest = student.call("attention_weights", vectors @ vectors.T).value.max().item()
    guesses = (0.24, 0.50, 0.75, 0.95)
    nearest = min(guesses, key=lambda guess: abs(guess - largest))
    return guesses.index(nearest) + 1, f"{largest:.4f}"


@prediction(
    "context_vectors",
    N_("Two words change places in the text. What happens to the context vectors of the others?"),
    choices=[
        N_("nothing"),
        N_("those that stand between the two change"),
        N_("all change"),
    ],
    right=1,
    why=N_(
        "A mixture is a sum, and a sum does not depend on the order. Attention by itself knows nothing "
        "of positions; a model has to add them to the vectors."
    ),
)
def places_changed(student):
    """The context vectors of the words that stay, before and after."""
    vectors = EXAMPLE.text().vectors
    order = [0, 4, 2, 3, 1, 5]
    before, after = (
        student.call("context_vectors", (x @ x.T).softmax(dim=-1), x).value
        for x in (vectors, vectors[order])
    )
    changes = (after - before).abs().amax(dim=-1)
    changed = {place for place in (0, 2, 3, 5) if changes[place] > 1e-4}
    number = 1 if not changed else 2 if changed <= {2, 3} else 3
    return number, f"{before[0, 0]:.4f} → {after[0, 0]:.4f}"
