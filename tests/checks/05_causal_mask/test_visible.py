"""What students see of assignment 05: the documents' tensors, and plain properties."""

import pytest
import torch

from grader.testing import N_

D_K = 2
NUM_TOKENS = 4

# Scores of exactly zero on both sides of the diagonal; each row has another one that is seen.
WITH_ZEROS = torch.tensor([[0.5, 0.0, 1.0], [0.0, 2.0, 0.0], [1.0, -1.0, 0.0]])


def scores_of_the_text(printed):
    """The scores that the documents go on with: those of the self-attention of seed 789.

    `nn.Linear(3, 2, bias=False)` draws its weight uniformly within 1 / sqrt(3); query comes first.
    """
    generator = torch.Generator().manual_seed(789)
    bound = 3**-0.5
    query, key = (
        torch.empty(D_K, 3, dtype=torch.float32).uniform_(-bound, bound, generator=generator)
        for _ in range(2)
    )
    inputs = printed("T45").tensor
    return (inputs @ query.T) @ (inputs @ key.T).T


def weights_of_the_text(printed):
    """The softmax of the scaled scores, nothing masked."""
    return torch.softmax(scores_of_the_text(printed) / D_K**0.5, dim=-1)


def future(num_tokens, dtype=torch.float32):
    """Ones above the diagonal."""
    return torch.ones(num_tokens, num_tokens).triu(diagonal=1).to(dtype)


def figures(judge, mask, num_tokens):
    """A mask's figures: `True` counts as one."""
    judge.shape(mask, (num_tokens, num_tokens), dtype=None)
    return mask.to(torch.float32)


def judge_where_set(judge, mask, expected):
    """Judge where a mask is set; one that is set elsewhere is shown with the numbers it has."""
    found, axes = figures(judge, mask, len(expected)), ("row", "column")
    where = (found != 0).float()
    if not torch.equal(where, expected) and not torch.equal(where, found):
        judge(found, expected, what="the mask", axes=axes)
    judge(where, expected, what="where the mask is set", axes=axes)


class KeepsNames:
    """A remark on parameters with other names than the stub's."""

    @pytest.mark.remark
    def test_the_parameters_keep_their_names(self, student, reference, judge):
        """The parameters should keep the names they have in the stub."""
        name = student.exercise.name
        found, right = (", ".join(handle.parameters(name)) for handle in (student, reference))
        sentence = judge.words(
            "They are {found}, and in the stub {right}", found=found, right=right
        )
        judge.that(found == right, sentence)


@pytest.mark.exercise("lower_triangular_mask")
class TestLowerTriangularMask(KeepsNames):
    @pytest.mark.gate
    @pytest.mark.conduct
    def test_it_is_a_square(self, student, judge):
        """The mask should have a row and a column for each token."""
        judge.shape(student.call("lower_triangular_mask", 6).value, (6, 6), dtype=None)

    @pytest.mark.weight(2)
    def test_the_mask_for_six_tokens_as_printed(self, student, judge, printed):
        """For six tokens, the mask should be the example's (numbers or truth values)."""
        mask = student.call("lower_triangular_mask", 6).value
        judge(figures(judge, mask, 6), printed("T19"), what="the mask", axes=("row", "column"))

    def test_the_mask_for_three_tokens(self, student, reference, judge):
        """The mask for three tokens should be a square of three."""
        mask = student.call("lower_triangular_mask", 3).value
        expected = reference.call("lower_triangular_mask", 3).value
        judge(figures(judge, mask, 3), expected, what="the mask", axes=("row", "column"))


