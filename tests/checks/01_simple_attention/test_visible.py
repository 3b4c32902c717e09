"""What students see of assignment 01: the documents' tensors, and plain properties."""

import pytest
import torch

from grader.testing import N_
from grader.testing.mixins import KeepsArguments, KeepsNames

from ..helpers import FOUR_DECIMALS, JOURNEY, OfScores, inputs_004

# All different, and unlike the documents' (6 tokens of 3) and the hidden checks'.
NUM_TOKENS, D_IN = 4, 5

# 004 prints nothing; these figures were obtained by running its code. Its second token is
# [0.55, 0.87, 0.64].
SCORES_004 = torch.tensor([0.9366, 1.4690, 1.4626, 0.8368, 0.7050, 1.0755])

# Printed operands carry half a unit of their last digit into the result: weights printed to 4
# decimals, six products with entries below 1.
ROUNDED_OPERANDS = 3.5e-4


@pytest.mark.exercise("dot_product")
class TestDotProduct(KeepsNames, KeepsArguments):
    shapes = ((D_IN,), (D_IN,))

    @pytest.mark.gate
    @pytest.mark.conduct
    def test_it_answers_a_single_number(self, attempt, printed):
        """Two vectors should give a float32 tensor of a single number."""
        attempt(printed("T45").tensor[0], printed("T45").tensor[JOURNEY]).has_shape()

    @pytest.mark.weight(2)
    def test_your_and_journey_as_printed(self, attempt, printed):
        """The dot product of "Your" and "journey" should be 0.9544."""
        attempt(printed("T45").tensor[0], printed("T45").tensor[JOURNEY]).gives(printed("T02"))

    def test_a_vector_with_itself_gives_its_squared_length(self, attempt):
        """The dot product of a vector with itself should be its squared length."""
        vector = torch.tensor([3.0, 4.0, 12.0, 84.0])
        attempt(vector, vector).gives(torch.tensor(7225.0))

    def test_vectors_at_a_right_angle_give_zero(self, attempt):
        """Vectors at a right angle should have the dot product 0."""
        attempt(torch.tensor([2.0, -1.0]), torch.tensor([1.0, 2.0])).gives(torch.tensor(0.0))

    def test_gradients_reach_both_vectors(self, attempt, judge, draw):
        """Gradients should flow to both vectors: for each, it is the other one."""
        a, b = self.inputs(draw)
        gradients = attempt(a, b, cotangent=torch.tensor(1.0)).answer.gradients
        judge(gradients.arguments["0"], b, what="the gradient for a", axes=("entry",))
        judge(gradients.arguments["1"], a, what="the gradient for b", axes=("entry",))


@pytest.mark.exercise("attention_scores")
class TestAttentionScores(KeepsNames):
    axes = (N_("token"),)

    @pytest.mark.gate
    @pytest.mark.conduct
    def test_there_is_one_score_for_each_token(self, attempt, printed):
        """The result should have one float32 score for each token."""
        attempt(printed("T45").tensor[JOURNEY], printed("T45")).has_shape(6)

    @pytest.mark.weight(2)
    def test_the_scores_of_journey_as_printed(self, attempt, printed):
        """The scores of "journey" should be the example's."""
        inputs = printed("T45").tensor
        attempt(inputs[JOURNEY], inputs).gives(printed("T01"))

    def test_another_query_has_scores_of_its_own(self, attempt, printed):
        """When "Your" asks, the scores should be its own, not those of "journey"."""
        inputs, right = printed("T45").tensor, printed("T07")
        attempt(inputs[0], inputs).gives(right.tensor[0], atol=right.atol)

    def test_four_tokens_have_four_scores(self, attempt, printed):
        """A text of four tokens should have four scores."""
        inputs, right = printed("T45").tensor[:4], printed("T01")
        attempt(inputs[JOURNEY], inputs).gives(right.tensor[:4], atol=right.atol)

    def test_the_scores_of_another_text_as_obtained(self, attempt, printed):
        """With another second token (0.64 instead of 0.66), the scores should change with it."""
        inputs = inputs_004(printed)
        attempt(inputs[JOURNEY], inputs).gives(SCORES_004, atol=FOUR_DECIMALS)

    @pytest.mark.conduct
    def test_the_arguments_are_left_as_they_are(self, attempt, printed):
        """The query and the inputs should stay as they are."""
        attempt(printed("T45").tensor[JOURNEY], printed("T45")).keeps_arguments()

    def test_gradients_reach_the_tokens(self, attempt, draw):
        """Gradients should flow to the query and to the tokens."""
        query, inputs = draw.normal(D_IN), draw.normal(NUM_TOKENS, D_IN)
        called = attempt(query, inputs, cotangent=draw.normal(NUM_TOKENS))
        called.gradients_agree(what=("the gradient for the query", "the gradient for the inputs"))


