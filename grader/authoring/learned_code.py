"""What of a student's code may become a known mistake: what computes, and nothing else.

A known mistake runs sealed, and a person reads it first. This is the third thing: code that asks for
more than the solution's own vocabulary, Python's arithmetic and torch's functions of tensors is
refused, whatever it would do with that.
"""

import ast
import builtins
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType

import numpy as np
import torch
from torch import nn

MODULES: Mapping[str, ModuleType] = {
    "math": math,
    "numpy": np,
    "torch": torch,
    "torch.fft": torch.fft,
    "torch.linalg": torch.linalg,
    "torch.nn": nn,
    "torch.nn.functional": nn.functional,
    "torch.nn.init": nn.init,
    "torch.special": torch.special,
}
BUILTINS = {
    *("abs", "all", "any", "bool", "bytes", "complex", "dict", "divmod", "enumerate", "filter"),
    *("float", "frozenset", "hasattr", "int", "isinstance", "iter", "len", "list", "map", "max"),
    *("min", "next", "pow", "print", "range", "repr", "reversed", "round", "set", "slice"),
    *("sorted", "str", "sum", "super", "tuple", "zip", "NotImplemented"),
    *(n for n, v in vars(builtins).items() if isinstance(v, type) and issubclass(v, Exception)),
}
TORCH = frozenset(
    (
        *(name for name in dir(torch._C._VariableFunctions) if name != "from_file"),
        *torch.functional.__all__,
        *("Generator", "Size", "Tensor", "enable_grad", "finfo", "iinfo", "is_tensor"),
        *("manual_seed", "no_grad"),
    )
)
"""What of torch makes tensors or computes with them."""
VALUES: tuple[type, ...] = (
    nn.Module,
    torch.Tensor,
    bytes,
    dict,
    float,
    frozenset,
    int,
    list,
    set,
    str,
)
"""Types whose methods compute; `METHODS_ASIDE` do not."""
OF_LAYERS = frozenset(
    name
    for layer in (nn.Module, *vars(nn).values())
    if isinstance(layer, type)
    for name in (*getattr(layer, "__annotations__", ()), *getattr(layer, "__constants__", ()))
)
"""What torch's layers keep: `in_features`, `weight`, `training`."""
METHODS_ASIDE = {"compile", "format", "format_map", "share_memory_", "storage", "untyped_storage"}
STATEMENTS = {
    ast.Import: "it imports something",
    ast.ImportFrom: "it imports something",
    ast.Global: "it changes a global name",
    ast.Nonlocal: "it changes a name of another function",
    ast.ClassDef: "it defines a class",
    ast.AsyncFunctionDef: "it is asynchronous",
    ast.Await: "it is asynchronous",
}


def refusal(code: Sequence[ast.stmt], parameters: Collection[str], solution: str) -> str:
    """What of some code is not of the solution's kind, in words; "" where all of it is.

    Args:
        code: the statements.
        parameters: of the functions that they are to stand in.
        solution: the text that these stand in.
    """
    vocabulary = _Vocabulary(ast.parse(solution))
    own = _Vocabulary(ast.Module([*code], []))
    vocabulary.names |= own.bound | {*parameters}
    vocabulary.attributes |= own.stored
    try:
        return next((what for statement in code for what in _foreign(statement, vocabulary)), "")
    except RecursionError:
        return "one thing stands in another too deeply"


@dataclass(slots=True)
class _Vocabulary:
    """The names of some code.

    Args:
        tree: the code.
        modules: by the name that it has there, each module that it imports.
        names: what is bound at the top of it, without these.
        bound: what is bound anywhere in it.
        attributes: what it asks of values.
        stored: the attributes that it sets.
        chains: dotted names in it.
    """

    tree: ast.Module
    modules: dict[str, str] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)
    bound: set[str] = field(default_factory=set)
    attributes: set[str] = field(default_factory=set)
    stored: set[str] = field(default_factory=set)
    chains: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        """Look through the code."""
        for node in ast.walk(self.tree):
            match node:
                case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                    self.bound.add(name)
                case ast.FunctionDef(name=name) | ast.ExceptHandler(name=str(name)):
                    self.bound.add(name)
                case ast.Attribute(attr=name):
                    self.attributes.add(name)
                    self.chains.add(ast.unparse(node))
                    self.stored |= {name} if isinstance(node.ctx, ast.Store) else set()
        for statement in self.tree.body:
            self._bind(statement)

    def _bind(self, statement: ast.stmt) -> None:
        match statement:
            case ast.Import(names=names):
                self.modules |= {a.asname or a.name.partition(".")[0]: _meant(a) for a in names}
            case ast.ImportFrom(names=names, module=module):
                for alias in names:
                    full, name = f"{module}.{alias.name}", alias.asname or alias.name
                    if full in MODULES:
                        self.modules[name] = full
                    else:
                        self.names.add(name)
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                self.names.add(name)
            case ast.Assign() | ast.AnnAssign():
                nodes = ast.walk(statement)
                self.names |= {n.id for n in nodes if isinstance(n, ast.Name)} & self.bound


