"""Makes checks of tests where that is plainly possible; what is not stays as a comment with a TODO.

`assert f(1) == 2` becomes `judge(student.call("f", 1).value, 2)`. Both sides have to be plain: one is
what the student's code gives, the other can be computed without it.
"""

import ast
import builtins
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from grader.extras.importing.nbgrader import Case

MODULES = ("math", "torch")
"""What an expected value may be computed with; a check's file imports what it uses."""

UNFIT = ("open", "input", "exec", "eval", "exit", "quit", "globals", "locals", "breakpoint")
"""Built-in functions that no expected value is computed with."""

CLOSE = ("isclose", "allclose", "equal", "array_equal")
TOLERANCES = ("atol", "abs_tol")
KINDS: dict[type, str] = {
    bool: "a Boolean",
    int: "a whole number",
    float: "a float",
    str: "a text",
    list: "a list",
    tuple: "a tuple",
    dict: "a dictionary",
}
NOT_WRITTEN = 'judge.that(False, "TODO: this check is not written yet")'


@dataclass(frozen=True, slots=True)
class Draft:
    """A test as the body of a check.

    Args:
        lines: its statements.
        was: what the test said first, for the check's title.
        is_whole: whether all of the test was carried over.
        asks: the code of its first request to the student, where one is judged by `judge(…)`.
        expected: the code of what is expected there.
    """

    lines: tuple[str, ...]
    was: str
    is_whole: bool
    asks: str = ""
    expected: str = ""

    @property
    def modules(self) -> set[str]:
        """The modules that it uses."""
        return {name for name in MODULES if any(f"{name}." in line for line in self.lines)}

    @property
    def is_conduct(self) -> bool:
        """Whether it asks for shapes alone, which code that computes nothing has as well."""
        judged = [line for line in self.lines if line.startswith("judge")]
        return all(line.startswith("judge.shape(") for line in judged)

    @property
    def kind(self) -> type | None:
        """The type of what is expected, where it is written out."""
        with suppress(ValueError, SyntaxError):
            return type(ast.literal_eval(self.expected))
        return None


def draft(case: Case, names: Mapping[str, str]) -> Draft:
    """A test as a check.

    Args:
        case: the test.
        names: what the student's file defines: "function", "class" or "constant", by name.
    """
    statements, text = _statements(case)
    if statements is None:
        return Draft((*_comment(text.splitlines()), NOT_WRITTEN), text, is_whole=False)
    writer = _Writer(names)
    lines: list[str] = []
    open_: list[str] = []
    for position, node in enumerate(statements):
        is_last = position == len(statements) - 1
        made = writer.statement(_with_output(node, case.output) if is_last else node)
        if made is None:
            open_ += ast.unparse(node).splitlines()
        else:
            lines += made
    if not writer.judged and not open_:
        open_ = text.splitlines()
    lines += [*_comment(open_), NOT_WRITTEN] if open_ else []
    was = next((ast.unparse(node) for node in statements if _is_test(node)), "")
    return Draft(tuple(lines), was, not open_, writer.asks, writer.expected)


def names_in(text: str) -> set[str]:
    """The names that a test mentions."""
    with suppress(SyntaxError):
        tree = ast.parse(_without_prompts(text))
        return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return set()


def _is_test(node: ast.stmt) -> bool:
    """Whether a statement is a condition, or an expression whose value counts."""
    is_value = isinstance(node, ast.Expr) and not isinstance(node.value, ast.Constant)
    return is_value or isinstance(node, ast.Assert)


def _comment(lines: Sequence[str]) -> list[str]:
    return ["# TODO: write this in terms of student and judge; it was:"] + [
        f"# {line}".rstrip() for line in lines
    ]


def _statements(case: Case) -> tuple[list[ast.stmt] | None, str]:
    """A test's statements; None where it is no Python. A function of asserts stands for its body."""
    text = _without_prompts(case.text)
    try:
        body = ast.parse(text).body
    except SyntaxError:
        return None, case.text
    functions = [node for node in body if isinstance(node, ast.FunctionDef)]
    rest = [node for node in body if node not in functions]
    is_call = all(isinstance(n, ast.Expr) and isinstance(n.value, ast.Call) for n in rest)
    if len(functions) == 1 and is_call and not functions[0].decorator_list:
        return functions[0].body, case.text
    return body, case.text


