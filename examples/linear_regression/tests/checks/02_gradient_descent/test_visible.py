"""What students see of assignment 02."""

import pytest
import torch

from grader.testing.mixins import KeepsArguments, KeepsDoublePrecision, KeepsNames

from ..helpers import DESIGN, HOURS, SOLVED, design
from .helpers import judge_training, line, trained


@pytest.mark.exercise("standardize")
class TestStandardize(KeepsArguments, KeepsNames):
    axes = ("row", "column")

    def inputs(self, draw, dtype=torch.float32):
        return (1 + draw.normal(4, 3, dtype=dtype),)

    @pytest.mark.gate
    @pytest.mark.conduct
    def test_the_shape_stays(self, attempt, draw):
        """The result should have the shape of the argument."""
        attempt(draw.normal(3, 3)).has_shape(3, 3)

    def test_the_hours_of_the_text(self, attempt):
        """The hours 0, 1, 2 and 3 should become -1.342, -0.447, 0.447 and 1.342."""
        # Three decimals are printed: half a unit of the last.
        expected = torch.tensor([[-1.342], [-0.447], [0.447], [1.342]])
        attempt(HOURS).gives(expected, atol=5e-4, axes=self.axes)

    @pytest.mark.weight(2)
    def test_each_number_is_right(self, attempt, draw):
        """Each number should be its distance from the column's mean, in standard deviations."""
        attempt(*self.inputs(draw)).agrees(axes=self.axes)

    def test_columns_of_different_scales(self, attempt, draw):
        """Columns of very different scales should come to the same one."""
        x = draw.normal(5, 2) * torch.tensor([1.0, 20.0]) + torch.tensor([3.0, 100.0])
        # Numbers around 100 are right to some 4e-6, and so are their distances, divided by 20.
        attempt(x).agrees(atol=1e-4, axes=self.axes)


@pytest.mark.exercise("gradient")
class TestGradient(KeepsArguments, KeepsNames):
    axes = ("column",)

    def inputs(self, draw, dtype=torch.float32):
        return design(draw, 5, 2, dtype), draw.normal(5, dtype=dtype), draw.normal(3, dtype=dtype)

    @pytest.mark.gate
    @pytest.mark.conduct
    def test_there_is_one_number_for_each_weight(self, attempt, draw):
        """Three weights should have a gradient of three numbers."""
        attempt(design(draw, 3, 2), draw.normal(3), draw.normal(3)).has_shape(3)

    def test_the_gradient_of_the_text(self, attempt):
        """At zeros, the four students' gradient should be -6 and -11.5."""
        expected = torch.tensor([-6.0, -11.5])
        attempt(DESIGN, SOLVED, torch.zeros(2)).gives(expected, axes=self.axes)

    @pytest.mark.weight(2)
    def test_anywhere(self, attempt, draw):
        """At any weights, the gradient should be that of the mean squared error."""
        attempt(*self.inputs(draw)).agrees(axes=self.axes)

    def test_at_the_best_line_it_is_flat(self, attempt):
        """At the line that fits best, the gradient should be 0."""
        attempt(DESIGN, SOLVED, torch.tensor([1.5, 1.0])).gives(torch.zeros(2), axes=self.axes)


@pytest.mark.exercise("step")
class TestStep(KeepsArguments, KeepsNames):
    axes = ("column",)

    def inputs(self, draw, dtype=torch.float32):
        return draw.normal(3, dtype=dtype), draw.normal(3, dtype=dtype), 0.3

    @pytest.mark.gate
    @pytest.mark.conduct
    def test_there_are_as_many_weights_as_before(self, attempt, draw):
        """The result should have the shape of the weights."""
        attempt(draw.normal(3), draw.normal(3), 0.3).has_shape(3)

    def test_the_step_of_the_text(self, attempt):
        """From zeros, the gradient (-6, -11.5) and the rate 0.1 should lead to 0.6 and 1.15."""
        expected = torch.tensor([0.6, 1.15])
        attempt(torch.zeros(2), torch.tensor([-6.0, -11.5]), 0.1).gives(expected, axes=self.axes)

    @pytest.mark.weight(2)
    def test_a_step_from_elsewhere(self, attempt, draw):
        """From any weights, the step should go against the gradient."""
        attempt(*self.inputs(draw)).agrees(axes=self.axes)


