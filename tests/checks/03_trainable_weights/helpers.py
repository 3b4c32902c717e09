"""What the checks of assignment 03 share."""

import torch

from grader.testing import N_, describe

PARTS = (N_("query"), N_("key"), N_("value"))

# The mean, the standard deviation, and the mean distance of two numbers, each with how far off it
# may be for 2,000 numbers: over 6 standard errors, of the first two 0.0065 and 0.003, or 0.0224 and
# 0.016.
UNIFORM = ((0.5, 0.05), (12**-0.5, 0.03), (1 / 3, 0.05))
NORMAL = ((0.0, 0.15), (1.0, 0.1), (2 / torch.pi**0.5, 0.15))


def three(called, *shape):
    """Judge that three weight matrices of this shape came back, and return them."""
    value, judge = called.value, called.judge
    is_three = isinstance(value, list | tuple) and len(value) == 3
    template = N_("Expected three weights as a tuple, received {value}")
    judge.that(is_three, judge.words(template, value=describe(value)))
    for weight in value:
        judge.shape(weight, shape)
    return value


def judge_each(judge, weights, expected):
    """Judge three weights, one after the other."""
    for weight, right, name in zip(weights, expected, PARTS, strict=True):
        what = judge.words("the {name} weight", name=name)
        judge(weight, right, what=what, axes=("row", "column"))
