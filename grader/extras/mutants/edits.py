"""Mechanical wrong answers: small edits of a solution's regions, whether they make sense or not."""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import libcst as cst
from libcst import matchers as m
from libcst.metadata import ByteSpanPositionProvider, MetadataWrapper

from grader.course.course import Course, Exercise
from grader.release.solution_cells import REGION, Solution, read_solution

SYMMETRIC = ("transpose", "swapaxes", "dot")
AXES = (-2, -1, 0, 1)
AXIS_NAMES = ("dim", "axis", "dim0", "dim1")

OTHER_FUNCTION = {
    "triu": "tril",
    "tril": "triu",
    "ones": "zeros",
    "zeros": "ones",
    "rand": "randn",
    "randn": "rand",
    "cat": "stack",
    "stack": "cat",
    "sum": "mean",
    "mean": "sum",
    "max": "min",
    "min": "max",
    "softmax": "log_softmax",
    "no_grad": "enable_grad",
}
IN_PLACE = ("masked_fill", "triu", "tril", "add", "sub", "mul", "div", "exp", "clamp")

OTHER_OPERATOR: dict[type[cst.BaseBinaryOp], str] = {
    cst.Add: "-",
    cst.Subtract: "+",
    cst.Multiply: "/",
    cst.Divide: "*",
    cst.MatrixMultiply: "*",
    cst.FloorDivide: "*",
    cst.Modulo: "//",
}
METHOD: dict[type[cst.BaseBinaryOp], str] = {
    cst.Add: "add_",
    cst.Subtract: "sub_",
    cst.Multiply: "mul_",
    cst.Divide: "div_",
}
IN_ORDER = (cst.Subtract, cst.Divide, cst.MatrixMultiply, cst.FloorDivide, cst.Modulo, cst.Power)
"""Operators whose operands may not change places."""

OTHER_COMPARISON: dict[type[cst.BaseCompOp], tuple[str, ...]] = {
    cst.GreaterThan: (">=", "<"),
    cst.GreaterThanEqual: (">", "<"),
    cst.LessThan: ("<=", ">"),
    cst.LessThanEqual: ("<", ">"),
    cst.Equal: ("!=",),
    cst.NotEqual: ("==",),
}

ATOMS = (cst.Name, cst.Attribute, cst.Call, cst.Subscript, cst.Integer, cst.Float)


Key = tuple[str, str, str]
"""The exercise of a mutant, the lines that are changed and what they become, as files list it."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """An edit of a solution.

    Args:
        exercise: the id of the exercise it is in.
        path: the solution's, from the course's folder.
        line: the first line that is changed.
        old: the lines that are changed, in one.
        new: what they become.
        text: the solution with the edit.
    """

    exercise: str
    path: str
    line: int
    old: str
    new: str
    text: str

    @property
    def key(self) -> Key:
        """What it is listed by."""
        return self.exercise, self.old, self.new


def mutants(course: Course, exercise: Exercise) -> list[Mutant]:
    """The mutants of an exercise's solution, in the order of its lines.

    Raises:
        CourseError: when the solution cannot be read.
    """
    path = course.paths(course.by_id[exercise.assignment]).solution
    solution = read_solution(course.by_id[exercise.assignment], path)
    data, syntax = solution.text.encode(), ast.dump(ast.parse(solution.text))
    made: dict[bytes, Mutant] = {}
    for start, end, replacement in sorted(_edits(data, _regions(solution, exercise))):
        new = replacement.encode()
        text = data[:start] + new + data[end:]
        if text not in made and _says_another(text, syntax):
            made[text] = Mutant(
                exercise.id,
                course.inner(path),
                data.count(b"\n", 0, start) + 1,
                _lines(data, start, end),
                _lines(text, start, start + len(new)),
                text.decode(),
            )
    return list(made.values())


def _regions(solution: Solution, exercise: Exercise) -> list[tuple[int, int]]:
    """From and to which byte an exercise's regions reach."""
    regions = []
    for cell in solution.cells:
        if cell.exercise == exercise.name:
            start = solution.text.index(cell.text)
            for match in REGION.finditer(cell.text):
                before = solution.text[: start + match.start("body")].encode()
                regions.append((len(before), len(before) + len(match["body"].encode())))
    return regions


def _lines(text: bytes, start: int, end: int) -> str:
    """The lines that a part of a text is on, in one."""
    first, last = text.rfind(b"\n", 0, start) + 1, text.find(b"\n", end)
    return " ".join(text[first:last].decode().split())


def _says_another(text: bytes, syntax: str) -> bool:
    """Whether a text is Python, and does not say the same as the solution."""
    try:
        return ast.dump(ast.parse(text)) != syntax
    except SyntaxError:
        return False


