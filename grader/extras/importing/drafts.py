"""Makes checks of tests: each is run as it stands, by `student.runs`, with what it needs of earlier tests."""

import ast
import builtins
import doctest
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from textwrap import dedent, indent

from grader.extras.importing.nbgrader import Case
from grader.testing.taken_apart import names_in_order

TITLE = 100
"""The most characters of a test's own words that its check's title repeats."""

PRINTING = """
import contextlib, io
with contextlib.redirect_stdout(io.StringIO()) as _printed:
{body}
assert f"{{_printed.getvalue()}}{{repr(_shown).removeprefix('None')}}".strip() == {shown!r}
"""

OF_KIND = ("isinstance", "type", "callable", "len", "shape", "ndim", "dtype", "size")
"""What a condition asks for that holds for code that computes nothing as well."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A test as the body of a check.

    Args:
        text: the test, with what it needs of earlier ones.
        title: the sentence that students read.
        given: the names in it that students are given.
        is_conduct: whether it asks for kinds and sizes alone.
        judges: whether it has a condition.
    """

    text: str
    title: str
    given: tuple[str, ...] = ()
    is_conduct: bool = False
    judges: bool = True

    def lines(self, *, forgeable: bool) -> list[str]:
        """The statements of the check."""
        quotes = "'''" if '"""' in self.text else '"""'
        raw = "r" if "\\" in self.text else ""
        if quotes in self.text or self.text.endswith("\\"):
            quoted = [repr(self.text)]
        else:
            quoted = [f"{raw}{quotes}", *self.text.splitlines(), quotes]
        given = [f"given={self.given!r},"] if self.given else []
        last = quoted.pop()
        more = [*given, *(["forgeable=True,"] if forgeable else [])]
        return ["student.runs(", indent("\n".join([*quoted, f"{last},", *more]), "    "), ")"]


def draft(
    case: Case, earlier: Sequence[ast.stmt], names: Collection[str], given: Collection[str]
) -> Draft | None:
    """A test as a check; None where it is no Python.

    Args:
        case: the test.
        earlier: the statements of tests before it that it may need.
        names: what the student's file defines.
        given: of these, what students are given.
    """
    body = statements(case)
    if body is None:
        return None
    whole = [*needed(body, earlier, names), *body]
    text = ast.unparse(ast.Module([node for node in whole if not _is_text(node)], []))
    used = names_in(text)
    asserted = [node.test for node in body if isinstance(node, ast.Assert)]
    others = [node for node in body if not isinstance(node, ast.Assert | ast.Import)]
    parts = [part for node in body for part in ast.walk(node) if isinstance(part, ast.stmt)]
    is_judging = any(isinstance(part, ast.Assert | ast.Raise | ast.With) for part in parts)
    is_judging |= any(map(_asserts, parts))
    of_kind = not others and all(map(_is_of_kind, asserted)) if asserted else not is_judging
    return Draft(
        text,
        _title(case, body),
        tuple(sorted(used & {*given})),
        of_kind,
        is_judging,
    )


def _asserts(node: ast.stmt) -> bool:
    """Whether a statement is a condition in the form of a call, as those of numpy and unittest are."""
    name = (
        ast.unparse(node.value.func)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
        else ""
    )
    return name.rpartition(".")[2].startswith("assert")


def _is_of_kind(node: ast.expr) -> bool:
    parts = [*ast.walk(node)]
    called = {
        part.func.id
        for part in parts
        if isinstance(part, ast.Call) and isinstance(part.func, ast.Name)
    }
    asked = {part.attr for part in parts if isinstance(part, ast.Attribute)}
    return bool((called | asked) & {*OF_KIND})


def _title(case: Case, body: Sequence[ast.stmt]) -> str:
    """What the test says of itself, where students may read that."""
    lines = [line.strip().lstrip("#").strip() for line in case.text.splitlines() if line.strip()]
    own = lines[0] if case.text.lstrip().startswith("#") and lines else ""
    if body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
        own = str(body[0].value.value).strip().partition("\n")[0]
    own = " ".join(own.split()).replace("\\", "").replace('"', "'").rstrip(".:")
    kind = "hidden tests" if case.is_hidden else "tests"
    plain = f"The {kind} of cell {case.cell} should pass."
    if case.is_hidden or len(own.split()) < 3 or len(own) > TITLE:
        return plain
    return f"{plain[:-1]}: {own}."


def names_in(text: str) -> set[str]:
    """The names that a test mentions."""
    with suppress(SyntaxError):
        tree = ast.parse(_without_prompts(text))
        return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return set()


