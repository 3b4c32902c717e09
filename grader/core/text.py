"""Text made fit to be shown: what came from student code, and what is broken into lines."""

import hashlib
import re
import unicodedata
from collections.abc import Iterator
from functools import cache

from grader.core.language import _

MAX_STUDENT_TEXT = 600
CONTROL = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]"
)
UNIT = re.compile(r"`[^`]*`|\$[^$]*\$|\*\*[^*\s]+\*\*|\*[^*\s]+\*|\s+|.", re.DOTALL)
CLOSES = "、。，．：；？！）」』】〉》”’…・ー々ぁぃぅぇぉっゃゅょァィゥェォッャュョ.,:;?!)]}%"
OPENS = "（「『【〈《“‘([{"
WITHOUT_CAPITALS = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]")
SURROGATE = re.compile(r"[\ud800-\udfff]")


def with_capital(text: str) -> str:
    """The text as a sentence begins; where scripts have no capitals, its first word may be code."""
    return text if WITHOUT_CAPITALS.search(text) else f"{text[:1].upper()}{text[1:]}"


def clean(text: str, limit: int = MAX_STUDENT_TEXT) -> str:
    """The text cut to size, with control characters and halves of characters escaped."""
    whole = len(text)
    text = escaped(text[:limit])
    return _("{text}… (cut)").format(text=text[:limit]) if max(whole, len(text)) > limit else text


def hash_of(text: str) -> str:
    """SHA-256 of a text in hexadecimal digits; halves of characters count as question marks."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def paragraphs(text: str) -> list[str]:
    """The paragraphs of a text, each in one line."""
    return [" ".join(part.split()) for part in text.split("\n\n")]


def escaped(text: str) -> str:
    """The whole text, with control characters and halves of characters escaped."""
    text = CONTROL.sub(lambda match: f"\\x{ord(match[0]):02x}", text)
    return SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def location_words(file: str, cell: int | None, line: int) -> str:
    """A line of a student's file, in words.

    Args:
        file: as people are shown it.
        cell: the notebook's cell, counted from 1; None in a script.
        line: counted from 1.
    """
    template = _("{file}, line {line}") if cell is None else _("{file}, cell {cell}, line {line}")
    return template.format(file=file, cell=cell, line=line)


def display_width(text: str) -> int:
    """The columns a text takes on a terminal: a wide character takes two."""
    return len(text) if text.isascii() else sum(map(_columns, text))


@cache
def _columns(c: str) -> int:
    return 0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1


def filled(text: str, width: int, first: str = "", hanging: str = "") -> list[str]:
    """A paragraph in lines of at most `width` columns.

    Chinese and Japanese break between any two characters, but never before a closing sign nor
    after an opening one; code in backticks is not broken, nor is a word between stars.

    Args:
        text: the paragraph.
        width: columns.
        first: what the first line begins with.
        hanging: what the others begin with.
    """
    lines, line, taken = [], first, display_width(first)
    is_empty = True
    for unit in _units(text):
        if not is_empty and taken + display_width(unit.rstrip()) > width:
            lines.append(line.rstrip())
            line, taken, is_empty = hanging, display_width(hanging), True
        if not (is_empty and lines and unit.isspace()):
            line, taken, is_empty = line + unit, taken + display_width(unit), False
    return [*lines, line.rstrip()]


def _units(text: str) -> Iterator[str]:
    """What a line is not broken in the middle of: words, code, a character with its signs."""
    unit = ""
    for piece in UNIT.findall(text):
        is_space = piece.isspace()
        stays = piece[0] in CLOSES or (unit and unit[-1] in OPENS)
        is_word = unit and display_width(unit[-1]) == 1 and display_width(piece[0]) == 1
        if unit and (is_space or unit.isspace() or not (stays or is_word)):
            yield unit
            unit = ""
        unit += piece
    if unit:
        yield unit
