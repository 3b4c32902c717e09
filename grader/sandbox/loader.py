"""Loads a submission's files where student code runs: cell by cell, keeping what did work.

It runs beside student code: standard library only.
"""

import __future__

import ast
import builtins
import contextlib
import linecache
import re
import sys
import types
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import accumulate, chain
from typing import Any

from grader.sandbox.constructors import Classes
from grader.sandbox.failures import (
    Failure,
    OutOfTime,
    describe_failure,
    stopped_at,
    stub_exercise,
)
from grader.sandbox.own_modules import file_of, folder_of, is_librarys
from grader.sandbox.placeholders import (
    NotImported,
    UnavailableError,
    bound_names,
    is_elsewhere,
    one_by_one,
)
from grader.sandbox.statements import future_flags, is_harmless, is_quick, statements_of
from grader.sandbox.wire import Frame

MAX_NAMES = 5_000
"""`from torch import *` alone brings more than a thousand."""

KERNEL_FILE = re.compile(r"ipykernel|^<ipython-input")
"""The file names that a notebook's kernel gives to its cells."""

GIVEN = ("globals", "locals", "fromlist", "level")
"""What `__import__` is given besides the name."""
STAR = "*"
"""Under this name a file has what stands for all that `from … import *` did not bring."""
ANNOTATIONS = __future__.annotations.compiler_flag
DEFINITIONS = ast.FunctionDef | ast.ClassDef
COMPOUND = ast.If | ast.For | ast.While | ast.With | ast.Try


