"""Puts what a student handed in, in whatever form, into the answer cells of a notebook."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from grader.release.solution_cells import Solution, SolutionCell
from grader.release.stubs import notebook_text
from grader.sandbox.statements import without_magics
from grader.submissions.notebooks import Cell
from grader.submissions.source_file import SourceFile
from grader.submissions.submission import Submission


@dataclass(frozen=True, slots=True)
class Definition:
    """A name that a student defined at the top of a file, and the text that does it."""

    name: str
    text: str


def answered_notebook(submission: Submission, source: Solution) -> str:
    """The assignment's notebook with a student's code in its answer cells.

    Below them comes what the answer cells do not show: a script as it was handed in, or a
    notebook's other cells. Nothing of it has been run, and no output is copied.
    """
    keys = submission.readings[source.assignment.id].sources
    files = [submission.sources[key] for key in keys]
    answers = {
        exercise.name: _answer(files, exercise.name) for exercise in source.assignment.exercises
    }
    shown = {_normal(text) for text in answers.values()}
    shown |= {_normal(cell.text) for cell in source.cells}
    others = [cell for file in files for cell in _others(file, shown)]
    return notebook_text(source, lambda cell: answers[cell.exercise], others)


def _answer(files: list[SourceFile], name: str) -> str:
    for file in files:
        found = [d.text for cell in file.cells for d in definitions(cell) if d.name == name]
        if found:
            return found[-1]
    return f"# {name} was not found in what was handed in."


def _others(file: SourceFile, shown: set[str]) -> Iterator[SolutionCell]:
    cells = [cell for cell in file.cells if _normal(cell.text) not in shown | {""}]
    if not cells:
        return
    what = "The other cells of" if file.key.endswith(".ipynb") else "The file as handed in:"
    yield SolutionCell("markdown", f"**{what} `{file.key}`**")
    yield from (SolutionCell("code", cell.text) for cell in cells)


def definitions(cell: Cell) -> Iterator[Definition]:
    """What a cell, or a script, defines at its top, last to win.

    A notebook's cell that defines one thing is kept whole, with everything beside it.
    """
    text = cell.text if cell.number is None else without_magics(cell.text)
    lines = cell.text.split("\n")
    try:
        body = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    found = [(name, statement) for statement in body for name in _names(statement)]
    alone = cell.number is not None and len(found) == 1
    for name, statement in found:
        yield Definition(name, cell.text if alone else _text_of(statement, lines))


def _names(statement: ast.stmt) -> list[str]:
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [statement.name]
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    if isinstance(statement, ast.AnnAssign):
        targets = [statement.target]
    return [target.id for target in targets if isinstance(target, ast.Name)]


def _text_of(statement: ast.stmt, lines: list[str]) -> str:
    """A statement with its decorators, and the comments right above it."""
    decorators = getattr(statement, "decorator_list", [])
    start = min([statement.lineno, *(one.lineno for one in decorators)]) - 1
    while start and lines[start - 1].startswith("#") and not lines[start - 1].startswith("# %%"):
        start -= 1
    return "\n".join(lines[start : statement.end_lineno])


def _normal(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.split("\n") if line.strip())
