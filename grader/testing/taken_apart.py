"""Takes a given test apart: what is asked of student code, and what the trusted side keeps.

`assert f(3) == 4` becomes a program that reports the value of `f(3)`, and the condition `_v0 == 4`, which
is judged where nothing of the student's runs.
"""

from __future__ import annotations

import ast
import builtins
import cmath
import math
import re
import statistics
import unittest
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from grader.sandbox.servant import NOTE
from grader.sandbox.torch_later import torch

MODULES: Mapping[str, Any] = {
    "np": np,
    "numpy": np,
    "math": math,
    "cmath": cmath,
    "torch": torch,
    "statistics": statistics,
}
"""What a condition may name beside values, as notebooks call it."""

SAFE = frozenset(
    """abs all any bool callable complex enumerate float isinstance len list max min round sorted sum
    tuple type zip allclose approx array array_equal asarray ceil cos diff equal exp floor isclose
    isfinite isin isinf isnan isreal log log10 log2 logical_and logical_not mean median norm ravel
    shape sin sort sqrt squeeze std tensor trace transpose tril triu unique var""".split()  # noqa: SIM905
)
"""Functions that a condition may call with a student's values: none makes anything larger than these."""

METHODS = ("all", "any", "item", "tolist", "sum", "mean", "max", "min")
"""The same of methods, where what has them is computed by the condition."""

OPERATORS = (ast.Add, ast.Sub, ast.Div, ast.MatMult, ast.BitAnd, ast.BitOr)
LISTED = ("dir", "globals", "locals", "vars")
"""Built-in functions that list what a file defines, where they are called with nothing."""

DECIDING = ("all", "any", "isinstance", "isclose", "allclose", "array_equal", "equal")
"""Functions whose value says that something holds."""

RAISES = ("assert_raises", "assertRaises", "raises")
FRAMEWORKS = re.compile(r"(nose|pytest)(\.|$)")


