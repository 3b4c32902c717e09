"""What students see of assignment 01: the documents' tensors, and plain properties."""

import pytest
import torch

from grader.testing import N_

JOURNEY = 1

# All different, and unlike the documents' (6 tokens of 3) and the hidden checks'.
NUM_TOKENS, D_IN = 4, 5

# 004 prints nothing; these figures were obtained by running its code. Its second token is
# [0.55, 0.87, 0.64].
SCORES_004 = torch.tensor([0.9366, 1.4690, 1.4626, 0.8368, 0.7050, 1.0755])

# Printed operands carry half a unit of their last digit into the result: weights printed to 4
# decimals, six products with entries below 1.
ROUNDED_OPERANDS = 3.5e-4


def inputs_004(printed):
    """The six tokens as 004 has them."""
    inputs = printed("T45").tensor.clone()
    inputs[1, 2] = 0.64
    return inputs


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


@pytest.mark.exercise("dot_product")
class TestDotProduct(KeepsNames):
    @pytest.mark.gate
    @pytest.mark.conduct
    def test_it_answers_a_single_number(self, student, judge, printed):
        """Two vectors should give a float32 tensor of a single number."""
        inputs = printed("T45").tensor
        value = student.call("dot_product", inputs[0], inputs[JOURNEY]).value
        judge.shape(value, ())

    @pytest.mark.weight(2)
    def test_your_and_journey_as_printed(self, student, judge, printed):
        """The dot product of "Your" and "journey" should be 0.9544."""
        inputs = printed("T45").tensor
        value = student.call("dot_product", inputs[0], inputs[JOURNEY]).value
        judge(value, printed("T02"))

    def test_a_vector_with_itself_gives_its_squared_length(self, student, judge):
        """The dot product of a vector with itself should be its squared length."""
        vector = torch.tensor([3.0, 4.0, 12.0, 84.0])
        judge(student.call("dot_product", vector, vector).value, torch.tensor(7225.0))

    def test_vectors_at_a_right_angle_give_zero(self, student, judge):
        """Vectors at a right angle should have the dot product 0."""
        one, other = torch.tensor([2.0, -1.0]), torch.tensor([1.0, 2.0])
        judge(student.call("dot_product", one, other).value, torch.tensor(0.0))

    @pytest.mark.conduct
    def test_the_arguments_are_left_as_they_are(self, student, judge, draw):
        """The vectors should stay as they are."""
        answer = student.call("dot_product", draw.normal(D_IN), draw.normal(D_IN))
        judge.that(not answer.changed, "It changed one of its arguments in place")

    def test_gradients_reach_both_vectors(self, student, judge, draw):
        """Gradients should flow to both vectors: for each, it is the other one."""
        a, b = draw.normal(D_IN), draw.normal(D_IN)
        gradients = student.call("dot_product", a, b, cotangent=torch.tensor(1.0)).gradients
        judge(gradients.arguments["0"], b, what="the gradient for a", axes=("entry",))
        judge(gradients.arguments["1"], a, what="the gradient for b", axes=("entry",))


