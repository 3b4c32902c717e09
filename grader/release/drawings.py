"""The picture of an assignment, as lines of text for the comments of a `.py` file and as SVG.

The SVG is one file for light and dark, without scripts and fonts. Lengths are in its units; on a
phone one of them is about a pixel.
"""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from grader.core.text import display_width, filled
from grader.course.drawing import Box, Drawing, Map, Step
from grader.judging.picture_layout import (
    Arrow,
    Placed,
    arrows,
    cells,
    headings,
    placed,
    sum_texts,
)
from grader.reports.html.pages import environment

COLUMNS = 76
"""The width of a picture in characters."""

AIR = 2
"""Lines for an arrow above a row of panels, and columns between panels."""

EMPTY, MARKS, NO_MARKS = "·", ("[", "]"), (" ", " ")


WIDTH, MARGIN, GAP = 360, 14, 8
"""Of the picture; free at its sides; between panels."""

INNER = WIDTH - 2 * MARGIN
LINE, ADVANCE, CODE_ADVANCE, TITLE_ADVANCE = 16, 6.6, 7.0, 8.6
"""From one line of text to the next; how wide a character is, about, of text, code and titles."""

CELL, MOST_ACROSS = 24, 52
"""The height of a cell, and its greatest width."""

GROUPS = (3, -3, 1, -1)
"""The colours of groups of columns, as steps."""

ARROW, POINT = 30, 6
"""The length of an arrow between rows, and of its point."""


def drawing_text(drawing: Drawing) -> list[str]:
    """A drawing in lines of at most 76 columns."""
    panels = placed(drawing)
    found = arrows(panels)
    lines = [*filled(_plain(drawing.title), COLUMNS), ""]
    for number, row in enumerate(drawing.rows):
        if isinstance(row, Step):
            lines += [_centred(line, COLUMNS) for line in (*filled(_plain(row.text), COLUMNS), "↓")]
            continue
        own = [panel for panel in panels if panel.row == number]
        through = [arrow for arrow in found if arrow.source.row < number <= arrow.target.row]
        if through:
            lines += [_line(_strokes(through, "│")), _line(_heads(through, number))]
        elif lines[-1] and lines[-1].strip() != "↓":
            lines.append("")
        lines += _row(own, [arrow for arrow in through if arrow.target.row > number])
    if drawing.caption:
        lines += ["", *filled(_plain(drawing.caption), COLUMNS)]
    return [line.rstrip() for line in lines]


def _row(own: list[Placed], passing: list[Arrow]) -> Iterator[str]:
    """The lines of panels side by side, and of the arrows that pass them."""
    height = max(len(list(_block(panel, 0))) for panel in own)
    blocks = [(panel, list(_block(panel, height))) for panel in own]
    for number in range(height):
        parts = dict(_strokes(passing, "│"))
        for panel, block in blocks:
            if number < len(block):
                parts[_column(panel.start)] = block[number]
        yield _line(parts)


def _column(share: Fraction) -> int:
    return int((COLUMNS + AIR) * share)


def _strokes(through: list[Arrow], sign: str) -> dict[int, str]:
    return {_column(arrow.at) - 1: sign for arrow in through}


def _heads(through: list[Arrow], row: int) -> dict[int, str]:
    """The line right above a row: arrows that end there have a point."""
    return {_column(arrow.at) - 1: "▼" if arrow.target.row == row else "│" for arrow in through}


def _line(parts: dict[int, str]) -> str:
    """Texts at their columns."""
    line = ""
    for column, text in sorted(parts.items()):
        line += " " * (column - display_width(line)) + text
    return line


def _block(one: Placed, height: int) -> Iterator[str]:
    """The lines of a panel, as wide as its share; a box has at least `height` of them."""
    width = _column(one.end) - _column(one.start) - AIR
    if isinstance(one.panel, Box):
        yield from _box(one.panel, width, height)
    else:
        yield from _map(one.panel, width)


def _centred(text: str, width: int) -> str:
    free = max(0, width - display_width(text))
    return f"{' ' * (free // 2)}{text}{' ' * (free - free // 2)}"


def _right(text: str, width: int) -> str:
    return " " * (width - display_width(text)) + text


def _plain(text: str) -> str:
    """A text without the backticks of code."""
    return text.replace("`", "")


def _box(box: Box, width: int, height: int) -> Iterator[str]:
    texts = (_plain(box.name), box.shape, _plain(box.note))
    lines = [line for text in texts if text for line in filled(text, width - 4)]
    lines += [""] * (height - 2 - len(lines))
    yield f"┌{'─' * (width - 2)}┐"
    yield from (f"│{_centred(line, width - 2)}│" for line in lines)
    yield f"└{'─' * (width - 2)}┘"


