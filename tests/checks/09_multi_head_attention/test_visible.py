"""What students see of assignment 09: the documents' tensors, and plain properties."""

import pytest
import torch

from grader.testing import N_
from grader.testing.mixins import KeepsArguments, KeepsNames

from ..helpers import OF_CONTEXT_VECTORS, MultiHead, judge_start, judge_surplus
from .helpers import Layers, by_the_wrapper, by_torch, is_near

OF_SCORES = (N_("batch"), N_("head"), N_("query"), N_("key"))

# The four-axis tensor of 000, cell 138: (batch 1, 2 heads, 3 tokens, 4 features).
FOUR_AXES = torch.tensor(
    [
        [
            [
                [0.2745, 0.6584, 0.2775, 0.8573],
                [0.8993, 0.0390, 0.9268, 0.7388],
                [0.7179, 0.7058, 0.9156, 0.4340],
            ],
            [
                [0.0772, 0.3565, 0.1479, 0.5331],
                [0.4066, 0.2318, 0.4545, 0.9737],
                [0.4606, 0.5159, 0.4220, 0.5786],
            ],
        ]
    ]
)

# Three tokens of eight features, each number its position.
NUMBERED = torch.arange(24.0).reshape(1, 3, 8)
IN_TWO_HEADS = torch.tensor(
    [
        [
            [[0.0, 1.0, 2.0, 3.0], [8.0, 9.0, 10.0, 11.0], [16.0, 17.0, 18.0, 19.0]],
            [[4.0, 5.0, 6.0, 7.0], [12.0, 13.0, 14.0, 15.0], [20.0, 21.0, 22.0, 23.0]],
        ]
    ]
)


@pytest.mark.exercise("split_heads")
class TestSplitHeads(KeepsNames):
    axes = (N_("batch"), N_("head"), N_("token"), N_("feature"))

    @pytest.mark.gate
    @pytest.mark.conduct
    def test_there_is_an_axis_for_the_heads(self, attempt, draw):
        """The result should be float32, of shape (batch_size, num_heads, num_tokens, head_dim)."""
        attempt(draw.normal(2, 5, 12), 3).has_shape(2, 3, 5, 4)

    @pytest.mark.weight(2)
    def test_each_head_gets_its_piece_of_every_token(self, attempt):
        """Each head should get its own features of every token, in order."""
        attempt(NUMBERED, 2).gives(IN_TWO_HEADS, axes=self.axes)

    def test_one_head_gets_everything(self, attempt):
        """A single head should get the tokens as they are."""
        for tokens in (NUMBERED, NUMBERED.long()):
            attempt(tokens, 1).gives(tokens.unsqueeze(1), axes=self.axes)

    @pytest.mark.conduct
    def test_the_argument_is_left_as_it_is(self, attempt):
        """The tokens should stay as they are."""
        attempt(NUMBERED, 2).keeps_arguments()

    def test_gradients_reach_the_tokens(self, attempt, draw):
        """Gradients should flow to the tokens."""
        called = attempt(draw.normal(2, 5, 12), 3, cotangent=draw.normal(2, 3, 5, 4))
        called.gradients_agree(what="the gradient for the tokens")


@pytest.mark.exercise("head_scores")
class TestHeadScores(KeepsNames, KeepsArguments):
    def inputs(self, draw, dtype=torch.float32):
        """Queries and keys."""
        return tuple(draw.normal(2, 3, 5, 4, dtype=dtype) for _ in range(2))

    @pytest.mark.gate
    @pytest.mark.conduct
    def test_each_head_has_a_score_for_each_pair_of_tokens(self, attempt):
        """It should be float32, of shape (batch_size, num_heads, num_tokens, num_tokens)."""
        attempt(FOUR_AXES, FOUR_AXES).has_shape(1, 2, 3, 3)

    @pytest.mark.weight(2)
    def test_the_scores_of_two_heads_as_printed(self, attempt, printed):
        """The example's tensor of two heads should give the example's scores."""
        attempt(FOUR_AXES, FOUR_AXES).gives(printed("T28"), axes=OF_SCORES)

    def test_each_head_has_the_scores_it_has_alone(self, attempt, judge, printed):
        """Each head's scores should be those of that head alone."""
        for head, id_ in enumerate(("T29", "T30")):
            alone = FOUR_AXES[:, head : head + 1]
            value = attempt(alone, alone).has_shape(1, 1, 3, 3)
            what = judge.words("head {number}", number=head)
            judge(value[0, 0], printed(id_), what=what, axes=("query", "key"))

    @pytest.mark.weight(2)
    def test_queries_are_rows_and_keys_are_columns(self, attempt):
        """Row i should have the scores of query i, column j those of key j."""
        queries = torch.tensor([[[[1.0, 0.0, 0.0], [0.0, 2.0, 0.0]]]])
        keys = torch.tensor([[[[3.0, 4.0, 1.0], [5.0, 6.0, 1.0]]]])
        expected = torch.tensor([[[[3.0, 5.0], [8.0, 12.0]]]])
        attempt(queries, keys).gives(expected, axes=OF_SCORES)

    def test_gradients_reach_queries_and_keys(self, attempt, draw):
        """Gradients should flow to the queries and to the keys."""
        called = attempt(*self.inputs(draw), cotangent=draw.normal(2, 3, 5, 5))
        called.gradients_agree(what=("the gradient for the queries", "the gradient for the keys"))


