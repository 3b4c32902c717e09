"""What students see of assignment 13: small masks, texts beside padding, rows with nothing to see."""

import pytest
import torch

from grader.testing import N_, RemoteObject
from grader.testing.mixins import KeepsArguments, KeepsDoublePrecision, KeepsNames

from ..helpers import judge_start
from .helpers import (
    HALF,
    OF_VECTORS,
    OF_WEIGHTS,
    drawn,
    judge_finite,
    judge_finite_gradients,
    made,
    padding,
    pattern,
)

NAN_WEIGHTS = N_(
    "Weights became NaN (not a number): what is the softmax of minus infinity alone, and what is 0 / 0?"
)
NAN_GRADIENTS = N_("Gradients became NaN (not a number), though no weight is")
NAN_VECTORS = N_("Context vectors became NaN (not a number) where a token may use nothing")


class Mask(KeepsNames):
    """What both masks hold to."""

    @pytest.mark.gate
    @pytest.mark.conduct
    def test_it_is_a_tensor(self, attempt, judge):
        """The mask should be a tensor."""
        called = attempt(*self.smallest)
        if not isinstance(called.value, torch.Tensor):
            judge(called.value, torch.ones(self.shape, dtype=torch.bool), what="the mask")


@pytest.mark.exercise("padding_mask")
class TestPaddingMask(Mask, KeepsArguments):
    axes = OF_WEIGHTS
    smallest, shape = (torch.tensor([1]), 1), (1, 1, 1)

    def inputs(self, draw, dtype=torch.float32):
        """Lengths and the number of places."""
        return torch.tensor([2, 4, 1]), 4

    @pytest.mark.weight(2)
    def test_tokens_are_true_and_padding_is_false(self, attempt):
        """The mask should be `True` for each token and `False` for padding, which comes after it."""
        attempt(torch.tensor([3, 5]), 5).agrees(what="the mask")

    def test_a_text_without_padding_and_one_without_tokens(self, attempt):
        """A text may fill all places, or none."""
        attempt(torch.tensor([4, 0, 3]), 4).agrees(what="the mask")


@pytest.mark.exercise("causal_mask")
class TestCausalMask(Mask):
    axes = OF_WEIGHTS[1:]
    smallest, shape = (1, 1), (1, 1)

    @pytest.mark.weight(2)
    def test_as_many_queries_as_keys(self, attempt):
        """With as many queries as keys, each query should see its own token and those before it."""
        attempt(4, 4).agrees(what="the mask")

    @pytest.mark.weight(2)
    def test_fewer_queries_than_keys(self, attempt):
        """With fewer queries than keys, the last query should belong to the last key."""
        attempt(2, 5).agrees(what="the mask")

    def test_a_single_query_sees_everything(self, attempt):
        """The query of the last token alone should see all keys."""
        attempt(1, 6).agrees(what="the mask")


@pytest.mark.exercise("combine_masks")
class TestCombineMasks(KeepsNames, KeepsArguments):
    axes = OF_WEIGHTS

    def inputs(self, draw, dtype=torch.float32):
        """Padding of three texts, and the mask of their last two tokens of five."""
        return padding(3, 5, 4, num_tokens=5), torch.ones(2, 5, dtype=torch.bool).tril(3)

    @pytest.mark.gate
    @pytest.mark.conduct
    def test_there_is_a_truth_value_for_each_query_and_key(self, attempt):
        """The mask should have truth values, of shape (batch_size, num_queries, num_keys)."""
        masks = torch.ones(3, 1, 3, dtype=torch.bool), torch.ones(3, 3, dtype=torch.bool)
        attempt(*masks).has_shape(3, 3, 3, dtype=torch.bool)

    @pytest.mark.weight(2)
    def test_neither_padding_nor_the_future(self, attempt, draw):
        """A key should be `True` where it is no padding and not later than the query."""
        attempt(*self.inputs(draw)).agrees(what="the mask")

    def test_each_text_has_its_own_padding(self, attempt):
        """With as many texts as queries, each text should still have its own padding."""
        masks = padding(1, 2, 3, num_tokens=3), torch.ones(3, 3, dtype=torch.bool).tril()
        attempt(*masks).agrees(what="the mask")

    def test_masks_without_rule(self, attempt, draw):
        """Any two masks should be combined."""
        attempt(pattern(draw, 2, 1, 6), pattern(draw, 1, 3, 6)[0]).agrees(what="the mask")


