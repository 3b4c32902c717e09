"""What checks of assignment 02 share."""


def line(draw, num_features):
    """Values for the parameters of a `Line`."""
    return {"layer.weight": draw.normal(1, num_features), "layer.bias": draw.normal(1)}


def trained(handle, given, *arguments):
    """What a handle's `train` returns for a `Line`, and the parameters after it."""
    model = handle.call("Line", given["layer.weight"].shape[1]).value
    handle.load(model, given)
    losses = handle.call("train", model, *arguments).value
    return losses, handle.state(model).parameters


def judge_training(student, reference, judge, given, *arguments):
    """Judge the losses, and where the parameters are after them."""
    losses, mine = trained(student, given, *arguments)
    expected, right = trained(reference, given, *arguments)
    judge(losses, expected, what=judge.words("the losses"), axes=("step",))
    for name in given:
        judge(mine.get(name), right[name], what=judge.words("the {name}", name=name))
