"""Reading TOML into records, by the types of their fields: every mistake is told, with its key path."""

import difflib
import json
import re
import tomllib
from collections.abc import Iterable
from dataclasses import MISSING, fields, is_dataclass, make_dataclass
from datetime import datetime
from enum import EnumMeta
from functools import cache
from keyword import kwlist
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from msgspec import Meta, ValidationError, convert

from grader.core.errors import CourseError

MAX_BYTES = 2**20
MOST = 1_000_000
MOST_SECONDS = 86_400

Content = TypeVar("Content")


def needed(words: str, **bounds: Any) -> Meta:
    """What a value has to be, in words that fit before "is needed", and as msgspec's bounds."""
    return Meta(description=words, **bounds)


def like(pattern: str, example: str) -> Meta:
    """That a text has to fit a pattern, with an example."""
    return needed(f"a text like {example!r}", pattern=rf"\A(?:{pattern})\Z")


def whole(least: int, most: int = MOST) -> Meta:
    """That a whole number lies within bounds."""
    bounds = f"of at least {least}" if most == MOST else f"from {least} to {most}"
    return needed(f"a whole number {bounds}", ge=least, le=most)


NAME = rf"^(?!(?:{'|'.join(kwlist)})$)[^\W\d]\w*\Z"
HALF = f"a whole or half number from 0 to {MOST}, like 2 or 2.5,"
SECONDS = f"a number above 0 and up to {MOST_SECONDS}"
MOMENT = "a date and time with offset, like 2027-02-01T23:59:00+01:00"

Text = Annotated[str, needed("a text that is not empty", min_length=1)]
Name = Annotated[str, needed("a Python name", pattern=NAME)]
Seconds = Annotated[float, needed(SECONDS, gt=0, le=MOST_SECONDS)]
Points = Annotated[float, needed(HALF, ge=0, le=MOST, multiple_of=0.5)]
Moment = Annotated[datetime, needed(MOMENT, tz=True)]
KINDS = {str: "a text", bool: "true or false"}
"""What is needed where a field says nothing of it."""


