"""Assignment 02 on inputs nobody has seen: other sizes, other values, other dtypes."""

import pytest
import torch

NUM_TOKENS, D_IN = 5, 7


@pytest.mark.exercise("attention_scores_loop")
class TestAttentionScoresLoop:
    @pytest.mark.weight(2)
    def test_unseen_tokens(self, student, reference, judge, draw):
        """Another number of tokens, of another size."""
        inputs = draw.normal(NUM_TOKENS, D_IN)
        expected = reference.call("attention_scores_loop", inputs).value
        value = student.call("attention_scores_loop", inputs).value
        judge(value, expected, axes=("query", "token"))

    def test_as_many_tokens_as_features(self, student, reference, judge, draw):
        """Tokens are rows, also where there are as many tokens as features."""
        inputs = draw.normal(4, 4)
        expected = reference.call("attention_scores_loop", inputs).value
        value = student.call("attention_scores_loop", inputs).value
        judge(value, expected, axes=("query", "token"))

    def test_gradients_reach_the_tokens(self, student, reference, judge, draw):
        """Gradients flow back to the tokens."""
        inputs, cotangent = draw.normal(NUM_TOKENS, D_IN), draw.normal(NUM_TOKENS, NUM_TOKENS)
        mine = student.call("attention_scores_loop", inputs, cotangent=cotangent).gradients
        right = reference.call("attention_scores_loop", inputs, cotangent=cotangent).gradients
        judge(mine.arguments["0"], right.arguments["0"], what="the gradient for the inputs")

    def test_the_inputs_are_left_as_they_are(self, student, judge, draw):
        """The inputs are not changed in place."""
        answer = student.call("attention_scores_loop", draw.normal(NUM_TOKENS, D_IN))
        judge.that(not answer.changed, "It changed its argument in place")


@pytest.mark.exercise("attention_scores_matmul")
class TestAttentionScoresMatmul:
    @pytest.mark.weight(2)
    def test_unseen_tokens(self, student, reference, judge, draw):
        """Another number of tokens, of another size."""
        inputs = draw.normal(NUM_TOKENS, D_IN)
        expected = reference.call("attention_scores_matmul", inputs).value
        value = student.call("attention_scores_matmul", inputs).value
        judge(value, expected, axes=("query", "token"))

    @pytest.mark.weight(2)
    def test_as_many_tokens_as_features(self, student, reference, judge, draw):
        """Tokens are rows, also where there are as many tokens as features."""
        inputs = draw.normal(4, 4)
        expected = reference.call("attention_scores_matmul", inputs).value
        value = student.call("attention_scores_matmul", inputs).value
        judge(value, expected, axes=("query", "token"))

    def test_gradients_reach_the_tokens(self, student, reference, judge, draw):
        """Gradients flow back to the tokens."""
        inputs, cotangent = draw.normal(NUM_TOKENS, D_IN), draw.normal(NUM_TOKENS, NUM_TOKENS)
        mine = student.call("attention_scores_matmul", inputs, cotangent=cotangent).gradients
        right = reference.call("attention_scores_matmul", inputs, cotangent=cotangent).gradients
        judge(mine.arguments["0"], right.arguments["0"], what="the gradient for the inputs")

    def test_the_inputs_are_left_as_they_are(self, student, judge, draw):
        """The inputs are not changed in place."""
        answer = student.call("attention_scores_matmul", draw.normal(NUM_TOKENS, D_IN))
        judge.that(not answer.changed, "It changed its argument in place")

    def test_double_precision_is_kept(self, student, reference, judge, draw):
        """Inputs in float64 give scores in float64."""
        inputs = draw.normal(NUM_TOKENS, D_IN, dtype=torch.float64)
        expected = reference.call("attention_scores_matmul", inputs).value
        value = student.call("attention_scores_matmul", inputs).value
        judge(value, expected, axes=("query", "token"))


