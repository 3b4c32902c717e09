"""Further kinds of values as they travel: numbers that are exact, dates, ranges, members, named fields.

Each has a form of its own, which is checked before anything is made of it. It runs on both sides, beside
student code as well.
"""

import re
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, is_dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from typing import Any

MOST_BITS = 4_096
"""Of the two numbers of a fraction."""
MOST_SIZE_BITS = 60
"""Of what a range or a span of time consists of."""
DECIMAL = re.compile(r"-?(?:\d{1,1000}(?:\.\d{0,1000})?(?:E[+-]\d{1,4})?|NaN|Infinity)", re.ASCII)
"""Without a signal, which comparing would raise, and without exponents that need much memory to print."""
NAME = re.compile(r"\w{1,100}(?:\.\w{1,100}){0,9}")
LONGEST_MOMENT = 40


@dataclass(frozen=True, slots=True)
class EnumMember:
    """A member of an enumeration of the student's, or of the solution's.

    Args:
        type_name: the enumeration.
        name: the member.
        value: what it stands for.
    """

    type_name: str
    name: str
    value: Any

    def __repr__(self) -> str:
        """As Python writes it in code."""
        return f"{self.type_name}.{self.name}"


@dataclass(frozen=True, slots=True)
class Record:
    """An instance of a dataclass of the student's, or of the solution's.

    Args:
        type_name: the dataclass.
        fields: its fields by name.
    """

    type_name: str
    fields: dict[str, Any]

    def __repr__(self) -> str:
        """As Python writes it in code."""
        listed = ", ".join(f"{name}={value!r}" for name, value in self.fields.items())
        return f"{self.type_name}({listed})"


MOMENTS: dict[str, Any] = {"date": date, "time": time, "datetime": datetime}
EXACT = (Decimal, Fraction, range, date, time, timedelta, EnumMember)
"""What is compared as a whole. In sets and as keys their hashes can be chosen."""
HASHED = (*EXACT, complex)
STAYS = (EnumMember, Record)
"""Received as a description only; it cannot be passed as an argument."""


def node_of(value: object, pack: Callable[[object], Any]) -> dict[str, Any] | None:
    """The node of a value of one of these kinds; None where it is none, or too large.

    Args:
        value: what travels.
        pack: makes the nodes of its parts.
    """
    kind = type(value)
    if isinstance(value, Enum | EnumMember):
        owner = value.type_name if isinstance(value, EnumMember) else kind.__qualname__
        return {"enum": [_name(owner), str(value.name), pack(value.value)]}
    if isinstance(value, Record):
        pairs = value.fields.items()
        return {"record": [value.type_name, [[name, pack(part)] for name, part in pairs]]}
    if is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in fields(value)]
        parts = [[name, pack(getattr(value, name, None))] for name in names]
        return {"record": [_name(kind.__qualname__), parts]}
    if kind is Decimal:
        text = str(value)
        return {"decimal": text} if DECIMAL.fullmatch(text) else None
    if isinstance(value, Fraction):
        whole = [value.numerator, value.denominator]
        return {"fraction": whole} if _are_whole(whole, MOST_BITS) else None
    if isinstance(value, complex):
        return {"complex": [pack(value.real), pack(value.imag)]}
    if isinstance(value, range):
        whole = [value.start, value.stop, value.step]
        return {"range": whole} if _are_whole(whole, MOST_SIZE_BITS) else None
    for tag, moment in MOMENTS.items():
        if kind is moment:
            return {tag: value.isoformat()}  # type: ignore[attr-defined]
    if kind is timedelta:
        return {"timedelta": [value.days, value.seconds, value.microseconds]}  # type: ignore[attr-defined]
    if isinstance(value, deque):
        return {"deque": pack(list(value))}
    return None


def value_of(tag: str, content: Any, unpack: Callable[[Any], Any]) -> Any:
    """The value that a node of one of these kinds stands for.

    Args:
        tag: the kind.
        content: what the node has.
        unpack: makes the values of its parts.

    Raises:
        LookupError: when the tag is of no such kind.
        ValueError: when the content does not fit it.
    """
    match tag, content:
        case "decimal", str(text) if DECIMAL.fullmatch(text):
            return Decimal(text)
        case "fraction", [over, under] if _are_whole(content, MOST_BITS) and under > 0:
            return Fraction(over, under)
        case "complex", [real, imaginary]:
            parts = unpack(real), unpack(imaginary)
            if all(type(part) is float for part in parts):
                return complex(*parts)
        case "range", [start, stop, step] if _are_whole(content, MOST_SIZE_BITS) and step:
            return range(start, stop, step)
        case (("date" | "time" | "datetime"), str(text)) if len(text) <= LONGEST_MOMENT:
            found = MOMENTS[tag].fromisoformat(text)
            if found.isoformat() == text:
                return found
        case "timedelta", [days, seconds, parts] if _are_whole(content, MOST_SIZE_BITS):
            return _span(days, seconds, parts)
        case "deque", _:
            if isinstance(items := unpack(content), list):
                return deque(items)
        case "enum", [str(owner), str(name), value] if NAME.fullmatch(owner) and len(name) <= 100:
            return EnumMember(owner, name, unpack(value))
        case "record", [str(owner), list(pairs)] if NAME.fullmatch(owner):
            return Record(owner, dict(_fields(pairs, unpack)))
        case _ if tag not in TAGS:
            raise LookupError(tag)
    raise ValueError(f"a value is no {tag}")


TAGS = (
    *("decimal", "fraction", "complex", "range", "timedelta", "deque", "enum", "record"),
    *MOMENTS,
)


def _span(days: int, seconds: int, parts: int) -> timedelta:
    try:
        return timedelta(days, seconds, parts)
    except OverflowError as error:
        raise ValueError("a span of time is too long") from error


def _fields(pairs: list[Any], unpack: Callable[[Any], Any]) -> Iterator[tuple[str, Any]]:
    for pair in pairs:
        match pair:
            case [str(name), node] if NAME.fullmatch(name):
                yield name, unpack(node)
            case _:
                raise ValueError("a record's field has no name")


def _are_whole(numbers: list[Any], bits: int) -> bool:
    return all(type(number) is int and number.bit_length() <= bits for number in numbers)


def _name(text: str) -> str:
    """The name of a class, without the function that it is defined in."""
    return text.rpartition(".<locals>.")[2][:100]
