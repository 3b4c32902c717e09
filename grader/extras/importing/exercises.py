"""Makes an assignment of a notebook: exercises of code in which lines are marked as the solution.

A solution region stands inside a function, below its docstring, so that students keep what they are
to write; a constant's region is its whole definition.
"""

import ast
import re
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import count

from grader.extras.importing.drafts import names_in, needed, statements
from grader.extras.importing.nbgrader import Case, MarkedCode, Notes, Question, Reading, Text
from grader.extras.importing.renaming import renamed
from grader.release.solution_cells import BEGIN, END, REGION
from grader.testing.taken_apart import names_in_order

RANDOM = re.compile(r"rand|\bnormal\(|\bchoice\(|shuffle|time\(|now\(")
"""What another value may come of each time."""
NOTHING: Mapping[tuple[int, bool], str] = {}
NO_CODE: Mapping[str, str] = {}

Definition = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
Lines = tuple[int, int]
"""The first and the last line of a region, counted from 1."""


@dataclass(slots=True)
class NewExercise:
    """An exercise to be written into a course; without a name, code that is given.

    Args:
        text: its cell, with solution regions.
        name: what students define.
        kind: "function", "class" or "constant".
        cases: its tests.
        unasked: what it is worth besides its tests.
    """

    text: str
    name: str = ""
    kind: str = ""
    cases: list[Case] = field(default_factory=list)
    unasked: Fraction = Fraction(0)

    @property
    def exact_points(self) -> Fraction:
        """What the notebook says it is worth."""
        return sum((case.points for case in self.cases), self.unasked)

    @property
    def points(self) -> float:
        """The same as a whole or half number."""
        doubled = round(self.exact_points * 2)
        return doubled // 2 if doubled % 2 == 0 else doubled / 2


@dataclass(slots=True)
class Outline:
    """An assignment to be written.

    Args:
        title: the notebook's first heading, "" where it has none.
        cells: kind ("markdown" or "code"), text, and the exercise's name or "".
        exercises: by name, in order.
        given: the names that the rest of its code defines, with whether they are the same each time.
        packages: what its code imports beside the standard library.
        notes: what could not be carried over.
        latest: what the names of exercises that were set anew are called from there on.
    """

    title: str
    notes: Notes
    cells: list[tuple[str, str, str]] = field(default_factory=list)
    exercises: dict[str, NewExercise] = field(default_factory=dict)
    given: dict[str, bool] = field(default_factory=dict)
    packages: set[str] = field(default_factory=set)
    latest: dict[str, str] = field(default_factory=dict)

    def set_anew(self, cell: int, name: str, text: str) -> dict[str, str]:
        """Another name for what code sets that is an exercise already; it is used from there on.

        Args:
            cell: where the code stands.
            name: the exercise's.
            text: the code.
        """
        base = re.sub(r"_\d+$", "", name)
        taken = {*self.exercises, *self.given}
        new = next(f"{base}_{n}" for n in count(2) if f"{base}_{n}" not in taken)
        anew = f"{name} is an exercise already; from here on it is called {new}"
        self.notes.add(cell, anew)
        self.latest = {old: new if now == name else now for old, now in self.latest.items()}
        self.latest[name] = new
        self.given[new] = False
        if not next((is_set for used, is_set in _names_at_top(text) if used == name), False):
            self.cells.append(("code", f"{new} = {name}", ""))
        return {name: new}