def _without_prompts(text: str) -> str:
    """Lines of a doctest as asserts; any other test as it is."""
    import doctest

    if not text.lstrip().startswith(">>>"):
        return text
    made = []
    try:
        examples = doctest.DocTestParser().get_examples(text)
    except ValueError:
        return text
    for example in examples:
        expected = _value_shown(example.want)
        source = example.source.strip()
        made.append(f"assert {source} == {ast.unparse(expected)}" if expected else source)
    return "\n".join(made)


def _with_output(node: ast.stmt, output: str) -> ast.stmt:
    """The last line of a test cell as an assert, where its output says what is expected."""
    expected = _value_shown(output) if isinstance(node, ast.Expr) else None
    if expected is None or not isinstance(node, ast.Expr):
        return node
    if isinstance(expected, ast.Constant) and expected.value is True:
        return ast.Assert(node.value)
    return ast.Assert(ast.Compare(node.value, [ast.Eq()], [expected]))


def _value_shown(text: str) -> ast.expr | None:
    """The value that a shell showed, where it is written as code; a tensor as torch makes it."""
    try:
        value = ast.parse(text.strip(), mode="eval").body
    except SyntaxError:
        return None
    match value:
        case ast.Call(func=ast.Name(id="tensor")):
            value.func = ast.Attribute(ast.Name("torch"), "tensor")
    return value


