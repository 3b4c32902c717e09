"""Assignment 01 on inputs nobody has seen: other sizes, other values, other dtypes."""

import pytest

NUM_TOKENS, D_IN = 5, 7


@pytest.mark.exercise("dot_product")
class TestDotProduct:
    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_your_and_journey_as_printed")
    def test_unseen_vectors(self, attempt, draw):
        """Vectors of another size should give the right result, too."""
        attempt(draw.normal(D_IN), draw.normal(D_IN)).agrees()


@pytest.mark.exercise("attention_scores")
class TestAttentionScores:
    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_another_query_has_scores_of_its_own")
    def test_unseen_tokens(self, attempt, draw):
        """Other tokens should be right, too, with a query that is none of them."""
        attempt(draw.normal(D_IN), draw.normal(NUM_TOKENS, D_IN)).agrees(axes=("token",))

    @pytest.mark.deepens(
        "Shape `(num_tokens,)`: entry `i` is the dot product of the query and token `i`."
    )
    def test_as_many_tokens_as_features(self, attempt, draw):
        """Tokens should be rows, also where there are as many tokens as features."""
        attempt(draw.normal(4), draw.normal(4, 4)).agrees(axes=("token",))


@pytest.mark.exercise("normalize_scores")
class TestNormalizeScores:
    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_the_shares_as_printed")
    def test_unseen_scores(self, attempt, draw):
        """Another number of scores should give the right result, too."""
        attempt(draw.uniform(NUM_TOKENS, low=0.2, high=2.0)).agrees(axes=("token",))

    @pytest.mark.deepens("test_the_shares_sum_to_one")
    @pytest.mark.conduct
    def test_scaling_all_scores_changes_nothing(self, attempt, draw):
        """Three times the scores should have the same shares."""
        scores = draw.uniform(NUM_TOKENS, low=0.2, high=2.0)
        shares = attempt(scores).value
        attempt(3 * scores).gives(shares, axes=("token",))


@pytest.mark.exercise("softmax_naive")
class TestSoftmaxNaive:
    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_negative_scores_get_positive_weights")
    def test_unseen_scores(self, attempt, draw):
        """Another number of scores should give the right result, too."""
        attempt(draw.normal(NUM_TOKENS)).agrees(axes=("token",))


@pytest.mark.exercise("softmax_stable")
class TestSoftmaxStable:
    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_the_weights_of_journey_as_printed")
    def test_unseen_scores(self, attempt, draw):
        """Another number of scores should give the right result, too."""
        attempt(draw.normal(NUM_TOKENS)).agrees(axes=("token",))

    @pytest.mark.deepens("test_large_scores_do_not_overflow")
    def test_unseen_large_scores(self, attempt, draw):
        """Scores around 1000 should give the right weights."""
        scores = (draw.normal(NUM_TOKENS) * 4).round() / 4 + 1_000.0
        # Float32 is 6e-5 apart at 1000, which a right form with a logarithm carries along.
        attempt(scores).agrees(atol=1e-4, axes=("token",))

    @pytest.mark.deepens("test_scores_far_apart_do_not_overflow")
    def test_unseen_scores_far_apart(self, attempt, draw):
        """Scores that are hundreds apart should give the right weights."""
        attempt(draw.permutation(NUM_TOKENS) * 150.0 - 300.0).agrees(axes=("token",))


@pytest.mark.exercise("context_vector")
class TestContextVector:
    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_the_context_of_journey_as_printed")
    def test_unseen_tokens(self, attempt, draw):
        """Another number of tokens, of another size, should be right, too."""
        weights, inputs = draw.uniform(NUM_TOKENS), draw.normal(NUM_TOKENS, D_IN)
        attempt(weights, inputs).agrees(axes=("feature",))

    @pytest.mark.deepens("test_all_weight_on_one_token_gives_that_token")
    def test_as_many_tokens_as_features(self, attempt, draw):
        """Tokens should be rows, also where there are as many tokens as features."""
        attempt(draw.uniform(4), draw.normal(4, 4)).agrees(axes=("feature",))
