"""What students see of assignment 17: figures worked out by hand, and texts of a given model."""

import math

import pytest
import torch

from grader.testing import N_
from grader.testing.mixins import KeepsNames

from ..helpers import called_unless_waiting, judge_unchanged, judge_vectors
from .helpers import (
    TOKEN,
    VOCAB_SIZE,
    Grouped,
    Losses,
    Writes,
    called_with_next_token,
    model,
    numbers,
    texts,
)


class OfNames:
    """What deviations should be."""

    def judge_std(self, attempt, name, num_layers, right):
        """Judge one of them; it is rounded at 1e-9."""
        found = attempt(name, num_layers).value
        attempt.judge(found, right, what=N_("the standard deviation"), atol=1e-7, any_type=True)


@pytest.mark.exercise("initial_std")
class TestInitialStd(KeepsNames, OfNames):
    @pytest.mark.gate
    @pytest.mark.conduct
    def test_it_is_a_number(self, attempt, judge):
        """It should be a number."""
        value = attempt("h.0.attn.W_query.weight", 2).value
        judge.that(isinstance(value, int | float), N_("It is no number"), about=value)

    def test_weights_begin_at_002(self, attempt):
        """Weights of embeddings and layers should have 0.02, whatever the number of blocks."""
        for name in (
            "wte.weight",
            "gpt.wpe.weight",
            "h.3.attn.W_key.weight",
            "h.0.mlp.c_fc.weight",
        ):
            self.judge_std(attempt, name, 5, 0.02)

    def test_biases_begin_at_0(self, attempt):
        """Biases should have 0."""
        for name in ("h.0.mlp.c_fc.bias", "h.1.attn.out_proj.bias", "h.0.mlp.c_proj.bias"):
            self.judge_std(attempt, name, 2, 0.0)

    def test_what_attention_adds_begins_smaller(self, attempt):
        """The weight of `out_proj` should have 0.02 divided by the root of 2 n."""
        self.judge_std(attempt, "h.0.attn.out_proj.weight", 8, 0.005)

    def test_what_the_network_adds_begins_smaller(self, attempt):
        """The weight of `c_proj` should have 0.02 divided by the root of 2 n."""
        self.judge_std(attempt, "gpt.h.7.mlp.c_proj.weight", 8, 0.005)


@pytest.mark.exercise("loss_of")
class TestLossOf(KeepsNames, Losses):
    @pytest.mark.gate
    @pytest.mark.conduct
    def test_it_is_a_single_number(self, attempt, judge, draw):
        """It should be a tensor of a single number, of shape ()."""
        made = model(attempt, draw)
        found = attempt.student.call(attempt.name, made.own, texts(draw, 3, 4)).value
        judge.shape(found, (), what=N_("the loss"))

    @pytest.mark.weight(2)
    def test_the_loss_of_given_texts(self, attempt, draw):
        """With given parameters, the loss should be right."""
        # The model has no place for more than it should read.
        self.judge_loss(attempt, model(attempt, draw, 5), texts(draw, 2, 6))

    def test_all_places_count_alike(self, attempt, judge, draw):
        """Two texts should have the mean of what each has alone."""
        made, both = model(attempt, draw), texts(draw, 2, 5)
        right = torch.stack(
            [attempt.reference.call(attempt.name, made.solution, one[None]).value for one in both]
        )
        found = attempt.student.call(attempt.name, made.own, both).value
        judge(found, right.mean(), what=N_("the loss"))

    def test_gradients_reach_the_model(self, attempt, judge, draw):
        """The loss should lead back to the parameters of the model."""
        made, batch = model(attempt, draw), texts(draw, 2, 6)
        found, right = (answer.value for answer in self.loss(attempt, made, batch))
        judge(found, right, what=N_("the loss"))
        judge(found.requires_grad, right.requires_grad, what=N_("whether it has gradients"))

    @pytest.mark.conduct
    def test_the_batch_is_left_as_it_is(self, attempt, judge, draw):
        """The batch should stay as it is."""
        found = attempt.student.call(attempt.name, model(attempt, draw).own, texts(draw, 2, 5))
        judge.that(not found.changed, N_("It changed the batch in place"))