def _map(map_: Map, width: int) -> Iterator[str]:
    beside = max(map(display_width, map_.rows), default=0)
    rows = list(cells(map_))
    texts = [cell.text for row in rows for cell in row]
    across = min(_across(map_, texts), (width - beside) // len(rows[0]))
    yield from filled(_plain(map_.name), width)
    yield from filled(map_.shape, width) if map_.shape else ()
    yield from _above(map_, " " * beside, across)
    sums = sum_texts(map_) if map_.sums else [""] * len(rows)
    for number, row in enumerate(rows):
        label = map_.rows[number] if map_.rows else ""
        line = label + " " * (beside - display_width(label))
        for column, cell in enumerate(row):
            left, right = MARKS if (number, column) in map_.marked else NO_MARKS
            line += _right(f"{left}{cell.text or EMPTY}{right}", across)
        yield f"{line}  {sums[number]}"
    yield from filled(_plain(map_.note), width) if map_.note else ()


def _across(map_: Map, texts: list[str]) -> int:
    """The columns that each cell of a map needs, with its signs and what stands above it."""
    shared = (-(-display_width(name) // count) + 1 for name, _, count in headings(map_))
    return max(max(map(display_width, (*texts, *map_.columns))) + len(MARKS), *shared, 0)


def _above(map_: Map, start: str, across: int) -> Iterator[str]:
    """The lines above the cells of a map: groups of columns, and their labels."""
    if map_.groups:
        yield start + "".join(_right(name, across * count) for name, _, count in headings(map_))
    if map_.columns or map_.sums:
        labels = map_.columns or [""] * len(map_.values[0])
        above = "".join(_right(label, across - 1) + " " for label in labels)
        yield f"{start}{above}  {map_.sums}"


def drawing_svg(drawing: Drawing, description: str, language: str) -> str:
    """A drawing as the text of an SVG file.

    Args:
        drawing: the drawing.
        description: what it shows, for readers who cannot see it.
        language: of its texts.

    Raises:
        ValueError: when an arrow cannot be drawn.
    """
    panels = placed(drawing)
    svg = _Svg(panels)
    svg.write(drawing.title, "title", MARGIN, INNER, TITLE_ADVANCE)
    for number, row in enumerate(drawing.rows):
        if isinstance(row, Step):
            svg.step(row)
        else:
            svg.row(number, [one for one in panels if one.row == number])
    if drawing.caption:
        svg.y += 10
        svg.write(drawing.caption, "note", MARGIN, INNER)
    text = (
        environment()
        .get_template("drawing.svg.j2")
        .render(
            title=drawing.title,
            description=description,
            language=language.replace("_", "-"),
            shapes=svg.shapes,
            width=WIDTH,
            height=round(svg.y + MARGIN),
            point=POINT,
        )
    )
    return f"{text}\n"


class _Svg:
    """What has been drawn, and how far down.

    Attributes:
        shapes: rectangles with `width`, lines of text with `text`, vertical lines with `end`; `x` of
            a text is its left end, its middle or its right end, as its `kind`, the class, says.
        groups: the names of all groups, which have colours.
        feet: where each panel ends.
    """

    def __init__(self, panels: list[Placed]) -> None:
        maps = [one.panel for one in panels if isinstance(one.panel, Map)]
        self.groups = list(dict.fromkeys(name for map_ in maps for name in map_.groups))
        self.arrows = arrows(panels)
        self.shapes: list[dict[str, Any]] = []
        self.feet: dict[str, float] = {}
        self.y: float = MARGIN

    def rect(self, x: float, y: float, width: float, height: float, kind: str) -> None:
        self.shapes.append({"x": x, "y": y, "width": width, "height": height, "kind": kind})

    def label(self, x: float, y: float, text: str, kind: str) -> None:
        self.shapes.append({"x": x, "y": y, "text": text, "kind": kind})

    def line(self, x: float, y: float, end: float) -> None:
        """Draw a vertical line with a point at its foot."""
        self.shapes.append({"x": x, "y": y, "end": end})

    def write(self, text: str, kind: str, x: float, width: float, advance: float = ADVANCE) -> None:
        """Draw a text in lines of at most `width`, from here on downwards."""
        for line in filled(_plain(text), int(width / advance)):
            self.label(x, self.y + 12, line, kind)
            self.y += LINE

    def step(self, step: Step) -> None:
        self.y += 8
        self.write(step.text, "step", WIDTH / 2, INNER)
        self.line(WIDTH / 2, self.y, self.y + 16)
        self.y += 14

    def row(self, number: int, panels: list[Placed]) -> None:
        """Draw panels side by side, below the arrows that end at them."""
        is_passed = any(one.source.row < number <= one.target.row for one in self.arrows)
        self.y += ARROW if is_passed else 6
        for arrow in (arrow for arrow in self.arrows if arrow.target.row == number):
            self.line(_x(arrow.at) - GAP / 2, self.feet[arrow.source.panel.name] + 2, self.y - 2)
        top = self.y
        boxes = [_lines_of(one.panel, _width(one)) for one in panels if isinstance(one.panel, Box)]
        high = max((len(lines) * LINE + 12 for lines in boxes), default=0)
        for one in panels:
            self.y = top
            if isinstance(one.panel, Box):
                self.box(one.panel, _x(one.start), _width(one), high)
            else:
                self.map(one.panel, _x(one.start), _width(one))
            self.feet[one.panel.name] = self.y
        self.y = max([top, *(self.feet[one.panel.name] for one in panels)])

    def box(self, box: Box, x: float, width: float, height: float) -> None:
        self.rect(x, self.y, width, height, f"box {box.tint}".strip())
        lines = _lines_of(box, width)
        y = self.y + (height - len(lines) * LINE) / 2 + 12
        for number, (line, kind) in enumerate(lines):
            self.label(x + width / 2, y + number * LINE, line, kind)
        self.y += height

    def map(self, map_: Map, x: float, width: float) -> None:
        self.write(map_.name, _kind(map_.name, "left"), x, width)
        if map_.shape:
            self.write(map_.shape, "note code", x, width, CODE_ADVANCE)
        self.y += 3
        count = len(map_.values[0])
        beside = max(map(display_width, map_.rows), default=0) * ADVANCE
        left = x + beside + (6 if beside else 0)
        sums = sum_texts(map_) if map_.sums else []
        right = max(map(display_width, (map_.sums, *sums))) * ADVANCE
        room = width - (left - x) - (right + 8 if sums else 0)
        across = min(MOST_ACROSS, room / count)
        for name, first, cells_below in headings(map_):
            self.label(left + (first + cells_below / 2) * across, self.y + 11, name, "column")
        self.y += LINE if map_.groups else 0
        for column, label in enumerate(map_.columns):
            self.label(left + (column + 0.5) * across, self.y + 11, label, "column")
        after = left + count * across + 8
        if map_.sums:
            self.label(after, self.y + 11, map_.sums, "sum")
        self.y += LINE if map_.columns or map_.sums else 0
        self.cells(map_, left, across)
        for labels, end, kind in ((map_.rows, left - 6, "row"), (sums, after, "sum")):
            for number, label in enumerate(labels):
                self.label(end, self.y + number * CELL + 16, label, kind)
        self.y += len(map_.values) * CELL
        if map_.note:
            self.y += 2
            self.write(map_.note, "note", x, width)

    def cells(self, map_: Map, left: float, across: float) -> None:
        steps = [GROUPS[self.groups.index(name) % len(GROUPS)] for name in map_.groups]
        for row, drawn in enumerate(cells(map_)):
            for column, cell in enumerate(drawn):
                x, y = left + column * across, self.y + row * CELL
                kind = _colour(steps[column] if steps else cell.step) if cell.text else "empty"
                self.rect(x, y, across - 2, CELL - 2, kind)
                if cell.text:
                    self.label(x + across / 2 - 1, y + 15, cell.text, f"cell {kind}")
        for row, column in sorted(set(map_.marked)):
            x, y = left + column * across, self.y + row * CELL
            self.rect(x, y, across - 2, CELL - 2, "marked")


def _x(share: Fraction) -> float:
    """Where a panel begins: the same gap is between all of them."""
    return MARGIN + (INNER + GAP) * float(share)


def _width(one: Placed) -> float:
    return _x(one.end) - _x(one.start) - GAP


def _kind(text: str, kind: str) -> str:
    """The class of a text: code has one more."""
    return f"{kind} code" if text.startswith("`") else kind


def _lines_of(box: Box, width: float) -> list[tuple[str, str]]:
    """The lines in a box, each with its class."""
    texts = (
        (box.name, _kind(box.name, "name")),
        (box.shape, "shape code"),
        (box.note, _kind(box.note, "inside")),
    )
    found = []
    for text, kind in texts:
        columns = int((width - 8) / (CODE_ADVANCE if "code" in kind else ADVANCE))
        found += [(line, kind) for line in (filled(_plain(text), columns) if text else ())]
    return found


def _colour(step: int | None) -> str:
    """The class of a cell, as pages have it."""
    if step is None:
        return "hx"
    return f"hp{step}" if step > 0 else f"hn{-step}" if step else "h0"
