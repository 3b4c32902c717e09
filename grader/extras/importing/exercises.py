"""Makes an assignment of a notebook: exercises of code in which lines are marked as the solution.

A solution region stands inside a function, below its docstring, so that students keep what they are
to write; a constant's region is its whole definition.
"""

import ast
import sys
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction

from grader.extras.importing.drafts import names_in
from grader.extras.importing.nbgrader import (
    Case,
    Imported,
    MarkedCode,
    Note,
    Question,
    Text,
    no_python,
)
from grader.release.solution_cells import BEGIN, END, REGION

Function = ast.FunctionDef | ast.AsyncFunctionDef
Definition = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
Lines = tuple[int, int]
"""The first and the last line of a region, counted from 1."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a cell: code that is given, or the definition of one exercise.

    Args:
        text: its code, with solution regions.
        exercise: the name that it defines, "" for given code.
        kind: of an exercise: "function", "class" or "constant".
    """

    text: str
    exercise: str = ""
    kind: str = ""


@dataclass(slots=True)
class Split:
    """A cell's code in pieces, and what could not be carried over."""

    pieces: list[Piece] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)


def split(code: MarkedCode, asked: Collection[str]) -> Split:
    """The pieces of a cell.

    Args:
        code: the cell.
        asked: the names that tests mention: of several constants in a row, one of these is the
            exercise.
    """
    found = Split()
    lines = code.text.split("\n")
    try:
        tree = ast.parse(code.text)
    except SyntaxError as error:
        found.notes.append(no_python(code.cell, error))
        return found
    for chunk in _chunks(tree, lines, code.solution):
        piece = _piece(chunk, lines, code, asked, found)
        if piece is not None:
            found.pieces.append(piece)
    return found


@dataclass(slots=True)
class _Chunk:
    """Statements that stand together: a definition, or others in a row of which all are alike."""

    first: int
    last: int
    is_solution: bool
    nodes: list[ast.stmt]

    @property
    def definition(self) -> Function | ast.ClassDef | None:
        """The function or class that is the solution; None for other statements."""
        node = self.nodes[0]
        return node if isinstance(node, Definition) and self.is_solution else None


def _chunks(tree: ast.Module, lines: list[str], solution: Collection[int]) -> list[_Chunk]:
    """The statements of a cell, with the comments above each; those that are alike together."""
    chunks: list[_Chunk] = []
    before = 0
    for node in tree.body:
        last = node.end_lineno or node.lineno
        own = range(_start(node), last + 1)
        # What a solution imports tells nothing, and tests or other cells may need it.
        is_import = isinstance(node, ast.Import | ast.ImportFrom)
        is_solution = not is_import and any(number in solution for number in own)
        chunk = _Chunk(before + 1, last, is_solution, [node])
        before = last
        alone = is_solution and isinstance(node, Definition)
        joins = chunks and not alone and not chunks[-1].definition
        if joins and chunks[-1].is_solution == is_solution:
            chunks[-1].last, chunks[-1].nodes = last, [*chunks[-1].nodes, node]
            continue
        chunks.append(chunk)
    if chunks and before < len(lines):
        chunks[-1].last = len(lines)
    return chunks


def _start(node: ast.stmt) -> int:
    """The first line of a statement, its decorators included."""
    decorators = node.decorator_list if isinstance(node, Definition) else []
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def _piece(
    chunk: _Chunk, lines: list[str], code: MarkedCode, asked: Collection[str], found: Split
) -> Piece | None:
    """An exercise or given code; None, with a note, where it can be neither."""
    own = list(range(chunk.first, chunk.last + 1))
    outside = [n for n in own if n not in code.solution or n >= _start(chunk.nodes[0])]
    if not chunk.is_solution:
        text = _joined(lines, outside, ())
        return Piece(text) if text else None
    if chunk.definition is None:
        return _constant(chunk, lines, code, asked, found)
    node = chunk.definition
    notes: list[str] = []
    regions = list(_regions(node, code.solution, lines, notes))
    found.notes += [Note(code.cell, f"{node.name}: {note}") for note in notes]
    if not regions:
        sentence = f"{node.name} has nothing to write in it; it is left out"
        found.notes.append(Note(code.cell, sentence))
        return None
    text = _joined(lines, outside, regions)
    if not _is_python(REGION.sub(lambda match: f"{match['indent']}pass", text)):
        sentence = (
            f"{node.name}: the marked lines are no whole statements; its whole body is the gap"
        )
        found.notes.append(Note(code.cell, sentence))
        everything = range(1, len(lines) + 1)
        text = _joined(lines, outside, list(_regions(node, everything, lines, [])))
    if not ast.get_docstring(node):
        sentence = f"{node.name} has no docstring; write one that says what is asked"
        found.notes.append(Note(code.cell, sentence))
    kind = "class" if isinstance(node, ast.ClassDef) else "function"
    return Piece(text, node.name, kind)


