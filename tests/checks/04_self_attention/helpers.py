"""What the checks of assignment 04 share: layers with given parameters."""

import torch

from grader.testing import N_, StudentOutcome, by_name, stand_ins

MATRICES = ("W_query", "W_key", "W_value")
LAYERS = ("W_query.weight", "W_key.weight", "W_value.weight")
BIASES = ("W_query.bias", "W_key.bias", "W_value.bias")
ROLES = {"q": "query", "k": "key", "v": "value"}
AXES = (N_("token"), N_("feature"))


def drawn(draw, names, d_in, d_out, dtype=torch.float32):
    """A value for each parameter: matrices and weights of linear layers have their own layout."""
    shape = (d_in, d_out) if names == MATRICES else (d_out, d_in)
    return {name: draw.normal(*shape, dtype=dtype) for name in names}


def made(attempt, values, **options):
    """An instance with given parameters; biases that it should not have change nothing."""
    first = next(iter(values.values()))
    d_in, d_out = first.shape if "W_query" in values else reversed(first.shape)
    zeros = (
        {} if "W_query" in values else {n: torch.zeros(d_out, dtype=first.dtype) for n in BIASES}
    )
    return attempt.instance(d_in, d_out, given=values, spare=zeros, **options)


def given(attempt, values, **options):
    """An instance with given parameters, having judged that it has them."""
    layer = made(attempt, values, **options)
    judge_parameters(attempt.judge, layer.problems)
    return layer


def judge_parameters(judge, missing):
    """Judge that all parameters could be given their values."""
    listed = [
        judge.words(
            "{name} is missing" if what == "missing" else "{name} is of another shape", name=name
        )
        for name, what in missing.items()
    ]
    sentence = judge.words("Not all parameters could be given values: {listed}", listed=listed)
    judge.that(not missing, sentence, about=missing)


def matrices(layer):
    """The three matrices by the documents' names, also where they have names of their own."""
    found = layer.state.parameters
    missing = [name for name in MATRICES if by_name(found, name) is None]
    own = stand_ins(missing, [n for n in found if n.rpartition(".")[2] not in MATRICES])
    return {name: by_name(found, own.get(name, name)) for name in MATRICES}


def judge_matrices(layer, shape):
    """Judge that the three matrices are there and of this shape, and return them by name."""
    found, judge = matrices(layer), layer.judge
    for name, matrix in found.items():
        judge.that(
            matrix is not None, judge.words("A new instance has no parameter {name}", name=name)
        )
        judge.shape(matrix, shape)
    return found


def held(layer):
    """The three matrices of an instance, whatever it calls them: only q, k and v count."""
    found = {}
    for name, tensor in layer.state.parameters.items():
        letter = name.removesuffix(".weight").rsplit(".", 1)[-1].lower().lstrip("w_")[:1]
        if letter in ROLES and tensor.dim() == 2:
            found.setdefault(ROLES[letter], tensor)
    return found


def turned(weight, like):
    """A weight of a v2 in the layout of a v1, or in that of the student's own v1 of `(2, 3)`."""
    weight = weight.detach()
    return weight if like is not None and like.shape == (3, 2) else weight.T


def judge_copied(attempt, draw, target, expected):
    """Judge the matrices that a v1 holds after copying, by role."""
    after = held(target)
    if after.keys() == expected.keys():
        attempt.judge(after, expected, what="the target's matrices")
        return
    # A v1 that keeps plain tensors pays for it there. Here it has to return the same as one
    # that was given the right matrices.
    d_in, d_out = target.by[0]
    values = dict(zip(MATRICES, expected.values(), strict=True))
    twin = attempt.of("SelfAttention_v1").instance(d_in, d_out, given=values)
    x = draw.normal(4, d_in)
    target(x).gives(twin(x).value, axes=AXES)


def by_own_v1(attempt, values, *args, **how):
    """A call of the student's own v1, None where it raises."""
    try:
        return made(attempt.of("SelfAttention_v1"), values)(*args, **how)
    except StudentOutcome:
        return None


def alike(one, other):
    """Whether two results are the same tensor, within the noise of float32."""
    if not isinstance(one, torch.Tensor) or not isinstance(other, torch.Tensor):
        return False
    return one.shape == other.shape and torch.allclose(one.double(), other.double(), atol=1e-5)


def judge_like_v1(attempt, draw, num_tokens, d_in, d_out, dtype=torch.float32):
    """Judge that SelfAttentionNormal gives what SelfAttention_v1 gives."""
    values = drawn(draw, MATRICES, d_in, d_out, dtype)
    x = draw.normal(num_tokens, d_in, dtype=dtype)
    # A slip that the student's own v1 makes too is paid for there.
    own = by_own_v1(attempt, values, x)
    called = given(attempt, values)(x)
    # The solution is asked in any case: a recording has its replies in one order.
    right = called.expected
    is_own = own is not None and alike(called.value, own.value)
    called.gives(own.value if is_own else right, axes=AXES)
