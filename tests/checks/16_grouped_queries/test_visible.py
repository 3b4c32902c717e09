"""What students see of assignment 16: the order of heads, torch's own attention, what a cache keeps."""

import pytest
import torch

from grader.testing import N_
from grader.testing.mixins import KeepsDoublePrecision, KeepsNames

from ..helpers import OF_CONTEXT_VECTORS, MultiHead, judge_start, judge_surplus
from .helpers import (
    OF_HEADS,
    Layers,
    OneForAll,
    OneForEach,
    by_torch,
    called_with_parts,
    drawn_state,
    judge_kept_heads,
    judge_state,
)

# Two key-value heads; three tokens of two features, each number its position.
NUMBERED = torch.arange(12.0).reshape(1, 2, 3, 2)


@pytest.mark.exercise("repeat_kv")
class TestRepeatKV(KeepsNames, KeepsDoublePrecision):
    axes = OF_HEADS

    def inputs(self, draw, dtype=torch.float32):
        """Keys of two key-value heads, for six heads."""
        return draw.normal(2, 2, 5, 4, dtype=dtype), 6

    @pytest.mark.gate
    @pytest.mark.conduct
    def test_there_is_an_axis_for_all_heads(self, attempt, draw):
        """The result should be float32, of shape (batch_size, num_heads, num_tokens, head_dim)."""
        attempt(draw.normal(4, 2, 4, 4), 4).has_shape(4, 4, 4, 4)

    @pytest.mark.weight(3)
    def test_neighbouring_heads_share_a_key_value_head(self, attempt):
        """Of six heads, the first three should have key-value head 0, the others key-value head 1."""
        one, other = NUMBERED[:, :1], NUMBERED[:, 1:]
        attempt(NUMBERED, 6).gives(torch.cat((one, one, one, other, other, other), dim=1))

    def test_a_single_key_value_head_is_everybodys(self, attempt):
        """All heads should have the only key-value head, where there is one."""
        one = NUMBERED[:, :1]
        attempt(one, 3).gives(torch.cat((one, one, one), dim=1))

    def test_as_many_key_value_heads_as_heads_stay(self, attempt):
        """Where each head has a key-value head of its own, they should stay as they are."""
        for x in (NUMBERED, NUMBERED.long()):
            attempt(x, 2).gives(x)

    @pytest.mark.conduct
    def test_the_argument_is_left_as_it_is(self, attempt):
        """The key-value heads should stay as they are."""
        attempt(NUMBERED, 6).keeps_arguments()

    def test_gradients_reach_the_key_value_heads(self, attempt, draw):
        """Gradients of all heads of a group should add up in their key-value head."""
        called = attempt(*self.inputs(draw), cotangent=draw.normal(2, 6, 5, 4))
        called.gradients_agree(what=N_("the gradient for the key-value heads"), axes=OF_HEADS)


@pytest.mark.exercise("GroupedQueryAttention")
class TestGroupedQueryAttention(KeepsNames, Layers, MultiHead):
    showing = Layers.showing

    @pytest.mark.gate
    @pytest.mark.conduct
    def test_it_is_a_module_with_a_context_vector_for_each_token(self, attempt, judge, draw):
        """It should be a module that gives float32 vectors, (batch_size, num_tokens, d_out)."""
        values, x = self.drawn(draw), draw.normal(4, 4, self.d_in)

        def make():
            layer = self.given(attempt, values)
            judge(getattr(layer.own, "kind", ""), "module", what="what the class makes")
            return layer(x, training=False)

        called_with_parts(attempt, draw, make).has_shape(4, 4, self.d_out)

    # What students should read first.
    test_the_parameters_have_the_names_and_shapes_of_the_text = (
        MultiHead.test_the_parameters_have_the_names_and_shapes_of_the_text
    )
    test_the_context_vectors_for_given_parameters = (
        MultiHead.test_the_context_vectors_for_given_parameters
    )

    @pytest.mark.weight(2)
    def test_each_key_value_head_is_kept_once(self, attempt, draw):
        """`keys_and_values` should have `num_kv_heads` heads of keys, and as many of values."""
        judge_kept_heads(self.given(attempt, self.drawn(draw)), draw.normal(*self.texts))

    @pytest.mark.weight(2)
    def test_the_result_is_that_of_torchs_own_attention(self, attempt, draw):
        """The result should be that of `scaled_dot_product_attention` with `enable_gqa=True`."""
        judge_by_torch(self, attempt, draw)

    def test_one_key_value_head_for_all(self, attempt, draw):
        """With one key-value head, all heads should use it: multi-query attention."""
        judge_by_torch(OneForAll(), attempt, draw)

    def test_as_many_key_value_heads_as_heads(self, attempt, draw):
        """With as many key-value heads as heads, the result should be that of assignment 09's layer."""
        judge_by_torch(OneForEach(), attempt, draw)

    test_a_single_token_sees_itself = MultiHead.test_a_single_token_sees_itself
    test_the_future_does_not_leak = MultiHead.test_the_future_does_not_leak

    @pytest.mark.conduct
    def test_it_learns_four_layers_and_one_bias(self, attempt, judge):
        """Without `qkv_bias` it should learn four weights and the bias of `out_proj`, no more."""
        judge_surplus(judge, self.layer(attempt).state)

    @pytest.mark.conduct
    def test_heads_that_do_not_fit_are_refused(self, attempt, judge):
        """Making it should fail where heads do not share the features, or the key-value heads, evenly."""
        features = N_("5 features were to be shared by 2 heads, and nothing was raised")
        heads = N_("6 heads were to share 4 key-value heads, and nothing was raised")
        for sizes, sentence in (((5, 2, 1), features), ((12, 6, 4), heads)):
            d_out, *counts = sizes
            refused = attempt.student.refusal(attempt.name, 3, d_out, 6, 0.0, *counts)
            judge.that(refused is not None, sentence)

    @pytest.mark.conduct
    def test_each_instance_draws_its_own_weights(self, attempt):
        """Two instances should start with different weights."""
        judge_start(attempt, *(self.layer(attempt, seed=seed).state for seed in (1, 2)))


