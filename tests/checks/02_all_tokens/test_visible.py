"""What students see of assignment 02: the documents' tensors, and plain properties."""

import pytest
import torch

JOURNEY = 1

# All different, and unlike the documents' (6 tokens of 3) and the hidden checks'.
NUM_TOKENS, D_IN = 4, 5

# Weights printed to 4 decimals carry half a unit of their last digit into the result, times a
# column of the inputs (whose entries sum to 3.5 at most), and the result was rounded itself.
ROUNDED_WEIGHTS = 2.3e-4

# Figures with 4 decimals: half a unit of the last digit.
FOUR_DECIMALS = 5.1e-5


def inputs_004(printed):
    """The six tokens as 004 has them."""
    inputs = printed("T45").tensor.clone()
    inputs[JOURNEY, 2] = 0.64
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


@pytest.mark.exercise("attention_scores_loop")
class TestAttentionScoresLoop(KeepsNames):
    @pytest.mark.gate
    @pytest.mark.conduct
    def test_there_is_one_score_for_each_pair(self, student, judge, printed):
        """Six tokens should have 6 times 6 scores in float32."""
        judge.shape(student.call("attention_scores_loop", printed("T45").tensor).value, (6, 6))

    @pytest.mark.weight(2)
    def test_all_scores_as_printed(self, student, judge, printed):
        """The scores of all tokens should be the example's."""
        value = student.call("attention_scores_loop", printed("T45").tensor).value
        judge(value, printed("T07"), axes=("query", "token"))

    def test_two_tokens_have_four_scores(self, student, reference, judge):
        """A text of two tokens should have 2 times 2 scores."""
        inputs = torch.tensor([[1.0, 2.0], [3.0, -1.0]])
        expected = reference.call("attention_scores_loop", inputs).value
        value = student.call("attention_scores_loop", inputs).value
        judge(value, expected, axes=("query", "token"))

    @pytest.mark.remark
    def test_double_precision_is_kept(self, student, judge, draw):
        """Inputs in float64 should give scores in float64: make room in the inputs' dtype."""
        inputs = draw.normal(4, 3, dtype=torch.float64)
        judge.shape(student.call("attention_scores_loop", inputs).value, (4, 4), dtype=inputs.dtype)

    def test_gradients_reach_the_tokens(self, student, reference, judge, draw):
        """Gradients should flow to the tokens."""
        inputs, cotangent = draw.normal(NUM_TOKENS, D_IN), draw.normal(NUM_TOKENS, NUM_TOKENS)
        mine = student.call("attention_scores_loop", inputs, cotangent=cotangent).gradients
        right = reference.call("attention_scores_loop", inputs, cotangent=cotangent).gradients
        judge(mine.arguments["0"], right.arguments["0"], what="the gradient for the inputs")

    @pytest.mark.conduct
    def test_the_inputs_are_left_as_they_are(self, student, judge, draw):
        """The inputs should stay as they are."""
        answer = student.call("attention_scores_loop", draw.normal(NUM_TOKENS, D_IN))
        judge.that(not answer.changed, "It changed its argument in place")

    @pytest.mark.remark
    def test_the_tokens_are_gone_through_in_a_loop(self, student, judge, draw):
        """The scores should be made in loops: one product for all is the next exercise."""
        inputs = draw.normal(12, D_IN)
        found = student.call("attention_scores_loop", inputs, operations=True).operations
        # A loop over twelve tokens calls something twelve times, or computes outside of torch.
        is_loop = max(found.values(), default=12) >= 12 or found.keys() & {"tolist", "numpy"}
        judge.that(bool(is_loop), "It made all scores at once: that is the next exercise")


