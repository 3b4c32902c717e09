"""Assignment 04 on inputs nobody has seen: other sizes, other values, other dtypes."""

import pytest
import torch

from grader.testing import N_, StudentOutcome

MATRICES = ("W_query", "W_key", "W_value")
LAYERS = ("W_query.weight", "W_key.weight", "W_value.weight")
ROLES = {"q": "query", "k": "key", "v": "value"}
AXES = (N_("token"), N_("feature"))

# All different, and unlike the documents' (6, 3, 2) and the visible checks' (4, 5, 3).
NUM_TOKENS, D_IN, D_OUT = 5, 7, 4


def drawn(draw, names, *shape, dtype=torch.float32):
    """A matrix for each name."""
    return {name: draw.normal(*shape, dtype=dtype) for name in names}


def no_biases(size, dtype=torch.float32):
    """Biases that change nothing, for layers that should have none."""
    return {name.replace("weight", "bias"): torch.zeros(size, dtype=dtype) for name in LAYERS}


def by_name(found, name):
    """The entry of that name, wherever in the module it is kept."""
    return next((item for key, item in found.items() if f".{key}".endswith(f".{name}")), None)


def matrices(student, instance):
    """The three matrices by the documents' names, also where they have names of their own."""
    found = student.state(instance).parameters
    missing = [name for name in MATRICES if by_name(found, name) is None]
    own = student.roles.stand_ins(
        missing, [n for n in found if n.rpartition(".")[2] not in MATRICES]
    )
    return {name: by_name(found, own.get(name, name)) for name in MATRICES}


def made(handle, name, sizes, values, *, spare=None, **options):
    """A new instance with given parameters, and which of them it does not have."""
    instance = handle.call(name, *sizes, **options).value
    problems = handle.load(instance, {**(spare or {}), **values}).problems
    return instance, {name: what for name, what in problems.items() if name in values}


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


def judge_answer(student, reference, judge, name, sizes, values, x, *, spare=None, **options):
    """Judge what an instance with given parameters returns."""
    right, _ = made(reference, name, sizes, values, **options)
    mine, missing = made(student, name, sizes, values, spare=spare, **options)
    judge_parameters(judge, missing)
    value = student.call(mine, x).value
    judge(value, reference.call(right, x).value, axes=AXES)


def judge_gradients(student, reference, judge, draw, name, values, *, spare=None, own=""):
    """Judge the gradients for the parameters and for the tokens; those of `own` pass as well."""
    x, cotangent = draw.normal(NUM_TOKENS, D_IN), draw.normal(NUM_TOKENS, D_OUT)
    mine, _ = made(student, name, (D_IN, D_OUT), values, spare=spare)
    right, _ = made(reference, name, (D_IN, D_OUT), values)
    found = student.call(mine, x, cotangent=cotangent).gradients
    expected = reference.call(right, x, cotangent=cotangent).gradients
    other = gradients_of(student, own, values, x, cotangent) if own else None
    for each in values:
        gradient = by_name(found.parameters, each)
        theirs = other and by_name(other.parameters, each)
        judge(
            gradient,
            theirs if alike(gradient, theirs) else expected.parameters[each],
            what=judge.words("the gradient for {name}", name=each),
        )
    gradient, theirs = found.arguments.get("0"), other and other.arguments.get("0")
    right = theirs if alike(gradient, theirs) else expected.arguments["0"]
    judge(gradient, right, what="the gradient for the tokens", axes=AXES)


def gradients_of(student, name, values, x, cotangent):
    """The gradients of another class of the student's, None where it raises."""
    try:
        instance, _ = made(student, name, (D_IN, D_OUT), values)
        return student.call(instance, x, cotangent=cotangent).gradients
    except StudentOutcome:
        return None


def held(student, instance):
    """The three matrices of an instance, whatever it calls them: only q, k and v count."""
    found = {}
    for name, tensor in student.state(instance).parameters.items():
        letter = name.removesuffix(".weight").rsplit(".", 1)[-1].lower().lstrip("w_")[:1]
        if letter in ROLES and tensor.dim() == 2:
            found.setdefault(ROLES[letter], tensor)
    return found


