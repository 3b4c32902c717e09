"""What right code of this assignment lets a student see: one word among all of them."""

import torch

from grader.testing import N_, view

from ..views import AXES


def asked(text):
    """The position of the word that asks: the second, where there is one."""
    return min(1, len(text.words) - 1)


def row(heat, value, text):
    """One row of numbers, beside the word that asks."""
    value = heat.tensor(value, len(text.words))
    word = text.words[asked(text)]
    return heat(value[None], rows=[word], columns=text.words, axes=AXES)


def scores(text):
    """The scores of the word that asks."""
    return torch.inner(text.vectors, text.vectors[asked(text)])


@view(
    "attention_scores",
    N_("One word's scores with all words"),
    look=N_("A score is large where two vectors are long and point the same way."),
    ask=N_("Which word fits best, and is it the word itself?"),
)
def fitting(student, text, heat):
    """The scores of one word."""
    query = text.vectors[asked(text)]
    return row(heat, student.call("attention_scores", query, text.vectors).value, text)


@view(
    "softmax_stable",
    N_("One word's weights, colder and warmer"),
    look=N_(
        "The weights sum to 1. Scores are divided by the temperature first: the lower it is, the "
        "more the largest score takes."
    ),
    ask=N_("What do the weights come close to when the temperature is very high?"),
    moves={N_("temperature"): [0.05, 0.2, 1, 5]},
)
def weights(student, text, heat, temperature):
    """The softmax of one word's scores."""
    return row(heat, student.call("softmax_stable", scores(text) / temperature).value, text)


@view(
    "context_vector",
    N_("A word, and the mixture that it becomes"),
    look=N_(
        "Each number of the mixture is an average of all words: it lies between their smallest and "
        "their largest."
    ),
    ask=N_("Which number moved most, and which words pulled it there?"),
)
def mixture(student, text, heat):
    """The vector of one word, and its context vector."""
    shares = torch.softmax(scores(text), 0)
    value = student.call("context_vector", shares, text.vectors).value
    value = heat.tensor(value, text.vectors.shape[1])
    both = torch.stack((text.vectors[asked(text)].to(value.dtype), value))
    names = [text.words[asked(text)], heat.words(N_("mixture"))]
    columns = [str(number) for number in range(both.shape[1])]
    return heat(both, rows=names, columns=columns, axes=["", N_("feature")])
