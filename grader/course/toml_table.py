"""Reading TOML so that every mistake is reported at once, each with its key path.

A `Table` never raises on a wrong value: it notes what is wrong and returns a stand-in, so that
reading goes on to the next mistake.
"""

import ast
import difflib
import json
import re
import tomllib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from keyword import iskeyword
from pathlib import Path
from typing import Any

from grader.core.errors import CourseError

MAX_BYTES = 2**20
MOST = 1_000_000
MOST_SECONDS = 86_400
NUMBERS = (int, float)

Fits = Callable[[Any], object]
"""Whether a value is right."""


def _is_code_of(names: set[str], value: object) -> bool:
    """Whether it is code whose functions and classes, at least one, have these names."""
    try:
        tree = ast.parse(value) if isinstance(value, str) else ast.Module([], [])
    except (SyntaxError, ValueError, RecursionError):
        return False
    found = {n.name for n in tree.body if isinstance(n, ast.FunctionDef | ast.ClassDef)}
    return bool(found) and found <= names


def toml_text(value: str) -> str:
    """A text as TOML writes it, and Python: as JSON does, for everything that a manifest can hold."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def read_toml(path: Path, problems: list[str], folder: str = "") -> "Table":
    """A file's top table.

    Args:
        path: the file.
        problems: takes a sentence for each mistake.
        folder: what stands before the file's name in those sentences, like "01_a/".

    Raises:
        CourseError: when it cannot be read as TOML at all.
    """
    name = f"{folder}{path.name}"
    try:
        size = path.stat().st_size
        if size > MAX_BYTES:
            raise CourseError(f"{name}: found {size} bytes; at most {MAX_BYTES} are read")
        content = tomllib.loads(path.read_bytes().decode("utf-8-sig"))
    except OSError as error:
        raise CourseError(f"{name}: it cannot be read ({error.strerror})") from error
    except (ValueError, RecursionError) as error:
        raise CourseError(f"{name}: it is not TOML in UTF-8: {_in_words(error, path)}") from error
    return Table(name, "", content, problems)


def _in_words(error: Exception, path: Path) -> str:
    """The parser's own words; of a key that stands there twice, which one."""
    line = re.search(r"\(at line (\d+)", str(error))
    if line is None or not str(error).startswith(("Cannot overwrite", "Cannot declare")):
        return str(error)
    lines = path.read_text("utf-8-sig").splitlines()
    key = lines[int(line[1]) - 1].partition("=")[0].strip()
    return f"{key} stands there twice (line {line[1]})"


