"""A picture as SVG: where every cell, label and mark stands, in the user units of the SVG."""

from dataclasses import dataclass

from grader.drawing import Cell, Grid, cut_words, first_difference, grids, labels
from grader.language import _, ngettext
from grader.model import Picture

WIDE = 8
"""With more columns than this, cells are small."""

GAP = 2
CHARACTER = 6.6
"""The width of a label's character."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """How large a cell is, and how many characters fit into it."""

    width: int
    height: int
    room: int


LARGE = Sizes(48, 30, 6)
SMALL = Sizes(37, 26, 5)


@dataclass(frozen=True, slots=True)
class Box:
    """One cell in its place."""

    x: float
    y: float
    css: str
    cell: Cell


@dataclass(frozen=True, slots=True)
class Label:
    """A word beside a row or above a column."""

    x: float
    y: float
    text: str


@dataclass(frozen=True, slots=True)
class Panel:
    """One SVG.

    Args:
        title: what a reader hears first.
        description: what it shows, in words.
        heading: what is written above it.
        is_large: whether its cells are.
    """

    title: str
    description: str
    heading: str
    width: float
    height: float
    cell: Sizes
    boxes: tuple[Box, ...]
    columns: tuple[Label, ...]
    rows: tuple[Label, ...]
    axes: tuple[Label, ...]

    @property
    def is_large(self) -> bool:
        """Whether its cells are large."""
        return self.cell is LARGE


@dataclass(frozen=True, slots=True)
class Figure:
    """A picture, ready for a page.

    Args:
        panels: expected and received, or both in one.
        heading: what was compared, and which part of it is shown.
        first: the first difference in words.
        source: where the expected values are printed.
        is_wide: whether it may be wider than a phone.
    """

    panels: tuple[Panel, ...]
    heading: str
    first: str
    source: str
    is_wide: bool


def figure(picture: Picture) -> Figure:
    """Everything a page needs to show a picture."""
    sizes = LARGE if len(picture.expected[0]) <= WIDE else SMALL
    expected, received = grids(picture, sizes.room)
    columns = labels(picture.columns, len(picture.expected[0]))
    if len(picture.expected) == 1:
        both = Grid("", (*expected.rows, *received.rows))
        panels = (_panel(picture, both, sizes, (expected.title, received.title), columns),)
    else:
        rows = labels(picture.rows, len(picture.expected))
        panels = tuple(
            _panel(picture, grid, sizes, rows, columns) for grid in (expected, received)
        )
    cut = cut_words(picture)
    return Figure(
        panels=panels,
        heading=f"{picture.what}: {cut}" if cut else picture.what,
        first=first_difference(picture),
        source=picture.source,
        is_wide=sizes is SMALL,
    )


def _panel(
    picture: Picture, grid: Grid, sizes: Sizes, rows: tuple[str, ...], columns: tuple[str, ...]
) -> Panel:
    row_axis = f"{picture.rows.name} ↓" if picture.rows.name else ""
    column_axis = f"{picture.columns.name} →" if picture.columns.name else ""
    left = max(len(text) for text in (*rows, row_axis)) * CHARACTER + 10
    top = 34 if column_axis or row_axis else 20
    boxes = tuple(
        Box(
            left + column * (sizes.width + GAP),
            top + row * (sizes.height + GAP),
            _css(cell),
            cell,
        )
        for row, cells in enumerate(grid.rows)
        for column, cell in enumerate(cells)
    )
    width = left + len(columns) * (sizes.width + GAP) + 1
    return Panel(
        title=grid.title or _("expected and received"),
        description=_description(picture),
        heading=grid.title,
        width=width,
        height=top + len(grid.rows) * (sizes.height + GAP) + 1,
        cell=sizes,
        boxes=boxes,
        columns=tuple(
            Label(left + number * (sizes.width + GAP) + sizes.width / 2, top - 7, text)
            for number, text in enumerate(columns)
        ),
        rows=tuple(
            Label(left - 7, top + number * (sizes.height + GAP) + sizes.height / 2 + 4, text)
            for number, text in enumerate(rows)
        ),
        axes=(Label(0, 12, row_axis), Label(left + 1, 12, column_axis)),
    )


def _css(cell: Cell) -> str:
    if cell.step is None:
        return "hx"
    return "h0" if not cell.step else f"{'hp' if cell.step > 0 else 'hn'}{abs(cell.step)}"


def _description(picture: Picture) -> str:
    """What the picture shows, for who cannot see it."""
    shown = [value for row in picture.differs for value in row]
    differ = ngettext(
        "{count} of {total} values differs.", "{count} of {total} values differ.", sum(shown)
    ).format(count=sum(shown), total=len(shown))
    first = _("First difference at {place}.").format(place=first_difference(picture))
    return f"{differ} {first}"
