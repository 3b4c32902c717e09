"""How a picture is drawn, whatever it is drawn on."""

import random

import pytest
from generated_class import picture
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


def test_both_sides_have_the_colours_of_the_expected_values() -> None:
    """From 0 to the largest in six steps, below zero too; what is no number has none."""
    expected, received = grids(PICTURE, 6)
    assert [[cell.step for cell in row] for row in expected.rows] == [[6, 0], [2, 5]]
    assert [[cell.step for cell in row] for row in received.rows] == [[6, 0], [None, -5]]


def test_cells_know_where_they_differ() -> None:
    """The first of them is told apart."""
    _, received = grids(PICTURE, 6)
    assert [[cell.differs for cell in row] for row in received.rows] == [
        [False, False],
        [True, True],
    ]
    assert [[cell.is_first for cell in row] for row in received.rows] == [
        [False, False],
        [True, False],
    ]


def test_all_cells_have_as_many_decimals_as_fit() -> None:
    """A zero is a zero, and minus is a minus sign."""
    texts = [[cell.text for cell in row] for row in grids(PICTURE, 6)[1].rows]
    assert texts == [["1.000", "0"], ["NaN", "−0.750"]]


def test_what_counts_as_equal_is_shown_as_the_same_number() -> None:
    """Rounding could tell it apart."""
    near = replace(PICTURE, received=((1.00501, 0.0), (0.5, -0.75)))
    texts = [[cell.text for cell in row] for row in grids(near, 6)[1].rows]
    assert texts == [["1.000", "0"], ["0.500", "−0.750"]]


@pytest.mark.parametrize(
    ("number", "decimals", "room", "text"),
    [
        (0.1234, 4, 6, "0.1234"),
        (-0.5, 2, 6, "−0.50"),
        (0.0, 4, 6, "0"),
        (1e-9, 4, 6, "0.0000"),
        (123456.0, 2, 6, "1.2e5"),
        (-1e12, 2, 6, "−1e12"),
        (-1.5e-300, 4, 4, "0"),
        ("inf", 4, 6, "∞"),
        ("-inf", 4, 6, "−∞"),
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


def test_nothing_but_zeros_and_nan_can_be_drawn() -> None:
    """No size to compare with."""
    empty = replace(PICTURE, expected=((0.0, 0.0),), received=(("nan", "nan"),), first=(0, 0))
    expected, received = grids(replace(empty, differs=((True, True),)), 6)
    assert [cell.step for cell in expected.rows[0]] == [0, 0]
    assert [cell.step for cell in received.rows[0]] == [None, None]


def test_generated_pictures_are_like_real_ones() -> None:
    """What other tests draw has a NaN and a first difference."""
    made = picture(random.Random(1))
    assert made.received[0][0] == "nan"
    assert made.differs[0][0]
