"""Puts a notebook together as an assignment: its cells, its exercises, and which test is whose."""

import ast
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction

from grader.authoring.importing.drafts import names_in
from grader.authoring.importing.gaps import Piece, split
from grader.authoring.importing.records import Case, Imported, Note, Question, Text, no_python

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
