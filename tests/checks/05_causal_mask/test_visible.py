"""What students see of assignment 05: the documents' tensors, and plain properties."""

import pytest
import torch

from grader.testing import N_
from grader.testing.mixins import KeepsArguments, KeepsDoublePrecision, KeepsNames

from ..helpers import OfScores, future, scores_of_the_text
from .helpers import figures

D_K = 2
NUM_TOKENS = 4
AXES = (N_("query"), N_("key"))

# Scores of exactly zero on both sides of the diagonal; each row has another one that is seen.
WITH_ZEROS = torch.tensor([[0.5, 0.0, 1.0], [0.0, 2.0, 0.0], [1.0, -1.0, 0.0]])


def weights_of_the_text(printed):
    """The softmax of the scaled scores, nothing masked."""
    return torch.softmax(scores_of_the_text(printed) / D_K**0.5, dim=-1)


def judge_where_set(called, expected):
    """Judge where a mask is set; one that is set elsewhere is shown with the numbers it has."""
    found, axes = figures(called, len(expected)), (N_("row"), N_("column"))
    where = (found != 0).float()
    if not torch.equal(where, expected) and not torch.equal(where, found):
        called.judge(found, expected, what="the mask", axes=axes)
    called.judge(where, expected, what="where the mask is set", axes=axes)


class Mask(KeepsNames):
    """What both masks hold to."""

    @pytest.mark.gate
    @pytest.mark.conduct
    def test_it_is_a_square(self, attempt):
        """The mask should have a row and a column for each token."""
        attempt(6).has_shape(6, 6, dtype=None)


@pytest.mark.exercise("lower_triangular_mask")
class TestLowerTriangularMask(Mask):
    @pytest.mark.weight(2)
    def test_the_mask_for_six_tokens_as_printed(self, attempt, judge, printed):
        """For six tokens, the mask should be the example's (numbers or truth values)."""
        mask = figures(attempt(6), 6)
        judge(mask, printed("T19"), what="the mask", axes=("row", "column"))

    def test_the_mask_for_three_tokens(self, attempt, judge):
        """The mask for three tokens should be a square of three, and that for nine one of nine."""
        for size in (3, 9):
            called = attempt(size)
            judge(figures(called, size), called.expected, what="the mask", axes=("row", "column"))


@pytest.mark.exercise("mask_weights")
class TestMaskWeights(KeepsNames, KeepsArguments):
    axes = AXES

    def inputs(self, draw, dtype=torch.float32):
        """Weights, and a mask that hides the future."""
        return draw.uniform(NUM_TOKENS, NUM_TOKENS, low=0.1).to(dtype), 1 - future(NUM_TOKENS)

    @pytest.mark.gate
    @pytest.mark.conduct
    def test_the_shape_stays(self, attempt, printed):
        """The result should have the shape and the dtype of the weights."""
        attempt(weights_of_the_text(printed), printed("T19")).has_shape(6, 6)

    @pytest.mark.weight(2)
    def test_the_masked_weights_as_printed(self, attempt, printed):
        """With the lower triangular mask, the example's weights should lose their future."""
        attempt(weights_of_the_text(printed), printed("T19")).gives(printed("T20"))

    def test_a_mask_of_ones_keeps_everything(self, attempt, printed):
        """A mask of ones should leave the weights as they are."""
        ones, thirds = torch.ones(6, 6), torch.full((6, 6), 1 / 3)
        attempt(weights_of_the_text(printed), ones).gives(printed("T18"))
        # Thirds have more digits than are printed.
        attempt(thirds, ones).gives(thirds)


