"""Assignment 01 on inputs nobody has seen."""

import pytest

HIDDEN_SIZES = (4, 6, 5)


@pytest.mark.exercise("scores")
class TestScores:
    @pytest.mark.deepens("test_the_scores_as_printed")
    def test_other_queries_and_keys(self, student, reference, judge, draw):
        """Other queries, other keys, all sizes different."""
        num_queries, num_keys, d_k = HIDDEN_SIZES
        queries, keys = draw.normal(num_queries, d_k), draw.normal(num_keys, d_k)
        expected = reference.call("scores", queries, keys).value
        judge(student.call("scores", queries, keys).value, expected, axes=("query", "key"))
