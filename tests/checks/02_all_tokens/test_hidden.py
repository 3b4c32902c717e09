"""Assignment 02 on inputs nobody has seen: other sizes, other values, other dtypes."""

import pytest

NUM_TOKENS, D_IN = 5, 7


@pytest.mark.exercise("attention_scores_loop")
class TestAttentionScoresLoop:
    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_two_tokens_have_four_scores")
    def test_unseen_tokens(self, attempt, draw):
        """Another number of tokens, of another size, should be right, too."""
        attempt(draw.normal(NUM_TOKENS, D_IN)).agrees(axes=("query", "token"))

    @pytest.mark.deepens("test_all_scores_as_printed")
    def test_as_many_tokens_as_features(self, attempt, draw):
        """Tokens should be rows, also where there are as many tokens as features."""
        attempt(draw.normal(4, 4)).agrees(axes=("query", "token"))


@pytest.mark.exercise("attention_scores_matmul")
class TestAttentionScoresMatmul:
    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_all_scores_as_printed")
    def test_unseen_tokens(self, attempt, draw):
        """Another number of tokens, of another size, should be right, too."""
        attempt(draw.normal(NUM_TOKENS, D_IN)).agrees(axes=("query", "token"))

    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_all_scores_as_printed")
    def test_as_many_tokens_as_features(self, attempt, draw):
        """Tokens should be rows, also where there are as many tokens as features."""
        attempt(draw.normal(4, 4)).agrees(axes=("query", "token"))


@pytest.mark.exercise("attention_weights")
class TestAttentionWeights:
    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_scores_that_are_not_symmetric")
    def test_unseen_scores(self, attempt, draw):
        """Other scores, which are not symmetric, should be right, too."""
        attempt(draw.normal(NUM_TOKENS, NUM_TOKENS)).agrees(axes=("query", "token"))

    @pytest.mark.deepens("test_each_row_of_weights_sums_to_one")
    def test_negative_scores_give_positive_weights(self, attempt, draw):
        """Scores that are all negative should give positive weights."""
        scores = draw.uniform(NUM_TOKENS, NUM_TOKENS, low=-3.0, high=-0.5)
        attempt(scores).agrees(axes=("query", "token"))


@pytest.mark.exercise("context_vectors")
class TestContextVectors:
    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_all_context_vectors_as_printed")
    def test_unseen_tokens(self, attempt, draw):
        """Other tokens should be right, too, with weights that are not symmetric."""
        weights, inputs = draw.uniform(NUM_TOKENS, NUM_TOKENS), draw.normal(NUM_TOKENS, D_IN)
        for tokens in (NUM_TOKENS, 1):
            some = weights[:tokens, :tokens], inputs[:tokens]
            attempt(*some).agrees(axes=("query", "feature"))

    @pytest.mark.deepens("test_all_weight_on_one_token_gives_that_token")
    def test_as_many_tokens_as_features(self, attempt, draw):
        """Tokens should be rows, also where there are as many tokens as features."""
        attempt(draw.uniform(4, 4), draw.normal(4, 4)).agrees(axes=("query", "feature"))