def _edits(data: bytes, regions: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int, str]]:
    """What may stand in place of the nodes in these regions: from and to which byte, and what."""
    wrapper = MetadataWrapper(cst.parse_module(data), unsafe_skip_copy=True)
    spans = wrapper.resolve(ByteSpanPositionProvider)
    for part in _parts(wrapper.module):
        editor = _Editor(wrapper.module, Names.of(wrapper.module, part))
        for node in _walk(part):
            span = spans.get(node)
            if span is not None and any(a <= span.start < b for a, b in regions):
                for new in editor.replacements(node):
                    yield span.start, span.start + span.length, new


def _parts(module: cst.Module) -> Iterator[cst.CSTNode]:
    """The functions and methods of a module, and its other statements."""
    for statement in module.body:
        yield from statement.body.body if isinstance(statement, cst.ClassDef) else [statement]


def _walk(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """The nodes that may be changed: no words of errors, no annotation, nothing that is assigned to."""
    yield node
    inner: Sequence[cst.CSTNode | None] = node.children
    match node:
        case cst.Raise() | cst.FormattedString() | cst.Parameters() | cst.AssignTarget():
            inner = []
        case cst.Arg(value=value) | cst.Attribute(value=value) | cst.AnnAssign(value=value):
            inner = [value]
        case cst.For():
            inner = [node.iter, node.body]
        case cst.CompFor():
            inner = [node.iter, *node.ifs, node.inner_for_in]
        case cst.FunctionDef():
            inner = [node.body]
        case cst.UnaryOperation(operator=cst.Minus(), expression=cst.Integer() | cst.Float()):
            inner = []
    for child in inner:
        if child is not None:
            yield from _walk(child)


# What names and attributes stand for: one may be taken for another of its kind.

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
        targets, values = _elements(target), _elements(value)
        if len(values) != len(targets):
            values = [value] * len(targets)
        for part, what in zip(targets, values, strict=True):
            if not isinstance(part, cst.Subscript):
                yield module.code_for_node(part), _kind(module, what, kinds)


def _elements(node: cst.CSTNode) -> list[cst.CSTNode]:
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


# The edits.


@dataclass(slots=True)
class _Editor:
    """Says what may stand in place of a node.

    Args:
        module: the module that the node is in.
        names: those of the function that it is in.
        axes: the numbers that are axes, by their ids.
        asked: what is only asked for its shape or type.
    """

    module: cst.Module
    names: Names
    axes: set[int] = field(default_factory=set)
    asked: set[int] = field(default_factory=set)

    def replacements(self, node: cst.CSTNode) -> Iterator[str]:
        """What may stand in place of a node, as code."""
        match node:
            case cst.Arg(keyword=cst.Name(value=name)) if name in AXIS_NAMES:
                self.axes.add(id(node.value))
            case cst.Name():
                yield from _names(self, node)
            case cst.Attribute():
                yield from _attributes(self, node)
            case cst.Integer() | cst.Float() | cst.UnaryOperation():
                yield from _numbers(self, node)
            case cst.BinaryOperation():
                yield from _operations(self, node)
            case cst.Comparison():
                yield from _comparisons(self, node)
            case cst.Subscript():
                yield from _slices(self, node)
            case cst.Call():
                yield from _calls(self, node)
            case cst.Expr() | cst.Assign() | cst.AnnAssign():
                yield from _statements(self, node)
            case cst.AugAssign():
                yield "pass"

    def code(self, node: cst.CSTNode) -> str:
        """A node's code; an argument's without its comma."""
        if isinstance(node, cst.Arg):
            node = node.with_changes(comma=cst.MaybeSentinel.DEFAULT)
        return self.module.code_for_node(node).strip()

    def whole(self, node: cst.BaseExpression) -> str:
        """An expression's code, in parentheses where it needs them anywhere."""
        code = self.code(node)
        return code if isinstance(node, ATOMS) or node.lpar else f"({code})"


def _names(editor: _Editor, node: cst.Name) -> Iterator[str]:
    """Another name of the same kind; one more or less; a result that passes no gradients on."""
    kind = editor.names.kinds.get(node.value)
    yield from editor.names.like(node.value)
    if node.value in ("True", "False") or kind == TRUTH:
        yield from (value for value in ("True", "False") if value != node.value)
    if kind == SIZE:
        yield from (f"({node.value} + 1)", f"({node.value} - 1)")
    if kind == TENSOR and id(node) not in editor.asked:
        yield f"{node.value}.detach()"


def _attributes(editor: _Editor, node: cst.Attribute) -> Iterator[str]:
    """Another attribute of the same kind, or name; a transpose left out; another infinity."""
    value, names = editor.code(node.value), editor.names
    if node.attr.value in ("shape", "dtype"):
        editor.asked.add(id(node.value))
    yield from (f"{value}.{other}" for other in names.attributes_like(node.attr.value))
    if value == "self":
        yield from names.of_kind(names.kind_of_attribute(node.attr.value))
    if node.attr.value in ("T", "mT"):
        yield value
    if node.attr.value == "inf":
        yield from ("0.0", "1e9")


def _numbers(editor: _Editor, node: cst.Integer | cst.Float | cst.UnaryOperation) -> Iterator[str]:
    """Another number, another axis; a sign left out."""
    if isinstance(node, cst.UnaryOperation):
        if not isinstance(node.expression, cst.Integer | cst.Float):
            yield editor.whole(node.expression)  # `-x`, `not x`
            return
        if not isinstance(node.operator, cst.Minus):
            return
    number = ast.literal_eval(editor.code(node))
    if isinstance(number, float):
        yield from map(str, dict.fromkeys((-number, number * 2, number / 2, 1.0)))
    else:
        more = AXES if id(node) in editor.axes else ()
        yield from (str(n) for n in dict.fromkeys((number + 1, number - 1, -number, *more)))


def _operations(editor: _Editor, node: cst.BinaryOperation) -> Iterator[str]:
    """Another operator, one operand alone, operands exchanged, the left one changed in place."""
    left, right = editor.code(node.left), editor.code(node.right)
    kind, sign = type(node.operator), editor.code(node.operator)
    if kind in OTHER_OPERATOR:
        yield f"{left} {OTHER_OPERATOR[kind]} {right}"
    if kind is cst.Power:
        yield f"({left} * {right})"
    if kind is cst.Multiply and left not in editor.names.of_kind(SIZE):
        yield f"{left} @ {right}"
    yield from (editor.whole(node.left), editor.whole(node.right))
    if kind in IN_ORDER:
        yield f"{editor.whole(node.right)} {sign} {editor.whole(node.left)}"
    if kind in METHOD and left in editor.names.of_kind(TENSOR):
        yield f"{left}.{METHOD[kind]}({right})"


def _comparisons(editor: _Editor, node: cst.Comparison) -> Iterator[str]:
    """Another comparison."""
    if len(node.comparisons) == 1:
        (target,) = node.comparisons
        left, right = editor.code(node.left), editor.code(target.comparator)
        for sign in OTHER_COMPARISON.get(type(target.operator), ()):
            yield f"{left} {sign} {right}"
        yield from ("True", "False")


def _slices(editor: _Editor, node: cst.Subscript) -> Iterator[str]:
    """The whole in place of a slice."""
    if any(isinstance(element.slice, cst.Slice) for element in node.slice):
        yield editor.code(node.value)


def _calls(editor: _Editor, node: cst.Call) -> Iterator[str]:
    """A call left out, another function, arguments left out or exchanged."""
    function, args = editor.code(node.func), [editor.code(arg) for arg in node.args]
    holder = node.func.value if isinstance(node.func, cst.Attribute) else None
    name = node.func.attr.value if isinstance(node.func, cst.Attribute) else function
    is_method = holder is not None and editor.code(holder) not in ("self", "torch", "nn", "F")
    before = function.removesuffix(name)
    if is_method and holder is not None:
        yield editor.code(holder)
    elif node.args and not node.args[0].keyword:
        yield editor.whole(node.args[0].value)
    plain, joined = name.removesuffix("_"), ", ".join(args)
    if name in OTHER_FUNCTION:
        yield f"{before}{OTHER_FUNCTION[name]}({joined})"
    if plain in IN_PLACE and is_method:
        yield f"{before}{plain if name.endswith('_') else f'{name}_'}({joined})"
    elif plain in IN_PLACE and args and isinstance(node.args[0].value, cst.Name):
        yield f"{args[0]}.{name}_({', '.join(args[1:])})"
    if name == "Linear" and not any(
        arg.keyword and arg.keyword.value == "bias" for arg in node.args
    ):
        yield f"{function}({joined}, bias=False)"
    if name == "ModuleList":
        yield f"list({joined})"
    for index, (arg, code) in enumerate(zip(node.args, args, strict=True)):
        if arg.keyword:
            yield f"{function}({', '.join(args[:index] + args[index + 1 :])})"
        elif index and not node.args[index - 1].keyword and name not in SYMMETRIC:
            exchanged = [*args[: index - 1], code, args[index - 1], *args[index + 1 :]]
            yield f"{function}({', '.join(exchanged)})"


def _statements(editor: _Editor, node: cst.Expr | cst.Assign | cst.AnnAssign) -> Iterator[str]:
    """A statement left out; what is computed, but not kept; a buffer that is none."""
    if isinstance(node, cst.Expr):
        yield "pass"
        call = node.value
        if isinstance(call, cst.Call) and editor.code(call.func) == "self.register_buffer":
            name, value = (editor.code(arg) for arg in call.args[:2])
            yield f"self.{ast.literal_eval(name)} = {value}"
        return
    target = node.targets[0].target if isinstance(node, cst.Assign) else node.target
    if not isinstance(target, cst.Name | cst.Tuple):
        yield "pass"
    elif isinstance(target, cst.Name) and node.value and editor.names.is_bound_before(target.value):
        yield editor.code(node.value)
