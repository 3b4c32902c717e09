"""What a picture on a page shows; `heatmap.svg.j2` has the position of every part."""

from dataclasses import dataclass, replace

from grader.core.language import _, ngettext, paragraph
from grader.core.records import Picture
from grader.judging.picture_layout import (
    Cell,
    Grid,
    axis_labels,
    cut_words,
    first_difference,
    first_location,
    grids,
)

WIDE = 8
"""With more columns than this, cells are small."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """The width and height of a cell in the units of the SVG, and how many characters fit in."""

    width: int
    height: int
    room: int


LARGE = Sizes(48, 30, 6)
SMALL = Sizes(37, 26, 5)


@dataclass(frozen=True, slots=True)
class Panel:
    """One SVG.

    Args:
        heading: what is written above it; "" for nothing.
        rows: the label beside each row.
        cells: the values, row by row.
        is_marked: whether cells that differ have a mark.
    """

    heading: str
    rows: tuple[str, ...]
    cells: tuple[tuple[Cell, ...], ...]
    is_marked: bool


@dataclass(frozen=True, slots=True)
class Figure:
    """A picture, ready for a page.

    Args:
        panels: expected and received, or both in one.
        picture: what they show.
        sizes: of their cells.
        columns: the label above each column.
        description: what it shows, for readers who cannot see it.
        cut: which part is shown; "" where it is all.
        first: where the first difference is, in words.
    """

    panels: tuple[Panel, ...]
    picture: Picture
    sizes: Sizes
    columns: tuple[str, ...]
    description: str
    cut: str
    first: str

    @property
    def axes(self) -> tuple[str, str]:
        """The names of its rows and of its columns."""
        return self.picture.rows.name, self.picture.columns.name

    @property
    def is_wide(self) -> bool:
        """Whether its cells are small, and it may be wider than a phone all the same."""
        return self.sizes is SMALL


def figure(picture: Picture) -> Figure:
    """Everything a page needs to show a picture."""
    sizes = LARGE if len(picture.expected[0]) <= WIDE else SMALL
    expected, received = grids(picture, sizes.room)
    rows = axis_labels(picture.rows, len(picture.expected))
    shown = [(expected, rows, False), (received, rows, True)]
    if len(picture.expected) == 1:  # one above the other, with marks below only
        unmarked = tuple(replace(cell, differs=False) for cell in expected.rows[0])
        titles = (expected.title, received.title)
        shown = [(Grid("", (unmarked, *received.rows)), titles, True)]
    return Figure(
        tuple(Panel(grid.title, labels, grid.rows, marked) for grid, labels, marked in shown),
        picture,
        sizes,
        axis_labels(picture.columns, len(picture.expected[0])),
        _description(picture),
        cut_words(picture),
        first_location(picture),
    )


def _description(picture: Picture) -> str:
    values = [value for row in picture.differs for value in row]
    differ = ngettext(
        "{count} of {total} values differs.", "{count} of {total} values differ.", sum(values)
    ).format(count=sum(values), total=len(values))
    first = _("First difference at {place}.").format(place=first_difference(picture))
    return paragraph((differ, first))
