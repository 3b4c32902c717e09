"""The picture of an assignment: what its author's `picture.py` returns, as SVG and as text."""

import hashlib
import re
import runpy
import traceback
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from pathlib import Path

import torch

from grader.core.errors import CourseError
from grader.core.language import DEFAULT_LANGUAGE
from grader.core.text import clean, display_width, filled
from grader.course.course import PICTURE, Assignment, Course
from grader.course.drawing import Box, Drawing, Map, Step, translated_drawing
from grader.judging.picture_layout import (
    Arrow,
    Placed,
    arrows,
    cells,
    headings,
    placed,
    sum_texts,
)
from grader.release.prose import in_comment
from grader.release.solution_cells import Solution, loaded
from grader.reports.html.drawing import drawing_svg

FUNCTION = "picture"
SHOWN = re.compile(rf"!\[(?P<words>[^\]]*)\]\({re.escape(PICTURE)}\)")
"""Where a text shows the picture, with what it says to readers who cannot see it."""

IN_COMMENT = re.compile(rf"(?m)^# {SHOWN.pattern}$")

_drawn: dict[tuple[Path, str], Drawing] = {}
"""Drawings by their file and what they are made from, because releases are made in languages."""


@dataclass(frozen=True, slots=True)
class ShownPicture:
    """A picture in one language: the SVG, and the lines of its text form."""

    svg: str
    lines: tuple[str, ...]

    def in_text(self, source: Solution) -> Solution:
        """A solution whose percent form shows the picture's text form; its cells link the SVG."""
        block = in_comment("\n".join(("```text", *self.lines, "```")))
        return replace(source, text=IN_COMMENT.sub(lambda _: block, source.text))


def shown_picture(course: Course, source: Solution, code: str) -> ShownPicture | None:
    """The picture of an assignment; None where it has none.

    Args:
        course: the course.
        source: the assignment's solution, in the same language.
        code: the language.

    Raises:
        CourseError: when it cannot be drawn, or the solution does not show it once.
    """
    paths = course.paths(source.assignment)
    place = course.inner(paths.solution)
    first = SHOWN.search(source.text)
    if not paths.drawing.is_file():
        if first:
            line = source.text[: first.start()].count("\n") + 1
            missing = course.inner(paths.drawing)
            raise CourseError(f"{place}:{line}: it shows {PICTURE}, and there is no {missing}")
        return None
    texts = [cell.text for cell in source.cells if cell.kind == "markdown"]
    found = [match["words"] for text in texts for match in SHOWN.finditer(text)]
    if len(found) != 1 or len(IN_COMMENT.findall(source.text)) != 1:
        where = "" if code == DEFAULT_LANGUAGE else f" in {code}"
        raise CourseError(
            f"{place}: one line by itself has to show the picture{where}: "
            f"`# ![what it shows, in words]({PICTURE})`"
        )
    try:
        drawing = drawing_of(course, source.assignment)
        drawing = translated_drawing(drawing, partial(course.text_in, code))
        words = " ".join(found[0].split())
        return ShownPicture(drawing_svg(drawing, words, code), tuple(drawing_text(drawing)))
    except ValueError as error:
        raise CourseError(f"{course.inner(paths.drawing)}: {error}") from error


def drawing_of(course: Course, assignment: Assignment) -> Drawing:
    """What the author's `picture()` returns, run beside the solutions.

    Raises:
        CourseError: when it raises, or returns something else.
    """
    path = course.paths(assignment).drawing
    files = (path, *(course.paths(one).solution for one in course.assignments))
    digest = hashlib.sha256(b"\0".join(file.read_bytes() for file in files if file.is_file()))
    key = path, digest.hexdigest()
    if key not in _drawn:
        _drawn[key] = _run(course, assignment, path)
    return _drawn[key]


def _run(course: Course, assignment: Assignment, path: Path) -> Drawing:
    place = course.inner(path)
    try:
        with loaded(course, assignment), torch.random.fork_rng(devices=[]):
            make = runpy.run_path(str(path)).get(FUNCTION)
            if not callable(make):
                raise CourseError(f"{place}: it defines no function {FUNCTION}()")
            drawing = make()
    except CourseError:
        raise
    except Exception as error:  # whatever the author's file raises
        what = f"{type(error).__name__}: {clean(str(error))[:200]}"
        raise CourseError(f"{place}:{_line_of(error, path)}: {what}") from error
    if not isinstance(drawing, Drawing):
        kind = type(drawing).__name__
        raise CourseError(f"{place}: {FUNCTION}() returns {kind}, not a Drawing")
    return drawing


def _line_of(error: Exception, path: Path) -> int:
    """The last line of a file that an error came through."""
    if isinstance(error, SyntaxError) and error.filename == str(path):
        return error.lineno or 1
    frames = traceback.extract_tb(error.__traceback__)
    return next((f.lineno or 1 for f in reversed(frames) if f.filename == str(path)), 1)


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
