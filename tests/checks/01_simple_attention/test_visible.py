"""What students see of assignment 01: the documents' tensors, and plain properties."""

import pytest
import torch

JOURNEY = 1

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


@pytest.mark.exercise("dot_product")
class TestDotProduct:
    @pytest.mark.gate
    def test_it_answers_a_single_number(self, student, judge, printed):
        """Two vectors give a tensor of a single number."""
        inputs = printed("T45").tensor
        value = student.call("dot_product", inputs[0], inputs[JOURNEY]).value
        judge.shape(value, ())

    @pytest.mark.weight(2)
    def test_your_and_journey_as_printed(self, student, judge, printed):
        """The dot product of "Your" and "journey" is the documents' 0.9544."""
        inputs = printed("T45").tensor
        value = student.call("dot_product", inputs[0], inputs[JOURNEY]).value
        judge(value, printed("T02"))

    def test_a_vector_with_itself_gives_its_squared_length(self, student, judge):
        """The dot product of a vector with itself is its squared length."""
        vector = torch.tensor([3.0, 4.0, 12.0, 84.0])
        judge(student.call("dot_product", vector, vector).value, torch.tensor(7225.0))

    def test_vectors_at_a_right_angle_give_zero(self, student, judge):
        """Vectors at a right angle have the dot product 0."""
        one, other = torch.tensor([2.0, -1.0]), torch.tensor([1.0, 2.0])
        judge(student.call("dot_product", one, other).value, torch.tensor(0.0))


@pytest.mark.exercise("attention_scores")
class TestAttentionScores:
    @pytest.mark.gate
    def test_there_is_one_score_for_each_token(self, student, judge, printed):
        """The result has one score for each token."""
        inputs = printed("T45").tensor
        value = student.call("attention_scores", inputs[JOURNEY], inputs).value
        judge.shape(value, (6,))

    @pytest.mark.weight(2)
    def test_the_scores_of_journey_as_printed(self, student, judge, printed):
        """The scores of "journey" are the documents'."""
        inputs = printed("T45").tensor
        value = student.call("attention_scores", inputs[JOURNEY], inputs).value
        judge(value, printed("T01"), axes=("token",))

    def test_another_query_has_scores_of_its_own(self, student, judge, printed):
        """When "Your" asks, the scores are its own: the first row of the documents' matrix."""
        inputs = printed("T45").tensor
        value = student.call("attention_scores", inputs[0], inputs).value
        judge(value, printed("T07").tensor[0], atol=printed("T07").atol, axes=("token",))

    def test_four_tokens_have_four_scores(self, student, judge, printed):
        """A text of four tokens has four scores."""
        inputs = printed("T45").tensor[:4]
        value = student.call("attention_scores", inputs[JOURNEY], inputs).value
        judge(value, printed("T01").tensor[:4], atol=printed("T01").atol, axes=("token",))

    def test_the_scores_of_another_text_as_obtained(self, student, judge, printed):
        """With the other second token (0.64), the scores are that document's."""
        inputs = inputs_004(printed)
        value = student.call("attention_scores", inputs[JOURNEY], inputs).value
        judge(value, SCORES_004, atol=printed("T01").atol, axes=("token",))

    def test_the_arguments_are_left_as_they_are(self, student, judge, printed):
        """The query and the inputs are not changed in place."""
        inputs = printed("T45").tensor
        answer = student.call("attention_scores", inputs[JOURNEY], inputs)
        judge.that(not answer.changed, "It changed one of its arguments in place")


@pytest.mark.exercise("normalize_scores")
class TestNormalizeScores:
    @pytest.mark.gate
    def test_the_shape_stays(self, student, judge, printed):
        """The result has the shape of the scores."""
        value = student.call("normalize_scores", printed("T01").tensor).value
        judge.shape(value, (6,))

    @pytest.mark.weight(2)
    def test_the_shares_as_printed(self, student, judge, printed):
        """The scores of "journey" become the documents' shares."""
        value = student.call("normalize_scores", printed("T01").tensor).value
        judge(value, printed("T03"), axes=("token",))

    def test_the_shares_sum_to_one(self, student, judge, printed):
        """The shares sum to 1, as printed."""
        value = student.call("normalize_scores", printed("T01").tensor).value
        judge(value.sum(), printed("T04"), what="the sum of the shares")


