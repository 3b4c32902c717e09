"""What students see of assignment 04: the documents' tensors, and plain properties."""

import pytest
import torch

from grader.testing import N_, by_name
from grader.testing.mixins import KeepsNames

from ..helpers import FOUR_DECIMALS, StepsWrittenOut, inputs_004
from .helpers import (
    AXES,
    BIASES,
    LAYERS,
    MATRICES,
    ROLES,
    Layers,
    alike,
    held,
    judge_copies,
    judge_given,
    lies_as_in_v2,
    pair,
)

# Unlike the documents' sizes (6, 3, 2), and all different.
NUM_TOKENS, D_IN, D_OUT = 4, 5, 3

# 004 prints nothing; these figures were obtained by running its code (seed 123). Its second token
# is [0.55, 0.87, 0.64].
QUERY_004 = torch.tensor([-1.1489, -0.0090])
CONTEXT_004 = torch.tensor(
    [0.2848, 0.4101, 0.2857, 0.4106, 0.2856, 0.4104, 0.2866, 0.4004, 0.2865, 0.3940, 0.2862, 0.4069]
).reshape(6, 2)

# Matrices printed to 4 decimals, half a unit of the last digit each. A token's features sum to at
# most 2.1, so a query, a key or a value is off by up to 1.05e-4, and a scaled score by up to
# 2.7e-4. The values differ by less than 0.8, so that moves the mixture by less than 1.1e-4. With
# the values' own 1.05e-4 and the result's half a unit, that is:
ROUNDED_MATRICES = 2.7e-4


class JudgedLayers(Layers):
    """Layers whose parameters are judged."""

    def judge_module(self, attempt, shape):
        """Judge that an instance is a module with exactly these parameters."""
        layer, judge = attempt.instance(3, 2), attempt.judge
        state = layer.state
        judge.that(layer.own.kind == "module", "It is no module: does the class inherit nn.Module?")
        self.judge_not_plain(judge, state)
        found = {name: by_name(state.parameters, name) for name in self.names}
        sentence = N_(
            "A new instance has no parameters yet: are they made in `__init__`, as attributes of `self`?"
        )
        judge.that(bool(state.parameters), sentence, about=found)
        shapes = {name: None if one is None else tuple(one.shape) for name, one in found.items()}
        judge(shapes, dict.fromkeys(self.names, shape), what="the shapes of the parameters")

    def judge_not_plain(self, judge, state):
        """Judge that no parameter is a plain tensor."""
        plain = [name for name in self.names if name in state.loose]
        template = N_("{names}: a plain tensor, which an optimizer does not find")
        judge.that(not plain, judge.words(template, names=plain), about=plain)

    def judge_no_more(self, attempt, draw):
        """Judge that three weights are all the parameters, and that none stands for another."""
        values, judge = self.drawn(draw, D_IN, D_OUT), attempt.judge
        layer = attempt.instance(D_IN, D_OUT, given=values)
        judge_given(judge, layer.problems)
        more = list(layer.loaded.not_given)
        sentence = judge.words("There are parameters that should not be there: {names}", names=more)
        judge.that(not more, sentence, about=more)
        shared, parameters = [], layer.state.parameters
        for name in values:
            others = (value for other, value in values.items() if other != name)
            found = by_name(parameters, name)
            if found is not None and any(torch.equal(found, value) for value in others):
                shared.append(name)
        template = N_("{names}: it shares its numbers with another of the three")
        judge.that(not shared, judge.words(template, names=shared), about=shared)

    def judge_gradients(self, attempt, draw):
        """Judge that a gradient reaches each parameter and the tokens."""
        layer = attempt.instance(D_IN, D_OUT, given=self.drawn(draw, D_IN, D_OUT))
        self.judge_not_plain(attempt.judge, layer.state)
        x, cotangent = draw.normal(NUM_TOKENS, D_IN), draw.normal(NUM_TOKENS, D_OUT)
        gradients = layer(x, cotangent=cotangent).answer.gradients
        silent = [name for name in self.names if by_name(gradients.parameters, name) is None]
        silent += [] if gradients.arguments["0"] is not None else [N_("the tokens")]
        sentence = attempt.judge.words("No gradient reaches {names}", names=silent)
        attempt.judge.that(not silent, sentence, about=silent)

    def judge_fresh(self, attempt, draw):
        """Judge that two instances start with different weights."""
        x, seed = draw.normal(NUM_TOKENS, D_IN), draw.seed()
        layers = (attempt.instance(D_IN, D_OUT, seed=each) for each in (seed, seed + 1))
        same = torch.allclose(*(layer(x).has_shape(NUM_TOKENS, D_OUT) for layer in layers))
        sentence = N_("Two instances start alike: does the class set the seed itself?")
        attempt.judge.that(not same, sentence)


