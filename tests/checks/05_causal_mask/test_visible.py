"""What students see of assignment 05: the documents' tensors, and plain properties."""

import pytest
import torch

D_K = 2


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


def hides(judge, mask, num_tokens):
    """Where a mask is set, as ones and zeros, whatever its dtype."""
    judge.shape(mask, (num_tokens, num_tokens), dtype=None)
    return mask.bool().float()


@pytest.mark.exercise("lower_triangular_mask")
class TestLowerTriangularMask:
    @pytest.mark.gate
    def test_it_is_a_square(self, student, judge):
        """The mask has a row and a column for each token."""
        judge.shape(student.call("lower_triangular_mask", 6).value, (6, 6), dtype=None)

    @pytest.mark.weight(2)
    def test_the_mask_for_six_tokens_as_printed(self, student, judge, printed):
        """For six tokens, the mask is the documents' (numbers or truth values)."""
        mask = student.call("lower_triangular_mask", 6).value
        judge(figures(judge, mask, 6), printed("T19"), what="the mask", axes=("row", "column"))

    def test_the_mask_for_three_tokens(self, student, judge):
        """The mask for three tokens is a square of three."""
        mask = student.call("lower_triangular_mask", 3).value
        expected = torch.tensor([[1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [1.0, 1.0, 1.0]])
        judge(figures(judge, mask, 3), expected, what="the mask", axes=("row", "column"))


@pytest.mark.exercise("mask_weights")
class TestMaskWeights:
    @pytest.mark.gate
    def test_the_shape_stays(self, student, judge, printed):
        """The result has the shape of the weights."""
        weights = weights_of_the_text(printed)
        value = student.call("mask_weights", weights, printed("T19").tensor).value
        judge.shape(value, (6, 6))

    @pytest.mark.weight(2)
    def test_the_masked_weights_as_printed(self, student, judge, printed):
        """With the lower triangular mask, the documents' weights lose their future."""
        weights = weights_of_the_text(printed)
        value = student.call("mask_weights", weights, printed("T19").tensor).value
        judge(value, printed("T20"), axes=("query", "key"))

    def test_a_mask_of_ones_keeps_everything(self, student, judge, printed):
        """A mask of ones leaves the documents' weights as they are."""
        weights = weights_of_the_text(printed)
        value = student.call("mask_weights", weights, torch.ones(6, 6)).value
        judge(value, printed("T18"), axes=("query", "key"))


@pytest.mark.exercise("renormalize_rows")
class TestRenormalizeRows:
    @pytest.mark.gate
    def test_the_shape_stays(self, student, judge, printed):
        """The result has the shape of the weights."""
        value = student.call("renormalize_rows", printed("T20").tensor).value
        judge.shape(value, (6, 6))

    @pytest.mark.weight(2)
    def test_the_repaired_weights_as_printed(self, student, judge, printed):
        """The masked weights become the documents' weights that sum to 1 again."""
        masked = weights_of_the_text(printed) * printed("T19").tensor
        value = student.call("renormalize_rows", masked).value
        judge(value, printed("T21"), axes=("query", "key"))

    def test_exponentials_become_the_softmax(self, student, judge, printed):
        """Exponentials of the scaled scores become the documents' weights: that is the softmax."""
        exponentials = torch.exp(scores_of_the_text(printed) / D_K**0.5)
        value = student.call("renormalize_rows", exponentials).value
        judge(value, printed("T18"), axes=("query", "key"))


@pytest.mark.exercise("upper_triangular_mask")
class TestUpperTriangularMask:
    @pytest.mark.gate
    def test_it_is_a_square(self, student, judge):
        """The mask has a row and a column for each token."""
        judge.shape(student.call("upper_triangular_mask", 6).value, (6, 6), dtype=None)

    @pytest.mark.weight(2)
    def test_the_future_is_hidden_and_nothing_else(self, student, judge):
        """For six tokens, the mask is set above the diagonal, and nowhere else."""
        mask = student.call("upper_triangular_mask", 6).value
        where = hides(judge, mask, 6)
        judge(where, future(6), what="where the mask is set", axes=("row", "column"))

    def test_the_mask_for_three_tokens(self, student, judge):
        """The mask for three tokens is a square of three."""
        mask = student.call("upper_triangular_mask", 3).value
        where = hides(judge, mask, 3)
        judge(where, future(3), what="where the mask is set", axes=("row", "column"))


@pytest.mark.exercise("mask_scores")
class TestMaskScores:
    @pytest.mark.gate
    def test_the_shape_stays(self, student, judge, printed):
        """The result has the shape of the scores."""
        scores = scores_of_the_text(printed)
        value = student.call("mask_scores", scores, future(6, torch.bool)).value
        judge.shape(value, (6, 6))

    @pytest.mark.weight(2)
    def test_the_masked_scores_as_printed(self, student, judge, printed):
        """A mask of truth values gives the documents' scores with minus infinity."""
        scores = scores_of_the_text(printed)
        value = student.call("mask_scores", scores, future(6, torch.bool)).value
        judge(value, printed("T22"), axes=("query", "key"))

    def test_the_scores_that_stay_are_numbers(self, student, judge, printed):
        """No score becomes NaN."""
        value = student.call("mask_scores", scores_of_the_text(printed), future(6)).value
        judge.shape(value, (6, 6))
        # Where NaN stands tells mistakes apart, and none is named from NaN alone.
        nowhere = not bool(value.isnan().any())
        judge.that(nowhere, "Scores became NaN (not a number)", about=value.isnan())

    def test_a_mask_of_ones_and_zeros_does_the_same(self, student, judge, printed):
        """A mask of ones and zeros gives the same as one of truth values."""
        scores = scores_of_the_text(printed)
        value = student.call("mask_scores", scores, future(6)).value
        judge(value, printed("T22"), axes=("query", "key"))

    def test_the_scores_are_left_as_they_are(self, student, judge, printed):
        """The scores that were handed in are not changed in place."""
        answer = student.call("mask_scores", scores_of_the_text(printed), future(6, torch.bool))
        judge.that(not answer.changed, "It changed one of its arguments in place")


@pytest.mark.exercise("causal_weights")
class TestCausalWeights:
    @pytest.mark.gate
    def test_the_shape_stays(self, student, judge, printed):
        """The result has the shape of the scores."""
        value = student.call("causal_weights", scores_of_the_text(printed), D_K).value
        judge.shape(value, (6, 6))

    @pytest.mark.weight(2)
    def test_the_causal_weights_as_printed(self, student, judge, printed):
        """The documents' scores become the documents' causal weights."""
        value = student.call("causal_weights", scores_of_the_text(printed), D_K).value
        judge(value, printed("T21"), axes=("query", "key"))

    def test_each_row_sums_to_one(self, student, judge, printed):
        """The weights of each token sum to 1."""
        value = student.call("causal_weights", scores_of_the_text(printed), D_K).value
        judge.shape(value, (6, 6))
        judge(value.sum(dim=-1), torch.ones(6), what="the sums of the rows", axes=("query",))

    def test_a_larger_d_k_evens_the_weights_out(self, student, judge):
        """With d_k 4, scores are halved before the softmax."""
        scores = torch.tensor([[0.5, 3.0, 1.0], [2.0, -1.0, 4.0], [1.0, 3.0, -2.0]])
        expected = torch.tensor([[1.0, 0.0, 0.0], [0.8176, 0.1824, 0.0], [0.2537, 0.6897, 0.0566]])
        # Figures with 4 decimals: half a unit of the last digit.
        value = student.call("causal_weights", scores, 4).value
        judge(value, expected, atol=5.1e-5, axes=("query", "key"))
