"""What a picture and a view show on a page; `heatmap.svg.j2` has the position of every part."""

from dataclasses import dataclass, replace

from grader.core.language import _, listed, ngettext, paragraph
from grader.core.records import Picture
from grader.core.views import HeatMap, ViewResult
from grader.judging.picture_layout import (
    Cell,
    Grid,
    axis_labels,
    first_difference,
    grids,
    map_grids,
)

WIDE = 8
"""With more columns than this, cells are small."""

ROOM = {False: 6, True: 5}
"""How many characters fit into a cell, and into a small one."""


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
    """A picture or a heat map, ready for a page.

    Args:
        panels: of a picture expected and received, or both in one.
        is_wide: whether their cells are small, and it may be wider than a phone all the same.
        axes: the names of its rows and of its columns.
        columns: the label above each column.
        description: what it shows, for readers who cannot see it.
        picture: what the panels show; None for a heat map.
    """

    panels: tuple[Panel, ...]
    is_wide: bool
    axes: tuple[str, str]
    columns: tuple[str, ...]
    description: str
    picture: Picture | None = None


def figure(picture: Picture) -> Figure:
    """Everything a page needs to show a picture."""
    is_wide = len(picture.expected[0]) > WIDE
    expected, received = grids(picture, ROOM[is_wide])
    rows = axis_labels(picture.rows, len(picture.expected))
    shown = [(expected, rows, False), (received, rows, True)]
    if len(picture.expected) == 1:  # one above the other, with marks below only
        unmarked = tuple(replace(cell, differs=False) for cell in expected.rows[0])
        titles = (expected.title, received.title)
        shown = [(Grid("", (unmarked, *received.rows)), titles, True)]
    return Figure(
        tuple(Panel(grid.title, labels, grid.rows, marked) for grid, labels, marked in shown),
        is_wide,
        (picture.rows.name, picture.columns.name),
        axis_labels(picture.columns, len(picture.expected[0])),
        _description(picture),
        picture,
    )


def _description(picture: Picture) -> str:
    values = [value for row in picture.differs for value in row]
    differ = ngettext(
        "{count} of {total} values differs.", "{count} of {total} values differ.", sum(values)
    ).format(count=sum(values), total=len(values))
    first = _("First difference at {place}.").format(place=first_difference(picture))
    return paragraph((differ, first))


@dataclass(frozen=True, slots=True)
class ViewFigure:
    """A view, ready for a page.

    Args:
        states: for each setting of the sliders, the setting in words and what is shown.
    """

    result: ViewResult
    look: str
    states: tuple[tuple[str, tuple[Figure, ...]], ...]


def view_figure(result: ViewResult) -> ViewFigure:
    """Everything a page needs to show a view."""
    is_wide = any(len(one.values[0]) > WIDE for state in result.states for one in state)
    grids_of_states = zip(result.states, map_grids(result, ROOM[is_wide]), strict=True)
    states = tuple(
        (
            result.setting_words(number),
            tuple(_map_figure(*pair, is_wide) for pair in zip(maps, grids, strict=True)),
        )
        for number, (maps, grids) in enumerate(grids_of_states)
    )
    return ViewFigure(result, result.look_words, states)


def _map_figure(one: HeatMap, grid: Grid, is_wide: bool) -> Figure:
    names = one.rows.labels or ("",)
    lines = [listed(cell.text for cell in cells) for cells in grid.rows]
    said = "; ".join(f"{n}: {line}" if n else line for n, line in zip(names, lines, strict=True))
    panel = Panel(one.title, names, grid.rows, is_marked=False)
    return Figure((panel,), is_wide, (one.rows.name, one.columns.name), one.columns.labels, said)