def attention(x, query, key, value):
    """The context vectors by the equation, from matrices of shape `(d_in, d_out)`."""
    scores = (x @ query) @ (x @ key).T
    return torch.softmax(scores / query.shape[-1] ** 0.5, dim=-1) @ (x @ value)


class SelfAttention(JudgedLayers, StepsWrittenOut, KeepsNames):
    """What all three classes hold to."""

    def shown(self, attempt):
        """A layer and tokens."""
        return attempt.instance(3, 2), torch.ones(4, 3)

    @pytest.mark.gate
    @pytest.mark.conduct
    def test_there_is_one_context_vector_for_each_token(self, attempt, printed):
        """An instance should give one float32 context vector of size d_out for each token."""
        attempt.instance(3, 2, seed=1)(printed("T45")).has_shape(6, 2)

    @pytest.mark.conduct
    def test_asking_changes_nothing(self, attempt, judge, draw):
        """Earlier calls should make no difference, and the tokens should stay as they are."""
        values = self.drawn(draw, D_IN, D_OUT)
        layer, x = self.made(attempt, values, seed=1), draw.normal(NUM_TOKENS, D_IN)
        before = layer.state.parameters
        first = layer(x)
        after = layer.state.parameters
        changed = [n for n, p in before.items() if n in after and not torch.equal(p, after[n])]
        sentence = judge.words("The call changed {names}", names=changed)
        judge.that(not changed, sentence, about=changed)
        first.keeps_arguments()
        sentence = N_(
            "Two calls with the same tokens differ: is something in `forward` drawn at random, as by "
            "dropout, or kept from call to call?"
        )
        judge.that(alike(layer(x).value, first.value), sentence)
        for num_tokens in (NUM_TOKENS, NUM_TOKENS + 1):
            others = draw.normal(num_tokens, D_IN)
            called = layer(others)
            called.keeps_arguments()
            fresh = self.made(attempt, values, seed=1)(others).value
            called.gives(fresh, what="what other tokens give after it")
        layer(x).gives(first.value, what="the second answer")


class OnItsOwn(SelfAttention):
    """What both self-attentions hold to, whose results no other class of the student's makes."""

    @pytest.mark.weight(2)
    def test_other_sizes(self, attempt, draw):
        """Given other parameters, the result should be right for 4 tokens, d_in 5 and d_out 3."""
        self.given(attempt, self.drawn(draw, D_IN, D_OUT))(draw.normal(NUM_TOKENS, D_IN)).agrees()

    def test_each_row_of_weights_sums_to_one(self, attempt, draw):
        """Where all values are [1, 1, 1], the context vectors should be, too: weights sum to 1."""
        values = self.drawn(draw, NUM_TOKENS, D_OUT)
        # The tokens are the unit vectors, so the values are what is in the parameter for them.
        values[self.names[2]] = torch.ones_like(values[self.names[2]])
        self.given(attempt, values)(torch.eye(NUM_TOKENS)).gives(torch.ones(NUM_TOKENS, D_OUT))

    def test_a_single_token_gets_its_own_value(self, attempt, draw):
        """A token alone should have all the weight: its context vector is its value."""
        values, x = self.drawn(draw, D_IN, D_OUT), draw.normal(1, D_IN)
        value = values[self.names[2]]
        right = x @ (value if self.names == MATRICES else value.T)
        self.given(attempt, values)(x).gives(right)

    def test_double_precision_is_kept(self, attempt, draw):
        """Parameters and tokens in float64 should give context vectors in float64."""
        layer = self.given(attempt, self.drawn(draw, D_IN, D_OUT, torch.float64))
        layer(draw.normal(NUM_TOKENS, D_IN, dtype=torch.float64)).agrees()


