"""What students see of assignment 04: the documents' tensors, and plain properties."""

import pytest
import torch

from grader.testing import N_, StudentOutcome

MATRICES = ("W_query", "W_key", "W_value")
LAYERS = ("W_query.weight", "W_key.weight", "W_value.weight")
ROLES = {"q": "query", "k": "key", "v": "value"}
AXES = (N_("token"), N_("feature"))

# Unlike the documents' sizes (6, 3, 2), and all different.
NUM_TOKENS, D_IN, D_OUT = 4, 5, 3

# 004 prints nothing; these figures were obtained by running its code (seed 123). Its second token
# is [0.55, 0.87, 0.64].
QUERY_004 = torch.tensor([-1.1489, -0.0090])
CONTEXT_004 = torch.tensor(
    [
        [0.2848, 0.4101],
        [0.2857, 0.4106],
        [0.2856, 0.4104],
        [0.2866, 0.4004],
        [0.2865, 0.3940],
        [0.2862, 0.4069],
    ]
)

# Matrices printed to 4 decimals, half a unit of the last digit each. A token's features sum to at
# most 2.1, so a query, a key or a value is off by up to 1.05e-4, and a scaled score by up to
# 2.7e-4. The values differ by less than 0.8, so that moves the mixture by less than 1.1e-4. With
# the values' own 1.05e-4 and the result's half a unit, that is:
ROUNDED_MATRICES = 2.7e-4


def inputs_004(printed):
    """The six tokens as 004 has them."""
    inputs = printed("T45").tensor.clone()
    inputs[1, 2] = 0.64
    return inputs


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


def answer(student, judge, name, sizes, values, x, **options):
    """What a new instance with given parameters returns, having judged that it has them."""
    instance, missing = made(student, name, sizes, values, **options)
    judge_parameters(judge, missing)
    return student.call(instance, x).value


def right_answer(reference, name, sizes, values, x, **options):
    """What the solution returns."""
    instance, _ = made(reference, name, sizes, values, **options)
    return reference.call(instance, x).value


def judge_module(student, judge, instance, names, shape):
    """Judge that an instance is a module with exactly these parameters."""
    judge.that(instance.kind == "module", "It is no module: does the class inherit nn.Module?")
    state = student.state(instance)
    judge_not_plain(judge, state, names)
    shapes = {name: by_name(state.parameters, name) for name in names}
    sentence = N_(
        "A new instance has no parameters yet: are they made in `__init__`, as attributes of `self`?"
    )
    judge.that(bool(state.parameters), sentence, about=shapes)
    shapes = {name: None if found is None else tuple(found.shape) for name, found in shapes.items()}
    judge(shapes, dict.fromkeys(names, shape), what="the shapes of the parameters")


def judge_not_plain(judge, state, names):
    """Judge that no parameter is a plain tensor."""
    plain = [name for name in names if name in state.loose]
    sentence = judge.words("{names}: a plain tensor, which an optimizer does not find", names=plain)
    judge.that(not plain, sentence, about=plain)


def judge_no_more(student, judge, name, values):
    """Judge that three weights are all the parameters, and that none stands for another."""
    instance = student.call(name, D_IN, D_OUT).value
    loaded = student.load(instance, values)
    judge_parameters(judge, loaded.problems)
    more = list(loaded.not_given)
    sentence = judge.words("There are parameters that should not be there: {names}", names=more)
    judge.that(not more, sentence, about=more)
    parameters = student.state(instance).parameters
    found = {name: by_name(parameters, name) for name in values}
    shared = [
        name
        for name, tensor in found.items()
        if tensor is not None
        and any(torch.equal(tensor, values[other]) for other in values if other != name)
    ]
    sentence = judge.words("{names}: it shares its numbers with another of the three", names=shared)
    judge.that(not shared, sentence, about=shared)