class _Kernel:
    """What an exported notebook asks for its magics: nothing comes of them."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *_, **__: None


OF_NOTEBOOKS = {"display": lambda *_, **__: None, "get_ipython": _Kernel}
"""Names that IPython gives a notebook, and an exported one."""

USES_OWN = types.ModuleType("grader.notebook")
"""What a file that asks for earlier work receives: here it was handed in, and is found anyway."""
USES_OWN.__dict__["use_own"] = lambda *_: None


@dataclass(slots=True)
class Opened:
    """A loaded file: what it defined, and what failed on the way.

    Args:
        namespace: its names.
        failures: what ended it, or one of its cells.
        not_imported: the imports that failed; what follows them is run.
    """

    namespace: dict[str, Any]
    failures: list[Failure] = field(default_factory=list)
    not_imported: list[Failure] = field(default_factory=list)
    classes: Classes = field(init=False)

    def __post_init__(self) -> None:
        """Classes are noted as the file is run."""
        self.classes = Classes(self.namespace)

    def header(self) -> dict[str, Any]:
        """What is reported to the trusted side: the failures, the names defined, and the classes."""
        names = [
            name
            for name, value in list(self.namespace.items())
            if not (
                name.startswith(("_", STAR))
                or name in OF_NOTEBOOKS
                or isinstance(value, types.ModuleType)
            )
        ]
        reported: dict[str, Any] = {"failures": [one.header() for one in self.failures[:20]]}
        if self.not_imported:
            reported["not_imported"] = [failure.header() for failure in self.not_imported[:20]]
        if classes := self.classes.header():
            reported["classes"] = classes
        return {**reported, "names": names[:MAX_NAMES]}


@dataclass(slots=True)
class Loader:
    """The files of a submission by key, each loaded once, importable from one another.

    A file is `{"module": name, "display": file name, "cells": [[cell number or None, text]],
    "importable": bool}`. An `__import__` of their own handles imports between them, so that
    several submissions can be loaded in one process (solutions with a mistake each).

    Args:
        register: also put loaded files into `sys.modules`, where only one submission is loaded.
        interactive: let Ctrl-C through.
        texts: the files by key.
        opened: those that are loaded.
        modules: the modules of loaded files by key, and those of folders.
        files: for the file name of each code object, the student's file and cell.
        adopted: the key of a namespace that is filled elsewhere, if there is one.
        awaited: for the name of each of the course's modules the file that stands for it, or "".
        lent: by the course's module, the code of names that others import from it in place of the
            student's own.
        answered: by file, the names that are answered from outside, each with the parameters of
            the solution's.
        ask: sends a question out, where there are such names.
        standing: what stands for them, by file and name.
        loading: how many files are being loaded, one for another.
        announce: told which statement is about to run: its file's key, and the numbers of the cell
            and of the statement in it.
        stops: the statements that ended an earlier process, and why; they are not run again.
        is_late: whether the time of the request is up, so that only what takes none is run.
    """

    register: bool = False
    interactive: bool = False
    texts: dict[str, dict[str, Any]] = field(default_factory=dict)
    opened: dict[str, Opened] = field(default_factory=dict)
    modules: dict[str, types.ModuleType] = field(default_factory=dict)
    files: dict[str, tuple[str, int | None]] = field(default_factory=dict)
    adopted: str = ""
    awaited: dict[str, str] = field(default_factory=dict)
    lent: dict[str, str] = field(default_factory=dict)
    answered: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    ask: Callable[[Frame], Frame] | None = None
    standing: dict[tuple[str, str], Any] = field(default_factory=dict)
    loading: int = 0
    announce: Callable[[str, int, int], None] = lambda *_: None
    stops: dict[tuple[str, int, int], str] = field(default_factory=dict)
    is_late: bool = False

    def add(
        self,
        texts: Mapping[str, dict[str, Any]],
        awaited: Mapping[str, str] | None = None,
        lent: Mapping[str, str] | None = None,
        answered: Mapping[str, dict[str, list[str]]] | None = None,
    ) -> None:
        """Make these files known, and what stands for the course's modules; none is run yet."""
        self.texts.update(texts)
        self.awaited.update(awaited or {})
        self.lent.update(lent or {})
        self.answered.update(answered or {})

    def forget(self) -> None:
        """Know no file any more; none of them is imported."""
        for module in self.modules.values():
            if sys.modules.get(module.__name__) is module:
                del sys.modules[module.__name__]
        known = (self.texts, self.opened, self.modules, self.files, self.awaited, self.lent)
        for each in (*known, self.answered, self.standing, self.stops):
            each.clear()

    def adopt(self, key: str, namespace: dict[str, Any]) -> None:
        """Treat a namespace that is filled elsewhere (by a notebook's kernel) as a loaded file."""
        self.opened[key] = Opened(namespace)
        self.adopted = key

    def find_cell(self, filename: str) -> tuple[str, int | None] | None:
        """The student's file, and in a notebook the cell, for the file name of a code object."""
        found = self.files.get(filename)
        if found is None and self.adopted and KERNEL_FILE.search(filename):
            return self.adopted, None
        return found

    def open(self, key: str) -> Opened:
        """Load a file, once."""
        if key not in self.opened:
            source = self.texts[key]
            name = source["module"]
            if not source.get("importable") and (is_librarys(name) or name in sys.modules):
                name = f"submitted_{name}"
            module = types.ModuleType(name)
            own_import = partial(self._import, key)
            module.__dict__["__builtins__"] = {**vars(builtins), "__import__": own_import}
            module.__dict__["__file__"] = source["display"]
            module.__dict__.update(OF_NOTEBOOKS)
            self.modules[key] = module
            opened = self.opened[key] = Opened(module.__dict__)
            self.loading += 1
            try:
                with _known_by_name(name, module):
                    self._run(key, opened)
            finally:
                self.loading -= 1
            if self.register:
                sys.modules[name] = module
        return self.opened[key]

    def _stand_in(self, key: str, namespace: dict[str, Any]) -> None:
        """Put what is answered from outside where a file's own functions and classes stand.

        That is done as soon as they stand there, so that other names given to them are answered, too.
        """
        for name, parameters in self.answered.get(key, {}).items():
            value = namespace.get(name)
            if callable(value) and value is not self.standing.get((key, name)) and self.ask:
                from grader.sandbox.answered import stand_in  # it needs torch

                placed = stand_in(name, parameters, value, self.ask, lambda: self.loading > 0)
                namespace[name] = self.standing[key, name] = placed

    def _import(self, importer: str, name: str, *rest: Any, **named: Any) -> types.ModuleType:
        """Python's `__import__` in a file: it looks among the submission's own files first.

        Args:
            importer: the file.
            name: as in Python, like all that follows.
            rest: globals, locals, the names that are wanted, and how many dots stand before.
            named: the same by name.
        """
        given = {**dict(zip(GIVEN, rest, strict=False)), **named}
        names, level = given.get("fromlist") or (), given.get("level", 0)
        folder = folder_of(importer, level)
        if name == USES_OWN.__name__ and tuple(names) == ("use_own",):
            return USES_OWN
        found = self._own_modules(name, folder, importer)
        lent = self._lent(name, found) if level == 0 and name in self.lent else None
        if lent is not None and (found or all(hasattr(lent, inner) for inner in names)):
            return lent
        if not found and level == 0:
            return __import__(name, *rest, **named)
        if not found:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        for inner in [inner for inner in names if inner != STAR]:
            full = f"{name}.{inner}".lstrip(".")
            if not hasattr(found[-1], inner) and self._key(full, folder, importer):
                module = self._own_modules(full, folder, importer)[-1]
                setattr(found[-1], inner, module)
            if not name and not hasattr(found[-1], inner):  # `from . import heads`
                raise ModuleNotFoundError(f"No module named {inner!r}", name=inner)
        return found[-1] if names else found[0]

    def _lent(self, name: str, own: list[types.ModuleType]) -> types.ModuleType:
        """A module as others import it: the student's own, with what the course lends in it."""
        module = types.ModuleType(name)
        for each in own:
            module.__dict__.update(vars(each))
        exec(self.lent[name], module.__dict__)
        return module

    def _own_modules(self, name: str, folder: str, importer: str) -> list[types.ModuleType]:
        """The submission's own modules that each part of a dotted name stands for.

        Args:
            name: the name; "" for the folder.
            folder: where they are looked for first.
            importer: the file that asks.
        """
        found: list[types.ModuleType] = [] if name else [self._module(f"{folder}/")]
        for prefix in accumulate(name.split(".") if name else (), "{}.{}".format):
            key = self._key(prefix, folder, importer)
            if not key and found:
                raise ModuleNotFoundError(f"No module named {prefix!r}", name=prefix)
            if not key:
                break
            module = self._module(key)
            for parent in found[-1:]:
                setattr(parent, prefix.rpartition(".")[2], module)
            found.append(module)
        return found

    def _key(self, name: str, folder: str, importer: str) -> str:
        """The file, or folder, that a name stands for; "" for a library's.

        Args:
            name: the name.
            folder: where it is looked for first.
            importer: the file that asks.
        """
        for key, source in self.texts.items():
            if source["module"] == name and source.get("importable"):
                return key
        if name in self.awaited:
            other = self.awaited[name]
            return other if other != importer else ""
        return "" if is_librarys(name) else file_of(self.texts, name, folder)

    def _module(self, key: str) -> types.ModuleType:
        """The module of a file, loaded; of a folder, an empty one."""
        if not key.endswith("/"):
            self.open(key)
        elif f"{key}__init__.py" in self.texts:
            return self._module(f"{key}__init__.py")
        elif key not in self.modules:
            self.modules[key] = types.ModuleType(key.strip("/").rpartition("/")[2])
        return self.modules[key]

    # Running a file.

    def _run(self, key: str, opened: Opened) -> None:
        """Run a file's cells; once its time is up, only what takes none."""
        source, flags = self.texts[key], 0
        for place, (number, text) in enumerate(source["cells"]):
            label = source["display"] if number is None else f"{source['display']} cell {number}"
            filename = f"<{label}>"
            if filename in self.files:  # two folders may hold files of one name
                filename = f"<{label} #{len(self.files)}>"
            self.files[filename] = (source["display"], number)
            linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
            statements, broken = statements_of(text, filename, is_cell=number is not None)
            for index, statement in enumerate(chain.from_iterable(map(one_by_one, statements))):
                if self.is_late and not is_quick(statement):
                    continue
                flags |= future_flags(statement)
                if not self._reach(key, place, index, statement):
                    why = self.stops[key, place, index]
                    self.is_late |= why == "timeout"
                    opened.failures.append(
                        stopped_at(why, filename, statement.lineno, self.find_cell)
                    )
                    break
                goes_on = self._run_statement(statement, filename, flags, opened)
                _name_also(source.get("also", {}), opened.namespace)
                self._stand_in(key, opened.namespace)
                if not goes_on:
                    break
                if isinstance(statement, ast.ClassDef):
                    opened.classes.note(statement.name, number, statement.lineno)
            if broken is not None:
                opened.failures.append(describe_failure(broken, self.find_cell))

    def _reach(self, key: str, cell: int, index: int, statement: ast.stmt) -> bool:
        """Whether a statement is to be run; if so it is announced, as it may end the process."""
        if (key, cell, index) in self.stops:
            return False
        if not is_harmless(statement):
            self.announce(key, cell, index)
        return True

    def _run_statement(
        self, statement: ast.stmt, filename: str, flags: int, opened: Opened
    ) -> bool:
        """Run one statement; return whether the next ones are to be run as well."""
        try:
            try:
                _execute(statement, filename, flags, opened)
            except UnavailableError:
                if not isinstance(statement, DEFINITIONS):
                    raise
                # What only an annotation needs is not needed.
                _execute(statement, filename, flags | ANNOTATIONS, opened)
        except BaseException as error:
            self.is_late |= isinstance(error, OutOfTime)
            if self.interactive and isinstance(error, KeyboardInterrupt):
                raise
            if isinstance(error, NameError) and STAR in opened.namespace:
                unknown = opened.namespace[STAR].error()
                unknown.name = error.name
                error = unknown.with_traceback(error.__traceback__)
            cause = self._not_imported(error, statement) or _standing_in(error, statement, opened)
            if cause is not None:
                _stand_in(statement, cause, opened)
                return True
            if isinstance(error, ImportError) and _is_defined(statement, filename):
                return True
            failure = describe_failure(error, self.find_cell)
            opened.failures.append(failure)
            is_stub = isinstance(error, NotImplementedError) and stub_exercise(failure.message)
            stub = error if is_stub else _stub_used(error, statement, opened)
            if stub is not None:
                opened.namespace.update(dict.fromkeys(_set_first(statement, opened), stub))
            return stub is not None
        return True

    def _not_imported(self, error: BaseException, statement: ast.stmt) -> Failure | None:
        """Why something is not there that need not end a file; None for any other failure."""
        is_import = isinstance(statement, ast.Import | ast.ImportFrom)
        is_librarys = is_import and isinstance(error, Exception)
        is_absent = isinstance(error, ImportError) or is_elsewhere(error)
        if isinstance(error, SyntaxError | MemoryError) or not (is_absent or is_librarys):
            return None
        cause = describe_failure(error, self.find_cell)
        name = str(getattr(error, "name", None))
        if isinstance(error, UnavailableError):
            return cause
        top = name.partition(".")[0]
        sources = self.texts.values()
        if self.awaited.get(top) or any(s["importable"] and s["module"] == top for s in sources):
            return None
        stopped = (
            opened.failures[0]
            for key, opened in self.opened.items()
            if opened.failures and self.modules[key].__name__ == name
        )
        return next(stopped, cause)


