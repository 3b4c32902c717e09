# %% [markdown]
# # 2. Tables and files
#
# A table by groups, a report on the screen, a file for others, and a draw that can be repeated.

# %%
from pathlib import Path

import numpy as np
import pandas as pd

# %% [markdown]
# ## By groups
#
# `groupby` splits a table by a column; what is computed then has a row for each group.


# %% exercise="mean_by"
def mean_by(table: pd.DataFrame, group: str, column: str) -> pd.DataFrame:
    """The mean of a column in each group, and how many rows it has that are not missing.

    Args:
        table: any frame; it stays as it is.
        group: the column that says who belongs together.
        column: the column of numbers.

    Returns:
        The groups as index, in order, and the columns "mean" and "rows".

    Example:
        >>> mean_by(pd.DataFrame({"team": ["b", "a", "b"], "points": [1.0, 5.0, 2.0]}), "team", "points")
              mean  rows
        team
        a      5.0     1
        b      1.5     2
    """
    # TODO: group the rows, and take the mean and the count of the column.
    ### BEGIN SOLUTION
    groups = table.groupby(group)[column]
    return pd.DataFrame({"mean": groups.mean(), "rows": groups.count()})
    ### END SOLUTION


# %% [markdown]
# ## A report
#
# What people read wants columns that line up: names on the left, numbers on the right.


# %% exercise="report"
def report(scores: dict[str, float]) -> None:
    """Print a line for each name, the best first, and a line with the mean.

    Names are padded to 8 characters, numbers to 6 with one decimal. Who has as much is listed by
    name.

    Example:
        >>> report({"ann": 7.0, "bob": 9.5})
        bob        9.5
        ann        7.0
        mean       8.2
    """
    # TODO: sort, print a line for each, and the mean below.
    ### BEGIN SOLUTION
    for name, score in sorted(scores.items(), key=lambda pair: (-pair[1], pair[0])):
        print(f"{name:<8}{score:>6.1f}")
    print(f"{'mean':<8}{sum(scores.values()) / len(scores):>6.1f}")
    ### END SOLUTION


# %% [markdown]
# ## A file
#
# Scores for another program: text in lines, a comma between the values, and a folder that may not be
# there yet.


# %% exercise="save_scores"
def save_scores(scores: dict[str, float], path: str) -> None:
    """Write scores as CSV with the header `name,score`, in the order they come in.

    Folders on the way are made. A file that is there is replaced.
    """
    # TODO: make the folder, and write the header and a line for each name.
    ### BEGIN SOLUTION
    file = Path(path)
    file.parent.mkdir(parents=True, exist_ok=True)
    lines = [f"{name},{score}" for name, score in scores.items()]
    file.write_text("\n".join(["name,score", *lines]) + "\n", encoding="utf-8")
    ### END SOLUTION


# %% [markdown]
# ## A draw
#
# numpy's numbers come from a seed. Whoever draws in the same way draws the same.


# %% exercise="draw_winners"
def draw_winners(names: list[str], count: int) -> np.ndarray:
    """Draw some names, none of them twice, with `np.random.permutation` of all of them.

    Returns:
        The first of the permuted names, as an array of text.
    """
    # TODO: permute the names, and take as many as are to win.
    ### BEGIN SOLUTION
    return np.random.permutation(names)[:count]
    ### END SOLUTION