@pytest.mark.exercise("attention_scores")
class TestAttentionScores(KeepsNames):
    @pytest.mark.gate
    @pytest.mark.conduct
    def test_there_is_one_score_for_each_token(self, student, judge, printed):
        """The result should have one float32 score for each token."""
        inputs = printed("T45").tensor
        value = student.call("attention_scores", inputs[JOURNEY], inputs).value
        judge.shape(value, (6,))

    @pytest.mark.weight(2)
    def test_the_scores_of_journey_as_printed(self, student, judge, printed):
        """The scores of "journey" should be the example's."""
        inputs = printed("T45").tensor
        value = student.call("attention_scores", inputs[JOURNEY], inputs).value
        judge(value, printed("T01"), axes=("token",))

    def test_another_query_has_scores_of_its_own(self, student, judge, printed):
        """When "Your" asks, the scores should be its own, not those of "journey"."""
        inputs = printed("T45").tensor
        value = student.call("attention_scores", inputs[0], inputs).value
        judge(value, printed("T07").tensor[0], atol=printed("T07").atol, axes=("token",))

    def test_four_tokens_have_four_scores(self, student, judge, printed):
        """A text of four tokens should have four scores."""
        inputs = printed("T45").tensor[:4]
        value = student.call("attention_scores", inputs[JOURNEY], inputs).value
        judge(value, printed("T01").tensor[:4], atol=printed("T01").atol, axes=("token",))

    def test_the_scores_of_another_text_as_obtained(self, student, judge, printed):
        """With another second token (0.64 instead of 0.66), the scores should change with it."""
        inputs = inputs_004(printed)
        value = student.call("attention_scores", inputs[JOURNEY], inputs).value
        judge(value, SCORES_004, atol=printed("T01").atol, axes=("token",))

    @pytest.mark.conduct
    def test_the_arguments_are_left_as_they_are(self, student, judge, printed):
        """The query and the inputs should stay as they are."""
        inputs = printed("T45").tensor
        answer = student.call("attention_scores", inputs[JOURNEY], inputs)
        judge.that(not answer.changed, "It changed one of its arguments in place")

    def test_gradients_reach_the_tokens(self, student, reference, judge, draw):
        """Gradients should flow to the query and to the tokens."""
        query, inputs = draw.normal(D_IN), draw.normal(NUM_TOKENS, D_IN)
        cotangent = draw.normal(NUM_TOKENS)
        mine = student.call("attention_scores", query, inputs, cotangent=cotangent).gradients
        right = reference.call("attention_scores", query, inputs, cotangent=cotangent).gradients
        judge(mine.arguments["0"], right.arguments["0"], what="the gradient for the query")
        judge(mine.arguments["1"], right.arguments["1"], what="the gradient for the inputs")


@pytest.mark.exercise("normalize_scores")
class TestNormalizeScores(KeepsNames):
    @pytest.mark.gate
    @pytest.mark.conduct
    def test_the_shape_stays(self, student, judge, printed):
        """The result should have the shape and the dtype of the scores."""
        value = student.call("normalize_scores", printed("T01").tensor).value
        judge.shape(value, (6,))

    @pytest.mark.weight(2)
    def test_the_shares_as_printed(self, student, judge, printed):
        """The scores of "journey" should become the example's shares."""
        value = student.call("normalize_scores", printed("T01").tensor).value
        judge(value, printed("T03"), axes=("token",))

    def test_the_shares_sum_to_one(self, student, judge, printed):
        """The shares should sum to 1."""
        value = student.call("normalize_scores", printed("T01").tensor).value
        judge(value.sum(), printed("T04"), what="the sum of the shares")
        # Thirds have more digits than are printed.
        value = student.call("normalize_scores", torch.ones(3)).value
        judge(value, torch.full((3,), 1 / 3), axes=("token",))

    @pytest.mark.remark
    def test_the_shares_sum_to_one_with_a_negative_score(self, student, judge):
        """With a negative score among them, too, each share should be its score divided by the sum."""
        scores, shares = torch.tensor([3.0, 2.0, -1.0]), torch.tensor([0.75, 0.5, -0.25])
        value = student.call("normalize_scores", scores).value
        judge(value, shares, axes=("token",))

    @pytest.mark.conduct
    def test_the_scores_are_left_as_they_are(self, student, judge, draw):
        """The scores should stay as they are."""
        answer = student.call("normalize_scores", draw.uniform(NUM_TOKENS, low=0.2, high=2.0))
        judge.that(not answer.changed, "It changed its argument in place")


