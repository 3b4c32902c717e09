"""Assignment 02 on inputs nobody has seen."""

import pandas as pd
import pytest


@pytest.mark.exercise("mean_by")
class TestMeanBy:
    @pytest.mark.weight(4)
    @pytest.mark.deepens("test_the_mean_of_each_team")
    def test_other_tables(self, attempt, draw):
        """Other tables, with values that are missing."""
        values = [*draw.array(6).tolist(), None]
        table = pd.DataFrame({"kind": list("xyzxyzx"), "size": values})
        attempt(table, "kind", "size").agrees()


@pytest.mark.exercise("report")
class TestReport:
    @pytest.mark.weight(3)
    @pytest.mark.deepens("test_two_names_and_the_mean")
    def test_other_scores(self, attempt, draw):
        """Other names and scores."""
        names = draw.choice(["ann", "bob", "cleo", "dora", "emil", "frieda"], 4)
        attempt(dict(zip(names, draw.numbers(4, 0, 120), strict=True))).prints()


@pytest.mark.exercise("save_scores")
class TestSaveScores:
    @pytest.mark.weight(3)
    @pytest.mark.deepens("test_the_file_has_a_header_and_a_line_each")
    def test_other_scores(self, attempt, draw):
        """Other names, umlauts among them, in another file."""
        scores = {"jörg": draw.whole(0, 9) + 0.5, "zoë": draw.whole(0, 9) + 0.0}
        attempt(scores, "out/all.csv", files={"out/other.csv": ""}).writes("out/all.csv")


@pytest.mark.exercise("draw_winners")
class TestDrawWinners:
    @pytest.mark.weight(3)
    @pytest.mark.deepens("test_two_of_four_win")
    def test_other_seeds(self, attempt, draw):
        """Other names, and other seeds."""
        names = draw.choice(["ann", "bob", "cleo", "dora", "emil", "frieda", "gus"], 6)
        attempt(names, 4, seed=draw.seed()).agrees()