def _assertion(name: str) -> Callable[..., Any] | None:
    """The function of numpy, torch or unittest that a test calls by this name."""
    parts = name.removeprefix("assert_").split("_")
    camel = f"assert{''.join(part.capitalize() for part in parts)}"
    case = unittest.TestCase()
    if not name.startswith("assert"):
        return None
    if name == "assert_close":
        return torch.testing.assert_close
    return (
        getattr(np.testing, name, None) or getattr(case, name, None) or getattr(case, camel, None)
    )


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition of a test.

    Args:
        text: as the test has it.
        judged: the condition on what is reported, as an expression of `_v0`, `_v1`, …
        asked: what student code is asked for, by these names.
        kept: what only the solution is asked for.
        exceptions: in place of all that, what the statements should raise.
        says: the message that the test has for it.
        is_forgeable: whether what is reported is whether it holds, and no value.
    """

    text: str
    judged: ast.expr | None
    asked: Sequence[ast.expr] = ()
    kept: Sequence[ast.expr] = ()
    exceptions: Sequence[str] = ()
    says: str = ""
    is_forgeable: bool = False

    def value_of(self, node: ast.expr, values: Sequence[Any]) -> Any:
        """What an expression of the condition is, with what was reported."""
        names = {f"_v{number}": value for number, value in enumerate(values)}
        code = compile(ast.fix_missing_locations(ast.Expression(node)), "<test>", "eval")
        return eval(code, {**_trusted(ast.walk(node)), **names})

    def holds(self, values: Sequence[Any]) -> bool:
        """Whether it holds for what was reported."""
        if self.judged is None:
            (raised,) = values or ((),)
            return not self.exceptions or any(name in self.exceptions for name in raised)
        if (function := _called_assertion(self.judged)) is None:
            return bool(self.value_of(self.judged, values))
        assert isinstance(self.judged, ast.Call)
        args = [self.value_of(arg, values) for arg in self.judged.args]
        named = {str(k.arg): self.value_of(k.value, values) for k in self.judged.keywords}
        function(*args, **named)
        return True


def _trusted(nodes: Iterable[ast.AST]) -> dict[str, Any]:
    """What the names of an expression stand for on the trusted side."""
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    given: dict[str, Any] = {**MODULES, "approx": pytest.approx, "pytest": pytest}
    given |= {"allclose": np.allclose, "array_equal": np.array_equal, "isclose": _isclose}
    return {name: value for name, value in given.items() if name in names}


def _isclose(left: Any, right: Any, **how: Any) -> Any:
    """Python's own or numpy's, by its keywords."""
    is_pythons = not how.keys() & {"rtol", "atol"} and not hasattr(left, "__len__")
    return (math if is_pythons else np).isclose(left, right, **how)


def _called_assertion(node: ast.expr) -> Callable[..., Any] | None:
    return _assertion(_last_name(node.func)) if isinstance(node, ast.Call) else None


@dataclass(slots=True)
class TakenApart:
    """A test as programs that report values, and as conditions on what they report.

    Args:
        text: the test.
        own: the names of the file that are the student's.
        larger: what is asked for as a whole, because its parts do not travel, or lose what counts.
    """

    text: str
    own: Collection[str]
    larger: set[ast.AST] = field(default_factory=set)
    body: list[ast.stmt] = field(init=False)
    tainted: set[str] = field(init=False)
    touched: set[str] = field(init=False)
    decided: set[str] = field(init=False)
    asked: set[str] = field(default_factory=set, init=False)
    parents: dict[ast.AST, ast.AST] = field(init=False)
    conditions: list[Condition] = field(default_factory=list, init=False)
    origins: list[list[ast.AST]] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        """Read the test."""
        self.body = _Plain().statements(ast.parse(self.text).body)
        if not any(isinstance(node, ast.Assert | _Raises) for node in _nodes(self.body)):
            self.body.append(ast.Assert(ast.Constant(None)))  # that it ends is what is judged
        everything = [*_nodes(self.body)]
        self.parents = {c: node for node in everything for c in ast.iter_child_nodes(node)}
        first: dict[str, bool] = {}
        for name, is_set in names_in_order(self.body):
            first.setdefault(name, is_set)
        self.tainted = {name for name in self.own if not first.get(name)}
        self.touched, self.decided = set(), set()
        self._follow(everything)

    def _follow(self, nodes: Sequence[ast.AST]) -> None:
        """Which of the test's own names hold what student code gave, touched, or what was decided on it."""
        before = -1
        while before != (before := len(self.tainted) + len(self.touched) + len(self.decided)):
            for node in nodes:
                value = getattr(node, "value", None) or getattr(node, "iter", None)
                match node:
                    case ast.FunctionDef(name=name, args=args, body=body):
                        if any(isinstance(n, ast.Assert | _Raises) for n in _nodes(body)):
                            self.tainted |= {arg.arg for arg in args.args}
                        if any(map(self._is_own, body)):
                            self.tainted.add(name)
                    case ast.Assign(targets=targets) if self._is_own(value):
                        self._taint(targets, value)
                        if self._is_asked(value):
                            self.asked |= {t.id for t in targets if isinstance(t, ast.Name)}
                    case ast.AugAssign() | ast.AnnAssign() | ast.NamedExpr() if self._is_own(value):
                        self._taint([node.target], value)
                    case ast.For() | ast.comprehension() if self._is_own(value):
                        target = node.target
                        parts = dict(zip(_parts(target), _zipped(value), strict=False))
                        own = [t for t, part in parts.items() if self._is_own(part)]
                        self._taint(own if parts else [target], None)
                    case ast.withitem(context_expr=value, optional_vars=ast.expr() as target):
                        self._taint([target] if self._is_own(value) else [], value)
                    case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name)))):
                        self.tainted |= {name} if self._is_own(value) else set()
                    case _:
                        pass
                if isinstance(node, ast.Call) and self._is_own(node.func):
                    given = [*node.args, *(keyword.value for keyword in node.keywords)]
                    self.touched |= {part.id for part in given if isinstance(part, ast.Name)}

    def _is_asked(self, node: ast.AST | None) -> bool:
        """Whether an expression is what student code itself gives, not what is said of that."""
        if isinstance(node, ast.Call):
            return isinstance(node.func, ast.Name) and node.func.id in self.own
        return isinstance(node, ast.Name) and node.id in {*self.own, *self.asked}

    def _is_bare(self, judged: ast.expr) -> bool:
        """Whether a condition, or a part of it, is no more than that what is reported is true."""
        match judged:
            case (
                ast.UnaryOp(operand=inner)
                | ast.Compare(left=inner, comparators=[ast.Constant(value=bool())])
            ):
                return self._is_bare(inner)
            case ast.BoolOp(values=values):
                return any(map(self._is_bare, values))
        return isinstance(judged, _Slot) and not self._is_asked(judged.origin)

    def _taint(self, targets: Sequence[ast.AST], value: ast.AST | None) -> None:
        names = {n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)}
        self.tainted |= names
        if value is not None and self._is_decided(value):
            self.decided |= names

    def _is_own(self, node: ast.AST | None, names: Collection[str] | None = None) -> bool:
        """Whether something depends on what student code gave."""
        names = self.tainted if names is None else names
        for part in ast.walk(node) if node is not None else ():
            if isinstance(part, ast.Name) and part.id in names:
                return True
            if isinstance(part, ast.Call) and not part.args and _last_name(part.func) in LISTED:
                return True
        return False

    def _is_decided(self, node: ast.AST) -> bool:
        """Whether an expression says that something holds, beside the student's code."""
        if isinstance(node, ast.Compare | ast.BoolOp | ast.Assert):
            return True
        if isinstance(node, ast.Name) and node.id in self.decided:
            return True
        if isinstance(node, ast.Call) and _called_assertion(node) is not None:
            return True
        if isinstance(node, ast.Call) and _last_name(node.func) in DECIDING:
            return True
        if isinstance(node, ast.Subscript):
            return self._is_decided(node.value)
        skipped = ast.Lambda | ast.expr_context
        return any(
            self._is_decided(n) for n in ast.iter_child_nodes(node) if not isinstance(n, skipped)
        )

    # What is made of it.

    def programs(self) -> tuple[str, str]:
        """The program for the solution, which reports all values, and that for the student's code."""
        self.conditions, self.origins = [], []
        noted = _Noted(self)
        # The conditions stay the same nodes, as it is noted which of their parts are asked for.
        same = {id(node): node for node in _nodes(self.body) if isinstance(node, ast.Assert)}
        module = noted.visit(ast.Module(deepcopy(self.body, same), []))
        full = ast.unparse(ast.fix_missing_locations(module))
        asked = noted.without_kept(module)
        return full, ast.unparse(ast.fix_missing_locations(_without_unused(asked, self)))

    def take_larger(self, number: int, bad: Iterable[int] = ()) -> bool:
        """Have more of a condition computed beside student code; whether there was more.

        Args:
            number: of the condition.
            bad: the values that do not travel; every one unless given.
        """
        origins = self.origins[number]
        chosen = [origins[at] for at in bad if at < len(origins)] or origins
        larger = {self.parents.get(node) for node in chosen}
        found = {node for node in larger if isinstance(node, ast.expr)}
        whole = {n for n in larger if isinstance(n, ast.Assert)} if not found else set()
        new = (found or {node.test for node in whole}) - self.larger
        self.larger |= new
        return bool(new)

    def condition(self, node: ast.Assert) -> tuple[Condition, list[ast.AST]]:
        """A condition, and the nodes of what it asks for."""
        names = self.tainted
        if not self._is_own(node.test):
            names = self.tainted | self.touched
        carver = _Carver(self, names)
        judged = carver.carve(node.test)
        asked = [part for part, _ in carver.asked]
        said = node.msg.value if isinstance(node.msg, ast.Constant) else ""
        is_forgeable = any(map(self._is_decided, asked)) or ast.unparse(node.test) == "None"
        is_forgeable |= bool(asked) and self._is_bare(judged)
        judged = judged if ast.unparse(node.test) != "None" else ast.Constant(True)
        renamed = _renamed(judged, [*asked, *carver.kept])
        text = ast.unparse(node.test)
        return (
            Condition(text, renamed, asked, carver.kept, (), str(said or ""), is_forgeable),
            [origin for _, origin in carver.asked],
        )


