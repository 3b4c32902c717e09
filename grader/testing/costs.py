"""What calls cost, as their process counted it, and whether that grows as it should.

The counting is `grader.sandbox.meter`, beside student code.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from grader.core.language import N_, _, listed, paragraph
from grader.core.text import clean, with_capital

NUMBERS = ("multiplications", "largest", "saved", "operations")
MOST_UNKNOWN = 20
MOST_NAME = 60


@dataclass(frozen=True, slots=True)
class Cost:
    """What one call cost.

    Args:
        multiplications: products and quotients of two numbers, those in products of matrices, too.
        largest: the numbers in the largest tensor that the call made.
        saved: the numbers that it made and keeps for a backward pass.
        operations: how often something was computed or copied.
        unknown: what it used whose multiplications nobody has counted.
    """

    multiplications: int
    largest: int
    saved: int
    operations: int
    unknown: tuple[str, ...] = ()


GROWN = {
    "multiplications": N_(
        "{last} multiplied {times} times as much as {first}: {many} multiplications, and {few}."
    ),
    "largest": N_(
        "{last} made a tensor {times} times as large as {first} did: {many} numbers, and {few}."
    ),
    "saved": N_(
        "{last} kept {times} times as much for a backward pass as {first}: "
        "{many} numbers, and {few}."
    ),
    "operations": N_("{last} took {times} times as many operations as {first}: {many}, and {few}."),
}
"""What students read where one call costs too much beside another, by what was counted."""


def read_cost(content: object) -> Cost | None:
    """The cost in a reply; None where there is none in the right form."""
    if not isinstance(content, dict):
        return None
    counted = [content.get(name) for name in NUMBERS]
    numbers = [number for number in counted if type(number) is int and number >= 0]
    unknown = content.get("unknown")
    if len(numbers) < len(NUMBERS) or not isinstance(unknown, list):
        return None
    multiplications, largest, saved, operations = numbers
    names = tuple(str(name)[:MOST_NAME] for name in unknown[:MOST_UNKNOWN])
    return Cost(multiplications, largest, saved, operations, names)


def uncounted(costs: Mapping[int, Cost]) -> str:
    """A sentence on what was used whose multiplications are not known; "" where nothing was."""
    names = sorted({name for cost in costs.values() for name in cost.unknown})
    if not names:
        return ""
    words = _(
        "What this costs cannot be counted: it uses {names}. "
        "Compute with torch's `*`, `@` and `torch.matmul` instead."
    )
    return words.format(names=listed(f"`{clean(name, MOST_NAME)}`" for name in names))


def grown(costs: Mapping[int, Cost], of: str) -> tuple[int, int, float]:
    """The first call that cost something, the dearest, and how many times as much that cost."""
    numbers = {number: getattr(cost, of) for number, cost in costs.items()}
    last = max(numbers, key=lambda number: numbers[number])
    first = next((number for number, many in numbers.items() if many), last)
    return first, last, numbers[last] / max(numbers[first], 1)


def grown_too_much(
    costs: Mapping[int, Cost], of: str, at_most: float, step: Mapping[int, str]
) -> str:
    """A sentence that says how much more the dearest call cost than the first.

    Args:
        costs: by number.
        of: what was counted, a field of `Cost`.
        at_most: how many times as much would have been right.
        step: what the calls are called.
    """
    first, last, times = grown(costs, of)
    said = _(GROWN[of]).format(
        last=step[last],
        first=step[first],
        times=few_digits(times),
        many=getattr(costs[last], of),
        few=getattr(costs[first], of),
    )
    most = _("It should be at most {most} times as much.").format(most=few_digits(at_most))
    return paragraph((with_capital(said), most))


def few_digits(number: float) -> str:
    """A number as people read it: three digits, or all before the point."""
    return f"{number:.0f}" if number >= 100 else f"{number:.3g}"