@pytest.mark.exercise("softmax_naive")
class TestSoftmaxNaive:
    @pytest.mark.gate
    def test_the_shape_stays(self, student, judge, printed):
        """The result has the shape of the scores."""
        value = student.call("softmax_naive", printed("T01").tensor).value
        judge.shape(value, (6,))

    @pytest.mark.weight(2)
    def test_the_weights_of_journey_as_printed(self, student, judge, printed):
        """The scores of "journey" become the documents' weights."""
        value = student.call("softmax_naive", printed("T01").tensor).value
        judge(value, printed("T05"), axes=("token",))

    def test_the_weights_sum_to_one(self, student, judge, printed):
        """The weights sum to 1, as printed."""
        value = student.call("softmax_naive", printed("T01").tensor).value
        judge(value.sum(), printed("T04"), what="the sum of the weights")

    def test_negative_scores_get_positive_weights(self, student, judge):
        """Negative scores become positive weights."""
        scores = torch.tensor([-1.0, 0.0, 1.0, -2.0])
        expected = torch.tensor([0.0871, 0.2369, 0.6439, 0.0321])
        # Figures with 4 decimals: half a unit of the last digit.
        judge(student.call("softmax_naive", scores).value, expected, atol=5.1e-5, axes=("token",))

    @pytest.mark.remark
    def test_large_scores_do_not_overflow(self, student, judge):
        """Large scores do not overflow (that is what `softmax_stable` is for)."""
        value = student.call("softmax_naive", torch.tensor([1000.0, 1000.0])).value
        judge(value, torch.tensor([0.5, 0.5]))


@pytest.mark.exercise("softmax_stable")
class TestSoftmaxStable:
    @pytest.mark.gate
    def test_the_shape_stays(self, student, judge, printed):
        """The result has the shape of the scores."""
        value = student.call("softmax_stable", printed("T01").tensor).value
        judge.shape(value, (6,))

    @pytest.mark.weight(2)
    def test_the_weights_of_journey_as_printed(self, student, judge, printed):
        """The scores of "journey" become the documents' weights."""
        value = student.call("softmax_stable", printed("T01").tensor).value
        judge(value, printed("T05"), axes=("token",))

    @pytest.mark.weight(2)
    def test_large_scores_do_not_overflow(self, student, judge):
        """Scores of 1000 give weights, not NaN."""
        scores = torch.tensor([1000.0, 1001.0, 999.0])
        expected = torch.tensor([0.2447, 0.6652, 0.0900])
        # Figures with 4 decimals: half a unit of the last digit.
        judge(student.call("softmax_stable", scores).value, expected, atol=5.1e-5, axes=("token",))

    def test_very_negative_scores_do_not_vanish(self, student, judge):
        """Scores of -1000 give weights, not NaN."""
        value = student.call("softmax_stable", torch.tensor([-1000.0, -1000.0])).value
        # Float32 is 6e-5 apart at 1000, which a right form with a logarithm carries along.
        judge(value, torch.tensor([0.5, 0.5]), atol=1e-4)

    def test_exponentials_that_just_fit_have_a_sum_that_fits(self, student, judge):
        """Scores of 88, or 88 apart, give weights, not zeros: exp(88) is nearly the largest float32."""
        # With nothing, the smallest score or the mean subtracted, one of these sums is infinite, and
        # every weight a finite 0: no mistake is named from NaN alone.
        edges = [[88.5, 88.0, 87.5], [28.5, 28.0, -60.0], [28.5, 28.0, -148.0, -148.5]]
        rights = [[0.5065, 0.3072, 0.1863], [0.6225, 0.3775, 0.0], [0.6225, 0.3775, 0.0, 0.0]]
        for scores, right in zip(edges, rights, strict=True):
            value = student.call("softmax_stable", torch.tensor(scores)).value
            # Half a unit of the last decimal, and a float32 at 88 is rounded by 4e-6.
            judge(value, torch.tensor(right), atol=6e-5, axes=("token",))

    def test_scores_far_apart_do_not_overflow(self, student, judge):
        """Scores that lie far apart give weights, not NaN."""
        value = student.call("softmax_stable", torch.tensor([0.0, 200.0, -200.0])).value
        judge(value, torch.tensor([0.0, 1.0, 0.0]), axes=("token",))

    def test_the_scores_are_left_as_they_are(self, student, judge, printed):
        """The scores are not changed in place."""
        answer = student.call("softmax_stable", printed("T01").tensor)
        judge.that(not answer.changed, "It changed its argument in place")


@pytest.mark.exercise("context_vector")
class TestContextVector:
    @pytest.mark.gate
    def test_it_answers_a_vector_like_a_token(self, student, judge, printed):
        """The result is a vector of the size of a token."""
        value = student.call("context_vector", printed("T05").tensor, printed("T45").tensor).value
        judge.shape(value, (3,))

    @pytest.mark.weight(2)
    def test_the_context_of_journey_as_printed(self, student, judge, printed):
        """The printed weights give the documents' context vector of "journey"."""
        value = student.call("context_vector", printed("T05").tensor, printed("T45").tensor).value
        judge(value, printed("T06"), atol=ROUNDED_OPERANDS, axes=("feature",))

    def test_all_weight_on_one_token_gives_that_token(self, student, judge, printed):
        """All the weight on one token gives that token back."""
        weights = torch.tensor([0.0, 0.0, 0.0, 1.0, 0.0, 0.0])
        value = student.call("context_vector", weights, printed("T45").tensor).value
        judge(value, printed("T45").tensor[3], axes=("feature",))
