"""What students see of assignment 02."""

import pytest
import torch

NAMES = ("W_query", "W_key", "W_value")


def with_weights(handle, given):
    """An instance with given parameters."""
    d_out, d_in = given["W_query.weight"].shape
    instance = handle.call("Mixture", d_in, d_out, seed=1).value
    handle.load(instance, given)
    return instance


@pytest.mark.exercise("weights")
class TestWeights:
    @pytest.mark.gate
    @pytest.mark.conduct
    def test_weights_have_the_shape_of_the_scores(self, student, judge):
        """There is a weight for each score."""
        value = student.call("weights", torch.ones(2, 3)).value
        judge.shape(value, (2, 3))

    def test_weights_of_other_scores(self, student, reference, judge, draw):
        """The weights are those of the solution."""
        raw = draw.normal(4, 3)
        expected = reference.call("weights", raw).value
        judge(student.call("weights", raw).value, expected, axes=("query", "key"))


@pytest.mark.exercise("Mixture")
class TestMixture:
    @pytest.mark.gate
    @pytest.mark.conduct
    def test_a_mixture_for_each_token(self, student, judge):
        """Two tokens of size two have two mixtures of size three."""
        mixture = student.call("Mixture", 2, 3, seed=1).value
        value = student.call(mixture, torch.eye(2)).value
        judge.shape(value, (2, 3))

    @pytest.mark.weight(2)
    def test_the_mixture_as_in_the_solution(self, student, reference, judge, draw):
        """With given parameters, the mixture is that of the solution."""
        given = {f"{name}.weight": draw.normal(4, 3) for name in NAMES}
        x = draw.normal(5, 3)
        expected = reference.call(with_weights(reference, given), x).value
        value = student.call(with_weights(student, given), x).value
        judge(value, expected, axes=("token", "feature"))
