"""Assignment 10 on inputs nobody has seen: other sizes, other values, other dtypes, gradients."""

import pytest
import torch

NUM_TOKENS, EMBED_DIM, HEAD_DIM, NUM_HEADS = 5, 7, 6, 3
PROJECTIONS = ("q_proj", "k_proj", "v_proj")


@pytest.mark.exercise("head_output")
class TestHeadOutput:
    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_a_mixture_by_hand")
    def test_unseen_tokens(self, student, reference, judge, draw):
        """Other sizes should give the right result, too."""
        head = [draw.normal(NUM_TOKENS, HEAD_DIM) for _ in range(3)]
        expected = reference.call("head_output", *head).value
        judge(student.call("head_output", *head).value, expected, axes=("token", "feature"))

    @pytest.mark.deepens("test_a_mixture_by_hand")
    def test_as_many_tokens_as_features(self, student, reference, judge, draw):
        """Tokens should be rows, also where there are as many tokens as features."""
        head = [draw.normal(4, 4) for _ in range(3)]
        expected = reference.call("head_output", *head).value
        judge(student.call("head_output", *head).value, expected, axes=("token", "feature"))


@pytest.mark.exercise("join_heads")
class TestJoinHeads:
    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_the_features_of_all_heads_stand_side_by_side")
    def test_unseen_heads(self, student, reference, judge, draw):
        """Other sizes, and three heads instead of two, should give the right result, too."""
        heads = [draw.normal(NUM_TOKENS, HEAD_DIM) for _ in range(NUM_HEADS)]
        weight = draw.normal(NUM_HEADS * HEAD_DIM, 7)
        expected = reference.call("join_heads", heads, weight).value
        judge(student.call("join_heads", heads, weight).value, expected, axes=("token", "feature"))

    @pytest.mark.deepens("test_two_heads_share_the_output_weight")
    def test_a_square_weight(self, student, reference, judge, draw):
        """The weight's rows should be the joined features, also where the weight is square."""
        heads = [draw.normal(2, 4) for _ in range(2)]
        weight = draw.normal(8, 8)
        expected = reference.call("join_heads", heads, weight).value
        judge(student.call("join_heads", heads, weight).value, expected, axes=("token", "feature"))


def drawn_parameters(draw, *, embed_dim=EMBED_DIM, dtype=torch.float32):
    """Values for all parameters of a module."""
    width = NUM_HEADS * HEAD_DIM
    shapes = {f"{name}.weight": (width, embed_dim) for name in PROJECTIONS}
    shapes |= {f"{name}.bias": (width,) for name in PROJECTIONS}
    shapes |= {"out_proj.weight": (embed_dim, width), "out_proj.bias": (embed_dim,)}
    return {name: draw.normal(*shape, std=0.5, dtype=dtype) for name, shape in shapes.items()}


def given(handle, values):
    """A module with these parameters."""
    embed_dim = len(values["out_proj.bias"])
    module = handle.call("MultiHeadAttention", embed_dim, HEAD_DIM, NUM_HEADS).value
    handle.load(module, values)
    return module


def judge_values(student, reference, judge, values, x):
    """The context vectors of given parameters are the solution's."""
    expected = reference.call(given(reference, values), x).value
    value = student.call(given(student, values), x).value
    judge(value, expected, axes=("token", "feature"))


@pytest.mark.exercise("MultiHeadAttention")
class TestMultiHeadAttention:
    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_the_context_vectors_for_given_parameters")
    def test_an_unseen_text(self, student, reference, judge, draw):
        """Other parameters and tokens should give the right result, too."""
        x = draw.normal(6, EMBED_DIM)
        judge_values(student, reference, judge, drawn_parameters(draw), x)

    @pytest.mark.deepens("test_the_context_vectors_for_given_parameters")
    def test_as_many_tokens_as_heads(self, student, reference, judge, draw):
        """Heads and tokens should be told apart, also where there are as many of both."""
        x = draw.normal(NUM_HEADS, EMBED_DIM)
        judge_values(student, reference, judge, drawn_parameters(draw), x)

    @pytest.mark.deepens("test_the_context_vectors_for_given_parameters")
    def test_heads_as_wide_as_a_token(self, student, reference, judge, draw):
        """`out_proj` should be applied, also where the heads together are as wide as a token."""
        width = NUM_HEADS * HEAD_DIM
        values, x = drawn_parameters(draw, embed_dim=width), draw.normal(NUM_TOKENS, width)
        judge_values(student, reference, judge, values, x)