@pytest.mark.exercise("attention_scores_matmul")
class TestAttentionScoresMatmul(KeepsNames):
    @pytest.mark.gate
    @pytest.mark.conduct
    def test_there_is_one_score_for_each_pair(self, student, judge, printed):
        """Six tokens should have 6 times 6 scores in float32."""
        judge.shape(student.call("attention_scores_matmul", printed("T45").tensor).value, (6, 6))

    @pytest.mark.weight(2)
    def test_all_scores_as_printed(self, student, judge, printed):
        """The scores of all tokens should be the example's."""
        value = student.call("attention_scores_matmul", printed("T45").tensor).value
        judge(value, printed("T07"), axes=("query", "token"))

    def test_another_text_has_other_scores(self, student, reference, judge, printed):
        """With another second token (0.64, not 0.66), its row of scores should change, too."""
        inputs = inputs_004(printed)
        expected = reference.call("attention_scores_matmul", inputs).value[JOURNEY]
        value = student.call("attention_scores_matmul", inputs).value
        judge.shape(value, (6, 6))
        judge(value[JOURNEY], expected, what='"journey"', axes=("token",))

    def test_gradients_reach_the_tokens(self, student, reference, judge, draw):
        """Gradients should flow to the tokens."""
        inputs, cotangent = draw.normal(NUM_TOKENS, D_IN), draw.normal(NUM_TOKENS, NUM_TOKENS)
        mine = student.call("attention_scores_matmul", inputs, cotangent=cotangent).gradients
        right = reference.call("attention_scores_matmul", inputs, cotangent=cotangent).gradients
        judge(mine.arguments["0"], right.arguments["0"], what="the gradient for the inputs")

    @pytest.mark.conduct
    def test_the_inputs_are_left_as_they_are(self, student, judge, draw):
        """The inputs should stay as they are."""
        answer = student.call("attention_scores_matmul", draw.normal(NUM_TOKENS, D_IN))
        judge.that(not answer.changed, "It changed its argument in place")

    def test_double_precision_is_kept(self, student, reference, judge, draw):
        """Inputs in float64 should give scores in float64."""
        inputs = draw.normal(NUM_TOKENS, D_IN, dtype=torch.float64)
        expected = reference.call("attention_scores_matmul", inputs).value
        value = student.call("attention_scores_matmul", inputs).value
        judge(value, expected, axes=("query", "token"))


@pytest.mark.exercise("attention_weights")
class TestAttentionWeights(KeepsNames):
    @pytest.mark.gate
    @pytest.mark.conduct
    def test_the_shape_stays(self, student, judge, printed):
        """The result should have the shape and the dtype of the scores."""
        judge.shape(student.call("attention_weights", printed("T07").tensor).value, (6, 6))

    @pytest.mark.weight(2)
    def test_all_weights_as_printed(self, student, judge, printed):
        """The example's scores should give its weights."""
        value = student.call("attention_weights", printed("T07").tensor).value
        judge(value, printed("T08"), axes=("query", "token"))

    def test_each_row_of_weights_sums_to_one(self, student, judge, printed):
        """The weights of each query should sum to 1."""
        value = student.call("attention_weights", printed("T07").tensor).value
        judge.shape(value, (6, 6))
        judge(value.sum(dim=-1), printed("T09"), what="the sum of each row", axes=("query",))

    @pytest.mark.weight(2)
    def test_scores_that_are_not_symmetric(self, student, judge):
        """Each row should be a softmax of its own, also where the scores are not symmetric."""
        scores = torch.tensor([[0.0, 1.0, -1.0], [2.0, 0.0, 1.0], [1.0, 1.0, 1.0]])
        expected = torch.tensor(
            [[0.2447, 0.6652, 0.0900], [0.6652, 0.0900, 0.2447], [0.3333, 0.3333, 0.3333]]
        )
        value = student.call("attention_weights", scores).value
        judge(value, expected, atol=FOUR_DECIMALS, axes=("query", "token"))

    @pytest.mark.remark
    def test_large_scores_do_not_overflow(self, student, judge):
        """Scores of 1000 should not become NaN: the ready-made softmax takes care of that."""
        value = student.call("attention_weights", torch.full((2, 2), 1000.0)).value
        judge.shape(value, (2, 2))
        judge.that(not value.isnan().any(), "Scores of 1000 give NaN", about=value)

    def test_gradients_reach_the_scores(self, student, reference, judge, draw):
        """Gradients should flow to the scores."""
        scores, cotangent = draw.normal(NUM_TOKENS, NUM_TOKENS), draw.normal(NUM_TOKENS, NUM_TOKENS)
        mine = student.call("attention_weights", scores, cotangent=cotangent).gradients
        right = reference.call("attention_weights", scores, cotangent=cotangent).gradients
        judge(mine.arguments["0"], right.arguments["0"], what="the gradient for the scores")

    @pytest.mark.conduct
    def test_the_scores_are_left_as_they_are(self, student, judge, draw):
        """The scores should stay as they are."""
        answer = student.call("attention_weights", draw.normal(NUM_TOKENS, NUM_TOKENS))
        judge.that(not answer.changed, "It changed its argument in place")

    def test_double_precision_is_kept(self, student, reference, judge, draw):
        """Scores in float64 should give weights in float64."""
        scores = draw.normal(NUM_TOKENS, NUM_TOKENS, dtype=torch.float64)
        expected = reference.call("attention_weights", scores).value
        value = student.call("attention_weights", scores).value
        judge(value, expected, axes=("query", "token"))


