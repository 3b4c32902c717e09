"""What students see of assignment 10: the document's tensors, and plain properties."""

import pytest
import torch

from grader.testing import N_
from grader.testing.mixins import KeepsArguments, KeepsNames

from ..helpers import judge_no_overflow
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

# Unlike the other sizes, so that none can stand in for another; half of `head_dim` is not its root.
EMBED_DIM = 13
SHAPE = (NUM_TOKENS, EMBED_DIM)

# The queries and keys are printed to 4 decimals. A score adds up two products of numbers up to
# 1.08, each operand half a unit of its last digit off: 5e-5 * (1.03 + 0.49 + 1.08 + 0.61), and the
# printed score is rounded itself. A softmax with the greatest weight 0.29 makes 0.3 times that of
# it, twice; the logarithm brings it back to the size of a score's, twice.
ROUNDED_WEIGHTS = 1.5e-4
ROUNDED_LOGARITHMS = 4e-4

EYE = torch.eye(4)


def printed_head(printed):
    """The queries and keys of the document's first head."""
    return printed("T34").tensor, printed("T35").tensor.T


@pytest.mark.exercise("head_output")
class TestHeadOutput(KeepsNames, KeepsArguments):
    def inputs(self, draw, dtype=torch.float32):
        """Queries, keys and values."""
        return drawn_head(draw, NUM_TOKENS, HEAD_DIM)

    @pytest.mark.gate
    @pytest.mark.conduct
    def test_each_token_has_a_vector(self, attempt, printed):
        """The result should have a row for each token, a column for each feature of the values."""
        attempt(*printed_head(printed), printed("T31")).has_shape(4, 2)

    @pytest.mark.weight(2)
    def test_the_weights_as_printed(self, attempt, printed):
        """With the identity matrix for values, the result should be the example's weights."""
        called = attempt(*printed_head(printed), EYE)
        called.gives(printed("T37"), atol=ROUNDED_WEIGHTS, axes=("query", "key"))

    def test_the_scores_as_printed(self, attempt, judge, printed):
        """The weights' logarithms should be the scores, up to one number for each row."""
        value = attempt(*printed_head(printed), EYE).has_shape(4, 4)
        rows = printed("T36").tensor.logsumexp(-1, keepdim=True)
        scores = value.log() + rows
        judge(scores, printed("T36"), atol=ROUNDED_LOGARITHMS, axes=("query", "key"))

    @pytest.mark.weight(2)
    def test_a_mixture_by_hand(self, attempt):
        """Two tokens whose scores are logarithms should mix their values as worked out by hand."""
        queries = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
        # The scores' exponentials are 1 and 3 in the first row, 1 and 4 in the second.
        keys = torch.tensor([[1.0, 1.0], [3.0, 4.0]]).log()
        values = torch.tensor([[20.0, 40.0], [100.0, 60.0]])
        expected = torch.tensor([[80.0, 55.0], [84.0, 56.0]])
        # Numbers near 100 in float32.
        attempt(queries, keys, values).gives(expected, atol=1e-4, axes=AXES)

    @pytest.mark.remark
    def test_large_scores_give_no_nan(self, attempt, judge):
        """Large scores should give no NaN."""
        head = 100 * torch.eye(2), torch.ones(2, 2), torch.eye(2)
        if attempt.student.refusal(attempt.own, *head) is not None:
            return
        value = attempt(*head).value
        is_nan = isinstance(value, torch.Tensor) and bool(value.isnan().any())
        judge.that(not is_nan, "Scores of 100 give NaN: their exponentials are infinite in float32")

    def test_gradients_reach_queries_keys_and_values(self, attempt, judge, draw):
        """Gradients should flow to the queries, the keys and the values."""
        names = (N_("queries"), N_("keys"), N_("values"))
        what = [judge.words("the gradient for the {name}", name=name) for name in names]
        head, cotangent = self.inputs(draw), draw.normal(NUM_TOKENS, HEAD_DIM)
        attempt(*head, cotangent=cotangent).gradients_agree(what=what)


def slipped_weight(printed):
    """The output weight of the document, from what it printed: the best fit of its 8 rows."""
    stacked = torch.cat((printed("T31").tensor, printed("T32").tensor))
    return torch.linalg.lstsq(stacked, printed("T33").tensor).solution


# What the fit of printed figures misses, and the rounding of the heads' outputs: a product adds
# up two (or four) numbers half a unit of the last digit off, times weights below 1.
ROUNDED_OUTPUTS = 2e-4