def outline(
    reading: Reading,
    left_out: Mapping[tuple[int, bool], str] = NOTHING,
    failing: Mapping[str, str] = NO_CODE,
) -> Outline:
    """The assignment that a notebook is.

    Args:
        reading: the notebook.
        left_out: the tests that are not to be in it, by cell and whether they are hidden, with the reason.
        failing: the given code that is not to be in it, with the reason.
    """
    notes = Notes([*reading.notes.entries])
    made, places = Outline(reading.title, notes), dict[str, int]()
    for (cell, _hidden), why in left_out.items():
        notes.add(cell, f"the test is left out: {why}")
    earlier: list[ast.stmt] = []
    for part in reading.parts:
        if isinstance(part, Question):
            kept = [case for case in part.cases if (case.cell, case.is_hidden) not in left_out]
            lost = sum((case.points for case in part.cases if case not in kept), Fraction(0))
            if kept:
                kept[0] = replace(kept[0], points=kept[0].points + lost)
            _add_question(made, replace(part, cases=tuple(kept)), places, failing)
            visible = (_latest(made, case) for case in part.cases if not case.is_hidden)
            earlier += (node for case in visible for node in statements(case) or ())
        elif part.kind == "markdown":
            made.cells.append(("markdown", part.text, ""))
        elif (tree := made.notes.parsed(part.cell, part.text)) is not None:
            _add_given(made, part, tree, earlier, failing)
    _share_tests(made, places, failing)
    for exercise in made.exercises.values():
        if exercise.exact_points != Fraction(exercise.points):
            exact = f"{float(exercise.exact_points):g}"
            become = f"{exercise.name}: {exact} points become {exercise.points}"
            made.notes.add(places[exercise.name], become)
    return made


def _latest(made: Outline, case: Case) -> Case:
    """A test with the names that are used where it stands."""
    return replace(case, text=renamed(case.text, made.latest))


def _names_at_top(text: str) -> Iterator[tuple[str, bool]]:
    """The names of a file's statements in order, and whether each is set there."""
    return names_in_order(ast.parse(text).body)


def _share_tests(made: Outline, places: Mapping[str, int], failing: Mapping[str, str]) -> None:
    """Exercises without tests have those that mention them; where there are none, they are given."""
    cases = [case for exercise in made.exercises.values() for case in exercise.cases]
    for name, exercise in list(made.exercises.items()):
        if not exercise.cases:
            mentioning = [case for case in cases if name in names_in(case.text)]
            exercise.cases = [replace(case, points=Fraction(0)) for case in mentioning]
        if not exercise.cases:
            del made.exercises[name]
            given = REGION.sub(lambda match: match["body"].rstrip("\n"), exercise.text)
            given = re.sub(r"(?m)^[ \t]*# TODO: .*\n", "", given)
            is_kept = _is_running(made, places[name], given.strip("\n"), failing)
            cells = [cell for cell in made.cells if is_kept or cell[2] != name]
            made.cells = [("code", given, "") if cell[2] == name else cell for cell in cells]
            untested = f"{name} has no test that can be run; students are given the solution of it"
            made.notes.add(places[name], untested)
        elif not exercise.exact_points:
            worthless = f"{name} is worth 0 points, because no test is worth any"
            made.notes.add(places[name], worthless)


def _add_given(
    made: Outline,
    part: Text,
    tree: ast.Module,
    earlier: Sequence[ast.stmt],
    failing: Mapping[str, str],
) -> None:
    """Add code that students are given, with what it needs of the tests before it."""
    part_text = renamed(part.text, made.latest)
    for name in dict.fromkeys(name for name, is_set in _names_at_top(part_text) if is_set):
        if name in made.exercises and made.exercises[name].cases:
            part_text = renamed(part_text, made.set_anew(part.cell, name, part_text))
    before = needed(ast.parse(part_text).body, earlier, {*made.given, *made.exercises})
    text = "\n".join([*map(ast.unparse, before), part_text])
    if _is_running(made, part.cell, text, failing):
        made.packages.update(_imported(tree))
        made.cells.append(("code", text, ""))


def _is_running(made: Outline, cell: int, text: str, failing: Mapping[str, str]) -> bool:
    """Note what given code defines; that it fails, where it does."""
    if text in failing:
        made.notes.add(cell, f"the code is left out, because it fails: {failing[text]}")
        return False
    _note_given(made, ast.parse(text))
    return True