def judge_gradients(student, judge, draw, name, values, sizes):
    """Judge that a gradient reaches each parameter and the tokens."""
    instance = student.call(name, *sizes).value
    student.load(instance, values)
    judge_not_plain(judge, student.state(instance), values)
    x, cotangent = draw.normal(NUM_TOKENS, sizes[0]), draw.normal(NUM_TOKENS, sizes[1])
    gradients = student.call(instance, x, cotangent=cotangent).gradients
    silent = [name for name in values if by_name(gradients.parameters, name) is None]
    silent += [] if gradients.arguments["0"] is not None else [N_("the tokens")]
    judge.that(
        not silent,
        judge.words("No gradient reaches {names}", names=silent),
        about=silent,
    )


def attention(x, query, key, value):
    """The context vectors by the equation, from matrices of shape `(d_in, d_out)`."""
    scores = (x @ query) @ (x @ key).T
    return torch.softmax(scores / query.shape[-1] ** 0.5, dim=-1) @ (x @ value)


def held(student, instance):
    """The three matrices of an instance, whatever it calls them: only q, k and v count."""
    found = {}
    for name, tensor in student.state(instance).parameters.items():
        letter = name.removesuffix(".weight").rsplit(".", 1)[-1].lower().lstrip("w_")[:1]
        if letter in ROLES and tensor.dim() == 2:
            found.setdefault(ROLES[letter], tensor)
    return found


def pair(student, d_in, d_out, weights, start):
    """A v2 and a v1 of the student's own, given weights where they have the documents' names."""
    source = student.call("SelfAttention_v2", d_in, d_out, seed=789).value
    target = student.call("SelfAttention_v1", d_in, d_out, seed=123).value
    student.load(source, weights)
    student.load(target, start)
    return source, target


def turned(weight, like):
    """A weight of a v2 in the layout of a v1, or in that of the student's own v1 of `(2, 3)`."""
    weight = weight.detach()
    return weight if like is not None and like.shape == (3, 2) else weight.T


def judge_copied(student, judge, draw, d_in, d_out):
    """Judge the matrices that a v1 holds after copying."""
    weights = drawn(draw, LAYERS, d_out, d_in)
    source, target = pair(student, d_in, d_out, weights, drawn(draw, MATRICES, d_in, d_out))
    given = dict(zip(ROLES.values(), weights.values(), strict=True)) | held(student, source)
    own = held(student, student.call("SelfAttention_v1", 2, 3).value)
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


def judge_like_v1(student, reference, judge, draw, sizes, dtype=torch.float32):
    """Judge that SelfAttentionNormal gives what SelfAttention_v1 gives."""
    values = drawn(draw, MATRICES, *sizes, dtype=dtype)
    x = draw.normal(NUM_TOKENS, sizes[0], dtype=dtype)
    expected = right_answer(reference, "SelfAttentionNormal", sizes, values, x)
    # A slip that the student's own v1 makes too is paid for there.
    own = by_own_v1(student, sizes, values, x)
    value = answer(student, judge, "SelfAttentionNormal", sizes, values, x)
    judge(value, own if alike(value, own) else expected, axes=AXES)


def judge_twice(student, judge, draw, name, values):
    """Judge that a call changes neither the tokens nor later results."""
    instance, _ = made(student, name, (D_IN, D_OUT), values, seed=1)
    x = draw.normal(NUM_TOKENS, D_IN)
    before = student.state(instance).parameters
    first = student.call(instance, x)
    after = student.state(instance).parameters
    changed = [n for n, p in before.items() if n in after and not torch.equal(p, after[n])]
    judge.that(not changed, judge.words("The call changed {names}", names=changed), about=changed)
    judge.that(not first.changed, "It changed the tokens in place")
    again = student.call(instance, x).value
    sentence = N_(
        "Two calls with the same tokens differ: is something in `forward` drawn at random, as by "
        "dropout, or kept from call to call?"
    )
    judge.that(alike(again, first.value), sentence)
    for num_tokens in (NUM_TOKENS, NUM_TOKENS + 1):
        others = draw.normal(num_tokens, D_IN)
        answer = student.call(instance, others)
        judge.that(not answer.changed, "It changed the tokens in place")
        fresh, _ = made(student, name, (D_IN, D_OUT), values, seed=1)
        expected = student.call(fresh, others).value
        judge(answer.value, expected, what="what other tokens give after it", axes=AXES)
    judge(student.call(instance, x).value, first.value, what="the second answer", axes=AXES)