def turned(weight, like):
    """A weight of a v2 in the layout of a v1, or in that of the student's own v1 of `(2, 3)`."""
    weight = weight.detach()
    return weight if like is not None and like.shape == (3, 2) else weight.T


def judge_copied(student, judge, draw, d_in, d_out, *, times=1):
    """Judge the matrices that a v1 holds after copying, once or more, from another v2 each time."""
    target = student.call("SelfAttention_v1", d_in, d_out).value
    student.load(target, drawn(draw, MATRICES, d_in, d_out))
    own = held(student, student.call("SelfAttention_v1", 2, 3).value)
    given = {}
    for _ in range(times):
        weights = drawn(draw, LAYERS, d_out, d_in)
        source = student.call("SelfAttention_v2", d_in, d_out).value
        student.load(source, weights)
        given = dict(zip(ROLES.values(), weights.values(), strict=True)) | held(student, source)
        student.call("copy_weights", source, target)
    after = held(student, target)
    expected = {role: turned(given[role], own.get(role)) for role in given}
    if after.keys() == expected.keys():
        judge(after, expected, what="the target's matrices")
        return
    # A v1 that keeps plain tensors pays for it there. Here it has to return the same as one
    # that was given the right matrices.
    twin = student.call("SelfAttention_v1", d_in, d_out).value
    student.load(twin, dict(zip(MATRICES, expected.values(), strict=True)))
    x = draw.normal(NUM_TOKENS, d_in)
    judge(student.call(target, x).value, student.call(twin, x).value, axes=AXES)


def by_own_v1(student, sizes, values, x):
    """What the student's own v1 returns, None where it raises."""
    try:
        return student.call(made(student, "SelfAttention_v1", sizes, values)[0], x).value
    except StudentOutcome:
        return None


def alike(one, other):
    """Whether two results are the same tensor, within the noise of float32."""
    if not isinstance(one, torch.Tensor) or not isinstance(other, torch.Tensor):
        return False
    return one.shape == other.shape and torch.allclose(one.double(), other.double(), atol=1e-5)


@pytest.mark.exercise("SelfAttention_v1")
class TestSelfAttentionV1:
    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_other_sizes")
    def test_unseen_tokens(self, student, reference, judge, draw):
        """Other tokens and other matrices, of other sizes, should be right, too."""
        values, x = drawn(draw, MATRICES, D_IN, D_OUT), draw.normal(NUM_TOKENS, D_IN)
        sizes = (D_IN, D_OUT)
        judge_answer(student, reference, judge, "SelfAttention_v1", sizes, values, x)

    @pytest.mark.deepens("test_other_sizes")
    def test_where_all_sizes_are_equal(self, student, reference, judge, draw):
        """Tokens should be rows, also where num_tokens, d_in and d_out are equal."""
        values, x = drawn(draw, MATRICES, 4, 4), draw.normal(4, 4)
        judge_answer(student, reference, judge, "SelfAttention_v1", (4, 4), values, x)

    @pytest.mark.deepens("test_gradients_reach_the_matrices")
    def test_gradients_are_right(self, student, reference, judge, draw):
        """The gradients for the matrices and for the tokens should be right."""
        values = drawn(draw, MATRICES, D_IN, D_OUT)
        judge_gradients(student, reference, judge, draw, "SelfAttention_v1", values)


