"""How a picture is drawn, whatever it is drawn on."""

import random

import pytest
from msgspec.structs import replace

from grader.core.records import Axis, Picture
from grader.judging.picture_layout import (
    axis_labels,
    cell_text,
    cut_words,
    first_difference,
    first_location,
    grids,
)

PICTURE = Picture(
    what="the weights",
    expected=((1.0, 0.0), (0.25, 0.75)),
    received=((1.0, 0.0), ("nan", -0.75)),
    differs=((False, False), (True, True)),
    first=(1, 0),
    rows=Axis("query", 0, 2, ("Your", "journey")),
    columns=Axis("key", 0, 2),
)


def cells(picture: Picture, what: str) -> list[list[list[object]]]:
    """What the cells of both sides have, row by row."""
    return [[[getattr(c, what) for c in row] for row in grid.rows] for grid in grids(picture, 6)]


def test_both_sides_have_the_colours_of_the_expected_values() -> None:
    """From 0 to the largest in six steps, below zero too; what is no number has none."""
    assert cells(PICTURE, "step") == [[[6, 0], [2, 5]], [[6, 0], [None, -5]]]
    empty = replace(PICTURE, expected=((0.0, 0.0),), received=(("nan", "nan"),), first=(0, 0))
    empty = replace(empty, differs=((True, True),))
    assert cells(empty, "step") == [[[0, 0]], [[None, None]]]


def test_cells_know_where_they_differ() -> None:
    """The first of them is told apart."""
    assert cells(PICTURE, "differs")[1] == [[False, False], [True, True]]
    assert cells(PICTURE, "is_first")[1] == [[False, False], [True, False]]


def test_all_cells_have_as_many_decimals_as_fit() -> None:
    """What counts as equal is the same number, which rounding could tell apart."""
    assert cells(PICTURE, "text")[1] == [["1.000", "0"], ["NaN", "−0.750"]]
    near = replace(PICTURE, received=((1.00501, 0.0), (0.5, -0.75)))
    assert cells(near, "text")[1] == [["1.000", "0"], ["0.500", "−0.750"]]


@pytest.mark.parametrize(
    ("number", "decimals", "room", "text"),
    [
        *((0.1234, 4, 6, "0.1234"), (-0.5, 2, 6, "−0.50"), (0.0, 4, 6, "0")),
        *((1e-9, 4, 6, "0.0000"), (123456.0, 2, 6, "1.2e5"), (-1e12, 2, 6, "−1e12")),
        *((-1.5e-300, 4, 4, "0"), ("inf", 4, 6, "∞"), ("-inf", 4, 6, "−∞")),
    ],
)
def test_a_number_fits_into_its_cell(
    number: float | str, decimals: int, room: int, text: str
) -> None:
    """However large or small it is."""
    assert cell_text(number, decimals, room).lstrip() == text


def test_no_number_is_longer_than_its_room() -> None:
    """Of any size."""
    draw = random.Random(1)
    for _ in range(2_000):
        number = draw.uniform(-1, 1) * 10 ** draw.randint(-320, 300)
        for room in (4, 5, 6, 8):
            assert len(cell_text(number, draw.randint(0, 4), room)) <= room


def test_where_the_first_difference_is_in_words() -> None:
    """With the token where there is one."""
    assert first_location(PICTURE) == "query 1 (journey), key 0"
    assert first_difference(PICTURE) == "query 1 (journey), key 0: expected 0.25, received nan"


def test_a_window_into_a_large_tensor_says_where_it_is() -> None:
    """Which slice, and which rows and columns of how many."""
    cut = replace(
        PICTURE,
        rows=Axis("token", 44, 100),
        columns=Axis("", 3, 9),
        slice=(("batch entry", 1), ("", 2)),
    )
    words = "batch entry 1, axis 2, token 44 to 45 of 100, column 3 to 4 of 9"
    assert cut_words(cut) == words
    assert first_location(cut) == "batch entry 1, axis 2, token 45, column 3"
    assert axis_labels(cut.rows, 2) == ("44", "45")
    assert cut_words(PICTURE) == ""
