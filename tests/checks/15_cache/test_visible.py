"""What students see of assignment 15: texts, pieces of texts, texts in turn, and what steps cost."""

import pytest
import torch

from grader.testing import N_, StudentOutcome
from grader.testing.mixins import KeepsNames

from ..helpers import (
    FOUND_PARAMETERS,
    attention_of_torch,
    is_close,
    is_pair,
    judge_surplus,
    judge_unchanged,
    judge_vectors,
)
from .helpers import (
    CONTEXT_LENGTH,
    FEATURES,
    LONG,
    MODEL_SIZES,
    VOCAB_SIZE,
    Layers,
    Writes,
    called_with,
    embeddings,
    made,
    model_parameters,
    part_of_the_model,
    parts_of_the_layer,
    texts,
)


@pytest.mark.exercise("generate")
class TestGenerate(KeepsNames, Writes):
    def model(self, attempt, draw):
        """A model without attention."""
        return made(attempt, "SumModel", embeddings(draw), VOCAB_SIZE, CONTEXT_LENGTH, FEATURES)

    @pytest.mark.gate
    @pytest.mark.conduct
    def test_the_texts_have_as_many_tokens_more(self, attempt, draw):
        """The result should be whole numbers, of shape (batch_size, num_tokens + num_new)."""
        found = self.written(attempt, self.model(attempt, draw), texts(draw, 4, 4), 4).value
        attempt.judge.shape(found, (4, 8), dtype=torch.int64)

    @pytest.mark.weight(2)
    def test_one_new_token_has_the_largest_score(self, attempt, draw):
        """A single new token should be the one with the largest score after the last token."""
        self.judge_texts(attempt, self.model(attempt, draw), texts(draw, 3, 4), 1)

    @pytest.mark.weight(2)
    def test_each_new_token_is_read_before_the_next(self, attempt, draw):
        """Each new token should depend on those before it, the new ones among them."""
        self.judge_texts(attempt, self.model(attempt, draw), texts(draw, 2, 3), 6)

    def test_a_long_text_is_read_from_its_beginning(self, attempt, draw):
        """A text of 44 tokens should be read from its beginning, and no token should end the writing."""
        self.judge_long(attempt, draw, 2, LONG)

    @pytest.mark.conduct
    def test_the_texts_that_are_given_stay(self, attempt, draw):
        """The texts so far should stay as they are."""
        found = self.written(attempt, self.model(attempt, draw), texts(draw, 2, 3), 2)
        attempt.judge.that(not found.changed, N_("It changed the texts in place"))


def heads(draw, num_tokens, sizes=(2, 3, 4)):
    """Keys or values of so many tokens."""
    batch_size, num_heads, head_dim = sizes
    return draw.normal(batch_size, num_heads, num_tokens, head_dim)


class Appends:
    """How a cache grows."""

    def judge_appended(self, attempt, cache, keys, values):
        """Judge the cache with these keys and values behind it."""
        called = attempt(cache, keys, values)
        Layers().judge_cache(attempt.judge, called.value, called.expected)


@pytest.mark.exercise("append_to_cache")
class TestAppendToCache(KeepsNames, Appends):
    @pytest.mark.gate
    @pytest.mark.conduct
    def test_it_is_a_pair_of_tensors(self, attempt, judge, draw):
        """It should be a pair: the keys and the values, float32."""
        first, new = (tuple(heads(draw, 4, (4, 4, 4)) for _ in range(2)) for _ in range(2))
        value = attempt(first, *new).value
        judge.that(is_pair(value), N_("It is no pair of keys and values"), about=value)

    def test_at_the_beginning_there_are_only_the_new_ones(self, attempt, draw):
        """Without a cache, it should be the keys and values of the new tokens."""
        self.judge_appended(attempt, None, heads(draw, 2), heads(draw, 2))

    @pytest.mark.weight(2)
    def test_new_tokens_stand_behind_the_past(self, attempt, draw):
        """New keys and values should stand behind those of the past, along the axis of the tokens."""
        past = heads(draw, 3), heads(draw, 3)
        self.judge_appended(attempt, past, heads(draw, 2), heads(draw, 2))

    @pytest.mark.weight(2)
    def test_axes_of_the_same_size_are_told_apart(self, attempt, draw):
        """Also where all axes are as long, the tokens should be the third of them."""
        past, new = (tuple(heads(draw, 3, (3, 3, 3)) for _ in range(2)) for _ in range(2))
        self.judge_appended(attempt, past, *new)

    def test_a_long_cache_is_kept_whole(self, attempt, draw):
        """Of a cache of 44 tokens, none should be lost."""
        past, new = (tuple(heads(draw, n, (1, 2, 3)) for _ in range(2)) for n in (LONG, 1))
        self.judge_appended(attempt, past, *new)

    @pytest.mark.conduct
    def test_the_cache_that_is_given_stays(self, attempt, draw):
        """The cache that is given, and the new keys and values, should stay as they are."""
        past = heads(draw, 3), heads(draw, 3)
        attempt(past, heads(draw, 2), heads(draw, 2)).keeps_arguments()


