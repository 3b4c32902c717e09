"""Assignment 07 on inputs nobody has seen: other sizes, other values, other dtypes."""

import pytest
import torch

from grader.testing import N_

NAMES = ("W_query", "W_key", "W_value")
BATCH_SIZE, NUM_TOKENS, CONTEXT_LENGTH, D_IN, D_OUT = 3, 5, 7, 6, 4

DRAWS = 512
"""Copies of one text in a batch: enough that each weight is dropped in one and kept in another."""


def given_weights(draw, d_in=D_IN, d_out=D_OUT, dtype=torch.float32):
    """Values for the three linear layers."""
    return {f"{name}.weight": draw.normal(d_out, d_in, dtype=dtype) for name in NAMES}


def with_weights(handle, weights, context_length=NUM_TOKENS, dropout=0.0, biases=None):
    """An instance with given parameters.

    A bias that should not be there is set to zero: it is judged in a check of its own.
    """
    d_out, d_in = weights["W_query.weight"].shape
    arguments = {"context_length": context_length, "dropout": dropout}
    arguments |= {"qkv_bias": True} if biases else {}
    instance = handle.call("CausalAttention", d_in, d_out, seed=1, **arguments).value
    dtype = weights["W_query.weight"].dtype
    zeros = {f"{name}.bias": torch.zeros(d_out, dtype=dtype) for name in NAMES}
    handle.load(instance, {**zeros, **(biases or {}), **weights})
    return instance


@pytest.mark.exercise("stack_batch")
class TestStackBatch:
    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_each_entry_is_the_text")
    def test_another_text(self, student, reference, judge, draw):
        """Another text and another number of copies should be right, too."""
        inputs = draw.normal(5, 7)
        expected = reference.call("stack_batch", inputs, 3).value
        value = student.call("stack_batch", inputs, 3).value
        judge(value, expected, axes=("batch entry", "token", "feature"))

    @pytest.mark.deepens("test_each_entry_is_the_text")
    def test_as_many_copies_as_tokens(self, student, reference, judge, draw):
        """The batch should be the first axis, also where all sizes are the same."""
        inputs = draw.normal(4, 4)
        expected = reference.call("stack_batch", inputs, 4).value
        value = student.call("stack_batch", inputs, 4).value
        judge(value, expected, axes=("batch entry", "token", "feature"))

    @pytest.mark.deepens(
        "Shape `(copies, num_tokens, d_in)`: each entry along the first axis is `inputs`."
    )
    def test_a_single_copy(self, student, judge, draw):
        """A batch of one text should still have three axes."""
        inputs = draw.normal(5, 7)
        judge(student.call("stack_batch", inputs, 1).value, inputs[None])


