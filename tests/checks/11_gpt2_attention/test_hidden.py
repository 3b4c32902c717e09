"""Assignment 11 on inputs nobody has seen: other sizes, other values, other dtypes, gradients."""

import pytest
import torch

from grader.testing import StudentOutcome

D_IN, D_OUT, CONTEXT_LENGTH, NUM_HEADS = 6, 24, 7, 3
BATCH_SIZE, NUM_TOKENS = 2, 5
PARAMETERS = (
    *("W_query.weight", "W_key.weight", "W_value.weight"),
    *("out_proj.weight", "out_proj.bias"),
)


def module_to_count(student, **sizes):
    """A layer of the student's; where none can be made, a module that stands in the stub.

    What is wrong with the layer is paid for there.
    """
    try:
        return student.call("GPT2MultiHeadAttention", **sizes, dropout=0.0).value
    except StudentOutcome as outcome:
        if outcome.failure.kind not in ("exception", "missing", "blocked"):
            raise
    return student.get("EXAMPLE_MODEL")


def numbers(state):
    """How many entries the parameters have, shared ones once."""
    again = {name for names in state.aliases for name in names[1:]}
    counted = [parameter for name, parameter in state.parameters.items() if name not in again]
    return sum(parameter.numel() for parameter in counted)


@pytest.mark.exercise("count_parameters")
class TestCountParameters:
    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_weights_and_biases_count")
    def test_an_unseen_module(self, student, judge, draw):
        """A module of other sizes should be counted right, too."""
        d_in, head_dim = draw.whole(2, 9), draw.whole(2, 9)
        sizes = {"d_in": d_in, "d_out": 3 * head_dim, "context_length": 5, "num_heads": 3}
        module = module_to_count(student, **sizes)
        expected = numbers(student.state(module))
        judge(student.call("count_parameters", module).value, expected)


def drawn_parameters(draw, *, dtype=torch.float32):
    """Values for all parameters of a layer of this file's sizes."""
    shapes = {
        **dict.fromkeys(PARAMETERS[:3], (D_OUT, D_IN)),
        "out_proj.weight": (D_OUT, D_OUT),
        "out_proj.bias": (D_OUT,),
    }
    return {name: draw.normal(*shape, std=0.5, dtype=dtype) for name, shape in shapes.items()}


def zero_biases(d_out, dtype=torch.float32):
    """Biases that change nothing, for layers that have some unasked: judged elsewhere."""
    zeros = torch.zeros(d_out, dtype=dtype)
    return {f"{layer}.bias": zeros for layer in ("W_query", "W_key", "W_value")}


def given(handle, values, num_heads):
    """A layer of this file's sizes with these parameters."""
    sizes = {"d_in": D_IN, "d_out": D_OUT, "context_length": CONTEXT_LENGTH}
    layer = handle.call("GPT2MultiHeadAttention", **sizes, num_heads=num_heads, dropout=0.0).value
    handle.load(layer, zero_biases(D_OUT, values["out_proj.bias"].dtype) | values)
    return layer


def judge_values(student, reference, judge, values, x, num_heads=NUM_HEADS):
    """The context vectors of given parameters are the solution's."""
    expected = reference.call(given(reference, values, num_heads), x).value
    value = student.call(given(student, values, num_heads), x, training=False).value
    judge(value, expected, axes=("batch", "token", "feature"))