class ScoresOfJourney(OfScores):
    """Checks of a function of the scores of one query."""

    axes, shapes = (N_("token"),), ((NUM_TOKENS,),)

    def example(self, printed):
        """The scores of "journey"."""
        return (printed("T01"),)


@pytest.mark.exercise("normalize_scores")
class TestNormalizeScores(ScoresOfJourney):
    @pytest.mark.weight(2)
    def test_the_shares_as_printed(self, attempt, printed):
        """The scores of "journey" should become the example's shares."""
        attempt(printed("T01")).gives(printed("T03"))

    def test_the_shares_sum_to_one(self, attempt, judge, printed):
        """The shares should sum to 1."""
        judge(attempt(printed("T01")).value.sum(), printed("T04"), what="the sum of the shares")
        # Thirds have more digits than are printed.
        attempt(torch.ones(3)).gives(torch.full((3,), 1 / 3))

    @pytest.mark.remark
    def test_the_shares_sum_to_one_with_a_negative_score(self, attempt):
        """With a negative score among them, too, each share should be its score divided by the sum."""
        scores, shares = torch.tensor([3.0, 2.0, -1.0]), torch.tensor([0.75, 0.5, -0.25])
        attempt(scores).gives(shares)


@pytest.mark.exercise("softmax_naive")
class TestSoftmaxNaive(ScoresOfJourney):
    @pytest.mark.weight(2)
    def test_the_weights_of_journey_as_printed(self, attempt, printed):
        """The scores of "journey" should become the example's weights."""
        attempt(printed("T01")).gives(printed("T05"))

    def test_the_weights_sum_to_one(self, attempt, judge, printed):
        """The weights should sum to 1."""
        judge(attempt(printed("T01")).value.sum(), printed("T04"), what="the sum of the weights")

    def test_negative_scores_get_positive_weights(self, attempt):
        """Negative scores should become the right weights, all of them positive."""
        weights = torch.tensor([0.0871, 0.2369, 0.6439, 0.0321])
        scores = torch.tensor([-1.0, 0.0, 1.0, -2.0])
        attempt(scores).gives(weights, atol=FOUR_DECIMALS)

    @pytest.mark.remark
    def test_large_scores_do_not_overflow(self, attempt, judge):
        """Large scores should not overflow: `softmax_stable`, which comes next, is for that."""
        value = attempt(torch.tensor([1000.0, 1000.0])).has_shape(2)
        judge.that(not value.isnan().any(), "Scores of 1000 give NaN", about=value)

    test_the_scores_are_left_as_they_are = OfScores.test_the_scores_are_left_as_they_are

    def test_double_precision_is_kept(self, attempt, judge, draw):
        """Scores in float64 should give weights in float64, with all their digits."""
        called = attempt(draw.normal(NUM_TOKENS, dtype=torch.float64))
        value = called.has_shape(NUM_TOKENS, dtype=torch.float64)
        off = float((value - called.expected).abs().max())
        sentence = N_(
            "Only the first digits are right: is the result, or a number in your code, rounded?"
        )
        # Float32 alone is off by less.
        judge.that(not 1e-6 < off < 5e-4, sentence)
        called.agrees()

    @pytest.mark.remark
    def test_it_is_written_with_exponentials(self, attempt, judge):
        """It should be written with `torch.exp`."""
        found = attempt(torch.tensor([1.0, 2.0]), operations=True).answer.operations
        is_own = not any("softmax" in operation for operation in found)
        judge.that(is_own, "It calls the ready-made softmax: the point is to see what that does")
        judge.that(found.keys() & {"exp", "exp_"}, "It does not call `torch.exp`")


