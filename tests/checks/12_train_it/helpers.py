"""What the checks of assignment 12 share: blocks with given parameters, and one's own layer."""

from ..helpers import LAYERS, is_close, zero_biases

LAYER = "MultiHeadAttention"
FEATURES, CONTEXT_LENGTH, NUM_HEADS = 12, 7, 3


def parameters(draw, features=FEATURES):
    """Values for all parameters of a layer of so many features."""
    values = {f"{name}.weight": draw.normal(features, features, std=0.5) for name in LAYERS}
    values["out_proj.weight"] = draw.normal(features, features, std=0.5)
    return values | {"out_proj.bias": draw.normal(features, std=0.5)}


def block(attempt, values, context_length=CONTEXT_LENGTH, num_heads=NUM_HEADS):
    """A block whose layer has these parameters."""
    sizes = (len(values["out_proj.bias"]), context_length, num_heads)
    inside = {f"attention.{name}": value for name, value in values.items()}
    spare = {f"attention.{name}": value for name, value in zero_biases(values).items()}
    return attempt.instance(*sizes, given=inside, spare=spare)


SIZES = (FEATURES, FEATURES, CONTEXT_LENGTH, 0.0, NUM_HEADS)


def right_layer(attempt, values, x):
    """What a right layer of assignment 09 gives; asked beforehand, whatever the student's gives."""
    made = attempt.reference.call(LAYER, *SIZES).value
    attempt.reference.load(made, values)
    return attempt.reference.call(made, x, training=False).value


def layer_is_right(attempt, values, x, right):
    """Whether the student's own layer of assignment 09 gives what a right one gives."""
    own = attempt.beside(LAYER).instance(*SIZES, given=values, spare=zero_biases(values))
    return is_close(own(x, training=False).value, right)
