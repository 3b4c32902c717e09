"""What names and attributes of a solution stand for: one may be taken for another of its kind."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import libcst as cst
from libcst import matchers as m

SIZE, TENSOR, TRUTH = "int", "Tensor", "bool"

Kinds = dict[str, str]
"""By name, the kind of what it stands for: an annotation, or what makes it, like "nn.Linear"."""


@dataclass(frozen=True, slots=True)
class Names:
    """The names of a function, and the attributes of its module's classes.

    Args:
        kinds: of the parameters and local names.
        bound: each of them as often as it is given a value.
        attributes: by class, the kinds of the attributes that its methods set.
    """

    kinds: Kinds = field(default_factory=dict)
    bound: tuple[str, ...] = ()
    attributes: tuple[Kinds, ...] = ()

    @classmethod
    def of(cls, module: cst.Module, part: cst.CSTNode) -> "Names":
        """The names of a function, or of another statement, of a module."""
        assigned = list(_assigned(module, part))
        kinds = {name: kind for name, kind in reversed(assigned) if name.isidentifier()}
        classes = [_assigned(module, node) for node in m.findall(module, m.ClassDef())]
        attributes = tuple(
            {n.removeprefix("self."): kind for n, kind in pairs if n.startswith("self.")}
            for pairs in classes
        )
        return cls(kinds, tuple(name for name, _ in assigned), attributes)

    def like(self, name: str) -> list[str]:
        """The other names of the kind of a name."""
        return [other for other in self.of_kind(self.kinds.get(name, "")) if other != name]

    def of_kind(self, kind: str) -> list[str]:
        """The names of a kind."""
        return sorted(name for name, its in self.kinds.items() if its == kind)

    def attributes_like(self, name: str) -> list[str]:
        """The other attributes of the kind of an attribute, of the classes that have it."""
        having = [kinds for kinds in self.attributes if name in kinds]
        alike = {other for kinds in having for other in kinds if kinds[other] == kinds[name]}
        return sorted(alike - {name})

    def kind_of_attribute(self, name: str) -> str:
        """An attribute's kind; that of nothing where no class has it."""
        return next((kinds[name] for kinds in self.attributes if name in kinds), "")

    def is_bound_before(self, name: str) -> bool:
        """Whether a name is given a value more than once, so that it may keep an earlier one."""
        return self.bound.count(name) > 1


def _assigned(module: cst.Module, part: cst.CSTNode) -> Iterator[tuple[str, str]]:
    """The parameters, names and attributes of self that are given values, with their kinds."""
    kinds: Kinds = {}
    for node in m.findall(part, m.Param() | m.Assign() | m.AnnAssign()):
        for name, kind in _bound_by(module, node, kinds):
            kinds.setdefault(name, kind)
            yield name, kind


def _bound_by(module: cst.Module, node: cst.CSTNode, kinds: Kinds) -> Iterator[tuple[str, str]]:
    if isinstance(node, cst.Param):
        if node.annotation is not None:
            yield node.name.value, module.code_for_node(node.annotation.annotation)
    elif isinstance(node, cst.AnnAssign):
        yield module.code_for_node(node.target), module.code_for_node(node.annotation.annotation)
    elif isinstance(node, cst.Assign):
        target, value = node.targets[0].target, node.value
        targets, values = _parts(target), _parts(value)
        if len(values) != len(targets):
            values = [value] * len(targets)
        for part, what in zip(targets, values, strict=True):
            if not isinstance(part, cst.Subscript):
                yield module.code_for_node(part), _kind(module, what, kinds)


def _parts(node: cst.CSTNode) -> list[cst.CSTNode]:
    return [element.value for element in node.elements] if isinstance(node, cst.Tuple) else [node]


def _kind(module: cst.Module, value: cst.CSTNode, kinds: Kinds) -> str:
    """The kind of what an expression makes."""
    code = module.code_for_node(value)
    if isinstance(value, cst.Name):
        return kinds.get(code, "")
    if isinstance(value, cst.Subscript | cst.Attribute):
        return SIZE if ".shape" in code else TENSOR
    if isinstance(value, cst.Tuple):
        return "tuple"
    if isinstance(value, cst.Call) and code.startswith("nn."):
        return code.partition("(")[0]
    used = {kinds.get(module.code_for_node(name)) for name in m.findall(value, m.Name())}
    return SIZE if used == {SIZE} else TENSOR
