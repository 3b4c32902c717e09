"""What students see of assignment 01."""

import pytest
import torch

from grader.testing import N_

AXES = (N_("query"), N_("key"))
QUERIES = torch.tensor([[1.0, 0.5], [-0.5, 2.0]])
KEYS = torch.tensor([[0.5, 1.0], [1.5, -1.0], [0.25, 0.75]])
SCORES = torch.tensor([[0.7071, 0.7071, 0.4419], [1.2374, -1.9445, 0.9723]])
ROUNDED = 5.1e-5  # half a unit of the fourth decimal


@pytest.mark.exercise("scores")
class TestScores:
    @pytest.mark.gate
    @pytest.mark.conduct
    def test_a_score_for_each_query_and_key(self, student, judge):
        """Two queries and three keys have two rows of three scores."""
        value = student.call("scores", QUERIES, KEYS).value
        judge.shape(value, (2, 3))

    @pytest.mark.weight(2)
    def test_the_scores_as_printed(self, student, judge):
        """The scores are the document's."""
        value = student.call("scores", QUERIES, KEYS).value
        judge(value, SCORES, atol=ROUNDED, axes=AXES)

    def test_as_many_queries_as_keys(self, student, reference, judge, draw):
        """With as many queries as keys, the scores are still right."""
        queries, keys = draw.normal(3, 5), draw.normal(3, 5)
        expected = reference.call("scores", queries, keys).value
        judge(student.call("scores", queries, keys).value, expected, axes=AXES)

    @pytest.mark.remark
    def test_keys_of_another_size_are_refused(self, student, judge):
        """Keys that are longer than queries are refused with a ValueError."""
        failure = student.refusal("scores", [[1.0]], [[1.0, 2.0]])
        judge.that(failure is not None and failure.type == "ValueError", "There is no ValueError")
