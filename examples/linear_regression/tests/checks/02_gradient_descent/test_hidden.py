"""Assignment 02 on inputs that nobody has seen."""

import pytest

from ..helpers import design
from .helpers import judge_training, line, trained


@pytest.mark.exercise("standardize")
class TestStandardize:
    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_each_number_is_right")
    def test_other_columns(self, attempt, draw):
        """Other columns, and other rows."""
        attempt(0.5 + draw.normal(6, 2)).agrees(axes=("row", "column"))


@pytest.mark.exercise("gradient")
class TestGradient:
    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_anywhere")
    def test_elsewhere(self, attempt, draw):
        """Other rows, at other weights."""
        attempt(design(draw, 7, 3), draw.normal(7), draw.normal(4)).agrees(axes=("column",))


@pytest.mark.exercise("step")
class TestStep:
    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_a_step_from_elsewhere")
    def test_another_step(self, attempt, draw):
        """Another step, at another rate."""
        attempt(draw.normal(5), draw.normal(5), 0.4).agrees(axes=("column",))


@pytest.mark.exercise("fit")
class TestFit:
    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_three_steps")
    def test_other_steps(self, attempt, draw):
        """Other rows, and five steps."""
        attempt(design(draw, 8, 3), 1 + draw.normal(8), 0.15, 5).agrees(axes=("column",))


@pytest.mark.exercise("LinearRegression")
class TestLinearRegression:
    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_the_predictions_are_right")
    def test_other_features(self, attempt, draw):
        """Another number of features, other parameters."""
        model = attempt.instance(4, given={"weight": draw.normal(4), "bias": draw.normal(1)})
        model(draw.normal(6, 4)).agrees(axes=("row",))

    @pytest.mark.deepens("test_gradients_reach_both_parameters")
    def test_other_gradients(self, attempt, draw):
        """Gradients for other features."""
        model = attempt.instance(2, given={"weight": draw.normal(2), "bias": draw.normal(1)})
        called = model(draw.normal(4, 2), cotangent=draw.normal(4))
        called.parameter_gradients_agree("weight", "bias")


@pytest.mark.exercise("train")
class TestTrain:
    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_each_loss_is_right")
    def test_other_losses(self, student, reference, judge, draw):
        """Other rows, and five steps."""
        given, x, y = line(draw, 3), draw.normal(7, 3), 1 + draw.normal(7)
        mine, right = (trained(it, given, x, y, 0.15, 5)[0] for it in (student, reference))
        judge(mine, right, axes=("step",))

    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_the_parameters_have_moved")
    def test_other_parameters(self, student, reference, judge, draw):
        """Other rows, and where three steps lead."""
        given, x, y = line(draw, 3), draw.normal(7, 3), 1 + draw.normal(7)
        judge_training(student, reference, judge, given, x, y, 0.15, 3)
