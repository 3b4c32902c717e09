"""What students predict in this assignment, and how their code answers."""

from grader.testing import N_, prediction

from ..views import EXAMPLE


@prediction(
    "attention_weights",
    N_(
        "The scores of the six words are multiplied by 10. How large is the largest of the 36 weights "
        "then?"
    ),
    choices=["0.24", "0.54", "0.75", "0.95"],
    right=2,
    why=N_(
        '"journey" scores itself 14.950 then, and "starts" 14.754. Everything else is far behind, but '
        "these two are so close that they share the row, 0.54 and 0.45."
    ),
)
def largest_weight(student):
    """The largest weight of the text, with scores ten times as large."""
    vectors = EXAMPLE.text().vectors
    largest = student.call("attention_weights", 10 * vectors @ vectors.T).value.max().item()
    guesses = (0.24, 0.54, 0.75, 0.95)
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
        "of positions; a model has to add them to the vectors, as the one of assignment 12 does."
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