def _stub_used(error: BaseException, statement: ast.stmt, opened: Opened) -> BaseException | None:
    """What stands in the place of a constant that a statement uses, and that is still as in the stub.

    A name that is not there may be set beside any such constant.
    """
    names = {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}
    if isinstance(error, NameError) and error.name not in opened.namespace:
        names = {*opened.namespace}
    values = (opened.namespace.get(name) for name in names)
    stubs = (value for value in values if isinstance(value, NotImplementedError))
    return next((stub for stub in stubs if stub_exercise(str(stub))), None)


def _set_first(statement: ast.stmt, opened: Opened) -> Iterator[str]:
    """The names that a statement would have set, and that are not there."""
    for target in statement.targets if isinstance(statement, ast.Assign) else ():
        for node in ast.walk(target):
            if isinstance(node, ast.Name) and node.id not in opened.namespace:
                yield node.id


def _name_also(also: Mapping[str, str], namespace: dict[str, Any]) -> None:
    """Let the course's names stand for what a file calls otherwise.

    Where the course has a function, and the file a class, an instance stands for it.
    """
    for name, other in also.items():
        value = namespace.get(other)
        if name not in namespace and callable(value):
            with contextlib.suppress(Exception):  # the class may want arguments
                is_instance = isinstance(value, type) and name.islower()
                namespace[name] = value() if is_instance else value