@pytest.mark.exercise("merge_heads")
class TestMergeHeads(KeepsNames):
    @pytest.mark.gate
    @pytest.mark.conduct
    def test_the_axis_of_the_heads_is_gone(self, attempt, draw):
        """The result should be float32, of shape (batch_size, num_tokens, d_out)."""
        attempt(draw.normal(2, 3, 5, 4)).has_shape(2, 5, 12)

    @pytest.mark.weight(2)
    def test_each_token_gets_its_pieces_side_by_side(self, attempt):
        """Each token should get the features of all heads side by side, in order."""
        attempt(IN_TWO_HEADS).gives(NUMBERED, axes=OF_CONTEXT_VECTORS)

    def test_one_head_is_all_there_is(self, attempt):
        """The features of a single head should stay as they are."""
        for tokens in (NUMBERED, NUMBERED.long()):
            attempt(tokens.unsqueeze(1)).gives(tokens, axes=OF_CONTEXT_VECTORS)

    @pytest.mark.conduct
    def test_the_argument_is_left_as_it_is(self, attempt):
        """The heads should stay as they are."""
        attempt(IN_TWO_HEADS).keeps_arguments()

    def test_gradients_reach_the_heads(self, attempt, draw):
        """Gradients should flow to the heads."""
        called = attempt(draw.normal(2, 3, 5, 4), cotangent=draw.normal(2, 5, 12))
        called.gradients_agree(what="the gradient for the heads")


def batch_of_the_text(printed):
    """The documents' batch: the six tokens twice."""
    return torch.stack([printed("T45").tensor] * 2)


def trainable(state):
    """How many numbers are trained, shared ones once."""
    again = {name for names in state.aliases for name in names[1:]}
    counted = [p for name, p in state.parameters.items() if name not in again and p.requires_grad]
    return sum(parameter.numel() for parameter in counted)


@pytest.mark.exercise("MultiHeadAttention")
class TestMultiHeadAttention(KeepsNames, Layers, MultiHead):
    @pytest.mark.gate
    @pytest.mark.conduct
    def test_it_is_a_module_with_a_context_vector_for_each_token(self, attempt, judge, printed):
        """It should be a module that gives float32 vectors, (batch_size, num_tokens, d_out)."""
        layer = attempt.instance(3, 2, 6, 0.0, num_heads=2, seed=1)
        judge(getattr(layer.own, "kind", ""), "module", what="what the class makes")
        layer(batch_of_the_text(printed)).has_shape(2, 6, 2)

    # What students should read first.
    test_the_parameters_have_the_names_and_shapes_of_the_text = (
        MultiHead.test_the_parameters_have_the_names_and_shapes_of_the_text
    )
    test_the_context_vectors_for_given_parameters = (
        MultiHead.test_the_context_vectors_for_given_parameters
    )
    test_a_single_token_sees_itself = MultiHead.test_a_single_token_sees_itself
    test_the_future_does_not_leak = MultiHead.test_the_future_does_not_leak

    def test_the_layer_of_seed_123_as_printed(self, attempt, printed):
        """Seed 123 should give the example's tensor, if made as query, key, value, out_proj."""
        layer = attempt.instance(3, 2, 6, 0.0, num_heads=2, seed=123, exact=True)
        called = layer(batch_of_the_text(printed), training=False)
        called.gives(printed("T27"), axes=OF_CONTEXT_VECTORS)

    @pytest.mark.conduct
    def test_it_learns_four_layers_and_one_bias(self, attempt, judge):
        """Without `qkv_bias` it should learn four weights and the bias of `out_proj`, no more."""
        state = self.layer(attempt).state
        judge_surplus(judge, state)
        expected = 3 * self.d_in * self.d_out + self.d_out * self.d_out + self.d_out
        judge(trainable(state), expected, what="the numbers it learns")

    @pytest.mark.conduct
    def test_heads_that_do_not_fit_are_refused(self, attempt, judge):
        """Making it should fail when d_out is not a multiple of num_heads."""
        failure = attempt.student.refusal(attempt.name, 3, 5, 6, 0.0, num_heads=2)
        is_refused = failure is not None
        judge.that(is_refused, "5 features were to be shared by 2 heads, and nothing was raised")

    @pytest.mark.conduct
    def test_each_instance_draws_its_own_weights(self, attempt):
        """Two instances should start with different weights."""
        judge_start(attempt, *(self.layer(attempt, seed=seed).state for seed in (1, 2)))

    @pytest.mark.remark
    def test_other_ways_give_the_same(self, attempt, judge, draw):
        """Torch's `scaled_dot_product_attention` and your own heads of assignment 08 should give the same.

        The check gives all of them the same weights, and an `out_proj` that changes nothing.
        """
        out = {"out_proj.weight": torch.eye(self.d_out), "out_proj.bias": torch.zeros(self.d_out)}
        values, x = self.drawn(draw) | out, draw.normal(*self.texts)
        value = self.given(attempt, values)(x, training=False).value
        right = by_torch(values, self.num_heads, x)
        is_same = is_near(value, right)
        sentence = N_("Given the same weights, `scaled_dot_product_attention` gives something else")
        sizes = (self.d_in, self.d_out, self.context_length, self.num_heads)
        if not is_same and is_near(by_the_wrapper(attempt, values, sizes, x), right):
            sentence = N_(
                "Given the same weights, your own wrapper of assignment 08 gives something else: "
                "compare what each of its heads gives with the pieces of this layer"
            )
        judge.that(is_same, sentence)
