"""What students predict in this assignment, and how their code answers."""

import torch

from grader.testing import N_, prediction

from ..views import EXAMPLE

WORDS = EXAMPLE.words.split()


@prediction(
    "attention_scores",
    N_('"with" asks. Which word gets the largest score?'),
    choices=[N_('"with" itself'), '"journey"', '"starts"', '"step"'],
    right=2,
    why=N_(
        'A dot product grows with the length of both vectors, and that of "with" is short: a longer '
        "one that points nearly the same way scores higher than the word itself."
    ),
)
def asked_by_with(student):
    """The scores of the fourth word."""
    vectors = EXAMPLE.text().vectors
    scores = student.call("attention_scores", vectors[3], vectors).value
    asked = [WORDS.index(word) for word in ("with", "journey", "starts", "step")]
    return asked.index(int(scores.argmax())) + 1, f"{scores.max():.4f} > {scores[3]:.4f}"


@prediction(
    "softmax_naive",
    N_("All scores become twice as large. What happens to the weights?"),
    choices=[
        N_("they stay as they are"),
        N_("each becomes twice as large"),
        N_("the largest takes more, the others get less in total"),
        N_("they come nearer to each other"),
    ],
    right=3,
    why=N_(
        "The weights sum to 1 all the same. Scores that lie twice as far apart have exponentials whose "
        "ratios are squared, and that favours the largest."
    ),
)
def twice_the_scores(student):
    """The largest weight for both."""
    scores = torch.tensor([0.9544, 1.4950, 1.4754, 0.8434, 0.7070, 1.0865])
    one, two = (student.call("softmax_naive", n * scores).value.max().item() for n in (1, 2))
    if abs(two - 2 * one) < 1e-3:
        return 2, f"{one:.4f} → {two:.4f}"
    number = 1 if abs(two - one) < 1e-4 else 3 if two > one else 4
    return number, f"{one:.4f} → {two:.4f}"