def judge_fresh(student, judge, draw, name):
    """Judge that two instances start with different weights."""
    x, seed = draw.normal(NUM_TOKENS, D_IN), draw.seed()
    answers = []
    for each in (seed, seed + 1):
        instance = student.call(name, D_IN, D_OUT, seed=each).value
        answers.append(student.call(instance, x).value)
        judge.shape(answers[-1], (NUM_TOKENS, D_OUT))
    same = torch.allclose(*answers)
    judge.that(not same, "Two instances start alike: does the class set the seed itself?")


class KeepsNames:
    """A remark on parameters with other names than the stub's."""

    @pytest.mark.remark
    def test_the_parameters_keep_their_names(self, student, reference, judge):
        """The parameters should keep the names they have in the stub."""
        name = student.exercise.name
        found, right = (", ".join(handle.parameters(name)) for handle in (student, reference))
        sentence = judge.words(
            "They are {found}, and in the stub {right}", found=found, right=right
        )
        judge.that(found == right, sentence)


@pytest.mark.exercise("SelfAttention_v1")
class TestSelfAttentionV1(KeepsNames):
    @pytest.mark.gate
    @pytest.mark.conduct
    def test_there_is_one_context_vector_for_each_token(self, student, judge, printed):
        """An instance should give one float32 context vector of size d_out for each token."""
        instance = student.call("SelfAttention_v1", 3, 2, seed=1).value
        judge.shape(student.call(instance, printed("T45").tensor).value, (6, 2))

    @pytest.mark.weight(2)
    @pytest.mark.conduct
    def test_it_has_three_parameters(self, student, judge):
        """W_query, W_key and W_value should be parameters of shape (d_in, d_out)."""
        instance = student.call("SelfAttention_v1", 3, 2).value
        judge_module(student, judge, instance, MATRICES, (3, 2))

    @pytest.mark.conduct
    def test_they_are_all_the_parameters(self, student, judge, draw):
        """W_query, W_key and W_value should be all the parameters, each with numbers of its own."""
        judge_no_more(student, judge, "SelfAttention_v1", drawn(draw, MATRICES, D_IN, D_OUT))

    @pytest.mark.weight(2)
    def test_the_printed_matrices_give_the_printed_context_vectors(self, student, judge, printed):
        """Given the example's matrices, the context vectors should be the example's."""
        values = {
            name: printed(id_).tensor
            for name, id_ in zip(MATRICES, ("T40", "T41", "T42"), strict=True)
        }
        value = answer(student, judge, "SelfAttention_v1", (3, 2), values, printed("T45").tensor)
        judge(value, printed("T16"), atol=ROUNDED_MATRICES, axes=AXES)

    @pytest.mark.weight(2)
    def test_other_sizes(self, student, reference, judge, draw):
        """Given other matrices, the result should be right for 4 tokens, d_in 5 and d_out 3."""
        values, sizes = drawn(draw, MATRICES, D_IN, D_OUT), (D_IN, D_OUT)
        x = draw.normal(NUM_TOKENS, D_IN)
        expected = right_answer(reference, "SelfAttention_v1", sizes, values, x)
        value = answer(student, judge, "SelfAttention_v1", sizes, values, x)
        judge(value, expected, axes=AXES)

    def test_each_row_of_weights_sums_to_one(self, student, judge, draw):
        """Where all values are [1, 1, 1], the context vectors should be, too: weights sum to 1."""
        values = drawn(draw, MATRICES, NUM_TOKENS, D_OUT)
        # The tokens are the unit vectors, so the values are the rows of W_value.
        values["W_value"] = torch.ones(NUM_TOKENS, D_OUT)
        x, sizes = torch.eye(NUM_TOKENS), (NUM_TOKENS, D_OUT)
        value = answer(student, judge, "SelfAttention_v1", sizes, values, x)
        judge(value, torch.ones(NUM_TOKENS, D_OUT), axes=AXES)

    def test_a_single_token_gets_its_own_value(self, student, judge, draw):
        """A token alone should have all the weight: its context vector is its value."""
        values, x = drawn(draw, MATRICES, D_IN, D_OUT), draw.normal(1, D_IN)
        value = answer(student, judge, "SelfAttention_v1", (D_IN, D_OUT), values, x)
        judge(value, x @ values["W_value"], axes=AXES)

    @pytest.mark.weight(2)
    @pytest.mark.conduct
    def test_gradients_reach_the_matrices(self, student, judge, draw):
        """Gradients should flow to all three matrices and to the tokens."""
        values = drawn(draw, MATRICES, D_IN, D_OUT)
        judge_gradients(student, judge, draw, "SelfAttention_v1", values, (D_IN, D_OUT))

    @pytest.mark.conduct
    def test_the_matrices_start_between_0_and_1(self, student, judge):
        """The matrices should start as torch.rand draws them: evenly from 0 to 1."""
        instance = student.call("SelfAttention_v1", 50, 40, seed=1).value
        for name, matrix in matrices(student, instance).items():
            judge.that(
                matrix is not None, judge.words("A new instance has no parameter {name}", name=name)
            )
            judge.shape(matrix, (50, 40))
            # 2000 numbers: their mean has a standard deviation of 0.0065.
            even = matrix.min() >= 0.0 and matrix.max() <= 1.0 and abs(matrix.mean() - 0.5) < 0.05
            sentence = judge.words("{name} does not start evenly from 0 to 1", name=name)
            judge.that(even and matrix.std() > 0.2, sentence)

    def test_the_context_vectors_of_seed_123_as_printed(self, student, judge, printed):
        """Seed 123 should give the example's numbers, if made in the order query, key, value."""
        instance = student.call("SelfAttention_v1", 3, 2, seed=123, exact=True).value
        judge(student.call(instance, printed("T45").tensor).value, printed("T16"), axes=AXES)

    def test_double_precision_is_kept(self, student, reference, judge, draw):
        """Matrices and tokens in float64 should give context vectors in float64."""
        values = drawn(draw, MATRICES, D_IN, D_OUT, dtype=torch.float64)
        x, sizes = draw.normal(NUM_TOKENS, D_IN, dtype=torch.float64), (D_IN, D_OUT)
        expected = right_answer(reference, "SelfAttention_v1", sizes, values, x)
        value = answer(student, judge, "SelfAttention_v1", sizes, values, x)
        judge(value, expected, axes=AXES)

    @pytest.mark.conduct
    def test_asking_changes_nothing(self, student, judge, draw):
        """Earlier calls should make no difference, and the tokens should stay as they are."""
        values = drawn(draw, MATRICES, D_IN, D_OUT)
        judge_twice(student, judge, draw, "SelfAttention_v1", values)

    def test_each_instance_draws_its_own_matrices(self, student, judge, draw):
        """Two instances should start with different matrices."""
        judge_fresh(student, judge, draw, "SelfAttention_v1")

    @pytest.mark.remark
    def test_the_steps_are_written_out(self, student, judge):
        """The steps should be written out, not left to a ready-made attention of torch."""
        instance = student.call("SelfAttention_v1", 3, 2).value
        found = student.call(instance, torch.ones(4, 3), operations=True).operations
        is_own = not any("attention" in operation for operation in found)
        judge.that(is_own, "It calls a ready-made attention: the point is to see what that does")