@pytest.mark.exercise("CausalAttention")
class TestCausalAttention:
    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_texts_as_long_as_the_context")
    def test_unseen_texts(self, student, reference, judge, draw):
        """Texts as long as the context, in other sizes, should give the right result, too."""
        weights, x = given_weights(draw), draw.normal(BATCH_SIZE, NUM_TOKENS, D_IN)
        expected = reference.call(with_weights(reference, weights), x, training=False).value
        value = student.call(with_weights(student, weights), x, training=False).value
        judge(value, expected, axes=("batch entry", "token", "feature"))

    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_texts_shorter_than_the_context")
    def test_unseen_shorter_texts(self, student, reference, judge, draw):
        """Shorter texts in other sizes should give the right result, too."""
        weights, x = given_weights(draw), draw.normal(BATCH_SIZE, NUM_TOKENS, D_IN)
        mine, right = (with_weights(h, weights, CONTEXT_LENGTH) for h in (student, reference))
        expected = reference.call(right, x, training=False).value
        value = student.call(mine, x, training=False).value
        judge(value, expected, axes=("batch entry", "token", "feature"))

    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_all_sizes_the_same")
    def test_all_sizes_the_same(self, student, reference, judge, draw):
        """Axes should not be mixed up, also where all sizes are the same."""
        weights, x = given_weights(draw, 4, 4), draw.normal(4, 4, 4)
        expected = reference.call(with_weights(reference, weights, 4), x, training=False).value
        value = student.call(with_weights(student, weights, 4), x, training=False).value
        judge(value, expected, axes=("batch entry", "token", "feature"))

    @pytest.mark.deepens("test_texts_as_long_as_the_context")
    @pytest.mark.conduct
    def test_a_text_has_the_same_result_alone(self, student, judge, draw):
        """The entries of a batch should not mix: alone, a text gives what it gives in the batch."""
        mine = with_weights(student, given_weights(draw))
        x = draw.normal(BATCH_SIZE, NUM_TOKENS, D_IN)
        together = student.call(mine, x, training=False).value
        judge.shape(together, (BATCH_SIZE, NUM_TOKENS, D_OUT))
        alone = student.call(mine, x[1:2], training=False).value
        judge(alone, together[1:2], axes=("batch entry", "token", "feature"))

    @pytest.mark.deepens("test_the_first_token_has_only_itself")
    def test_a_single_token(self, student, judge, draw):
        """A text of a single token should have its value as context vector."""
        weights, x = given_weights(draw), draw.normal(1, 1, D_IN)
        value = student.call(with_weights(student, weights, 2), x, training=False).value
        judge(value, x @ weights["W_value.weight"].T, axes=("batch entry", "token", "feature"))

    @pytest.mark.deepens("test_texts_shorter_than_the_context")
    def test_calls_do_not_depend_on_earlier_ones(self, student, reference, judge, draw):
        """A call should give the same after calls with shorter and longer texts."""
        weights = given_weights(draw)
        mine, right = (with_weights(h, weights, CONTEXT_LENGTH) for h in (student, reference))
        for num_tokens in (NUM_TOKENS, 2, CONTEXT_LENGTH, NUM_TOKENS):
            x = draw.normal(BATCH_SIZE, num_tokens, D_IN)
            expected = reference.call(right, x, training=False).value
            value = student.call(mine, x, training=False).value
            judge(value, expected, axes=("batch entry", "token", "feature"))

    @pytest.mark.deepens("test_with_qkv_bias_the_biases_count")
    def test_with_qkv_bias_the_biases_count(self, student, reference, judge, draw):
        """With `qkv_bias`, queries, keys and values should have a bias that counts."""
        weights = given_weights(draw)
        biases = {f"{name}.bias": draw.normal(D_OUT) for name in NAMES}
        x = draw.normal(BATCH_SIZE, NUM_TOKENS, D_IN)
        mine, right = (with_weights(h, weights, biases=biases) for h in (student, reference))
        expected = reference.call(right, x, training=False).value
        value = student.call(mine, x, training=False).value
        judge(value, expected, axes=("batch entry", "token", "feature"))

    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_training_drops_weights")
    def test_training_drops_weights(self, student, reference, judge, draw):
        """In training, each weight should be dropped or scaled, with the given probability."""
        weights = {**given_weights(draw, 5, 5), "W_value.weight": torch.eye(5)}
        x = torch.eye(5).repeat(DRAWS, 1, 1)
        right = with_weights(reference, weights)
        plain = reference.call(right, x[:1], training=False).value[0]
        mine = with_weights(student, weights, dropout=0.2)
        value = student.call(mine, x, training=True, seed=draw.seed()).value
        judge.shape(value, (DRAWS, 5, 5))
        # The largest and the smallest of many draws are the same for every draw.
        axes = (N_("query"), N_("key"))
        judge(value.amax(dim=0), plain / 0.8, what="the weights where they are kept", axes=axes)
        judge(value.amin(dim=0), torch.zeros(5, 5), what="the weights where dropped", axes=axes)
        is_either = (value == 0) | ((value - plain / 0.8).abs() < 1e-5)
        judge.that(bool(is_either.all()), "Some weights are neither dropped nor kept and scaled")
        dropped = (value == 0).double().mean(dim=0)[torch.ones(5, 5).tril().bool()]
        share = round(float(dropped.mean()), 1)
        judge(share, 0.2, what="the share of dropped weights, to one decimal")

    @pytest.mark.deepens("test_outside_of_training_nothing_is_dropped")
    def test_outside_of_training_nothing_is_dropped(self, student, reference, judge, draw):
        """In eval mode, the dropout that was given should make no difference."""
        weights, x = given_weights(draw), draw.normal(BATCH_SIZE, NUM_TOKENS, D_IN)
        expected = reference.call(with_weights(reference, weights), x, training=False).value
        mine = with_weights(student, weights, dropout=0.7)
        value = student.call(mine, x, training=False, seed=draw.seed()).value
        judge(value, expected, axes=("batch entry", "token", "feature"))

    @pytest.mark.deepens("test_weights_are_dropped_and_not_features")
    @pytest.mark.conduct
    def test_weights_are_dropped_and_not_features(self, student, judge, draw):
        """In training, a dropped weight should take out the whole value, not some features."""
        same_features = draw.normal(1, D_IN).repeat(D_OUT, 1)
        weights = {**given_weights(draw), "W_value.weight": same_features}
        mine, x = with_weights(student, weights, dropout=0.5), draw.normal(DRAWS, NUM_TOKENS, D_IN)
        value = student.call(mine, x, training=True, seed=draw.seed()).value
        judge.shape(value, (DRAWS, NUM_TOKENS, D_OUT))
        value = value.detach()
        # The largest of many draws is the same for every draw; 1e-4 is float32 noise around 10.
        spread = (value.amax(dim=-1) - value.amin(dim=-1)).amax(dim=0)
        what = N_(
            "how far the features of a context vector are apart, with equal features in all values"
        )
        judge(spread, torch.zeros(NUM_TOKENS), what=what, atol=1e-4, axes=("token",))

    @pytest.mark.deepens("test_training_drops_weights")
    def test_every_call_drops_anew(self, student, judge, draw):
        """In training, two calls in a row should drop different weights."""
        mine = with_weights(student, given_weights(draw), dropout=0.5)
        x = draw.normal(8, NUM_TOKENS, D_IN)
        one = student.call(mine, x, training=True, seed=draw.seed()).value
        two = student.call(mine, x, training=True).value
        judge.shape(one, (8, NUM_TOKENS, D_OUT))
        judge.shape(two, (8, NUM_TOKENS, D_OUT))
        judge.that(not torch.equal(one, two), "Two calls in a row dropped the same weights")

    @pytest.mark.deepens("test_training_drops_weights")
    def test_dropout_of_zero_drops_nothing(self, student, reference, judge, draw):
        """In training with a dropout of 0, nothing should be dropped."""
        weights, x = given_weights(draw), draw.normal(BATCH_SIZE, NUM_TOKENS, D_IN)
        expected = reference.call(with_weights(reference, weights), x, training=False).value
        mine = with_weights(student, weights)
        value = student.call(mine, x, training=True, seed=draw.seed()).value
        judge(value, expected, axes=("batch entry", "token", "feature"))
