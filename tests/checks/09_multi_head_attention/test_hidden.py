"""Assignment 09 on inputs nobody has seen: other sizes, other values, other dtypes, gradients."""

import pytest
import torch

from ..helpers import OF_CONTEXT_VECTORS, judge_counts
from .helpers import Layers


@pytest.mark.exercise("split_heads")
class TestSplitHeads:
    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_each_head_gets_its_piece_of_every_token")
    def test_unseen_tokens(self, attempt, draw):
        """Other sizes should give the right result, too."""
        attempt(draw.normal(3, 5, 8), 4).agrees()

    @pytest.mark.deepens("test_each_head_gets_its_piece_of_every_token")
    def test_as_many_tokens_as_heads(self, attempt, draw):
        """Heads and tokens should be told apart, also where there are as many of both."""
        attempt(draw.normal(2, 3, 9), 3).agrees()


@pytest.mark.exercise("head_scores")
class TestHeadScores:
    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_queries_are_rows_and_keys_are_columns")
    def test_unseen_queries_and_keys(self, attempt, draw):
        """Other sizes should give the right result, too."""
        attempt(draw.normal(2, 3, 5, 4), draw.normal(2, 3, 5, 4)).agrees()

    @pytest.mark.deepens("test_queries_are_rows_and_keys_are_columns")
    def test_all_sizes_the_same(self, attempt, draw):
        """The axes should be told apart, also where all sizes are the same."""
        attempt(draw.normal(3, 3, 3, 3), draw.normal(3, 3, 3, 3)).agrees()


@pytest.mark.exercise("merge_heads")
class TestMergeHeads:
    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_each_token_gets_its_pieces_side_by_side")
    def test_unseen_heads(self, attempt, draw):
        """Other sizes should give the right result, too."""
        attempt(draw.normal(3, 4, 5, 2)).agrees()

    @pytest.mark.deepens("test_each_token_gets_its_pieces_side_by_side")
    def test_as_many_tokens_as_heads(self, attempt, draw):
        """Heads and tokens should be told apart, also where there are as many of both."""
        attempt(draw.normal(2, 3, 3, 3)).agrees()


@pytest.mark.exercise("MultiHeadAttention")
class TestMultiHeadAttention(Layers):
    def judge_texts(self, attempt, draw, batch_size, num_tokens):
        """Judge the context vectors of given parameters."""
        x = draw.normal(batch_size, num_tokens, self.d_in)
        called = self.given(attempt, self.drawn(draw))(x, training=False)
        called.agrees(axes=OF_CONTEXT_VECTORS)

    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_the_context_vectors_for_given_parameters")
    def test_unseen_texts(self, attempt, draw):
        """Other parameters and texts should give the right result, too."""
        self.judge_texts(attempt, draw, 2, 5)

    @pytest.mark.deepens("test_the_context_vectors_for_given_parameters")
    def test_texts_of_full_length(self, attempt, draw):
        """Texts as long as `context_length` should give the right result, too."""
        layer = self.square(attempt, self.drawn(draw, self.d_out))
        called = layer(draw.normal(3, self.context_length, self.d_out), training=False)
        called.agrees(axes=OF_CONTEXT_VECTORS)

    @pytest.mark.deepens("test_the_context_vectors_for_given_parameters")
    def test_as_many_tokens_as_heads(self, attempt, draw):
        """Heads and tokens should be told apart, also where there are as many of both."""
        self.judge_texts(attempt, draw, self.num_heads, self.num_heads)

    @pytest.mark.deepens("test_dropout_drops_weights_and_scales_the_rest")
    def test_dropout_follows_its_probability(self, attempt, judge):
        """With dropout 0.2, each call should drop a fifth anew, and scale the rest by 1 / 0.8."""
        # Scores are all 0 and values all 1: each output counts the kept weights of its row.
        values = {
            "W_query.weight": torch.zeros(2, 1),
            "W_key.weight": torch.zeros(2, 1),
            "W_value.weight": torch.ones(2, 1),
            "out_proj.weight": torch.eye(2),
            "out_proj.bias": torch.zeros(2),
        }
        layer, texts = self.given(attempt, values, 1, 2, 7, 2, dropout=0.2), torch.ones(300, 7, 1)
        called = [layer(texts, training=True, seed=seed) for seed in (1, 2)]
        first, second = (each.has_shape(300, 7, 2) for each in called)
        lengths = torch.arange(1.0, 8.0).reshape(1, 7, 1)
        counts = first.detach() * lengths * 0.8
        is_counted = torch.allclose(counts, counts.round(), rtol=0, atol=1e-3)
        still = layer(texts[:1], training=False)
        expected = still.expected
        if not is_counted and still.value.isfinite().all():
            # Of what counts no weights in eval mode, nothing is known in training mode.
            still.gives(expected, what="what shows the weights, in eval mode", atol=1e-4)
        judge.that(
            is_counted,
            "What comes back is no sum of the weights that a token has for itself and those before it, "
            "each dropped or scaled by 1 / 0.8",
        )
        # 16,800 weights: the share that is kept has a standard deviation of 0.003.
        share = float(counts.sum() / (300 * 2 * lengths.sum()))
        judge.that(abs(share - 0.8) < 0.02, "The share that is kept is not about 0.8")
        judge_counts(judge, counts)
        judge.that(not torch.equal(first, second), "In training, two calls gave the same result")

    @pytest.mark.deepens("test_dropout_drops_weights_and_scales_the_rest")
    @pytest.mark.conduct
    def test_a_new_layer_is_in_training_mode(self, attempt, judge, draw):
        """A new layer should be in training mode, with all its parts."""
        layer, texts = self.make(attempt, 1, 2, 7, 2, dropout=0.5), draw.normal(2, 7, 1)
        called = [layer(texts, training=training, seed=1) for training in (None, True, False)]
        fresh, trained, still = (each.has_shape(2, 7, 2) for each in called)
        is_dropping = not torch.equal(fresh, still) or torch.equal(trained, still)
        judge.that(is_dropping, "A new layer drops nothing before `train()` is called")
