"""The picture of an assignment as SVG: one file for light and dark, without scripts and fonts.

Lengths are in the units of the SVG; on a phone one of them is about a pixel.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from grader.core.text import display_width, filled
from grader.course.drawing import Box, Drawing, Map, Step
from grader.judging.picture_layout import (
    Placed,
    arrows,
    cells,
    headings,
    placed,
    sum_texts,
)
from grader.reports.html.pages import environment

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


@dataclass(frozen=True, slots=True)
class Rect:
    """A rectangle; `kind` is its class."""

    x: float
    y: float
    width: float
    height: float
    kind: str


@dataclass(frozen=True, slots=True)
class Label:
    """A line of text; `x` is its left end, its middle or its right end, as its class says."""

    x: float
    y: float
    text: str
    kind: str


@dataclass(frozen=True, slots=True)
class Line:
    """A vertical line, with a point at its foot."""

    x: float
    y: float
    end: float


@dataclass
class _Canvas:
    """What has been drawn, and how far down; the names of all groups, which have colours."""

    groups: list[str]
    shapes: list[Rect | Label | Line] = field(default_factory=list)
    y: float = MARGIN

    def write(self, text: str, kind: str, x: float, width: float, advance: float = ADVANCE) -> None:
        """Draw a text in lines of at most `width`, from here on downwards."""
        for line in filled(text.replace("`", ""), int(width / advance)):
            self.shapes.append(Label(x, self.y + 12, line, kind))
            self.y += LINE


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
    maps = [one.panel for one in panels if isinstance(one.panel, Map)]
    canvas = _Canvas(list(dict.fromkeys(name for map_ in maps for name in map_.groups)))
    found = arrows(panels)
    feet: dict[str, float] = {}
    canvas.write(drawing.title, "title", MARGIN, INNER, TITLE_ADVANCE)
    for number, row in enumerate(drawing.rows):
        if isinstance(row, Step):
            _step(canvas, row)
            continue
        ends = any(arrow.source.row < number <= arrow.target.row for arrow in found)
        canvas.y += ARROW if ends else 6
        for arrow in (arrow for arrow in found if arrow.target.row == number):
            x = _x(arrow.at) - GAP / 2
            canvas.shapes.append(Line(x, feet[arrow.source.panel.name] + 2, canvas.y - 2))
        _row(canvas, [one for one in panels if one.row == number], feet)
    if drawing.caption:
        canvas.y += 10
        canvas.write(drawing.caption, "note", MARGIN, INNER)
    template = environment().get_template("drawing.svg.j2")
    return (
        template.render(
            title=drawing.title,
            description=description,
            language=language.replace("_", "-"),
            shapes=canvas.shapes,
            width=WIDTH,
            height=round(canvas.y + MARGIN),
            point=POINT,
        )
        + "\n"
    )


def _step(canvas: _Canvas, step: Step) -> None:
    canvas.y += 8
    canvas.write(step.text, "step", WIDTH / 2, INNER)
    canvas.shapes.append(Line(WIDTH / 2, canvas.y, canvas.y + 16))
    canvas.y += 14


def _row(canvas: _Canvas, own: Sequence[Placed], feet: dict[str, float]) -> None:
    """Draw panels side by side, and keep where each one ends."""
    top = canvas.y
    boxes = [_lines_of(one.panel, _width(one)) for one in own if isinstance(one.panel, Box)]
    high = max((len(lines) * LINE + 12 for lines in boxes), default=0)
    bottom = top
    for one in own:
        canvas.y = top
        x = _x(one.start)
        if isinstance(one.panel, Box):
            _box(canvas, one.panel, x, _width(one), high)
        else:
            _map(canvas, one.panel, x, _width(one))
        feet[one.panel.name] = canvas.y
        bottom = max(bottom, canvas.y)
    canvas.y = bottom


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
    return [
        (line, kind)
        for text, kind in texts
        if text
        for line in filled(
            text.replace("`", ""), int((width - 8) / (CODE_ADVANCE if "code" in kind else ADVANCE))
        )
    ]


def _box(canvas: _Canvas, box: Box, x: float, width: float, height: float) -> None:
    canvas.shapes.append(Rect(x, canvas.y, width, height, f"box {box.tint}".strip()))
    lines = _lines_of(box, width)
    y = canvas.y + (height - len(lines) * LINE) / 2 + 12
    for number, (line, kind) in enumerate(lines):
        canvas.shapes.append(Label(x + width / 2, y + number * LINE, line, kind))
    canvas.y += height


def _map(canvas: _Canvas, map_: Map, x: float, width: float) -> None:
    canvas.write(map_.name, _kind(map_.name, "left"), x, width)
    if map_.shape:
        canvas.write(map_.shape, "note code", x, width, CODE_ADVANCE)
    canvas.y += 3
    rows = list(cells(map_))
    beside = max(map(display_width, map_.rows), default=0) * ADVANCE
    left = x + beside + (6 if beside else 0)
    sums = sum_texts(map_) if map_.sums else []
    right = max(map(display_width, (map_.sums, *sums))) * ADVANCE
    room = width - (left - x) - (right + 8 if sums else 0)
    across = min(MOST_ACROSS, room / len(rows[0]))
    for name, first, count in headings(map_):
        middle = left + (first + count / 2) * across
        canvas.shapes.append(Label(middle, canvas.y + 11, name, "column"))
    canvas.y += LINE if map_.groups else 0
    for column, label in enumerate(map_.columns):
        canvas.shapes.append(Label(left + (column + 0.5) * across, canvas.y + 11, label, "column"))
    after = left + len(rows[0]) * across + 8
    if map_.sums:
        canvas.shapes.append(Label(after, canvas.y + 11, map_.sums, "sum"))
    canvas.y += LINE if map_.columns or map_.sums else 0
    canvas.shapes += _cells(canvas, map_, left, across)
    for number, label in enumerate(map_.rows):
        canvas.shapes.append(Label(left - 6, canvas.y + number * CELL + 16, label, "row"))
    for number, text in enumerate(sums):
        canvas.shapes.append(Label(after, canvas.y + number * CELL + 16, text, "sum"))
    canvas.y += len(rows) * CELL
    if map_.note:
        canvas.y += 2
        canvas.write(map_.note, "note", x, width)


def _cells(canvas: _Canvas, map_: Map, left: float, across: float) -> Iterator[Rect | Label]:
    steps = [GROUPS[canvas.groups.index(name) % len(GROUPS)] for name in map_.groups]
    marks = []
    for row, drawn in enumerate(cells(map_)):
        for column, cell in enumerate(drawn):
            x, y = left + column * across, canvas.y + row * CELL
            step = steps[column] if steps else cell.step
            kind = _colour(step) if cell.text else "empty"
            yield Rect(x, y, across - 2, CELL - 2, kind)
            if cell.text:
                yield Label(x + across / 2 - 1, y + 15, cell.text, f"cell {kind}")
            if (row, column) in map_.marked:
                marks.append(Rect(x, y, across - 2, CELL - 2, "marked"))
    yield from marks


def _colour(step: int | None) -> str:
    """The class of a cell, as pages have it."""
    if step is None:
        return "hx"
    return f"hp{step}" if step > 0 else f"hn{-step}" if step else "h0"
