"""What students see of assignment 12: plain examples, and their own layer inside a block."""

import math
from functools import partial

import pytest
import torch

from grader.testing import N_, StudentOutcome
from grader.testing.mixins import KeepsArguments, KeepsDoublePrecision, KeepsNames

from ..helpers import OF_CONTEXT_VECTORS, called_unless_waiting, is_close, is_pair, judge_own
from .helpers import (
    CONTEXT_LENGTH,
    FEATURES,
    LAYER,
    NUM_HEADS,
    batch,
    block,
    judge_losses,
    judge_scores,
    layer_is_right,
    parameters,
    right_layer,
    trained,
)

OF_TEXTS = (N_("text"), N_("token"))
OF_WEIGHTS = (N_("batch"), N_("head"), N_("query"), N_("key"))
OF_A_MATRIX = (N_("row"), N_("column"))

LONG = 30
"""More tokens than the model of the text reads."""

# Two texts of seven tokens, one of them with the same token twice in a row.
TEXTS = torch.tensor([[3, 1, 4, 1, 5, 9, 2], [6, 6, 8, 0, 7, 6, 6]])


def judge_pair(judge, value):
    """Judge that two tensors came back, and return them."""
    judge.that(
        is_pair(value), "It should return two tensors: the inputs and the targets", about=value
    )
    return value


@pytest.mark.exercise("inputs_and_targets")
class TestInputsAndTargets(KeepsNames):
    @pytest.mark.gate
    @pytest.mark.conduct
    def test_there_are_inputs_and_targets_of_one_token_less(self, attempt, judge):
        """Inputs and targets should be whole numbers of shape (batch_size, num_tokens)."""
        for tensor in judge_pair(judge, attempt(TEXTS[:, :3].repeat(2, 1)).value):
            judge.shape(tensor, (4, 2), dtype=torch.int64)

    @pytest.mark.weight(2)
    def test_the_targets_are_the_next_tokens(self, attempt, judge):
        """Each token of the inputs should have the one that comes after it as its target."""
        inputs, targets = judge_pair(judge, attempt(TEXTS).value)
        judge(inputs, TEXTS[:, :-1], what="the inputs", axes=OF_TEXTS)
        judge(targets, TEXTS[:, 1:], what="the targets", axes=OF_TEXTS)

    @pytest.mark.conduct
    def test_the_texts_are_left_as_they_are(self, attempt):
        """The texts should stay as they are."""
        attempt(TEXTS).keeps_arguments()


@pytest.mark.exercise("AttentionBlock")
class TestAttentionBlock(KeepsNames):
    @pytest.mark.gate
    @pytest.mark.conduct
    def test_it_is_a_module_that_keeps_the_shape(self, attempt, judge, draw):
        """It should be a module that gives a vector for each token, of as many features."""
        values, x = parameters(draw), draw.normal(4, 4, FEATURES)
        right = right_layer(attempt, values, x)
        called = called_unless_waiting(
            lambda: block(attempt, values)(x, training=False),
            lambda: judge_own(attempt, LAYER, lambda: layer_is_right(attempt, values, x, right)),
        )
        called.has_shape(4, 4, FEATURES)

    @pytest.mark.conduct
    def test_the_layer_is_called_attention(self, attempt, judge):
        """The parameters should be those of your layer, kept as `attention`, and no others."""
        made = attempt.instance(FEATURES, CONTEXT_LENGTH, NUM_HEADS)
        expected = {f"attention.{name}": shape for name, shape in own_shapes(attempt).items()}
        found = {name: list(tensor.shape) for name, tensor in made.state.parameters.items()}
        judge(found, expected, what="the parameters and their shapes")

    @pytest.mark.weight(2)
    def test_what_attention_finds_is_added(self, attempt, draw):
        """The tokens should come back with what your layer finds added to them."""
        called = block(attempt, parameters(draw))(draw.normal(2, 5, FEATURES), training=False)
        called.agrees(axes=OF_CONTEXT_VECTORS)

    def test_a_layer_that_finds_nothing_changes_nothing(self, attempt, draw):
        """Where the layer gives zeros, the tokens should come back as they are."""
        values = {name: torch.zeros_like(value) for name, value in parameters(draw).items()}
        x = draw.normal(2, 5, FEATURES)
        block(attempt, values)(x, training=False).gives(x, axes=OF_CONTEXT_VECTORS)

    def test_nothing_is_dropped(self, attempt, draw):
        """In training, too, nothing should be dropped."""
        called = block(attempt, parameters(draw))(draw.normal(2, 5, FEATURES), training=True)
        called.agrees(axes=OF_CONTEXT_VECTORS)

    @pytest.mark.conduct
    def test_the_tokens_are_left_as_they_are(self, attempt, draw):
        """The tokens should stay as they are."""
        called = block(attempt, parameters(draw))(draw.normal(2, 5, FEATURES), training=False)
        called.keeps_arguments()

    def test_gradients_reach_the_tokens_and_the_layer(self, attempt, draw):
        """Gradients should flow to the tokens, and to the parameters of the layer."""
        x, cotangent = draw.normal(2, 5, FEATURES), draw.normal(2, 5, FEATURES)
        one = block(attempt, parameters(draw))
        one(x, training=False).has_shape(2, 5, FEATURES)
        called = one(x, training=False, cotangent=cotangent)
        called.gradients_agree(what="the gradient for the tokens", axes=OF_CONTEXT_VECTORS)
        called.parameter_gradients_agree("W_query.weight", "out_proj.weight")

    @pytest.mark.conduct
    def test_texts_may_be_as_long_as_the_context(self, attempt, judge, draw):
        """A text should be allowed as many tokens as `context_length` says, and no more."""
        one = block(attempt, parameters(draw), context_length=LONG)
        one(draw.normal(1, LONG, FEATURES), training=False).has_shape(1, LONG, FEATURES)
        longer, own = draw.normal(1, LONG + 1, FEATURES), own_layer(attempt, LONG)
        refusal = attempt.student.refusal
        is_refused = refusal(one.own, longer, training=False) is not None
        if own is not None and refusal(own, longer, training=False) is not None:
            judge.that(is_refused, "Your layer refuses a longer text, and the block does not")


