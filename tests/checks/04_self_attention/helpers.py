"""What the checks of assignment 04 share: layers with given parameters."""

from functools import partial

import torch

from grader.testing import N_, StudentOutcome, by_name

MATRICES = ("W_query", "W_key", "W_value")
LAYERS = ("W_query.weight", "W_key.weight", "W_value.weight")
BIASES = ("W_query.bias", "W_key.bias", "W_value.bias")
ROLES = {"q": "query", "k": "key", "v": "value"}
AXES = (N_("token"), N_("feature"))


def drawn(draw, names, d_in, d_out, dtype=torch.float32):
    """A value for each parameter: matrices and weights of linear layers have their own layout."""
    shape = (d_in, d_out) if names == MATRICES else (d_out, d_in)
    return {name: draw.normal(*shape, dtype=dtype) for name in names}


def alike(one, other):
    """Whether two results are the same tensor, within the noise of float32."""
    if not isinstance(one, torch.Tensor) or not isinstance(other, torch.Tensor):
        return False
    return one.shape == other.shape and torch.allclose(one.double(), other.double(), atol=1e-5)


def judge_given(judge, problems):
    """Judge that all parameters could be given their values."""
    missing, other = N_("{name} is missing"), N_("{name} is of another shape")
    templates = {name: missing if what == "missing" else other for name, what in problems.items()}
    listed = [judge.words(template, name=name) for name, template in templates.items()]
    sentence = judge.words("Not all parameters could be given values: {listed}", listed=listed)
    judge.that(not problems, sentence, about=problems)


class Layers:
    """Layers with given parameters; `names` are those of the three."""

    names, axes = MATRICES, AXES

    def drawn(self, draw, d_in, d_out, dtype=torch.float32):
        """A value for each parameter."""
        return drawn(draw, self.names, d_in, d_out, dtype)

    def made(self, attempt, values, **options):
        """An instance with given parameters; biases that it should not have change nothing."""
        first, has_layers = values[self.names[0]], self.names == LAYERS
        d_in, d_out = reversed(first.shape) if has_layers else first.shape
        zeros = dict.fromkeys(BIASES if has_layers else (), torch.zeros(d_out, dtype=first.dtype))
        return attempt.instance(d_in, d_out, given=values, spare=zeros, **options)

    def given(self, attempt, values, **options):
        """An instance with given parameters, having judged that it has them."""
        return self.made(attempt, values, on_made=partial(judge_given, attempt.judge), **options)

    def judge_matrices(self, layer, shape):
        """Judge that there are three matrices of this shape, also by other names; return them."""
        parameters, judge = layer.state.parameters, layer.judge
        missing = [name for name in MATRICES if by_name(parameters, name) is None]
        others = [name for name in parameters if name.rpartition(".")[2] not in MATRICES]
        own = layer.student.roles.stand_ins(missing, others)
        found = {name: by_name(parameters, own.get(name, name)) for name in MATRICES}
        for name, matrix in found.items():
            sentence = judge.words("A new instance has no parameter {name}", name=name)
            judge.that(matrix is not None, sentence)
            judge.shape(matrix, shape)
        return found

    def by_v1(self, attempt, values, *args, **how):
        """A call of v1 with the student's mistake in it, None where none was recognised."""
        before = attempt.step_before("SelfAttention_v1")
        try:
            return before and self.made(before, values)(*args, **how)
        except StudentOutcome:
            return None

    def judge_like_v1(self, attempt, draw, num_tokens, d_in, d_out, dtype=torch.float32):
        """Judge that SelfAttentionNormal gives what SelfAttention_v1 gives."""
        values, x = self.drawn(draw, d_in, d_out, dtype), draw.normal(num_tokens, d_in, dtype=dtype)
        called = self.given(attempt, values)(x)
        # The solution is asked in any case: a recording has its replies in one order.
        right = called.expected
        # A mistake that came along from v1 is paid for there.
        before = None if alike(called.value, right) else self.by_v1(attempt, values, x)
        is_alike = before is not None and alike(called.value, before.value)
        called.gives(before.value if is_alike else right)


def held(layer):
    """The three matrices of an instance, whatever it calls them: only q, k and v count."""
    found = {}
    for name, tensor in layer.state.parameters.items():
        letter = name.removesuffix(".weight").rsplit(".", 1)[-1].lower().lstrip("w_")[:1]
        if letter in ROLES and tensor.dim() == 2:
            found.setdefault(ROLES[letter], tensor)
    return found


def pair(attempt, draw, d_in, d_out, weights=None, start=None):
    """A v2 and a v1 of the student's own, given weights where they have the documents' names."""
    weights = weights or drawn(draw, LAYERS, d_in, d_out)
    start = start or drawn(draw, MATRICES, d_in, d_out)
    source = attempt.of("SelfAttention_v2").instance(d_in, d_out, given=weights, seed=789)
    target = attempt.of("SelfAttention_v1").instance(d_in, d_out, given=start, seed=123)
    return source, target


def lies_as_in_v2(v1):
    """Whether a student's own v1 keeps its matrices as linear layers do, and computes with them so."""
    if [matrix.shape for matrix in held(v1.instance(2, 3)).values()] != [(3, 2)] * len(ROLES):
        return False
    try:
        value = v1.instance(2, 3)(torch.ones(4, 2)).value
    except StudentOutcome:
        return False
    return getattr(value, "shape", None) == (4, 3)


def judge_copies(attempt, draw, d_in, d_out, *, start=None, times=1):
    """Judge the matrices that a v1 holds after copying, once or more, from another v2 each time.

    It starts with the matrices `start`, or with some that are drawn.
    """
    v1, target, expected = attempt.of("SelfAttention_v1"), None, {}
    as_in_v2 = lies_as_in_v2(v1)
    for _ in range(times):
        source, other = pair(attempt, draw, d_in, d_out, start=start)
        target = target or other
        weights = dict(zip(ROLES.values(), source.given.values(), strict=True)) | held(source)
        attempt(source.own, target.own)
        for role, weight in weights.items():
            expected[role] = weight.detach() if as_in_v2 else weight.detach().T
    after = held(target)
    if after.keys() == expected.keys():
        attempt.judge(after, expected, what="the target's matrices")
        return
    # A v1 that keeps plain tensors pays for it there. Here it has to return the same as one
    # that was given the right matrices.
    twin = v1.instance(d_in, d_out, given=dict(zip(MATRICES, expected.values(), strict=True)))
    x = draw.normal(4, d_in)
    target(x).gives(twin(x).value)
