"""Assignment 03 on inputs nobody has seen: other sizes, other values, other dtypes."""

import pytest
import torch

from grader.testing import N_, describe

NUM_TOKENS, D_IN, D_OUT = 5, 7, 3
PARTS = (N_("query"), N_("key"), N_("value"))


def three(judge, value, shape):
    """Judge that a value is three weight matrices of this shape, and return them."""
    is_three = isinstance(value, list | tuple) and len(value) == 3
    sentence = judge.words(
        "Expected three weights as a tuple, received {value}", value=describe(value)
    )
    judge.that(is_three, sentence)
    for weight in value:
        judge.shape(weight, shape)
    return value


@pytest.mark.exercise("init_weights")
class TestInitWeights:
    @pytest.mark.deepens("test_the_weights_are_drawn_in_the_documents_order")
    def test_other_sizes(self, student, reference, judge, draw):
        """Matrices of another size should be drawn in the order query, key, value, too."""
        seed = draw.seed()
        expected = reference.call("init_weights", D_IN, D_OUT, seed=seed).value
        weights = three(judge, student.call("init_weights", D_IN, D_OUT, seed=seed).value, (7, 3))
        for weight, right, name in zip(weights, expected, PARTS, strict=True):
            judge(
                weight,
                right,
                what=judge.words("the {name} weight", name=name),
                axes=("row", "column"),
            )

    @pytest.mark.deepens("test_no_weight_requires_gradients")
    def test_each_weight_is_a_parameter_without_gradients(self, student, judge, draw):
        """Each weight should be an `nn.Parameter` that requires no gradients."""
        answer = student.call("init_weights", D_IN, D_OUT, seed=draw.seed())
        weights = three(judge, answer.value, (7, 3))
        found = [(isinstance(w, torch.nn.Parameter), w.requires_grad) for w in weights]
        what = N_("whether it is an nn.Parameter, and whether it requires gradients")
        judge(found, [(True, False)] * 3, what=what)

    @pytest.mark.deepens("test_the_numbers_spread_from_zero_to_one")
    def test_the_numbers_spread_from_zero_to_one(self, student, judge, draw):
        """The numbers should be spread evenly from 0 to 1, and differ from matrix to matrix."""
        weights = three(
            judge, student.call("init_weights", 50, 40, seed=draw.seed()).value, (50, 40)
        )
        joined = torch.stack([weight.detach() for weight in weights])
        # Over 6 standard errors: 0.0065 for the mean of 2,000 numbers, 0.003 for the deviation.
        judge(joined.mean(dim=(1, 2)), torch.full((3,), 0.5), atol=0.05, what="the means")
        deviations = joined.flatten(1).std(dim=1)
        judge(deviations, torch.full((3,), 12**-0.5), atol=0.03, what="the standard deviations")
        # The mean distance of two independent uniform numbers is a third.
        distances = (joined - joined.roll(1, dims=0)).abs().mean(dim=(1, 2))
        judge(distances, torch.full((3,), 1 / 3), atol=0.05, what="the distances between weights")


@pytest.mark.exercise("init_weights_normal")
class TestInitWeightsNormal:
    @pytest.mark.deepens("test_the_weights_are_drawn_in_the_documents_order")
    def test_other_sizes(self, student, reference, judge, draw):
        """Matrices of another size should be drawn in the order query, key, value, too."""
        seed = draw.seed()
        # Up to 15 numbers, torch draws the same whether a matrix at a time or all in one.
        expected = reference.call("init_weights_normal", 2, 1, seed=seed).value
        weights = three(judge, student.call("init_weights_normal", 2, 1, seed=seed).value, (2, 1))
        for weight, right, name in zip(weights, expected, PARTS, strict=True):
            judge(
                weight,
                right,
                what=judge.words("the {name} weight", name=name),
                axes=("row", "column"),
            )

    @pytest.mark.deepens("test_each_weight_requires_gradients")
    def test_each_weight_is_a_parameter_with_gradients(self, student, judge, draw):
        """Each weight should be an `nn.Parameter` that requires gradients."""
        answer = student.call("init_weights_normal", D_IN, D_OUT, seed=draw.seed())
        weights = three(judge, answer.value, (7, 3))
        found = [(isinstance(w, torch.nn.Parameter), w.requires_grad) for w in weights]
        what = N_("whether it is an nn.Parameter, and whether it requires gradients")
        judge(found, [(True, True)] * 3, what=what)

    @pytest.mark.deepens("test_the_numbers_are_normally_distributed")
    def test_the_numbers_are_normally_distributed(self, student, judge, draw):
        """The numbers should have mean 0, standard deviation 1, and differ between matrices."""
        weights = three(
            judge, student.call("init_weights_normal", 50, 40, seed=draw.seed()).value, (50, 40)
        )
        joined = torch.stack([weight.detach() for weight in weights])
        # Over 6 standard errors: 0.0224 for the mean of 2,000 numbers, 0.016 for the deviation.
        judge(joined.mean(dim=(1, 2)), torch.zeros(3), atol=0.15, what="the means")
        deviations = joined.flatten(1).std(dim=1)
        judge(deviations, torch.ones(3), atol=0.1, what="the standard deviations")
        # The mean distance of two independent normal numbers is 2 over the root of pi.
        distances = (joined - joined.roll(1, dims=0)).abs().mean(dim=(1, 2))
        expected = torch.full((3,), 2 / torch.pi**0.5)
        judge(distances, expected, atol=0.15, what="the distances between weights")


