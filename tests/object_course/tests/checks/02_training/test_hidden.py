"""Assignment 02 on inputs nobody has seen."""

import numpy as np
import pytest


@pytest.mark.exercise("Pairs")
class TestPairs:
    @pytest.mark.weight(2)
    @pytest.mark.conduct
    @pytest.mark.deepens("test_there_are_as_many_as_inputs")
    def test_fewer_inputs_are_counted(self, student, judge):
        """One input should make a length of 1."""
        pairs = student.call("Pairs", np.zeros((1, 2)), np.zeros(1)).value
        judge(student.call(pairs, method="__len__").value, 1)

    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_an_example_is_an_input_and_a_target")
    def test_other_examples(self, student, reference, judge, draw):
        """Other examples should be inputs with their targets."""
        x, y = draw.normal(4, 3).numpy(), draw.normal(4).numpy()
        found = [
            handle.call(handle.call("Pairs", x, y).value, 2, method="__getitem__").value
            for handle in (student, reference)
        ]
        judge(*found)


@pytest.mark.exercise("Descent")
class TestDescent:
    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_a_step_goes_against_the_gradient")
    def test_other_steps(self, student, reference, judge, draw):
        """Another gradient should move the slope as well."""
        x, weights, found = draw.normal(2, 3), draw.normal(2), []
        for handle in (student, reference):
            line = handle.call("Line").value
            parameters = handle.call(line, method="parameters").value
            descent = handle.call("Descent", parameters, 0.5).value
            handle.call(line, x, cotangent=weights)
            handle.call(descent, method="step")
            found.append(handle.state(line).parameters["slope"])
        judge(*found)


@pytest.mark.exercise("loss_of")
class TestLossOf:
    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_the_loss_counts_ten_times")
    def test_other_tensors(self, student, reference, judge, draw):
        """Other tensors should have their loss ten times."""
        one, other = draw.normal(5), draw.normal(5)
        found = [
            handle.call("loss_of", handle.function("mse"), one, other).value
            for handle in (student, reference)
        ]
        judge(*found)
