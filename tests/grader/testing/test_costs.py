"""What a call cost, as checks receive it, and what students read where it grows too much."""

from collections.abc import Callable
from typing import Any

import pytest
import torch

from grader.testing.costs import Cost, few_digits, read_cost
from grader.testing.judge import Judge, Mismatch
from grader.testing.replies import Answer
from grader.testing.student import StudentHandle

HandIn = Callable[..., StudentHandle]

COUNTS = {"multiplications": 1, "largest": 2, "saved": 3, "operations": 4}
STEP = "the step for row {number}"


def answers(*numbers: int, unknown: tuple[str, ...] = ()) -> dict[int, Answer]:
    """Answers of calls that multiplied so often, and so on by what else is counted."""
    costs = (Cost(one, one + 1, one + 2, one + 3, unknown) for one in numbers)
    return {number: Answer(None, cost=cost) for number, cost in enumerate(costs, 1)}


def sentence_of(given: dict[int, Answer], **how: Any) -> str:
    """What a student reads of these costs; "" where they are as they should be."""
    try:
        Judge().grows(given, **{"at_most": 2, "step": STEP, **how})
    except Mismatch as mismatch:
        return mismatch.difference.summary
    return ""


def test_a_call_answers_what_it_cost_where_that_is_asked_for(hand_in: HandIn) -> None:
    """As plain data; a call without torch is not said to cost nothing."""
    student = hand_in("def one(x):\n    return x @ x.T\n")
    assert student.call("one", torch.ones(2, 3)).cost is None
    cost = student.call("one", torch.ones(2, 3), meter=True).cost
    assert cost == Cost(multiplications=12, largest=4, saved=0, operations=1)
    with pytest.raises(ValueError, match="not for both"):
        student.call("one", torch.ones(2, 3), meter=True, cotangent=torch.ones(2, 2))


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (None, None),
        (COUNTS, None),
        ({**COUNTS, "multiplications": -1, "unknown": []}, None),
        ({**COUNTS, "multiplications": 1.5, "unknown": []}, None),
        ({**COUNTS, "unknown": ["x" * 99]}, Cost(1, 2, 3, 4, ("x" * 60,))),
    ],
)
def test_a_cost_is_read_only_in_the_right_form(content: object, expected: Cost | None) -> None:
    """It comes from where student code runs."""
    assert read_cost(content) == expected


def test_a_call_that_costs_much_more_than_the_first_is_named_with_both_numbers() -> None:
    """The first that multiplied at all is what the others are measured by."""
    assert sentence_of(answers(12, 12, 24)) == ""
    assert sentence_of(answers(0, 12, 24)) == ""
    assert sentence_of(answers(0, 0, 24)) == ""
    assert sentence_of(answers(12, 24, 108)) == (
        "The step for row 3 multiplied 9 times as much as the step for row 1: 108 multiplications, "
        "and 12. It should be at most 2 times as much."
    )


@pytest.mark.parametrize(
    ("of", "sentence"),
    [
        (
            "largest",
            "made a tensor 4.17 times as large as the step for row 1 did: 25 numbers, and 6.",
        ),
        (
            "saved",
            "kept 3.71 times as much for a backward pass as the step for row 1: 26 numbers, ",
        ),
        ("operations", "took 3.38 times as many operations as the step for row 1: 27, and 8."),
    ],
)
def test_what_else_is_counted_has_words_of_its_own(of: str, sentence: str) -> None:
    """Numbers in a tensor, numbers kept, operations."""
    assert sentence_of(answers(5, 24), of=of).startswith(f"The step for row 2 {sentence}")


def test_what_cannot_be_counted_is_said_and_not_taken_for_nothing() -> None:
    """Only where multiplications are judged: the rest is counted all the same."""
    given = answers(0, 0, unknown=("tolist",))
    assert sentence_of(given) == (
        "What this costs cannot be counted: it uses `tolist`. "
        "Compute with torch's `*`, `@` and `torch.matmul` instead."
    )
    assert sentence_of(given, of="largest") == ""


def test_what_is_judged_is_how_it_grows() -> None:
    """Another width, or another way to write it, is the same mistake."""
    judge = Judge()
    for width in (3, 50):
        with pytest.raises(Mismatch):
            judge.grows(answers(width, 2 * width, 3 * width + 1), at_most=2, step=STEP)
    assert judge.judged == [(False, [1, 2, 3])] * 2


def test_a_law_that_cannot_be_judged_is_refused() -> None:
    """The author reads why."""
    with pytest.raises(ValueError, match="`meter=True`"):
        Judge().grows({1: Answer(None)}, at_most=2, step=STEP)
    with pytest.raises(ValueError, match="`of` is one of multiplications, largest"):
        Judge().grows(answers(1), at_most=2, step=STEP, of="seconds")


@pytest.mark.parametrize(("number", "expected"), [(9, "9"), (8.974, "8.97"), (1234.5, "1234")])
def test_numbers_are_said_with_few_digits(number: float, expected: str) -> None:
    """Three, or all before the point."""
    assert few_digits(number) == expected
