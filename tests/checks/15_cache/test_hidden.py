"""Assignment 15 on inputs nobody has seen: other sizes, other pieces, other texts."""

import pytest

from grader.testing import N_

from ..helpers import attention_of_torch, judge_vectors
from .helpers import (
    CONTEXT_LENGTH,
    FEATURES,
    LONG,
    MODEL_SIZES,
    VOCAB_SIZE,
    Layers,
    Writes,
    embeddings,
    made,
    model_parameters,
    texts,
)


@pytest.mark.exercise("generate")
class TestGenerate(Writes):
    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_each_new_token_is_read_before_the_next")
    def test_unseen_texts(self, attempt, draw):
        """Other texts should be continued rightly, too."""
        sizes = (VOCAB_SIZE, CONTEXT_LENGTH, FEATURES)
        model = made(attempt, "SumModel", embeddings(draw), *sizes)
        for batch_size, num_tokens, num_new in ((3, 2, 5), (1, 4, 4)):
            self.judge_texts(attempt, model, texts(draw, batch_size, num_tokens), num_new)

    @pytest.mark.deepens("test_a_long_text_is_read_from_its_beginning")
    def test_other_long_texts(self, attempt, draw):
        """Other long texts should be continued rightly, too."""
        self.judge_long(attempt, draw, 1, LONG + VOCAB_SIZE)


@pytest.mark.exercise("append_to_cache")
class TestAppendToCache:
    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_new_tokens_stand_behind_the_past")
    def test_unseen_tokens(self, attempt, draw):
        """Other sizes should give the right cache, too."""
        past, new = (tuple(draw.normal(3, 2, n, 5) for _ in range(2)) for n in (4, 1))
        called = attempt(past, *new)
        Layers().judge_cache(attempt.judge, called.value, called.expected)

    @pytest.mark.deepens("test_at_the_beginning_there_are_only_the_new_ones")
    def test_an_unseen_beginning(self, attempt, draw):
        """The first tokens of another text should be the whole cache."""
        called = attempt(None, *(draw.normal(2, 3, 3, 4) for _ in range(2)))
        Layers().judge_cache(attempt.judge, called.value, called.expected)

    @pytest.mark.deepens("test_a_long_cache_is_kept_whole")
    def test_another_long_cache(self, attempt, draw):
        """Another long cache should be kept whole, too."""
        past, new = (tuple(draw.normal(2, 1, n, 2) for _ in range(2)) for n in (LONG + 3, 2))
        called = attempt(past, *new)
        Layers().judge_cache(attempt.judge, called.value, called.expected)


@pytest.mark.exercise("CachedAttention")
class TestCachedAttention(Layers):
    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_three_tokens_and_then_four")
    def test_other_pieces(self, attempt, judge, draw):
        """Texts in other pieces should give what they give at once, with another text in between."""
        values = self.drawn(draw)
        x, other = draw.normal(3, 7, self.d_in), draw.normal(3, 2, self.d_in)
        # In eval mode nothing is dropped.
        layer = self.given(attempt, values, dropout=0.5)
        cache = self.judge_pieces(layer, values, x, (2, 1, 4), other)
        self.judge_cache(judge, cache, attention_of_torch(values, self.num_heads, x)[1])

    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_one_token_after_the_other")
    def test_other_sizes_token_by_token(self, attempt, draw):
        """Other sizes should give the right vectors token by token, too, of two texts in turn."""
        layers = OtherSizes()
        values = layers.drawn(draw, qkv_bias=True)
        layer = layers.given(attempt, values, qkv_bias=True)
        x, other = draw.normal(2, 5, layers.d_in), draw.normal(2, 1, layers.d_in)
        layers.judge_pieces(layer, values, x, [1] * 5, other)

    @pytest.mark.deepens("test_a_cache_made_elsewhere")
    def test_another_cache_made_elsewhere(self, attempt, judge, draw):
        """Another layer's long cache should be continued rightly, too, after another text."""
        values, x = self.drawn(draw), draw.normal(1, LONG + 5, self.d_in)
        right, cache = attention_of_torch(values, self.num_heads, x)
        past = tuple(tensor[:, :, : LONG + 2] for tensor in cache)
        sizes = (self.d_in, self.d_out, LONG + 6, self.num_heads)
        layer = self.given(attempt, values, *sizes)
        self.read(layer, draw.normal(1, 2, self.d_in))
        vectors, _cache, _called = self.read(layer, x[:, LONG + 2 :], past)
        judge_vectors(judge, vectors, right, LONG + 2, LONG + 5)

    @pytest.mark.conduct
    @pytest.mark.memory(mib=300)
    @pytest.mark.deepens("test_a_later_step_costs_little_more")
    def test_one_token_after_many_needs_no_square(self, attempt, judge, draw):
        """One token after 3,999 others should need no row of scores but its own."""
        num_tokens, head_dim = 4000, self.d_out // self.num_heads
        layer = self.make(attempt, self.d_in, self.d_out, num_tokens, self.num_heads)
        past = tuple(draw.normal(1, self.num_heads, num_tokens - 1, head_dim) for _ in range(2))
        # Measured at 1000, 2000 and 4000 tokens, in MiB: 7, 30 and 122 with a mask of the whole
        # context, as in 09; 36, 142 and 566 with the rows of all tokens.
        vectors, _cache, _called = self.read(layer, draw.normal(1, 1, self.d_in), past)
        judge.shape(vectors, (1, 1, self.d_out), what=N_("the context vectors"))


class OtherSizes(Layers):
    """Layers of other sizes."""

    d_in, d_out, context_length, num_heads = 12, 12, 5, 2


@pytest.mark.exercise("generate_cached")
class TestGenerateCached(Writes):
    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_each_new_token_is_read_before_the_next")
    def test_unseen_texts(self, attempt, draw):
        """Other texts should be continued rightly, too."""
        model = made(attempt, "Model", model_parameters(draw), *MODEL_SIZES)
        for batch_size, num_tokens, num_new in ((3, 2, 5), (1, 4, 4), (2, 1, 7)):
            self.judge_texts(attempt, model, texts(draw, batch_size, num_tokens), num_new)

    @pytest.mark.deepens("test_a_long_text_is_kept_whole")
    def test_other_long_texts(self, attempt, draw):
        """Other long texts should be continued rightly, too."""
        self.judge_long_with_a_cache(attempt, draw, 3, LONG + 3, 4)