class HasMatrices(JudgedLayers):
    """What both classes with matrices of their own hold to."""

    @pytest.mark.conduct
    def test_they_are_all_the_parameters(self, attempt, draw):
        """W_query, W_key and W_value should be all the parameters, each with numbers of its own."""
        self.judge_no_more(attempt, draw)

    def test_each_instance_draws_its_own_matrices(self, attempt, draw):
        """Two instances should start with different matrices."""
        self.judge_fresh(attempt, draw)


@pytest.mark.exercise("SelfAttention_v1")
class TestSelfAttentionV1(OnItsOwn, HasMatrices):
    @pytest.mark.weight(2)
    @pytest.mark.conduct
    def test_it_has_three_parameters(self, attempt):
        """W_query, W_key and W_value should be parameters of shape (d_in, d_out)."""
        self.judge_module(attempt, (3, 2))

    test_they_are_all_the_parameters = HasMatrices.test_they_are_all_the_parameters

    @pytest.mark.weight(2)
    def test_the_printed_matrices_give_the_printed_context_vectors(self, attempt, printed):
        """Given the example's matrices, the context vectors should be the example's."""
        ids = zip(MATRICES, ("T40", "T41", "T42"), strict=True)
        layer = self.given(attempt, {name: printed(id_).tensor for name, id_ in ids})
        layer(printed("T45")).gives(printed("T16"), atol=ROUNDED_MATRICES)

    test_other_sizes = OnItsOwn.test_other_sizes
    test_each_row_of_weights_sums_to_one = OnItsOwn.test_each_row_of_weights_sums_to_one

    @pytest.mark.weight(2)
    @pytest.mark.conduct
    def test_gradients_reach_the_matrices(self, attempt, draw):
        """Gradients should flow to all three matrices and to the tokens."""
        self.judge_gradients(attempt, draw)

    @pytest.mark.conduct
    def test_the_matrices_start_between_0_and_1(self, attempt, judge):
        """The matrices should start as torch.rand draws them: evenly from 0 to 1."""
        layer = attempt.instance(50, 40, seed=1)
        for name, matrix in self.judge_matrices(layer, (50, 40)).items():
            # 2000 numbers: their mean has a standard deviation of 0.0065.
            even = matrix.min() >= 0.0 and matrix.max() <= 1.0 and abs(matrix.mean() - 0.5) < 0.05
            sentence = judge.words("{name} does not start evenly from 0 to 1", name=name)
            judge.that(even and matrix.std() > 0.2, sentence)

    def test_the_context_vectors_of_seed_123_as_printed(self, attempt, printed):
        """Seed 123 should give the example's numbers, if made in the order query, key, value."""
        attempt.instance(3, 2, seed=123, exact=True)(printed("T45")).gives(printed("T16"))


