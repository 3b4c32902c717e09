"""The text of a file whose encoding nobody knows for sure."""

import codecs
import re
import unicodedata
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

NOT_FOR_FILES = {"punycode", "idna", "unicode-escape", "raw-unicode-escape", "utf-7"}
"""Codecs that no file is written in; two of them take time by the square of a text's length."""
MARKS = {  # the longer ones first: one of UTF-32 begins with one of UTF-16
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
    codecs.BOM_UTF8: "utf-8-sig",
}
"""What a file may begin with to say its encoding."""
DECLARED = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)", re.ASCII)
COMMENT = re.compile(rb"^[ \t\f]*(?:[#\r\n]|$)")
"""As Python finds a coding line: the first or second one, after nothing but a comment."""
MOST_NAME = 40
ASCII = bytes(range(32, 127)) + b"\t\n"
CONTROLS = frozenset("\t\n\v\f\r\x1a\x1b")
"""Control characters that stand in text files."""


@dataclass(frozen=True, slots=True)
class Decoded:
    """A file's text.

    Args:
        text: without a mark of its encoding.
        guessed: the encoding it was taken for, where neither the file nor UTF-8 says it; "" else.
    """

    text: str
    guessed: str = ""


def decoded(
    data: bytes, encodings: Sequence[str], *, has_coding_line: bool = True
) -> Decoded | None:
    """A file's text: by its mark, its coding line, UTF-8, or the first encoding that fits.

    Args:
        data: the file.
        encodings: those to try at last.
        has_coding_line: whether such a line may stand in it, as in Python's files.

    Returns:
        None where it is text in none of these.
    """
    mark = next((mark for mark in MARKS if data.startswith(mark)), None)
    if mark is not None:
        text = _text(data, MARKS[mark])
        return None if text is None else Decoded(text)
    declared = coding_line(data) if has_coding_line else ""
    if is_encoding(declared) and (text := _text(data, declared)) is not None:
        return Decoded(text)
    if (text := _text(data, "utf-8")) is not None:
        return Decoded(text, "utf-8" if declared else "")
    for name in encodings:
        text = _text(data, name)
        if text is not None and not _has_controls(text):
            return Decoded(text, name)
    return None


@cache
def is_encoding(name: str) -> bool:
    """Whether it is an encoding of text in which ASCII is itself, as in files of code."""
    if len(name) > MOST_NAME:
        return False
    try:
        info = codecs.lookup(name)
        return info.name not in NOT_FOR_FILES and ASCII.decode(name) == ASCII.decode("ascii")
    except (LookupError, ValueError):
        return False


def coding_line(data: bytes) -> str:
    """The encoding that a coding line names; "" where there is none."""
    first, _end, rest = data.partition(b"\n")
    lines = (first, rest.partition(b"\n")[0]) if COMMENT.match(first) else (first,)
    match = next(filter(None, map(DECLARED.match, lines)), None)
    return match[1].decode("ascii", "replace") if match else ""


def _text(data: bytes, encoding: str) -> str | None:
    """Bytes as text without zeros, which are in no text; None where they are not that."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            text = data.decode(encoding)
    except (ValueError, LookupError):
        return None
    return None if "\0" in text else text


def _has_controls(text: str) -> bool:
    """Whether what no text has stands in it: then it was bytes by chance."""
    return any(unicodedata.category(sign) in ("Cc", "Cn") for sign in {*text} - CONTROLS)