@pytest.mark.exercise("SelfAttention_v2")
class TestSelfAttentionV2(KeepsNames):
    @pytest.mark.gate
    @pytest.mark.conduct
    def test_there_is_one_context_vector_for_each_token(self, student, judge, printed):
        """An instance should give one float32 context vector of size d_out for each token."""
        instance = student.call("SelfAttention_v2", 3, 2, seed=1).value
        judge.shape(student.call(instance, printed("T45").tensor).value, (6, 2))

    @pytest.mark.weight(2)
    @pytest.mark.conduct
    def test_it_has_three_linear_layers(self, student, judge):
        """W_query, W_key, W_value should be linear layers, with weights of shape (d_out, d_in)."""
        instance = student.call("SelfAttention_v2", 3, 2).value
        judge_module(student, judge, instance, LAYERS, (2, 3))

    @pytest.mark.conduct
    def test_there_is_no_bias_unless_asked_for(self, student, judge, draw):
        """Without qkv_bias, the three weights should be all the parameters, each with numbers of its own."""
        judge_no_more(student, judge, "SelfAttention_v2", drawn(draw, LAYERS, D_OUT, D_IN))

    @pytest.mark.weight(2)
    def test_other_sizes(self, student, reference, judge, draw):
        """Given weights, the result should be right for 4 tokens, d_in 5 and d_out 3."""
        values, sizes = drawn(draw, LAYERS, D_OUT, D_IN), (D_IN, D_OUT)
        x, spare = draw.normal(NUM_TOKENS, D_IN), no_biases(D_OUT)
        expected = right_answer(reference, "SelfAttention_v2", sizes, values, x)
        value = answer(student, judge, "SelfAttention_v2", sizes, values, x, spare=spare)
        judge(value, expected, axes=AXES)

    @pytest.mark.weight(2)
    def test_biases_count_when_asked_for(self, student, reference, judge, draw):
        """With qkv_bias=True the layers should have biases, and these should change the result."""
        biases = tuple(name.replace("weight", "bias") for name in LAYERS)
        values = drawn(draw, LAYERS, D_OUT, D_IN) | drawn(draw, biases, D_OUT)
        x, sizes = draw.normal(NUM_TOKENS, D_IN), (D_IN, D_OUT)
        expected = right_answer(reference, "SelfAttention_v2", sizes, values, x, qkv_bias=True)
        value = answer(student, judge, "SelfAttention_v2", sizes, values, x, qkv_bias=True)
        judge(value, expected, axes=AXES)

    def test_each_row_of_weights_sums_to_one(self, student, judge, draw):
        """Where all values are [1, 1, 1], the context vectors should be, too: weights sum to 1."""
        values = drawn(draw, LAYERS, D_OUT, NUM_TOKENS)
        # The tokens are the unit vectors, so the values are the columns of the weight.
        values["W_value.weight"] = torch.ones(D_OUT, NUM_TOKENS)
        x, sizes, spare = torch.eye(NUM_TOKENS), (NUM_TOKENS, D_OUT), no_biases(D_OUT)
        value = answer(student, judge, "SelfAttention_v2", sizes, values, x, spare=spare)
        judge(value, torch.ones(NUM_TOKENS, D_OUT), axes=AXES)

    def test_a_single_token_gets_its_own_value(self, student, judge, draw):
        """A token alone should have all the weight: its context vector is its value."""
        values, x = drawn(draw, LAYERS, D_OUT, D_IN), draw.normal(1, D_IN)
        sizes, spare = (D_IN, D_OUT), no_biases(D_OUT)
        value = answer(student, judge, "SelfAttention_v2", sizes, values, x, spare=spare)
        judge(value, x @ values["W_value.weight"].T, axes=AXES)

    @pytest.mark.weight(2)
    @pytest.mark.conduct
    def test_gradients_reach_the_layers(self, student, judge, draw):
        """Gradients should flow to the weights of all three layers and to the tokens."""
        values = drawn(draw, LAYERS, D_OUT, D_IN)
        judge_gradients(student, judge, draw, "SelfAttention_v2", values, (D_IN, D_OUT))

    def test_the_context_vectors_of_seed_789_as_printed(self, student, judge, printed):
        """Seed 789 should give the example's numbers, if made in the order query, key, value."""
        instance = student.call("SelfAttention_v2", 3, 2, seed=789, exact=True).value
        judge(student.call(instance, printed("T45").tensor).value, printed("T17"), axes=AXES)

    def test_double_precision_is_kept(self, student, reference, judge, draw):
        """Weights and tokens in float64 should give context vectors in float64."""
        values = drawn(draw, LAYERS, D_OUT, D_IN, dtype=torch.float64)
        x, sizes = draw.normal(NUM_TOKENS, D_IN, dtype=torch.float64), (D_IN, D_OUT)
        name, spare = "SelfAttention_v2", no_biases(D_OUT, torch.float64)
        expected = right_answer(reference, name, sizes, values, x)
        value = answer(student, judge, name, sizes, values, x, spare=spare)
        judge(value, expected, axes=AXES)

    @pytest.mark.conduct
    def test_asking_changes_nothing(self, student, judge, draw):
        """Earlier calls should make no difference, and the tokens should stay as they are."""
        values = drawn(draw, LAYERS, D_OUT, D_IN)
        judge_twice(student, judge, draw, "SelfAttention_v2", values)

    def test_each_instance_draws_its_own_weights(self, student, judge, draw):
        """Two instances should start with different weights."""
        judge_fresh(student, judge, draw, "SelfAttention_v2")

    @pytest.mark.remark
    def test_the_steps_are_written_out(self, student, judge):
        """The steps should be written out, not left to a ready-made attention of torch."""
        instance = student.call("SelfAttention_v2", 3, 2).value
        found = student.call(instance, torch.ones(4, 3), operations=True).operations
        is_own = not any("attention" in operation for operation in found)
        judge.that(is_own, "It calls a ready-made attention: the point is to see what that does")


