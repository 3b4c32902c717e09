"""What students see of assignment 02: the documents' tensors, and plain properties."""

import pytest
import torch

from grader.testing import N_
from grader.testing.mixins import KeepsArguments, KeepsDoublePrecision, KeepsNames

from ..helpers import FOUR_DECIMALS, JOURNEY, OfScores, inputs_004

# All different, and unlike the documents' (6 tokens of 3) and the hidden checks'.
NUM_TOKENS, D_IN = 4, 5

# Weights printed to 4 decimals carry half a unit of their last digit into the result, times a
# column of the inputs (whose entries sum to 3.5 at most), and the result was rounded itself.
ROUNDED_WEIGHTS = 2.3e-4


class AllScores(KeepsNames):
    """What both ways to make all scores hold to."""

    axes = (N_("query"), N_("token"))

    @pytest.mark.gate
    @pytest.mark.conduct
    def test_there_is_one_score_for_each_pair(self, attempt, printed):
        """Six tokens should have 6 times 6 scores in float32."""
        attempt(printed("T45")).has_shape(6, 6)

    @pytest.mark.weight(2)
    def test_all_scores_as_printed(self, attempt, printed):
        """The scores of all tokens should be the example's."""
        attempt(printed("T45")).gives(printed("T07"))

    def test_gradients_reach_the_tokens(self, attempt, draw):
        """Gradients should flow to the tokens."""
        inputs, cotangent = draw.normal(NUM_TOKENS, D_IN), draw.normal(NUM_TOKENS, NUM_TOKENS)
        attempt(inputs, cotangent=cotangent).gradients_agree(what="the gradient for the inputs")

    @pytest.mark.conduct
    def test_the_inputs_are_left_as_they_are(self, attempt, draw):
        """The inputs should stay as they are."""
        attempt(draw.normal(NUM_TOKENS, D_IN)).keeps_arguments()


@pytest.mark.exercise("attention_scores_loop")
class TestAttentionScoresLoop(AllScores):
    test_all_scores_as_printed = AllScores.test_all_scores_as_printed

    def test_two_tokens_have_four_scores(self, attempt):
        """A text of two tokens should have 2 times 2 scores."""
        attempt(torch.tensor([[1.0, 2.0], [3.0, -1.0]])).agrees()

    @pytest.mark.remark
    def test_double_precision_is_kept(self, attempt, printed):
        """Inputs in float64 should give scores in float64: make room in the inputs' dtype."""
        # Of another number of tokens a wrong shape would be told as a remark on the dtype.
        attempt(printed("T45").tensor.double()).has_shape(6, 6, dtype=torch.float64)

    @pytest.mark.remark
    def test_the_tokens_are_gone_through_in_a_loop(self, attempt, judge, printed):
        """The scores should be made in loops: one product for all is the next exercise."""
        found = attempt(printed("T45").tensor, operations=True).answer.operations
        # A loop over six tokens calls something six times, or computes outside of torch.
        is_loop = max(found.values(), default=6) >= 6 or found.keys() & {"tolist", "numpy"}
        judge.that(bool(is_loop), "It made all scores at once: that is the next exercise")


@pytest.mark.exercise("attention_scores_matmul")
class TestAttentionScoresMatmul(AllScores, KeepsDoublePrecision):
    shapes = ((NUM_TOKENS, D_IN),)

    test_all_scores_as_printed = AllScores.test_all_scores_as_printed

    def test_another_text_has_other_scores(self, attempt, judge, printed):
        """With another second token (0.64, not 0.66), its row of scores should change, too."""
        called = attempt(inputs_004(printed))
        row = called.has_shape(6, 6)[JOURNEY]
        judge(row, called.expected[JOURNEY], what='"journey"', axes=("token",))


