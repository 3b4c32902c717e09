"""What a view on a page shows; `view.html.j2` has the position of every part."""

from dataclasses import dataclass

from grader.core.language import listed
from grader.core.views import HeatMap, ViewResult
from grader.judging.picture_layout import Grid, map_grids
from grader.reports.html.heatmap import LARGE, SMALL, WIDE, Panel, Sizes


@dataclass(frozen=True, slots=True)
class MapFigure:
    """A heat map, ready for a page.

    Args:
        panel: the map itself.
        sizes: of its cells.
        axes: the names of its rows and of its columns.
        columns: the label above each column.
        description: its numbers, for readers who cannot see it.
    """

    panel: Panel
    sizes: Sizes
    axes: tuple[str, str]
    columns: tuple[str, ...]
    description: str

    @property
    def is_wide(self) -> bool:
        """Whether its cells are small, and it may be wider than a phone all the same."""
        return self.sizes is SMALL


@dataclass(frozen=True, slots=True)
class State:
    """What is shown for one setting of the sliders, in words and as figures."""

    setting: str
    figures: tuple[MapFigure, ...]


@dataclass(frozen=True, slots=True)
class ViewFigure:
    """A view, ready for a page."""

    result: ViewResult
    look: str
    states: tuple[State, ...]


def view_figure(result: ViewResult) -> ViewFigure:
    """Everything a page needs to show a view."""
    widths = [len(one.values[0]) for state in result.states for one in state]
    sizes = LARGE if max(widths, default=0) <= WIDE else SMALL
    states = tuple(
        State(
            result.setting_words(number),
            tuple(_figure(one, grid, sizes) for one, grid in zip(maps, grids, strict=True)),
        )
        for number, (maps, grids) in enumerate(
            zip(result.states, map_grids(result, sizes.room), strict=True)
        )
    )
    return ViewFigure(result, result.look_words, states)


def _figure(one: HeatMap, grid: Grid, sizes: Sizes) -> MapFigure:
    names = one.rows.labels or ("",)
    lines = [listed(cell.text for cell in cells) for cells in grid.rows]
    said = "; ".join(f"{n}: {line}" if n else line for n, line in zip(names, lines, strict=True))
    panel = Panel(one.title, names, grid.rows, is_marked=False)
    return MapFigure(panel, sizes, (one.rows.name, one.columns.name), one.columns.labels, said)
