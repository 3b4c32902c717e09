"""Assignment 07 on inputs nobody has seen: other sizes, other values, other dtypes."""

import pytest
import torch

from ..helpers import NAN_IN_TRAINING, judge_each_weight
from .helpers import (
    AXES,
    DRAWS,
    NAMES,
    drawn,
    judge_dropped,
    judge_vectors,
    judge_whole_values,
    made,
    of_step_before,
)

BATCH_SIZE, NUM_TOKENS, CONTEXT_LENGTH, D_IN, D_OUT = 3, 5, 7, 6, 4
SHAPE = (BATCH_SIZE, NUM_TOKENS, D_IN)


def with_weights(attempt, weights, context_length=NUM_TOKENS, dropout=0.0, **options):
    """An instance with given parameters, whose further arguments have names."""
    if attempt.name == "CausalAttention":
        options["dropout"] = dropout
    if attempt.name != "BatchAttention":
        options["context_length"] = context_length
    return made(attempt, weights, **options)


@pytest.mark.exercise("stack_batch")
class TestStackBatch:
    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_each_entry_is_the_text")
    def test_another_text(self, attempt, draw):
        """Another text and another number of copies should be right, too."""
        attempt(draw.normal(5, 7), 3).agrees(axes=AXES)

    @pytest.mark.deepens("test_each_entry_is_the_text")
    def test_as_many_copies_as_tokens(self, attempt, draw):
        """The batch should be the first axis, also where all sizes are the same."""
        attempt(draw.normal(4, 4), 4).agrees(axes=AXES)

    @pytest.mark.deepens(
        "Shape `(copies, num_tokens, d_in)`: each entry along the first axis is `inputs`."
    )
    def test_a_single_copy(self, attempt, draw):
        """A batch of one text should still have three axes."""
        inputs = draw.normal(5, 7)
        attempt(inputs, 1).gives(inputs[None])


class Step:
    """What all three classes hold to."""

    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_all_sizes_the_same")
    def test_all_sizes_the_same(self, attempt, draw):
        """Axes should not be mixed up, also where all sizes are the same."""
        layer = with_weights(attempt, drawn(draw, 4, 4), 4)
        judge_vectors(layer(draw.normal(4, 4, 4), training=False))

    @pytest.mark.deepens("test_with_qkv_bias_the_biases_count")
    def test_with_qkv_bias_the_biases_count(self, attempt, draw):
        """With `qkv_bias`, queries, keys and values should have a bias that counts."""
        values = drawn(draw, D_IN, D_OUT) | {f"{name}.bias": draw.normal(D_OUT) for name in NAMES}
        layer = with_weights(attempt, values, qkv_bias=True)
        judge_vectors(layer(draw.normal(*SHAPE), training=False))


@pytest.mark.exercise("BatchAttention")
class TestBatchAttention(Step):
    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_each_text_of_a_batch")
    def test_unseen_texts(self, attempt, draw):
        """Texts in other sizes should give the right result, too."""
        layer = with_weights(attempt, drawn(draw, D_IN, D_OUT))
        judge_vectors(layer(draw.normal(*SHAPE), training=False))

    @pytest.mark.deepens("test_each_text_of_a_batch")
    @pytest.mark.conduct
    def test_a_text_has_the_same_result_alone(self, attempt, draw):
        """The entries of a batch should not mix: alone, a text gives what it gives in the batch."""
        layer, x = with_weights(attempt, drawn(draw, D_IN, D_OUT)), draw.normal(*SHAPE)
        together = layer(x, training=False).has_shape(BATCH_SIZE, NUM_TOKENS, D_OUT)
        layer(x[1:2], training=False).gives(together[1:2], axes=AXES)

    @pytest.mark.deepens("test_each_text_of_a_batch")
    def test_a_single_token(self, attempt, draw):
        """A text of a single token should have its value as context vector."""
        weights, x = drawn(draw, D_IN, D_OUT), draw.normal(1, 1, D_IN)
        called = with_weights(attempt, weights)(x, training=False)
        called.gives(x @ weights["W_value.weight"].T, axes=AXES)