def _meant(alias: ast.alias) -> str:
    """The module that a name stands for after an `import`."""
    return alias.name if alias.asname else alias.name.partition(".")[0]


def _foreign(node: ast.AST, known: _Vocabulary) -> Iterator[str]:
    """What no solution of this vocabulary would have, in words; of `a.b` first what `a` has of it."""
    dotted = _dotted(node) if isinstance(node, ast.Attribute) else []
    if dotted and dotted[0] in known.modules:
        if ast.unparse(node) not in known.chains:
            yield from _foreign_of_module(dotted, known)
        return
    for child in ast.iter_child_nodes(node):
        yield from _foreign(child, known)
    match node:
        case ast.Attribute(attr=name):
            if not _is_of_values(name, known) and not _is_init_of_super(node):
                yield f"`.{name}` is nothing that the solution or torch's tensors have"
        case ast.Name(id=name, ctx=ast.Load()) if name in known.modules:
            yield f"`{name}` is a module, and stands there by itself"
        case ast.Name(id=name) if name not in known.names | BUILTINS or name.startswith("__"):
            yield f"`{name}` is no name of the solution"
        case _ if type(node) in STATEMENTS:
            yield STATEMENTS[type(node)]


def _dotted(node: ast.Attribute) -> list[str]:
    """The names of `a.b.c`; none where it is an attribute of something else."""
    value: ast.expr = node.value
    names = [node.attr]
    while isinstance(value, ast.Attribute):
        names = [value.attr, *names]
        value = value.value
    return [value.id, *names] if isinstance(value, ast.Name) else []


def _foreign_of_module(dotted: Sequence[str], known: _Vocabulary) -> Iterator[str]:
    """What of a module computes nothing, in words."""
    module, rest = known.modules[dotted[0]], list(dotted[1:])
    while rest and f"{module}.{rest[0]}" in MODULES:
        module = f"{module}.{rest.pop(0)}"
    is_known = bool(rest) and module in MODULES and _computes(module, rest[0])
    if not is_known or not all(_is_of_values(name, known) for name in rest[1:]):
        yield f"`{'.'.join(dotted)}` is no function of tensors, and the solution does not use it"


def _computes(module: str, name: str) -> bool:
    """Whether something in one of `MODULES` makes or computes tensors, numbers or layers."""
    value = getattr(MODULES[module], name, None)
    if name.startswith("_") or value is None or isinstance(value, ModuleType):
        return name == "newaxis"
    if isinstance(value, float | torch.dtype):
        return True
    if module == "torch":
        return name in TORCH
    if module == "numpy":
        is_type = isinstance(value, type) and issubclass(value, np.generic | np.ndarray)
        is_method = name in dir(np.ndarray) or name in TORCH or name == "array"
        return (is_type and value is not np.memmap) or isinstance(value, np.ufunc) or is_method
    if module == "torch.nn":
        return isinstance(value, type) and issubclass(value, nn.Module | nn.Parameter)
    return callable(value)


def _is_of_values(name: str, known: _Vocabulary) -> bool:
    """Whether an attribute is the solution's, or computes."""
    if name.startswith("__"):
        return False
    if name in known.attributes:
        return True
    if name.startswith("_") or name in METHODS_ASIDE:
        return False
    return name in OF_LAYERS or any(hasattr(type_, name) for type_ in VALUES)


def _is_init_of_super(node: ast.Attribute) -> bool:
    """Whether this is `super().__init__`."""
    return ast.unparse(node) == "super().__init__"
