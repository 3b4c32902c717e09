"""What the checks of assignment 11 share: layers, and how many numbers they learn."""


def named(*sizes):
    """The sizes of a layer by the names of its arguments."""
    return dict(zip(("d_in", "d_out", "context_length", "num_heads"), sizes, strict=True))


def make(attempt, *sizes, dropout=0.0, **how):
    """A layer, its arguments by name."""
    return attempt.instance(**named(*sizes), dropout=dropout, **how)


def numbers(state):
    """How many entries the parameters have, shared ones once."""
    again = {name for names in state.aliases for name in names[1:]}
    return sum(p.numel() for name, p in state.parameters.items() if name not in again)


def twice(student, module, features):
    """A module of torch's that has another one twice, and a norm between, whose buffers do not count."""
    norm = student.call("nn.BatchNorm1d", features).value
    return student.call("nn.Sequential", module, norm, module).value