@pytest.mark.exercise("masked_softmax")
class TestMaskedSoftmax(KeepsNames, KeepsArguments, KeepsDoublePrecision):
    axes = OF_WEIGHTS

    def inputs(self, draw, dtype=torch.float32):
        """Scores, and a mask without rule."""
        return draw.normal(2, 3, 5, dtype=dtype), pattern(draw, 2, 3, 5)

    @pytest.mark.gate
    @pytest.mark.conduct
    def test_the_shape_stays(self, attempt):
        """The weights should have the shape and the dtype of the scores."""
        attempt(torch.zeros(4, 4, 4), torch.ones(4, 4, 4, dtype=torch.bool)).has_shape(4, 4, 4)

    @pytest.mark.weight(2)
    def test_hidden_keys_have_no_weight(self, attempt, draw):
        """What may be used should have weights that sum to 1, and what is hidden exactly 0."""
        attempt(*self.inputs(draw)).agrees()

    def test_a_mask_for_all_queries_of_a_text(self, attempt, draw):
        """A mask of shape (batch_size, 1, num_keys) should hold for all queries of its text."""
        attempt(draw.normal(2, 3, 5), padding(3, 5, num_tokens=5)).agrees()

    def test_a_mask_for_all_texts(self, attempt, draw):
        """A mask of shape (num_queries, num_keys) should hold for all texts."""
        attempt(draw.normal(2, 3, 5), pattern(draw, 1, 3, 5)[0]).agrees()

    @pytest.mark.weight(2)
    def test_a_row_with_nothing_to_see_has_zeros(self, attempt, judge, draw):
        """A row in which everything is hidden should have weights of 0, and the others as before."""
        scores, mask = self.inputs(draw)
        mask[0, 1] = False
        called = attempt(scores, mask)
        judge_finite(judge, called.value, NAN_WEIGHTS)
        called.agrees()

    @pytest.mark.weight(2)
    def test_hidden_scores_may_be_large(self, attempt, draw):
        """However large a hidden score is, and however low the others are, it should have no weight."""
        scores, mask = self.inputs(draw)
        attempt(torch.where(mask, scores - 4e9, 1e10), mask).agrees()

    def test_half_precision_is_kept(self, attempt, draw):
        """Scores in float16 should give weights in float16: its largest number is 65504."""
        scores, mask = self.inputs(draw)
        attempt(scores.half(), mask).agrees(atol=HALF)

    @pytest.mark.weight(2)
    def test_gradients_are_right_and_finite(self, attempt, judge, draw):
        """Gradients should flow to the scores that may be used, and be finite everywhere."""
        scores, mask = self.inputs(draw)
        cotangent = draw.normal(2, 3, 5)
        what = N_("the gradient for the scores")
        attempt(scores, mask, cotangent=cotangent).gradients_agree(what=what, axes=self.axes)
        mask[0, 1] = False
        called = attempt(scores, mask, cotangent=cotangent)
        found = called.answer.gradients.arguments.get("0") if called.answer.gradients else None
        judge_finite(judge, called.value, NAN_WEIGHTS)
        judge_finite(judge, found, NAN_GRADIENTS)
        called.gradients_agree(what=what, axes=self.axes)


