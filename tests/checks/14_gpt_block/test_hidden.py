"""Assignment 14 on inputs nobody has seen: other sizes, other numbers."""

import pytest

from ..helpers import OF_CONTEXT_VECTORS
from .helpers import (
    FEATURES,
    OF_BENDS,
    OF_GRADIENTS,
    OF_SCORES,
    OF_SUMS,
    block_parameters,
    drawn_state,
    given,
    gpt_parameters,
    judge_state,
    learned_beside_a_head,
    network_parameters,
    norm_parameters,
    scored,
    tokens,
)


@pytest.mark.exercise("LayerNorm")
class TestLayerNorm:
    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_the_result_for_given_parameters")
    def test_unseen_tokens(self, attempt, draw):
        """Other sizes should give the right result, too."""
        layer = given(attempt, norm_parameters(draw, 8), 8)
        for _text in range(2):
            layer(draw.normal(3, 4, 8)).agrees(axes=OF_CONTEXT_VECTORS)

    @pytest.mark.deepens("test_the_result_for_given_parameters")
    def test_as_many_tokens_as_features(self, attempt, draw):
        """Tokens and features should be told apart, also where there are as many of both."""
        layer = given(attempt, norm_parameters(draw, 5), 5)
        layer(draw.normal(5, 5, 5)).agrees(axes=OF_CONTEXT_VECTORS)

    @pytest.mark.deepens("test_eps_is_added_below_the_root")
    def test_another_small_variance(self, attempt, draw):
        """`eps` should be added to another small variance, too."""
        layer = given(attempt, norm_parameters(draw), FEATURES)
        layer(draw.normal(2, 3, FEATURES, std=0.006)).agrees(axes=OF_CONTEXT_VECTORS)


@pytest.mark.exercise("gelu")
class TestGelu:
    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_the_results_for_known_numbers")
    def test_unseen_numbers(self, attempt, draw):
        """Other numbers should give the right result, too."""
        attempt(draw.normal(4, 6, std=2.0)).agrees()

    @pytest.mark.deepens("test_the_results_for_known_numbers")
    def test_a_row_of_numbers(self, attempt, draw):
        """Numbers of any shape should give the right result."""
        attempt(draw.normal(20, std=1.5)).agrees()


@pytest.mark.exercise("FeedForward")
class TestFeedForward:
    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_what_the_network_makes_of_each_token")
    def test_unseen_tokens(self, attempt, draw):
        """Other sizes should give the right result, too."""
        layer = given(attempt, network_parameters(draw, 6), 6)
        layer(draw.normal(3, 4, 6)).agrees(axes=OF_CONTEXT_VECTORS, atol=OF_SUMS)

    @pytest.mark.deepens("test_what_the_network_makes_of_each_token")
    def test_a_single_token(self, attempt, draw):
        """A single token should give the right result, too."""
        layer = given(attempt, network_parameters(draw), FEATURES)
        layer(draw.normal(1, 1, FEATURES)).agrees(axes=OF_CONTEXT_VECTORS, atol=OF_SUMS)


@pytest.mark.exercise("TransformerBlock")
class TestTransformerBlock:
    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_the_result_for_given_parameters")
    def test_unseen_texts(self, attempt, draw):
        """Other sizes should give the right result, too."""
        block = given(attempt, block_parameters(draw, 8), 8, 6, 2)
        block(draw.normal(3, 6, 8), training=False).agrees(axes=OF_CONTEXT_VECTORS, atol=OF_BENDS)

    @pytest.mark.deepens("test_the_result_for_given_parameters")
    def test_as_many_tokens_as_heads(self, attempt, draw):
        """Tokens, heads and features should be told apart, also where there are as many."""
        block = given(attempt, block_parameters(draw, 4), 4, 4, 4)
        block(draw.normal(4, 4, 4), training=False).agrees(axes=OF_CONTEXT_VECTORS, atol=OF_BENDS)


@pytest.mark.exercise("GPT")
class TestGPT:
    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_the_scores_for_given_parameters")
    def test_unseen_texts(self, attempt, draw):
        """Other sizes should give the right scores, too."""
        self.judge_scores(attempt, draw, (13, 6, 8, 2, 3))

    @pytest.mark.deepens("test_the_scores_for_given_parameters")
    def test_a_single_block(self, attempt, draw):
        """A model of a single block should give the right scores and gradients, too."""
        model, called = self.judge_scores(
            attempt, draw, (9, 6, 8, 4, 1), cotangent=draw.normal(3, 6, 9)
        )
        names = learned_beside_a_head(model, ("wte.weight", "wpe.weight", "ln_f.weight"))
        called.parameter_gradients_agree(*names, atol=OF_GRADIENTS)

    def judge_scores(self, attempt, draw, sizes, **how):
        """Judge the scores of a model of these sizes; both come back."""
        model = given(attempt, gpt_parameters(draw, sizes), *sizes)
        called = scored(model, tokens(draw, 3, 6, sizes[0]), **how)
        called.agrees(axes=OF_SCORES, atol=OF_BENDS)
        return model, called


@pytest.mark.exercise("turn_layers")
class TestTurnLayers:
    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_the_square_matrix_is_turned_too")
    def test_unseen_attention(self, attempt, draw):
        """The attention of another state should be right, too."""
        judge_state(attempt, drawn_state(draw, 6, 2), ".attn.")

    @pytest.mark.deepens("test_the_matrices_of_the_network_are_turned")
    def test_unseen_rest(self, attempt, draw):
        """What is outside the attention should be right in another state, too."""
        judge_state(attempt, drawn_state(draw, 6, 1), "mlp", "ln_", "wte", "wpe")

    @pytest.mark.deepens("test_each_block_has_its_own")
    def test_more_than_ten_blocks(self, attempt, draw):
        """Each of twelve blocks should get its own tensors."""
        judge_state(attempt, drawn_state(draw, 2, 12), "ln_1.weight", "c_fc.weight")


@pytest.mark.exercise("from_gpt2")
class TestFromGPT2:
    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_queries_keys_and_values_are_cut_from_c_attn")
    def test_unseen_attention(self, attempt, draw):
        """The attention of another state should be right, too."""
        judge_state(attempt, drawn_state(draw, 6, 2), ".attn.")

    @pytest.mark.deepens("test_each_block_has_its_own")
    def test_more_than_ten_blocks(self, attempt, draw):
        """Each of twelve blocks should get its own tensors."""
        judge_state(attempt, drawn_state(draw, 2, 12), "W_query", "W_key.weight")