@dataclass(slots=True)
class _Writer:
    """Writes the statements of one check.

    Args:
        names: what the student's file defines, by name.
        plain: the check's own variables that hold nothing of the student's.
        received: those that hold what the student's code returned.
        instances: those that hold an instance of the student's.
        judged: how many values are judged.
        asks: the code of the first request that is judged.
        expected: the code of what is expected of it.
    """

    names: Mapping[str, str]
    plain: set[str] = field(default_factory=set)
    received: set[str] = field(default_factory=set)
    instances: set[str] = field(default_factory=set)
    judged: int = 0
    asks: str = ""
    expected: str = ""

    def statement(self, node: ast.stmt) -> list[str] | None:
        """A statement in terms of `student` and `judge`; None where that is not plain."""
        match node:
            case ast.Assert(test=test):
                return self._judged(test)
            case ast.Assign():
                return self._assigned(node)
            case ast.Import(names=names):
                is_known = all(alias.name in MODULES and not alias.asname for alias in names)
                return [] if is_known else None
            case ast.Expr(value=ast.Constant() | ast.Call(func=ast.Name(id="print"))) | ast.Pass():
                return []
        return None

    def _assigned(self, node: ast.Assign) -> list[str] | None:
        (target, *others), value = node.targets, node.value
        if others or not isinstance(target, ast.Name) or target.id in self.names:
            return None
        for kind in (self.plain, self.received, self.instances):
            kind.discard(target.id)
        if self._is_plain(value):
            self.plain.add(target.id)
            return [ast.unparse(node)]
        asked = self._asked(value)
        if asked is None:
            return None
        makes = isinstance(value, ast.Call) and ast.unparse(value.func)
        (self.instances if self.names.get(str(makes)) == "class" else self.received).add(target.id)
        return [f"{target.id} = {asked}"]

    def _judged(self, test: ast.expr) -> list[str] | None:
        """A condition as calls of `judge`."""
        if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
            parts = [self._judged(value) for value in test.values]
            return None if None in parts else [line for part in parts for line in part or ()]
        test = _bare(test)
        match test:
            case ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]):
                return self._equal(left, right) or self._equal(right, left)
            case ast.Compare(left=left, ops=[ast.Lt() | ast.LtE()], comparators=[right]):
                return self._near(left, right)
            case ast.Call(func=func, args=[left, right]) if _last_name(func) in CLOSE:
                tolerances = [keyword for keyword in test.keywords if keyword.arg in TOLERANCES]
                if len(tolerances) == len(test.keywords) <= 1:
                    atol = tolerances[0].value if tolerances else None
                    return self._line(left, right, atol) or self._line(right, left, atol)
        return None

    def _equal(self, actual: ast.expr, expected: ast.expr) -> list[str] | None:
        """`f(1) == 2`, `f(x).shape == (2, 3)`, `f(1) == pytest.approx(2, abs=0.1)`."""
        bare = actual
        if isinstance(bare, ast.Call) and _last_name(bare.func) in ("tuple", "list") and bare.args:
            bare = bare.args[0]
        if isinstance(bare, ast.Attribute) and bare.attr == "shape" and self._is_plain(expected):
            asked = self._asked(bare.value)
            if asked is None:
                return None
            self.judged += 1
            return [f"judge.shape({asked}, {ast.unparse(expected)}, dtype=None)"]
        atol = None
        if isinstance(expected, ast.Call) and _last_name(expected.func) == "approx":
            if len(expected.args) != 1 or any(k.arg != "abs" for k in expected.keywords):
                return None
            atol = expected.keywords[0].value if expected.keywords else None
            expected = expected.args[0]
        return self._line(actual, expected, atol)

    def _near(self, left: ast.expr, right: ast.expr) -> list[str] | None:
        """`abs(f(1) - 2) < 0.1`."""
        match left:
            case ast.Call(func=func, args=[ast.BinOp(left=first, op=ast.Sub(), right=second)]):
                if _last_name(func) == "abs":
                    return self._line(first, second, right) or self._line(second, first, right)
        return None

    def _line(
        self, actual: ast.expr, expected: ast.expr, atol: ast.expr | None
    ) -> list[str] | None:
        asked = self._asked(actual)
        if asked is None or not self._is_plain(expected):
            return None
        if atol is not None and not self._is_plain(atol):
            return None
        self.judged += 1
        wanted = ast.unparse(expected)
        if not self.asks and not (self.plain & _names(expected) or self._locals(actual)):
            self.asks, self.expected = asked, wanted
        tolerance = "" if atol is None else f", atol={ast.unparse(atol)}"
        return [f"judge({asked}, {wanted}{tolerance})"]

    def _locals(self, node: ast.expr) -> set[str]:
        return _names(node) & (self.plain | self.received | self.instances)

    def _asked(self, node: ast.expr) -> str | None:
        """What the student's code gives, as a request; None for anything else."""
        if isinstance(node, ast.Name):
            if node.id in self.received:
                return node.id
            return f'student.get("{node.id}")' if self._kind(node) == "constant" else None
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            return None
        name = node.func.id
        if name in self.instances:
            target = name
        elif self._kind(node.func) in ("function", "class"):
            target = f'"{name}"'
        else:
            return None
        values = [*node.args, *(keyword.value for keyword in node.keywords)]
        names = [*([""] * len(node.args)), *(k.arg and f"{k.arg}=" for k in node.keywords)]
        given = [self._argument(value) for value in values]
        if None in given or None in names:
            return None
        arguments = [f"{name}{value}" for name, value in zip(names, given, strict=True)]
        return f"student.call({', '.join([target, *arguments])}).value"

    def _kind(self, node: ast.Name) -> str:
        return "" if node.id in self.plain else self.names.get(node.id, "")

    def _argument(self, node: ast.expr) -> str | None:
        return ast.unparse(node) if self._is_plain(node) else self._asked(node)

    def _is_plain(self, node: ast.expr) -> bool:
        """Whether something can be computed without the student's code."""
        parts = list(ast.walk(node))
        bound = {n.id for n in parts if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        allowed = {*MODULES, *self.plain, *bound, *vars(builtins)} - {*self.received, *UNFIT}
        used = _names(node)
        has_star = any(isinstance(part, ast.Starred) for part in parts)
        return used <= allowed - (self.names.keys() - self.plain) and not has_star


def _names(node: ast.AST) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def _bare(test: ast.expr) -> ast.expr:
    """A condition without `bool(…)`, `all(…)`, `.all()` and `.item()` around it."""
    match test:
        case ast.Call(func=ast.Name(id="bool" | "all"), args=[inner]):
            return _bare(inner)
        case ast.Call(func=ast.Attribute(attr="all" | "item", value=inner)):
            return _bare(inner)
    return test


def _last_name(node: ast.expr) -> str:
    return ast.unparse(node).rpartition(".")[2]