@pytest.mark.exercise("copy_weights")
@pytest.mark.guessable("It returns nothing: what it wrote is judged.")
class TestCopyWeights(KeepsNames):
    @pytest.mark.gate
    def test_it_takes_a_v2_and_a_v1(self, student, judge, draw):
        """It should take a v2 and a v1, and the v1 should keep its three matrices."""
        # The untouched stub says so itself, before the classes it needs are asked for.
        student.refusal("copy_weights", None, None)
        weights, start = drawn(draw, LAYERS, D_IN, D_IN), drawn(draw, MATRICES, D_IN, D_IN)
        source, target = pair(student, D_IN, D_IN, weights, start)
        before = held(student, target)
        student.call("copy_weights", source, target)
        lost = [role for role in before if role not in held(student, target)]
        sentence = judge.words("The target lost its matrix for {names}", names=lost)
        judge.that(not lost, sentence, about=lost)

    @pytest.mark.weight(3)
    def test_each_matrix_is_the_transposed_weight(self, student, judge, draw):
        """Each matrix of the v1 should become the weight of the v2's layer, transposed."""
        judge_copied(student, judge, draw, D_IN, D_OUT)

    def test_square_weights_are_transposed_too(self, student, judge, draw):
        """Where d_in and d_out are equal, the weights should be transposed, too."""
        judge_copied(student, judge, draw, NUM_TOKENS, NUM_TOKENS)

    def test_the_copied_weights_give_the_printed_context_vectors(
        self, student, reference, judge, draw, printed
    ):
        """With the weights of the v2 of seed 789, the v1 should give the example's numbers."""
        weights = reference.state(reference.call("SelfAttention_v2", 3, 2, seed=789).value)
        start = drawn(draw, MATRICES, 3, 2)
        source, target = pair(student, 3, 2, weights.parameters, start)
        before = held(student, target)
        student.call("copy_weights", source, target)
        after, x = held(student, target), printed("T45").tensor
        if after.keys() != set(ROLES.values()):  # plain tensors: a slip of the v1, not of this
            judge(student.call(target, x).value, printed("T17"), axes=AXES)
            return
        for role, matrix in after.items():
            shape = before[role].shape if role in before else (3, 2)
            judge.shape(matrix, shape)
        after = {role: matrix if len(matrix) == 3 else matrix.T for role, matrix in after.items()}
        judge(attention(x, **after), printed("T17"), what="what they give", axes=AXES)

    def test_the_source_stays_as_it_is(self, student, judge, draw):
        """The v2 should keep its weights."""
        weights, start = drawn(draw, LAYERS, D_IN, D_IN), drawn(draw, MATRICES, D_IN, D_IN)
        source, target = pair(student, D_IN, D_IN, weights, start)
        before = held(student, source)
        student.call("copy_weights", source, target)
        judge(held(student, source), before, what="the source's weights")

    @pytest.mark.remark
    def test_the_target_has_numbers_of_its_own(self, student, judge, draw):
        """The v1 should have numbers of its own, so that training it leaves the v2 as it is."""
        weights, start = drawn(draw, LAYERS, D_IN, D_IN), drawn(draw, MATRICES, D_IN, D_IN)
        source, target = pair(student, D_IN, D_IN, weights, start)
        student.call("copy_weights", source, target)
        shared = list(student.state(target).shared)
        sentence = judge.words("It shares the numbers of {names} with the v2", names=shared)
        judge.that(not shared, sentence, about=shared)

    def test_the_target_can_still_be_trained(self, student, judge, draw):
        """What was a trainable parameter of the v1 should still be one."""
        weights, start = drawn(draw, LAYERS, D_IN, D_IN), drawn(draw, MATRICES, D_IN, D_IN)
        source, target = pair(student, D_IN, D_IN, weights, start)
        before = held(student, target)
        student.call("copy_weights", source, target)
        after = held(student, target)
        trained = {role for role, matrix in before.items() if matrix.requires_grad}
        frozen = sorted(trained - {role for role in after if after[role].requires_grad})
        sentence = judge.words("No longer trainable: {names}", names=frozen)
        judge.that(not frozen, sentence, about=frozen)


