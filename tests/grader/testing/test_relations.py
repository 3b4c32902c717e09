"""How values relate to the expected ones, in words: true of the values, and silent where nothing is."""

import pytest
import torch

from grader.testing.compare import compare

ATOL = 1e-5
WAVE = torch.arange(20.0).reshape(5, 4).sin()


def hints(actual, expected=WAVE, axes=("token", "feature")):
    """What is said about two values beside the first difference."""
    return compare(actual, expected, ATOL, axes)[1]


def with_rows(*rows, factor=3.0):
    """The expected values, some rows of them multiplied."""
    changed = WAVE.clone()
    for row in rows:
        changed[row] *= factor
    return changed


@pytest.mark.parametrize(
    ("actual", "hint"),
    [
        (WAVE * 0, "All its values are 0."),
        (WAVE + 2, "Every value is 2 more than the expected one."),
        (WAVE - 0.5, "Every value is 0.5 less than the expected one."),
        (WAVE.flip(0), "The expected values are there, in reverse order by token."),
        (
            WAVE[:, [1, 0, 2, 3]],
            "The expected values are there, in another order by feature: feature 0 has those "
            "of feature 1.",
        ),
        (
            torch.cat([WAVE[:1] * 2, WAVE[:-1]]),
            "Each token but the first has the values expected of the one before it.",
        ),
        (
            torch.cat([WAVE[1:], WAVE[:1] * 2]),
            "Each token but the last has the values expected of the one after it.",
        ),
        (WAVE[:, :1].expand(5, 4), "Its values are the same at every feature, and should not be."),
        (with_rows(4), "It differs only at token 4."),
        (with_rows(0, 4), "It differs only at token 0, token 4."),
        (with_rows(1, 2, 3), "It is right only at token 0, token 4."),
    ],
)
def test_how_values_lie_to_the_expected_ones_is_said(actual, hint):
    """One sentence: what is exchanged, shifted, the same, or wrong in a part only."""
    assert hints(actual) == (hint,)


def test_places_without_names_are_rows_and_columns_of_a_matrix():
    """With more axes nothing is said of places that have no name."""
    assert hints(with_rows(4), axes=()) == ("It differs only at row 4.",)
    assert hints(with_rows(4)[None], WAVE[None], axes=()) == ()


def test_nothing_is_said_of_values_that_have_nothing_in_common():
    """Other numbers are no relation."""
    assert hints(WAVE.cos()) == ()


def test_a_part_that_is_wrong_is_not_called_wrong_as_a_whole():
    """Where single values are wrong, the other places are not all that is right."""
    changed = WAVE.clone()
    changed[[0, 1, 2], [0, 1, 2]] = 9.0
    assert hints(changed) == ()


def test_two_numbers_have_a_ratio_where_it_is_hardly_chance():
    """A whole number, or one over that."""
    assert compare(1.0, 2.0, ATOL) == (
        "expected 2, received 1",
        ("It is 0.5 times the expected value.",),
    )
    assert compare(0.7, 0.5, ATOL) == ("expected 0.5, received 0.7", ())
