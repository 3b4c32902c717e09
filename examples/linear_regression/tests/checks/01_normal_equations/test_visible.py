"""What students see of assignment 01."""

import pytest
import torch

from grader.testing.mixins import KeepsArguments, KeepsDoublePrecision, KeepsNames

from ..helpers import DESIGN, HOURS, SOLVED, design

FITTED = torch.tensor([1.5, 2.5, 3.5, 4.5])


@pytest.mark.exercise("design_matrix")
class TestDesignMatrix(KeepsArguments, KeepsDoublePrecision, KeepsNames):
    axes = ("row", "column")

    def inputs(self, draw, dtype=torch.float32):
        return (draw.normal(4, 2, dtype=dtype),)

    @pytest.mark.gate
    @pytest.mark.conduct
    def test_there_is_one_column_more(self, attempt, draw):
        """Three columns should become four, in as many rows."""
        attempt(draw.normal(3, 3)).has_shape(3, 4)

    @pytest.mark.weight(2)
    def test_the_hours_get_a_column_of_ones(self, attempt):
        """The hours 0, 1, 2 and 3 should each have a 1 before them."""
        attempt(HOURS).gives(DESIGN, axes=self.axes)

    @pytest.mark.weight(2)
    def test_several_features_keep_their_order(self, attempt, draw):
        """Several features should stand behind the 1, in their order."""
        attempt(*self.inputs(draw)).agrees(axes=self.axes)


@pytest.mark.exercise("predict")
class TestPredict(KeepsArguments, KeepsNames):
    axes = ("row",)

    def inputs(self, draw, dtype=torch.float32):
        return design(draw, 4, 2, dtype), draw.normal(3, dtype=dtype)

    @pytest.mark.gate
    @pytest.mark.conduct
    def test_there_is_one_prediction_for_each_row(self, attempt, draw):
        """Three rows should have three predictions."""
        attempt(design(draw, 3, 2), draw.normal(3)).has_shape(3)

    def test_the_line_of_the_text(self, attempt):
        """The line with intercept 1.5 and slope 1 should predict 1.5, 2.5, 3.5 and 4.5."""
        attempt(DESIGN, torch.tensor([1.5, 1.0])).gives(FITTED, axes=self.axes)

    @pytest.mark.weight(2)
    def test_each_row_meets_the_weights(self, attempt, draw):
        """Each prediction should be the dot product of its row with the weights."""
        attempt(*self.inputs(draw)).agrees(axes=self.axes)

    @pytest.mark.weight(2)
    def test_as_many_rows_as_columns(self, attempt, draw):
        """With as many rows as columns, rows should still be what meets the weights."""
        attempt(design(draw, 3, 2), draw.normal(3)).agrees(axes=self.axes)

    def test_gradients_reach_the_weights(self, attempt, draw):
        """Gradients should reach the weights."""
        called = attempt(*self.inputs(draw), cotangent=draw.normal(4))
        called.gradients_agree(what=("the gradient for X", "the gradient for w"))


@pytest.mark.exercise("mean_squared_error")
class TestMeanSquaredError(KeepsArguments, KeepsNames):
    def inputs(self, draw, dtype=torch.float32):
        return draw.normal(5, dtype=dtype), draw.normal(5, dtype=dtype)

    @pytest.mark.gate
    @pytest.mark.conduct
    def test_it_is_a_single_number(self, attempt, draw):
        """The result should be a single number."""
        attempt(draw.normal(3), draw.normal(3)).has_shape()

    @pytest.mark.weight(2)
    def test_the_error_of_the_text(self, attempt):
        """The line 1.5 + x should have the mean squared error 0.25."""
        attempt(SOLVED, FITTED).gives(torch.tensor(0.25))

    @pytest.mark.weight(2)
    def test_errors_of_different_sizes(self, attempt, draw):
        """Each error should count by its square."""
        attempt(*self.inputs(draw)).agrees()

    def test_perfect_predictions_have_no_error(self, attempt, draw):
        """Predictions that are all right should have the error 0."""
        y = draw.normal(5)
        attempt(y, y).gives(torch.tensor(0.0))

    def test_gradients_reach_the_predictions(self, attempt, draw):
        """Gradients should reach the predictions."""
        called = attempt(*self.inputs(draw), cotangent=torch.tensor(1.0))
        called.gradients_agree(what=("the gradient for y", "the gradient for y_hat"))


