"""Assignment 17 on inputs nobody has seen: other names, texts, logits and numbers."""

import pytest

from .helpers import TOKEN, VOCAB_SIZE, Grouped, Losses, Writes, model, numbers, texts
from .test_visible import OfNames


@pytest.mark.exercise("initial_std")
class TestInitialStd(OfNames):
    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_what_the_network_adds_begins_smaller")
    def test_another_depth(self, attempt):
        """Other numbers of blocks should give the right deviation, too."""
        for num_layers, right in ((2, 0.01), (18, 0.02 / 6), (3, 0.02 / 6**0.5)):
            for name in ("h.1.attn.out_proj.weight", "h.0.mlp.c_proj.weight"):
                self.judge_std(attempt, name, num_layers, right)

    @pytest.mark.deepens("test_weights_begin_at_002")
    def test_other_names(self, attempt):
        """Other parameters should have the right deviation, too."""
        for name, right in (("h.11.attn.W_value.weight", 0.02), ("h.2.attn.W_query.bias", 0.0)):
            self.judge_std(attempt, name, 12, right)


@pytest.mark.exercise("loss_of")
class TestLossOf(Losses):
    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_the_loss_of_given_texts")
    def test_unseen_texts(self, attempt, draw):
        """The loss of other texts should be right, too."""
        made = model(attempt, draw)
        for batch_size, num_tokens in ((3, 5), (1, 2), (4, 7)):
            self.judge_loss(attempt, made, texts(draw, batch_size, num_tokens))


@pytest.mark.exercise("next_token")
class TestNextToken:
    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_the_token_on_whose_piece_the_number_lies")
    def test_unseen_logits(self, attempt, draw):
        """Other logits and numbers should draw the right token, too."""
        for number in spread(draw):
            attempt(draw.normal(8, std=1.5), 1.0, 8, number).agrees(what=TOKEN, any_type=True)

    @pytest.mark.deepens("test_only_the_best_may_be_drawn")
    def test_unseen_settings(self, attempt, draw):
        """Other temperatures and `top_k` should be right, too."""
        settings = ((0.4, 3), (3.0, 4), (1.5, 2), (0.8, 5))
        for number, (temperature, top_k) in zip(spread(draw), settings, strict=True):
            attempt(draw.normal(8, std=1.5), temperature, top_k, number).agrees(
                what=TOKEN, any_type=True
            )


def spread(draw):
    """Four numbers in four quarters of the line; sums of probabilities are rounded at 1e-6."""
    return [(place + 0.1 + 0.8 * number) / 4 for place, number in enumerate(numbers(draw, 4))]


@pytest.mark.exercise("write")
class TestWrite(Writes):
    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_each_token_depends_on_those_before")
    def test_unseen_prompts(self, attempt, draw):
        """Other prompts should give the right text, too."""
        made = model(attempt, draw)
        for length, count in ((5, 7), (1, 9), (2, 1)):
            prompt = texts(draw, 1, length)[0]
            self.judge_text(attempt, made, prompt, numbers(draw, count), 1.3, VOCAB_SIZE - 1)

    @pytest.mark.deepens("test_it_ends_after_the_stop")
    def test_another_stop(self, attempt, draw):
        """Another `stop` should end the text, and one that does not come should not."""
        made, prompt = model(attempt, draw), texts(draw, 1, 2)[0]
        args = (prompt, numbers(draw, 6), 1.0, VOCAB_SIZE)
        whole = attempt.reference.call(attempt.name, made.solution, *args).value
        absent = next(n for n in (*range(VOCAB_SIZE), 99) if n not in whole[2:].tolist())
        for stop in (int(whole[3]), absent):
            self.judge_text(attempt, made, *args, stop=stop)


class OneForAll(Grouped):
    """A single key-value head."""

    d_in, d_out, num_heads, num_kv_heads = 7, 12, 4, 1


class OneForEach(Grouped):
    """As many key-value heads as heads."""

    d_in, d_out, num_heads, num_kv_heads = 5, 9, 3, 3


@pytest.mark.exercise("attend")
class TestAttend(Grouped):
    @pytest.mark.weight(3)
    @pytest.mark.deepens("test_pieces_give_what_the_whole_text_gives")
    def test_unseen_texts(self, attempt, draw):
        """Other texts, in other pieces, should give the right context vectors and cache, too."""
        self.judge_pieces(attempt, draw, 3, 2, 3, 1)
        self.judge_pieces(attempt, draw, 1, *[1] * 5)

    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_the_cache_has_each_key_value_head_once")
    def test_other_groups(self, attempt, draw):
        """One key-value head for all, and one for each, should be right, too."""
        OneForAll().judge_pieces(attempt, draw, 2, 1, 4)
        OneForEach().judge_pieces(attempt, draw, 2, 3, 2)