def _constant(
    chunk: _Chunk, lines: list[str], code: MarkedCode, asked: Collection[str], found: Split
) -> Piece | None:
    """The exercise of statements that define no function: one of the names that they set."""
    names = [name for node in chunk.nodes for name in _names_set(node)]
    if not names:
        first = lines[_start(chunk.nodes[0]) - 1].strip()
        sentence = f"`{first}` is left out: a solution defines a function, a class or a constant"
        found.notes.append(Note(code.cell, sentence))
        return None
    name = next((name for name in reversed(names) if name in asked), names[-1])
    others = ", ".join(dict.fromkeys(one for one in names if one != name))
    if others:
        sentence = f"{name} is the exercise; {others} beside it is not judged"
        found.notes.append(Note(code.cell, sentence))
    numbers = [n for n in range(chunk.first, chunk.last + 1) if lines[n - 1].strip()]
    text = _joined(lines, numbers, [(numbers[0], numbers[-1])], f"set {name}.")
    return Piece(text, name, "constant")


def _names_set(node: ast.stmt) -> Iterator[str]:
    """The names that a statement at the top of a cell assigns."""
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    for target in targets if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign) else ():
        for part in ast.walk(target) if target is not None else ():
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                yield part.id


def _regions(
    node: ast.stmt, solution: Collection[int], lines: list[str], notes: list[str]
) -> Iterator[Lines]:
    """The regions of a definition: of each function what is marked, below its docstring."""
    if isinstance(node, ast.ClassDef):
        for part in node.body:
            if isinstance(part, Definition):
                yield from _regions(part, solution, lines, notes)
            elif _is_marked(part, solution) and not _is_docstring(part):
                notes.append(f"students see line {part.lineno}, which stands in no method")
        return
    assert isinstance(node, Function)
    body = [part for part in node.body if not _is_docstring(part)]
    if not body or body[0].lineno == node.lineno:
        if _is_marked(node, solution):
            notes.append("students see a function in one line, which has no room for a gap")
        return
    last = node.end_lineno or node.lineno
    if node.lineno in solution:
        if _calls_super(body[0]) and len(body) > 1:
            body = body[1:]
        before = node.body[node.body.index(body[0]) - 1] if body[0] is not node.body[0] else None
        first = (before.end_lineno or 0) + 1 if before else body[0].lineno
        yield first, last
        return
    marked = {n for n in range(body[0].lineno, last + 1) if n in solution}
    for inner in ast.walk(node):
        if isinstance(inner, ast.stmt) and not hasattr(inner, "body"):
            own = range(inner.lineno, (inner.end_lineno or inner.lineno) + 1)
            if not marked.isdisjoint(own):
                marked.update(own)
    yield from _runs(marked, lines)


def _runs(marked: Collection[int], lines: list[str]) -> Iterator[Lines]:
    """Marked lines in a row; empty lines between them do not part them."""
    numbers = [n for n in sorted(marked) if lines[n - 1].strip()]
    while numbers:
        first = last = numbers.pop(0)
        while numbers and all(not lines[n - 1].strip() for n in range(last + 1, numbers[0])):
            last = numbers.pop(0)
        yield first, last


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
            margin = min((_margin(one) for one in body), key=len)
            made += [] if has_todo else [f"{margin}# TODO: {todo}"]
            made.append(margin + BEGIN)
        made.append(line)
        if number in ends:
            made.append(margin + END)
    return "\n".join(made).strip("\n")


