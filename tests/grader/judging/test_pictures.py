"""What two tensors differ in, cut down to a picture."""

import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from grader.core.records import Axis, Picture
from grader.course.course import load_course
from grader.course.printed_tensors import Ledger
from grader.judging.messages import explain_difference
from grader.judging.pictures import picture_of
from grader.testing.judge import Judge, Mismatch
from grader.testing.student import Call

Draw = Callable[..., Any]
TOKENS = ("Your", "journey", "starts", "with", "one", "step")


@pytest.fixture(scope="module")
def ledger(root: Path) -> Ledger:
    """The documents' printed tensors."""
    return Ledger(root, load_course(root).ledger)


def drawn(ledger: Ledger, actual: Any, expected: Any, *given: Any, **options: Any) -> Any:
    """The picture of what comes of a value that is judged; and the difference, and what is told."""
    with pytest.raises(Mismatch) as caught:
        Judge([Call("attend", given, {})])(actual, expected, **options)
    difference, calls = caught.value.difference, caught.value.calls
    told = explain_difference(difference, calls)
    return picture_of(difference, calls, ledger, told.tensors), difference, told


@pytest.fixture
def draw(ledger: Ledger) -> Draw:
    """Judges a value, and answers the picture of what comes of it."""

    def make(*values: Any, **options: Any) -> Any:
        return drawn(ledger, *values, **options)[0]

    return make


def test_a_matrix_is_shown_whole_with_what_differs(draw: Draw) -> None:
    """Numbers, which of them differ, where the first difference is, and the sides' names."""
    expected = torch.tensor([[1.0, 0.0], [0.25, 0.75]])
    received = torch.tensor([[1.0, 0.0], [0.5, 0.5]])
    assert draw(received, expected, what="the weights", axes=("query", "key")) == Picture(
        what="the weights",
        expected=((1.0, 0.0), (0.25, 0.75)),
        received=((1.0, 0.0), (0.5, 0.5)),
        differs=((False, False), (True, True)),
        first=(1, 0),
        rows=Axis("query", 0, 2),
        columns=Axis("key", 0, 2),
        lines=(2, 8),
    )


def test_a_vector_is_a_single_row(draw: Draw) -> None:
    """Its positions are columns; the row has no name."""
    picture = draw(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 3.0]), axes=("key",))
    assert (picture.rows, picture.columns) == (Axis("", 0, 1), Axis("key", 0, 2))
    assert (picture.expected, picture.first) == (((1.0, 3.0),), (0, 1))


def test_of_more_axes_the_slice_with_the_first_difference_is_shown(draw: Draw) -> None:
    """The axes before the last two are named with their positions."""
    expected = torch.zeros(2, 3, 4, 5)
    received = expected.clone()
    received[1, 2, 3, 4] = 1.0
    picture = draw(received, expected, axes=("batch", "head", "query", "key"))
    assert picture.slice == (("batch", 1), ("head", 2))
    assert picture.first == (3, 4)
    assert (picture.rows.size, picture.columns.size) == (4, 5)


def test_of_a_large_tensor_a_window_around_the_first_difference_is_shown(draw: Draw) -> None:
    """Twelve rows and columns at most, with their own positions."""
    expected = torch.zeros(100, 30)
    received = expected.clone()
    received[50, 29] = 1.0
    picture = draw(received, expected, axes=("token", "feature"))
    assert (picture.rows, picture.columns) == (Axis("token", 44, 100), Axis("feature", 18, 30))
    assert picture.first == (6, 11)
    assert picture.received[6][11] == 1.0
    assert {len(picture.expected), *map(len, picture.expected)} == {12}


