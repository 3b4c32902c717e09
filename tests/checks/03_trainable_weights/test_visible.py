"""What students see of assignment 03: the documents' tensors, and plain properties."""

import pytest
import torch

from grader.testing import N_
from grader.testing.mixins import KeepsArguments, KeepsDoublePrecision, KeepsNames

from ..helpers import FOUR_DECIMALS, JOURNEY, OfScores, inputs_004, judge_no_overflow
from .helpers import NORMAL, PARTS, UNIFORM, judge_each, three

D_K = 2
# All different, and unlike the documents' (6 tokens of 3) and the hidden checks'.
NUM_TOKENS, D_IN, D_OUT = 4, 5, 7

# 004 prints nothing; these figures were obtained by running its code: seed 123, `randn(3, 2)` for
# query, key and value, and [0.55, 0.87, 0.64] as the second token.
QUERY_004 = torch.tensor([-1.1489, -0.0090])
OWN_SCORE_004 = torch.tensor(0.1429)
SCORES_004 = torch.tensor([0.2157, 0.1429, 0.1728, -0.0466, 0.7489, -0.3717])
WEIGHTS_004 = torch.tensor([0.1704, 0.1618, 0.1653, 0.1416, 0.2484, 0.1125])
CONTEXT_004 = torch.tensor([0.2857, 0.4106])

# Operands printed to 4 decimals carry half a unit of their last digit into the result, which was
# rounded itself. What they are multiplied with, at most: a token, whose entries sum to 2.08;
ROUNDED_PROJECTION = 1.6e-4
# a query and a key, whose entries sum to 1.89 and 1.59;
ROUNDED_SCORES = 2.3e-4
# the softmax, which flattens differences of the scores (by 0.35 with such weights, over root 2);
ROUNDED_WEIGHTS = 6.6e-5
# a column of values, which sums to 4.54, and weights that sum to 1 for the values' own 1.04e-4.
ROUNDED_MIXTURE = 3.9e-4


RANDOM = "Random numbers are judged by how they spread: others that spread alike are right, too."


def projected_004(reference, printed):
    """The query of "journey" in 004, and the keys and the values of all tokens."""
    weights = reference.call("init_weights_normal", 3, 2, seed=123).value
    query, key, value = (weight.detach() for weight in weights)
    inputs = inputs_004(printed)
    return inputs[JOURNEY] @ query, inputs @ key, inputs @ value


def values_of(printed):
    """The values of the six tokens."""
    return printed("T45").tensor @ printed("T42").tensor


def spread_weights(attempt, spread):
    """Each of three weights of 2,000 numbers with its name, having judged how these are spread."""
    for weight, name in zip(three(attempt(40, 50, seed=1), 40, 50), PARTS, strict=True):
        judge, (mean, deviation, _) = attempt.judge, spread
        what = judge.words("the mean of the {name} weight", name=name)
        judge(weight.mean(), torch.tensor(mean[0]), atol=mean[1], what=what)
        what = judge.words("the standard deviation of the {name} weight", name=name)
        judge(weight.std(), torch.tensor(deviation[0]), atol=deviation[1], what=what)
        yield weight, name


