"""What the checks of assignment 03 share."""

from grader.testing import N_, describe

PARTS = (N_("query"), N_("key"), N_("value"))


def three(called, *shape):
    """Judge that three weight matrices of this shape came back, and return them."""
    value, judge = called.value, called.judge
    is_three = isinstance(value, list | tuple) and len(value) == 3
    sentence = judge.words(
        "Expected three weights as a tuple, received {value}", value=describe(value)
    )
    judge.that(is_three, sentence)
    for weight in value:
        judge.shape(weight, shape)
    return value


def judge_each(judge, weights, expected):
    """Judge three weights, one after the other."""
    for weight, right, name in zip(weights, expected, PARTS, strict=True):
        what = judge.words("the {name} weight", name=name)
        judge(weight, right, what=what, axes=("row", "column"))
