"""Assignment 09 on inputs nobody has seen: other sizes, other values, other dtypes, gradients."""

import pytest
import torch

D_IN, D_OUT, CONTEXT_LENGTH, NUM_HEADS = 6, 24, 7, 3
BATCH_SIZE, NUM_TOKENS = 2, 5
PARAMETERS = (
    *("W_query.weight", "W_key.weight", "W_value.weight"),
    *("out_proj.weight", "out_proj.bias"),
)


@pytest.mark.exercise("split_heads")
class TestSplitHeads:
    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_each_head_gets_its_piece_of_every_token")
    def test_unseen_tokens(self, student, reference, judge, draw):
        """Other sizes should give the right result, too."""
        x = draw.normal(3, 5, 8)
        expected = reference.call("split_heads", x, 4).value
        judge(student.call("split_heads", x, 4).value, expected)

    @pytest.mark.deepens("test_each_head_gets_its_piece_of_every_token")
    def test_as_many_tokens_as_heads(self, student, reference, judge, draw):
        """Heads and tokens should be told apart, also where there are as many of both."""
        x = draw.normal(2, 3, 9)
        expected = reference.call("split_heads", x, 3).value
        judge(student.call("split_heads", x, 3).value, expected)


@pytest.mark.exercise("head_scores")
class TestHeadScores:
    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_queries_are_rows_and_keys_are_columns")
    def test_unseen_queries_and_keys(self, student, reference, judge, draw):
        """Other sizes should give the right result, too."""
        queries, keys = draw.normal(2, 3, 5, 4), draw.normal(2, 3, 5, 4)
        expected = reference.call("head_scores", queries, keys).value
        judge(student.call("head_scores", queries, keys).value, expected)

    @pytest.mark.deepens("test_queries_are_rows_and_keys_are_columns")
    def test_all_sizes_the_same(self, student, reference, judge, draw):
        """The axes should be told apart, also where all sizes are the same."""
        queries, keys = draw.normal(3, 3, 3, 3), draw.normal(3, 3, 3, 3)
        expected = reference.call("head_scores", queries, keys).value
        judge(student.call("head_scores", queries, keys).value, expected)


@pytest.mark.exercise("merge_heads")
class TestMergeHeads:
    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_each_token_gets_its_pieces_side_by_side")
    def test_unseen_heads(self, student, reference, judge, draw):
        """Other sizes should give the right result, too."""
        x = draw.normal(3, 4, 5, 2)
        expected = reference.call("merge_heads", x).value
        judge(student.call("merge_heads", x).value, expected)

    @pytest.mark.deepens("test_each_token_gets_its_pieces_side_by_side")
    def test_as_many_tokens_as_heads(self, student, reference, judge, draw):
        """Heads and tokens should be told apart, also where there are as many of both."""
        x = draw.normal(2, 3, 3, 3)
        expected = reference.call("merge_heads", x).value
        judge(student.call("merge_heads", x).value, expected)


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


def given(handle, values):
    """A layer of this file's sizes with these parameters."""
    layer = handle.call("MultiHeadAttention", D_IN, D_OUT, CONTEXT_LENGTH, 0.0, NUM_HEADS).value
    handle.load(layer, zero_biases(D_OUT, values["out_proj.bias"].dtype) | values)
    return layer


def judge_values(student, reference, judge, values, x):
    """The context vectors of given parameters are the solution's."""
    expected = reference.call(given(reference, values), x).value
    value = student.call(given(student, values), x, training=False).value
    judge(value, expected, axes=("batch", "token", "feature"))


@pytest.mark.exercise("MultiHeadAttention")
class TestMultiHeadAttention:
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

    @pytest.mark.deepens("test_dropout_drops_weights_and_scales_the_rest")
    def test_dropout_follows_its_probability(self, student, reference, judge, draw):
        """With dropout 0.2, each call should drop a fifth anew, and scale the rest by 1 / 0.8."""
        layer, right = (
            handle.call("MultiHeadAttention", 1, 2, 7, 0.2, 2).value
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
        layer = student.call("MultiHeadAttention", 1, 2, 7, 0.5, 2).value
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