class InitWeights(KeepsNames):
    """What both ways to make the weights hold to."""

    @pytest.mark.gate
    @pytest.mark.conduct
    def test_there_are_three_matrices(self, attempt):
        """The result should be three float32 matrices of shape `(d_in, d_out)`."""
        three(attempt(3, 2, seed=1), 3, 2)

    @pytest.mark.remark
    def test_the_three_come_as_a_tuple(self, attempt, judge):
        """The three should come back as a tuple."""
        value = attempt(3, 2, seed=1).value
        judge.that(isinstance(value, tuple), "It is a list, and the signature says a tuple")

    @pytest.mark.conduct
    def test_each_weight_is_a_parameter(self, attempt, judge):
        """Each weight should be an `nn.Parameter`."""
        weights = three(attempt(3, 2, seed=1), 3, 2)
        kinds = [isinstance(weight, torch.nn.Parameter) for weight in weights]
        judge(kinds, [True] * 3, what="whether it is an nn.Parameter")

    @pytest.mark.conduct
    def test_each_call_draws_anew(self, attempt, judge):
        """The three weights should differ, and another seed before the call should give others."""
        first, second = (three(attempt(3, 2, seed=seed), 3, 2) for seed in (1, 2))
        for one, other, name in zip(first, second, PARTS, strict=True):
            same = torch.equal(one, other)
            sentence = judge.words("The {name} weight was the same after another seed", name=name)
            judge.that(not same, sentence, about=other)
        pairs = [(i, j) for i, j in ((0, 1), (0, 2), (1, 2)) if torch.equal(first[i], first[j])]
        one, other = (PARTS[position] for position in (pairs[0] if pairs else (0, 0)))
        template = N_("The {one} weight and the {other} weight are the same")
        judge.that(not pairs, judge.words(template, one=one, other=other), about=pairs)


@pytest.mark.exercise("init_weights")
@pytest.mark.guessable(RANDOM)
class TestInitWeights(InitWeights):
    test_each_weight_is_a_parameter = InitWeights.test_each_weight_is_a_parameter

    @pytest.mark.conduct
    def test_no_weight_requires_gradients(self, attempt, judge):
        """The weights should require no gradients."""
        for weight, name in zip(three(attempt(3, 2, seed=1), 3, 2), PARTS, strict=True):
            sentence = judge.words("The {name} weight requires gradients", name=name)
            judge.that(not weight.requires_grad, sentence, about=weight.requires_grad)

    def test_the_weights_are_drawn_in_the_documents_order(self, attempt, judge, printed):
        """Seed 123 should give the example's weights, if drawn in the order query, key, value."""
        weights = three(attempt(3, 2, seed=123), 3, 2)
        judge_each(judge, weights, [printed(id_) for id_ in ("T40", "T41", "T42")])

    @pytest.mark.weight(2)
    @pytest.mark.conduct
    def test_the_numbers_spread_from_zero_to_one(self, attempt, judge):
        """The numbers should be spread evenly from 0 to 1."""
        for weight, name in spread_weights(attempt, UNIFORM):
            sentence = judge.words("The {name} weight has negative numbers", name=name)
            judge.that(bool((weight >= 0).all()), sentence)
            sentence = judge.words("The {name} weight has numbers above 1", name=name)
            judge.that(bool((weight <= 1).all()), sentence)


@pytest.mark.exercise("init_weights_normal")
@pytest.mark.guessable(RANDOM)
class TestInitWeightsNormal(InitWeights):
    test_each_weight_is_a_parameter = InitWeights.test_each_weight_is_a_parameter

    @pytest.mark.conduct
    def test_each_weight_requires_gradients(self, attempt, judge):
        """The weights should require gradients."""
        for weight, name in zip(three(attempt(3, 2, seed=1), 3, 2), PARTS, strict=True):
            sentence = judge.words("The {name} weight requires no gradients", name=name)
            judge.that(weight.requires_grad, sentence, about=weight.requires_grad)

    def test_the_weights_are_drawn_in_the_documents_order(self, attempt, judge, printed):
        """Seed 123 should give the example's query, if drawn in the order query, key, value."""
        w_query, w_key, w_value = three(attempt(3, 2, seed=123), 3, 2)
        inputs = inputs_004(printed)
        query, keys, values = inputs[JOURNEY] @ w_query, inputs @ w_key, inputs @ w_value
        judge(query, QUERY_004, atol=FOUR_DECIMALS, what="its query")
        judge(keys @ query, SCORES_004, atol=FOUR_DECIMALS, what="its scores", axes=("token",))
        weights = torch.softmax(keys @ query / D_K**0.5, dim=-1)
        judge(weights @ values, CONTEXT_004, atol=FOUR_DECIMALS, what="its context vector")

    @pytest.mark.weight(2)
    def test_the_numbers_are_normally_distributed(self, attempt, judge):
        """The numbers should have mean 0 and standard deviation 1."""
        for weight, name in spread_weights(attempt, NORMAL):
            # All of 2,000 normal numbers within 1.8: a probability of 1e-65.
            sentence = judge.words("The {name} weight has no number far from 0", name=name)
            judge.that(bool((weight.abs() > 1.8).any()), sentence)


