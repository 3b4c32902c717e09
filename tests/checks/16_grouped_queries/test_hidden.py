"""Assignment 16 on inputs nobody has seen: other sizes, other numbers."""

import pytest

from .helpers import OF_HEADS, Layers, OneForAll, OneForEach, drawn_state, judge_kept_heads


@pytest.mark.exercise("repeat_kv")
class TestRepeatKV:
    axes = OF_HEADS

    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_neighbouring_heads_share_a_key_value_head")
    def test_other_groups(self, attempt, draw):
        """Other numbers of heads should give the right result, too."""
        attempt(draw.normal(2, 3, 5, 4), 12).agrees()

    @pytest.mark.deepens("test_neighbouring_heads_share_a_key_value_head")
    def test_as_many_tokens_as_key_value_heads(self, attempt, draw):
        """Axes should be told apart, also where all sizes are the same."""
        attempt(draw.normal(3, 3, 3, 3), 9).agrees()


class Fewer(Layers):
    """Four heads of three features, in two groups."""

    d_in, d_out, context_length, num_heads, num_kv_heads = 12, 12, 6, 4, 2


class OneHead(Layers):
    """One head with its own keys."""

    num_heads = num_kv_heads = 1


@pytest.mark.exercise("GroupedQueryAttention")
class TestGroupedQueryAttention(Layers):
    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_the_context_vectors_for_given_parameters")
    def test_unseen_texts(self, attempt, draw):
        """Other parameters and texts should give the right result, too."""
        self.judge_texts(attempt, draw, 2, 6)

    @pytest.mark.deepens("test_the_context_vectors_for_given_parameters")
    def test_other_groups(self, attempt, draw):
        """Other sizes, and texts as long as `context_length`, should give the right result, too."""
        Fewer().judge_texts(attempt, draw, 3, Fewer.context_length)

    @pytest.mark.deepens("test_one_key_value_head_for_all")
    def test_one_key_value_head(self, attempt, draw):
        """With one key-value head, for all or for a single head, other texts should give the right result, too."""
        OneForAll().judge_texts(attempt, draw, 2, 5)
        OneHead().judge_texts(attempt, draw, 2, 5)

    @pytest.mark.deepens("test_as_many_key_value_heads_as_heads")
    def test_as_many_key_value_heads(self, attempt, draw):
        """With as many key-value heads as heads, other texts should give the right result, too."""
        OneForEach().judge_texts(attempt, draw, 2, 5)

    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_each_key_value_head_is_kept_once")
    def test_what_is_kept_of_other_texts(self, attempt, draw):
        """Of other texts, too, each key-value head should be kept once."""
        judge_kept_heads(self.given(attempt, self.drawn(draw)), draw.normal(3, 4, self.d_in))


@pytest.mark.exercise("mha_to_gqa")
class TestMhaToGqa:
    def judge_all(self, attempt, given):
        """Judge all of the state."""
        called = attempt(*given)
        attempt.judge(called.value, called.expected, what="the tensors")

    @pytest.mark.weight(3)
    @pytest.mark.deepens("test_the_keys_of_a_group_become_their_mean")
    def test_other_groups(self, attempt, draw):
        """Other sizes should give the right tensors, too."""
        self.judge_all(attempt, (drawn_state(draw, 5, 24), 8, 2))

    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_a_state_without_biases")
    def test_all_sizes_the_same(self, attempt, draw):
        """Heads, features and inputs should be told apart, also where there are as many."""
        self.judge_all(attempt, (drawn_state(draw, 16, 16, qkv_bias=False), 4, 2))


@pytest.mark.exercise("kv_cache_bytes")
class TestKvCacheBytes:
    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_a_small_cache")
    def test_other_models(self, attempt, draw):
        """Other sizes should give the right number, too."""
        layers, tokens = (draw.whole(2, 9) for _ in range(2))
        for kv_heads, per_number in ((4, 4), (2, 1), (8, 2)):
            attempt(layers, 8, kv_heads, 40, tokens, per_number).agrees(any_type=True)

    @pytest.mark.deepens("test_gpt2s_cache")
    def test_two_bytes_unless_told(self, attempt):
        """Without `bytes_per_number`, each number should take two bytes; also where there is one head."""
        attempt(5, 9, 3, 36, 11).agrees(any_type=True)
        attempt(5, 1, 1, 36, 11).agrees(any_type=True)
