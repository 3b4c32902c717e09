"""What right code of this assignment lets a student see: the weights inside a layer."""

from grader.testing import N_, view

from ..views import example_matrices, head_size, naming, naming_weights, square
from .helpers import BIASES, LAYERS


@view(
    "SelfAttention_v2",
    N_("The weights inside your layer"),
    look=N_(
        "Here each value is the name of its word, so that your layer returns its weights: each row "
        "sums to 1."
    ),
    ask=N_("All weights are nearly alike: what will training have to change?"),
)
def weights(student, text, heat):
    """What a layer returns whose values name their words."""
    words, size = naming(text), head_size(text)
    matrices = [example_matrices(text.vectors.shape[1])]
    values = dict(zip(LAYERS, naming_weights(text, matrices, words.shape[1]), strict=True))
    layer = student.call("SelfAttention_v2", words.shape[1], size).value
    heat.load(student, layer, values, zeros=dict.fromkeys(BIASES, (size,)))
    count = len(text.words)
    value = heat.tensor(student.call(layer, words).value, count, size)
    return square(heat, value[:, :count], text)