def judge_by_torch(layers, attempt, draw):
    """Judge a layer by torch's own attention."""
    values, x = layers.drawn(draw, qkv_bias=True), draw.normal(*layers.texts)
    layer = layers.given(attempt, values, qkv_bias=True)
    expected = by_torch(layers, values, x)
    layer(x, training=False).gives(expected, axes=OF_CONTEXT_VECTORS)


@pytest.mark.exercise("mha_to_gqa")
class TestMhaToGqa(KeepsNames):
    @pytest.mark.gate
    @pytest.mark.conduct
    def test_it_is_a_dictionary_with_the_same_names(self, attempt, judge, draw):
        """It should be a dictionary with the names of the given one, and no others."""
        called = attempt(drawn_state(draw, 4, 8), 4, 2)
        judge.that(isinstance(called.value, dict), "It is no dictionary", about=called.value)
        missing = ", ".join(name for name in called.expected if name not in called.value)
        judge.that(not missing, judge.words(N_("These names are missing: {names}"), names=missing))
        judge(*(sorted(names) for names in (called.value, called.expected)), what="its names")

    @pytest.mark.weight(2)
    def test_the_keys_of_a_group_become_their_mean(self, attempt, draw):
        """The weight of the keys should have the mean of each group's heads."""
        judge_state(attempt, (drawn_state(draw, 4, 12), 6, 2), "W_key.weight")

    @pytest.mark.weight(2)
    def test_the_values_of_a_group_become_their_mean(self, attempt, draw):
        """The weight of the values should have the mean of each group's heads."""
        judge_state(attempt, (drawn_state(draw, 4, 12), 6, 2), "W_value.weight")

    def test_biases_go_the_same_way(self, attempt, draw):
        """The biases of keys and values should have the mean of each group's heads."""
        given = drawn_state(draw, 4, 12), 6, 2
        judge_state(attempt, given, "W_key.bias", "W_value.bias")

    def test_queries_out_proj_and_mask_stay(self, attempt, draw):
        """What is neither of keys nor of values should keep its values."""
        given = drawn_state(draw, 4, 12), 6, 2
        judge_state(attempt, given, "W_query", "out_proj", "mask")

    def test_a_state_without_biases(self, attempt, judge, draw):
        """A layer may have no biases for queries, keys and values; then the result has none."""
        given = drawn_state(draw, 4, 12, qkv_bias=False), 6, 3
        called = attempt(*given)
        judge.that(isinstance(called.value, dict), "It is no dictionary", about=called.value)
        judge(called.value, called.expected, what="the tensors")

    def test_as_many_key_value_heads_as_heads_change_nothing(self, attempt, draw):
        """With as many key-value heads as heads, everything should keep its values."""
        judge_state(attempt, (drawn_state(draw, 4, 12), 6, 6), "W_")

    def test_one_key_value_head_is_the_mean_of_all(self, attempt, draw):
        """With one key-value head, keys and values should have the mean of all heads."""
        judge_state(attempt, (drawn_state(draw, 4, 12), 6, 1), "W_key", "W_value")

    @pytest.mark.conduct
    def test_the_state_is_left_as_it_is(self, attempt, draw):
        """The given state should stay as it is."""
        attempt(drawn_state(draw, 4, 8), 4, 2).keeps_arguments()


@pytest.mark.exercise("kv_cache_bytes")
class TestKvCacheBytes(KeepsNames):
    @pytest.mark.gate
    @pytest.mark.conduct
    def test_it_is_a_whole_number(self, attempt, judge):
        """It should be a whole number."""
        value = attempt(1, 1, 1, 1, 1, 1).value
        template = N_("It answered something of type {type}, not a whole number")
        judge.that(type(value) is int, judge.words(template, type=type(value).__name__))

    @pytest.mark.weight(2)
    def test_a_small_cache(self, attempt):
        """2 layers with 3 key-value heads of 5 features should take 1,680 bytes for 7 tokens, at 4 bytes a number."""
        # 2 · 2 layers · 3 key-value heads · 7 tokens · 5 features, of 4 bytes.
        attempt(2, 6, 3, 30, 7, 4).gives(4 * 420, any_type=True)

    @pytest.mark.weight(2)
    def test_gpt2s_cache(self, attempt):
        """GPT-2's small model should take 37,748,736 bytes for 1,024 tokens, and with 3 groups a quarter."""
        for num_kv_heads, right in ((12, 37_748_736), (3, 9_437_184)):
            attempt(12, 12, num_kv_heads, 768, 1024).gives(right, any_type=True)

    @pytest.mark.conduct
    @pytest.mark.memory(mib=64)
    def test_it_is_counted_not_made(self, attempt):
        """The caches of 17.18 GB and of 4.29 GB in the text should be counted, and none be made."""
        for num_kv_heads, right in ((8, 4_294_967_296), (32, 17_179_869_184)):
            attempt(32, 32, num_kv_heads, 4096, 32768).gives(right, any_type=True)
