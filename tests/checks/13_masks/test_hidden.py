"""Assignment 13 on inputs nobody has seen: other sizes, other lengths, other masks."""

import pytest
import torch

from .helpers import (
    HALF,
    OF_VECTORS,
    OF_WEIGHTS,
    drawn,
    judge_finite_gradients,
    made,
    padding,
    pattern,
)


@pytest.mark.exercise("padding_mask")
class TestPaddingMask:
    axes = OF_WEIGHTS

    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_tokens_are_true_and_padding_is_false")
    def test_other_lengths(self, attempt, draw):
        """Other lengths, of more texts, should give the right mask, too."""
        attempt(torch.tensor([draw.whole(1, 6) for _ in range(4)]), 7).agrees(what="the mask")

    @pytest.mark.deepens("test_tokens_are_true_and_padding_is_false")
    def test_as_many_texts_as_places(self, attempt, draw):
        """As many texts as places should not be mixed up with them."""
        attempt(1 + draw.permutation(5), 5).agrees(what="the mask")


@pytest.mark.exercise("causal_mask")
class TestCausalMask:
    axes = OF_WEIGHTS[1:]

    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_fewer_queries_than_keys")
    def test_other_numbers(self, attempt, draw):
        """Other numbers of queries and keys should give the right mask, too."""
        num_queries = draw.whole(3, 5)
        attempt(num_queries, num_queries + draw.whole(2, 4)).agrees(what="the mask")

    @pytest.mark.deepens("test_as_many_queries_as_keys")
    def test_another_square(self, attempt, draw):
        """Another number of tokens, all of which ask, should be right, too."""
        num_tokens = draw.whole(7, 9)
        attempt(num_tokens, num_tokens).agrees(what="the mask")


@pytest.mark.exercise("combine_masks")
class TestCombineMasks:
    axes = OF_WEIGHTS

    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_neither_padding_nor_the_future")
    def test_other_masks(self, attempt, draw):
        """Other lengths and more queries should give the right mask, too."""
        lengths = [draw.whole(1, 7) for _ in range(4)]
        causal = torch.ones(4, 7, dtype=torch.bool).tril(3)
        attempt(padding(*lengths, num_tokens=7), causal).agrees(what="the mask")


@pytest.mark.exercise("masked_softmax")
class TestMaskedSoftmax:
    axes = OF_WEIGHTS

    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_hidden_keys_have_no_weight")
    def test_unseen_scores(self, attempt, draw):
        """Other scores and another mask should give the right weights, too."""
        attempt(draw.normal(3, 4, 6, std=2.0), pattern(draw, 3, 4, 6)).agrees()

    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_a_row_with_nothing_to_see_has_zeros")
    def test_rows_with_nothing_to_see(self, attempt, draw):
        """Rows with nothing to see should have zeros, whichever they are."""
        mask = pattern(draw, 3, 4, 6)
        mask[draw.whole(0, 2), draw.whole(0, 3)] = False
        attempt(draw.normal(3, 4, 6), mask).agrees()

    @pytest.mark.deepens("test_a_mask_for_all_queries_of_a_text")
    def test_padded_texts(self, attempt, draw):
        """Padded texts should have the weights of their tokens alone."""
        lengths = [draw.whole(1, 5) for _ in range(3)]
        attempt(draw.normal(3, 4, 6), padding(*lengths, num_tokens=6)).agrees()

    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_hidden_scores_may_be_large")
    def test_large_hidden_scores(self, attempt, draw):
        """Large scores should have no weight where they are hidden."""
        scores, mask = draw.normal(3, 4, 6), pattern(draw, 3, 4, 6)
        attempt(torch.where(mask, scores - 2e9, 3e10), mask).agrees()

    @pytest.mark.deepens("test_half_precision_is_kept")
    def test_half_precision_is_kept(self, attempt, draw):
        """Scores in float16 should give weights in float16."""
        attempt(draw.normal(3, 4, 6).half(), pattern(draw, 3, 4, 6)).agrees(atol=HALF)

    @pytest.mark.deepens("test_gradients_are_right_and_finite")
    def test_gradients(self, attempt, draw):
        """Gradients should be right with rows in which nothing is to be seen."""
        mask = pattern(draw, 3, 4, 6)
        mask[draw.whole(0, 2), draw.whole(0, 3)] = False
        called = attempt(draw.normal(3, 4, 6), mask, cotangent=draw.normal(3, 4, 6))
        called.gradients_agree(what="the gradient for the scores", axes=self.axes)


