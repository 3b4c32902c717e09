"""The text that views are about, and what several of them share."""

import torch

from grader.testing import N_, ExampleText

EXAMPLE = ExampleText(
    "Your journey starts with one step",
    [
        [0.43, 0.15, 0.89],
        [0.55, 0.87, 0.66],
        [0.57, 0.85, 0.64],
        [0.22, 0.58, 0.33],
        [0.77, 0.25, 0.10],
        [0.05, 0.80, 0.55],
    ],
)

AXES = (N_("query"), N_("key"))


def square(heat, value, text, **how):
    """A heat map with the words beside its rows and above its columns."""
    return heat(value, rows=text.words, columns=text.words, **{"axes": AXES, **how})


def example_matrices(d_in):
    """The query and the key matrix, `(2, d_in)`, of the example's self-attention of seed 789."""
    generator = torch.Generator().manual_seed(789)
    bound = d_in**-0.5
    empty = (torch.empty(2, d_in) for _ in range(2))
    return [matrix.uniform_(-bound, bound, generator=generator) for matrix in empty]


def example_scores(text):
    """The scores of each word with each, by these matrices: `(words, words)`."""
    query, key = (torch.inner(text.vectors, m) for m in example_matrices(text.vectors.shape[1]))
    return torch.inner(query, key)


def head_matrices(d_in, num_heads):
    """A query and a key matrix for each head, `(2, d_in)`, drawn so that heads differ."""
    generator = torch.Generator().manual_seed(123)
    return 2 * torch.randn(num_heads, 2, 2, d_in, generator=generator)


# A layer shows its weights when each value names its word: behind the features of a word stands a
# row of an identity matrix, which the queries and the keys do not see and the values are.


def head_size(text):
    """The features of a head that can name all words, and has room for queries of two."""
    return max(2, len(text.words))


def naming(text, size=0):
    """The words' vectors with their names behind them: `(words, features)`.

    Args:
        text: the text.
        size: how many features there are to be at least; zeros fill them up.
    """
    named = torch.cat((text.vectors, torch.eye(len(text.words))), dim=1)
    return torch.nn.functional.pad(named, (0, max(0, size - named.shape[1])))


def naming_weights(text, matrices, d_in):
    """The weights of three layers, one head below the other, so that a head returns its weights.

    Args:
        text: the text.
        matrices: for each head a query and a key matrix of two rows.
        d_in: the features that words come with.
    """
    size, features = head_size(text), text.vectors.shape[1]
    query, key, value = (torch.zeros(len(matrices), size, d_in) for _ in range(3))
    for head, (of_query, of_key) in enumerate(matrices):
        # The layer divides by the root of `size`, as if the queries had so many features.
        query[head, :2, :features] = of_query * (size / 2) ** 0.5
        key[head, :2, :features] = of_key
        for word in range(len(text.words)):
            value[head, word, features + word] = 1
    return [weight.reshape(-1, d_in) for weight in (query, key, value)]


def moved(heat, student, layer, text, d_out):
    """How far each context vector moves when a word is replaced: `(words, words, d_out)`.

    Row by context vector, column by replaced word, then the features.
    """
    count = len(text.words)
    texts = text.vectors.repeat(count + 1, 1, 1)
    for word in range(count):
        texts[word, word] = 1 - texts[word, word]
    value = heat.tensor(student.call(layer, texts, training=False).value, count + 1, count, d_out)
    return (value[:count] - value[count]).abs().transpose(0, 1)
