"""Which of a module's parameters stands for one of the solution's, where its name is another."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from grader.course.settings import NO_OTHER_NAMES, OtherNames

WORDS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")

GENERAL = {"proj", "projection"}
"""Words that any layer may have in its name: they say a role where no other word does."""

KINDS = ("weight", "bias")
NUMBERED = re.compile(r"\d+")

Place = tuple[tuple[str, ...], str, str]
"""The numbers in a parameter's full name, its role and its kind: where two are the same, one can
stand for the other."""


@dataclass(frozen=True, slots=True)
class Roles:
    """The roles of a course's parameters.

    Args:
        words: by role, the words that say it in a parameter's name.
        other_names: of the arguments of constructors.
    """

    words: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    other_names: OtherNames = NO_OTHER_NAMES

    def place(self, name: str) -> Place | None:
        """Where a parameter of this full name belongs, None where the name does not say it."""
        parts = name.split(".")
        kind = parts.pop() if parts[-1] in KINDS and len(parts) > 1 else ""
        said = {word.lower() for word in WORDS.findall(parts[-1])}
        roles = self._of(said - GENERAL) or self._of(said)
        if len(roles) != 1:
            return None
        return tuple(part for part in parts if NUMBERED.fullmatch(part)), roles[0], kind

    def _of(self, said: set[str]) -> list[str]:
        return [role for role, known in self.words.items() if said & set(known)]

    def stand_ins(self, missing: Iterable[str], others: Iterable[str]) -> dict[str, str]:
        """By the solution's name of a missing parameter, the one parameter that can stand for it.

        That is the one of the same role; and where one layer is left on both sides, that one.

        Args:
            missing: names of the solution's parameters.
            others: full names of the parameters that the solution does not have.
        """
        missing, others = list(missing), list(others)
        fits = partial(_is_in_place, of=[_path(n) for n in missing], own=[_path(n) for n in others])
        wanted, own = ([(name, self.place(name)) for name in names] for names in (missing, others))
        found = {}
        for name, at in wanted:
            if at is None:
                continue
            same = [other for other, where in own if where == at and fits(name, other)]
            if len(same) != 1:
                continue
            rivals = [one for one, where in wanted if where == at and fits(one, same[0])]
            if len(rivals) == 1:
                found[name] = same[0]
        lacking = _layers(name for name in missing if name not in found)
        spare = _layers(name for name in others if name not in found.values())
        if len(lacking) == len(spare) == 1:
            ((layer, kinds),), ((other, own_kinds),) = lacking.items(), spare.items()
            if kinds == own_kinds and fits(layer, other):
                found |= {_full(layer, kind): _full(other, kind) for kind in kinds}
        return found


def _path(name: str) -> list[str]:
    """The modules that a layer, or a parameter of no layer, stands in."""
    layer, _, kind = name.rpartition(".")
    return (layer if kind in KINDS and layer else name).split(".")[:-1]


def _is_in_place(
    name: str, other: str, *, of: Sequence[Sequence[str]], own: Sequence[Sequence[str]]
) -> bool:
    """Whether a parameter stands in the module of another, or in what stands for it.

    Args:
        name: of the solution's parameter.
        other: of the one that may stand for it.
        of: the paths of all that are missing.
        own: those of all that may stand for them.
    """
    one, another = _path(name), _path(other)
    if len(one) != len(another):
        short, long = sorted((one, another), key=len)
        rest = iter(long)
        return all(part in rest for part in short)
    for depth, (part, its) in enumerate(zip(one, another, strict=True)):
        asked = {p[depth] for p in of if p[:depth] == one[:depth] and len(p) > depth}
        there = {p[depth] for p in own if p[:depth] == another[:depth] and len(p) > depth}
        if part != its and (asked - there, there - asked) != ({part}, {its}):
            return False
    return True


Shapes = Mapping[str, tuple[int, ...]]


def alike_in_place(missing: Shapes, others: Shapes) -> dict[str, str]:
    """By the solution's name of a missing parameter, the one that stands in its place.

    That is one of a layer with parameters of the same shapes, in the same numbered part (the first
    number in a name says which); of several such layers, the first for the first. Numbers at the
    end of their names say their order, else the order in which they were made.

    Args:
        missing: the shapes of the solution's parameters, by name.
        others: those of the parameters that the solution does not have.
    """
    is_parted = any(NUMBERED.fullmatch(part) for name in missing for part in name.split("."))
    wanted, own = (_alike(shapes, is_parted) for shapes in (missing, others))
    found: dict[str, str] = {}
    for key, layers in wanted.items():
        candidates = own.get(key, [])
        ends = [re.search(r"\d+$", next(iter(layer)).rpartition(".")[0]) for layer in candidates]
        if all(ends):
            numbers = [int(end[0]) for end in ends if end]
            pairs = sorted(zip(numbers, candidates, strict=True), key=lambda pair: pair[0])
            candidates = [layer for _number, layer in pairs]
        if len(candidates) >= len(layers):
            for layer, other in zip(layers, candidates, strict=False):
                found |= dict(zip(layer, other, strict=True))
    return found


def _alike(shapes: Shapes, is_parted: bool) -> dict[tuple[object, ...], list[list[str]]]:
    """The parameters of each layer, by its numbered part and their shapes."""
    layers: dict[str, list[str]] = {}
    for name in shapes:
        layers.setdefault(name.rpartition(".")[0], []).append(name)
    found: dict[tuple[object, ...], list[list[str]]] = {}
    for layer, names in layers.items():
        numbers = [part for part in layer.split(".") if NUMBERED.fullmatch(part)]
        part = numbers[:1] if is_parted else []
        found.setdefault((*part, *(tuple(shapes[name]) for name in names)), []).append(names)
    return found


def _layers(names: Iterable[str]) -> dict[str, set[str]]:
    """The kinds of the parameters of each layer that has more than a bias."""
    layers: dict[str, set[str]] = {}
    for name in names:
        layer, _, kind = name.rpartition(".")
        if kind not in KINDS or not layer:
            layer, kind = name, ""
        layers.setdefault(layer, set()).add(kind)
    return {layer: kinds for layer, kinds in layers.items() if kinds != {"bias"}}


def _full(layer: str, kind: str) -> str:
    return f"{layer}.{kind}" if kind else layer
