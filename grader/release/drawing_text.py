"""The picture of an assignment as lines of text, for the comments of a `.py` file."""

from collections.abc import Iterator
from fractions import Fraction

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

COLUMNS = 76
"""The width of a picture in characters."""

AIR = 2
"""Lines for an arrow above a row of panels, and columns between panels."""

EMPTY, MARKS, NO_MARKS = "·", ("[", "]"), (" ", " ")


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
