"""What a picture shows on a terminal and on a page: steps of colour, texts of cells, words."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from msgspec.structs import replace

from grader.core.language import _, listed
from grader.core.records import Axis, Number, Picture, Rows
from grader.core.views import HeatMap, ViewResult
from grader.course.drawing import Box, Drawing, Gap, Map, Step

STEPS = 6
"""Steps of colour on either side of zero."""

MOST_DECIMALS = 4
"""torch prints no more."""

SIGNS = {"nan": "NaN", "inf": "∞", "-inf": "−∞"}


@dataclass(frozen=True, slots=True)
class Cell:
    """One value as it is shown.

    Args:
        text: the number, cut to the room there is.
        step: its colour: from -6 to 6, 0 for zero; None for NaN and the infinities.
        differs: whether expected and received differ here.
        is_first: whether this is where they differ first.
    """

    text: str
    step: int | None
    differs: bool = False
    is_first: bool = False


@dataclass(frozen=True, slots=True)
class Grid:
    """One side of a picture: its title and rows of cells."""

    title: str
    rows: tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True, slots=True)
class Scale:
    """What grids side by side have in common.

    Args:
        most: the size of the value with the strongest colour.
        decimals: of all their numbers.
        room: how many characters a cell has.
    """

    most: float
    decimals: int
    room: int

    def cell(self, number: Number, *, differs: bool = False, is_first: bool = False) -> Cell:
        """A value as it is shown."""
        text = cell_text(number, self.decimals, self.room)
        return Cell(text, colour_step(number, self.most), differs, is_first)


def grids(picture: Picture, room: int) -> tuple[Grid, Grid]:
    """Expected and received, in the same colours: those of the expected values.

    What counts as equal is shown as the same number, which rounding could tell apart.

    Args:
        picture: the picture.
        room: how many characters a cell has.
    """
    both = _finite(picture.expected), _finite(picture.received)
    most = _most(both[0]) or _most(both[1]) or 1.0
    scale = Scale(most, _decimals([*both[0], *both[1]], room), room)

    def grid(title: str, rows: Rows) -> Grid:
        cells = tuple(
            tuple(
                scale.cell(
                    number,
                    differs=picture.differs[row][column],
                    is_first=(row, column) == picture.first,
                )
                for column, number in enumerate(numbers)
            )
            for row, numbers in enumerate(rows)
        )
        return Grid(title, cells)

    received = tuple(
        tuple(own if differs else right for right, own, differs in zip(*row, strict=True))
        for row in zip(picture.expected, picture.received, picture.differs, strict=True)
    )
    return grid(_("expected"), picture.expected), grid(_("received"), received)


def map_grids(result: ViewResult, room: int) -> tuple[tuple[Grid, ...], ...]:
    """The heat maps of each state of a view, all in the same colours.

    Args:
        result: the view.
        room: how many characters a cell has.
    """
    numbers = [n for state in result.states for one in state for n in _finite(one.values)]
    scale = Scale(_most(numbers) or 1.0, _decimals(numbers, room), room)

    def grid(one: HeatMap) -> Grid:
        return Grid(one.title, tuple(tuple(map(scale.cell, row)) for row in one.values))

    return tuple(tuple(map(grid, state)) for state in result.states)


def window(picture: Picture, count: int) -> Picture:
    """The same with this many columns, the first difference among them."""
    axis, (row, column) = picture.columns, picture.first
    start = max(0, min(column - count // 2, len(picture.expected[0]) - count))
    seen = slice(start, start + count)
    return replace(
        picture,
        expected=tuple(numbers[seen] for numbers in picture.expected),
        received=tuple(numbers[seen] for numbers in picture.received),
        differs=tuple(marks[seen] for marks in picture.differs),
        first=(row, column - start),
        columns=replace(axis, start=axis.start + start, labels=axis.labels[seen]),
    )


def _finite(rows: Rows) -> list[float]:
    return [number for row in rows for number in row if not isinstance(number, str)]


def _most(numbers: Iterable[float]) -> float:
    """The size of the largest, 0 where there is none."""
    return max(map(abs, numbers), default=0.0)


def colour_step(number: Number, most: float) -> int | None:
    """The colour of a number: from -6 to 6, 0 for zero; None for NaN and the infinities.

    Args:
        number: the number.
        most: the size of the one with the strongest colour.
    """
    if isinstance(number, str):
        return None
    size = min(STEPS, math.ceil(abs(number) / most * STEPS - 1e-6))
    return size if number > 0 else -size


def _decimals(numbers: Sequence[float], room: int) -> int:
    """How many decimals all numbers can have in `room` characters."""
    if all(number == round(number) for number in numbers):
        return 0
    for decimals in range(MOST_DECIMALS, 0, -1):
        usual = [n for n in numbers if abs(n) < 1000]  # others are cut one by one
        if all(len(f"{number:.{decimals}f}") <= room for number in usual):
            return decimals
    return 1


def cell_text(number: Number, decimals: int, room: int) -> str:
    """A number in at most `room` characters, or as near as possible.

    Args:
        number: the number.
        decimals: how many to show where they fit.
        room: characters.
    """
    if isinstance(number, str):
        return SIGNS[number]
    if not number:
        return "0"
    text = f"{number:.{decimals}f}".replace("-", "−")
    if len(text) <= room:
        return text
    for digits in (2, 1):
        text = f"{number:.{digits}g}".replace("e+0", "e").replace("e+", "e").replace("e-0", "e-")
        if len(text) <= room:
            return text.replace("-", "−")
    return "big" if abs(number) > 1 else "0"


# Words.


def position(axis: Axis, name: str, index: int) -> str:
    """A position in words, like “row 1 (one)”; `index` counts what is shown."""
    number = axis.start + index
    if not axis.labels:
        return f"{name} {number}"
    return _("{axis} {number} ({label})").format(axis=name, number=number, label=axis.labels[index])


def _has_rows(picture: Picture) -> bool:
    return bool(picture.rows.name) or picture.rows.size > 1


def _names(picture: Picture) -> tuple[str, str]:
    """What rows and columns are called; without names, a single axis has positions."""
    column = _("column") if _has_rows(picture) else _("position")
    return picture.rows.name or _("row"), picture.columns.name or column


def _slice_words(picture: Picture) -> list[str]:
    """The positions on the axes before rows and columns."""
    axis = _("axis")
    return [f"{name or axis} {number}" for name, number in picture.slice]


def first_location(picture: Picture) -> str:
    """Where the first difference is, in words."""
    row, column = picture.first
    of_rows, of_columns = _names(picture)
    places = _slice_words(picture)
    if _has_rows(picture):
        places.append(position(picture.rows, of_rows, row))
    return listed((*places, position(picture.columns, of_columns, column)))


def first_difference(picture: Picture) -> str:
    """Where the first difference is and what it is, in words."""
    row, column = picture.first
    return _("{place}: expected {expected}, received {received}").format(
        place=first_location(picture),
        expected=_word(picture.expected[row][column]),
        received=_word(picture.received[row][column]),
    )


def _word(number: Number) -> str:
    return number if isinstance(number, str) else f"{number:.4g}"


def cut_words(picture: Picture) -> str:
    """Which part of the tensors is shown; empty where it is all of them."""
    parts = _slice_words(picture)
    shown = (len(picture.expected), len(picture.expected[0]))
    sides = (picture.rows, picture.columns)
    for axis, name, count in zip(sides, _names(picture), shown, strict=True):
        if count < axis.size:
            parts.append(
                _("{axis} {first} to {last} of {size}").format(
                    axis=name,
                    first=axis.start,
                    last=axis.start + count - 1,
                    size=axis.size,
                )
            )
    return listed(parts)


def axis_labels(axis: Axis, count: int) -> tuple[str, ...]:
    """The label of each position: its word, or its number."""
    return axis.labels or tuple(str(axis.start + index) for index in range(count))


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


def cells(map_: Map) -> Iterator[list[Cell]]:
    """The cells of a map, row by row."""
    finite = [abs(n) for row in map_.values for n in row if n is not None and math.isfinite(n)]
    scale = Scale(map_.most or _most(finite) or 1.0, map_.decimals, ROOM)
    for row in map_.values:
        shown = (n if n is None or math.isfinite(n) else str(n) for n in row)
        yield [Cell("", None) if n is None else scale.cell(n) for n in shown]


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
