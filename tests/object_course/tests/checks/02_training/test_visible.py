"""What students see of assignment 02."""

import numpy as np
import pytest
import torch

INPUTS = np.arange(6, dtype="float32").reshape(3, 2)
TARGETS = np.array([1.0, -1.0, 2.0], dtype="float32")


def moved(handle, x, cotangent):
    """The slope of a line after a step."""
    line = handle.call("Line").value
    parameters = handle.call(line, method="parameters").value
    descent = handle.call("Descent", parameters, 0.1).value
    handle.call(line, x, cotangent=cotangent)
    handle.call(descent, method="step")
    return handle.state(line).parameters["slope"]


@pytest.mark.exercise("Pairs")
class TestPairs:
    @pytest.mark.gate
    @pytest.mark.conduct
    def test_there_are_as_many_as_inputs(self, student, judge):
        """Three inputs should make a length of 3."""
        pairs = student.call("Pairs", INPUTS, TARGETS).value
        judge(student.call(pairs, method="__len__").value, 3)

    def test_an_example_is_an_input_and_a_target(self, student, reference, judge):
        """The second example should be the second input with the second target."""
        found = [
            handle.call(handle.call("Pairs", INPUTS, TARGETS).value, 1, method="__getitem__").value
            for handle in (student, reference)
        ]
        judge(*found)


@pytest.mark.exercise("Descent")
class TestDescent:
    @pytest.mark.gate
    def test_a_step_goes_against_the_gradient(self, student, reference, judge):
        """After a step, the slope should have moved against its gradient."""
        x = torch.tensor([[1.0, 2.0, 3.0]])
        judge(*(moved(handle, x, torch.ones(1)) for handle in (student, reference)))


@pytest.mark.exercise("loss_of")
class TestLossOf:
    @pytest.mark.gate
    def test_the_loss_counts_ten_times(self, student, reference, judge, draw):
        """The loss should count ten times."""
        one, other = draw.normal(4), draw.normal(4)
        found = [
            handle.call("loss_of", handle.function("mse"), one, other).value
            for handle in (student, reference)
        ]
        judge(*found)