@pytest.mark.exercise("solve_normal_equations")
class TestSolveNormalEquations(KeepsArguments, KeepsDoublePrecision, KeepsNames):
    axes = ("column",)

    def inputs(self, draw, dtype=torch.float32):
        return design(draw, 8, 2, dtype), draw.normal(8, dtype=dtype)

    @pytest.mark.gate
    @pytest.mark.conduct
    def test_there_is_one_weight_for_each_column(self, attempt, draw):
        """Two columns should have two weights."""
        attempt(torch.tensor([[1.0, 0.0], [1.0, 1.0]]), draw.normal(2)).has_shape(2)

    @pytest.mark.weight(2)
    def test_the_line_of_the_text(self, attempt):
        """The four students' line should have the intercept 1.5 and the slope 1."""
        attempt(DESIGN, SOLVED).gives(torch.tensor([1.5, 1.0]), axes=self.axes)

    @pytest.mark.weight(2)
    def test_several_features(self, attempt, draw):
        """Several features should each get the weight of the best predictions."""
        attempt(*self.inputs(draw)).agrees(axes=self.axes)

    def test_no_column_has_to_do_with_the_errors(self, attempt, draw):
        """Each column's dot product with the errors should be 0."""
        X, y = self.inputs(draw)
        errors = y - X @ attempt(X, y).value
        # Sums of eight products of numbers around 1, each right to some 1e-6.
        attempt.judge(
            X.T @ errors,
            torch.zeros(3),
            what="the columns' dot products with the errors",
            atol=1e-4,
            axes=self.axes,
        )

    def test_as_many_rows_as_columns(self, attempt):
        """A line through two points should pass through both."""
        X = torch.tensor([[1.0, 2.0], [1.0, 4.0]])
        attempt(X, torch.tensor([3.0, 4.0])).gives(torch.tensor([2.0, 0.5]), axes=self.axes)


@pytest.mark.exercise("r_squared")
class TestRSquared(KeepsArguments, KeepsNames):
    def inputs(self, draw, dtype=torch.float32):
        y = 2 + draw.normal(6, dtype=dtype)
        return y, y + 0.5 * draw.normal(6, dtype=dtype)

    @pytest.mark.gate
    @pytest.mark.conduct
    def test_it_is_a_single_number(self, attempt, draw):
        """The result should be a single number."""
        attempt(draw.normal(3), draw.normal(3)).has_shape()

    @pytest.mark.weight(2)
    def test_the_share_of_the_text(self, attempt):
        """The line 1.5 + x should explain five sixths."""
        attempt(SOLVED, FITTED).gives(torch.tensor(5 / 6))

    @pytest.mark.weight(2)
    def test_predictions_that_are_not_quite_right(self, attempt, draw):
        """Predictions with errors should explain what the errors leave."""
        attempt(*self.inputs(draw)).agrees()

    def test_perfect_predictions_explain_everything(self, attempt, draw):
        """Predictions that are all right should explain everything: 1."""
        y = draw.normal(5)
        attempt(y, y).gives(torch.tensor(1.0))

    def test_the_mean_explains_nothing(self, attempt):
        """The mean for everybody should explain nothing: 0."""
        attempt(SOLVED, torch.full((4,), 3.0)).gives(torch.tensor(0.0))

    @pytest.mark.weight(2)
    def test_worse_than_the_mean(self, attempt):
        """Predictions that are worse than the mean should have a negative share."""
        attempt(SOLVED, torch.tensor([4.0, 4.0, 3.0, 1.0])).gives(torch.tensor(1 - 20 / 6))