@pytest.mark.exercise("softmax_naive")
class TestSoftmaxNaive(KeepsNames):
    @pytest.mark.gate
    @pytest.mark.conduct
    def test_the_shape_stays(self, student, judge, printed):
        """The result should have the shape and the dtype of the scores."""
        value = student.call("softmax_naive", printed("T01").tensor).value
        judge.shape(value, (6,))

    @pytest.mark.weight(2)
    def test_the_weights_of_journey_as_printed(self, student, judge, printed):
        """The scores of "journey" should become the example's weights."""
        value = student.call("softmax_naive", printed("T01").tensor).value
        judge(value, printed("T05"), axes=("token",))

    def test_the_weights_sum_to_one(self, student, judge, printed):
        """The weights should sum to 1."""
        value = student.call("softmax_naive", printed("T01").tensor).value
        judge(value.sum(), printed("T04"), what="the sum of the weights")

    def test_negative_scores_get_positive_weights(self, student, judge):
        """Negative scores should become the right weights, all of them positive."""
        scores = torch.tensor([-1.0, 0.0, 1.0, -2.0])
        expected = torch.tensor([0.0871, 0.2369, 0.6439, 0.0321])
        # Figures with 4 decimals: half a unit of the last digit.
        judge(student.call("softmax_naive", scores).value, expected, atol=5.1e-5, axes=("token",))

    @pytest.mark.remark
    def test_large_scores_do_not_overflow(self, student, judge):
        """Large scores should not overflow: `softmax_stable`, which comes next, is for that."""
        value = student.call("softmax_naive", torch.tensor([1000.0, 1000.0])).value
        judge.shape(value, (2,))
        judge.that(not value.isnan().any(), "Scores of 1000 give NaN", about=value)

    @pytest.mark.conduct
    def test_the_scores_are_left_as_they_are(self, student, judge, draw):
        """The scores should stay as they are."""
        answer = student.call("softmax_naive", draw.normal(NUM_TOKENS))
        judge.that(not answer.changed, "It changed its argument in place")

    def test_double_precision_is_kept(self, student, reference, judge, draw):
        """Scores in float64 should give weights in float64, with all their digits."""
        scores = draw.normal(NUM_TOKENS, dtype=torch.float64)
        expected = reference.call("softmax_naive", scores).value
        value = student.call("softmax_naive", scores).value
        judge.shape(value, (NUM_TOKENS,), dtype=torch.float64)
        off = float((value - expected).abs().max())
        sentence = N_(
            "Only the first digits are right: is the result, or a number in your code, rounded?"
        )
        # Float32 alone is off by less.
        judge.that(not 1e-6 < off < 5e-4, sentence)
        judge(value, expected, axes=("token",))

    @pytest.mark.remark
    def test_it_is_written_with_exponentials(self, student, judge):
        """It should be written with `torch.exp`."""
        scores = torch.tensor([1.0, 2.0])
        found = student.call("softmax_naive", scores, operations=True).operations
        is_own = not any("softmax" in operation for operation in found)
        judge.that(is_own, "It calls the ready-made softmax: the point is to see what that does")
        judge.that(found.keys() & {"exp", "exp_"}, "It does not call `torch.exp`")