@pytest.mark.exercise("SelfAttentionNormal")
class TestSelfAttentionNormal(KeepsNames):
    @pytest.mark.gate
    @pytest.mark.conduct
    def test_there_is_one_context_vector_for_each_token(self, student, judge, printed):
        """An instance should give one float32 context vector of size d_out for each token."""
        instance = student.call("SelfAttentionNormal", 3, 2, seed=1).value
        judge.shape(student.call(instance, inputs_004(printed)).value, (6, 2))

    @pytest.mark.conduct
    def test_it_has_three_parameters(self, student, judge):
        """W_query, W_key and W_value should be parameters of shape (d_in, d_out)."""
        instance = student.call("SelfAttentionNormal", 3, 2).value
        judge_module(student, judge, instance, MATRICES, (3, 2))

    @pytest.mark.conduct
    def test_they_are_all_the_parameters(self, student, judge, draw):
        """W_query, W_key and W_value should be all the parameters, each with numbers of its own."""
        values = drawn(draw, MATRICES, D_IN, D_OUT)
        judge_no_more(student, judge, "SelfAttentionNormal", values)

    @pytest.mark.remark
    def test_the_matrices_are_its_own(self, student, judge):
        """W_query, W_key and W_value should be attributes of the layer itself."""
        state = student.state(student.call("SelfAttentionNormal", 3, 2).value)
        inner = [name for name in state.parameters if name.rpartition(".")[2] in MATRICES]
        inner = [name for name in inner if "." in name]
        sentence = judge.words("They belong to a layer inside of it: {names}", names=inner)
        judge.that(not inner, sentence, about=inner)

    @pytest.mark.weight(2)
    @pytest.mark.conduct
    def test_the_matrices_start_normally_drawn(self, student, judge):
        """The matrices should start as torch.randn draws: around 0, with standard deviation 1."""
        instance = student.call("SelfAttentionNormal", 50, 40, seed=1).value
        for name, matrix in matrices(student, instance).items():
            judge.that(
                matrix is not None, judge.words("A new instance has no parameter {name}", name=name)
            )
            judge.shape(matrix, (50, 40))
            # 2000 numbers: mean and deviation are off by 0.022 and 0.016 (one sigma).
            sentence = judge.words("{name} does not start around 0", name=name)
            judge.that(bool(abs(matrix.mean()) < 0.15), sentence)
            near = 0.85 < matrix.detach().std() < 1.15
            sentence = judge.words(
                "{name} does not start with a standard deviation of 1", name=name
            )
            judge.that(bool(near), sentence)

    @pytest.mark.weight(2)
    def test_given_matrices_answer_as_in_v1(self, student, reference, judge, draw):
        """Given the same matrices, it should give what SelfAttention_v1 gives."""
        for sizes in ((D_IN, D_OUT), (3, 2)):
            judge_like_v1(student, reference, judge, draw, sizes)

    @pytest.mark.conduct
    def test_gradients_reach_the_matrices(self, student, judge, draw):
        """Gradients should flow to all three matrices and to the tokens."""
        values = drawn(draw, MATRICES, D_IN, D_OUT)
        judge_gradients(student, judge, draw, "SelfAttentionNormal", values, (D_IN, D_OUT))

    @pytest.mark.conduct
    def test_the_matrices_of_seed_123_as_obtained(self, student, judge, printed):
        """Seed 123 should make the example's matrices, if made in the order query, key, value."""
        instance = student.call("SelfAttentionNormal", 3, 2, seed=123, exact=True).value
        found, x = matrices(student, instance), inputs_004(printed)
        for name, matrix in found.items():
            judge.that(
                matrix is not None, judge.words("A new instance has no parameter {name}", name=name)
            )
            judge.shape(matrix, (3, 2))
        # Figures with 4 decimals, as in the documents: half a unit of the last digit.
        atol = printed("T16").atol
        judge(x[1] @ found["W_query"], QUERY_004, what="the query of journey", atol=atol)
        judge(
            attention(x, *found.values()), CONTEXT_004, what="what they give", atol=atol, axes=AXES
        )

    def test_double_precision_is_kept(self, student, reference, judge, draw):
        """Matrices and tokens in float64 should give context vectors in float64."""
        judge_like_v1(student, reference, judge, draw, (D_IN, D_OUT), torch.float64)

    @pytest.mark.conduct
    def test_asking_changes_nothing(self, student, judge, draw):
        """Earlier calls should make no difference, and the tokens should stay as they are."""
        values = drawn(draw, MATRICES, D_IN, D_OUT)
        judge_twice(student, judge, draw, "SelfAttentionNormal", values)

    def test_each_instance_draws_its_own_matrices(self, student, judge, draw):
        """Two instances should start with different matrices."""
        judge_fresh(student, judge, draw, "SelfAttentionNormal")

    @pytest.mark.remark
    def test_the_steps_are_written_out(self, student, judge):
        """The steps should be written out, not left to a ready-made attention of torch."""
        instance = student.call("SelfAttentionNormal", 3, 2).value
        found = student.call(instance, torch.ones(4, 3), operations=True).operations
        is_own = not any("attention" in operation for operation in found)
        judge.that(is_own, "It calls a ready-made attention: the point is to see what that does")
