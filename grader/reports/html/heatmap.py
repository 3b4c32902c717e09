"""A picture as SVG: where every cell, label and mark stands, in the user units of the SVG."""

from dataclasses import dataclass, replace
from itertools import starmap

from markupsafe import Markup, escape

from grader.core.language import _, ngettext, paragraph
from grader.core.records import Picture
from grader.core.text import display_width as width_of
from grader.feedback.picture_layout import (
    Cell,
    Grid,
    cut_words,
    first_difference,
    first_place,
    grids,
    labels,
)

WIDE = 8
"""With more columns than this, cells are small."""

GAP = 2
CHARACTER = 6.6
"""The width of a label's character; a Chinese or Japanese one has two."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """How large a cell is, and how many characters fit into it."""

    width: int
    height: int
    room: int


LARGE = Sizes(48, 30, 6)
SMALL = Sizes(37, 26, 5)


@dataclass(frozen=True, slots=True)
class Panel:
    """One SVG.

    Args:
        title: what a reader hears first.
        heading: what is written above it.
        svg: the whole element.
    """

    title: str
    heading: str
    svg: Markup


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
    columns = labels(picture.columns, len(picture.expected[0]))
    if len(picture.expected) == 1:
        unmarked = tuple(replace(cell, differs=False) for cell in expected.rows[0])
        both = Grid("", (unmarked, *received.rows))
        titles = (expected.title, received.title)
        panels: tuple[Panel, ...] = (_panel(picture, both, sizes, titles, columns, marks=True),)
    else:
        rows = labels(picture.rows, len(picture.expected))
        panels = tuple(
            _panel(picture, grid, sizes, rows, columns, marks=grid is received)
            for grid in (expected, received)
        )
    cut = cut_words(picture)
    return Figure(
        panels=panels,
        heading=f"{picture.what}: {cut}" if cut else picture.what,
        cut=cut,
        first=first_place(picture),
        source=picture.source,
        is_wide=sizes is SMALL,
    )


def _panel(
    picture: Picture,
    grid: Grid,
    sizes: Sizes,
    rows: tuple[str, ...],
    columns: tuple[str, ...],
    *,
    marks: bool,
) -> Panel:
    """A grid with its labels; `marks` says whether cells that differ have a mark."""
    axes = tuple(
        f"{axis.name} {arrow}" if axis.name else ""
        for axis, arrow in ((picture.rows, "↓"), (picture.columns, "→"))
    )
    left = round(max(map(width_of, (*rows, axes[0]))) * CHARACTER) + 10
    top = 34 if any(axes) else 20
    across, down = sizes.width + GAP, sizes.height + GAP
    title = grid.title or _("expected and received")
    cells = "".join(
        _cell(cell, left + column * across, top + row * down, sizes, marks=marks)
        for row, line in enumerate(grid.rows)
        for column, cell in enumerate(line)
    )
    middle = left + sizes.width / 2
    words = (
        ("axis", [(0, 12, axes[0]), (left + 1, 12, axes[1])]),
        ("column", [(middle + n * across, top - 7, text) for n, text in enumerate(columns)]),
        (
            "beside",
            [(left - 7, top + n * down + sizes.height / 2 + 4, t) for n, t in enumerate(rows)],
        ),
    )
    labels_ = "".join(
        f'<g class="{css}">{"".join(starmap(_label, placed))}</g>' for css, placed in words
    )
    width, height = left + len(columns) * across + 1, top + len(grid.rows) * down + 1
    small = "" if sizes is LARGE else ' class="small"'
    svg = (
        f'<svg role="img"{small} width="{width}" height="{height}" viewBox="0 0 {width} {height}">'
        f"<title>{escape(title)}</title><desc>{escape(_description(picture))}</desc>"
        f"{labels_}{cells}</svg>"
    )
    return Panel(title, grid.title, Markup(svg))


def _label(x: float, y: float, text: str) -> str:
    return f'<text x="{x:g}" y="{y:g}">{escape(text)}</text>' if text else ""


def _cell(cell: Cell, x: int, y: int, sizes: Sizes, *, marks: bool) -> str:
    """A cell's colour, number and marks."""
    box = f'x="{x}" y="{y}" width="{sizes.width}" height="{sizes.height}" rx="3"'
    middle, base = x + sizes.width / 2, y + sizes.height / 2 + 4
    parts = [
        f'<g class="cell {_css(cell)}"><rect {box}/>'
        f'<text x="{middle:g}" y="{base:g}">{escape(cell.text)}</text></g>'
    ]
    if cell.differs and marks:
        parts.append(f'<path class="corner" d="M{x + sizes.width - 7} {y}h7v7z"/>')
    if cell.is_first:
        parts.append(f'<rect class="first" {box}/>')
    return "".join(parts)


def _description(picture: Picture) -> str:
    """What the picture shows, for who cannot see it."""
    shown = [value for row in picture.differs for value in row]
    differ = ngettext(
        "{count} of {total} values differs.", "{count} of {total} values differ.", sum(shown)
    ).format(count=sum(shown), total=len(shown))
    first = _("First difference at {place}.").format(place=first_difference(picture))
    return paragraph((differ, first))


def _css(cell: Cell) -> str:
    if cell.step is None:
        return "hx"
    return "h0" if not cell.step else f"{'hp' if cell.step > 0 else 'hn'}{abs(cell.step)}"