@pytest.mark.exercise("mask_weights")
class TestMaskWeights(KeepsNames):
    @pytest.mark.gate
    @pytest.mark.conduct
    def test_the_shape_stays(self, student, judge, printed):
        """The result should have the shape and the dtype of the weights."""
        weights = weights_of_the_text(printed)
        value = student.call("mask_weights", weights, printed("T19").tensor).value
        judge.shape(value, (6, 6))

    @pytest.mark.weight(2)
    def test_the_masked_weights_as_printed(self, student, judge, printed):
        """With the lower triangular mask, the example's weights should lose their future."""
        weights = weights_of_the_text(printed)
        value = student.call("mask_weights", weights, printed("T19").tensor).value
        judge(value, printed("T20"), axes=("query", "key"))

    def test_a_mask_of_ones_keeps_everything(self, student, judge, printed):
        """A mask of ones should leave the weights as they are."""
        weights = weights_of_the_text(printed)
        value = student.call("mask_weights", weights, torch.ones(6, 6)).value
        judge(value, printed("T18"), axes=("query", "key"))
        # Thirds have more digits than are printed.
        thirds = torch.full((6, 6), 1 / 3)
        value = student.call("mask_weights", thirds, torch.ones(6, 6)).value
        judge(value, thirds, axes=("query", "key"))

    @pytest.mark.conduct
    def test_the_arguments_are_left_as_they_are(self, student, judge, draw):
        """The weights and the mask should stay as they are."""
        weights, mask = draw.uniform(NUM_TOKENS, NUM_TOKENS, low=0.1), 1 - future(NUM_TOKENS)
        answer = student.call("mask_weights", weights, mask)
        judge.that(not answer.changed, "It changed one of its arguments in place")


@pytest.mark.exercise("renormalize_rows")
class TestRenormalizeRows(KeepsNames):
    @pytest.mark.gate
    @pytest.mark.conduct
    def test_the_shape_stays(self, student, judge, printed):
        """The result should have the shape and the dtype of the weights."""
        value = student.call("renormalize_rows", printed("T20").tensor).value
        judge.shape(value, (6, 6))

    @pytest.mark.weight(2)
    def test_the_repaired_weights_as_printed(self, student, judge, printed):
        """The masked weights should become the example's weights that sum to 1 again."""
        masked = weights_of_the_text(printed) * printed("T19").tensor
        value = student.call("renormalize_rows", masked).value
        judge(value, printed("T21"), axes=("query", "key"))

    def test_exponentials_become_the_softmax(self, student, judge, printed):
        """Rows of exponentials should be divided by their sums, too, which makes a softmax of them."""
        exponentials = torch.exp(scores_of_the_text(printed) / D_K**0.5)
        value = student.call("renormalize_rows", exponentials).value
        judge(value, printed("T18"), axes=("query", "key"))

    def test_double_precision_is_kept(self, student, reference, judge, draw):
        """Weights in float64 should give weights in float64, with all their digits."""
        weights = draw.uniform(NUM_TOKENS, NUM_TOKENS, low=0.1).double()
        expected = reference.call("renormalize_rows", weights).value
        value = student.call("renormalize_rows", weights).value
        judge(value, expected, axes=("query", "key"))

    def test_gradients_reach_the_weights(self, student, reference, judge, draw):
        """Gradients should flow to the weights, through the sums as well."""
        weights = draw.uniform(NUM_TOKENS, NUM_TOKENS, low=0.1)
        cotangent = draw.normal(NUM_TOKENS, NUM_TOKENS)
        mine = student.call("renormalize_rows", weights, cotangent=cotangent).gradients
        right = reference.call("renormalize_rows", weights, cotangent=cotangent).gradients
        judge(mine.arguments["0"], right.arguments["0"], what="the gradient for the weights")

    @pytest.mark.conduct
    def test_the_weights_are_left_as_they_are(self, student, judge, draw):
        """The weights should stay as they are."""
        answer = student.call("renormalize_rows", draw.uniform(NUM_TOKENS, NUM_TOKENS, low=0.1))
        judge.that(not answer.changed, "It changed its argument in place")

    def test_many_rows_of_small_weights(self, student, reference, judge, draw):
        """Many rows of very small weights should be divided by their sums, too."""
        weights = draw.uniform(64, 64, low=1e-5, high=1e-4)
        expected = reference.call("renormalize_rows", weights).value
        value = student.call("renormalize_rows", weights).value
        judge(value, expected, axes=("query", "key"))