class _Raises(ast.stmt):
    """Statements of a test that should raise something."""

    _fields = ("body",)
    exceptions: Sequence[str] = ()
    body: list[ast.stmt]


@dataclass(slots=True)
class _Carver:
    """Cuts what is asked for out of a condition."""

    test: TakenApart
    names: Collection[str]
    asked: list[tuple[ast.expr, ast.AST]] = field(default_factory=list)
    kept: list[ast.expr] = field(default_factory=list)

    def carve(self, node: ast.expr) -> ast.expr:
        """The expression with names in place of what is asked for."""
        if not self.test._is_own(node, self.names):
            if _is_plain(node):
                return node
            self.kept.append(node)
            return _Slot(node)
        if node not in self.test.larger and (made := self._inside(node)) is not None:
            return made
        asked: ast.expr = node
        if _called_assertion(node) is not None:  # which returns nothing
            parts = ast.Tuple([node, ast.Constant(True)], ast.Load())
            asked = ast.Subscript(parts, ast.Constant(1), ast.Load())
        self.asked.append((asked, node))
        return _Slot(asked)

    def _inside(self, node: ast.expr) -> ast.expr | None:
        """The same of what the trusted side can compute; None for anything else."""
        match node:
            case ast.Compare(left=left, ops=ops, comparators=others):
                return ast.Compare(self.carve(left), ops, [*map(self.carve, others)])
            case ast.BoolOp(op=op, values=values):
                return ast.BoolOp(op, [*map(self.carve, values)])
            case ast.UnaryOp(op=op, operand=operand):
                return ast.UnaryOp(op, self.carve(operand))
            case ast.BinOp(left=left, op=op, right=right) if isinstance(op, OPERATORS):
                return ast.BinOp(self.carve(left), op, self.carve(right))
            case ast.Tuple(elts=elts) | ast.List(elts=elts):
                if not any(isinstance(part, ast.Starred) for part in elts):
                    return type(node)([*map(self.carve, elts)], ast.Load())
            case ast.Call(func=ast.Attribute(value=value, attr=attr), args=[]) if attr in METHODS:
                if isinstance(value, ast.Compare | ast.BinOp | ast.BoolOp | ast.UnaryOp):
                    return ast.Call(ast.Attribute(self.carve(value), attr, ast.Load()), [], [])
            case ast.Call(func=func, args=args, keywords=keywords) if self._is_safe(func, node):
                named = [ast.keyword(k.arg, self.carve(k.value)) for k in keywords]
                return ast.Call(func, [*map(self.carve, args)], named)
            case ast.GeneratorExp(elt=elt, generators=[loop]) if not loop.is_async:
                bound = {n.id for n in ast.walk(loop.target) if isinstance(n, ast.Name)}
                parts = [elt, *loop.ifs]
                if all(_is_plain(part, bound) and _is_safe(part) for part in parts):
                    iterated = ast.comprehension(loop.target, self.carve(loop.iter), loop.ifs, 0)
                    return ast.GeneratorExp(elt, [iterated])
        return None

    def _is_safe(self, func: ast.expr, node: ast.Call) -> bool:
        if self.test._is_own(func, self.names) or any(
            isinstance(a, ast.Starred) for a in node.args
        ):
            return False
        if any(keyword.arg is None for keyword in node.keywords):
            return False
        if _called_assertion(node) is not None:
            return True
        return _last_name(func) in SAFE and _is_plain(func)


