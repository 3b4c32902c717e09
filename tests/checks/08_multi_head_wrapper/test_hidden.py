"""Assignment 08 on inputs nobody has seen: other sizes, other values, other dtypes."""

import pytest

from .helpers import ALIKE, SIZE, side_by_side

CONTEXT_LENGTH, D_IN = 5, 6
UNLIKE = (D_IN, 4, CONTEXT_LENGTH)


@pytest.mark.exercise("MultiHeadAttentionWrapper")
class TestMultiHeadAttentionWrapper:
    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_all_sizes_are_different")
    def test_unseen_texts(self, attempt, draw):
        """Texts in other sizes should give the results of the heads, side by side."""
        both = side_by_side(attempt, draw, *UNLIKE)
        both.judge_joined(draw.normal(2, CONTEXT_LENGTH, D_IN))

    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_the_heads_stand_side_by_side")
    def test_all_sizes_the_same(self, attempt, draw):
        """Axes should not be mixed up, also where all sizes are the same."""
        side_by_side(attempt, draw, count=SIZE).judge_joined(draw.normal(*ALIKE))

    @pytest.mark.deepens("test_the_heads_stand_side_by_side")
    def test_a_single_head(self, attempt, draw):
        """A single head should give what it gives without a wrapper."""
        side_by_side(attempt, draw, count=1).judge_joined(draw.normal(*ALIKE))

    @pytest.mark.deepens("test_the_heads_know_the_context_length")
    def test_calls_do_not_depend_on_earlier_ones(self, attempt, draw):
        """A call should give the same after calls with shorter and longer texts."""
        both = side_by_side(attempt, draw, *UNLIKE)
        for num_tokens in (3, 2, CONTEXT_LENGTH, 3, CONTEXT_LENGTH + 1):
            both.judge_joined(draw.normal(2, num_tokens, D_IN))

    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_every_head_learns")
    def test_gradients_reach_everything(self, attempt, draw):
        """Gradients should flow to the parameters of every head and to the tokens."""
        both = side_by_side(attempt, draw, *UNLIKE)
        both.judge_gradients(draw, draw.normal(2, CONTEXT_LENGTH, D_IN))

    @pytest.mark.deepens("test_every_head_learns")
    def test_gradients_where_all_sizes_are_the_same(self, attempt, draw):
        """Gradients should flow to every head, also where all sizes are the same."""
        side_by_side(attempt, draw).judge_gradients(draw, draw.normal(*ALIKE))

    @pytest.mark.deepens("test_with_qkv_bias_the_heads_have_biases")
    def test_with_qkv_bias_the_heads_have_biases(self, attempt, draw):
        """With `qkv_bias`, every head should have biases that count."""
        both = side_by_side(attempt, draw, qkv_bias=True)
        if both.heads:
            both.judge_joined(draw.normal(*ALIKE))

    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_the_heads_drop_weights_in_training")
    def test_the_heads_drop_weights_in_training(self, attempt, draw):
        """In training, the heads should drop with the probability that was given."""
        both = side_by_side(attempt, draw, dropout=0.6)
        both.judge_extremes(draw.normal(1, SIZE, SIZE), training=True)