@pytest.mark.exercise("next_token")
class TestNextToken(KeepsNames):
    # Probabilities of 1/8, 1/2, 1/4 and 1/8.
    logits = torch.tensor([0.0, math.log(4), math.log(2), 0.0])

    @pytest.mark.gate
    @pytest.mark.conduct
    def test_it_is_a_whole_number(self, attempt, judge):
        """It should be a whole number: `int`."""
        value = attempt(self.logits, 1.0, 4, 0.5).value
        judge.that(type(value) is int, N_("It is no `int`"), about=value)

    @pytest.mark.weight(2)
    def test_the_token_on_whose_piece_the_number_lies(self, attempt):
        """Probabilities of 1/8, 1/2, 1/4, 1/8: each number should draw the token of its piece."""
        for number, token in ((0.05, 0), (0.2, 1), (0.6, 1), (0.7, 2), (0.9, 3), (0.99, 3)):
            attempt(self.logits, 1.0, 4, number).gives(token, what=TOKEN, any_type=True)

    def test_a_piece_begins_with_its_number(self, attempt):
        """Of four tokens as likely, 0, 0.25, 0.5 and 0.75 should draw one each."""
        for token in range(4):
            attempt(torch.zeros(4), 1.0, 4, token / 4).gives(token, what=TOKEN, any_type=True)

    @pytest.mark.weight(2)
    def test_the_temperature_makes_all_alike_or_one_certain(self, attempt):
        """At a temperature of 0.25 or of 50, the same numbers should draw other tokens."""
        for temperature, drawn in ((0.25, (1, 1, 1)), (50.0, (2, 2, 0)), (2.0, (2, 2, 1))):
            for number, token in zip((0.58, 0.65, 0.2), drawn, strict=True):
                attempt(self.logits, temperature, 4, number).gives(token, what=TOKEN, any_type=True)

    @pytest.mark.weight(2)
    def test_only_the_best_may_be_drawn(self, attempt):
        """With `top_k` of 2 or 1, only tokens 1 and 2, or 1, should be drawn, with all of the line."""
        for top_k, drawn in ((2, (1, 2, 1)), (1, (1, 1, 1))):
            for number, token in zip((0.6, 0.7, 0.0), drawn, strict=True):
                attempt(self.logits - 3, 1.0, top_k, number).gives(token, what=TOKEN, any_type=True)

    @pytest.mark.conduct
    def test_the_logits_are_left_as_they_are(self, attempt, draw):
        """The logits should stay as they are."""
        attempt(draw.normal(6), 2.0, 3, 0.5).keeps_arguments()

    @pytest.mark.remark
    def test_a_number_next_to_1_draws_the_last_that_may_be_drawn(self, attempt):
        """Where rounded sums end below the number, the last of the best should be drawn."""
        # Of these five, sums of float32 end 2e-7 below 1, however they are made.
        logits = torch.tensor([-5.0, -0.75, 1.25, -0.625, -0.625, 0.625, -5.0])
        attempt(logits, 1.0, 5, 1 - 2**-24).gives(5, what=TOKEN, any_type=True)


@pytest.mark.exercise("write")
class TestWrite(KeepsNames, Writes):
    @pytest.mark.gate
    @pytest.mark.conduct
    def test_the_text_has_as_many_tokens_more(self, attempt, judge, draw):
        """The result should be whole numbers, of shape (num_tokens + num_written,)."""
        made, prompt = model(attempt, draw), texts(draw, 1, 4)[0]
        args = (prompt, [0.3, 0.6, 0.1, 0.8], 1.0, VOCAB_SIZE)
        found = called_with_next_token(
            attempt, draw, lambda: attempt.student.call(attempt.name, made.own, *args)
        )
        judge.shape(found.value, (8,), dtype=torch.int64)

    @pytest.mark.weight(2)
    def test_each_token_depends_on_those_before(self, attempt, draw):
        """Eight tokens behind a prompt of three should be those that the numbers draw."""
        made, prompt = model(attempt, draw), texts(draw, 1, 3)[0]
        self.judge_text(attempt, made, prompt, numbers(draw, 8), 1.0, VOCAB_SIZE)

    def test_temperature_and_top_k_are_handed_on(self, attempt, draw):
        """With another temperature and `top_k`, the text should be right, too."""
        made, prompt = model(attempt, draw), texts(draw, 1, 2)[0]
        for temperature, top_k in ((3.0, VOCAB_SIZE), (1.0, 2)):
            self.judge_text(attempt, made, prompt, numbers(draw, 9), temperature, top_k)

    @pytest.mark.weight(2)
    def test_it_ends_after_the_stop(self, attempt, draw):
        """The text should end right after the token `stop`, which belongs to it."""
        made, prompt = model(attempt, draw), texts(draw, 1, 3)[0]
        args = (prompt, numbers(draw, 8), 4.0, VOCAB_SIZE)
        whole = attempt.reference.call(attempt.name, made.solution, *args).value
        for stop in sorted({*whole[3:8].tolist()}, reverse=True):
            self.judge_text(attempt, made, *args, stop=stop)

    def test_a_second_text_begins_anew(self, attempt, draw):
        """A second text with the same model should begin without caches."""
        made = model(attempt, draw)
        for _text in range(2):
            prompt = texts(draw, 1, 3)[0]
            self.judge_text(attempt, made, prompt, numbers(draw, 4), 1.0, VOCAB_SIZE)

    @pytest.mark.conduct
    def test_the_prompt_is_left_as_it_is(self, attempt, judge, draw):
        """The prompt should stay as it is."""
        args = (texts(draw, 1, 3)[0], numbers(draw, 3), 1.0, VOCAB_SIZE)
        found = attempt.student.call(attempt.name, model(attempt, draw).own, *args)
        judge.that(not found.changed, N_("It changed the prompt in place"))

    @pytest.mark.conduct
    def test_no_token_is_read_twice(self, attempt, judge, draw):
        """Nine tokens should cost at most 14 times what one costs."""
        made, prompt = model(attempt, draw), texts(draw, 1, 1)[0]
        drawn = numbers(draw, 9)
        answers = {
            n: attempt.student.call(
                attempt.name, made.own, prompt, drawn[:n], 1.0, VOCAB_SIZE, meter=True
            )
            for n in (1, 9)
        }
        # Read from the start each time, nine cost 45 times one. What `next_token` does with Python's own
        # numbers is not counted, and need not be.
        one, nine = (answers[n].cost.multiplications for n in (1, 9))
        ratio = nine / max(one, 1)
        sentence = N_("Nine tokens cost more than 14 times as much: is a token read twice?")
        judge.that(ratio <= 14, sentence, about=round(ratio))


