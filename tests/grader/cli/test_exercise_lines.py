"""What a terminal shows of an exercise in which one mistake makes many checks fail."""

import io
import random

import pytest
from generated_class import picture
from made_results import check, exercise
from msgspec.structs import replace
from rich.console import Console

from grader.cli.render import MOST_OF_EXERCISE, exercise_lines, print_decided
from grader.cli.view import View
from grader.core.records import CheckResult, Outcome

VIEW = View(more=lambda id_: f"`{id_} --verbose`")


def failed(number: int, message: str = "", reason: tuple[int, int] = (0, 0), **more) -> CheckResult:
    """A check that did not pass."""
    told = {"outcome": Outcome.FAILED, "title": f"It holds {number}.", "reason": reason}
    return check(f"{number}", message=message, **(told | more))


def shown(*checks: CheckResult, view: View = VIEW) -> list[str]:
    """The lines that a terminal shows."""
    out = Console(file=io.StringIO(), width=100)
    for line in exercise_lines(out, exercise("01_a/f", 0, 1, *checks), view):
        out.print(line)
    return [line.strip() for line in out.file.getvalue().splitlines()]  # type: ignore[attr-defined]


def raised(number: int, size: int, name: str = "W") -> CheckResult:
    """A check that ended in an exception."""
    return failed(
        number, f"f(x)\nIt raised KeyError: {name}\n  of size {size}", (1, 3), broke_off=True
    )


def test_what_fails_alike_is_counted():
    """The first in full; figures aside, the others say the same, and their titles something else."""
    assert shown(raised(1, 4), raised(2, 5), raised(3, 6)) == [
        *("✗ It holds 1.", "f(x)", "It raised KeyError: W", "of size 4"),
        "2 more checks fail: `01_a/f --verbose` shows them.",
    ]
    assert shown(raised(1, 4), raised(2, 5), view=View())[-1] == "1 more check fails."


def test_another_reason_is_told_without_the_request():
    """It may be another mistake's; what was printed is not part of it."""
    other = failed(2, "f(y)\nThe mask is no buffer.\nYour code printed: 1", (1, 2))
    told = shown(raised(1, 4), other, raised(3, 4, "V"))
    assert told[4:] == [
        *("✗ It holds 2.", "The mask is no buffer."),
        *("✗ It holds 3.", "It raised KeyError: V", "of size 4"),
    ]


def test_a_reason_said_above_is_referred_to():
    """Where there is room for a title, it does not stand alone: what it says may hold."""
    same = [failed(number, "f(x)\nA weight has another shape.", (1, 2)) for number in (1, 2)]
    assert shown(*same) == [
        *("✗ It holds 1.", "f(x)", "A weight has another shape."),
        "✗ It holds 2.  (perhaps for the reason above)",
    ]


def test_another_reason_is_never_left_out():
    """However many checks fail: what is counted fails as one that is shown does."""
    same = [raised(number, number) for number in range(1, 60)]
    told = shown(*same, failed(99, "It is a list.", (0, 1)))
    assert len(told) <= MOST_OF_EXERCISE + 1
    assert told[-3:] == [
        *("✗ It holds 99.", "It is a list."),
        "58 more checks fail: `01_a/f --verbose` shows them.",
    ]


def test_numbers_that_differ_are_shown_once():
    """The picture is the first one's; where it is about something else, its title comes first."""
    values = picture(random.Random(1))
    gradient = replace(values, what="the gradient")
    same = [failed(number, picture=values) for number in range(1, 40)]
    told = shown(*same, failed(99, picture=gradient))
    assert sum("first difference" in line for line in told) == 1
    assert "✗ It holds 99." in told
    assert len(told) <= MOST_OF_EXERCISE + 1


def test_a_remark_is_told_and_is_not_the_first():
    """It costs nothing, and stays there."""
    remark = failed(1, "It is slow.", outcome=Outcome.REMARK)
    assert shown(remark, raised(2, 4))[1:] == [
        *("f(x)", "It raised KeyError: W", "of size 4", "~ It holds 1.  (remark)"),
    ]


@pytest.mark.parametrize("view", [View(everything=True), View()])
def test_without_a_command_for_more_there_is_room_for_all(view):
    """In a notebook titles stand there, and all there is where it was asked for."""
    values = picture(random.Random(1))
    told = shown(*(failed(number, "f(x)", picture=values) for number in range(40)), view=view)
    assert sum(line.startswith("✗") for line in told) == 40
    assert sum(line == "f(x)" for line in told) == (40 if view.everything else 1)


@pytest.mark.parametrize(("decided", "points"), [([0.4], "0.4"), ([1.0, 2.0], "3")])
def test_points_that_visible_checks_decide_are_not_rounded_away(
    decided: list[float], points: str
) -> None:
    """Of an exercise of one point they are fewer than one."""
    out = Console(file=io.StringIO(), width=100)
    print_decided(decided, 5, out)
    assert out.file.getvalue() == f"The visible checks decide {points} of 5 points.\n"
