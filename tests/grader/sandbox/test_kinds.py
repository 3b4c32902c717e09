"""Values that are neither plain nor tensors: each arrives as it was, or is refused; nothing is made of a lie."""

from collections import deque
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum, Flag
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from travel import travelled

from grader.sandbox.kinds import EnumMember, Record
from grader.sandbox.wire import MAX_DEPTH, Unpacker, Unsupported, WireFault


class Light(Enum):
    RED = "r"


class Right(Flag):
    READ = 1
    WRITE = 2


@dataclass
class Point:
    x: float
    y: Any = field(default_factory=list)


KINDS = [
    *map(Decimal, ("0.10", "-0", "1E+3", "1.5E-10", "Infinity", "123456789012345678901234567890")),
    *(Fraction(-1, 3), complex(1.5, -2), complex(float("inf"), 0), range(5), range(10, 0, -3)),
    *(date(2026, 1, 31), time(23, 59, 59, 999), timedelta(days=-1, microseconds=5)),
    datetime(2026, 1, 31, 12, 0, tzinfo=UTC),
    datetime(2026, 1, 31, tzinfo=timezone(timedelta(hours=5, minutes=30))),
    deque([1, [2.5], "x"]),
    {date(2026, 1, 1): Decimal("1.5"), Fraction(1, 2): [range(3)]},
    {date(2026, 1, 1), timedelta(1)},
    [(Decimal(1), {"when": time(1)})],
]


def shown(value: object) -> str:
    """A value for the name of its test; the order in a set differs between processes."""
    return repr(sorted(value, key=repr) if isinstance(value, set) else value)


@pytest.mark.parametrize("value", KINDS, ids=shown)
def test_a_value_arrives_as_it_was(value: object) -> None:
    """Of the same type, also inside of others."""
    found = travelled(value)
    assert type(found) is type(value)
    assert repr(found) == repr(value) if not isinstance(value, set) else found == value


def test_a_decimal_without_a_value_arrives() -> None:
    """It is equal to nothing, as in Python."""
    assert travelled(Decimal("NaN")).is_nan()


def test_a_member_and_named_fields_arrive_as_a_description() -> None:
    """By names alone: no class of the student's is made on the other side."""
    assert repr(travelled([Light.RED])) == "[Light.RED]"
    assert travelled(Right.READ) == EnumMember("Right", "READ", 1)
    point, red = Point(1.5, [Light.RED, Point(2.0)]), EnumMember("Light", "RED", "r")
    inner = Record("Point", {"x": 2.0, "y": []})
    assert travelled(point) == Record("Point", {"x": 1.5, "y": [red, inner]})
    assert repr(travelled(Point(1.0, "a"))) == "Point(x=1.0, y='a')"
    assert travelled(travelled(point)) == travelled(point)
    assert travelled({Light.RED: 1}) == {red: 1}


def test_a_truth_value_of_numpy_is_one() -> None:
    """Every `np.all(…)` gives one."""
    assert travelled([np.all([True]), np.array(1) == 2]) == [True, False]
    assert type(travelled(np.all([True]))) is bool


TOO_MUCH = [
    *(Decimal("sNaN"), Decimal("1E+999999"), Decimal("1" * 1001), Fraction(1, 2**5000)),
    *(range(2**70), (n for n in range(3)), Light),
]


@pytest.mark.parametrize("value", TOO_MUCH, ids=lambda value: str(value)[:20])
def test_what_is_too_large_or_of_another_kind_is_told_by_its_type(value: object) -> None:
    """A signal raises when it is compared; an exponent of six digits would take a memory to write out."""
    assert isinstance(travelled(value), Unsupported)


LIES: list[Any] = [
    *({"decimal": lie} for lie in ("sNaN", "1E+99999999", "9" * 2000, "١", "1_0", 1)),
    *({"fraction": lie} for lie in ([1, 0], [1, -2], [True, 2], [1, 2**5000], [1])),
    *({"complex": lie} for lie in ([1, "x"], [{"float": "nan"}], [1.0, {"list": []}])),
    *({"range": lie} for lie in ([0, 1, 0], [0, 2**61, 1], [0, 1.5, 1])),
    *({"date": lie} for lie in ("2026-13-01", "nan", "2026-W01-1", "2026-01-01" + " " * 50, 2026)),
    {"time": "25:00:00"},
    *({"datetime": lie} for lie in ("2026-01-01T00:00:00+99:00", "9" * 10_000)),
    *({"timedelta": lie} for lie in ([2**59, 0, 0], [float("inf"), 0, 0], [0, 0])),
    *({"deque": lie} for lie in ("abc", {"tuple": [1]})),
    *({"enum": lie} for lie in (["Light", "RED"], ["a b", "RED", 1], ["Light", "R" * 101, 1])),
    *({"record": ["Point", lie]} for lie in ({"x": 1}, [["x\n", 1]], [["x"]])),
    {"record": ["<b>", []]},
    {"set": [{"enum": ["Light", "RED", {"list": []}]}]},
    {"set": [{"record": ["Point", []]}]},
    {"pickle": "gASVAAAA"},
]


@pytest.mark.parametrize("node", LIES, ids=lambda node: str(node)[:40])
def test_a_form_that_lies_is_refused(node: Any) -> None:
    """Before anything is made of it."""
    with pytest.raises(WireFault):
        Unpacker(b"").unpack(node)


def test_what_is_nested_or_long_has_an_end() -> None:
    """A record in a record, a queue of queues, one that holds itself."""
    node: Any = 1
    for depth in range(3 * MAX_DEPTH):
        node = {"record": ["Point", [["x", node]]]} if depth % 2 else {"deque": {"list": [node]}}
    with pytest.raises(WireFault, match="nested too deeply"):
        Unpacker(b"").unpack(node)
    point = Point(1.0)
    point.y.append(point)
    assert "a value too deep or too long" in repr(travelled(point))
    many = {"record": ["Point", [[f"x{n}", n] for n in range(100_000)]]}
    with pytest.raises(WireFault, match="too many parts"):
        Unpacker(b"").unpack(many)


@pytest.mark.slow
def test_keys_whose_hashes_are_chosen_have_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fractions hash like whole numbers, modulo a prime: thousands of one hash would take minutes."""
    prime = 2**61 - 1
    monkeypatch.setattr("grader.sandbox.wire.MOST_ALIKE", 400)
    nodes = [{"fraction": [n * prime + 1, 1]} for n in range(410)]
    with pytest.raises(WireFault, match="too many"):
        Unpacker(b"").unpack({"set": nodes})