@pytest.mark.exercise("GPT2MultiHeadAttention")
class TestGPT2MultiHeadAttention:
    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_the_context_vectors_for_given_parameters")
    def test_unseen_texts(self, student, reference, judge, draw):
        """Other parameters and texts should give the right result, too."""
        x = draw.normal(BATCH_SIZE, NUM_TOKENS, D_IN)
        judge_values(student, reference, judge, drawn_parameters(draw), x)

    @pytest.mark.deepens("test_the_context_vectors_for_given_parameters")
    def test_texts_of_full_length(self, student, reference, judge, draw):
        """Texts as long as `context_length` should give the right result, too."""
        x = draw.normal(3, CONTEXT_LENGTH, D_IN)
        judge_values(student, reference, judge, drawn_parameters(draw), x)

    @pytest.mark.deepens("test_the_context_vectors_for_given_parameters")
    def test_as_many_tokens_as_heads(self, student, reference, judge, draw):
        """Heads and tokens should be told apart, also where there are as many of both."""
        x = draw.normal(NUM_HEADS, NUM_HEADS, D_IN)
        judge_values(student, reference, judge, drawn_parameters(draw), x)

    @pytest.mark.deepens("test_the_context_vectors_for_given_parameters")
    def test_a_single_head(self, student, reference, judge, draw):
        """A single head should give the right result, too."""
        x = draw.normal(BATCH_SIZE, NUM_TOKENS, D_IN)
        judge_values(student, reference, judge, drawn_parameters(draw), x, num_heads=1)

    @pytest.mark.deepens("test_dropout_drops_weights_and_scales_the_rest")
    def test_dropout_follows_its_probability(self, student, reference, judge, draw):
        """With dropout 0.2, each call should drop a fifth anew, and scale the rest by 1 / 0.8."""
        sizes = {"d_in": 1, "d_out": 2, "context_length": 7, "num_heads": 2}
        layer, right = (
            handle.call("GPT2MultiHeadAttention", **sizes, dropout=0.2).value
            for handle in (student, reference)
        )
        # Scores are all 0 and values all 1: each output counts the kept weights of its row.
        values = {
            "W_query.weight": torch.zeros(2, 1),
            "W_key.weight": torch.zeros(2, 1),
            "W_value.weight": torch.ones(2, 1),
            "out_proj.weight": torch.eye(2),
            "out_proj.bias": torch.zeros(2),
        }
        student.load(layer, zero_biases(2) | values)
        reference.load(right, values)
        texts = torch.ones(300, 7, 1)
        first, second = (
            student.call(layer, texts, training=True, seed=seed).value for seed in (1, 2)
        )
        judge.shape(first, (300, 7, 2))
        judge.shape(second, (300, 7, 2))
        lengths = torch.arange(1.0, 8.0).reshape(1, 7, 1)
        counts = first.detach() * lengths * 0.8
        is_counted = torch.allclose(counts, counts.round(), rtol=0, atol=1e-3)
        still = student.call(layer, texts[:1], training=False).value
        if not is_counted and still.isfinite().all():
            # Of what counts no weights in eval mode, nothing is known in training mode.
            expected = reference.call(right, texts[:1], training=False).value
            judge(still, expected, what="what shows the weights, in eval mode", atol=1e-4)
        judge.that(is_counted, "What is kept is not scaled by 1 / 0.8")
        # 16,800 weights: the share that is kept has a standard deviation of 0.003.
        share = float(counts.sum() / (300 * 2 * lengths.sum()))
        judge.that(abs(share - 0.8) < 0.02, "The share that is kept is not about 0.8")
        judge.that(not torch.equal(first, second), "Two calls dropped the same weights")

    @pytest.mark.deepens("test_dropout_drops_weights_and_scales_the_rest")
    @pytest.mark.conduct
    def test_a_new_layer_is_in_training_mode(self, student, judge, draw):
        """A new layer should be in training mode, with all its parts."""
        sizes = {"d_in": 1, "d_out": 2, "context_length": 7, "num_heads": 2}
        layer = student.call("GPT2MultiHeadAttention", **sizes, dropout=0.5).value
        texts = draw.normal(2, 7, 1)
        found = [
            student.call(layer, texts, training=training, seed=1).value
            for training in (None, True, False)
        ]
        for value in found:
            judge.shape(value, (2, 7, 2))
        fresh, trained, still = found
        is_dropping = not torch.equal(fresh, still) or torch.equal(trained, still)
        judge.that(is_dropping, "A new layer drops nothing before `train()` is called")
