"""Reading TOML so that every mistake is told at once, each with its place.

A `Table` never raises on a wrong value: it writes down what is wrong and answers a stand-in, so
that reading goes on to the next mistake.
"""

import difflib
import re
import tomllib
from dataclasses import dataclass, field
from datetime import datetime
from keyword import iskeyword
from pathlib import Path
from typing import Any

from grader.core.errors import CourseError

MAX_BYTES = 2**20
MOST = 1_000_000
MOST_SECONDS = 86_400


def read_toml(path: Path, problems: list[str]) -> "Table":
    """A file's top table.

    Raises:
        CourseError: when it cannot be read as TOML at all.
    """
    try:
        size = path.stat().st_size
        if size > MAX_BYTES:
            raise CourseError(f"{path.name}: found {size} bytes; at most {MAX_BYTES} are read")
        content = tomllib.loads(path.read_bytes().decode("utf-8-sig"))
    except OSError as error:
        raise CourseError(f"{path.name}: it cannot be read ({error.strerror})") from error
    except (ValueError, RecursionError) as error:
        raise CourseError(f"{path.name}: it is not TOML in UTF-8: {error}") from error
    return Table(path.name, "", content, problems)


@dataclass
class Table:
    """A table of a TOML file, and where to write down what is wrong with it.

    Args:
        file: the file's name, for places.
        place: the table's own place in the file, "" for the top.
        content: its keys and values.
        problems: where sentences go.
    """

    file: str
    place: str
    content: dict[str, Any]
    problems: list[str]
    known: set[str] = field(default_factory=set)
    children: list["Table"] = field(default_factory=list)

    def table(self, key: str, *, required: bool = True) -> "Table":
        """The table under a key; an empty one where there is none."""
        value = self._value(key, "a table", required=required)
        return self._child(key, value if isinstance(value, dict) else {})

    def tables(self, key: str) -> list["Table"]:
        """The tables of a list of tables that may not be empty."""
        value = self._value(key, "a list of tables")
        if value is None:
            return []
        is_list = isinstance(value, list) and all(isinstance(item, dict) for item in value)
        if not is_list or not value:
            self._wrong(key, value, f"at least one [[{key}]] table")
            return []
        return [self._child(f"{key}[{number}]", item) for number, item in enumerate(value, 1)]

    def text(self, key: str, *, pattern: re.Pattern[str] | None = None, like: str = "") -> str:
        """A text that is not empty, of a pattern where one is given."""
        value = self._value(key, "a text")
        if value is None:
            return ""
        wanted = f"a text like {like!r}" if like else "a text that is not empty"
        if not isinstance(value, str) or not value or (pattern and not pattern.fullmatch(value)):
            self._wrong(key, value, wanted)
            return ""
        return value

    def anything(self, key: str) -> str:
        """A text that may be empty."""
        value = self._value(key, "a text")
        if value is None or isinstance(value, str):
            return value or ""
        self._wrong(key, value, "a text")
        return ""

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of texts; empty where there is none."""
        value = self._value(key, "a list of texts", required=False)
        if value is None:
            return ()
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            self._wrong(key, value, "a list of texts")
            return ()
        return tuple(value)

    def choice(self, key: str, allowed: tuple[str, ...], *, default: str) -> str:
        """One of a few texts."""
        value = self._value(key, "a text", required=False)
        if value is None:
            return default
        if value not in allowed:
            self._wrong(key, value, " or ".join(repr(item) for item in allowed))
            return default
        return str(value)

    def whole(
        self, key: str, *, least: int, default: int | None = None, most: int | None = None
    ) -> int:
        """A whole number within bounds."""
        value = self._value(key, "a whole number", required=default is None)
        if value is None:
            return default if default is not None else least
        bounds = f"from {least} to {most}" if most is not None else f"of at least {least}"
        fits = type(value) is int and least <= value <= (MOST if most is None else most)
        if not fits:
            self._wrong(key, value, f"a whole number {bounds}")
            return least
        return int(value)

    def positive(self, key: str, default: float) -> float:
        """A number of seconds above 0."""
        value = self._value(key, "a number", required=False)
        if value is None:
            return default
        if type(value) not in (int, float) or not 0 < value <= MOST_SECONDS:
            self._wrong(key, value, f"a number above 0 and up to {MOST_SECONDS}")
            return default
        return float(value)

    def moment(self, key: str) -> datetime | None:
        """A date and time with its offset from UTC."""
        value = self._value(key, "a date and time", required=False)
        if value is None:
            return None
        if not isinstance(value, datetime) or value.tzinfo is None:
            self._wrong(key, value, "a date and time with offset, like 2027-02-01T23:59:00+01:00")
            return None
        return value

    def entries(self) -> list[str]:
        """All keys, each taken as known."""
        self.known.update(self.content)
        return list(self.content)

    def identifiers(self) -> list[str]:
        """The keys, each of which must be a Python name; at least one."""
        if not self.content:
            self.problems.append(f"{self._at('')}: found nothing; at least one entry is needed")
        self.known.update(self.content)
        wrong = [key for key in self.content if not key.isidentifier() or iskeyword(key)]
        for key in wrong:
            self.problems.append(f"{self._at(key)}: found {key!r}; a Python name is needed")
        return [key for key in self.content if key not in wrong]

    def forbid_duplicates(self, key: str, what: str, values: list[str]) -> None:
        """Write down every value that occurs twice."""
        for number, value in enumerate(values, 1):
            first = values.index(value) + 1
            if value and first < number:
                self.problems.append(
                    f"{self._at(f'{key}[{number}]')}: found the {what} {value!r} again; "
                    f"{key}[{first}] has it already"
                )

    def forbid_unknown_keys(self) -> None:
        """Write down every key nobody asked for, with the nearest that exists."""
        for key in self.content:
            if key in self.known or not self.known:
                continue
            close = difflib.get_close_matches(key, self.known, n=1)
            hint = f"did you mean {close[0]!r}? " if close else ""
            allowed = ", ".join(sorted(self.known))
            self.problems.append(f"{self._at(key)}: unknown key; {hint}allowed: {allowed}")
        for child in self.children:
            child.forbid_unknown_keys()

    def _child(self, key: str, content: dict[str, Any]) -> "Table":
        place = f"{self.place}.{key}" if self.place else key
        child = Table(self.file, place, content, self.problems)
        self.children.append(child)
        return child

    def _value(self, key: str, wanted: str, *, required: bool = True) -> Any:
        self.known.add(key)
        if key not in self.content:
            if required:
                self.problems.append(f"{self._at(key)}: missing; {wanted} is needed")
            return None
        value = self.content[key]
        if wanted == "a table" and not isinstance(value, dict):
            self._wrong(key, value, wanted)
        return value

    def _wrong(self, key: str, value: object, wanted: str) -> None:
        found = _shown(value)
        self.problems.append(f"{self._at(key)}: found {found}; {wanted} is needed")

    def _at(self, key: str) -> str:
        place = ".".join(part for part in (self.place, key) if part)
        return f"{self.file}: {place}" if place else self.file


def _shown(value: object) -> str:
    """A value in a few characters, whatever it is."""
    if isinstance(value, dict | list):
        return f"a {'table' if isinstance(value, dict) else 'list'} of {len(value)}"
    if isinstance(value, int) and value.bit_length() > 128:
        return "a number of dozens of digits"
    return f"{value!r}"[:80]