@pytest.mark.exercise("upper_triangular_mask")
class TestUpperTriangularMask(KeepsNames):
    @pytest.mark.gate
    @pytest.mark.conduct
    def test_it_is_a_square(self, student, judge):
        """The mask should have a row and a column for each token."""
        judge.shape(student.call("upper_triangular_mask", 6).value, (6, 6), dtype=None)

    @pytest.mark.weight(2)
    def test_the_future_is_hidden_and_nothing_else(self, student, judge):
        """For six tokens, the mask should hold ones (or True) above the diagonal, and nowhere else."""
        mask = student.call("upper_triangular_mask", 6).value
        judge_where_set(judge, mask, future(6))
        numbers = set(mask.to(torch.float32).unique().tolist())
        sentence = "It marks places with other numbers than one; `mask_scores` puts in minus infinity later"
        judge.that(numbers <= {0.0, 1.0}, sentence)

    def test_the_mask_for_three_tokens(self, student, reference, judge):
        """The mask for three tokens should be a square of three."""
        mask = student.call("upper_triangular_mask", 3).value
        expected = reference.call("upper_triangular_mask", 3).value
        judge_where_set(judge, mask, expected)


@pytest.mark.exercise("mask_scores")
class TestMaskScores(KeepsNames):
    @pytest.mark.gate
    @pytest.mark.conduct
    def test_the_shape_stays(self, student, judge, printed):
        """The result should have the shape and the dtype of the scores."""
        scores = scores_of_the_text(printed)
        value = student.call("mask_scores", scores, future(6, torch.bool)).value
        judge.shape(value, (6, 6))

    @pytest.mark.weight(2)
    def test_the_masked_scores_as_printed(self, student, judge, printed):
        """A mask of truth values should give the scores with minus infinity."""
        scores = scores_of_the_text(printed)
        value = student.call("mask_scores", scores, future(6, torch.bool)).value
        judge(value, printed("T22"), axes=("query", "key"))

    @pytest.mark.conduct
    def test_the_scores_that_stay_are_numbers(self, student, judge, printed):
        """No score should become NaN, or plus infinity."""
        value = student.call("mask_scores", scores_of_the_text(printed), future(6)).value
        judge.shape(value, (6, 6))
        # Where NaN stands tells mistakes apart, and none is named from NaN alone.
        nowhere = not bool(value.isnan().any())
        judge.that(nowhere, "Scores became NaN (not a number)", about=value.isnan())
        above = value.isposinf()
        sentence = N_(
            "Scores became plus infinity: what is a negative number times minus infinity?"
        )
        judge.that(not bool(above.any()), sentence, about=above)

    def test_a_mask_of_ones_and_zeros_does_the_same(self, student, judge, printed):
        """A mask of ones and zeros should do the same as one of truth values, wherever its ones stand."""
        scores = scores_of_the_text(printed)
        value = student.call("mask_scores", scores, future(6)).value
        judge(value, printed("T22"), axes=("query", "key"))
        past = future(6).T
        value = student.call("mask_scores", scores, past).value
        judge(value, torch.where(past == 1, -torch.inf, scores), axes=("query", "key"))

    def test_scores_of_zero_are_like_any_others(self, student, reference, judge):
        """Scores of zero should be hidden where the mask is set, too, and stay elsewhere."""
        expected = reference.call("mask_scores", WITH_ZEROS, future(3)).value
        value = student.call("mask_scores", WITH_ZEROS, future(3)).value
        judge(value, expected, axes=("query", "key"))

    @pytest.mark.conduct
    def test_the_scores_are_left_as_they_are(self, student, judge, printed):
        """The scores should stay as they are."""
        answer = student.call("mask_scores", scores_of_the_text(printed), future(6, torch.bool))
        judge.that(not answer.changed, "It changed one of its arguments in place")

    def test_gradients_reach_the_scores(self, student, reference, judge, draw):
        """Gradients should flow to the scores that are not hidden, and only to those."""
        scores, mask = draw.normal(NUM_TOKENS, NUM_TOKENS), future(NUM_TOKENS, torch.bool)
        cotangent = draw.normal(NUM_TOKENS, NUM_TOKENS)
        kept = torch.where(mask, 0.0, cotangent)  # what a softmax hands back: nothing where hidden
        mine = student.call("mask_scores", scores, mask, cotangent=kept).gradients
        right = reference.call("mask_scores", scores, mask, cotangent=kept).gradients
        judge(mine.arguments["0"], right.arguments["0"], what="the gradient for the scores")


