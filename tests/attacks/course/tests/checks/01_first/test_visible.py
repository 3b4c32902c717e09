# ruff: noqa
import pytest


@pytest.mark.exercise("double")
class TestDouble:
    @pytest.mark.gate
    def test_shape(self, student, judge, draw):
        """The shape stays."""
        judge.shape(student.call("double", draw.normal(2, 4)).value, (2, 4))

    def test_values(self, student, reference, judge, draw):
        """Every value is doubled."""
        x = draw.normal(2, 4)
        judge(student.call("double", x).value, reference.call("double", x).value)


@pytest.mark.exercise("total")
class TestTotal:
    @pytest.mark.gate
    def test_total(self, student, reference, judge, draw):
        """The total is the sum of all values."""
        x = draw.normal(2, 4)
        judge(student.call("total", x).value, reference.call("total", x).value)


@pytest.mark.exercise("Layer")
class TestLayer:
    @pytest.mark.gate
    def test_it_is_made(self, student, judge):
        """It has one weight."""
        state = student.state(student.call("Layer", 4, 3, seed=1).value)
        judge(sorted(state.parameters), ["W.weight"], what="the names of the parameters")

    def test_forward(self, student, reference, judge, draw):
        """It multiplies by its weight, and so do gradients."""
        weight, x, cotangent = draw.normal(3, 4), draw.normal(2, 4), draw.normal(2, 3)
        answers = []
        for handle in (student, reference):
            layer = handle.call("Layer", 4, 3, seed=1).value
            handle.load(layer, {"W.weight": weight})
            answers.append(handle.call(layer, x, cotangent=cotangent))
        mine, right = answers
        judge(mine.value, right.value)
        name = "W.weight"
        judge(mine.gradients.parameters[name], right.gradients.parameters[name])