@pytest.mark.exercise("CachedAttention")
class TestCachedAttention(KeepsNames, Layers):
    @pytest.mark.gate
    @pytest.mark.conduct
    def test_it_gives_context_vectors_and_a_cache(self, attempt, judge, draw):
        """It should give context vectors, (batch_size, num_new, d_out), and beside them the cache."""
        values, x = self.drawn(draw), draw.normal(3, 5, self.d_in)
        parts = parts_of_the_layer(draw)

        def make():
            return self.given(attempt, values)(x[:, :3], training=False)

        def is_right(called):
            return self.goes_on(attempt, values, x, called.value)

        vectors, _cache = self.pair(judge, called_with(attempt, make, parts, is_right).value)
        judge.shape(vectors, (3, 3, self.d_out), what=N_("the context vectors"))

    @pytest.mark.conduct
    def test_the_parameters_are_those_of_assignment_09(self, attempt, judge, draw):
        """The parameters should have the names and shapes that they have in assignment 09."""
        values = self.drawn(draw)
        layer = self.layer(attempt, given=values)
        report = layer.loaded.by_name
        judge(report, dict.fromkeys(values, "loaded"), what=FOUND_PARAMETERS)
        judge_surplus(judge, layer.state)

    def test_at_once_it_gives_what_torch_gives(self, attempt, judge, draw):
        """A whole text at once should give what torch's `scaled_dot_product_attention` gives."""
        values, x = self.drawn(draw, self.d_out, qkv_bias=True), draw.normal(2, 7, self.d_out)
        layer = self.square(attempt, values, qkv_bias=True)
        cache = self.judge_pieces(layer, values, x, (7,))
        self.judge_cache(judge, cache, attention_of_torch(values, self.num_heads, x)[1])

    @pytest.mark.weight(2)
    def test_three_tokens_and_then_four(self, attempt, draw):
        """Three tokens and then four should give what seven give at once."""
        values = self.drawn(draw)
        self.judge_pieces(self.given(attempt, values), values, draw.normal(2, 7, self.d_in), (3, 4))

    @pytest.mark.weight(2)
    def test_one_token_after_the_other(self, attempt, draw):
        """Seven tokens one after the other should give what they give at once."""
        values = self.drawn(draw)
        self.judge_pieces(
            self.given(attempt, values), values, draw.normal(2, 7, self.d_in), [1] * 7
        )

    def test_a_long_text(self, attempt, judge, draw):
        """44 tokens and then two should give what 46 give at once, and all should be in the cache."""
        values, x = self.drawn(draw), draw.normal(1, LONG + 2, self.d_in)
        sizes = (self.d_in, self.d_out, LONG + 2, self.num_heads)
        cache = self.judge_pieces(self.given(attempt, values, *sizes), values, x, (LONG, 2))
        self.judge_cache(judge, cache, attention_of_torch(values, self.num_heads, x)[1])

    @pytest.mark.weight(2)
    def test_the_cache_holds_all_keys_and_values(self, attempt, judge, draw):
        """After three tokens, and after two more, the cache should hold the keys and values of all."""
        values, x = self.drawn(draw), draw.normal(2, 5, self.d_in)
        right = attention_of_torch(values, self.num_heads, x)[1]
        layer, cache = self.given(attempt, values), None
        for start, end in ((0, 3), (3, 5)):
            _vectors, cache, _called = self.read(layer, x[:, start:end], cache)
            self.judge_cache(judge, cache, [tensor[:, :, :end] for tensor in right])

    @pytest.mark.weight(2)
    def test_two_texts_in_turn(self, attempt, judge, draw):
        """Two texts read in turn, each with its own cache, should not touch each other."""
        values, both = self.drawn(draw), [draw.normal(1, 4, self.d_in) for _ in range(2)]
        right = [attention_of_torch(values, self.num_heads, x)[0] for x in both]
        layer, caches = self.given(attempt, values), [None, None]
        for start, end in ((0, 2), (2, 3), (3, 4)):
            for number, x in enumerate(both):
                vectors, caches[number], _called = self.read(layer, x[:, start:end], caches[number])
                judge_vectors(judge, vectors, right[number], start, end)

    def test_two_layers_in_turn(self, attempt, judge, draw):
        """Two layers should not share a cache: each begins with none."""
        x = draw.normal(1, 3, self.d_in)
        for _layer in range(2):
            values = self.drawn(draw)
            self.judge_pieces(self.given(attempt, values), values, x, (2, 1))

    @pytest.mark.weight(2)
    def test_a_cache_made_elsewhere(self, attempt, judge, draw):
        """A new layer should go on with a cache that another one with its parameters has made."""
        values, x = self.drawn(draw), draw.normal(2, 6, self.d_in)
        right, cache = attention_of_torch(values, self.num_heads, x)
        for start in (5, 3):
            past = tuple(tensor[:, :, :start] for tensor in cache)
            vectors, _cache, _called = self.read(self.given(attempt, values), x[:, start:], past)
            judge_vectors(judge, vectors, right, start, 6)

    def test_too_many_tokens_are_refused(self, attempt, judge, draw):
        """More tokens than `context_length`, with those in the cache, should end in a ValueError."""
        values, x = self.drawn(draw), draw.normal(1, self.context_length + 1, self.d_in)
        past = tuple(
            tensor[:, :, :6] for tensor in attention_of_torch(values, self.num_heads, x)[1]
        )
        layer = self.given(attempt, values)
        all_at_once = N_("8 tokens, for a context_length of 7: no error")
        with_a_cache = N_(
            "6 tokens in the cache and 2 new ones, for a context_length of 7: no error"
        )
        for args, sentence in (((x,), all_at_once), ((x[:, 6:], past), with_a_cache)):
            failure = layer.refusal(*args, training=False)
            last = attempt.student.answers.get(len(attempt.student.calls) - 1)
            about = last.value if failure is None and last is not None else None
            judge.that(failure is not None, sentence, about=about)
            sentence = judge.words(N_("It raised {type}, not a ValueError"), type=failure.type)
            judge.that("ValueError" in failure.bases, sentence, about=failure.type)

    def test_dropout_drops_weights_in_training_alone(self, attempt, judge, draw):
        """With dropout, weights should be dropped in training, and none in eval mode."""
        values = self.drawn(draw)
        values |= {
            "out_proj.weight": torch.eye(self.d_out),
            "out_proj.bias": torch.zeros(self.d_out),
        }
        x, two = draw.normal(32, 1, self.d_in), draw.normal(4, 2, self.d_in)
        right = attention_of_torch(values, self.num_heads, x)[0]
        layer = self.given(attempt, values, dropout=0.5)
        still = self.pair(judge, layer(x, training=False).value)[0]
        judge(still, right, what=N_("the context vectors in eval mode"), axes=self.axes)
        found = self.pair(judge, layer(x, training=True, seed=1).value)[0]
        judge.shape(found, right.shape, what=N_("the context vectors"))
        # A token alone has the weight 1 in each head; it is dropped, or twice as large.
        is_dropped = found == 0
        if not bool(is_dropped.any()):
            self.judge_nothing_dropped(judge, layer, two)
        by_head = is_dropped.unflatten(-1, (self.num_heads, -1))
        sentence = N_("In training mode single features were dropped, not a token's weight")
        judge.that(torch.equal(by_head.all(-1), by_head.any(-1)), sentence, about="features")
        kept = torch.where(is_dropped, 2 * right, found)
        judge(kept, 2 * right, what=N_("twice the context vectors, where nothing is dropped"))

    def judge_nothing_dropped(self, judge, layer, x):
        """End the check where no weight is dropped, and say whether dropout changes anything."""
        still, found = (
            self.pair(judge, layer(x, training=is_training, seed=1).value)[0]
            for is_training in (False, True)
        )
        sentence = N_("Dropout changes the result, but drops no weight: is it before the softmax?")
        judge.that(is_close(found, still), sentence, about="scores")
        judge.that(False, "In training mode nothing was dropped")

    @pytest.mark.conduct
    def test_tokens_and_cache_stay_as_they_are(self, attempt, judge, draw):
        """The new tokens and the cache should stay as they are."""
        values, x = self.drawn(draw), draw.normal(2, 5, self.d_in)
        past = tuple(t[:, :, :3].clone() for t in attention_of_torch(values, self.num_heads, x)[1])
        _vectors, _cache, called = self.read(self.given(attempt, values), x[:, 3:], past)
        judge_unchanged(attempt, called.answer.changed, past, "")

    @pytest.mark.conduct
    def test_a_later_step_costs_little_more(self, attempt, judge, draw):
        """With 8 tokens in the cache, a step should multiply at most 3 times as often as with 0."""
        values, x = self.drawn(draw), draw.normal(1, 9, self.d_in)
        sizes = (self.d_in, self.d_out, 9, self.num_heads)
        layer, cache, answers = self.given(attempt, values, *sizes), None, {}
        for place in range(9):
            token = x[:, place : place + 1]
            _vectors, cache, called = self.read(layer, token, cache, meter=place in (0, 8))
            if called.answer.cost is not None:
                answers[place] = called.answer
        # Queries, keys, values and `out_proj` of one token, and a row of scores that grows: 1.4 times.
        judge.grows(answers, at_most=3, step=N_("the step with {number} tokens in the cache"))


