"""Assignment 02 on inputs nobody has seen."""

import pytest
import torch

HIDDEN_NAMES = ("W_query", "W_key", "W_value")


@pytest.mark.exercise("weights")
class TestWeights:
    @pytest.mark.deepens("test_weights_of_other_scores")
    def test_large_scores(self, student, reference, judge, draw):
        """Large scores lead to weights, too."""
        raw = draw.normal(3, 4) * 3
        judge(student.call("weights", raw).value, reference.call("weights", raw).value)


@pytest.mark.exercise("Mixture")
class TestMixture:
    @pytest.mark.deepens("test_the_mixture_as_in_the_solution")
    def test_a_mixture_nobody_has_seen(self, student, reference, judge, draw):
        """Another text, other parameters."""
        given = {f"{name}.weight": draw.normal(2, 4) for name in HIDDEN_NAMES}
        x = draw.normal(3, 4)
        answers = []
        for handle in (student, reference):
            mixture = handle.call("Mixture", 4, 2, seed=2).value
            handle.load(mixture, given)
            answers.append(handle.call(mixture, x).value)
        judge(answers[0], answers[1], axes=("token", "feature"))

    @pytest.mark.deepens("test_the_mixture_as_in_the_solution")
    def test_the_slip_of_the_document(self, student, reference, judge):
        """With the document's parameters, values are mixed and not keys."""
        x = torch.tensor([[1.0, 0.5], [-0.5, 2.0]])
        key, value = torch.eye(2), torch.tensor([[0.0, 1.0], [2.0, 0.0]])
        given = dict(zip(HIDDEN_NAMES, (torch.eye(2), key, value), strict=True))
        answers = []
        for handle in (student, reference):
            mixture = handle.call("Mixture", 2, 2, seed=2).value
            handle.load(mixture, {f"{name}.weight": w for name, w in given.items()})
            answers.append(handle.call(mixture, x).value)
        judge(answers[0], answers[1], axes=("token", "feature"))