class MaskedStep(Step):
    """What both classes with a mask hold to."""

    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_texts_as_long_as_the_context")
    def test_unseen_texts(self, attempt, draw):
        """Texts as long as the context, in other sizes, should give the right result, too."""
        layer = with_weights(attempt, drawn(draw, D_IN, D_OUT))
        judge_vectors(layer(draw.normal(*SHAPE), training=False))

    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_texts_shorter_than_the_context")
    def test_unseen_shorter_texts(self, attempt, draw):
        """Shorter texts in other sizes should give the right result, too."""
        layer = with_weights(attempt, drawn(draw, D_IN, D_OUT), CONTEXT_LENGTH)
        judge_vectors(layer(draw.normal(*SHAPE), training=False))

    @pytest.mark.deepens("test_texts_as_long_as_the_context")
    @pytest.mark.conduct
    def test_a_text_has_the_same_result_alone(self, attempt, draw):
        """The entries of a batch should not mix: alone, a text gives what it gives in the batch."""
        layer, x = with_weights(attempt, drawn(draw, D_IN, D_OUT)), draw.normal(*SHAPE)
        together = layer(x, training=False).has_shape(BATCH_SIZE, NUM_TOKENS, D_OUT)
        layer(x[1:2], training=False).gives(together[1:2], axes=AXES)

    @pytest.mark.deepens("test_the_first_token_has_only_itself")
    def test_a_single_token(self, attempt, draw):
        """A text of a single token should have its value as context vector."""
        weights, x = drawn(draw, D_IN, D_OUT), draw.normal(1, 1, D_IN)
        called = with_weights(attempt, weights, 2)(x, training=False)
        own = of_step_before(called)
        called.gives(x @ weights["W_value.weight"].T if own is None else own, axes=AXES)

    @pytest.mark.deepens("test_texts_shorter_than_the_context")
    def test_calls_do_not_depend_on_earlier_ones(self, attempt, draw):
        """A call should give the same after calls with shorter and longer texts."""
        layer = with_weights(attempt, drawn(draw, D_IN, D_OUT), CONTEXT_LENGTH)
        for num_tokens in (NUM_TOKENS, 2, CONTEXT_LENGTH, NUM_TOKENS):
            judge_vectors(layer(draw.normal(BATCH_SIZE, num_tokens, D_IN), training=False))


@pytest.mark.exercise("MaskedAttention")
class TestMaskedAttention(MaskedStep):
    pass


@pytest.mark.exercise("CausalAttention")
class TestCausalAttention(MaskedStep):
    test_unseen_texts = MaskedStep.test_unseen_texts
    test_unseen_shorter_texts = MaskedStep.test_unseen_shorter_texts
    test_all_sizes_the_same = Step.test_all_sizes_the_same
    test_a_text_has_the_same_result_alone = MaskedStep.test_a_text_has_the_same_result_alone
    test_a_single_token = MaskedStep.test_a_single_token
    test_calls_do_not_depend_on_earlier_ones = MaskedStep.test_calls_do_not_depend_on_earlier_ones
    test_with_qkv_bias_the_biases_count = Step.test_with_qkv_bias_the_biases_count

    @pytest.mark.weight(3)
    @pytest.mark.deepens("test_training_drops_weights")
    def test_training_drops_weights(self, attempt, judge, draw):
        """In training, each weight should be dropped or scaled, with the given probability."""
        weights = {**drawn(draw, 5, 5), "W_value.weight": torch.eye(5)}
        x = torch.eye(5).repeat(DRAWS, 1, 1)
        layer = with_weights(attempt, weights, dropout=0.2)
        value = layer(x, training=True, seed=draw.seed()).has_shape(DRAWS, 5, 5)
        still = layer(x[:1], training=False)
        own = of_step_before(still)
        plain = still.expected[0] if own is None else own[0]
        judge_dropped(judge, value, plain, 0.8)
        judge_each_weight(judge, value == 0)
        dropped = (value == 0).double().mean(dim=0)[torch.ones(5, 5).tril().bool()]
        share = round(float(dropped.mean()), 1)
        judge(share, 0.2, what="the share of dropped weights, to one decimal")

    @pytest.mark.deepens("test_outside_of_training_nothing_is_dropped")
    def test_outside_of_training_nothing_is_dropped(self, attempt, draw):
        """In eval mode, the dropout that was given should make no difference."""
        weights, x = drawn(draw, D_IN, D_OUT), draw.normal(*SHAPE)
        layer = with_weights(attempt, weights, dropout=0.7)
        judge_vectors(layer(x, training=False, seed=draw.seed()))

    @pytest.mark.deepens("test_weights_are_dropped_and_not_features")
    @pytest.mark.conduct
    def test_weights_are_dropped_and_not_features(self, attempt, judge, draw):
        """In training, a dropped weight should take out the whole value, not some features."""
        same_features = draw.normal(1, D_IN).repeat(D_OUT, 1)
        weights = {**drawn(draw, D_IN, D_OUT), "W_value.weight": same_features}
        layer, x = with_weights(attempt, weights, dropout=0.5), draw.normal(DRAWS, NUM_TOKENS, D_IN)
        called = layer(x, training=True, seed=draw.seed())
        judge_whole_values(judge, called.has_shape(DRAWS, NUM_TOKENS, D_OUT))

    @pytest.mark.deepens("test_training_drops_weights")
    def test_every_call_drops_anew(self, attempt, judge, draw):
        """In training, two calls in a row should drop different weights."""
        layer = with_weights(attempt, drawn(draw, D_IN, D_OUT), dropout=0.5)
        x = draw.normal(8, NUM_TOKENS, D_IN)
        called = layer(x, training=True, seed=draw.seed()), layer(x, training=True)
        one, two = (each.has_shape(8, NUM_TOKENS, D_OUT) for each in called)
        judge.that(not (one.isnan() | two.isnan()).any(), NAN_IN_TRAINING)
        judge.that(not torch.equal(one, two), "In training, two calls gave the same result")

    @pytest.mark.deepens("test_training_drops_weights")
    def test_dropout_of_zero_drops_nothing(self, attempt, draw):
        """In training with a dropout of 0, nothing should be dropped."""
        layer, x = with_weights(attempt, drawn(draw, D_IN, D_OUT)), draw.normal(*SHAPE)
        judge_vectors(layer(x, training=True, seed=draw.seed()))