@pytest.mark.exercise("softmax_stable")
class TestSoftmaxStable(KeepsNames):
    @pytest.mark.gate
    @pytest.mark.conduct
    def test_the_shape_stays(self, student, judge, printed):
        """The result should have the shape and the dtype of the scores."""
        value = student.call("softmax_stable", printed("T01").tensor).value
        judge.shape(value, (6,))

    @pytest.mark.weight(2)
    def test_the_weights_of_journey_as_printed(self, student, judge, printed):
        """The scores of "journey" should become the example's weights."""
        value = student.call("softmax_stable", printed("T01").tensor).value
        judge(value, printed("T05"), axes=("token",))

    @pytest.mark.weight(2)
    def test_large_scores_do_not_overflow(self, student, judge):
        """Scores of 1000 should give weights that sum to 1."""
        scores = torch.tensor([1000.0, 1001.0, 999.0])
        expected = torch.tensor([0.2447, 0.6652, 0.0900])
        # Figures with 4 decimals: half a unit of the last digit.
        judge(student.call("softmax_stable", scores).value, expected, atol=5.1e-5, axes=("token",))

    def test_very_negative_scores_do_not_vanish(self, student, judge):
        """Scores of -1000 should give weights that sum to 1."""
        value = student.call("softmax_stable", torch.tensor([-1000.0, -1000.0])).value
        # Float32 is 6e-5 apart at 1000, which a right form with a logarithm carries along.
        judge(value, torch.tensor([0.5, 0.5]), atol=1e-4)

    def test_exponentials_that_just_fit_have_a_sum_that_fits(self, student, judge):
        """Scores of 88, or 88 apart, should give weights that sum to 1: exp(88) is nearly the largest float32."""
        # With nothing, the smallest score or the mean subtracted, one of these sums is infinite, and
        # every weight a finite 0: no mistake is named from NaN alone.
        edges = [[88.5, 88.0, 87.5], [28.5, 28.0, -60.0], [28.5, 28.0, -148.0, -148.5]]
        rights = [[0.5065, 0.3072, 0.1863], [0.6225, 0.3775, 0.0], [0.6225, 0.3775, 0.0, 0.0]]
        for scores, right in zip(edges, rights, strict=True):
            value = student.call("softmax_stable", torch.tensor(scores)).value
            # Half a unit of the last decimal, and a float32 at 88 is rounded by 4e-6.
            judge(value, torch.tensor(right), atol=6e-5, axes=("token",))

    def test_scores_far_apart_do_not_overflow(self, student, judge):
        """Scores that lie far apart should give weights that sum to 1."""
        value = student.call("softmax_stable", torch.tensor([0.0, 200.0, -200.0])).value
        judge(value, torch.tensor([0.0, 1.0, 0.0]), axes=("token",))

    @pytest.mark.conduct
    def test_the_scores_are_left_as_they_are(self, student, judge, printed):
        """The scores should stay as they are."""
        answer = student.call("softmax_stable", printed("T01").tensor)
        judge.that(not answer.changed, "It changed its argument in place")

    def test_gradients_reach_the_scores(self, student, reference, judge, draw):
        """Gradients should flow to the scores."""
        scores, cotangent = draw.normal(NUM_TOKENS), draw.normal(NUM_TOKENS)
        mine = student.call("softmax_stable", scores, cotangent=cotangent).gradients
        right = reference.call("softmax_stable", scores, cotangent=cotangent).gradients
        judge(mine.arguments["0"], right.arguments["0"], what="the gradient for the scores")

    @pytest.mark.remark
    def test_it_is_written_with_exponentials(self, student, judge):
        """It should be written with `torch.exp`, not with the ready-made softmax."""
        scores = torch.tensor([1.0, 2.0])
        found = student.call("softmax_stable", scores, operations=True).operations
        is_own = not any("softmax" in operation for operation in found)
        judge.that(is_own, "It calls the ready-made softmax: the point is to see what that does")


@pytest.mark.exercise("context_vector")
class TestContextVector(KeepsNames):
    @pytest.mark.gate
    @pytest.mark.conduct
    def test_it_answers_a_vector_like_a_token(self, student, judge, printed):
        """The result should be a float32 vector of the size of a token."""
        value = student.call("context_vector", printed("T05").tensor, printed("T45").tensor).value
        judge.shape(value, (3,))

    @pytest.mark.weight(2)
    def test_the_context_of_journey_as_printed(self, student, judge, printed):
        """The example's weights should give its context vector of "journey"."""
        value = student.call("context_vector", printed("T05").tensor, printed("T45").tensor).value
        judge(value, printed("T06"), atol=ROUNDED_OPERANDS, axes=("feature",))

    def test_all_weight_on_one_token_gives_that_token(self, student, judge, printed):
        """All the weight on one token should give that token back."""
        weights = torch.tensor([0.0, 0.0, 0.0, 1.0, 0.0, 0.0])
        value = student.call("context_vector", weights, printed("T45").tensor).value
        judge(value, printed("T45").tensor[3], axes=("feature",))

    def test_weights_of_any_sum_are_taken_as_they_are(self, student, reference, judge, draw):
        """Weights that do not sum to 1 should be taken as they are, too."""
        weights, inputs = draw.uniform(NUM_TOKENS, low=0.1), draw.normal(NUM_TOKENS, D_IN)
        expected = reference.call("context_vector", weights, inputs).value
        judge(student.call("context_vector", weights, inputs).value, expected, axes=("feature",))

    @pytest.mark.conduct
    def test_the_arguments_are_left_as_they_are(self, student, judge, draw):
        """The weights and the inputs should stay as they are."""
        answer = student.call(
            "context_vector", draw.uniform(NUM_TOKENS), draw.normal(NUM_TOKENS, D_IN)
        )
        judge.that(not answer.changed, "It changed one of its arguments in place")
