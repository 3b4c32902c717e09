"""What the checks of assignment 12 share: blocks and models with given parameters, one's own layer."""

import torch

from grader.testing import N_

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


NUM_LETTERS = 26


def trained(handle, scores, learning_rate, batches):
    """What training steps of a `LastLetterModel` return, and its scores afterwards.

    Args:
        handle: the student's, or the solution's.
        scores: of each letter after each letter, before the first step.
        learning_rate: of `GradientDescent`.
        batches: inputs and targets of each step.
    """
    model = handle.call("LastLetterModel").value
    handle.load(model, {"scores.weight": scores})
    optimizer = handle.call("GradientDescent", model, learning_rate).value
    losses = [handle.call("training_step", model, optimizer, *batch).value for batch in batches]
    return losses, handle.state(model).parameters["scores.weight"]


def batch(draw, batch_size, num_tokens, num_unknown=0):
    """Inputs and targets; the first so many targets of each text are not asked for."""
    texts = torch.stack(
        [draw.permutation(NUM_LETTERS)[: num_tokens + 1] for _ in range(batch_size)]
    )
    inputs, targets = texts[:, :-1], texts[:, 1:].clone()
    targets[:, :num_unknown] = -100
    return inputs, targets


def judge_scores(judge, mine, right):
    """Judge where training steps have led the scores."""
    axes = (N_("last letter"), N_("next letter"))
    judge(mine, right, what=N_("the scores after training"), axes=axes)


def judge_losses(judge, mine, right):
    """Judge the losses of several steps; a tensor of one number counts as that number."""
    found = [loss.item() if isinstance(loss, torch.Tensor) else loss for loss in mine]
    judge(torch.tensor(found), torch.tensor(right), what=N_("the loss"), axes=(N_("step"),))