@pytest.mark.exercise("causal_weights")
class TestCausalWeights(KeepsNames):
    @pytest.mark.gate
    @pytest.mark.conduct
    def test_the_shape_stays(self, student, judge, printed):
        """The result should have the shape and the dtype of the scores."""
        value = student.call("causal_weights", scores_of_the_text(printed), D_K).value
        judge.shape(value, (6, 6))

    @pytest.mark.weight(2)
    def test_the_causal_weights_as_printed(self, student, judge, printed):
        """The example's scores should become the example's causal weights."""
        value = student.call("causal_weights", scores_of_the_text(printed), D_K).value
        judge(value, printed("T21"), axes=("query", "key"))

    def test_each_row_sums_to_one(self, student, judge, printed):
        """The weights of each token should sum to 1."""
        value = student.call("causal_weights", scores_of_the_text(printed), D_K).value
        judge.shape(value, (6, 6))
        judge(value.sum(dim=-1), torch.ones(6), what="the sums of the rows", axes=("query",))

    def test_a_larger_d_k_evens_the_weights_out(self, student, reference, judge):
        """With d_k 4, scores should be halved before the softmax."""
        scores = torch.tensor([[0.5, 3.0, 1.0], [2.0, -1.0, 4.0], [1.0, 3.0, -2.0]])
        expected = reference.call("causal_weights", scores, 4).value
        judge(student.call("causal_weights", scores, 4).value, expected, axes=("query", "key"))

    def test_scores_of_zero_have_weights(self, student, reference, judge):
        """A score of zero should have a weight as well, on and below the diagonal."""
        expected = reference.call("causal_weights", WITH_ZEROS, D_K).value
        value = student.call("causal_weights", WITH_ZEROS, D_K).value
        judge(value, expected, axes=("query", "key"))

    def test_double_precision_is_kept(self, student, reference, judge, draw):
        """Scores in float64 should give weights in float64."""
        scores = draw.normal(NUM_TOKENS, NUM_TOKENS, dtype=torch.float64)
        expected = reference.call("causal_weights", scores, D_K).value
        judge(student.call("causal_weights", scores, D_K).value, expected, axes=("query", "key"))

    def test_gradients_reach_the_scores(self, student, reference, judge, draw):
        """Gradients should flow to the scores on and below the diagonal."""
        scores = draw.normal(NUM_TOKENS, NUM_TOKENS)
        cotangent = draw.normal(NUM_TOKENS, NUM_TOKENS)
        mine = student.call("causal_weights", scores, D_K, cotangent=cotangent).gradients
        right = reference.call("causal_weights", scores, D_K, cotangent=cotangent).gradients
        judge(mine.arguments["0"], right.arguments["0"], what="the gradient for the scores")

    @pytest.mark.remark
    def test_very_low_scores_see_nothing_of_the_future(self, student, judge):
        """Where all scores are very low, the future should have no weight, either: minus infinity is below them all."""
        value = student.call("causal_weights", torch.full((3, 3), -1e30), D_K).value
        near = student.call("causal_weights", torch.zeros(3, 3), D_K).value
        judge.shape(value, (3, 3))
        judge.shape(near, (3, 3))
        # What has weight for scores of zero as well has another cause.
        seen = value.nan_to_num(0.0).triu(diagonal=1) * (near == 0)
        judge(seen, torch.zeros(3, 3), what="the weights of the future", axes=("query", "key"))

    @pytest.mark.remark
    def test_rows_far_apart_have_weights(self, student, judge):
        """Rows whose scores are hundreds apart should have weights, too: each has its own largest score."""
        scores = torch.tensor([[0.0, 0.0, 0.0], [300.0, 300.0, 0.0], [300.0, 300.0, 300.0]])
        value = student.call("causal_weights", scores, D_K).value
        near = student.call("causal_weights", torch.zeros(3, 3), D_K).value
        judge.shape(value, (3, 3))
        judge.shape(near, (3, 3))
        # What is NaN for equal scores as well has another cause.
        lost = value.isnan() & ~near.isnan()
        sentence = N_(
            "Each row has a largest score of its own, which an own softmax has to subtract"
        )
        judge.that(not bool(lost.any()), sentence, about=lost)

    @pytest.mark.conduct
    def test_the_scores_are_left_as_they_are(self, student, judge, draw):
        """The scores should stay as they are."""
        answer = student.call("causal_weights", draw.normal(NUM_TOKENS, NUM_TOKENS), D_K)
        judge.that(not answer.changed, "It changed its argument in place")
