"""Assignment 10 on inputs nobody has seen: other sizes, other values, other dtypes, gradients."""

import pytest

from .helpers import (
    AXES,
    HEAD_DIM,
    NUM_HEADS,
    NUM_TOKENS,
    WIDTH,
    drawn_head,
    drawn_heads,
    drawn_parameters,
    given,
)

EMBED_DIM = 7


@pytest.mark.exercise("head_output")
class TestHeadOutput:
    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_a_mixture_by_hand")
    def test_unseen_tokens(self, attempt, draw):
        """Other sizes should give the right result, too."""
        attempt(*drawn_head(draw, NUM_TOKENS, HEAD_DIM)).agrees(axes=AXES)

    @pytest.mark.deepens("test_a_mixture_by_hand")
    def test_as_many_tokens_as_features(self, attempt, draw):
        """Tokens should be rows, also where there are as many tokens as features."""
        attempt(*drawn_head(draw, 4, 4)).agrees(axes=AXES)


@pytest.mark.exercise("join_heads")
class TestJoinHeads:
    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_the_features_of_all_heads_stand_side_by_side")
    def test_unseen_heads(self, attempt, draw):
        """Other sizes, and three heads instead of two, should give the right result, too."""
        attempt(drawn_heads(draw), draw.normal(WIDTH, 7)).agrees(axes=AXES)

    @pytest.mark.deepens("test_two_heads_share_the_output_weight")
    def test_a_square_weight(self, attempt, draw):
        """The weight's rows should be the joined features, also where the weight is square."""
        heads = [draw.normal(2, 4) for _ in range(2)]
        attempt(heads, draw.normal(8, 8)).agrees(axes=AXES)


@pytest.mark.exercise("MultiHeadAttention")
class TestMultiHeadAttention:
    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_the_context_vectors_for_given_parameters")
    def test_an_unseen_text(self, attempt, draw):
        """Other parameters and tokens should give the right result, too."""
        x = draw.normal(6, EMBED_DIM)
        given(attempt, drawn_parameters(draw, EMBED_DIM))(x).agrees(axes=AXES)

    @pytest.mark.deepens("test_the_context_vectors_for_given_parameters")
    def test_as_many_tokens_as_heads(self, attempt, draw):
        """Heads and tokens should be told apart, also where there are as many of both."""
        x = draw.normal(NUM_HEADS, EMBED_DIM)
        given(attempt, drawn_parameters(draw, EMBED_DIM))(x).agrees(axes=AXES)

    @pytest.mark.deepens("test_the_context_vectors_for_given_parameters")
    def test_heads_as_wide_as_a_token(self, attempt, draw):
        """`out_proj` should be applied, also where the heads together are as wide as a token."""
        module = given(attempt, drawn_parameters(draw, WIDTH))
        module(draw.normal(NUM_TOKENS, WIDTH)).agrees(axes=AXES)