@pytest.mark.exercise("CrossAttention")
class TestCrossAttention(KeepsNames):
    axes = OF_VECTORS

    @pytest.mark.gate
    @pytest.mark.conduct
    def test_there_is_a_vector_for_each_query(self, attempt, judge):
        """Four texts of four tokens should give 4 times 4 float32 vectors."""
        layer = attempt.instance(4, 4, 4, seed=1)
        is_module = isinstance(layer.own, RemoteObject) and layer.own.kind == "module"
        template = N_("{name} does not make an instance of an nn.Module")
        judge.that(is_module, judge.words(template, name=attempt.name))
        texts, mask = torch.eye(4).repeat(4, 1, 1), torch.ones(4, 4, 4, dtype=torch.bool)
        layer(texts, texts, mask).has_shape(4, 4, 4)

    @pytest.mark.conduct
    def test_there_are_three_weights_and_no_biases(self, attempt, judge, draw):
        """The three weights should be the only parameters, each sized for the text it reads."""
        weights = drawn(draw, 3, 4, 5)
        layer = attempt.instance(3, 4, 5, given=weights, seed=1)
        report = layer.loaded.by_name
        what = N_("each parameter, looked for by its name")
        judge(report, dict.fromkeys(weights, "loaded"), what=what)
        names = sorted(".".join(name.split(".")[-2:]) for name in layer.state.parameters)
        judge(names, sorted(weights), what="the parameters")

    @pytest.mark.weight(2)
    def test_two_texts_of_other_sizes(self, attempt, draw):
        """Texts with other numbers of tokens, of other sizes, should give the right vectors."""
        layer = made(attempt, drawn(draw, 3, 4, 5))
        layer(draw.normal(2, 3, 3), draw.normal(2, 6, 4), pattern(draw, 2, 3, 6)).agrees()

    @pytest.mark.weight(2)
    def test_all_sizes_the_same(self, attempt, draw):
        """Texts and axes should not be mixed up where all sizes are equal, and no shape tells them apart."""
        layer = made(attempt, drawn(draw, 4, 4, 4))
        texts = [draw.normal(4, 4, 4) for _ in range(2)]
        layer(*texts, pattern(draw, 4, 4, 4)).agrees()
        layer(*texts, padding(2, 4, 1, 3, num_tokens=4)).agrees()

    @pytest.mark.conduct
    def test_padding_changes_nothing(self, attempt, judge, draw):
        """Whatever stands in the padding of the context, the vectors should be exactly the same."""
        layer, x = made(attempt, drawn(draw, 3, 4, 5)), draw.normal(2, 3, 3)
        context, mask = draw.normal(2, 6, 4), padding(4, 5, num_tokens=6)
        other = torch.where(mask.transpose(1, 2), context, 1e4)
        one, two = (layer(x, text, mask).has_shape(2, 3, 5) for text in (context, other))
        what = N_("the vectors with something else in the padding")
        # Exactly: a weight of 0 times any number is 0.
        judge(two, one, what=what, atol=0.0, axes=self.axes)

    def test_a_token_that_may_use_nothing_gets_zeros(self, attempt, judge, draw):
        """Where all of its context is hidden, a text should get zeros, the others their vectors, and all finite gradients."""
        layer = made(attempt, drawn(draw, 3, 4, 5))
        x, context, mask = draw.normal(2, 3, 3), draw.normal(2, 6, 4), padding(0, 4, num_tokens=6)
        called = layer(x, context, mask, cotangent=draw.normal(2, 3, 5))
        judge_finite(judge, called.value, NAN_VECTORS)
        called.agrees()
        judge_finite_gradients(called)

    @pytest.mark.weight(2)
    def test_gradients_reach_both_texts_and_all_weights(self, attempt, draw):
        """Gradients should flow to both texts and to all three weights."""
        weights = drawn(draw, 3, 4, 5)
        x, context, mask = draw.normal(2, 3, 3), draw.normal(2, 6, 4), pattern(draw, 2, 3, 6)
        called = made(attempt, weights)(x, context, mask, cotangent=draw.normal(2, 3, 5))
        called.parameter_gradients_agree(*weights, atol=1e-4, axes=("row", "column"))
        what = [N_("the gradient for the text that asks"), N_("the gradient for the context")]
        # Sums of up to 30 products of numbers near 1: ten times the noise of the results.
        called.gradients_agree(what=what, atol=1e-4, axes=self.axes)

    @pytest.mark.conduct
    def test_the_arguments_are_left_as_they_are(self, attempt, draw):
        """Texts and mask should stay as they are."""
        layer = made(attempt, drawn(draw, 3, 4, 5))
        mask = pattern(draw, 2, 3, 6)
        layer(draw.normal(2, 3, 3), draw.normal(2, 6, 4), mask).keeps_arguments()

    def test_double_precision_is_kept(self, attempt, draw):
        """Parameters and texts in float64 should give vectors in float64."""
        layer = made(attempt, drawn(draw, 3, 4, 5, torch.float64))
        texts = draw.normal(2, 3, 3).double(), draw.normal(2, 6, 4).double()
        layer(*texts, pattern(draw, 2, 3, 6)).agrees()

    @pytest.mark.conduct
    def test_each_instance_draws_its_own_weights(self, attempt):
        """Two instances should start with different weights."""
        judge_start(attempt, *(attempt.instance(3, 4, 5, seed=seed).state for seed in (1, 2)))