@pytest.mark.exercise("context_vectors")
class TestContextVectors(KeepsNames):
    @pytest.mark.gate
    @pytest.mark.conduct
    def test_there_is_one_context_vector_for_each_token(self, student, judge, printed):
        """The result should have the shape and the dtype of the inputs."""
        value = student.call("context_vectors", printed("T08").tensor, printed("T45").tensor).value
        judge.shape(value, (6, 3))

    @pytest.mark.weight(2)
    def test_all_context_vectors_as_printed(self, student, judge, printed):
        """The example's weights should give its context vectors."""
        value = student.call("context_vectors", printed("T08").tensor, printed("T45").tensor).value
        judge(value, printed("T10"), atol=ROUNDED_WEIGHTS, axes=("query", "feature"))

    def test_the_row_of_journey_is_its_context_vector(self, student, judge, printed):
        """The second row should be the context vector that "journey" got on its own."""
        value = student.call("context_vectors", printed("T08").tensor, printed("T45").tensor).value
        judge.shape(value, (6, 3))
        row = value[JOURNEY]
        judge(row, printed("T06"), atol=ROUNDED_WEIGHTS, what='"journey"', axes=("feature",))

    def test_all_weight_on_one_token_gives_that_token(self, student, judge):
        """A query with all its weight on one token should get that token back."""
        weights = torch.tensor([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
        inputs = torch.tensor([[1.0, 2.0], [3.0, 5.0], [-4.0, 7.0]])
        expected = torch.tensor([[3.0, 5.0], [-4.0, 7.0], [3.0, 5.0]])
        value = student.call("context_vectors", weights, inputs).value
        judge(value, expected, axes=("query", "feature"))
        # A text of one token gives a matrix, too.
        value = student.call("context_vectors", torch.ones(1, 1), inputs[:1]).value
        judge(value, inputs[:1], axes=("query", "feature"))

    def test_weights_of_any_sum_are_taken_as_they_are(self, student, reference, judge, draw):
        """Weights that do not sum to 1 should be taken as they are, too."""
        weights, inputs = (
            draw.uniform(NUM_TOKENS, NUM_TOKENS, low=0.1),
            draw.normal(NUM_TOKENS, D_IN),
        )
        expected = reference.call("context_vectors", weights, inputs).value
        value = student.call("context_vectors", weights, inputs).value
        judge(value, expected, axes=("query", "feature"))

    def test_gradients_reach_weights_and_tokens(self, student, reference, judge, draw):
        """Gradients should flow to the weights and to the tokens."""
        weights, inputs = draw.uniform(NUM_TOKENS, NUM_TOKENS), draw.normal(NUM_TOKENS, D_IN)
        cotangent = draw.normal(NUM_TOKENS, D_IN)
        mine = student.call("context_vectors", weights, inputs, cotangent=cotangent).gradients
        right = reference.call("context_vectors", weights, inputs, cotangent=cotangent).gradients
        judge(mine.arguments["0"], right.arguments["0"], what="the gradient for the weights")
        judge(mine.arguments["1"], right.arguments["1"], what="the gradient for the inputs")

    @pytest.mark.conduct
    def test_the_arguments_are_left_as_they_are(self, student, judge, draw):
        """The weights and the inputs should stay as they are."""
        weights, inputs = draw.uniform(NUM_TOKENS, NUM_TOKENS), draw.normal(NUM_TOKENS, D_IN)
        answer = student.call("context_vectors", weights, inputs)
        judge.that(not answer.changed, "It changed one of its arguments in place")