def _note_given(made: Outline, tree: ast.Module) -> None:
    """Note what given code defines; what it draws at random is another thing each time."""
    for node in tree.body:
        is_same = not isinstance(node, ast.Import) and not RANDOM.search(ast.unparse(node))
        used = {name for name, is_set in names_in_order([node]) if not is_set}
        is_same &= all(made.given.get(name, name not in made.exercises) for name in used)
        for name, is_set in names_in_order([node]):
            if is_set:
                made.given[name] = is_same and made.given.get(name, True)


def _add_question(
    made: Outline, question: Question, places: dict[str, int], failing: Mapping[str, str]
) -> None:
    """Add a question's exercises; each of its tests goes to the last one that it mentions."""
    asked = {name for case in question.cases for name in names_in(_latest(made, case).text)}
    exercises: list[NewExercise] = []
    for code in question.code:
        code = replace(code, text=renamed(code.text, made.latest))
        anew: dict[str, str] = {}
        for piece in list(split(code, asked, made.notes)):
            piece.text = renamed(piece.text, anew)
            with suppress(SyntaxError):
                made.packages.update(_imported(ast.parse(piece.text)))
            if piece.name in made.exercises:
                anew |= made.set_anew(code.cell, piece.name, piece.text)
                piece.text, piece.name = renamed(piece.text, anew), anew[piece.name]
            if piece.name:
                exercises.append(piece)
                made.exercises[piece.name], places[piece.name] = piece, code.cell
                if piece.kind == "constant":
                    nodes = ast.parse(piece.text).body
                    made.given |= dict.fromkeys(
                        _names_changed(nodes).keys() & made.given.keys(), False
                    )
            elif not _is_running(made, code.cell, piece.text, failing):
                continue
            made.cells.append(("code", piece.text, piece.name))
    if not exercises:
        none = "no function, class or constant in it can be an exercise"
        made.notes.add(question.cell, none)
        for case in question.cases:
            made.notes.add(case.cell, "the tests of what is left out are left out, too")
        return
    exercises[-1].unasked = Fraction(0) if question.cases else question.points
    for case in (_latest(made, case) for case in question.cases):
        mentioned = names_in(case.text)
        candidates = [e for e in exercises if e.name in mentioned]
        candidates = candidates or [e for e in made.exercises.values() if e.name in mentioned]
        (candidates or exercises)[-1].cases.append(case)


def _imported(tree: ast.Module) -> Iterator[str]:
    """The packages that code imports beside the standard library."""
    for node in ast.walk(tree):
        names: list[str] = []
        match node:
            case ast.Import(names=aliases):
                names = [alias.name for alias in aliases]
            case ast.ImportFrom(module=str(module), level=0):
                names = [module]
        for name in names:
            if name.partition(".")[0] not in sys.stdlib_module_names:
                yield name.partition(".")[0]


# Exercises of a cell.


def split(code: MarkedCode, asked: Collection[str], notes: Notes) -> Iterator[NewExercise]:
    """The exercises of a cell, and its given code, in order.

    Args:
        asked: the names that tests mention: of several constants in a row, one of these is the
            exercise.
        notes: receives what could not be carried over.
    """
    lines, tree = code.text.split("\n"), notes.parsed(code.cell, code.text)
    for chunk in _chunks(tree, lines, code.solution) if tree is not None else ():
        piece = _piece(chunk, lines, code, asked, notes)
        if piece is not None:
            yield piece


@dataclass(slots=True)
class _Chunk:
    """Statements that stand together: a definition, or others in a row of which all are alike."""

    first: int
    last: int
    is_solution: bool
    nodes: list[ast.stmt]

    @property
    def definition(self) -> ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | None:
        """The function or class that is the solution; None for other statements."""
        node = self.nodes[0]
        return node if isinstance(node, Definition) and self.is_solution else None