def toml_text(value: str) -> str:
    """A text as TOML writes it, and Python: as JSON does, for everything that a manifest can hold."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


class TomlFile:
    """A TOML file, and what is wrong in it.

    Args:
        path: the file.
        folder: what stands before its name in sentences, like "01_a/".

    Raises:
        CourseError: when it cannot be read as TOML at all.
    """

    def __init__(self, path: Path, folder: str = "") -> None:
        self.name = f"{folder}{path.name}"
        self.problems: list[str] = []
        self._is_broken = False
        try:
            size = path.stat().st_size
            if size > MAX_BYTES:
                raise CourseError(f"{self.name}: found {size} bytes; at most {MAX_BYTES} are read")
            self.content = tomllib.loads(path.read_bytes().decode("utf-8-sig"))
        except OSError as error:
            raise CourseError(f"{self.name}: it cannot be read ({error.strerror})") from error
        except (ValueError, RecursionError) as error:
            said = f"{self.name}: it is not TOML in UTF-8: {_in_words(error, path)}"
            raise CourseError(said) from error

    def read(self, kind: type[Content]) -> Content:
        """The content, as a record or a dict of this type; unknown keys are noted.

        Raises:
            CourseError: with all values that are missing or not of the types of their fields.
        """
        content: Content = self._value(kind, self.content, "")
        if self._is_broken:
            self.finish()
        return content

    def note(self, key_path: str, sentence: str) -> None:
        """Note what is wrong with a value, like `assignments[1].id`; "" for the file as a whole."""
        self.problems.append(": ".join(filter(None, (self.name, key_path, sentence))))

    def forbid_duplicates(self, key: str, what: str, values: list[str]) -> None:
        """Note every value that occurs twice.

        Args:
            key: the list the values stand in.
            what: what they are.
            values: all of them, in order.
        """
        for number, value in enumerate(values, 1):
            first = values.index(value) + 1
            if first < number:
                again = f"found the {what} {value!r} again; {key}[{first}] has it already"
                self.note(f"{key}[{number}]", again)

    def read_tables(self, key: str, kind: type[Content]) -> tuple[Content, ...]:
        """The content of a file that has one list of tables, as records.

        Raises:
            CourseError: as `read` does.
        """
        some = needed(f"at least one [[{key}]] table", min_length=1)
        tables = Annotated[tuple[kind, ...], some]  # type: ignore[valid-type]
        found: tuple[Content, ...] = getattr(
            self.read(make_dataclass("File", [(key, tables)])), key
        )
        return found

    def finish(self) -> None:
        """Raise a CourseError where anything was noted."""
        if self.problems:
            raise CourseError(*self.problems)

    def _value(self, kind: Any, value: Any, place: str) -> Any:
        bare = _bare(kind)
        parts = get_args(bare)
        notes = (note for note in get_args(kind) if isinstance(note, Meta))
        least = max((note.min_length or 0 for note in notes), default=0)
        if isinstance(value, dict) and is_dataclass(bare):
            return self._record(bare, value, place)
        if isinstance(value, list) and len(value) >= least and get_origin(bare) is tuple:
            items = enumerate(value, 1)
            return tuple(self._value(parts[0], item, f"{place}[{n}]") for n, item in items)
        if isinstance(value, dict) and len(value) >= least and get_origin(bare) is dict:
            return {
                self._value(parts[0], key, _joined(place, key)): self._value(
                    parts[1], item, _joined(place, key)
                )
                for key, item in value.items()
            }
        try:
            return convert(value, kind)
        except (ValidationError, ValueError):
            self._wrong(place, f"found {_shown(value)}; {_words(kind)} is needed")

    def _record(self, kind: Any, content: dict[str, Any], place: str) -> Any:
        kinds, values = _fields(kind), {}
        for field in fields(kind):
            name, inner = field.name, _joined(place, field.name)
            is_needed = field.default is field.default_factory is MISSING
            if name in content or (is_needed and is_dataclass(kinds[name])):
                values[name] = self._value(kinds[name], content.get(name, {}), inner)
            elif is_needed:
                self._wrong(inner, f"missing; {_words(kinds[name])} is needed")
        for key in (key for key in content if key not in kinds):
            allowed = did_you_mean(key, kinds) + f"allowed: {', '.join(sorted(kinds))}"
            self.note(_joined(place, key), f"unknown key; {allowed}")
        try:
            return None if self._is_broken else kind(**values)
        except ValueError as error:
            self._wrong(place, str(error))

    def _wrong(self, place: str, sentence: str) -> None:
        self._is_broken = True
        self.note(place, sentence)


@cache
def _fields(kind: Any) -> dict[str, Any]:
    """The types of a record's fields, by name."""
    kinds = get_type_hints(kind, include_extras=True)
    return {field.name: kinds[field.name] for field in fields(kind)}


def _joined(place: str, key: str) -> str:
    return f"{place}.{key}" if place else key


def _bare(kind: Any) -> Any:
    """A type without what is said of it, and without None."""
    while get_origin(kind) in (Annotated, Union, UnionType):
        kind = get_args(kind)[0]
    return kind


def _words(kind: Any) -> str:
    """What is needed where a value is not of a type."""
    parts = get_args(kind)
    if get_origin(kind) is Annotated:
        return str(parts[1].description)
    if get_origin(kind) in (Union, UnionType):
        return _words(parts[0])
    if isinstance(kind, EnumMeta) or get_origin(kind) is Literal:
        return " or ".join(repr(str(one)) for one in parts or [*kind])
    if get_origin(kind) is tuple:
        return f"a list of {'tables' if is_dataclass(parts[0]) else 'texts'}"
    return KINDS.get(kind, "a table")


def _in_words(error: Exception, path: Path) -> str:
    """The parser's own words; of a key that stands there twice, which one."""
    line = re.search(r"\(at line (\d+)", str(error))
    if line is None or not str(error).startswith(("Cannot overwrite", "Cannot declare")):
        return str(error)
    lines = path.read_text("utf-8-sig").splitlines()
    key = lines[int(line[1]) - 1].partition("=")[0].strip()
    return f"{key} stands there twice (line {line[1]})"


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """A question for the nearest of some names, with a space after it; "" where none is near."""
    return "".join(f"did you mean {n!r}? " for n in difflib.get_close_matches(name, [*names], n=1))


def _shown(value: object) -> str:
    """A value in a few characters, whatever it is."""
    if isinstance(value, dict | list):
        return f"a {'table' if isinstance(value, dict) else 'list'} of {len(value)}"
    if isinstance(value, int) and value.bit_length() > 128:
        return "a number of dozens of digits"
    return f"{value!r}"[:80]