@pytest.mark.exercise("join_heads")
class TestJoinHeads(KeepsNames):
    @pytest.mark.gate
    @pytest.mark.conduct
    def test_a_single_head_keeps_its_rows(self, attempt, printed):
        """A single head should give a float32 row for each token."""
        attempt([printed("T31").tensor], slipped_weight(printed)).has_shape(4, 2)

    def test_a_single_head_as_printed(self, attempt, printed):
        """A single head times the output weight should give the right rows."""
        weight, rows = slipped_weight(printed), printed("T33").tensor
        for id_, expected in (("T31", rows[:4]), ("T32", rows[4:])):
            called = attempt([printed(id_).tensor], weight)
            called.gives(expected, atol=ROUNDED_OUTPUTS, axes=AXES)

    @pytest.mark.weight(2)
    @pytest.mark.conduct
    def test_four_tokens_stay_four_tokens(self, attempt, judge, printed):
        """Two heads joined should have as many rows as one: four tokens stay four rows."""
        heads, weight = [printed("T31").tensor, printed("T32").tensor], slipped_weight(printed)
        # A weight with a row for each feature of one head: to most right results it does not fit,
        # and that is fine. It fits heads that were put below one another, and gives T33.
        fits = attempt.student.refusal(attempt.own, heads, weight) is None
        value = attempt(heads, weight).value if fits else None
        if isinstance(value, torch.Tensor) and value.shape[:1] == (8,):
            rows = printed("T33").tensor
            judge(value, rows[:4] + rows[4:], what="two heads of four tokens")

    @pytest.mark.weight(2)
    def test_two_heads_share_the_output_weight(self, attempt, printed):
        """With the same weight for each head, what the heads give should add up."""
        heads, weight = [printed("T31").tensor, printed("T32").tensor], slipped_weight(printed)
        rows = printed("T33").tensor
        called = attempt(heads, torch.cat((weight, weight)))
        called.gives(rows[:4] + rows[4:], atol=2 * ROUNDED_OUTPUTS, axes=AXES)

    @pytest.mark.weight(2)
    def test_the_features_of_all_heads_stand_side_by_side(self, attempt):
        """With the identity matrix for a weight, the heads should stand side by side, in order."""
        heads = [torch.tensor([[1.0, 2.0], [3.0, 4.0]]) + 10 * head for head in range(3)]
        expected = torch.tensor(
            [[1.0, 2.0, 11.0, 12.0, 21.0, 22.0], [3.0, 4.0, 13.0, 14.0, 23.0, 24.0]]
        )
        attempt(heads, torch.eye(6)).gives(expected, axes=AXES)

    def test_gradients_reach_the_output_weight(self, attempt, judge, draw):
        """Gradients should flow to the output weight."""
        heads, weight = drawn_heads(draw), draw.normal(WIDTH, 7)
        called = attempt(heads, weight, cotangent=draw.normal(NUM_TOKENS, 7))
        found, right = (each.gradients.arguments.get("1") for each in (called.answer, called.right))
        judge(found, right, what="the gradient for the output weight")

    def test_the_arguments_are_left_as_they_are(self, attempt, draw):
        """The list of heads and the output weight should stay as they are."""
        attempt(drawn_heads(draw), draw.normal(WIDTH, 7)).keeps_arguments()