def _chunks(tree: ast.Module, lines: list[str], solution: frozenset[int]) -> list[_Chunk]:
    """The statements of a cell, with the comments above each; those that are alike together."""
    chunks: list[_Chunk] = []
    before = 0
    marked = [node for node in tree.body if not solution.isdisjoint(_lines_of(node))]
    # What a solution imports beside other things tells nothing, and tests or other cells may need it.
    given = ast.Import | ast.ImportFrom
    is_asked = all(isinstance(node, given) for node in marked)
    for node in tree.body:
        last = node.end_lineno or node.lineno
        is_solution = node in marked and (is_asked or not isinstance(node, given))
        chunk = _Chunk(before + 1, last, is_solution, [node])
        before = last
        joins = chunks and not chunk.definition and not chunks[-1].definition
        if joins and chunks[-1].is_solution == is_solution:
            chunks[-1].last, chunks[-1].nodes = last, [*chunks[-1].nodes, node]
        else:
            chunks.append(chunk)
    if chunks and before < len(lines):
        chunks[-1].last = len(lines)
    return chunks


def _start(node: ast.stmt) -> int:
    """The first line of a statement, its decorators included."""
    decorators = node.decorator_list if isinstance(node, Definition) else []
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def _piece(
    chunk: _Chunk, lines: list[str], code: MarkedCode, asked: Collection[str], notes: Notes
) -> NewExercise | None:
    """An exercise or given code; None, with a note, where it can be neither."""
    numbers = range(chunk.first, chunk.last + 1)
    outside = [n for n in numbers if n not in code.solution or n >= _start(chunk.nodes[0])]
    node = chunk.definition
    if not chunk.is_solution:
        text = _joined(lines, outside, ())
        return NewExercise(text) if text else None
    if node is None:
        return _constant(chunk, lines, code, asked, notes)
    seen: list[str] = []
    regions = list(_regions(node, code.solution, lines, seen))
    notes.add(code.cell, *(f"{node.name}: {note}" for note in seen))
    if not regions:
        notes.add(code.cell, f"{node.name} has nothing to write in it; it is left out")
        return None
    text = _joined(lines, outside, regions)
    try:
        ast.parse(REGION.sub(lambda match: f"{match['indent']}pass", text))
    except SyntaxError:
        partial = "the marked lines are no whole statements; its whole body is the gap"
        notes.add(code.cell, f"{node.name}: {partial}")
        everything = frozenset(range(1, len(lines) + 1))
        text = _joined(lines, outside, list(_regions(node, everything, lines, [])))
    if not ast.get_docstring(node):
        missing = f"{node.name} has no docstring; write one that says what is asked"
        notes.add(code.cell, missing)
    return NewExercise(text, node.name, "class" if isinstance(node, ast.ClassDef) else "function")


def _constant(
    chunk: _Chunk, lines: list[str], code: MarkedCode, asked: Collection[str], notes: Notes
) -> NewExercise | None:
    """The exercise of statements that define no function: one of the names that they set."""
    names = [name for node in chunk.nodes for name in _names_set(node)]
    names = names or list(_names_changed(chunk.nodes))
    if not names:
        first = lines[_start(chunk.nodes[0]) - 1].strip()
        wanted = "a solution defines a function, a class or a constant"
        notes.add(code.cell, f"`{first}` is left out: {wanted}")
        return None
    name = next((name for name in reversed(names) if name in asked), names[-1])
    others = ", ".join(dict.fromkeys(other for other in names if other != name))
    if others:
        notes.add(code.cell, f"{name} is the exercise; {others} beside it is not judged")
    numbers = [n for n in range(chunk.first, chunk.last + 1) if lines[n - 1].strip()]
    text = _joined(lines, numbers, [(numbers[0], numbers[-1])], f"set {name}.")
    return NewExercise(text, name, "constant")


def _names_set(node: ast.stmt) -> Iterator[str]:
    """The names that a statement at the top of a cell assigns or imports."""
    targets: Sequence[ast.expr] = ()
    match node:
        case ast.Import() | ast.ImportFrom():
            yield from (name for name, _is_set in names_in_order([node]))
        case ast.Assign(targets=targets):
            pass
        case ast.AnnAssign(target=target) | ast.AugAssign(target=target):
            targets = (target,)
    for part in (part for target in targets for part in ast.walk(target)):
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
            yield part.id