@pytest.mark.exercise("SelfAttention_v2")
class TestSelfAttentionV2:
    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_other_sizes")
    def test_unseen_tokens(self, student, reference, judge, draw):
        """Other tokens and other weights, of other sizes, should be right, too."""
        values, x = drawn(draw, LAYERS, D_OUT, D_IN), draw.normal(NUM_TOKENS, D_IN)
        name, sizes, spare = "SelfAttention_v2", (D_IN, D_OUT), no_biases(D_OUT)
        judge_answer(student, reference, judge, name, sizes, values, x, spare=spare)

    @pytest.mark.deepens("test_biases_count_when_asked_for")
    def test_unseen_biases(self, student, reference, judge, draw):
        """Other weights and other biases, with qkv_bias=True, should be right, too."""
        biases = tuple(name.replace("weight", "bias") for name in LAYERS)
        values = drawn(draw, LAYERS, D_OUT, D_IN) | drawn(draw, biases, D_OUT)
        x, sizes = draw.normal(NUM_TOKENS, D_IN), (D_IN, D_OUT)
        name = "SelfAttention_v2"
        judge_answer(student, reference, judge, name, sizes, values, x, qkv_bias=True)

    @pytest.mark.deepens("test_other_sizes")
    def test_where_all_sizes_are_equal(self, student, reference, judge, draw):
        """Tokens should be rows, also where num_tokens, d_in and d_out are equal."""
        values, x, spare = drawn(draw, LAYERS, 4, 4), draw.normal(4, 4), no_biases(4)
        name = "SelfAttention_v2"
        judge_answer(student, reference, judge, name, (4, 4), values, x, spare=spare)

    @pytest.mark.deepens("test_gradients_reach_the_layers")
    def test_gradients_are_right(self, student, reference, judge, draw):
        """The gradients for the weights and for the tokens should be right."""
        values, spare = drawn(draw, LAYERS, D_OUT, D_IN), no_biases(D_OUT)
        judge_gradients(student, reference, judge, draw, "SelfAttention_v2", values, spare=spare)


@pytest.mark.exercise("copy_weights")
class TestCopyWeights:
    @pytest.mark.weight(3)
    @pytest.mark.deepens("test_each_matrix_is_the_transposed_weight")
    def test_unseen_weights(self, student, judge, draw):
        """Other weights, of another size, should arrive transposed."""
        judge_copied(student, judge, draw, D_IN, D_OUT)

    @pytest.mark.deepens("test_square_weights_are_transposed_too")
    def test_unseen_square_weights(self, student, judge, draw):
        """Square weights should arrive transposed, too."""
        judge_copied(student, judge, draw, D_IN, D_IN)

    @pytest.mark.deepens("test_each_matrix_is_the_transposed_weight")
    def test_the_last_copy_counts(self, student, judge, draw):
        """A v1 should take the weights of one v2, and later those of another."""
        judge_copied(student, judge, draw, D_OUT, D_IN, times=2)


@pytest.mark.exercise("SelfAttentionNormal")
class TestSelfAttentionNormal:
    @pytest.mark.deepens("test_given_matrices_answer_as_in_v1")
    def test_unseen_tokens(self, student, reference, judge, draw):
        """Given the same matrices, unseen tokens should give what SelfAttention_v1 gives."""
        values, x = drawn(draw, MATRICES, D_IN, D_OUT), draw.normal(NUM_TOKENS, D_IN)
        sizes = (D_IN, D_OUT)
        right, _ = made(reference, "SelfAttentionNormal", sizes, values)
        expected = reference.call(right, x).value
        # A slip that the student's own v1 makes too is paid for there.
        own = by_own_v1(student, sizes, values, x)
        mine, missing = made(student, "SelfAttentionNormal", sizes, values)
        judge_parameters(judge, missing)
        value = student.call(mine, x).value
        judge(value, own if alike(value, own) else expected, axes=AXES)

    @pytest.mark.deepens("test_gradients_reach_the_matrices")
    def test_gradients_are_right(self, student, reference, judge, draw):
        """The gradients for the matrices and for the tokens should be right."""
        values, name = drawn(draw, MATRICES, D_IN, D_OUT), "SelfAttentionNormal"
        # A slip that the student's own v1 makes too is paid for there.
        own = "SelfAttention_v1"
        judge_gradients(student, reference, judge, draw, name, values, own=own)

    @pytest.mark.deepens("test_the_matrices_start_normally_drawn")
    @pytest.mark.conduct
    def test_the_matrices_start_normally_drawn(self, student, judge, draw):
        """With another seed and other sizes, matrices should start as torch.randn draws them."""
        instance = student.call("SelfAttentionNormal", 40, 60, seed=draw.seed()).value
        for name, matrix in matrices(student, instance).items():
            judge.that(
                matrix is not None, judge.words("A new instance has no parameter {name}", name=name)
            )
            judge.shape(matrix, (40, 60))
            # 2400 numbers: mean and deviation are off by 0.020 and 0.014 (one sigma).
            near = abs(matrix.mean()) < 0.15 and 0.85 < matrix.std() < 1.15
            sentence = judge.words(
                "{name} is not drawn from the standard normal distribution", name=name
            )
            judge.that(bool(near), sentence)
