"""Assignment 05 on inputs nobody has seen: other sizes, other values, other dtypes."""

import pytest
import torch

from ..helpers import future
from .helpers import figures

NUM_TOKENS, D_K = 5, 7


@pytest.mark.exercise("lower_triangular_mask")
class TestLowerTriangularMask:
    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_the_mask_for_three_tokens")
    def test_another_number_of_tokens(self, attempt, judge, draw):
        """The mask should fit the number of tokens."""
        num_tokens = draw.whole(7, 11)
        called = attempt(num_tokens)
        found = figures(called, num_tokens)
        judge(found, called.expected, what="the mask", axes=("row", "column"))

    @pytest.mark.deepens("test_the_mask_for_three_tokens")
    @pytest.mark.conduct
    def test_a_single_token(self, attempt, judge):
        """A single token should be allowed to use itself."""
        judge(figures(attempt(1), 1), torch.ones(1, 1), what="the mask")


@pytest.mark.exercise("mask_weights")
class TestMaskWeights:
    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_the_masked_weights_as_printed")
    def test_unseen_weights(self, attempt, draw):
        """Another number of tokens should give the right result, too."""
        weights = draw.uniform(NUM_TOKENS, NUM_TOKENS, low=0.1)
        attempt(weights, 1 - future(NUM_TOKENS)).agrees(axes=("query", "key"))

    @pytest.mark.deepens(
        "shape `(num_tokens, num_tokens)`, ones where a weight stays, zeros where it goes."
    )
    def test_a_mask_of_any_pattern(self, attempt, draw):
        """The mask should decide what stays, also where it is no triangle."""
        weights = draw.uniform(NUM_TOKENS, NUM_TOKENS, low=0.1)
        mask = (draw.permutation(NUM_TOKENS)[:, None] != torch.arange(NUM_TOKENS)).float()
        attempt(weights, mask).agrees(axes=("query", "key"))


@pytest.mark.exercise("renormalize_rows")
class TestRenormalizeRows:
    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_the_repaired_weights_as_printed")
    def test_unseen_weights(self, attempt, draw):
        """Another number of tokens should give the right result, too."""
        weights = draw.uniform(NUM_TOKENS, NUM_TOKENS, low=0.1).tril()
        attempt(weights).agrees(axes=("query", "key"))


@pytest.mark.exercise("upper_triangular_mask")
class TestUpperTriangularMask:
    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_the_mask_for_three_tokens")
    def test_another_number_of_tokens(self, attempt, judge, draw):
        """The mask should fit the number of tokens."""
        num_tokens = draw.whole(7, 11)
        where = attempt(num_tokens).has_shape(num_tokens, num_tokens, dtype=None).bool().float()
        judge(where, future(num_tokens), what="where the mask is set", axes=("row", "column"))

    @pytest.mark.deepens("test_the_mask_for_three_tokens")
    @pytest.mark.conduct
    def test_a_single_token(self, attempt, judge):
        """From a single token, nothing should be hidden."""
        where = attempt(1).has_shape(1, 1, dtype=None).bool().float()
        judge(where, torch.zeros(1, 1), what="where the mask is set")


@pytest.mark.exercise("mask_scores")
class TestMaskScores:
    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_the_masked_scores_as_printed")
    def test_unseen_scores(self, attempt, draw):
        """Another number of tokens should give the right result, too."""
        scores, mask = draw.normal(NUM_TOKENS, NUM_TOKENS), future(NUM_TOKENS, torch.bool)
        attempt(scores, mask).agrees(axes=("query", "key"))

    @pytest.mark.deepens("test_a_mask_of_ones_and_zeros_does_the_same")
    def test_a_mask_of_any_pattern(self, attempt, draw):
        """The mask should decide what is hidden, also where it is ones and zeros, no triangle."""
        scores = draw.normal(NUM_TOKENS, NUM_TOKENS)
        scores[:, 0] = 0.0
        mask = (draw.permutation(NUM_TOKENS)[:, None] == torch.arange(NUM_TOKENS)).float()
        attempt(scores, mask).agrees(axes=("query", "key"))

    @pytest.mark.deepens("test_the_scores_are_left_as_they_are")
    @pytest.mark.conduct
    def test_the_arguments_are_left_as_they_are(self, attempt, draw):
        """The scores and the mask should stay as they are."""
        scores, mask = draw.normal(NUM_TOKENS, NUM_TOKENS), future(NUM_TOKENS, torch.bool)
        attempt(scores, mask).keeps_arguments()


@pytest.mark.exercise("causal_weights")
class TestCausalWeights:
    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_a_larger_d_k_evens_the_weights_out")
    def test_unseen_scores(self, attempt, draw):
        """Another number of tokens and another d_k should give the right result, too."""
        attempt(draw.normal(NUM_TOKENS, NUM_TOKENS, std=2.0), D_K).agrees(axes=("query", "key"))

    @pytest.mark.deepens("test_scores_of_zero_have_weights")
    def test_scores_of_zero_count(self, attempt, draw):
        """A score of 0 on or below the diagonal should count like any other."""
        scores = draw.normal(NUM_TOKENS, NUM_TOKENS, std=2.0)
        scores[1, 0] = scores[3, 3] = scores[4, 2] = 0.0
        attempt(scores, D_K).agrees(axes=("query", "key"))

    @pytest.mark.deepens(
        "Shape `(num_tokens, num_tokens)`: zeros above the diagonal, rows that sum to 1."
    )
    @pytest.mark.conduct
    def test_the_future_does_not_leak(self, attempt, draw):
        """Scores above the diagonal should make no difference."""
        scores, other = (draw.normal(NUM_TOKENS, NUM_TOKENS, std=2.0) for _ in range(2))
        one = attempt(scores, D_K).has_shape(NUM_TOKENS, NUM_TOKENS)
        mixed = torch.where(future(NUM_TOKENS, torch.bool), other, scores)
        attempt(mixed, D_K).gives(one, axes=("query", "key"))