def own_layer(attempt, context_length):
    """The student's own layer; None where they have it under another name."""
    try:
        sizes = (FEATURES, FEATURES, context_length, 0.0, NUM_HEADS)
        return attempt.student.aside().call(LAYER, *sizes).value
    except StudentOutcome as outcome:
        if outcome.failure.kind != "missing":
            raise
        return None


def own_shapes(attempt):
    """The shapes of the parameters of the student's own layer; of the solution's without one."""
    made = own_layer(attempt, CONTEXT_LENGTH)
    if made is None:
        square = [FEATURES, FEATURES]
        names = ("W_query", "W_key", "W_value", "out_proj")
        return {f"{name}.weight": square for name in names} | {"out_proj.bias": [FEATURES]}
    found = attempt.student.aside().state(made).parameters
    return {name: list(tensor.shape) for name, tensor in found.items()}


@pytest.mark.exercise("training_step")
@pytest.mark.guessable(
    "The solution's step is made there, and only the loss that comes back is made up."
)
class TestTrainingStep(KeepsNames):
    @pytest.mark.gate
    @pytest.mark.conduct
    def test_the_loss_comes_back(self, student, judge, draw):
        """A single number should come back."""
        (loss,), _ = trained(student, draw.normal(26, 26), 1.0, [batch(draw, 2, 5)])
        is_number = isinstance(loss, float) or (
            isinstance(loss, torch.Tensor) and loss.numel() == 1
        )
        sentence = N_("It is no single number")
        if loss is None:
            sentence = N_("Nothing came back: does the function end in a `return`?")
        judge.that(is_number, sentence, about=loss)

    @pytest.mark.conduct
    def test_the_loss_is_a_plain_number(self, student, judge, draw):
        """It should be a `float`, so that no graph is kept with it."""
        (loss,), _ = trained(student, draw.normal(26, 26), 1.0, [batch(draw, 2, 5)])
        judge.that(type(loss) is float, N_("It is no `float`"), about=loss)

    def test_a_model_of_zeros_guesses(self, student, judge, draw):
        """Where all scores are 0, the loss should be ln 26."""
        (loss,), _ = trained(student, torch.zeros(26, 26), 1.0, [batch(draw, 2, 6)])
        judge_losses(judge, [loss], [math.log(26)])

    @pytest.mark.weight(2)
    def test_the_loss_is_that_before_the_step(self, student, reference, judge, draw):
        """The loss should be the mean cross-entropy, before the parameters move."""
        steps = draw.normal(26, 26), 9.0, [batch(draw, 3, 5)]
        judge_losses(judge, *(trained(handle, *steps)[0] for handle in (student, reference)))

    @pytest.mark.weight(2)
    def test_each_parameter_moves_against_its_gradient(self, student, reference, judge, draw):
        """After a step, each parameter should have moved against its gradient."""
        steps = draw.normal(26, 26), 9.0, [batch(draw, 3, 5)]
        judge_scores(judge, *(trained(handle, *steps)[1] for handle in (student, reference)))

    @pytest.mark.weight(2)
    def test_gradients_of_earlier_steps_do_not_count(self, student, reference, judge, draw):
        """Three steps, each on other texts, should lead where each step's own gradients lead."""
        steps = draw.normal(26, 26), 6.0, [batch(draw, 2, 4) for _step in range(3)]
        judge_scores(judge, *(trained(handle, *steps)[1] for handle in (student, reference)))

    def test_targets_that_are_not_asked_for_do_not_count(self, student, reference, judge, draw):
        """Targets of -100 should change neither the loss nor a parameter."""
        steps = draw.normal(26, 26), 9.0, [batch(draw, 2, 6, num_unknown=2)]
        (mine, after), (right, expected) = (
            trained(handle, *steps) for handle in (student, reference)
        )
        judge_losses(judge, mine, right)
        judge_scores(judge, after, expected)

    @pytest.mark.remark
    def test_the_model_stays_in_training_mode(self, student, judge, draw):
        """The model should stay in training mode."""
        model = student.call("LastLetterModel").value
        optimizer = student.call("GradientDescent", model, 1.0).value
        student.call("training_step", model, optimizer, *batch(draw, 2, 4))
        sentence = N_("It was put into eval mode, in which a model trains without its dropout")
        judge.that(student.state(model).training, sentence)

    @pytest.mark.conduct
    def test_inputs_and_targets_are_left_as_they_are(self, attempt, draw):
        """Inputs and targets should stay as they are."""
        student = attempt.student
        model = student.call("LastLetterModel").value
        optimizer = student.call("GradientDescent", model, 1.0).value
        attempt(model, optimizer, *batch(draw, 2, 4, num_unknown=1)).keeps_arguments()