@pytest.mark.exercise("project")
class TestProject:
    @pytest.mark.deepens("test_one_token_gives_one_vector")
    def test_unseen_token(self, student, reference, judge, draw):
        """One token of another size should be right, too."""
        x, weight = draw.normal(D_IN), draw.normal(D_IN, D_OUT)
        expected = reference.call("project", x, weight).value
        judge(student.call("project", x, weight).value, expected, axes=("feature",))

    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_queries_and_keys_of_all_tokens_as_printed")
    def test_unseen_tokens(self, student, reference, judge, draw):
        """Another number of tokens, of another size, should be right, too."""
        x, weight = draw.normal(NUM_TOKENS, D_IN), draw.normal(D_IN, D_OUT)
        for some in (x, x[:1]):
            expected = reference.call("project", some, weight).value
            judge(student.call("project", some, weight).value, expected, axes=("token", "feature"))

    @pytest.mark.deepens("test_a_square_weight_is_taken_as_it_is")
    def test_a_square_weight(self, student, reference, judge, draw):
        """With as many tokens as features and a square weight, nothing should be transposed."""
        x, weight = draw.normal(4, 4), draw.normal(4, 4)
        expected = reference.call("project", x, weight).value
        judge(student.call("project", x, weight).value, expected, axes=("token", "feature"))


@pytest.mark.exercise("query_scores")
class TestQueryScores:
    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_the_scores_of_journey_as_printed")
    def test_unseen_query(self, student, reference, judge, draw):
        """One query should be right with another number of keys of another size, too."""
        query, keys = draw.normal(D_OUT), draw.normal(NUM_TOKENS, D_OUT)
        expected = reference.call("query_scores", query, keys).value
        judge(student.call("query_scores", query, keys).value, expected, axes=("key",))

    @pytest.mark.deepens("test_all_scores_as_printed")
    def test_unseen_queries(self, student, reference, judge, draw):
        """Several queries should have a row for each query and a column for each key."""
        queries, keys = draw.normal(NUM_TOKENS, D_OUT), draw.normal(NUM_TOKENS, D_OUT)
        expected = reference.call("query_scores", queries, keys).value
        judge(student.call("query_scores", queries, keys).value, expected, axes=("query", "key"))

    @pytest.mark.deepens("test_as_many_keys_as_features")
    def test_as_many_keys_as_features(self, student, reference, judge, draw):
        """Keys should be rows, also where there are as many keys as features."""
        query, keys = draw.normal(4), draw.normal(4, 4)
        expected = reference.call("query_scores", query, keys).value
        judge(student.call("query_scores", query, keys).value, expected, axes=("key",))


@pytest.mark.exercise("scaled_weights")
class TestScaledWeights:
    @pytest.mark.deepens("test_the_weights_of_journey_as_printed")
    def test_unseen_scores_of_one_query(self, student, reference, judge, draw):
        """The scores of one query should be scaled right with keys of another size, too."""
        scores = draw.normal(NUM_TOKENS)
        expected = reference.call("scaled_weights", scores, D_OUT).value
        judge(student.call("scaled_weights", scores, D_OUT).value, expected, axes=("key",))

    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_larger_keys_are_scaled_more")
    def test_unseen_scores(self, student, reference, judge, draw):
        """The scores of all queries should be scaled right with keys of another size, too."""
        scores = draw.normal(NUM_TOKENS, NUM_TOKENS)
        expected = reference.call("scaled_weights", scores, D_OUT).value
        value = student.call("scaled_weights", scores, D_OUT).value
        judge(value, expected, axes=("query", "key"))


@pytest.mark.exercise("weighted_values")
class TestWeightedValues:
    @pytest.mark.deepens("test_the_context_of_journey_as_printed")
    def test_unseen_weights_of_one_query(self, student, reference, judge, draw):
        """One query should be right with another number of values of another size, too."""
        weights, values = draw.uniform(NUM_TOKENS), draw.normal(NUM_TOKENS, D_OUT)
        expected = reference.call("weighted_values", weights, values).value
        judge(student.call("weighted_values", weights, values).value, expected, axes=("feature",))

    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_all_context_vectors_as_printed")
    def test_unseen_weights(self, student, reference, judge, draw):
        """All queries should be right with another number of values of another size, too."""
        weights, values = draw.uniform(NUM_TOKENS, NUM_TOKENS), draw.normal(NUM_TOKENS, D_OUT)
        for some in (weights, weights[:1]):
            expected = reference.call("weighted_values", some, values).value
            value = student.call("weighted_values", some, values).value
            judge(value, expected, axes=("query", "feature"))

    @pytest.mark.deepens("test_all_weight_on_one_value_gives_that_value")
    def test_as_many_tokens_as_features(self, student, reference, judge, draw):
        """Values should be rows, also where there are as many tokens as features."""
        weights, values = draw.uniform(4, 4), draw.normal(4, 4)
        expected = reference.call("weighted_values", weights, values).value
        value = student.call("weighted_values", weights, values).value
        judge(value, expected, axes=("query", "feature"))
