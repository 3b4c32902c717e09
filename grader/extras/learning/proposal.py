"""A known mistake from a student's own code: the edit of the solution that makes it the same."""

import ast
import builtins
import io
import math
import re
import textwrap
import tokenize
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from types import ModuleType

import numpy as np
import torch
from torch import nn

from grader.core.errors import UsageError
from grader.core.records import Mistake
from grader.course.course import Course, Exercise
from grader.course.toml_table import toml_text
from grader.release.solution_cells import REGION, read_solution
from grader.submissions.submission import Submission

QUOTES = "'''"
UNPROVEN = "# `grader learn` is proving this one; if that ended early, the next `grader learn` removes it.\n"
ENTRY = "[[misconceptions]]\n"


def proposed_edit(course: Course, exercise: Exercise, submission: Submission) -> tuple[str, str]:
    """`find` and `replace` that put a student's functions, or methods, into the solution.

    Raises:
        UsageError: when a function has several gaps, when the student's code has no such function,
            or when something stands there that no solution would have.
    """
    assignment = course.by_id[exercise.assignment]
    solution = read_solution(assignment, course.paths(assignment).solution)
    (cell,) = (cell for cell in solution.cells if cell.exercise == exercise.name)
    gaps = [*REGION.finditer(cell.text)]
    functions = [_function_around(cell.text, gap.start()) for gap in gaps]
    if len({function.lineno for function in functions}) < len(gaps):
        path = course.inner(course.paths(assignment).misconceptions)
        raise UsageError(
            f"A function of the solution of {exercise.id} has several gaps, so its edit is written by "
            f"hand, in {path}."
        )
    changed, end, bodies = "", 0, []
    for gap, function in zip(gaps, functions, strict=True):
        before = cell.text.count("\n", 0, gap.start()) + 1
        given = [statement for statement in function.body if statement.lineno < before]
        body = _body(_students_function(submission, exercise, function), function, given)
        bodies.append(body)
        changed += cell.text[end : gap.start("body")] + textwrap.indent(body, gap["indent"]) + "\n"
        end = gap.end("body")
    nodes = [node for function in functions for node in ast.walk(function)]
    parameters = {node.arg for node in nodes if isinstance(node, ast.arg)}
    statements = [statement for body in bodies for statement in ast.parse(body).body]
    if what := refusal(statements, parameters, solution.text):
        raise UsageError(
            f"What {submission.student} wrote for {exercise.id} cannot become a known mistake: {what}. "
            "It may use what the solution uses, its parameters, and what computes with numbers and "
            "tensors."
        )
    return _smallest(cell.text.split("\n"), (changed + cell.text[end:]).split("\n"), solution.text)


def _function_around(text: str, position: int) -> ast.FunctionDef:
    """The function of a solution that a gap stands in."""
    line = text.count("\n", 0, position) + 1
    functions = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)]
    around = [node for node in functions if node.lineno <= line <= (node.end_lineno or 0)]
    if not around:
        raise UsageError("What is to be written there is no function: write its edit by hand.")
    return around[-1]


def _students_function(
    submission: Submission, exercise: Exercise, function: ast.FunctionDef
) -> tuple[ast.FunctionDef, str]:
    """The student's function, or method of the exercise's class, and the text it stands in."""
    reading = submission.readings.get(exercise.assignment)
    for key in reading.sources if reading else ():
        for cell in reversed(submission.sources[key].cells):
            try:
                tree = ast.parse(cell.text)
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                continue
            outer: Sequence[ast.AST] = [tree]
            if function.name != exercise.name:
                classes = (n for n in ast.walk(tree) if isinstance(n, ast.ClassDef))
                outer = [node for node in classes if node.name == exercise.name]
            for node in (inner for part in outer for inner in ast.walk(part)):
                if isinstance(node, ast.FunctionDef) and node.name == function.name:
                    return node, cell.text
    if reading and reading.undecided:
        raise UsageError(f"{submission.student}: {reading.undecided}")
    raise UsageError(f"{submission.student} has no function {function.name} for {exercise.id}.")


