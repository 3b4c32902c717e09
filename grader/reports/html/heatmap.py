"""What a picture on a page shows; `heatmap.svg.j2` has the position of every part."""

from dataclasses import dataclass, replace

from grader.core.language import _, ngettext, paragraph
from grader.core.records import Picture
from grader.core.text import display_width as width_of
from grader.feedback.picture_layout import (
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
    """The lengths of a panel, in the user units of the SVG.

    Args:
        width: of a cell.
        height: of a cell.
        room: how many characters fit into a cell.
        gap: between two cells.
        radius: of a cell's corners.
        corner: the side of the mark on a value that differs.
        baseline: from the middle of a cell down to the foot of its text.
        character: the width of a label's character; a Chinese or Japanese one takes two.
        label: between the cells and a label.
        margin: beside the labels of the rows, on both sides together.
        axis: from the top down to the foot of the axes' names.
        head: above the cells.
        head_with_axes: above the cells where an axis has a name.
    """

    width: int
    height: int
    room: int
    gap: int = 2
    radius: int = 3
    corner: int = 7
    baseline: int = 4
    character: float = 6.6
    label: int = 7
    margin: int = 10
    axis: int = 12
    head: int = 20
    head_with_axes: int = 34


LARGE = Sizes(48, 30, 6)
SMALL = Sizes(37, 26, 5)


@dataclass(frozen=True, slots=True)
class Panel:
    """One SVG.

    Args:
        title: what a reader hears first.
        heading: what is written above it; "" for nothing.
        description: what it shows, for readers who cannot see it.
        sizes: its lengths.
        axes: the names of rows and columns, with an arrow.
        rows: the label beside each row.
        columns: the label above each column.
        cells: the values, row by row.
        is_marked: whether cells that differ have a mark.
        is_small: whether its cells are small.
    """

    title: str
    heading: str
    description: str
    sizes: Sizes
    axes: tuple[str, str]
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: tuple[tuple[Cell, ...], ...]
    is_marked: bool
    is_small: bool

    @property
    def left(self) -> int:
        """The length before the cells."""
        widest = max(map(width_of, (*self.rows, self.axes[0])))
        return round(widest * self.sizes.character) + self.sizes.margin


@dataclass(frozen=True, slots=True)
class Figure:
    """A picture, ready for a page.

    Args:
        panels: expected and received, or both in one.
        heading: what was compared, and which part of it is shown.
        cut: that part; "" where it is all.
        first: where the first difference is, in words.
        source: where the expected values are printed.
        is_wide: whether it may be wider than a phone.
    """

    panels: tuple[Panel, ...]
    heading: str
    cut: str
    first: str
    source: str
    is_wide: bool


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
    cut = cut_words(picture)
    return Figure(
        panels=tuple(_panel(picture, grid, sizes, beside, marks) for grid, beside, marks in shown),
        heading=f"{picture.what}: {cut}" if cut else picture.what,
        cut=cut,
        first=first_location(picture),
        source=picture.source,
        is_wide=sizes is SMALL,
    )


def _panel(
    picture: Picture, grid: Grid, sizes: Sizes, rows: tuple[str, ...], is_marked: bool
) -> Panel:
    return Panel(
        title=grid.title or _("expected and received"),
        heading=grid.title,
        description=_description(picture),
        sizes=sizes,
        axes=(
            f"{picture.rows.name} ↓" if picture.rows.name else "",
            f"{picture.columns.name} →" if picture.columns.name else "",
        ),
        rows=rows,
        columns=axis_labels(picture.columns, len(picture.expected[0])),
        cells=grid.rows,
        is_marked=is_marked,
        is_small=sizes is SMALL,
    )


def _description(picture: Picture) -> str:
    values = [value for row in picture.differs for value in row]
    differ = ngettext(
        "{count} of {total} values differs.", "{count} of {total} values differ.", sum(values)
    ).format(count=sum(values), total=len(values))
    first = _("First difference at {place}.").format(place=first_difference(picture))
    return paragraph((differ, first))
