"""Assignment 01 on inputs that nobody has seen."""

import pytest
import torch

from ..helpers import design


@pytest.mark.exercise("design_matrix")
class TestDesignMatrix:
    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_several_features_keep_their_order")
    def test_other_features(self, attempt, draw):
        """Other features, and more of them."""
        attempt(draw.normal(5, 3)).agrees(axes=("row", "column"))


@pytest.mark.exercise("predict")
class TestPredict:
    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_each_row_meets_the_weights")
    def test_other_rows_and_weights(self, attempt, draw):
        """Other rows, and other weights."""
        attempt(design(draw, 6, 4), draw.normal(5)).agrees(axes=("row",))

    @pytest.mark.deepens("test_as_many_rows_as_columns")
    def test_another_square(self, attempt, draw):
        """Another matrix with as many rows as columns."""
        attempt(design(draw, 4, 3), draw.normal(4)).agrees(axes=("row",))


@pytest.mark.exercise("mean_squared_error")
class TestMeanSquaredError:
    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_errors_of_different_sizes")
    def test_other_errors(self, attempt, draw):
        """Other errors, and more of them."""
        attempt(draw.normal(9), 1 + draw.normal(9)).agrees()


@pytest.mark.exercise("solve_normal_equations")
class TestSolveNormalEquations:
    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_several_features")
    def test_other_features(self, attempt, draw):
        """Other features, and more of them."""
        attempt(design(draw, 12, 3), draw.normal(12)).agrees(axes=("column",))

    @pytest.mark.deepens("test_as_many_rows_as_columns")
    def test_two_other_points(self, attempt, draw):
        """Another line through two points."""
        # At least 1.4 apart: where points are nearly one above the other, right ways differ.
        x = torch.tensor([-1.0, 1.0]) + draw.uniform(2, low=-0.3, high=0.3)
        X = torch.stack([torch.ones(2), x], dim=1)
        attempt(X, draw.normal(2)).agrees(axes=("column",))


@pytest.mark.exercise("r_squared")
class TestRSquared:
    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_predictions_that_are_not_quite_right")
    def test_other_predictions(self, attempt, draw):
        """Other observations, and other predictions."""
        y = 1 + draw.normal(9)
        attempt(y, 0.2 + y + 0.5 * draw.normal(9)).agrees()

    @pytest.mark.deepens("test_worse_than_the_mean")
    def test_other_bad_predictions(self, attempt, draw):
        """Other predictions that are worse than the mean."""
        y = 1 + draw.normal(7)
        attempt(y, 1.5 - y).agrees()