@pytest.mark.exercise("renormalize_rows")
class TestRenormalizeRows(KeepsNames, KeepsDoublePrecision):
    axes = AXES

    def inputs(self, draw, dtype=torch.float32):
        """Weights."""
        return (draw.uniform(NUM_TOKENS, NUM_TOKENS, low=0.1).to(dtype),)

    @pytest.mark.gate
    @pytest.mark.conduct
    def test_the_shape_stays(self, attempt, printed):
        """The result should have the shape and the dtype of the weights."""
        attempt(printed("T20")).has_shape(6, 6)

    @pytest.mark.weight(2)
    def test_the_repaired_weights_as_printed(self, attempt, printed):
        """The masked weights should become the example's weights that sum to 1 again."""
        masked = weights_of_the_text(printed) * printed("T19").tensor
        attempt(masked).gives(printed("T21"))

    def test_exponentials_become_the_softmax(self, attempt, printed):
        """Rows of exponentials should be divided by their sums, too, which makes a softmax of them."""
        exponentials = torch.exp(scores_of_the_text(printed) / D_K**0.5)
        attempt(exponentials).gives(printed("T18"))

    def test_gradients_reach_the_weights(self, attempt, draw):
        """Gradients should flow to the weights, through the sums as well."""
        called = attempt(*self.inputs(draw), cotangent=draw.normal(NUM_TOKENS, NUM_TOKENS))
        called.gradients_agree(what="the gradient for the weights")

    @pytest.mark.conduct
    def test_the_weights_are_left_as_they_are(self, attempt, draw):
        """The weights should stay as they are."""
        attempt(*self.inputs(draw)).keeps_arguments()

    def test_many_rows_of_small_weights(self, attempt, draw):
        """Many rows of very small weights should be divided by their sums, too."""
        attempt(draw.uniform(64, 64, low=1e-5, high=1e-4)).agrees()


@pytest.mark.exercise("upper_triangular_mask")
class TestUpperTriangularMask(Mask):
    @pytest.mark.weight(2)
    def test_the_future_is_hidden_and_nothing_else(self, attempt, judge):
        """For six tokens, the mask should hold ones (or True) above the diagonal, and nowhere else."""
        called = attempt(6)
        judge_where_set(called, future(6))
        numbers = set(called.value.to(torch.float32).unique().tolist())
        sentence = N_(
            "It marks places with other numbers than one; `mask_scores` puts in minus infinity later"
        )
        judge.that(numbers <= {0.0, 1.0}, sentence)

    def test_the_mask_for_three_tokens(self, attempt):
        """The mask for three tokens should be a square of three, and that for nine one of nine."""
        for size in (3, 9):
            called = attempt(size)
            judge_where_set(called, called.expected)


@pytest.mark.exercise("mask_scores")
class TestMaskScores(OfScores):
    axes = AXES

    def example(self, printed):
        """Scores, and a mask that hides the future."""
        return scores_of_the_text(printed), future(6, torch.bool)

    @pytest.mark.weight(2)
    def test_the_masked_scores_as_printed(self, attempt, printed):
        """A mask of truth values should give the scores with minus infinity."""
        attempt(*self.example(printed)).gives(printed("T22"))

    @pytest.mark.conduct
    def test_the_scores_that_stay_are_numbers(self, attempt, judge, printed):
        """No score should become NaN, or plus infinity."""
        scores = scores_of_the_text(printed)
        value = attempt(scores, future(6)).has_shape(6, 6)
        # Where NaN stands tells mistakes apart, and none is named from NaN alone.
        nowhere = not bool(value.isnan().any())
        judge.that(nowhere, "Scores became NaN (not a number)", about=value.isnan())
        above = value.isposinf()
        sentence = N_("Scores became plus infinity: what is hidden should be minus infinity")
        if not bool((above & (scores >= 0)).any()):
            sentence = N_(
                "Scores became plus infinity: what is a negative number times minus infinity?"
            )
        judge.that(not bool(above.any()), sentence, about=above)

    def test_a_mask_of_ones_and_zeros_does_the_same(self, attempt, printed):
        """A mask of ones and zeros should do the same as one of truth values, wherever its ones stand."""
        scores, past = scores_of_the_text(printed), future(6).T
        attempt(scores, future(6)).gives(printed("T22"))
        attempt(scores, past).gives(torch.where(past == 1, -torch.inf, scores))

    def test_scores_of_zero_are_like_any_others(self, attempt):
        """Scores of zero should be hidden where the mask is set, too, and stay elsewhere."""
        attempt(WITH_ZEROS, future(3)).agrees()

    @pytest.mark.conduct
    def test_the_scores_are_left_as_they_are(self, attempt, printed):
        """The scores should stay as they are."""
        attempt(*self.example(printed)).keeps_arguments()

    def test_gradients_reach_the_scores(self, attempt, draw):
        """Gradients should flow to the scores that are not hidden, and only to those."""
        scores, mask = draw.normal(NUM_TOKENS, NUM_TOKENS), future(NUM_TOKENS, torch.bool)
        # What a softmax hands back: nothing where hidden.
        kept = torch.where(mask, 0.0, draw.normal(NUM_TOKENS, NUM_TOKENS))
        attempt(scores, mask, cotangent=kept).gradients_agree(what="the gradient for the scores")


