"""Assignment 05 on inputs nobody has seen: other sizes, other values, other dtypes."""

import pytest
import torch

from grader.testing import N_

NUM_TOKENS, D_K = 5, 7


def future(num_tokens, dtype=torch.float32):
    """Ones above the diagonal."""
    return torch.ones(num_tokens, num_tokens).triu(diagonal=1).to(dtype)


def figures(judge, mask, num_tokens):
    """A mask's figures: `True` counts as one."""
    judge.shape(mask, (num_tokens, num_tokens), dtype=None)
    return mask.to(torch.float32)


@pytest.mark.exercise("lower_triangular_mask")
class TestLowerTriangularMask:
    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_the_mask_for_three_tokens")
    def test_another_number_of_tokens(self, student, reference, judge, draw):
        """The mask should fit the number of tokens."""
        num_tokens = draw.whole(7, 11)
        expected = reference.call("lower_triangular_mask", num_tokens).value
        mask = student.call("lower_triangular_mask", num_tokens).value
        what, axes = N_("the mask"), (N_("row"), N_("column"))
        judge(figures(judge, mask, num_tokens), expected, what=what, axes=axes)

    @pytest.mark.deepens("test_the_mask_for_three_tokens")
    @pytest.mark.conduct
    def test_a_single_token(self, student, judge):
        """A single token should be allowed to use itself."""
        mask = student.call("lower_triangular_mask", 1).value
        judge(figures(judge, mask, 1), torch.ones(1, 1), what="the mask")


@pytest.mark.exercise("mask_weights")
class TestMaskWeights:
    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_the_masked_weights_as_printed")
    def test_unseen_weights(self, student, reference, judge, draw):
        """Another number of tokens should give the right result, too."""
        weights, mask = draw.uniform(NUM_TOKENS, NUM_TOKENS, low=0.1), 1 - future(NUM_TOKENS)
        expected = reference.call("mask_weights", weights, mask).value
        value = student.call("mask_weights", weights, mask).value
        judge(value, expected, axes=("query", "key"))

    @pytest.mark.deepens(
        "shape `(num_tokens, num_tokens)`, ones where a weight stays, zeros where it goes."
    )
    def test_a_mask_of_any_pattern(self, student, reference, judge, draw):
        """The mask should decide what stays, also where it is no triangle."""
        weights = draw.uniform(NUM_TOKENS, NUM_TOKENS, low=0.1)
        mask = (draw.permutation(NUM_TOKENS)[:, None] != torch.arange(NUM_TOKENS)).float()
        expected = reference.call("mask_weights", weights, mask).value
        value = student.call("mask_weights", weights, mask).value
        judge(value, expected, axes=("query", "key"))


@pytest.mark.exercise("renormalize_rows")
class TestRenormalizeRows:
    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_the_repaired_weights_as_printed")
    def test_unseen_weights(self, student, reference, judge, draw):
        """Another number of tokens should give the right result, too."""
        weights = draw.uniform(NUM_TOKENS, NUM_TOKENS, low=0.1).tril()
        expected = reference.call("renormalize_rows", weights).value
        value = student.call("renormalize_rows", weights).value
        judge(value, expected, axes=("query", "key"))


@pytest.mark.exercise("upper_triangular_mask")
class TestUpperTriangularMask:
    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_the_mask_for_three_tokens")
    def test_another_number_of_tokens(self, student, judge, draw):
        """The mask should fit the number of tokens."""
        num_tokens = draw.whole(7, 11)
        mask = student.call("upper_triangular_mask", num_tokens).value
        judge.shape(mask, (num_tokens, num_tokens), dtype=None)
        where = mask.bool().float()
        judge(where, future(num_tokens), what="where the mask is set", axes=("row", "column"))

    @pytest.mark.deepens("test_the_mask_for_three_tokens")
    @pytest.mark.conduct
    def test_a_single_token(self, student, judge):
        """From a single token, nothing should be hidden."""
        mask = student.call("upper_triangular_mask", 1).value
        judge.shape(mask, (1, 1), dtype=None)
        judge(mask.bool().float(), torch.zeros(1, 1), what="where the mask is set")


@pytest.mark.exercise("mask_scores")
class TestMaskScores:
    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_the_masked_scores_as_printed")
    def test_unseen_scores(self, student, reference, judge, draw):
        """Another number of tokens should give the right result, too."""
        scores, mask = draw.normal(NUM_TOKENS, NUM_TOKENS), future(NUM_TOKENS, torch.bool)
        expected = reference.call("mask_scores", scores, mask).value
        value = student.call("mask_scores", scores, mask).value
        judge(value, expected, axes=("query", "key"))

    @pytest.mark.deepens("test_a_mask_of_ones_and_zeros_does_the_same")
    def test_a_mask_of_any_pattern(self, student, reference, judge, draw):
        """The mask should decide what is hidden, also where it is ones and zeros, no triangle."""
        scores = draw.normal(NUM_TOKENS, NUM_TOKENS)
        mask = (draw.permutation(NUM_TOKENS)[:, None] == torch.arange(NUM_TOKENS)).float()
        expected = reference.call("mask_scores", scores, mask).value
        value = student.call("mask_scores", scores, mask).value
        judge(value, expected, axes=("query", "key"))

    @pytest.mark.deepens("test_the_scores_are_left_as_they_are")
    @pytest.mark.conduct
    def test_the_arguments_are_left_as_they_are(self, student, judge, draw):
        """The scores and the mask should stay as they are."""
        scores, mask = draw.normal(NUM_TOKENS, NUM_TOKENS), future(NUM_TOKENS, torch.bool)
        answer = student.call("mask_scores", scores, mask)
        judge.that(not answer.changed, "It changed one of its arguments in place")


@pytest.mark.exercise("causal_weights")
class TestCausalWeights:
    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_a_larger_d_k_evens_the_weights_out")
    def test_unseen_scores(self, student, reference, judge, draw):
        """Another number of tokens and another d_k should give the right result, too."""
        scores = draw.normal(NUM_TOKENS, NUM_TOKENS, std=2.0)
        expected = reference.call("causal_weights", scores, D_K).value
        judge(student.call("causal_weights", scores, D_K).value, expected, axes=("query", "key"))

    @pytest.mark.deepens("test_scores_of_zero_have_weights")
    def test_scores_of_zero_count(self, student, reference, judge, draw):
        """A score of 0 on or below the diagonal should count like any other."""
        scores = draw.normal(NUM_TOKENS, NUM_TOKENS, std=2.0)
        scores[1, 0] = scores[3, 3] = scores[4, 2] = 0.0
        expected = reference.call("causal_weights", scores, D_K).value
        judge(student.call("causal_weights", scores, D_K).value, expected, axes=("query", "key"))

    @pytest.mark.deepens(
        "Shape `(num_tokens, num_tokens)`: zeros above the diagonal, rows that sum to 1."
    )
    @pytest.mark.conduct
    def test_the_future_does_not_leak(self, student, judge, draw):
        """Scores above the diagonal should make no difference."""
        scores, other = (draw.normal(NUM_TOKENS, NUM_TOKENS, std=2.0) for _ in range(2))
        one = student.call("causal_weights", scores, D_K).value
        mixed = torch.where(future(NUM_TOKENS, torch.bool), other, scores)
        judge.shape(one, (NUM_TOKENS, NUM_TOKENS))
        judge(student.call("causal_weights", mixed, D_K).value, one, axes=("query", "key"))