@pytest.mark.exercise("MultiHeadAttention")
class TestMultiHeadAttention(KeepsNames):
    @pytest.mark.gate
    @pytest.mark.conduct
    def test_it_is_a_module_that_keeps_the_shape(self, attempt, judge, printed, draw):
        """It should be a module that gives vectors of the shape and the dtype of the tokens."""
        module = attempt.instance(embed_dim=3, head_dim=2, num_heads=2, seed=1)
        judge(getattr(module.own, "kind", ""), "module", what="what the class makes")
        called = module(draw.uniform(4, 3))
        value = called.value
        is_wide = isinstance(value, torch.Tensor) and value.shape[-1] == 4
        report = attempt.student.load(module.own, {"out_proj.weight": torch.zeros(3, 4)}).report
        found = report["out_proj.weight"]
        sentence = N_("There is no `out_proj`, which leads back to the size of a token")
        judge.that(not is_wide or found != "missing", sentence)
        template = N_(
            "The weight of your `out_proj` has the shape {shape}, not {expected}, which leads back "
            "to the size of a token"
        )
        shape = found.removeprefix("wrong shape ")
        sentence = judge.words(template, shape=shape, expected="(3, 4)")
        judge.that(not is_wide or shape == found, sentence, about=found)
        called.has_shape(*printed("T38").tensor.shape)

    @pytest.mark.conduct
    def test_the_parameters_have_the_names_and_shapes_of_the_text(self, attempt, judge, draw):
        """The parameters, biases among them, should have the docstring's names and shapes."""
        values = drawn_parameters(draw, EMBED_DIM)
        sizes = {"embed_dim": EMBED_DIM, "head_dim": HEAD_DIM, "num_heads": NUM_HEADS}
        report = attempt.instance(**sizes, given=values, exact=True).loaded.by_name
        what = N_("each parameter, looked for by its name")
        judge(report, dict.fromkeys(values, "loaded"), what=what)

    @pytest.mark.weight(2)
    def test_the_context_vectors_for_given_parameters(self, attempt, draw):
        """With given parameters, the context vectors should be right."""
        module = given(attempt, drawn_parameters(draw, EMBED_DIM))
        module(draw.normal(*SHAPE)).agrees(axes=AXES)

    def test_a_single_token_sees_itself(self, attempt, draw):
        """A text of one token should give `out_proj` of its value, whatever its scores."""
        module = given(attempt, drawn_parameters(draw, EMBED_DIM))
        module(draw.normal(1, EMBED_DIM)).agrees(axes=AXES)

    @pytest.mark.conduct
    def test_every_token_sees_every_other(self, attempt, draw):
        """Tokens in another order should give the same vectors in that order: nothing is masked."""
        module, x = given(attempt, drawn_parameters(draw, EMBED_DIM)), draw.normal(*SHAPE)
        order = draw.permutation(NUM_TOKENS)
        before, after = module(x), module(x[order])
        after.gives(before.has_shape(*SHAPE)[order], axes=AXES)

    @pytest.mark.conduct
    def test_two_calls_in_training_mode_agree(self, attempt, judge, draw):
        """There should be no dropout: training mode and eval mode give the same."""
        module, x = given(attempt, drawn_parameters(draw, EMBED_DIM)), draw.normal(*SHAPE)
        called = module(x, training=False), module(x, training=True, seed=1)
        evaluated, trained = (each.has_shape(*SHAPE) for each in called)
        again = module(x, training=False).has_shape(*SHAPE)
        is_same = torch.allclose(again, evaluated, rtol=0, atol=1e-5, equal_nan=True)
        judge.that(is_same, "Two calls in eval mode differ: is something drawn in `forward`?")
        is_same = torch.allclose(trained, evaluated, rtol=0, atol=1e-5, equal_nan=True)
        judge.that(is_same, "Training mode gives something other than eval mode")

    @pytest.mark.weight(2)
    def test_gradients_reach_tokens_and_parameters(self, attempt, draw):
        """Gradients should flow to the tokens and to every parameter."""
        module, x = given(attempt, drawn_parameters(draw, EMBED_DIM)), draw.normal(*SHAPE)
        called = module(x, cotangent=draw.normal(*SHAPE))
        # Sums of products of numbers near 1: ten times the noise of the results.
        called.gradients_agree(what="the gradient for the tokens", atol=1e-4)
        called.parameter_gradients_agree(*module.given, atol=1e-4)

    def test_double_precision_is_kept(self, attempt, draw):
        """Parameters and tokens in float64 should give context vectors in float64."""
        values = drawn_parameters(draw, EMBED_DIM, torch.float64)
        # Most scores are positive here, so that a root of them is a number.
        for name in ("q_proj.bias", "k_proj.bias"):
            values[name] = values[name] + 3
        given(attempt, values)(draw.normal(*SHAPE, dtype=torch.float64)).agrees(axes=AXES)

    @pytest.mark.remark
    def test_large_scores_give_no_nan(self, attempt, judge, draw):
        """Large scores should give no NaN."""
        x = draw.normal(*SHAPE)
        module = given(attempt, drawn_parameters(draw, EMBED_DIM))
        called = [module(size * x) for size in (1, 100)]
        judge_no_overflow(judge, *(each.has_shape(*SHAPE) for each in called))

    @pytest.mark.conduct
    def test_a_second_call_gives_the_same(self, attempt, draw):
        """A second call should give the same, and the text should stay as it is."""
        x = draw.normal(*SHAPE)
        module = given(attempt, drawn_parameters(draw, EMBED_DIM))
        first = module(x)
        module(draw.normal(2 * NUM_TOKENS, EMBED_DIM))
        value = first.has_shape(*SHAPE)
        module(x).gives(value, what="the second result")
        first.keeps_arguments()
