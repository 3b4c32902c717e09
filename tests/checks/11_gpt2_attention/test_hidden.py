"""Assignment 11 on inputs nobody has seen: other sizes, other values, other dtypes, gradients."""

import pytest
import torch

from grader.testing import StudentOutcome

from ..helpers import MultiHeadLayers, judge_counts
from .helpers import make, named, numbers, twice

SMALL = (1, 2, 7, 2)


def module_to_count(student, *sizes):
    """A layer of the student's; where none can be made, modules of torch's.

    What is wrong with the layer is paid for there.
    """
    try:
        return student.call("GPT2MultiHeadAttention", **named(*sizes), dropout=0.0).value
    except StudentOutcome as outcome:
        if outcome.failure.kind not in ("exception", "missing", "blocked"):
            raise
    d_in, d_out, *_rest = sizes
    layers = (
        student.call("nn.Linear", d_in, d_out).value,
        student.call("nn.Linear", d_out, d_in).value,
    )
    return twice(student, student.call("nn.Sequential", *layers).value, d_in)


@pytest.mark.exercise("count_parameters")
class TestCountParameters:
    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_weights_and_biases_count")
    def test_an_unseen_module(self, attempt, student, draw):
        """A module of other sizes should be counted right, too."""
        d_in, head_dim = draw.whole(2, 9), draw.whole(2, 9)
        module = module_to_count(student, d_in, 3 * head_dim, 5, 3)
        expected = numbers(student.state(module))
        attempt(module).gives(expected, any_type=True)


@pytest.mark.exercise("GPT2MultiHeadAttention")
class TestGPT2MultiHeadAttention(MultiHeadLayers):
    make = staticmethod(make)

    def judge_values(self, attempt, draw, *shape, num_heads=MultiHeadLayers.num_heads):
        """Judge context vectors of texts of this shape, for drawn parameters."""
        sizes, x = (self.d_in, self.d_out, self.context_length, num_heads), draw.normal(*shape)
        self.given(attempt, self.drawn(draw), *sizes)(x, training=False).agrees()

    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_the_context_vectors_for_given_parameters")
    def test_unseen_texts(self, attempt, draw):
        """Other parameters and texts should give the right result, too."""
        self.judge_values(attempt, draw, *self.texts)

    @pytest.mark.deepens("test_the_context_vectors_for_given_parameters")
    def test_texts_of_full_length(self, attempt, draw):
        """Texts as long as `context_length` should give the right result, too."""
        layer = self.square(attempt, self.drawn(draw, self.d_out))
        layer(draw.normal(3, self.context_length, self.d_out), training=False).agrees()

    @pytest.mark.deepens("test_the_context_vectors_for_given_parameters")
    def test_as_many_tokens_as_heads(self, attempt, draw):
        """Heads and tokens should be told apart, also where there are as many of both."""
        self.judge_values(attempt, draw, self.num_heads, self.num_heads, self.d_in)

    @pytest.mark.deepens("test_the_context_vectors_for_given_parameters")
    def test_a_single_head(self, attempt, draw):
        """A single head should give the right result, too."""
        self.judge_values(attempt, draw, *self.texts, num_heads=1)

    @pytest.mark.deepens("test_dropout_drops_weights_and_scales_the_rest")
    def test_dropout_follows_its_probability(self, attempt, judge):
        """With dropout 0.2, each call should drop a fifth anew, and scale the rest by 1 / 0.8."""
        # Scores are all 0 and values all 1: each output counts the kept weights of its row.
        values = dict.fromkeys(("W_query.weight", "W_key.weight"), torch.zeros(2, 1))
        values |= {"W_value.weight": torch.ones(2, 1), "out_proj.weight": torch.eye(2)}
        values["out_proj.bias"] = torch.zeros(2)
        layer, texts = self.given(attempt, values, *SMALL, dropout=0.2), torch.ones(300, 7, 1)
        called = [layer(texts, training=True, seed=seed) for seed in (1, 2)]
        first, second = (each.has_shape(300, 7, 2) for each in called)
        lengths = torch.arange(1.0, 8.0).reshape(1, 7, 1)
        counts = first.detach() * lengths * 0.8
        is_counted = torch.allclose(counts, counts.round(), rtol=0, atol=1e-3)
        called = layer(texts[:1], training=False)
        right = called.expected
        if not is_counted and called.value.isfinite().all():
            # Of what counts no weights in eval mode, nothing is known in training mode.
            called.gives(right, what="what shows the weights, in eval mode", atol=1e-4)
        judge.that(
            is_counted,
            "What comes back is no sum of the weights that a token has for itself and those before it, "
            "each dropped or scaled by 1 / 0.8",
        )
        # 16,800 weights: the share that is kept has a standard deviation of 0.003.
        share = float(counts.sum() / (300 * 2 * lengths.sum()))
        judge.that(abs(share - 0.8) < 0.02, "The share that is kept is not about 0.8")
        judge_counts(judge, counts)
        judge.that(not torch.equal(first, second), "In training, two calls gave the same result")

    @pytest.mark.deepens("test_dropout_drops_weights_and_scales_the_rest")
    @pytest.mark.conduct
    def test_a_new_layer_is_in_training_mode(self, attempt, judge, draw):
        """A new layer should be in training mode, with all its parts."""
        layer, texts = make(attempt, *SMALL, dropout=0.5), draw.normal(2, 7, 1)
        called = [layer(texts, training=training, seed=1) for training in (None, True, False)]
        fresh, trained, still = (each.has_shape(2, 7, 2) for each in called)
        is_dropping = not torch.equal(fresh, still) or torch.equal(trained, still)
        judge.that(is_dropping, "A new layer drops nothing before `train()` is called")