@pytest.mark.exercise("ready_made_attention")
class TestReadyMadeAttention(KeepsNames, KeepsArguments, KeepsDoublePrecision):
    axes = OF_VECTORS

    def inputs(self, draw, dtype=torch.float32):
        """Queries, keys, values and a mask without rule."""
        shapes = ((2, 3, 4), (2, 6, 4), (2, 6, 5))
        drawn_ = [draw.normal(*shape, dtype=dtype) for shape in shapes]
        return *drawn_, pattern(draw, 2, 3, 6)

    @pytest.mark.gate
    @pytest.mark.conduct
    def test_there_is_a_vector_for_each_query(self, attempt):
        """Four texts of four queries should give 4 times 4 float32 vectors."""
        text = torch.eye(4).repeat(4, 1, 1)
        attempt(text, text, text, torch.ones(4, 4, 4, dtype=torch.bool)).has_shape(4, 4, 4)

    @pytest.mark.weight(2)
    def test_it_mixes_the_values_that_may_be_used(self, attempt, draw):
        """Each query should get the mixture of the values that it may use."""
        attempt(*self.inputs(draw)).agrees()

    @pytest.mark.weight(2)
    def test_all_sizes_the_same(self, attempt, draw):
        """Arguments should not be mixed up where all sizes are equal, and no shape tells them apart."""
        attempt(*(draw.normal(4, 4, 4) for _ in range(3)), pattern(draw, 4, 4, 4)).agrees()

    def test_the_last_tokens_of_a_text(self, attempt, draw):
        """Two queries, the last of six tokens, should see what came before them."""
        mask = torch.ones(2, 6, dtype=torch.bool).tril(4)
        attempt(draw.normal(3, 2, 4), *(draw.normal(3, 6, 4) for _ in range(2)), mask).agrees()

    def test_padding_has_no_part(self, attempt, draw):
        """With a padding mask, only the tokens of each text should count; a text without any should give zeros."""
        queries, keys, values, _mask = self.inputs(draw)
        attempt(queries, keys, values, padding(4, 0, num_tokens=6)).agrees()

    def test_gradients_reach_queries_keys_and_values(self, attempt, draw):
        """Gradients should flow to queries, keys and values."""
        called = attempt(*self.inputs(draw), cotangent=draw.normal(2, 3, 5))
        whats = [
            N_("the gradient for the queries"),
            N_("the gradient for the keys"),
            N_("the gradient for the values"),
        ]
        called.gradients_agree(what=whats, axes=self.axes)