@pytest.mark.exercise("attention_weights")
class TestAttentionWeights:
    @pytest.mark.weight(2)
    def test_unseen_scores(self, student, reference, judge, draw):
        """Other scores, which are not symmetric."""
        scores = draw.normal(NUM_TOKENS, NUM_TOKENS)
        expected = reference.call("attention_weights", scores).value
        value = student.call("attention_weights", scores).value
        judge(value, expected, axes=("query", "token"))

    def test_negative_scores_give_positive_weights(self, student, reference, judge, draw):
        """Scores that are all negative give positive weights."""
        scores = draw.uniform(NUM_TOKENS, NUM_TOKENS, low=-3.0, high=-0.5)
        expected = reference.call("attention_weights", scores).value
        value = student.call("attention_weights", scores).value
        judge(value, expected, axes=("query", "token"))

    def test_gradients_reach_the_scores(self, student, reference, judge, draw):
        """Gradients flow back to the scores."""
        scores, cotangent = draw.normal(NUM_TOKENS, NUM_TOKENS), draw.normal(NUM_TOKENS, NUM_TOKENS)
        mine = student.call("attention_weights", scores, cotangent=cotangent).gradients
        right = reference.call("attention_weights", scores, cotangent=cotangent).gradients
        judge(mine.arguments["0"], right.arguments["0"], what="the gradient for the scores")

    def test_the_scores_are_left_as_they_are(self, student, judge, draw):
        """The scores are not changed in place."""
        answer = student.call("attention_weights", draw.normal(NUM_TOKENS, NUM_TOKENS))
        judge.that(not answer.changed, "It changed its argument in place")

    def test_double_precision_is_kept(self, student, reference, judge, draw):
        """Scores in float64 give weights in float64."""
        scores = draw.normal(NUM_TOKENS, NUM_TOKENS, dtype=torch.float64)
        expected = reference.call("attention_weights", scores).value
        value = student.call("attention_weights", scores).value
        judge(value, expected, axes=("query", "token"))


@pytest.mark.exercise("context_vectors")
class TestContextVectors:
    @pytest.mark.weight(2)
    def test_unseen_tokens(self, student, reference, judge, draw):
        """Another number of tokens, of another size, with weights that are not symmetric."""
        weights, inputs = draw.uniform(NUM_TOKENS, NUM_TOKENS), draw.normal(NUM_TOKENS, D_IN)
        expected = reference.call("context_vectors", weights, inputs).value
        value = student.call("context_vectors", weights, inputs).value
        judge(value, expected, axes=("query", "feature"))

    def test_as_many_tokens_as_features(self, student, reference, judge, draw):
        """Tokens are rows, also where there are as many tokens as features."""
        weights, inputs = draw.uniform(4, 4), draw.normal(4, 4)
        expected = reference.call("context_vectors", weights, inputs).value
        value = student.call("context_vectors", weights, inputs).value
        judge(value, expected, axes=("query", "feature"))

    def test_gradients_reach_weights_and_tokens(self, student, reference, judge, draw):
        """Gradients flow back to the weights and to the tokens."""
        weights, inputs = draw.uniform(NUM_TOKENS, NUM_TOKENS), draw.normal(NUM_TOKENS, D_IN)
        cotangent = draw.normal(NUM_TOKENS, D_IN)
        mine = student.call("context_vectors", weights, inputs, cotangent=cotangent).gradients
        right = reference.call("context_vectors", weights, inputs, cotangent=cotangent).gradients
        judge(mine.arguments["0"], right.arguments["0"], what="the gradient for the weights")
        judge(mine.arguments["1"], right.arguments["1"], what="the gradient for the inputs")

    def test_the_arguments_are_left_as_they_are(self, student, judge, draw):
        """The weights and the inputs are not changed in place."""
        weights, inputs = draw.uniform(NUM_TOKENS, NUM_TOKENS), draw.normal(NUM_TOKENS, D_IN)
        answer = student.call("context_vectors", weights, inputs)
        judge.that(not answer.changed, "It changed one of its arguments in place")
