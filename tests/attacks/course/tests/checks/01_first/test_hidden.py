# ruff: noqa
import pytest

MARK = "only a hidden check says so, c0de"


@pytest.mark.exercise("double")
class TestDouble:
    def test_values_nobody_has_seen(self, student, reference, judge, draw):
        """Other values are doubled, too."""
        x = draw.normal(3, 5)
        judge(student.call("double", x).value, reference.call("double", x).value)


@pytest.mark.exercise("total")
class TestTotal:
    def test_values_nobody_has_seen(self, student, reference, judge, draw):
        """The total of other values."""
        x = draw.normal(3, 5)
        judge(student.call("total", x).value, reference.call("total", x).value)


@pytest.mark.exercise("Layer")
class TestLayer:
    def test_sizes_nobody_has_seen(self, student, judge, draw):
        """Other sizes."""
        layer = student.call("Layer", 5, 2, seed=1).value
        judge.shape(student.call(layer, draw.normal(3, 5)).value, (3, 2))
