"""Assignment 03 on inputs nobody has seen: other sizes, other values, other dtypes."""

import pytest
import torch

from grader.testing import N_

from .helpers import NORMAL, UNIFORM, judge_each, three

NUM_TOKENS, D_IN, D_OUT = 5, 7, 3


class InitWeights:
    """What both ways to make the weights hold to; `spread` is that of their numbers."""

    @pytest.mark.deepens("test_the_weights_are_drawn_in_the_documents_order")
    def test_other_sizes(self, attempt, judge, draw):
        """Matrices of another size should be drawn in the order query, key, value, too."""
        called = attempt(*self.sizes, seed=draw.seed())
        judge_each(judge, three(called, *self.sizes), called.expected)

    def judge_parameters(self, attempt, judge, draw, *, requires_grad):
        """Judge that each weight is a parameter that requires gradients, or requires none."""
        weights = three(attempt(D_IN, D_OUT, seed=draw.seed()), D_IN, D_OUT)
        found = [(isinstance(w, torch.nn.Parameter), w.requires_grad) for w in weights]
        what = N_("whether it is an nn.Parameter, and whether it requires gradients")
        judge(found, [(True, requires_grad)] * 3, what=what)

    def judge_numbers(self, attempt, judge, draw):
        """Judge how three weights of 2,000 numbers are spread, and how far one is from the next."""
        weights = three(attempt(50, 40, seed=draw.seed()), 50, 40)
        joined = torch.stack([weight.detach() for weight in weights])
        distances = (joined - joined.roll(1, dims=0)).abs().mean(dim=(1, 2))
        found = (joined.mean(dim=(1, 2)), joined.flatten(1).std(dim=1), distances)
        names = N_("the means"), N_("the standard deviations"), N_("the distances between weights")
        for value, (right, atol), what in zip(found, self.spread, names, strict=True):
            judge(value, torch.full((3,), right), atol=atol, what=what)


@pytest.mark.exercise("init_weights")
class TestInitWeights(InitWeights):
    sizes, spread = (D_IN, D_OUT), UNIFORM
    test_other_sizes = InitWeights.test_other_sizes

    @pytest.mark.deepens("test_no_weight_requires_gradients")
    @pytest.mark.conduct
    def test_each_weight_is_a_parameter_without_gradients(self, attempt, judge, draw):
        """Each weight should be an `nn.Parameter` that requires no gradients."""
        self.judge_parameters(attempt, judge, draw, requires_grad=False)

    @pytest.mark.deepens("test_the_numbers_spread_from_zero_to_one")
    def test_the_numbers_spread_from_zero_to_one(self, attempt, judge, draw):
        """The numbers should be spread evenly from 0 to 1, and differ from matrix to matrix."""
        self.judge_numbers(attempt, judge, draw)


@pytest.mark.exercise("init_weights_normal")
class TestInitWeightsNormal(InitWeights):
    # Up to 15 numbers, torch draws the same whether a matrix at a time or all in one.
    sizes, spread = (2, 1), NORMAL
    test_other_sizes = InitWeights.test_other_sizes

    @pytest.mark.deepens("test_each_weight_requires_gradients")
    @pytest.mark.conduct
    def test_each_weight_is_a_parameter_with_gradients(self, attempt, judge, draw):
        """Each weight should be an `nn.Parameter` that requires gradients."""
        self.judge_parameters(attempt, judge, draw, requires_grad=True)

    @pytest.mark.deepens("test_the_numbers_are_normally_distributed")
    def test_the_numbers_are_normally_distributed(self, attempt, judge, draw):
        """The numbers should have mean 0, standard deviation 1, and differ between matrices."""
        self.judge_numbers(attempt, judge, draw)


@pytest.mark.exercise("project")
class TestProject:
    @pytest.mark.deepens("test_one_token_gives_one_vector")
    def test_unseen_token(self, attempt, draw):
        """One token of another size should be right, too."""
        attempt(draw.normal(D_IN), draw.normal(D_IN, D_OUT)).agrees(axes=("feature",))

    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_queries_and_keys_of_all_tokens_as_printed")
    def test_unseen_tokens(self, attempt, draw):
        """Another number of tokens, of another size, should be right, too."""
        x, weight = draw.normal(NUM_TOKENS, D_IN), draw.normal(D_IN, D_OUT)
        for some in (x, x[:1]):
            attempt(some, weight).agrees(axes=("token", "feature"))

    @pytest.mark.deepens("test_a_square_weight_is_taken_as_it_is")
    def test_a_square_weight(self, attempt, draw):
        """With as many tokens as features and a square weight, nothing should be transposed."""
        attempt(draw.normal(4, 4), draw.normal(4, 4)).agrees(axes=("token", "feature"))


@pytest.mark.exercise("query_scores")
class TestQueryScores:
    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_the_scores_of_journey_as_printed")
    def test_unseen_query(self, attempt, draw):
        """One query should be right with another number of keys of another size, too."""
        attempt(draw.normal(D_OUT), draw.normal(NUM_TOKENS, D_OUT)).agrees(axes=("key",))

    @pytest.mark.deepens("test_all_scores_as_printed")
    def test_unseen_queries(self, attempt, draw):
        """Several queries should have a row for each query and a column for each key."""
        queries, keys = draw.normal(NUM_TOKENS, D_OUT), draw.normal(NUM_TOKENS, D_OUT)
        attempt(queries, keys).agrees(axes=("query", "key"))

    @pytest.mark.deepens("test_as_many_keys_as_features")
    def test_as_many_keys_as_features(self, attempt, draw):
        """Keys should be rows, also where there are as many keys as features."""
        attempt(draw.normal(4), draw.normal(4, 4)).agrees(axes=("key",))


@pytest.mark.exercise("scaled_weights")
class TestScaledWeights:
    @pytest.mark.deepens("test_the_weights_of_journey_as_printed")
    def test_unseen_scores_of_one_query(self, attempt, draw):
        """The scores of one query should be scaled right with keys of another size, too."""
        attempt(draw.normal(NUM_TOKENS), D_OUT).agrees(axes=("key",))

    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_larger_keys_are_scaled_more")
    def test_unseen_scores(self, attempt, draw):
        """The scores of all queries should be scaled right with keys of another size, too."""
        attempt(draw.normal(NUM_TOKENS, NUM_TOKENS), D_OUT).agrees(axes=("query", "key"))


@pytest.mark.exercise("weighted_values")
class TestWeightedValues:
    @pytest.mark.deepens("test_the_context_of_journey_as_printed")
    def test_unseen_weights_of_one_query(self, attempt, draw):
        """One query should be right with another number of values of another size, too."""
        attempt(draw.uniform(NUM_TOKENS), draw.normal(NUM_TOKENS, D_OUT)).agrees(axes=("feature",))

    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_all_context_vectors_as_printed")
    def test_unseen_weights(self, attempt, draw):
        """All queries should be right with another number of values of another size, too."""
        weights, values = draw.uniform(NUM_TOKENS, NUM_TOKENS), draw.normal(NUM_TOKENS, D_OUT)
        for some in (weights, weights[:1]):
            attempt(some, values).agrees(axes=("query", "feature"))

    @pytest.mark.deepens("test_all_weight_on_one_value_gives_that_value")
    def test_as_many_tokens_as_features(self, attempt, draw):
        """Values should be rows, also where there are as many tokens as features."""
        attempt(draw.uniform(4, 4), draw.normal(4, 4)).agrees(axes=("query", "feature"))
