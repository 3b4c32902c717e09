"""Where the parts of an assignment's picture are, side by side and one above the other.

Terminal and page differ in their units only: what is here counts in shares of the whole width.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from grader.core.records import Number
from grader.course.drawing import Box, Drawing, Gap, Map, Step
from grader.judging.picture_layout import cell_text, colour_step

ROOM = 6
"""The most characters of a number."""


@dataclass(frozen=True, slots=True)
class Placed:
    """A panel and where it is: its row, and from where to where it goes in the whole width."""

    panel: Map | Box
    row: int
    start: Fraction
    end: Fraction


@dataclass(frozen=True, slots=True)
class Arrow:
    """A vertical arrow from the foot of a panel to the head of one below."""

    source: Placed
    target: Placed

    @property
    def at(self) -> Fraction:
        """Where it stands in the whole width: in the middle of what both panels cover."""
        start = max(self.source.start, self.target.start)
        return (start + min(self.source.end, self.target.end)) / 2


@dataclass(frozen=True, slots=True)
class DrawnCell:
    """A number of a map as it is shown: its text, its step of colour (None for no number)."""

    text: str
    step: int | None


EMPTY = DrawnCell("", None)


def placed(drawing: Drawing) -> list[Placed]:
    """The panels of a drawing with their places, row by row."""
    found = []
    for number, row in enumerate(drawing.rows):
        if isinstance(row, Step):
            continue
        whole, before = sum(panel.span for panel in row), 0
        for panel in row:
            start, before = Fraction(before, whole), before + panel.span
            if not isinstance(panel, Gap):
                found.append(Placed(panel, number, start, Fraction(before, whole)))
    return found


def arrows(panels: list[Placed]) -> list[Arrow]:
    """The arrows between panels.

    Raises:
        ValueError: when one would go through another panel, or cannot be vertical.
    """
    named: dict[str, Placed] = {}
    found = []
    for target in panels:
        for name in target.panel.of:
            arrow = Arrow(named[name], target)
            _refuse_hidden(arrow, panels)
            found.append(arrow)
        named[target.panel.name] = target
    return found


def _refuse_hidden(arrow: Arrow, panels: list[Placed]) -> None:
    source, target = arrow.source, arrow.target
    name = f"the arrow from {source.panel.name!r} to {target.panel.name!r}"
    if min(source.end, target.end) <= max(source.start, target.start):
        raise ValueError(f"{name} cannot be vertical; give one of them more span")
    for between in panels:
        is_between = source.row < between.row < target.row
        if is_between and between.start < arrow.at < between.end:
            raise ValueError(f"{name} would go through {between.panel.name!r}; leave a Gap there")


def cells(map_: Map) -> Iterator[list[DrawnCell]]:
    """The cells of a map, row by row."""
    finite = [abs(n) for row in map_.values for n in row if n is not None and math.isfinite(n)]
    most = map_.most or max(finite, default=0.0) or 1.0
    for row in map_.values:
        yield [EMPTY if n is None else _cell(n, most, map_.decimals) for n in row]


def _cell(value: float, most: float, decimals: int) -> DrawnCell:
    number: Number = value if math.isfinite(value) else str(value)
    return DrawnCell(cell_text(number, decimals, ROOM), colour_step(number, most))


def sum_texts(map_: Map) -> list[str]:
    """The sum of each row of a map."""
    sums = (sum(n for n in row if n is not None and math.isfinite(n)) for row in map_.values)
    return [cell_text(one, map_.decimals, ROOM) for one in sums]


def headings(map_: Map) -> Iterator[tuple[str, int, int]]:
    """The groups of a map's columns that stand side by side: name, first column, number of them."""
    start = 0
    for index in range(1, len(map_.groups) + 1):
        if index == len(map_.groups) or map_.groups[index] != map_.groups[start]:
            yield map_.groups[start], start, index - start
            start = index
