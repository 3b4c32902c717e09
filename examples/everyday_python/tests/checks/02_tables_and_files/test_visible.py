"""What students see of assignment 02."""

import numpy as np
import pandas as pd
import pytest

TEAMS = pd.DataFrame({"team": ["b", "a", "b", "a"], "points": [1.0, 5.0, 2.0, None]})
SCORES = {"ann": 7.0, "bob": 9.5, "cleo": 7.0}


@pytest.mark.exercise("mean_by")
class TestMeanBy:
    @pytest.mark.gate
    @pytest.mark.conduct
    def test_the_table_stays_as_it_is(self, attempt):
        """The table should be left as it is."""
        attempt(TEAMS, "team", "points").keeps_arguments()

    @pytest.mark.weight(3)
    def test_the_mean_of_each_team(self, attempt):
        """Team a should have a mean of 5 from one row, team b 1.5 from two."""
        index = pd.Index(["a", "b"], name="team")
        expected = pd.DataFrame({"mean": [5.0, 1.5], "rows": [1, 2]}, index=index)
        attempt(TEAMS, "team", "points").gives(expected)

    @pytest.mark.weight(3)
    def test_another_column_and_other_groups(self, attempt):
        """Groups may be numbers, in any order."""
        table = TEAMS.assign(room=[30, 4, 30, 4], kilos=[60.5, 72.0, 81.5, 58.0])
        attempt(table, "room", "kilos").agrees()


@pytest.mark.exercise("report")
class TestReport:
    @pytest.mark.gate
    def test_two_names_and_the_mean(self, attempt):
        """For ann with 7 and bob with 9.5, three lines should be printed."""
        attempt({"ann": 7.0, "bob": 9.5}).prints("bob        9.5\nann        7.0\nmean       8.2")

    @pytest.mark.weight(2)
    def test_who_has_as_much_is_listed_by_name(self, attempt):
        """Of two with 7 points, ann should stand before cleo."""
        attempt({"cleo": 7.0, "bob": 9.5, "ann": 7.0}).prints()


@pytest.mark.exercise("save_scores")
class TestSaveScores:
    @pytest.mark.gate
    def test_the_file_has_a_header_and_a_line_each(self, attempt):
        """The file should have a header and a line for each name."""
        called = attempt(SCORES, "scores.csv", files={})
        called.writes("scores.csv", "name,score\nann,7.0\nbob,9.5\ncleo,7.0\n")

    def test_folders_on_the_way_are_made(self, attempt):
        """The folder term/week1 should be made."""
        attempt({"dora": 3.0}, "term/week1/scores.csv", files={}).writes("term/week1/scores.csv")

    @pytest.mark.weight(2)
    def test_a_file_that_is_there_is_replaced(self, attempt):
        """Of an old file nothing should be left."""
        attempt({"eve": 1.5}, "old.csv", files={"old.csv": "old\n" * 9}).writes("old.csv")


@pytest.mark.exercise("draw_winners")
class TestDrawWinners:
    @pytest.mark.gate
    def test_one_name_wins(self, attempt):
        """Of a single name, that one should win."""
        attempt(["ann"], 1, seed=1).gives(np.array(["ann"]))

    @pytest.mark.weight(2)
    def test_two_of_four_win(self, attempt):
        """With the same seed, the same two of four should win."""
        attempt(["ann", "bob", "cleo", "dora"], 2, seed=3).agrees()