def _margin(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _is_marked(node: ast.stmt, solution: Collection[int]) -> bool:
    return any(n in solution for n in range(node.lineno, (node.end_lineno or node.lineno) + 1))


def _is_docstring(node: ast.stmt) -> bool:
    value = node.value if isinstance(node, ast.Expr) else None
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


def _calls_super(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and ast.unparse(node).startswith("super(")


def _is_python(text: str) -> bool:
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


READERS = ("open", "read_csv", "read_table", "read_excel", "loadtxt", "genfromtxt", "load")
"""Functions that read the file that their first argument names."""


@dataclass(slots=True)
class NewExercise:
    """An exercise to be written into a course.

    Args:
        name: what students define.
        cell: where it stands in the notebook.
        kind: "function", "class" or "constant".
        text: its cell, with solution regions.
        cases: its tests.
        unasked: what it is worth besides its tests.
    """

    name: str
    cell: int
    kind: str
    text: str
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

    def of(self, *, hidden: bool) -> list[Case]:
        """Its visible tests, or its hidden ones."""
        return [case for case in self.cases if case.is_hidden is hidden]


@dataclass(slots=True)
class Outline:
    """An assignment to be written.

    Args:
        title: the notebook's first heading, "" where it has none.
        cells: kind ("markdown" or "code"), text, and the exercise's name or "".
        exercises: by name, in order.
        given: the names that the rest of its code defines: "function", "class" or "constant".
        notes: what could not be carried over.
    """

    title: str
    cells: list[tuple[str, str, str]] = field(default_factory=list)
    exercises: dict[str, NewExercise] = field(default_factory=dict)
    given: dict[str, str] = field(default_factory=dict)
    notes: list[Note] = field(default_factory=list)

    @property
    def names(self) -> Mapping[str, str]:
        """All that a student's file defines, with its kind."""
        return {**self.given, **{name: one.kind for name, one in self.exercises.items()}}


def outline(found: Imported) -> Outline:
    """The assignment that a notebook is."""
    made = Outline(found.title, notes=found.notes)
    for part in found.parts:
        if isinstance(part, Question):
            _add_question(made, part)
        elif part.kind == "markdown":
            made.cells.append(("markdown", part.text, ""))
        else:
            _add_given(made, part)
    for exercise in made.exercises.values():
        if exercise.exact_points != Fraction(exercise.points):
            sentence = (
                f"{exercise.name}: {float(exercise.exact_points):g} points become {exercise.points}"
            )
            made.notes.append(Note(exercise.cell, sentence))
    # Order matters, and one sentence twice says nothing more.
    made.notes = sorted(dict.fromkeys(made.notes), key=lambda note: note.cell or sys.maxsize)
    return made


def _add_given(made: Outline, part: Text) -> None:
    try:
        tree = ast.parse(part.text)
    except SyntaxError as error:
        made.notes.append(no_python(part.cell, error))
        return
    made.given.update(_defined(tree))
    made.notes += [Note(part.cell, sentence) for sentence in _needs(tree)]
    made.cells.append(("code", part.text, ""))


def _add_question(made: Outline, question: Question) -> None:
    """Add a question's exercises; each of its tests goes to the last one that it mentions."""
    asked = set[str]().union(*(names_in(case.text) for case in question.cases))
    own: list[NewExercise] = []
    for code in question.code:
        pieces = split(code, asked)
        made.notes += pieces.notes
        for piece in pieces.pieces:
            exercise = _add_piece(made, code.cell, piece)
            own += [] if exercise is None else [exercise]
    if not own:
        sentence = "no function, class or constant in it can be an exercise"
        made.notes.append(Note(question.cell, sentence))
        cells = [case.cell for case in question.cases]
        made.notes += [
            Note(cell, "the tests of what is left out are left out, too") for cell in cells
        ]
        return
    own[-1].unasked = Fraction(0) if question.cases else question.points
    for case in question.cases:
        mentioned = names_in(case.text)
        candidates = [e for e in own if e.name in mentioned]
        candidates = candidates or [e for e in made.exercises.values() if e.name in mentioned]
        (candidates or own)[-1].cases.append(case)
    for exercise in own:
        if not exercise.exact_points:
            sentence = f"{exercise.name} is worth 0 points, because no test is worth any"
            made.notes.append(Note(question.cell, sentence))


def _add_piece(made: Outline, cell: int, piece: Piece) -> NewExercise | None:
    with suppress(SyntaxError):
        made.notes += [Note(cell, sentence) for sentence in _needs(ast.parse(piece.text))]
    if not piece.exercise:
        made.given.update(_defined(ast.parse(piece.text)))
        made.cells.append(("code", piece.text, ""))
        return None
    if piece.exercise in made.exercises:
        sentence = f"{piece.exercise} is an exercise already; this one is left out"
        made.notes.append(Note(cell, sentence))
        return None
    exercise = NewExercise(piece.exercise, cell, piece.kind, piece.text)
    made.exercises[exercise.name] = exercise
    made.cells.append(("code", piece.text, exercise.name))
    return exercise


def _defined(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """The names that given code defines, with their kinds."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield node.name, "function"
        elif isinstance(node, ast.ClassDef):
            yield node.name, "class"
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    yield target.id, "constant"


def _needs(tree: ast.Module) -> Iterator[str]:
    """What code needs that the kit does not bring: packages, files."""
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names = [node.module or ""]
        for name in names:
            if name.partition(".")[0] not in {*sys.stdlib_module_names, "torch"}:
                yield f'it imports {name}: `packages = ["{name}"]` under [limits] in course.toml'
        if isinstance(node, ast.Call) and node.args:
            first, function = node.args[0], ast.unparse(node.func).rpartition(".")[2]
            if function in READERS and isinstance(first, ast.Constant):
                yield f"it reads {first.value!r}: student code has no such file when it is graded"