@pytest.mark.exercise("attend")
class TestAttend(KeepsNames, Grouped):
    @pytest.mark.gate
    @pytest.mark.conduct
    def test_it_is_context_vectors_and_a_cache(self, attempt, judge, draw):
        """It should return float32 vectors, (batch_size, num_new, d_out), and a cache of two tensors."""
        values, x = self.drawn(draw), draw.normal(4, 4, self.d_in)
        # A stub says so before a layer is made, which needs another assignment.
        attempt.student.refusal(attempt.name, None, x, None, self.num_heads)

        def make():
            return self.read(attempt, self.layer(attempt, values, 4), x)

        found, _cache, _called = called_unless_waiting(
            make,
            lambda: self.judge_parts(attempt, draw),
            lambda called: self.goes_on(attempt, values, x, called[0]),
        )
        judge.shape(found, (4, 4, self.d_out), what=N_("the context vectors"))

    @pytest.mark.weight(2)
    def test_a_whole_text_gives_what_the_layer_gives(self, attempt, draw):
        """Without a cache, a whole text should give what the layer gives for it."""
        self.judge_pieces(attempt, draw, 3, 5)

    @pytest.mark.weight(2)
    def test_pieces_give_what_the_whole_text_gives(self, attempt, draw):
        """Three tokens, then one, then two should give what six give at once."""
        self.judge_pieces(attempt, draw, 2, 3, 1, 2)

    @pytest.mark.weight(2)
    def test_the_cache_has_each_key_value_head_once(self, attempt, draw):
        """The cache should have `num_kv_heads` heads of keys and of values, of all tokens so far."""
        values, x = self.drawn(draw), draw.normal(2, 5, self.d_in)
        layer, cache = self.layer(attempt, values, 5), None
        for start, end in ((0, 4), (4, 5)):
            _found, cache, _called = self.read(attempt, layer, x[:, start:end], cache)
            right = tuple(tensor[:, :, :end] for tensor in self.right(values, x)[1])
            self.judge_cache(attempt, cache, right)

    def test_a_cache_made_elsewhere(self, attempt, judge, draw):
        """It should go on with a cache that was made elsewhere."""
        values, x = self.drawn(draw), draw.normal(2, 5, self.d_in)
        right, kept = self.right(values, x)
        past = tuple(tensor[:, :, :3] for tensor in kept)
        found, _cache, _called = self.read(attempt, self.layer(attempt, values, 5), x[:, 3:], past)
        judge_vectors(judge, found, right, 3, 5)

    def test_gradients_reach_all_layers(self, attempt, judge, draw):
        """Gradients should flow to the weights of queries, keys, values and `out_proj`."""
        values, x = self.drawn(draw), draw.normal(2, 4, self.d_in)
        right, kept = self.right(values, x)
        past = tuple(tensor[:, :, :2] for tensor in kept)
        layer = self.layer(attempt, values, 4)
        found, cache, _called = self.read(attempt, layer, x[:, 2:], past)
        judge_vectors(judge, found, right, 2, 4)
        flags = [tensor.requires_grad for tensor in (found, *cache)]
        judge.that(all(flags), N_("Something is cut off from the layer's parameters"), about=flags)

    @pytest.mark.conduct
    def test_tokens_and_cache_stay_as_they_are(self, attempt, judge, draw):
        """The new tokens and the cache should stay as they are."""
        values, x = self.drawn(draw), draw.normal(2, 5, self.d_in)
        past = tuple(tensor[:, :, :3].clone() for tensor in self.right(values, x)[1])
        layer = self.layer(attempt, values, 5)
        _found, _cache, called = self.read(attempt, layer, x[:, 3:], past)
        judge_unchanged(attempt, called.changed, past, "15")

    @pytest.mark.conduct
    def test_a_later_step_costs_little_more(self, attempt, judge, draw):
        """With 8 tokens in the cache, a step should multiply at most 3 times as often as with 0."""
        values, x = self.drawn(draw), draw.normal(1, 9, self.d_in)
        layer, cache, answers = self.layer(attempt, values, 9), None, {}
        for place in range(9):
            token, is_metered = x[:, place : place + 1], place in (0, 8)
            _found, cache, called = self.read(attempt, layer, token, cache, meter=is_metered)
            if is_metered:
                answers[place] = called
        judge.grows(answers, at_most=3, step=N_("the step with {number} tokens in the cache"))