class _Slot(ast.Name):
    """Stands for what is asked for."""

    def __init__(self, origin: ast.expr) -> None:
        super().__init__("_", ast.Load())
        self.origin = origin


def _renamed(judged: ast.expr, order: Sequence[ast.expr]) -> ast.expr:
    """The condition, whose slots have the names of their values."""
    numbers = {id(node): number for number, node in enumerate(order)}
    for part in ast.walk(judged):
        if isinstance(part, _Slot):
            part.id = f"_v{numbers[id(part.origin)]}"
    return judged


def _is_plain(node: ast.expr, bound: Collection[str] = ()) -> bool:
    """Whether the trusted side knows all names of an expression, which draws nothing at random."""
    parts = list(ast.walk(node))
    if any(isinstance(p, ast.Attribute) and p.attr in ("random", "rand", "load") for p in parts):
        return False
    stored = {n.id for n in parts if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    known = {*MODULES, *vars(builtins), "approx", "pytest", "allclose", "array_equal", "isclose"}
    unfit = {"open", "input", "exec", "eval", "exit", "quit", "print", "__import__", *LISTED}
    used = {n.id for n in parts if isinstance(n, ast.Name)} - stored - {*bound}
    return used <= known - unfit


def _is_safe(node: ast.expr) -> bool:
    """Whether an expression makes nothing larger than what it is given."""
    return all(
        _last_name(part.func) in SAFE
        if isinstance(part, ast.Call)
        else not isinstance(part, ast.BinOp) or isinstance(part.op, OPERATORS)
        for part in ast.walk(node)
    )


class _Noted(ast.NodeTransformer):
    """Puts a note of the values in place of each condition."""

    def __init__(self, test: TakenApart) -> None:
        self.test = test
        self.asked: dict[ast.AST, list[ast.expr]] = {}

    def visit_Assert(self, node: ast.Assert) -> ast.stmt:
        condition, origins = self.test.condition(node)
        return self._note(condition, origins)

    def _note(self, condition: Condition, origins: list[ast.AST]) -> ast.stmt:
        number = ast.Constant(len(self.test.conditions))
        self.test.conditions.append(condition)
        self.test.origins.append(origins)
        call = ast.Call(ast.Name(NOTE, ast.Load()), [number, *condition.asked, *condition.kept], [])
        self.asked[call] = [number, *condition.asked]
        return ast.Expr(call)

    def visit__Raises(self, node: _Raises) -> ast.stmt:
        text = "; ".join(map(ast.unparse, node.body))
        number = len(self.test.conditions)
        self.test.conditions.append(Condition(text, None, exceptions=node.exceptions))
        self.test.origins.append([])
        if "NotImplementedError" in node.exceptions:
            first = ""
        else:
            first = "except NotImplementedError: raise\n"
        made = ast.parse(
            f"try: pass\n{first}except Exception as _raised:\n"
            f" {NOTE}({number}, [kind.__name__ for kind in type(_raised).__mro__])\n"
            f"else: {NOTE}({number}, [])"
        ).body[0]
        assert isinstance(made, ast.Try)
        made.body = node.body
        return made

    def without_kept(self, module: ast.Module) -> ast.Module:
        """The program without what only the solution is asked for."""
        for call, args in self.asked.items():
            call.args = args  # type: ignore[attr-defined]
        return module


def _without_unused(module: ast.Module, test: TakenApart) -> ast.Module:
    """A program without the names that only what is kept made use of, such as expected values."""
    while True:
        used = {
            n.id
            for n in ast.walk(module)
            if isinstance(n, ast.Name) and n.ctx.__class__ is not ast.Store
        }
        body = [node for node in module.body if not _is_unused(node, used, test)]
        if len(body) == len(module.body):
            for node in ast.walk(module):
                if isinstance(node, ast.For):
                    _empty_unused(node, used, module)
            return module
        module = ast.Module(body, [])


def _empty_unused(loop: ast.For, used: Collection[str], module: ast.Module) -> None:
    """Empty what a loop goes through where only what is kept makes use of it."""
    whole = loop.iter
    for node in module.body if isinstance(whole, ast.Name) else ():
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == whole.id:  # type: ignore[attr-defined]
            whole = node.value
    if isinstance(whole, ast.Call) and isinstance(whole.func, ast.Attribute):
        whole = whole.func.value  # {1: 2}.items()
    rows = [getattr(row, "elts", []) for row in getattr(whole, "elts", [])]
    for at, target in enumerate(_parts(loop.target)):
        if not isinstance(target, ast.Name) or target.id in used:
            continue
        for row in rows:
            row[at : at + 1] = [ast.Constant(None)] * (at < len(row))
        if isinstance(whole, ast.Dict) and at == 1:
            whole.values = [ast.Constant(None) for _ in whole.values]
        zipped = _zipped(whole)[at : at + 1]
        for part in zipped if isinstance(loop.iter, ast.Call) else ():
            if isinstance(part, ast.List | ast.Tuple):
                part.elts = [ast.Constant(None) for _ in part.elts]


def _parts(target: ast.AST) -> list[ast.expr]:
    return list(target.elts) if isinstance(target, ast.Tuple) else []


def _zipped(node: ast.AST | None) -> list[ast.expr]:
    """What is gone through side by side."""
    is_zip = isinstance(node, ast.Call) and _last_name(node.func) == "zip"
    if is_zip:
        return list(node.args)  # type: ignore[union-attr]
    if isinstance(node, ast.Call) and _last_name(node.func) == "enumerate":
        return [ast.Constant(0), *node.args[:1]]
    return []


def _is_unused(node: ast.stmt, used: Collection[str], test: TakenApart) -> bool:
    if not isinstance(node, ast.Assign) or test._is_own(node.value) or not _is_plain(node.value):
        return False
    targets = [part for target in node.targets for part in ast.walk(target)]
    return all(
        part.id not in used
        if isinstance(part, ast.Name)
        else isinstance(part, ast.Tuple | ast.Store)
        for part in targets
    )


# A test in fewer forms.


class _Plain(ast.NodeTransformer):
    """Writes each condition of a test as an `assert`, and each exception that is to be raised as one form."""

    def statements(self, body: Iterable[ast.stmt]) -> list[ast.stmt]:
        """Statements in these forms."""
        made: list[ast.stmt] = []
        for node in body:
            found = self.visit(node)
            made += found if isinstance(found, list) else [] if found is None else [found]
        return made

    def visit_Expr(self, node: ast.Expr) -> ast.AST | list[ast.stmt] | None:
        call = node.value
        if isinstance(call, ast.Constant):
            return None
        if not isinstance(call, ast.Call):
            return node
        name = _last_name(call.func)
        if name in RAISES and len(call.args) > 1:
            function, *args = call.args[1:]
            return _raises(call.args[0], [ast.Expr(ast.Call(function, args, call.keywords))])
        if _assertion(name) is None:
            return None if name == "print" and not _calls(call.args) else node
        call.keywords = [k for k in call.keywords if k.arg not in ("msg", "err_msg", "verbose")]
        return ast.Assert(call)

    def visit_Import(self, node: ast.Import) -> ast.AST | None:
        return None if all(FRAMEWORKS.match(alias.name) for alias in node.names) else node

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST | None:
        return None if FRAMEWORKS.match(node.module or "") else node

    def visit_With(self, node: ast.With) -> ast.AST | list[ast.stmt]:
        call = node.items[0].context_expr
        if isinstance(call, ast.Call) and _last_name(call.func) in RAISES and call.args:
            return _raises(call.args[0], node.body)
        return self.generic_visit(node)

    def visit_If(self, node: ast.If) -> ast.AST | list[ast.stmt]:
        *before, last = node.body
        is_fault = _is_fault(last) and all(isinstance(n, ast.Expr | ast.Assign) for n in before)
        if not is_fault:
            return self.generic_visit(node)
        said = last.exc if isinstance(last, ast.Raise) else getattr(last, "msg", None)
        words = said.args[:1] if isinstance(said, ast.Call) else [said]
        message = next((w for w in words if isinstance(w, ast.Constant)), None)
        negated = ast.UnaryOp(ast.Not(), node.test)
        if isinstance(node.test, ast.UnaryOp) and isinstance(node.test.op, ast.Not):
            negated = node.test.operand  # type: ignore[assignment]
        return [ast.Assert(negated, message), *self.statements(node.orelse)]

    def visit_Try(self, node: ast.Try) -> ast.AST | list[ast.stmt]:
        fails = any(map(_is_fault, _nodes(node.handlers)))
        body = node.body[:-1] if node.body and _is_fault(node.body[-1]) else node.body
        is_raising = len(body) < len(node.body) or any(map(_is_fault, node.orelse))
        kinds = [handler.type for handler in node.handlers if handler.type is not None]
        if is_raising and not fails and body and kinds:
            raising = _raises(kinds[0] if len(kinds) == 1 else ast.Tuple(kinds), body)
            return [raising, *self.statements(node.finalbody)]
        if any(isinstance(n, ast.Assert | ast.Raise) for n in _nodes(node.body)):
            return self.statements([*node.body, *node.orelse, *node.finalbody])
        return self.generic_visit(node)


def _raises(kind: ast.expr, body: list[ast.stmt]) -> _Raises:
    made = _Raises()
    made.body = body
    kinds = kind.elts if isinstance(kind, ast.Tuple) else [kind]
    made.exceptions = [_last_name(one) for one in kinds]
    return made


def _is_fault(node: ast.AST) -> bool:
    """Whether a statement says that a test has failed."""
    is_false = isinstance(node, ast.Assert) and isinstance(node.test, ast.Constant)
    return isinstance(node, ast.Raise) or (is_false and not node.test.value)  # type: ignore[attr-defined]


def _calls(nodes: Iterable[ast.AST]) -> bool:
    return any(isinstance(part, ast.Call) for node in nodes for part in ast.walk(node))


def _nodes(body: Iterable[ast.AST]) -> Iterator[ast.AST]:
    return (part for node in body for part in ast.walk(node))


def names_in_order(body: Iterable[ast.AST]) -> Iterator[tuple[str, bool]]:
    """The names of statements in the order in which they are met, and whether each is set there."""
    for node in body:
        match node:
            case ast.Name(id=name, ctx=context):
                yield name, isinstance(context, ast.Store)
            case ast.FunctionDef(name=name):
                yield name, True
            case ast.alias(name=name, asname=other):
                yield other or name.partition(".")[0], True
            case ast.Assign() | ast.AugAssign() | ast.AnnAssign() | ast.For() | ast.comprehension():
                fields = dict(ast.iter_fields(node))
                late = fields.pop("target", None) or fields.pop("targets", None)
                value = fields.pop("value", None) or fields.pop("iter", None)
                parts = [value, *(late if isinstance(late, list) else [late])]
                parts += fields.get("ifs", []) + fields.get("body", []) + fields.get("orelse", [])
                if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
                    yield node.target.id, False
                yield from names_in_order(part for part in parts if part is not None)
            case ast.GeneratorExp() | ast.ListComp() | ast.SetComp() | ast.DictComp():
                inner = ast.iter_child_nodes(node)
                yield from names_in_order([*node.generators, *inner])
            case _:
                yield from names_in_order(ast.iter_child_nodes(node))


def _last_name(node: ast.expr) -> str:
    return ast.unparse(node).rpartition(".")[2]