@pytest.mark.exercise("project")
class TestProject(KeepsNames, KeepsDoublePrecision, KeepsArguments):
    axes, shapes = (N_("token"), N_("feature")), ((NUM_TOKENS, D_IN), (D_IN, D_OUT))

    @pytest.mark.gate
    @pytest.mark.conduct
    def test_one_token_gives_one_vector(self, attempt, printed):
        """One token times a square weight should be one float32 vector of the same size."""
        attempt(printed("T39"), torch.eye(3)).has_shape(3)

    def test_a_weight_of_zeros_gives_zeros(self, attempt, draw):
        """A weight of zeros should give zeros: no numbers but the given ones take part."""
        called = attempt(draw.normal(NUM_TOKENS, D_IN), torch.zeros(D_IN, D_OUT))
        called.gives(torch.zeros(NUM_TOKENS, D_OUT))

    def test_query_key_and_value_of_journey_as_printed(self, attempt, judge, printed):
        """The example's weights should give "journey" the example's query, key and value."""
        ids = (("T40", "T11"), ("T41", "T43"), ("T42", "T44"))
        for (weight, id_), name in zip(ids, PARTS, strict=True):
            what = judge.words("its {name}", name=name)
            called = attempt(printed("T39"), printed(weight))
            called.gives(printed(id_), atol=ROUNDED_PROJECTION, what=what)

    @pytest.mark.weight(2)
    def test_queries_and_keys_of_all_tokens_as_printed(self, attempt, judge, printed):
        """The example's weights should give all tokens the example's queries and keys."""
        for weight, id_, name in (("T40", "T46", N_("queries")), ("T41", "T47", N_("keys"))):
            atol, what = ROUNDED_PROJECTION, judge.words("the {name}", name=name)
            attempt(printed("T45"), printed(weight)).gives(printed(id_), atol=atol, what=what)

    def test_the_query_of_another_text_as_obtained(self, attempt, reference, printed):
        """Normally distributed weights and another second token should give the right query."""
        weight = reference.call("init_weights_normal", 3, 2, seed=123).value[0].detach()
        attempt(inputs_004(printed)[JOURNEY], weight).gives(QUERY_004, atol=FOUR_DECIMALS)

    def test_a_square_weight_is_taken_as_it_is(self, attempt):
        """A square weight should take tokens as they stand, a matrix of one as well: nothing is transposed."""
        weight = torch.tensor([[1.0, 2.0, 0.0], [0.0, 1.0, 3.0], [-1.0, 0.0, 1.0]])
        x = torch.tensor([[1.0, 2.0, 3.0], [0.0, 1.0, 0.0], [2.0, 0.0, -1.0]])
        expected = torch.tensor([[-2.0, 4.0, 9.0], [0.0, 1.0, 3.0], [3.0, 4.0, -1.0]])
        # A matrix of one token, too, gives a matrix.
        for count in (3, 1):
            attempt(x[:count], weight).gives(expected[:count])

    def test_gradients_reach_token_and_weight(self, attempt, draw):
        """Gradients should flow to the tokens and to the weight."""
        called = attempt(*self.inputs(draw), cotangent=draw.normal(NUM_TOKENS, D_OUT))
        called.gradients_agree(what=("the gradient for the tokens", "the gradient for the weight"))