@pytest.mark.exercise("SelfAttention_v2")
class TestSelfAttentionV2(OnItsOwn):
    names = LAYERS

    @pytest.mark.weight(2)
    @pytest.mark.conduct
    def test_it_has_three_linear_layers(self, attempt):
        """W_query, W_key, W_value should be linear layers, with weights of shape (d_out, d_in)."""
        self.judge_module(attempt, (2, 3))

    @pytest.mark.conduct
    def test_there_is_no_bias_unless_asked_for(self, attempt, draw):
        """Without qkv_bias, the three weights should be all the parameters, each with numbers of its own."""
        self.judge_no_more(attempt, draw)

    test_other_sizes = OnItsOwn.test_other_sizes

    @pytest.mark.weight(2)
    def test_biases_count_when_asked_for(self, attempt, draw):
        """With qkv_bias=True the layers should have biases, and these should change the result."""
        values = self.drawn(draw, D_IN, D_OUT) | {name: draw.normal(D_OUT) for name in BIASES}
        self.given(attempt, values, qkv_bias=True)(draw.normal(NUM_TOKENS, D_IN)).agrees()

    @pytest.mark.weight(2)
    @pytest.mark.conduct
    def test_gradients_reach_the_layers(self, attempt, draw):
        """Gradients should flow to the weights of all three layers and to the tokens."""
        self.judge_gradients(attempt, draw)

    def test_the_context_vectors_of_seed_789_as_printed(self, attempt, printed):
        """Seed 789 should give the example's numbers, if made in the order query, key, value."""
        attempt.instance(3, 2, seed=789, exact=True)(printed("T45")).gives(printed("T17"))

    def test_each_instance_draws_its_own_weights(self, attempt, draw):
        """Two instances should start with different weights."""
        self.judge_fresh(attempt, draw)


@pytest.mark.exercise("copy_weights")
@pytest.mark.guessable("It returns nothing: what it wrote is judged.")
class TestCopyWeights(KeepsNames):
    @pytest.mark.gate
    def test_it_takes_a_v2_and_a_v1(self, attempt, judge, draw):
        """It should take a v2 and a v1, and the v1 should keep its three matrices."""
        # The untouched stub says so itself, before the classes it needs are asked for.
        attempt.student.refusal("copy_weights", None, None)
        source, target = pair(attempt, draw, D_IN, D_IN)
        before = held(target)
        attempt(source.own, target.own)
        after = held(target)
        lost = [role for role in before if role not in after]
        sentence = judge.words("The target lost its matrix for {names}", names=lost)
        judge.that(not lost, sentence, about=lost)

    @pytest.mark.weight(3)
    def test_each_matrix_is_the_transposed_weight(self, attempt, draw):
        """Each matrix of the v1 should become the weight of the v2's layer, transposed."""
        judge_copies(attempt, draw, D_IN, D_OUT)

    def test_square_weights_are_transposed_too(self, attempt, draw):
        """Where d_in and d_out are equal, the weights should be transposed, too."""
        judge_copies(attempt, draw, NUM_TOKENS, NUM_TOKENS)

    def test_the_copied_weights_give_the_printed_context_vectors(
        self, attempt, reference, judge, draw, printed
    ):
        """With the weights of the v2 of seed 789, the v1 should give the example's numbers."""
        weights = reference.state(reference.call("SelfAttention_v2", 3, 2, seed=789).value)
        source, target = pair(attempt, draw, 3, 2, weights.parameters)
        attempt(source.own, target.own)
        after, x = held(target), printed("T45").tensor
        if after.keys() != set(ROLES.values()):  # plain tensors: a slip of the v1, not of this
            target(x).gives(printed("T17"))
            return
        shape = (2, 3) if lies_as_in_v2(attempt.of("SelfAttention_v1")) else (3, 2)
        for matrix in after.values():
            judge.shape(matrix, shape)
        after = {role: matrix if len(matrix) == 3 else matrix.T for role, matrix in after.items()}
        judge(attention(x, **after), printed("T17"), what="what they give", axes=AXES)

    def test_the_source_stays_as_it_is(self, attempt, judge, draw):
        """The v2 should keep its weights."""
        source, target = pair(attempt, draw, D_IN, D_IN)
        before = held(source)
        attempt(source.own, target.own)
        judge(held(source), before, what="the source's weights")

    @pytest.mark.remark
    def test_the_target_has_numbers_of_its_own(self, attempt, judge, draw):
        """The v1 should have numbers of its own, so that training it leaves the v2 as it is."""
        source, target = pair(attempt, draw, D_IN, D_IN)
        attempt(source.own, target.own)
        shared = list(target.state.shared)
        sentence = judge.words("It shares the numbers of {names} with the v2", names=shared)
        judge.that(not shared, sentence, about=shared)

    def test_the_target_can_still_be_trained(self, attempt, judge, draw):
        """What was a trainable parameter of the v1 should still be one."""
        source, target = pair(attempt, draw, D_IN, D_IN)
        before = held(target)
        attempt(source.own, target.own)
        after = held(target)
        trained = {role for role, matrix in before.items() if matrix.requires_grad}
        frozen = sorted(trained - {role for role in after if after[role].requires_grad})
        sentence = judge.words("No longer trainable: {names}", names=frozen)
        judge.that(not frozen, sentence, about=frozen)