def _body(
    students: tuple[ast.FunctionDef, str], function: ast.FunctionDef, given: Sequence[ast.stmt]
) -> str:
    """The student's statements with the solution's names of parameters.

    Without docstring, and without those that are given before the gap.
    """
    node, text = students
    known = set(map(ast.dump, given))
    statements = node.body[ast.get_docstring(node) is not None :]
    while statements and ast.dump(statements[0]) in known:
        statements = statements[1:]
    if not statements:
        raise UsageError(f"{node.name} is empty there.")
    lines = text.split("\n")[statements[0].lineno - 1 : statements[-1].end_lineno]
    body = textwrap.dedent("\n".join(lines))
    for theirs, ours in zip(node.args.args, function.args.args, strict=False):
        if theirs.arg != ours.arg:
            body = re.sub(rf"(?<![.\w]){theirs.arg}\b(?!\s*=[^=])", ours.arg, body)
    return _without_comments(body)


def _without_comments(code: str) -> str:
    """Code without its comments, which may name people, and without the lines that they fill."""
    lines = code.split("\n")
    comments = [
        token.start
        for token in tokenize.generate_tokens(io.StringIO(code).readline)
        if token.type == tokenize.COMMENT
    ]
    for line, column in comments:
        lines[line - 1] = lines[line - 1][:column].rstrip()
    filled = {line for line, column in comments if not lines[line - 1]}
    return "\n".join(line for number, line in enumerate(lines, 1) if number not in filled)


def _smallest(theirs: list[str], own: list[str], text: str) -> tuple[str, str]:
    """The lines in which two bodies differ, with as many around them as make the place unique.

    Raises:
        UsageError: when they do not differ.
    """
    if theirs == own:
        raise UsageError("That code is the solution's own.")
    start = _alike(theirs, own)
    end = _alike(theirs[start:][::-1], own[start:][::-1])
    while True:
        find = "\n".join(theirs[start : len(theirs) - end])
        if find.strip() and text.count(find) == 1:
            return find, "\n".join(own[start : len(own) - end])
        if not start and not end:
            raise UsageError("The solution's lines stand in it more than once: edit by hand.")
        start, end = max(0, start - 1), max(0, end - 1)


def _alike(theirs: list[str], own: list[str]) -> int:
    """How many lines are the same from the first one on."""
    return sum(
        1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(theirs, own, strict=False))
    )


def entry(exercise: Exercise, mistake: Mistake, find: str, replace: str) -> str:
    """A known mistake as its file has it: `find` in the solution becomes `replace`."""

    def quoted(code: str) -> str:
        is_plain = QUOTES not in code and not code.endswith("'") and "\\" not in code
        return f"{QUOTES}{code}{QUOTES}" if is_plain and code else toml_text(code)

    values = {
        "id": toml_text(mistake.id),
        "kind": f'"{mistake.kind}"',
        "exercise": toml_text(exercise.name),
        "find": quoted(find),
        "replace": quoted(replace),
        "symptom": toml_text(mistake.symptom),
        "question": toml_text(mistake.question),
    }
    return ENTRY + "".join(f"{key} = {value}\n" for key, value in values.items())


def with_entry(text: str, entry: str, *, is_proven: bool = True) -> str:
    """The text of a file of known mistakes with one more, marked where it is still to be proven."""
    before = text.rstrip("\n") + "\n\n" if text else ""
    return f"{before}{'' if is_proven else UNPROVEN}{entry}"


def without_unproven(text: str) -> str:
    """The same without what a command left that was killed while it proved it."""
    before, _mark, rest = text.partition(UNPROVEN)
    later = rest.find(f"\n{ENTRY}")
    after = rest[later + 1 :] if later >= 0 else ""
    return before + after if after else before.rstrip("\n") + "\n" * bool(before)


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
VALUES = (nn.Module, torch.Tensor, bytes, dict, float, frozenset, int, list, set, str)
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
    of_code = _Vocabulary(ast.Module([*code], []))
    vocabulary.names |= of_code.bound | {*parameters}
    vocabulary.attributes |= of_code.stored
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
