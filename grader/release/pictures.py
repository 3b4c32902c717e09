"""The picture of an assignment: what its author's `picture.py` returns, as SVG and as text."""

import hashlib
import re
import runpy
import traceback
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from grader.core.errors import CourseError
from grader.core.language import DEFAULT_LANGUAGE
from grader.core.text import clean
from grader.course.course import PICTURE, Assignment, Course
from grader.course.drawing import Drawing, translated_drawing
from grader.release.drawings import drawing_svg, drawing_text
from grader.release.prose import in_comment
from grader.release.solution_cells import Solution, loaded
from grader.sandbox.torch_later import has_torch, torch

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
    place, path = course.inner(path), path.resolve()
    try:
        draws = torch.random.fork_rng(devices=[]) if has_torch() else nullcontext()
        with loaded(course, assignment), draws:
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