@pytest.mark.exercise("head_weights")
class TestHeadWeights(KeepsNames, KeepsArguments, KeepsDoublePrecision):
    axes = OF_WEIGHTS

    def inputs(self, draw, dtype=torch.float32):
        """Queries and keys, and how many heads."""
        return (*(draw.normal(2, 5, FEATURES, dtype=dtype) for _ in range(2)), NUM_HEADS)

    @pytest.mark.gate
    @pytest.mark.conduct
    def test_each_head_has_a_weight_for_each_pair_of_tokens(self, attempt, draw):
        """It should be float32, of shape (batch_size, num_heads, num_tokens, num_tokens)."""
        x = draw.normal(3, 3, 9)
        right = attempt.reference.call(attempt.name, x, x, 3).value
        parts = {"split_heads": (x, 3), "head_scores": (right, right)}
        answers = {name: attempt.reference.call(name, *args).value for name, args in parts.items()}
        called = attempt(x, x, 3)
        for name, args in () if is_close(called.value, right) else parts.items():
            judge_own(attempt, f"`{name}`", partial(part, attempt, name, args, answers[name]))
        called.has_shape(3, 3, 3, 3)

    @pytest.mark.weight(2)
    def test_the_weights_of_each_head(self, attempt, draw):
        """The weights should be those that your layer computes for these queries and keys."""
        attempt(*self.inputs(draw)).agrees(axes=self.axes)

    def test_each_row_sums_to_one(self, attempt, judge, draw):
        """Each row of weights should sum to 1."""
        value = attempt(*self.inputs(draw)).has_shape(2, NUM_HEADS, 5, 5)
        judge(value.sum(dim=-1), torch.ones(2, NUM_HEADS, 5), what="the sums of the rows")

    @pytest.mark.conduct
    def test_the_future_is_hidden(self, attempt, judge, draw):
        """No query should have a weight for a key that comes after it."""
        value = attempt(*self.inputs(draw)).has_shape(2, NUM_HEADS, 5, 5)
        judge(value.triu(diagonal=1), torch.zeros(2, NUM_HEADS, 5, 5), axes=self.axes)


def part(attempt, name, args, right):
    """Whether a function of the student's own assignment 09 gives what a right one gives."""
    return is_close(attempt.student.call(name, *args).value, right)


@pytest.mark.exercise("switch_off_head")
class TestSwitchOffHead(KeepsNames):
    @pytest.mark.gate
    @pytest.mark.conduct
    def test_the_weight_keeps_its_shape(self, attempt, draw):
        """The result should be float32, of the shape of the weight."""
        attempt(draw.normal(6, 6), 1, 3).has_shape(6, 6)

    @pytest.mark.weight(2)
    def test_the_columns_of_the_head_are_zero(self, attempt, draw):
        """The columns of the head should be zero, and all others as they were."""
        called = attempt(draw.normal(12, 12), 1, 3)
        called.agrees(axes=OF_A_MATRIX)
        sentence = N_("The columns of the head are small, but not zero")
        attempt.judge.that(not bool(called.value[:, 4:8].any()), sentence)

    def test_the_first_head_and_the_last(self, attempt, draw):
        """Heads should be counted from 0, up to the last one."""
        weight = draw.normal(8, 8)
        for head in (0, 3):
            attempt(weight, head, 4).agrees(axes=OF_A_MATRIX)

    @pytest.mark.conduct
    def test_the_weight_is_left_as_it_is(self, attempt, draw):
        """The weight that is given should stay as it is."""
        attempt(draw.normal(6, 6), 1, 3).keeps_arguments()