@pytest.mark.exercise("fit")
class TestFit(KeepsArguments, KeepsDoublePrecision, KeepsNames):
    axes = ("column",)

    def inputs(self, draw, dtype=torch.float32):
        return design(draw, 6, 2, dtype), 1 + draw.normal(6, dtype=dtype), 0.2, 3

    @pytest.mark.gate
    @pytest.mark.conduct
    def test_there_is_one_weight_for_each_column(self, attempt, draw):
        """Three columns should have three weights."""
        attempt(design(draw, 3, 2), draw.normal(3), 0.1, 2).has_shape(3)

    def test_no_step_leaves_zeros(self, attempt, draw):
        """After no step, the weights should be zeros."""
        X, y, rate, _ = self.inputs(draw)
        attempt(X, y, rate, 0).gives(torch.zeros(3), axes=self.axes)

    def test_one_step(self, attempt):
        """After one step, the four students' weights should be 0.6 and 1.15."""
        attempt(DESIGN, SOLVED, 0.1, 1).gives(torch.tensor([0.6, 1.15]), axes=self.axes)

    @pytest.mark.weight(2)
    def test_three_steps(self, attempt, draw):
        """After three steps, the weights should be those of the third."""
        attempt(*self.inputs(draw)).agrees(axes=self.axes)

    @pytest.mark.weight(2)
    def test_many_steps_lead_to_the_best_line(self, attempt):
        """After 400 steps, the four students' weights should be 1.5 and 1."""
        # What is left shrinks by 0.94 in each step, to 1.5e-11; 400 roundings of 1e-7 are more.
        expected = torch.tensor([1.5, 1.0])
        attempt(DESIGN, SOLVED, 0.1, 400).gives(expected, atol=5e-5, axes=self.axes)


@pytest.mark.exercise("LinearRegression")
class TestLinearRegression:
    axes = ("row",)

    def drawn(self, draw):
        """Values for the parameters of three features."""
        return {"weight": draw.normal(3), "bias": draw.normal(1)}

    @pytest.mark.gate
    @pytest.mark.conduct
    def test_there_is_one_prediction_for_each_row(self, attempt, draw):
        """Three rows should have three predictions."""
        attempt.instance(3)(draw.normal(3, 3)).has_shape(3)

    @pytest.mark.weight(2)
    def test_the_predictions_are_right(self, attempt, draw):
        """With given parameters, each row should be predicted by its weights and the bias."""
        model = attempt.instance(3, given=self.drawn(draw))
        model(draw.normal(5, 3)).agrees(axes=self.axes)

    def test_a_row_of_zeros_is_predicted_by_the_bias(self, attempt, draw):
        """For a row of zeros, the prediction should be the bias."""
        given = self.drawn(draw)
        model = attempt.instance(3, given=given)
        model(torch.zeros(2, 3)).gives(given["bias"].repeat(2), axes=self.axes)

    @pytest.mark.weight(2)
    def test_gradients_reach_both_parameters(self, attempt, draw):
        """Gradients should reach the weight, the bias and the features."""
        model = attempt.instance(3, given=self.drawn(draw))
        called = model(draw.normal(5, 3), cotangent=draw.normal(5))
        called.parameter_gradients_agree("weight", "bias")
        called.gradients_agree(what="the gradient for x")

    def test_a_new_model_predicts_zeros(self, attempt, draw):
        """A new model should predict 0 for every row."""
        attempt.instance(3)(draw.normal(4, 3)).gives(torch.zeros(4), axes=self.axes)


@pytest.mark.exercise("train")
class TestTrain(KeepsNames):
    def beginning(self):
        return {"layer.weight": torch.zeros(1, 1), "layer.bias": torch.zeros(1)}

    @pytest.mark.gate
    @pytest.mark.conduct
    def test_there_is_one_loss_for_each_step(self, student, judge):
        """Three steps should have three losses."""
        losses, _ = trained(student, self.beginning(), HOURS, SOLVED, 0.1, 3)
        judge.shape(losses, (3,))

    def test_the_losses_of_the_text(self, student, judge):
        """The four students' mean squared error should be 10.5 at first, then 0.73."""
        losses, _ = trained(student, self.beginning(), HOURS, SOLVED, 0.1, 2)
        # 0.73375, worked out by hand.
        judge(losses, torch.tensor([10.5, 0.73375]), axes=("step",))

    @pytest.mark.weight(2)
    def test_each_loss_is_right(self, student, reference, judge, draw):
        """Each loss should be the mean squared error before its step."""
        given, x, y = line(draw, 2), draw.normal(6, 2), 1 + draw.normal(6)
        mine, right = (trained(it, given, x, y, 0.2, 4)[0] for it in (student, reference))
        judge(mine, right, axes=("step",))

    @pytest.mark.weight(2)
    def test_the_parameters_have_moved(self, student, reference, judge, draw):
        """After the last step, the parameters should be where gradient descent leads."""
        given, x, y = line(draw, 2), draw.normal(6, 2), 1 + draw.normal(6)
        judge_training(student, reference, judge, given, x, y, 0.2, 3)

    def test_a_second_training_begins_without_gradients(self, student, reference, judge, draw):
        """Gradients that a model has from before should not count."""
        given, x, y = line(draw, 2), draw.normal(6, 2), 1 + draw.normal(6)
        results = []
        for handle in (student, reference):
            model = handle.call("Line", 2).value
            handle.load(model, given)
            handle.call("train", model, 2 + x, y, 0.1, 1)
            results.append(handle.call("train", model, x, y, 0.1, 2).value)
        judge(*results, axes=("step",))