@dataclass
class Table:
    """A table of a TOML file, and the list of what is wrong with it.

    Args:
        file: the file's name.
        key_path: the table's own, "" for the top.
        content: its keys and values.
        problems: takes a sentence for each mistake.
    """

    file: str
    key_path: str
    content: dict[str, Any]
    problems: list[str]
    known: set[str] = field(default_factory=set)
    children: list["Table"] = field(default_factory=list)

    def table(self, key: str, *, required: bool = True) -> "Table":
        """The table under a key; an empty one where there is none."""
        default: object = None if required else {}
        value = self._value(key, "a table", lambda v: isinstance(v, dict), default=default)
        return self._child(key, value or {})

    def tables(self, key: str) -> list["Table"]:
        """The tables of a list of tables that may not be empty."""
        wanted = f"at least one [[{key}]] table"
        value = self._value(key, "a list of tables", lambda v: v and _is_list_of(v, dict), wanted)
        return [self._child(f"{key}[{number}]", item) for number, item in enumerate(value or (), 1)]

    def text(self, key: str, *, pattern: str = r"(?s:.+)", like: str = "") -> str:
        """A text that is not empty.

        Args:
            key: its key.
            pattern: a regular expression for the whole text.
            like: an example of such a text.
        """
        wanted = f"a text like {like!r}" if like else "a text that is not empty"
        fits = re.compile(pattern).fullmatch
        value = self._value(key, "a text", lambda v: isinstance(v, str) and fits(v), wanted)
        return value or ""

    def optional_text(self, key: str) -> str:
        """A text that is not empty, "" where there is none."""
        self.known.add(key)
        return self.text(key) if key in self.content else ""

    def code(self, key: str, names: Iterable[str]) -> str:
        """Python code that defines some of these names and nothing else, "" where there is none."""
        wanted = "Python code that defines exercises of this assignment"
        fits = partial(_is_code_of, set(names))
        return self._value(key, "a text", fits, wanted, default="") or ""

    def anything(self, key: str) -> str:
        """A text that may be empty."""
        return self._value(key, "a text", lambda v: isinstance(v, str)) or ""

    def texts(self, key: str, *, pattern: str = r"(?s:.*)", like: str = "") -> tuple[str, ...]:
        """A list of texts; empty where there is none.

        Args:
            key: its key.
            pattern: a regular expression for the whole of each text.
            like: an example of such a text.
        """
        fits = re.compile(pattern).fullmatch
        texts = self._value(key, "a list of texts", lambda v: _is_list_of(v, str), default=())
        for number, text in enumerate(texts, 1):
            if not fits(text):
                wanted = f"found {_shown(text)}; a text like {like!r} is needed"
                self.note(f"{key}[{number}]", wanted)
        return tuple(text for text in texts if fits(text))

    def choice(self, key: str, allowed: Sequence[str], *, default: str | None = None) -> str:
        """One of a few texts.

        Args:
            key: its key.
            allowed: the texts.
            default: where there is none; it is required where this is None.
        """
        wanted = " or ".join(repr(item) for item in allowed)
        return str(self._value(key, "a text", lambda v: v in allowed, wanted, default) or "")

    def flag(self, key: str, *, default: bool) -> bool:
        """Yes or no."""
        return bool(self._value(key, "true or false", lambda v: type(v) is bool, default=default))

    def whole(self, key: str, *, least: int, default: int | None = None, most: int = MOST) -> int:
        """A whole number within bounds.

        Args:
            key: its key.
            least: the smallest that is allowed.
            default: where there is none; it is required where this is None.
            most: the largest that is allowed.
        """
        bounds = f"of at least {least}" if most == MOST else f"from {least} to {most}"
        wanted = f"a whole number {bounds}"
        value = self._value(
            key, "a whole number", lambda v: type(v) is int and least <= v <= most, wanted, default
        )
        return least if value is None else int(value)

    def positive(self, key: str, default: float) -> float:
        """A number of seconds above 0."""
        wanted = f"a number above 0 and up to {MOST_SECONDS}"
        return float(self._number(key, lambda v: 0 < v <= MOST_SECONDS, wanted, default))

    def points(self, key: str) -> float:
        """A number of points: 0 or more, whole or half; an int where it is whole."""
        wanted = f"a whole or half number from 0 to {MOST}, like 2 or 2.5,"
        value = self._number(key, lambda v: 0 <= v <= MOST and v * 2 % 1 == 0, wanted)
        return int(value) if value == int(value) else value

    def number(self, key: str) -> float:
        """A number of points: 0 or more, to hundredths."""
        wanted = f"a number from 0 to {MOST} with at most two decimals, like 2.25,"
        value: float = self._number(key, lambda v: 0 <= v <= MOST and round(v, 2) == v, wanted)
        return value

    def moment(self, key: str) -> datetime | None:
        """A date and time with its offset from UTC; None where there is none."""
        wanted = "a date and time with offset, like 2027-02-01T23:59:00+01:00"
        return self._value(key, "a date and time", _has_zone, wanted, default=False) or None

    def entries(self) -> list[str]:
        """All keys, none of which counts as unknown."""
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

    def plain(self, key: str) -> object:
        """A number, or true or false."""
        kinds = (*NUMBERS, bool)
        return self._value(key, "a number, true or false", lambda v: type(v) in kinds)

    def forbid_duplicates(self, key: str, what: str, values: list[str]) -> None:
        """Note every value that occurs twice.

        Args:
            key: the list the values stand in.
            what: what they are.
            values: all of them, in order.
        """
        for number, value in enumerate(values, 1):
            first = values.index(value) + 1
            if value and first < number:
                again = f"found the {what} {value!r} again; {key}[{first}] has it already"
                self.note(f"{key}[{number}]", again)

    def note(self, key: str, sentence: str) -> None:
        """Note what is wrong with a value, "" for the table as a whole."""
        self.problems.append(f"{self._at(key)}: {sentence}")

    def forbid_unknown_keys(self) -> None:
        """Note every key that was never read, with the nearest that was."""
        for key in [key for key in self.content if self.known and key not in self.known]:
            allowed = did_you_mean(key, self.known) + f"allowed: {', '.join(sorted(self.known))}"
            self.problems.append(f"{self._at(key)}: unknown key; {allowed}")
        for child in self.children:
            child.forbid_unknown_keys()

    def _child(self, key: str, content: dict[str, Any]) -> "Table":
        key_path = f"{self.key_path}.{key}" if self.key_path else key
        child = Table(self.file, key_path, content, self.problems)
        self.children.append(child)
        return child

    def _number(self, key: str, fits: Fits, wanted: str, default: float | None = None) -> Any:
        return (
            self._value(key, "a number", lambda v: type(v) in NUMBERS and fits(v), wanted, default)
            or 0
        )

    def _value(
        self, key: str, kind: str, fits: Fits, wanted: str = "", default: object = None
    ) -> Any:
        """The value under a key, else the default and a problem; without a default it is required."""
        self.known.add(key)
        if key not in self.content:
            if default is None:
                self.problems.append(f"{self._at(key)}: missing; {kind} is needed")
            return default
        value = self.content[key]
        if fits(value):
            return value
        self.problems.append(f"{self._at(key)}: found {_shown(value)}; {wanted or kind} is needed")
        return default

    def _at(self, key: str) -> str:
        key_path = ".".join(part for part in (self.key_path, key) if part)
        return f"{self.file}: {key_path}" if key_path else self.file


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """A question for the nearest of some names, with a space after it; "" where none is near."""
    return "".join(f"did you mean {n!r}? " for n in difflib.get_close_matches(name, [*names], n=1))


def _has_zone(value: object) -> bool:
    return isinstance(value, datetime) and value.tzinfo is not None


def _is_list_of(value: object, kind: type) -> bool:
    return isinstance(value, list) and all(isinstance(item, kind) for item in value)


def _shown(value: object) -> str:
    """A value in a few characters, whatever it is."""
    if isinstance(value, dict | list):
        return f"a {'table' if isinstance(value, dict) else 'list'} of {len(value)}"
    if isinstance(value, int) and value.bit_length() > 128:
        return "a number of dozens of digits"
    return f"{value!r}"[:80]
