"""What constructors take: the solution's and the student's own, and how to call one as the other."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from grader.course.settings import NO_OTHER_NAMES, OtherNames
from grader.sandbox.plain_data import Settings
from grader.sandbox.wire import Frame
from grader.testing.roles import WORDS

MAX_CLASSES = 200
MAX_DEFINITIONS = 50
MAX_NAME = 100

SHORTEST = 3
"""So many letters of a word stand for all of it: `len` for `length`."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter: its name, and in a tuple its default, if it has one."""

    name: str
    default: tuple[Any, ...] = ()


Parameters = tuple[Parameter, ...]


@dataclass(frozen=True, slots=True)
class Definition:
    """A class of a file.

    Args:
        parameters: what its constructor takes; None where names do not say it.
        cell: of a notebook.
        line: 0 for a class that was imported.
        forward: what its `forward` takes besides the instance, likewise.
    """

    parameters: Parameters | None
    cell: int | None = None
    line: int = 0
    forward: Parameters | None = None

    def takes(self, wanted: Parameters) -> bool:
        """Whether it can be called with as many arguments as are wanted."""
        own = self.parameters
        if own is None:
            return True
        least, most = sum(not p.default for p in wanted), len(wanted)
        return sum(not p.default for p in own) <= most and least <= len(own)


Classes = Mapping[str, tuple[Definition, ...]]


def read_classes(frame: Frame) -> Classes:
    """The classes of a loaded file by name, earlier ones of a name first."""
    found = frame.header.get("classes")
    items = list(found.items())[:MAX_CLASSES] if isinstance(found, dict) else ()
    return {
        str(name): tuple(_definition(one) for one in listed[:MAX_DEFINITIONS])
        for name, listed in items
        if isinstance(listed, list)
    }


def read_functions(frame: Frame) -> Mapping[str, Parameters]:
    """What the functions of a loaded file take, by name; nothing of those whose names do not say it."""
    found = frame.header.get("classes")
    items = list(found.items())[:MAX_CLASSES] if isinstance(found, dict) else ()
    taken = {str(n): _parameters(f.get("parameters")) for n, f in items if isinstance(f, dict)}
    return {name: parameters for name, parameters in taken.items() if parameters}


def _definition(content: Any) -> Definition:
    content = content if isinstance(content, dict) else {}
    cell, line, listed = (content.get(key) for key in ("cell", "line", "parameters"))
    number = cell if type(cell) is int else None
    line, forward = line if type(line) is int else 0, _parameters(content.get("forward"))
    return Definition(_parameters(listed), number, line, forward)


def _parameters(listed: Any) -> Parameters | None:
    entries = listed[:MAX_DEFINITIONS] if isinstance(listed, list) else [None]
    found = []
    for entry in entries:
        match entry:
            case [str(name), list(default)] if name.isidentifier() and len(name) <= MAX_NAME:
                found.append(Parameter(name, tuple(default[:1])))
            case _:
                return None
    return tuple(found)


def best(definitions: Sequence[Definition], wanted: Parameters) -> int:
    """The place of the last definition that takes what is wanted; else of the most alike."""
    fits = [place for place, one in enumerate(definitions) if one.takes(wanted)]
    if fits:
        return fits[-1]
    names = {parameter.name for parameter in wanted}
    shared = [len(names & {p.name for p in one.parameters or ()}) for one in definitions]
    return max(range(len(shared)), key=lambda place: (shared[place], place), default=0)


