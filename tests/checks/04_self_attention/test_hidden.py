"""Assignment 04 on inputs nobody has seen: other sizes, other values, other dtypes."""

import pytest

from grader.testing import N_, by_name

from .helpers import AXES, BIASES, LAYERS, MATRICES, Layers, alike, drawn, judge_copies

# All different, and unlike the documents' (6, 3, 2) and the visible checks' (4, 5, 3).
NUM_TOKENS, D_IN, D_OUT = 5, 7, 4


class HasGradients(Layers):
    """Layers whose gradients are judged."""

    def judge_gradients(self, attempt, draw, *, grows_from_v1=False):
        """Judge the gradients for the parameters and for the tokens.

        With `grows_from_v1`, those of v1 with the student's mistake in it pass as well.
        """
        values = self.drawn(draw, D_IN, D_OUT)
        x, cotangent = draw.normal(NUM_TOKENS, D_IN), draw.normal(NUM_TOKENS, D_OUT)
        called = self.made(attempt, values)(x, cotangent=cotangent)
        found, expected, judge = called.answer.gradients, called.right.gradients, attempt.judge
        before = self.by_v1(attempt, values, x, cotangent=cotangent) if grows_from_v1 else None
        other = before and before.answer.gradients
        for each in values:
            gradient = by_name(found.parameters, each)
            theirs = other and by_name(other.parameters, each)
            right = theirs if alike(gradient, theirs) else expected.parameters[each]
            judge(gradient, right, what=judge.words("the gradient for {name}", name=each))
        gradient, theirs = found.arguments.get("0"), other and other.arguments.get("0")
        right = theirs if alike(gradient, theirs) else expected.arguments["0"]
        judge(gradient, right, what="the gradient for the tokens", axes=AXES)


class SelfAttention(HasGradients):
    """What both self-attentions hold to."""

    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_other_sizes")
    def test_unseen_tokens(self, attempt, draw):
        """Other tokens and other parameters, of other sizes, should be right, too."""
        self.given(attempt, self.drawn(draw, D_IN, D_OUT))(draw.normal(NUM_TOKENS, D_IN)).agrees()

    @pytest.mark.deepens("test_other_sizes")
    def test_where_all_sizes_are_equal(self, attempt, draw):
        """Tokens should be rows, also where num_tokens, d_in and d_out are equal."""
        self.given(attempt, self.drawn(draw, 4, 4))(draw.normal(4, 4)).agrees()


@pytest.mark.exercise("SelfAttention_v1")
class TestSelfAttentionV1(SelfAttention):
    @pytest.mark.deepens("test_gradients_reach_the_matrices")
    def test_gradients_are_right(self, attempt, draw):
        """The gradients for the matrices and for the tokens should be right."""
        self.judge_gradients(attempt, draw)


@pytest.mark.exercise("SelfAttention_v2")
class TestSelfAttentionV2(SelfAttention):
    names = LAYERS

    @pytest.mark.deepens("test_biases_count_when_asked_for")
    def test_unseen_biases(self, attempt, draw):
        """Other weights and other biases, with qkv_bias=True, should be right, too."""
        values = self.drawn(draw, D_IN, D_OUT) | {name: draw.normal(D_OUT) for name in BIASES}
        self.given(attempt, values, qkv_bias=True)(draw.normal(NUM_TOKENS, D_IN)).agrees()

    @pytest.mark.deepens("test_gradients_reach_the_layers")
    def test_gradients_are_right(self, attempt, draw):
        """The gradients for the weights and for the tokens should be right."""
        self.judge_gradients(attempt, draw)


@pytest.mark.exercise("copy_weights")
class TestCopyWeights:
    @pytest.mark.weight(3)
    @pytest.mark.deepens("test_each_matrix_is_the_transposed_weight")
    def test_unseen_weights(self, attempt, draw):
        """Other weights, of another size, should arrive transposed."""
        judge_copies(attempt, draw, D_IN, D_OUT, start=drawn(draw, MATRICES, D_IN, D_OUT))

    @pytest.mark.deepens("test_square_weights_are_transposed_too")
    def test_unseen_square_weights(self, attempt, draw):
        """Square weights should arrive transposed, too."""
        judge_copies(attempt, draw, D_IN, D_IN, start=drawn(draw, MATRICES, D_IN, D_IN))

    @pytest.mark.deepens("test_each_matrix_is_the_transposed_weight")
    def test_the_last_copy_counts(self, attempt, draw):
        """A v1 should take the weights of one v2, and later those of another."""
        start = drawn(draw, MATRICES, D_OUT, D_IN)
        judge_copies(attempt, draw, D_OUT, D_IN, start=start, times=2)


@pytest.mark.exercise("SelfAttentionNormal")
class TestSelfAttentionNormal(HasGradients):
    @pytest.mark.deepens("test_given_matrices_answer_as_in_v1")
    def test_unseen_tokens(self, attempt, draw):
        """Given the same matrices, unseen tokens should give what SelfAttention_v1 gives."""
        self.judge_like_v1(attempt, draw, NUM_TOKENS, D_IN, D_OUT)

    @pytest.mark.deepens("test_gradients_reach_the_matrices")
    def test_gradients_are_right(self, attempt, draw):
        """The gradients for the matrices and for the tokens should be right."""
        # A mistake that came along from v1 is paid for there.
        self.judge_gradients(attempt, draw, grows_from_v1=True)

    @pytest.mark.deepens("test_the_matrices_start_normally_drawn")
    @pytest.mark.conduct
    def test_the_matrices_start_normally_drawn(self, attempt, judge, draw):
        """With another seed and other sizes, matrices should start as torch.randn draws them."""
        layer = attempt.instance(40, 60, seed=draw.seed())
        for name, matrix in self.judge_matrices(layer, (40, 60)).items():
            # 2400 numbers: mean and deviation are off by 0.020 and 0.014 (one sigma).
            near = abs(matrix.mean()) < 0.15 and 0.85 < matrix.std() < 1.15
            template = N_("{name} is not drawn from the standard normal distribution")
            judge.that(bool(near), judge.words(template, name=name))