@pytest.mark.exercise("SelfAttentionNormal")
class TestSelfAttentionNormal(SelfAttention, HasMatrices):
    @pytest.mark.gate
    @pytest.mark.conduct
    def test_there_is_one_context_vector_for_each_token(self, attempt, printed):
        """An instance should give one float32 context vector of size d_out for each token."""
        attempt.instance(3, 2, seed=1)(inputs_004(printed)).has_shape(6, 2)

    @pytest.mark.conduct
    def test_it_has_three_parameters(self, attempt):
        """W_query, W_key and W_value should be parameters of shape (d_in, d_out)."""
        self.judge_module(attempt, (3, 2))

    test_they_are_all_the_parameters = HasMatrices.test_they_are_all_the_parameters

    @pytest.mark.remark
    def test_the_matrices_are_its_own(self, attempt, judge):
        """W_query, W_key and W_value should be attributes of the layer itself."""
        parameters = attempt.instance(3, 2).state.parameters
        inner = [n for n in parameters if "." in n and n.rpartition(".")[2] in MATRICES]
        sentence = judge.words("They belong to a layer inside of it: {names}", names=inner)
        judge.that(not inner, sentence, about=inner)

    @pytest.mark.weight(2)
    @pytest.mark.conduct
    def test_the_matrices_start_normally_drawn(self, attempt, judge):
        """The matrices should start as torch.randn draws: around 0, with standard deviation 1."""
        layer = attempt.instance(50, 40, seed=1)
        for name, matrix in self.judge_matrices(layer, (50, 40)).items():
            # 2000 numbers: mean and deviation are off by 0.022 and 0.016 (one sigma).
            sentence = judge.words("{name} does not start around 0", name=name)
            judge.that(bool(abs(matrix.mean()) < 0.15), sentence)
            near = 0.85 < matrix.detach().std() < 1.15
            sentence = judge.words(
                "{name} does not start with a standard deviation of 1", name=name
            )
            judge.that(bool(near), sentence)

    @pytest.mark.weight(2)
    def test_given_matrices_answer_as_in_v1(self, attempt, draw):
        """Given the same matrices, it should give what SelfAttention_v1 gives."""
        for sizes in ((D_IN, D_OUT), (3, 2)):
            self.judge_like_v1(attempt, draw, NUM_TOKENS, *sizes)

    @pytest.mark.conduct
    def test_gradients_reach_the_matrices(self, attempt, draw):
        """Gradients should flow to all three matrices and to the tokens."""
        self.judge_gradients(attempt, draw)

    @pytest.mark.conduct
    def test_the_matrices_of_seed_123_as_obtained(self, attempt, judge, printed):
        """Seed 123 should make the example's matrices, if made in the order query, key, value."""
        found = self.judge_matrices(attempt.instance(3, 2, seed=123, exact=True), (3, 2))
        x, atol = inputs_004(printed), FOUR_DECIMALS
        judge(x[1] @ found["W_query"], QUERY_004, what="the query of journey", atol=atol)
        given = attention(x, *found.values())
        judge(given, CONTEXT_004, what="what they give", atol=atol, axes=AXES)

    def test_double_precision_is_kept(self, attempt, draw):
        """Parameters and tokens in float64 should give context vectors in float64."""
        self.judge_like_v1(attempt, draw, NUM_TOKENS, D_IN, D_OUT, torch.float64)