@pytest.mark.exercise("causal_weights")
class TestCausalWeights(OfScores, KeepsDoublePrecision):
    axes = AXES

    def inputs(self, draw, dtype=torch.float32):
        """Scores, and the size of a key."""
        return draw.normal(NUM_TOKENS, NUM_TOKENS, dtype=dtype), D_K

    def example(self, printed):
        """Scores, and the size of a key."""
        return scores_of_the_text(printed), D_K

    @pytest.mark.weight(2)
    def test_the_causal_weights_as_printed(self, attempt, printed):
        """The example's scores should become the example's causal weights."""
        attempt(scores_of_the_text(printed), D_K).gives(printed("T21"))

    def test_each_row_sums_to_one(self, attempt, judge, printed):
        """The weights of each token should sum to 1."""
        sums = attempt(scores_of_the_text(printed), D_K).has_shape(6, 6).sum(dim=-1)
        judge(sums, torch.ones(6), what="the sums of the rows", axes=("query",))

    def test_a_larger_d_k_evens_the_weights_out(self, attempt):
        """With d_k 4, scores should be halved before the softmax."""
        scores = torch.tensor([[0.5, 3.0, 1.0], [2.0, -1.0, 4.0], [1.0, 3.0, -2.0]])
        attempt(scores, 4).agrees()

    def test_scores_of_zero_have_weights(self, attempt):
        """A score of zero should have a weight as well, on and below the diagonal."""
        attempt(WITH_ZEROS, D_K).agrees()

    def test_gradients_reach_the_scores(self, attempt, draw):
        """Gradients should flow to the scores on and below the diagonal."""
        called = attempt(*self.inputs(draw), cotangent=draw.normal(NUM_TOKENS, NUM_TOKENS))
        called.gradients_agree(what="the gradient for the scores")

    @pytest.mark.remark
    def test_very_low_scores_see_nothing_of_the_future(self, attempt, judge):
        """Where all scores are very low, the future should have no weight, either: minus infinity is below them all."""
        # The last call is the one that is shown.
        near, value = (
            attempt(scores, D_K).has_shape(3, 3)
            for scores in (torch.zeros(3, 3), torch.full((3, 3), -1e30))
        )
        # What has weight for scores of zero as well has another cause.
        seen = value.nan_to_num(0.0).triu(diagonal=1) * (near == 0)
        judge(seen, torch.zeros(3, 3), what="the weights of the future", axes=AXES)

    @pytest.mark.remark
    def test_a_future_with_large_scores_leaves_weights(self, attempt, judge):
        """Where later tokens have by far the largest scores, those before should have weights, too."""
        sentence = N_(
            "A softmax of all scores leaves 0 for these, and 0 / 0 is NaN: hide the scores before it"
        )
        self.judge_kept(attempt, judge, torch.full((3, 3), 300.0).triu(diagonal=1), sentence)

    @pytest.mark.remark
    def test_rows_far_apart_have_weights(self, attempt, judge):
        """Rows whose scores are hundreds apart should have weights, too: each has its own largest score."""
        scores = torch.tensor([[0.0, 0.0, 0.0], [300.0, 300.0, 0.0], [300.0, 300.0, 300.0]])
        sentence = N_(
            "Each row has a largest score of its own, which an own softmax has to subtract"
        )
        self.judge_kept(attempt, judge, scores, sentence)

    def judge_kept(self, attempt, judge, scores, sentence):
        """Judge that scores have weights; where equal ones have none as well, that has another cause."""
        near, value = (attempt(some, D_K).has_shape(3, 3) for some in (torch.zeros(3, 3), scores))
        lost = value.isnan() & ~near.isnan()
        judge.that(not bool(lost.any()), sentence, about=lost)