def statements(case: Case) -> list[ast.stmt] | None:
    """A test's statements; None where it is no Python. A function of conditions stands for its body."""
    try:
        body = ast.parse(dedent(_without_prompts(case.text))).body
    except SyntaxError:
        return None
    match body:
        case [ast.FunctionDef(name=name, body=inner, decorator_list=[]), *calls]:
            returns = any(isinstance(part, ast.Return) for node in inner for part in ast.walk(node))
            if not returns and all(f"{name}(" in ast.unparse(call) for call in calls):
                return inner
    if body and case.output and "print(" in case.text:
        return _printing(body, case.output.strip())
    if body:
        body[-1] = _with_output(body[-1], case.output)
    return body


def _printing(body: Sequence[ast.stmt], shown: str) -> list[ast.stmt]:
    """A test cell whose output begins with what it prints, as an assert on all of that."""
    values = [ast.unparse(node.value) if isinstance(node, ast.Expr) else "" for node in body]
    lines = [f"_shown = {v}" if v else ast.unparse(n) for v, n in zip(values, body, strict=True)]
    lines += [] if values[-1] else ["_shown = None"]
    text = PRINTING.format(body=indent("\n".join(lines), "    "), shown=shown)
    return ast.parse(text).body


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def needed(
    body: Sequence[ast.stmt], earlier: Sequence[ast.stmt], names: Collection[str]
) -> list[ast.stmt]:
    """The statements of earlier tests that set, or change, what code uses and does not set itself."""
    wanted = _unset(body) - {*names, *vars(builtins)}
    found: list[ast.stmt] = []
    for node in reversed(earlier):
        if isinstance(node, ast.Assert) or not wanted & (set_by(node) | _given_to(node)):
            continue
        found.insert(0, node)
        wanted = (wanted - set_by(node)) | (_unset([node]) - {*names, *vars(builtins)})
    return found


def _given_to(node: ast.stmt) -> set[str]:
    """The names of what a call by itself is given, and may change."""
    if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Call):
        return set()
    is_plain = _asserts(node) or ast.unparse(node.value.func) == "print"
    return (
        set() if is_plain else {part.id for part in node.value.args if isinstance(part, ast.Name)}
    )


def _unset(body: Iterable[ast.AST]) -> set[str]:
    """The names that statements use before they set them."""
    first: dict[str, bool] = {}
    for name, is_set in names_in_order(body):
        first.setdefault(name, is_set)
    return {name for name, is_set in first.items() if not is_set}


def set_by(node: ast.AST) -> set[str]:
    """The names that a statement sets."""
    return {name for name, is_set in names_in_order([node]) if is_set}


def _without_prompts(text: str) -> str:
    """Lines of a doctest as asserts; any other test as it is."""
    if not text.lstrip().startswith(">>>"):
        return text
    made: list[str] = []
    try:
        examples = doctest.DocTestParser().get_examples(text)
    except ValueError:
        return text
    for example in examples:
        *before, last = ast.parse(example.source).body
        made += map(ast.unparse, [*before, _with_output(last, example.want)])
    return "\n".join(made)


def _with_output(node: ast.stmt, output: str) -> ast.stmt:
    """The last line of a test cell as an assert, where its output says what is expected."""
    shown = output.strip()
    if not isinstance(node, ast.Expr) or not shown:
        return node
    expected: ast.expr
    try:
        expected = ast.parse(shown, mode="eval").body
    except SyntaxError:
        return ast.Assert(_equal(_call("repr", node.value), ast.Constant(shown)))
    match expected:
        case ast.Constant(value=True):
            return ast.Assert(node.value)
        case ast.Call(func=ast.Name(id="tensor")):
            expected.func = ast.Attribute(ast.Name("torch"), "tensor")
            return ast.Assert(_call("torch.equal", node.value, expected))
    if not _is_literal(expected):
        return ast.Assert(_equal(_call("repr", node.value), ast.Constant(shown)))
    return ast.Assert(_equal(node.value, expected))


def _is_literal(node: ast.expr) -> bool:
    with suppress(ValueError, TypeError):
        ast.literal_eval(node)
        return True
    return False


def _call(name: str, *args: ast.expr) -> ast.Call:
    return ast.Call(ast.parse(name, mode="eval").body, [*args], [])


def _equal(left: ast.expr, right: ast.expr) -> ast.Compare:
    return ast.Compare(left, [ast.Eq()], [right])


def in_order(cases: Mapping[str, Sequence[Case]]) -> Iterator[tuple[str, Case]]:
    """The tests of all exercises as they stand in the notebook, the visible part of a cell first."""
    pairs = [(name, case) for name, those in cases.items() for case in those]
    return iter(sorted(pairs, key=lambda pair: (pair[1].cell, pair[1].is_hidden)))
