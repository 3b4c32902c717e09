"""What stands for a name that could not be imported, so that the rest of a file is run.

It runs beside student code: standard library only.
"""

import ast
from collections.abc import Iterator
from typing import Any

USES = (
    *("call", "iter", "next", "len", "contains", "getitem", "setitem", "delitem", "enter", "exit"),
    *("bool", "int", "float", "index", "neg", "abs", "lt", "le", "gt", "ge", "mro_entries"),
    *("instancecheck", "subclasscheck", "add", "radd", "sub", "rsub", "mul", "rmul", "matmul"),
    *(
        "or",
        "ror",
        "and",
        "rand",
        "rmatmul",
        "truediv",
        "rtruediv",
        "floordiv",
        "rfloordiv",
        "mod",
        "rmod",
        "pow",
        "rpow",
    ),
)
"""What Python asks an object's class for, without its underscores."""


class UnavailableError(ImportError):
    """Raised where a name is used that could not be imported.

    Args:
        name: the name.
        cause: why the import failed, a `Failure`.
    """

    def __init__(self, name: str, cause: Any) -> None:
        super().__init__(cause.message, name=name)
        self.cause = cause


class NotImported:
    """Stands for a name that could not be imported; whatever is done with it raises.

    Args:
        name: the name, as the file has it.
        cause: why the import failed, a `Failure`.
    """

    def __init__(self, name: str, cause: Any) -> None:
        self._name, self._cause = name, cause

    def error(self) -> UnavailableError:
        """What is raised where it is used."""
        return UnavailableError(self._name, self._cause)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # Python's own questions
            raise AttributeError(name)
        raise self.error()


def _use(self: NotImported, *_args: object, **_kwargs: object) -> Any:
    raise self.error()


for _name in USES:
    setattr(NotImported, f"__{_name}__", _use)


def bound_names(node: ast.AST) -> Iterator[str]:
    """The names that a statement sets where it stands."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.Import | ast.ImportFrom):
        yield from (alias.asname or alias.name.partition(".")[0] for alias in node.names)
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        yield node.id
    elif not isinstance(node, ast.Lambda | ast.comprehension):
        for child in ast.iter_child_nodes(node):
            yield from bound_names(child)


def one_by_one(statement: ast.stmt) -> list[ast.stmt]:
    """An import of several names as one import for each; any other statement as it is."""
    if isinstance(statement, ast.Import):
        parts: list[ast.stmt] = [ast.Import([alias]) for alias in statement.names]
    elif isinstance(statement, ast.ImportFrom):
        from_ = statement
        parts = [ast.ImportFrom(from_.module, [name], from_.level) for name in from_.names]
    else:
        return [statement]
    return [ast.copy_location(part, statement) for part in parts]


def is_elsewhere(error: BaseException) -> bool:
    """Whether a file, the network, a keyboard or a command line is not there that was at home."""
    is_argparse = isinstance(error, SystemExit) and error.code == 2
    return isinstance(error, OSError | EOFError) or is_argparse