@pytest.mark.exercise("query_scores")
class TestQueryScores(KeepsNames, KeepsDoublePrecision, KeepsArguments):
    axes, shapes = (N_("query"), N_("key")), ((D_OUT,), (NUM_TOKENS, D_OUT))

    @pytest.mark.gate
    @pytest.mark.conduct
    def test_there_is_one_score_for_each_key(self, attempt):
        """One query should have one float32 score for each key."""
        attempt(torch.tensor([1.0, 1.0]), torch.tensor([[1.0, 0.0], [2.0, 1.0]])).has_shape(2)

    def test_the_score_of_journey_with_its_own_key_as_printed(self, attempt, judge, printed):
        """The score of "journey" with its own key should be 1.8524."""
        (score,) = attempt(printed("T11"), printed("T43").tensor.unsqueeze(0)).has_shape(1)
        judge(score, printed("T12"), atol=ROUNDED_SCORES, what="the score with its own key")

    @pytest.mark.weight(2)
    def test_the_scores_of_journey_as_printed(self, attempt, printed):
        """The scores of "journey" with all keys should be the example's."""
        attempt(printed("T11"), printed("T47")).gives(printed("T13"), atol=ROUNDED_SCORES)

    def test_all_scores_as_printed(self, attempt, printed):
        """The scores of all queries with all keys should be the example's, a row for each query."""
        attempt(printed("T46"), printed("T47")).gives(printed("T48"), atol=ROUNDED_SCORES)

    def test_the_scores_of_another_text_as_obtained(self, attempt, reference, judge, printed):
        """Normally distributed weights and another second token should give the right result."""
        query, keys, _ = projected_004(reference, printed)
        called = attempt(query, keys)
        called.gives(SCORES_004, atol=FOUR_DECIMALS)
        own, what = called.value[JOURNEY], N_("the score with its own key")
        judge(own, OWN_SCORE_004, atol=FOUR_DECIMALS, what=what)

    def test_as_many_keys_as_features(self, attempt):
        """Keys should be rows, also where there are as many keys as features."""
        keys = torch.tensor([[1.0, 0.0], [2.0, 1.0]])
        attempt(torch.tensor([3.0, -1.0]), keys).gives(torch.tensor([3.0, 5.0]))

    def test_gradients_reach_query_and_keys(self, attempt, draw):
        """Gradients should flow to the query and to the keys."""
        called = attempt(*self.inputs(draw), cotangent=draw.normal(NUM_TOKENS))
        called.gradients_agree(what=("the gradient for the query", "the gradient for the keys"))