def test_numbers_that_json_lacks_are_texts(draw: Draw) -> None:
    """NaN and the infinities; a picture with them equals itself."""
    expected = torch.tensor([0.0, 1.0, -math.inf, 1.0])
    received = torch.tensor([math.nan, math.inf, -math.inf, 1.0])
    picture = draw(received, expected)
    assert picture.received == (("nan", "inf", "-inf", 1.0),)
    assert picture.differs == ((True, True, False, False),)
    assert json.loads(json.dumps(picture.received, allow_nan=False)) == [["nan", "inf", "-inf", 1]]


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        ((torch.tensor([0.1, 0.7]), torch.tensor([0.2, 0.7])), ((0.1, 0.7), (0.2, 0.7))),
        ((torch.tensor([True, False]), torch.tensor([True, True])), ((1.0, 0.0), (1.0, 1.0))),
    ],
)
def test_numbers_have_the_digits_of_float32(draw: Draw, values: Any, shown: Any) -> None:
    """0.1 is 0.1, not what a double makes of it; truth values are ones and zeros."""
    picture = draw(*values)
    assert (picture.received, picture.expected) == ((shown[0],), (shown[1],))


@pytest.mark.parametrize(
    ("actual", "expected"),
    [
        (torch.zeros(2, 3), torch.zeros(3, 2)),
        (torch.tensor(1.0), torch.tensor(2.0)),
        (torch.zeros(2, dtype=torch.float64), torch.zeros(2)),
        (torch.tensor([1j, 2j]), torch.tensor([1j, 3j])),
        (None, torch.zeros(2)),
        ([1.0, 2.0], [1.0, 3.0]),
    ],
    ids=["shapes", "single numbers", "dtypes", "complex numbers", "no tensor", "lists"],
)
def test_there_is_no_picture(draw: Draw, actual: Any, expected: Any) -> None:
    """Where shapes or kinds differ, words say it better."""
    assert draw(actual, expected) is None


# The documents' tokens.


def sides(picture: Any) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The labels of rows and columns."""
    return picture.rows.labels, picture.columns.labels


def test_figures_that_the_documents_print_have_their_tokens(draw: Draw, ledger: Ledger) -> None:
    """Along the axes that are about tokens."""
    wrong = torch.zeros(6, 6)
    assert sides(draw(wrong, ledger("T08"), axes=("query", "key"))) == (TOKENS, TOKENS)
    assert sides(draw(wrong, ledger("T19"), axes=("row", "column"))) == ((), ())
    features = ("token", "feature")
    assert sides(draw(torch.zeros(6, 3), ledger("T10"), axes=features)) == (TOKENS, ())


@pytest.mark.parametrize("copies", [1, 2], ids=["the text", "a batch of it"])
def test_what_is_called_with_the_documents_text_has_its_tokens(
    draw: Draw, ledger: Ledger, copies: int
) -> None:
    """The expected values may be computed then."""
    given = torch.stack([ledger("T45").tensor] * copies)
    picture = draw(torch.zeros(6), torch.ones(6), given, axes=("key",))
    assert sides(picture) == ((), TOKENS)


def test_other_texts_of_six_tokens_have_positions(draw: Draw, ledger: Ledger) -> None:
    """Also where a mask is given that looks like the documents'."""
    given = (torch.rand(6, 3), ledger("T19").tensor, torch.ones(6))
    picture = draw(torch.zeros(6, 6), torch.ones(6, 6), *given, axes=("query", "key"))
    assert sides(picture) == ((), ())


def test_without_labels_positions_have_numbers(draw: Draw, ledger: Ledger, root: Path) -> None:
    """Whatever the ledger prints; so where a course has no ledger at all."""
    assert ledger.settings is not None
    plain = replace(ledger.settings, labels=(), axes=())
    for other in (Ledger(root, plain), Ledger(root, None)):
        found, *_ = drawn(other, torch.zeros(6, 6), ledger("T08"), axes=("query", "key"))
        assert sides(found) == ((), ())


# Beside a message.


@pytest.mark.parametrize("size", [3, 8], ids=["tensors in full", "tensors too large"])
def test_a_picture_knows_the_lines_that_say_the_same(ledger: Ledger, size: int) -> None:
    """Who shows the picture leaves out the tensors, and keeps every other line."""
    shape = torch.arange(81.0).reshape(9, 9)
    picture, difference, told = drawn(ledger, torch.eye(size) * 2, torch.eye(size), shape)
    lines = told.text.splitlines()
    first, after = picture.lines
    assert lines[:first] + lines[after:] == [
        "attend(<tensor (9, 9)>)",
        f"The result: {size} of {size * size} values differ, the first at [0, 0]: "
        "expected 1.0000, received 2.0000.",
        *difference.hints,
    ]