def _names_changed(nodes: Iterable[ast.stmt]) -> dict[str, None]:
    """The names whose values statements change: an item of them, or by a method of theirs."""
    found: dict[str, None] = {}
    for part in (part for node in nodes for part in ast.walk(node)):
        match part:
            case ast.Subscript(value=value, ctx=ast.Store()):
                while isinstance(value, ast.Subscript | ast.Attribute):
                    value = value.value
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=value))):
                pass
            case _:
                continue
        if isinstance(value, ast.Name):
            found[value.id] = None
    return found


def _regions(
    node: ast.stmt, solution: frozenset[int], lines: list[str], notes: list[str]
) -> Iterator[Lines]:
    """The regions of a definition: of each function what is marked, below its docstring."""
    if isinstance(node, ast.ClassDef):
        for part in node.body:
            if isinstance(part, Definition):
                yield from _regions(part, solution, lines, notes)
            elif not solution.isdisjoint(_lines_of(part)) and not _is_docstring(part):
                notes.append(f"students see line {part.lineno}, which stands in no method")
        return
    assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    body = [part for part in node.body if not _is_docstring(part)]
    if not body or body[0].lineno == node.lineno:
        if not solution.isdisjoint(_lines_of(node)):
            notes.append("students see a function in one line, which has no room for a gap")
        return
    last = node.end_lineno or node.lineno
    if node.lineno in solution:
        is_super = isinstance(body[0], ast.Expr) and ast.unparse(body[0]).startswith("super(")
        first = body[1 if is_super and len(body) > 1 else 0]
        position = node.body.index(first)
        before = node.body[position - 1].end_lineno or 0
        yield before + 1 if position else first.lineno, last
        return
    marked = {n for n in range(body[0].lineno, last + 1) if n in solution}
    for inner in ast.walk(node):
        is_simple = isinstance(inner, ast.stmt) and not hasattr(inner, "body")
        if is_simple and not marked.isdisjoint(_lines_of(inner)):
            marked.update(_lines_of(inner))
    # Empty lines between marked ones do not part them.
    numbers = [n for n in sorted(marked) if lines[n - 1].strip()]
    below = [n for n in range(numbers[0], last + 1) if n not in marked] if numbers else []
    if any(lines[n - 1].strip() and not lines[n - 1].lstrip().startswith("#") for n in below):
        # What stands below a gap would be taken for a student's own code that is never reached.
        notes.append("the lines below the first that are marked belong to the gap")
        yield numbers[0], last
        return
    while numbers:
        start = end = numbers.pop(0)
        while numbers and all(not lines[n - 1].strip() for n in range(end + 1, numbers[0])):
            end = numbers.pop(0)
        yield start, end


def _lines_of(node: ast.AST) -> range:
    assert isinstance(node, ast.stmt)
    return range(_start(node), (node.end_lineno or node.lineno) + 1)


def _is_docstring(node: ast.stmt) -> bool:
    value = node.value if isinstance(node, ast.Expr) else None
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


def _joined(
    lines: list[str],
    numbers: Collection[int],
    regions: Collection[Lines],
    todo: str = "write this.",
) -> str:
    """Some lines of a cell with markers around the regions, and a TODO above where none stands."""
    starts, ends = {first for first, _ in regions}, {last for _, last in regions}
    inside = {n for first, last in regions for n in range(first, last + 1)}
    has_todo = any("TODO" in lines[n - 1] for n in numbers if n not in inside)
    made: list[str] = []
    margin = ""
    for number in numbers:
        line = lines[number - 1]
        if number in starts:
            last = next(last for first, last in regions if first == number)
            body = [lines[n - 1] for n in range(number, last + 1) if lines[n - 1].strip()]
            margin = min((text[: len(text) - len(text.lstrip())] for text in body), key=len)
            made += [] if has_todo else [f"{margin}# TODO: {todo}"]
            made.append(margin + BEGIN)
        made.append(line)
        if number in ends:
            made.append(margin + END)
    return "\n".join(made).strip("\n")