@pytest.mark.exercise("generate_cached")
class TestGenerateCached(KeepsNames, Writes):
    def model(self, attempt, values):
        """A model of two layers."""
        return made(attempt, "Model", values, *MODEL_SIZES)

    @pytest.mark.gate
    @pytest.mark.conduct
    def test_the_texts_have_as_many_tokens_more(self, attempt, draw):
        """The result should be whole numbers, of shape (batch_size, num_tokens + num_new)."""
        values, tokens = model_parameters(draw), texts(draw, 4, 4)
        part = part_of_the_model(draw)
        reference = attempt.reference
        solution = reference.call("Model", *MODEL_SIZES).value
        reference.load(solution, values)
        right = reference.call(attempt.name, solution, tokens, 4).value

        def make():
            # A stub says so before a model is made, which needs another exercise.
            attempt.student.refusal(attempt.name, None, tokens, 1)
            models.append(self.model(attempt, values))
            return self.written(attempt, models[0], tokens, 4)

        def is_right(found):
            try:
                again = self.written(attempt, models[0], tokens, 4)
            except StudentOutcome:
                return False
            return is_same(found.value, right) and is_same(again.value, right)

        models = []
        answer = called_with(attempt, make, [part], is_right)
        attempt.judge.shape(answer.value, (4, 8), dtype=torch.int64)

    @pytest.mark.weight(2)
    def test_the_second_new_token_has_its_place(self, attempt, draw):
        """Two new tokens should be those that the model writes when it reads the whole text."""
        model = self.model(attempt, model_parameters(draw))
        self.judge_texts(attempt, model, texts(draw, 3, 4), 2)

    @pytest.mark.weight(2)
    def test_each_new_token_is_read_before_the_next(self, attempt, draw):
        """Each new token should depend on those before it, the new ones among them."""
        model = self.model(attempt, model_parameters(draw))
        self.judge_texts(attempt, model, texts(draw, 2, 3), 6)

    def test_a_text_of_one_token(self, attempt, draw):
        """After a single token, eight more should be right."""
        model = self.model(attempt, model_parameters(draw))
        self.judge_texts(attempt, model, texts(draw, 2, 1), 8)

    def test_a_second_text_with_the_same_model(self, attempt, draw):
        """A second call with the same model should begin without a cache."""
        model = self.model(attempt, model_parameters(draw))
        for _text in range(2):
            self.judge_texts(attempt, model, texts(draw, 2, 3), 3)

    def test_a_long_text_is_kept_whole(self, attempt, draw):
        """After a text of 44 tokens, six more should be right."""
        self.judge_long_with_a_cache(attempt, draw, 2, LONG, 6)

    @pytest.mark.conduct
    def test_the_texts_that_are_given_stay(self, attempt, draw):
        """The texts so far should stay as they are."""
        model = self.model(attempt, model_parameters(draw))
        found = self.written(attempt, model, texts(draw, 2, 3), 2)
        attempt.judge.that(not found.changed, N_("It changed the texts in place"))

    @pytest.mark.conduct
    def test_eight_tokens_cost_eight_steps(self, attempt, judge, draw):
        """One new token should cost one step of the model, and eight at most twice what eight steps cost."""
        model, tokens = self.model(attempt, model_parameters(draw)), texts(draw, 1, 8)
        caches, steps = None, {}
        for place in range(8):
            token, is_metered = tokens[:, place : place + 1], place in (0, 7)
            step = attempt.student.call(model.own, token, place, caches, meter=is_metered)
            caches = step.value[1] if is_pair(step.value) else None
            if is_metered:
                steps[place] = max(step.cost.multiplications, 1)
        answers = {n: self.written(attempt, model, tokens[:, :1], n, meter=True) for n in (1, 8)}
        # What a step of one's own layer costs too much is judged there. Each step reads one token
        # more than the one before, so that eight cost four times the first and the last.
        at_most = 2 * 4 * (steps[0] + steps[7]) / steps[0]
        judge.grows(answers, at_most=at_most, step=N_("the call with num_new={number}"))
        ratio = answers[1].cost.multiplications / steps[0]
        sentence = N_(
            "For one new token after a text of one, the model computes more than one step"
        )
        judge.that(ratio < 1.5, sentence, about=round(ratio))


def is_same(value, right):
    """Whether a value is the same tensor."""
    return isinstance(value, torch.Tensor) and torch.equal(value, right)