@pytest.mark.exercise("scaled_weights")
class TestScaledWeights(OfScores, KeepsDoublePrecision):
    axes = (N_("query"), N_("key"))

    def inputs(self, draw, dtype=torch.float32):
        """Scores, and the size of a key."""
        return draw.normal(NUM_TOKENS, NUM_TOKENS, dtype=dtype), D_OUT

    def example(self, printed):
        """The scores of "journey", and the size of a key."""
        return printed("T13"), D_K

    @pytest.mark.weight(2)
    def test_the_weights_of_journey_as_printed(self, attempt, printed):
        """The example's scores of "journey" should give the example's weights."""
        attempt(printed("T13"), D_K).gives(printed("T14"), atol=ROUNDED_WEIGHTS)

    @pytest.mark.weight(2)
    def test_all_weights_as_printed(self, attempt, printed):
        """The example's scores of all queries should give the example's weights."""
        attempt(printed("T48"), D_K).gives(printed("T49"), atol=ROUNDED_WEIGHTS)

    def test_each_row_of_weights_sums_to_one(self, attempt, judge, printed):
        """The weights of each query should sum to 1."""
        sums = attempt(printed("T48"), D_K).has_shape(6, 6).sum(dim=-1)
        judge(sums, torch.ones(6), what="the sum of each row", axes=("query",))

    def test_the_weights_of_another_text_as_obtained(self, attempt, reference, printed):
        """Normally distributed weights and another second token should give the right result."""
        query, keys, _ = projected_004(reference, printed)
        attempt(keys @ query, D_K).gives(WEIGHTS_004, atol=FOUR_DECIMALS)

    @pytest.mark.remark
    def test_large_scores_give_no_nan(self, attempt, judge):
        """Large scores should give no NaN."""
        scores = torch.tensor([[2.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
        called = [attempt(size * scores, D_K) for size in (1, 1000)]
        judge_no_overflow(judge, *(each.value for each in called))

    def test_larger_keys_are_scaled_more(self, attempt):
        """With keys of size 16, scores should be divided by 4 before the softmax."""
        scores = torch.tensor([0.0, 4.0, -4.0, 8.0, -8.0])
        expected = torch.tensor([0.0861, 0.2341, 0.0317, 0.6364, 0.0117])
        attempt(scores, 16).gives(expected, atol=FOUR_DECIMALS)

    def test_gradients_reach_the_scores(self, attempt, draw):
        """Gradients should flow to the scores."""
        called = attempt(*self.inputs(draw), cotangent=draw.normal(NUM_TOKENS, NUM_TOKENS))
        called.gradients_agree(what="the gradient for the scores")


@pytest.mark.exercise("weighted_values")
class TestWeightedValues(KeepsNames, KeepsArguments):
    axes = (N_("query"), N_("feature"))

    def inputs(self, draw, dtype=torch.float32):
        """Weights and values."""
        weights = draw.uniform(NUM_TOKENS, NUM_TOKENS).to(dtype)
        return weights, draw.normal(NUM_TOKENS, D_OUT, dtype=dtype)

    @pytest.mark.gate
    @pytest.mark.conduct
    def test_it_answers_a_vector_like_a_value(self, attempt, printed):
        """One query's weights should give one float32 vector of the size of a value."""
        attempt(printed("T14"), values_of(printed)).has_shape(2)

    @pytest.mark.weight(2)
    def test_the_context_of_journey_as_printed(self, attempt, printed):
        """The example's weights should give its context vector of "journey"."""
        attempt(printed("T14"), values_of(printed)).gives(printed("T15"), atol=ROUNDED_MIXTURE)

    @pytest.mark.weight(2)
    def test_all_context_vectors_as_printed(self, attempt, printed):
        """The example's weights of all queries should give its context vectors."""
        attempt(printed("T49"), values_of(printed)).gives(printed("T16"), atol=ROUNDED_MIXTURE)

    def test_the_context_of_another_text_as_obtained(self, attempt, reference, printed):
        """Normally distributed weights and another second token should give the right result."""
        query, keys, values = projected_004(reference, printed)
        weights = torch.softmax(keys @ query / D_K**0.5, dim=-1)
        attempt(weights, values).gives(CONTEXT_004, atol=FOUR_DECIMALS)

    def test_all_weight_on_one_value_gives_that_value(self, attempt):
        """A query with all its weight on one token should get that token's value."""
        weights = torch.tensor([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
        values = torch.tensor([[1.0, 2.0], [3.0, 5.0], [-4.0, 7.0]])
        # A matrix of one query, too, gives a matrix.
        for count in (3, 1):
            attempt(weights[:count], values).gives(values[[1, 2, 1]][:count])

    def test_weights_of_any_sum_are_taken_as_they_are(self, attempt, draw):
        """Weights that do not sum to 1 should be taken as they are, too."""
        weights = draw.uniform(NUM_TOKENS, NUM_TOKENS, low=0.1)
        attempt(weights, draw.normal(NUM_TOKENS, D_OUT)).agrees()

    def test_gradients_reach_weights_and_values(self, attempt, draw):
        """Gradients should flow to the weights and to the values."""
        called = attempt(*self.inputs(draw), cotangent=draw.normal(NUM_TOKENS, D_OUT))
        called.gradients_agree(what=("the gradient for the weights", "the gradient for the values"))