@pytest.mark.exercise("CrossAttention")
class TestCrossAttention:
    axes = OF_VECTORS

    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_two_texts_of_other_sizes")
    def test_unseen_texts(self, attempt, draw):
        """Texts of other sizes should give the right vectors, too."""
        layer = made(attempt, drawn(draw, 6, 4, 7))
        layer(draw.normal(3, 2, 6), draw.normal(3, 5, 4), pattern(draw, 3, 2, 5)).agrees()

    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_all_sizes_the_same")
    def test_all_sizes_the_same(self, attempt, draw):
        """Texts and axes should not be mixed up where all sizes are equal."""
        layer = made(attempt, drawn(draw, 5, 5, 5))
        texts = [draw.normal(5, 5, 5) for _ in range(2)]
        layer(*texts, pattern(draw, 5, 5, 5)).agrees()
        layer(*texts, padding(*(1 + draw.permutation(5)).tolist(), num_tokens=5)).agrees()

    @pytest.mark.deepens("test_a_token_that_may_use_nothing_gets_zeros")
    def test_texts_with_nothing_to_see(self, attempt, draw):
        """A token that may use nothing should get zeros, and finite gradients."""
        layer, mask = made(attempt, drawn(draw, 6, 4, 7)), pattern(draw, 3, 2, 5)
        mask[draw.whole(0, 2), draw.whole(0, 1)] = False
        texts = draw.normal(3, 2, 6), draw.normal(3, 5, 4)
        called = layer(*texts, mask, cotangent=draw.normal(3, 2, 7))
        called.agrees()
        judge_finite_gradients(called)

    @pytest.mark.deepens("test_two_texts_of_other_sizes")
    def test_ready_made_attention_gives_the_same(self, attempt, judge, draw):
        """The vectors should be those of torch's own attention."""
        weights = drawn(draw, 3, 4, 5)
        x, context, mask = draw.normal(2, 3, 3), draw.normal(2, 6, 4), pattern(draw, 2, 3, 6)
        query, key, value = weights.values()
        expected = torch.nn.functional.scaled_dot_product_attention(
            x @ query.T, context @ key.T, context @ value.T, attn_mask=mask
        )
        made(attempt, weights)(x, context, mask).gives(expected)


@pytest.mark.exercise("ready_made_attention")
class TestReadyMadeAttention:
    axes = OF_VECTORS

    def asked(self, draw, *sizes):
        """Queries, keys and values: texts, queries, keys, and the sizes of keys and values."""
        texts, num_queries, num_keys, d_k, d_v = sizes
        shapes = ((num_queries, d_k), (num_keys, d_k), (num_keys, d_v))
        return [draw.normal(texts, *shape) for shape in shapes]

    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_it_mixes_the_values_that_may_be_used")
    def test_unseen_texts(self, attempt, draw):
        """Other sizes should give the right vectors, too."""
        attempt(*self.asked(draw, 3, 4, 5, 7, 2), pattern(draw, 3, 4, 5)).agrees()

    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_all_sizes_the_same")
    def test_all_sizes_the_same(self, attempt, draw):
        """Arguments should not be mixed up where all sizes are equal."""
        attempt(*self.asked(draw, 5, 5, 5, 5, 5), pattern(draw, 5, 5, 5)).agrees()

    @pytest.mark.deepens("test_the_last_tokens_of_a_text")
    def test_the_last_tokens(self, attempt, draw):
        """The last queries should see what came before them."""
        mask = torch.ones(3, 7, dtype=torch.bool).tril(4)
        attempt(*self.asked(draw, 2, 3, 7, 4, 4), mask).agrees()