@pytest.mark.exercise("attention_weights")
class TestAttentionWeights(OfScores, KeepsDoublePrecision):
    axes, shapes = (N_("query"), N_("token")), ((NUM_TOKENS, NUM_TOKENS),)

    def example(self, printed):
        """All scores."""
        return (printed("T07"),)

    @pytest.mark.weight(2)
    def test_all_weights_as_printed(self, attempt, printed):
        """The example's scores should give its weights."""
        attempt(printed("T07")).gives(printed("T08"))

    def test_each_row_of_weights_sums_to_one(self, attempt, judge, printed):
        """The weights of each query should sum to 1."""
        sums = attempt(printed("T07")).has_shape(6, 6).sum(dim=-1)
        judge(sums, printed("T09"), what="the sum of each row", axes=("query",))

    @pytest.mark.weight(2)
    def test_scores_that_are_not_symmetric(self, attempt):
        """Each row should be a softmax of its own, also where the scores are not symmetric."""
        scores = torch.tensor([[0.0, 1.0, -1.0], [2.0, 0.0, 1.0], [1.0, 1.0, 1.0]])
        expected = torch.tensor(
            [[0.2447, 0.6652, 0.0900], [0.6652, 0.0900, 0.2447], [0.3333, 0.3333, 0.3333]]
        )
        attempt(scores).gives(expected, atol=FOUR_DECIMALS)

    @pytest.mark.remark
    def test_large_scores_do_not_overflow(self, attempt, judge):
        """Scores of 1000 should not become NaN: the ready-made softmax takes care of that."""
        value = attempt(torch.full((2, 2), 1000.0)).has_shape(2, 2)
        judge.that(not value.isnan().any(), "Scores of 1000 give NaN", about=value)

    def test_gradients_reach_the_scores(self, attempt, draw):
        """Gradients should flow to the scores."""
        called = attempt(*self.inputs(draw), cotangent=draw.normal(NUM_TOKENS, NUM_TOKENS))
        called.gradients_agree(what="the gradient for the scores")


@pytest.mark.exercise("context_vectors")
class TestContextVectors(KeepsNames, KeepsArguments):
    axes = (N_("query"), N_("feature"))

    def inputs(self, draw, dtype=torch.float32):
        """Weights and tokens."""
        weights = draw.uniform(NUM_TOKENS, NUM_TOKENS).to(dtype)
        return weights, draw.normal(NUM_TOKENS, D_IN, dtype=dtype)

    @pytest.mark.gate
    @pytest.mark.conduct
    def test_there_is_one_context_vector_for_each_token(self, attempt, printed):
        """The result should have the shape and the dtype of the inputs."""
        attempt(printed("T08"), printed("T45")).has_shape(6, 3)

    @pytest.mark.weight(2)
    def test_all_context_vectors_as_printed(self, attempt, printed):
        """The example's weights should give its context vectors."""
        attempt(printed("T08"), printed("T45")).gives(printed("T10"), atol=ROUNDED_WEIGHTS)

    def test_the_row_of_journey_is_its_context_vector(self, attempt, judge, printed):
        """The second row should be the context vector that "journey" got on its own."""
        row = attempt(printed("T08"), printed("T45")).has_shape(6, 3)[JOURNEY]
        judge(row, printed("T06"), atol=ROUNDED_WEIGHTS, what='"journey"', axes=("feature",))

    def test_all_weight_on_one_token_gives_that_token(self, attempt):
        """A query with all its weight on one token should get that token back."""
        weights = torch.tensor([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
        inputs = torch.tensor([[1.0, 2.0], [3.0, 5.0], [-4.0, 7.0]])
        attempt(weights, inputs).gives(inputs[[1, 2, 1]])
        # A text of one token gives a matrix, too.
        attempt(torch.ones(1, 1), inputs[:1]).gives(inputs[:1])

    def test_weights_of_any_sum_are_taken_as_they_are(self, attempt, draw):
        """Weights that do not sum to 1 should be taken as they are, too."""
        weights = draw.uniform(NUM_TOKENS, NUM_TOKENS, low=0.1)
        attempt(weights, draw.normal(NUM_TOKENS, D_IN)).agrees()

    def test_gradients_reach_weights_and_tokens(self, attempt, draw):
        """Gradients should flow to the weights and to the tokens."""
        called = attempt(*self.inputs(draw), cotangent=draw.normal(NUM_TOKENS, D_IN))
        called.gradients_agree(what=("the gradient for the weights", "the gradient for the inputs"))
