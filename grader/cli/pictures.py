"""A picture, or a view, on a terminal: numbers side by side, in colour where there is colour."""

import re
from dataclasses import dataclass

from rich.cells import cell_len, set_cell_size
from rich.console import Console, ConsoleOptions, RenderResult
from rich.style import Style
from rich.text import Text

from grader.core.language import _, bracketed
from grader.core.records import Picture
from grader.core.views import ViewResult
from grader.judging.picture_layout import (
    STEPS,
    Cell,
    Grid,
    axis_labels,
    cut_words,
    first_location,
    grids,
    map_grids,
    window,
)

COLUMNS = 80
"""No picture is wider, however wide the terminal."""

BETWEEN = 3
"""Columns between expected and received."""

WIDEST = 8
"""The most characters of a number: 4 decimals and a sign."""

NARROWEST = 4
"""The fewest characters of a number: with less room, fewer columns are shown."""

LEAST = 2
"""The narrowest that ones and zeros are shown."""

BLUES = ("#e3eef8", "#c6dbef", "#9ecae1", "#6baed6", "#2a76b5", "#134c87")
ORANGES = ("#fdeee0", "#fbd9b9", "#f6bb85", "#ec9a50", "#b35614", "#7f3a08")
ZERO, NO_NUMBER = "#f3f2ef", "#b9b4aa"
DARK, LIGHT = "#17202a", "#ffffff"

IN_ASCII = str.maketrans("−∞…", "-I.")
INFINITE = re.compile(r"  (−?)∞")
"""An infinity, with the room before it that its name needs in ASCII."""


def render_picture(picture: Picture, out: Console, indent: int) -> list[Text]:
    """The lines of a picture, at most 80 columns wide with the indent.

    Args:
        picture: what to show.
        out: the terminal, which decides on width, colours and characters.
        indent: the columns that stay free before each line.
    """
    columns = min(COLUMNS, out.width) - indent
    has_colour = out.color_system in ("256", "truecolor")
    is_ascii = not out.encoding.lower().startswith("utf")
    picture = _fitting(picture, columns)
    draw = _vector if len(picture.expected) == 1 else _matrices
    lines = draw(picture, columns, has_colour=has_colour)
    cut = cut_words(picture)
    if cut:
        lines.insert(0, Text(bracketed(cut), style="dim"))
    location = first_location(picture)
    lines.append(Text(_("[ ] first difference: {place}").format(place=location), style="dim"))
    if picture.source:
        source = _("The expected values are {place}.").format(place=picture.source)
        lines.append(Text(source, style="dim"))
    return [_plain(line) if is_ascii else line for line in lines]


@dataclass(frozen=True, slots=True)
class Maps:
    """The heat maps of one state of a view, one below the other.

    Args:
        state: its number.
        indent: the columns that stay free before each line.
    """

    result: ViewResult
    state: int
    indent: int

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """The lines; the terminal decides on width, colours and characters."""
        for line in _map_lines(self.result, self.state, console, self.indent):
            yield Text(" " * self.indent).append_text(line)