def _execute(statement: ast.stmt, filename: str, flags: int, opened: Opened) -> None:
    tree = ast.Module([statement], [])
    code = compile(tree, filename, "exec", flags=flags, dont_inherit=True)
    exec(code, opened.namespace)


def _standing_in(error: BaseException, statement: ast.stmt, opened: Opened) -> Failure | None:
    """Why a name is not there that a statement which failed makes use of; None for any other."""
    if isinstance(statement, DEFINITIONS) or not isinstance(error, Exception):
        return None
    names = [node.id for node in ast.walk(statement) if isinstance(node, ast.Name)]
    values = (opened.namespace.get(name) for name in names)
    return next((value.error().cause for value in values if isinstance(value, NotImported)), None)


def _stand_in(statement: ast.stmt, cause: Failure, opened: Opened) -> None:
    """Let the names that a statement was to set stand for what could not be imported."""
    is_import = isinstance(statement, ast.Import | ast.ImportFrom)
    if (is_import or "ImportError" not in cause.bases) and cause not in opened.not_imported:
        opened.not_imported.append(cause)
    for name in bound_names(statement):
        if not isinstance(statement, COMPOUND) or name not in opened.namespace:
            opened.namespace[name] = NotImported(name, cause)


def _is_defined(statement: ast.stmt, filename: str) -> bool:
    """Whether the file itself defines what a statement was to import."""
    text = "".join(linecache.getlines(filename))
    names = [re.escape(name) for name in bound_names(statement)]
    return isinstance(statement, ast.ImportFrom) and all(
        re.search(rf"^(?:class|def)[ \t]+{name}\b", text, re.MULTILINE) for name in names
    )


@contextlib.contextmanager
def _known_by_name(name: str, module: types.ModuleType) -> Iterator[None]:
    """Let `dataclasses` and `typing` find a module by its name while it is loaded."""
    before = sys.modules.get(name)
    sys.modules[name] = module
    try:
        yield
    finally:
        if before is None:
            sys.modules.pop(name, None)
        else:
            sys.modules[name] = before