@pytest.mark.exercise("softmax_stable")
class TestSoftmaxStable(ScoresOfJourney):
    @pytest.mark.weight(2)
    def test_the_weights_of_journey_as_printed(self, attempt, printed):
        """The scores of "journey" should become the example's weights."""
        attempt(printed("T01")).gives(printed("T05"))

    @pytest.mark.weight(2)
    def test_large_scores_do_not_overflow(self, attempt):
        """Scores around 1000 should give the weights of scores around 0 that lie as far apart."""
        weights = torch.tensor([0.2447, 0.6652, 0.0900])
        scores = torch.tensor([1000.0, 1001.0, 999.0])
        attempt(scores).gives(weights, atol=FOUR_DECIMALS)

    def test_very_negative_scores_do_not_vanish(self, attempt):
        """Two scores of -1000 should give each a weight of one half."""
        # Float32 is 6e-5 apart at 1000, which a right form with a logarithm carries along.
        attempt(torch.tensor([-1000.0, -1000.0])).gives(torch.tensor([0.5, 0.5]), atol=1e-4)

    def test_exponentials_that_just_fit_have_a_sum_that_fits(self, attempt):
        """Scores of 88, or 88 apart, should give the right weights: exp(88) is nearly the largest float32."""
        # With nothing, the smallest score or the mean subtracted, one of these sums is infinite, and
        # every weight a finite 0: no mistake is named from NaN alone.
        edges = [[88.5, 88.0, 87.5], [28.5, 28.0, -60.0], [28.5, 28.0, -148.0, -148.5]]
        rights = [[0.5065, 0.3072, 0.1863], [0.6225, 0.3775, 0.0], [0.6225, 0.3775, 0.0, 0.0]]
        for scores, right in zip(edges, rights, strict=True):
            # Half a unit of the last decimal, and a float32 at 88 is rounded by 4e-6.
            attempt(torch.tensor(scores)).gives(torch.tensor(right), atol=6e-5)

    def test_scores_far_apart_do_not_overflow(self, attempt):
        """Scores that lie far apart should give all weight to the largest."""
        weights = torch.tensor([0.0, 1.0, 0.0])
        attempt(torch.tensor([0.0, 200.0, -200.0])).gives(weights)

    test_the_scores_are_left_as_they_are = OfScores.test_the_scores_are_left_as_they_are

    def test_gradients_reach_the_scores(self, attempt, draw):
        """Gradients should flow to the scores."""
        called = attempt(draw.normal(NUM_TOKENS), cotangent=draw.normal(NUM_TOKENS))
        called.gradients_agree(what="the gradient for the scores")

    @pytest.mark.remark
    def test_it_is_written_with_exponentials(self, attempt, judge):
        """It should be written with `torch.exp`, not with the ready-made softmax."""
        found = attempt(torch.tensor([1.0, 2.0]), operations=True).answer.operations
        is_own = not any("softmax" in operation for operation in found)
        judge.that(is_own, "It calls the ready-made softmax: the point is to see what that does")


@pytest.mark.exercise("context_vector")
class TestContextVector(KeepsNames, KeepsArguments):
    axes = (N_("feature"),)

    def inputs(self, draw, dtype=torch.float32):
        """Weights and tokens."""
        return draw.uniform(NUM_TOKENS).to(dtype), draw.normal(NUM_TOKENS, D_IN, dtype=dtype)

    @pytest.mark.gate
    @pytest.mark.conduct
    def test_it_answers_a_vector_like_a_token(self, attempt, printed):
        """The result should be a float32 vector of the size of a token."""
        attempt(printed("T05"), printed("T45")).has_shape(3)

    @pytest.mark.weight(2)
    def test_the_context_of_journey_as_printed(self, attempt, printed):
        """The example's weights should give its context vector of "journey"."""
        attempt(printed("T05"), printed("T45")).gives(printed("T06"), atol=ROUNDED_OPERANDS)

    def test_all_weight_on_one_token_gives_that_token(self, attempt, printed):
        """All the weight on one token should give that token back."""
        weights = torch.tensor([0.0, 0.0, 0.0, 1.0, 0.0, 0.0])
        attempt(weights, printed("T45")).gives(printed("T45").tensor[3])

    def test_weights_of_any_sum_are_taken_as_they_are(self, attempt, draw):
        """Weights that do not sum to 1 should be taken as they are, too."""
        weights = draw.uniform(NUM_TOKENS, low=0.1)
        attempt(weights, draw.normal(NUM_TOKENS, D_IN)).agrees()