def _map_lines(result: ViewResult, state: int, out: Console, indent: int) -> list[Text]:
    columns = min(COLUMNS, out.width) - indent
    has_colour = out.color_system in ("256", "truecolor")
    lines = []
    for place, heat_map in enumerate(result.states[state]):
        beside, above = heat_map.rows.labels or ("",), heat_map.columns.labels
        width = max(map(cell_len, (heat_map.rows.name and f"{heat_map.rows.name} ↓", *beside)))
        room = max(NARROWEST, min(WIDEST, (columns - width - 1) // len(above) - 1))
        grid = map_grids(result, room)[state][place]
        if heat_map.title:
            lines.append(Text(heat_map.title, style="bold"))
        if heat_map.rows.name or heat_map.columns.name:
            sides = (heat_map.rows.name and f"{heat_map.rows.name} ↓", heat_map.columns.name)
            head = f"{_right(sides[0], width)} {sides[1]} →" if sides[1] else sides[0]
            lines.append(Text(head, style="dim"))
        lines.append(Text(" " * width + _head(above, room), style="dim"))
        for label, cells in zip(beside, grid.rows, strict=True):
            row = _row(cells, room, has_colour=has_colour)
            lines.append(Text(_right(label, width)).append_text(row))
    is_ascii = not out.encoding.lower().startswith("utf")
    return [_plain(line) if is_ascii else line for line in lines]


def _plain(line: Text) -> Text:
    """A line without characters that a Windows code page may lack."""
    text = INFINITE.sub(r"\1inf", line.plain).translate(IN_ASCII)
    plain = Text(text, style=line.style)
    for span in line.spans:
        plain.stylize(span.style, span.start, span.end)
    return plain


def _fitting(picture: Picture, columns: int) -> Picture:
    """As many columns around the first difference as leave room to see that it is one."""
    counts = range(len(picture.expected[0]), 0, -1)
    fitting = [cut for n in counts if _room(cut := window(picture, n), columns) >= NARROWEST]
    fitting = fitting or [window(picture, 1)]
    telling = (cut for cut in fitting if _is_telling(cut, _room(cut, columns)))
    return next(telling, fitting[0])


def _is_telling(picture: Picture, room: int) -> bool:
    """Whether the numbers at the first difference look different in this room."""
    row, column = picture.first
    expected, received = (grid.rows[row][column].text for grid in grids(picture, room))
    return expected != received


def _room(picture: Picture, columns: int) -> int:
    """The characters there are for each number."""
    count = len(picture.expected[0])
    if len(picture.expected) == 1:
        beside = max(cell_len(grid.title) for grid in grids(picture, WIDEST))
        return min(WIDEST, (columns - beside - 1) // count - 1)
    beside = max(map(cell_len, axis_labels(picture.rows, len(picture.expected))))
    # Each row of a side is a column wider than its cells, for the bracket at its end.
    return min(WIDEST, (columns - beside - BETWEEN - 2) // (2 * count) - 1)


def _vector(picture: Picture, columns: int, *, has_colour: bool) -> list[Text]:
    """Expected above received, so that values to compare are in one column."""
    count = len(picture.expected[0])
    titles = [grid.title for grid in grids(picture, WIDEST)]
    beside = max(map(cell_len, titles))
    room = _room(picture, columns)
    both = grids(picture, room)
    head = " " * beside + _head(axis_labels(picture.columns, count), room)
    return [
        Text(head.rstrip(), style="dim"),
        *(
            Text(_right(title, beside), style="bold").append_text(
                _row(grid.rows[0], room, has_colour=has_colour)
            )
            for title, grid in zip(titles, both, strict=True)
        ),
    ]


def _matrices(picture: Picture, columns: int, *, has_colour: bool) -> list[Text]:
    """Side by side, with all the room there is for each number."""
    count = len(picture.expected[0])
    above = axis_labels(picture.columns, count)
    beside = axis_labels(picture.rows, len(picture.expected))
    width = max(map(cell_len, beside))
    room = _room(picture, columns)
    sides: tuple[Grid, Grid] = grids(picture, room)
    longest = max(len(cell.text) for grid in sides for row in grid.rows for cell in row)
    room = max(longest, LEAST, min(room, NARROWEST, max(map(len, above))))
    longest_title = max(1 + cell_len(grid.title) for grid in sides)
    across = max(count * (room + 1) + 1, min(longest_title, (columns - width - BETWEEN) // 2))
    gap = " " * BETWEEN
    titles = gap.join(set_cell_size(f" {grid.title}", across) for grid in sides)
    head = set_cell_size(_head(above, room), across - 1)
    lines = [
        Text(" " * width + titles.rstrip(), style="bold"),
        Text(f"{' ' * width}{head} {gap}{head}".rstrip(), style="dim"),
    ]
    for number, label in enumerate(beside):
        line = Text(_right(label, width))
        for side, grid in enumerate(sides):
            if side:
                line.pad_right(width + across - line.cell_len)
                line.append(gap)
            line.append_text(_row(grid.rows[number], room, has_colour=has_colour))
        lines.append(line)
    return lines


def _head(words: tuple[str, ...], room: int) -> str:
    return "".join(f" {_right(word, room)}" for word in words)


def _right(text: str, width: int) -> str:
    """A text at the right of `width` columns, cut where it is wider."""
    return " " * (width - cell_len(text)) + set_cell_size(text, min(width, cell_len(text)))


def _row(cells: tuple[Cell, ...], room: int, *, has_colour: bool) -> Text:
    """The cells of a row, brackets around the first difference."""
    line = Text()
    follows = False
    for cell in cells:
        before = "[" if cell.is_first else "]" if follows else " "
        style = _style(cell) if has_colour else Style()
        line.append(before, style + Style(bold=True))
        line.append(f"{cell.text:>{room}}", style)
        follows = cell.is_first
    return line.append("]", style="bold") if follows else line


def _style(cell: Cell) -> Style:
    """The colours of a cell, which are readable on any terminal because both are given."""
    if cell.step is None:
        return Style(color=DARK, bgcolor=NO_NUMBER, bold=True)
    if not cell.step:
        return Style(color=DARK, bgcolor=ZERO)
    palette = BLUES if cell.step > 0 else ORANGES
    size = abs(cell.step)
    ink = LIGHT if size > STEPS - 2 else DARK
    return Style(color=ink, bgcolor=palette[size - 1])