def arranged(
    wanted: Parameters,
    own: Parameters,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    names: OtherNames = NO_OTHER_NAMES,
    text: str = "",
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """A call as the solution takes it, as a constructor with other parameters takes it.

    A value goes to the parameter of its name, or of another name for it, then to the one whose name
    has a part of it (`context_size` for `context_length`); what is left goes to what is left in the
    same place, or to the only one that is left; but not to one with a default of another kind, such
    as `causal=True` for a number: then it is left out. A parameter without a default that the
    solution gives one gets that.

    Args:
        wanted: the solution's parameters.
        own: the student's.
        args: in the order of `wanted`.
        kwargs: by the names of `wanted`.
        names: what arguments are called besides.
        text: of the student's file: what it does not mention is left out of settings.

    Returns:
        The arguments as they are where the two do not differ, or cannot be brought together.
    """
    as_written = tuple(args), dict(kwargs)
    if alike(wanted, own) or len(args) > len(wanted):
        return as_written
    values = {p.name: value for p, value in zip(wanted, args, strict=False)} | dict(kwargs)
    own_names = [p.name for p in own]
    places = _by_name(wanted, own_names, names)
    rest = [name for name in own_names if name not in places.values()]
    defaults = {p.name: p.default[0] for p in wanted if p.default}
    settings = _only(one for one in rest if one in names.of("settings"))
    unasked = {one: v for name, v in names.unasked for one in names.of(name) if one in rest}
    if settings:
        known = dict(names.unasked) | defaults | values
        words = {*re.findall(r"\w+", text)}
        held = {one: v for name, v in known.items() for one in names.of(name) if one in words}
        held |= {one: None for one in names.of("absent") if one in words}
        unasked[settings] = Settings(held)
        values = {name: value for name, value in values.items() if name in places}
    else:
        asked = tuple(p for p in own if p.name not in unasked)
        by_name, places = places, _places(wanted, asked, places, values)
        if not values.keys() <= places.keys():  # `bias` may be what it calls `qkv_bias`
            kinds = [
                replace(p, default=(unasked[p.name],)) if p.name in unasked else p for p in own
            ]
            places = _places(wanted, kinds, by_name, values)
            unasked = {name: v for name, v in unasked.items() if name not in places.values()}
    if not values.keys() <= places.keys():
        return as_written
    given = {places[name]: value for name, value in values.items() if places[name]}
    given |= {settings: unasked[settings]} if settings else {}
    extra = unasked | {places[name]: v for name, v in defaults.items() if name in places}
    needed = {p.name: extra[p.name] for p in own if not p.default and p.name in extra}
    given = needed | given
    return (), {p.name: given[p.name] for p in own if p.name in given}


def bound(own: Parameters, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, int]:
    """Which value each of a constructor's parameters takes in a call, by the value's identity."""
    names = [*(p.name for p in own), *(str(place) for place in range(len(own), len(args)))]
    values = dict(zip(names, args, strict=False)) | dict(kwargs)
    return {name: id(value) for name, value in values.items()}


def _only(names: Iterable[str]) -> str:
    """The only one of several names; "" where there is another number of them."""
    found = list(names)
    return found[0] if len(found) == 1 else ""


def _by_name(wanted: Parameters, own_names: Sequence[str], names: OtherNames) -> dict[str, str]:
    """By the name of the solution's parameter, the student's of that name, or of another for it."""
    places = {p.name: p.name for p in wanted if p.name in own_names}
    for name in [p.name for p in wanted if p.name not in places]:
        rest = [one for one in own_names if one not in places.values()]
        if other := _only(one for one in rest if one in names.of(name)):
            places[name] = other
    return places


def _places(
    wanted: Parameters,
    own: Sequence[Parameter],
    places: Mapping[str, str],
    values: Mapping[str, Any],
) -> dict[str, str]:
    """By the name of the solution's parameter, the student's that takes its value; "" for none.

    Args:
        wanted: the solution's parameters.
        own: the student's.
        places: those that are known by name.
        values: by the name of the solution's parameter.
    """
    names, own_names = ([p.name for p in side] for side in (wanted, own))
    places = {**places, **_by_part(names, own_names, places)}
    rest = [p for p in own if p.name not in places.values()]
    left = [p.name for p in wanted if p.name not in places and not p.default]
    if len(left) == len(rest) == 1 and not rest[0].default:
        return places | {left[0]: rest[0].name}
    pairs = zip(names, own, strict=False)
    return places | {
        a: b.name if a not in values or _may_be(b, values[a]) else ""
        for a, b in pairs
        if a not in places and b in rest
    }


def _may_be(parameter: Parameter, value: Any) -> bool:
    """Whether a value is of the kind of a parameter's default, as far as it has one."""
    default = parameter.default[0] if parameter.default else None
    for kind in (bool, str, int | float):
        if isinstance(default, kind):
            return isinstance(value, kind) and isinstance(value, bool) == isinstance(default, bool)
    return True


def _by_part(
    names: Sequence[str], own_names: Sequence[str], places: Mapping[str, str]
) -> dict[str, str]:
    """The pairs of names that share words with one another more than with any other."""
    counted = Counter(word for name in names for word in _words(name))
    said = {name: {word for word in _words(name) if counted[word] == 1} for name in names}
    likeness = {
        (name, own): sum(_alike_words(a, b) for a in said[name] for b in _words(own))
        for name in names
        for own in own_names
        if name not in places and own not in places.values()
    }
    return {
        pair[0]: pair[1]
        for pair, most in likeness.items()
        if most
        and all(n < most for p, n in likeness.items() if (p[0] == pair[0]) != (p[1] == pair[1]))
    }


def _words(name: str) -> set[str]:
    """The words of a name, in lower case and without a plural's s."""
    return {word.lower().removesuffix("s") for word in WORDS.findall(name)}


def _alike_words(one: str, other: str) -> int:
    """How much two words are one: 2 for the same, 1 where one is the beginning of the other."""
    is_begun = min(len(one), len(other)) >= SHORTEST and one[: len(other)] == other[: len(one)]
    return 2 if one == other else int(is_begun)


def keeps_to(wanted: Parameters, own: Parameters, *, by_place: bool = False) -> bool:
    """Whether names and order are those that are wanted; more may follow, with defaults.

    Args:
        wanted: the solution's parameters.
        own: the student's.
        by_place: whether other names are as good, at the same places.
    """
    names, own_names = ([p.name for p in side] for side in (wanted, own))
    pairs = list(zip(names, own_names, strict=False))
    more = (*wanted[len(own) :], *own[len(names) :])
    is_kept = all(a == b or (by_place and a not in own_names and b not in names) for a, b in pairs)
    return is_kept and all(p.default for p in more)


def is_in_another_order(wanted: Parameters, own: Parameters) -> bool:
    """Whether a function takes what is wanted in another order: called by place, it takes one for another."""
    names, own_names = ([p.name for p in side] for side in (wanted, own))
    return names != own_names and sorted(names) == sorted(own_names)


def alike(wanted: Parameters, own: Parameters) -> bool:
    """Whether names, order and the lack of a default are the same."""
    one, other = ([(p.name, not p.default) for p in side] for side in (wanted, own))
    return one == other
