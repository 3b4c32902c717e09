"""Writes an imported notebook as an assignment of a course: all of its files, or none."""

import ast
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

from grader.authoring.importing.check_files import check_files
from grader.authoring.importing.nbgrader import read_nbgrader
from grader.authoring.importing.otter import read_otter
from grader.authoring.importing.outline import NewExercise, Outline, outline
from grader.authoring.importing.records import Note
from grader.authoring.manifest_edits import with_assignment
from grader.authoring.new import next_number, taken_by
from grader.authoring.scaffold import with_generated
from grader.core.errors import UsageError
from grader.core.files import OutputFile, write_all
from grader.course.course import (
    ASSIGNMENT_ID,
    CHECKS,
    MANIFEST,
    SOLUTIONS,
    WORK,
    Assignment,
    Course,
    Exercise,
    load_course,
)
from grader.course.toml_table import toml_text
from grader.release.prose import in_comment
from grader.release.solution_cells import REGION

READERS = {"otter": read_otter, "nbgrader": read_nbgrader}


@dataclass(frozen=True, slots=True)
class Written:
    """What an import made.

    Args:
        assignment: the new one.
        paths: the files, in the course's folder.
        whole: how many tests became checks.
        open: how many are still to be written.
        notes: what could not be carried over.
    """

    assignment: Assignment
    paths: tuple[str, ...]
    whole: int
    open: int
    notes: tuple[Note, ...]


def import_notebook(system: str, path: Path, root: Path, assignment: str = "") -> Written:
    """Write a notebook into a course as its next assignment; into an empty folder as a course.

    Args:
        system: "otter" or "nbgrader".
        path: the notebook.
        root: the course's folder, or an empty one, or one that is not there yet.
        assignment: the new assignment's id; made of the notebook's name unless said.

    Raises:
        UsageError: when the notebook cannot be read, or something is there already.
        CourseError: when the course's manifest is wrong.
    """
    made = outline(READERS[system](path))
    if not made.exercises:
        lines = "\n".join(f"  {note}" for note in made.notes)
        raise UsageError(f"Nothing in {path} can be made an exercise:\n{lines}")
    is_new = not (root / MANIFEST).is_file()
    if is_new and root.exists() and (not root.is_dir() or any(root.iterdir())):
        raise UsageError(f"{root} is not an empty folder. Give one that is, or does not exist.")
    course = None if is_new else load_course(root)
    id_ = _new_id(assignment, path, course)
    title = made.title or id_.partition("_")[2].replace("_", " ").capitalize()
    empty = f"[course]\ntitle = {toml_text(title)}\n"
    manifest = empty if is_new else (root / MANIFEST).read_text("utf-8")
    points = {name: exercise.points for name, exercise in made.exercises.items()}
    manifest = with_assignment(manifest, id_, toml_text(title), points)
    checks = check_files(made, id_)
    _require_no_cell_marks(made)
    new = Assignment(id_, title, tuple(Exercise(id_, *worth) for worth in points.items()))
    solution = OutputFile(f"{SOLUTIONS}/{id_}/{new.module}.py", _percent(made.cells))
    manifest_file, *files = with_generated(None, [OutputFile(MANIFEST, manifest), solution])
    folder = f"{CHECKS}/{id_}"
    files += [
        OutputFile(f"{SOLUTIONS}/{id_}/hints.toml", _hints(made)),
        OutputFile(f"{SOLUTIONS}/{id_}/misconceptions.toml", _misconceptions(made)),
        OutputFile(f"{folder}/test_visible.py", checks.visible),
        OutputFile(f"{folder}/test_hidden.py", checks.hidden),
    ]
    files.append(manifest_file)
    for taken in (SOLUTIONS, CHECKS, WORK):
        if (root / taken / id_).exists():
            raise UsageError(f"{root / taken / id_} is there already; nothing was written.")
    write_all(files, root)
    return Written(
        new, tuple(file.path for file in files), checks.whole, checks.open, tuple(made.notes)
    )


def _new_id(given: str, path: Path, course: Course | None) -> str:
    """The id of the new assignment.

    Raises:
        UsageError: when what was given is no id, or the course has it, its number or its name.
    """
    taken = [] if course is None else [*course.by_id]
    words = re.sub(r"[^a-z0-9]+", "_", path.stem.lower()).strip("_0123456789")
    number = next_number(taken)
    id_ = given or f"{number}_{words or 'notebook'}"
    if not re.fullmatch(ASSIGNMENT_ID, id_):
        raise UsageError(f"{id_!r} is no assignment's id; write one like {number}_first_steps.")
    if other := taken_by(taken, id_):
        raise UsageError(
            f"{id_} has the number or the name of {other}, which is there already. "
            f"Give another one: --assignment {number}_NAME"
        )
    return id_


def _percent(cells: Iterable[tuple[str, str, str]]) -> str:
    """Cells as a script in percent form."""
    parts = []
    for kind, text, exercise in cells:
        if kind == "markdown":
            parts.append(f"# %% [markdown]\n{in_comment(text)}\n")
        elif exercise:
            parts.append(f'\n# %% exercise="{exercise}"\n{text}\n')
        else:
            parts.append(f"# %%\n{text}\n")
    return "\n".join(parts).lstrip("\n")


def _require_no_cell_marks(made: Outline) -> None:
    for kind, text, _exercise in made.cells:
        mark = "%%" if kind == "markdown" else "# %%"
        if any(line.lstrip().startswith(mark) for line in text.split("\n")):
            first = text.partition("\n")[0][:60]
            raise UsageError(
                f"The cell that begins {first!r} has a line that begins with `{mark}`, which would "
                "begin a cell of a script. Change that line in the notebook."
            )


def _hints(made: Outline) -> str:
    """The file of hints, with what to write there."""
    return "".join(
        f"{name} = [\n"
        '  "TODO: a question that leads to the first step",\n'
        '  "TODO: where to look",\n'
        "]\n"
        for name in made.exercises
    )


def _misconceptions(made: Outline) -> str:
    """The file of known mistakes: one of each exercise, with what to write there."""
    text = _percent(made.cells)
    parts = []
    for exercise in made.exercises.values():
        find, replacement = _edit(exercise, text)
        parts.append(
            f'[[misconceptions]]\nid = "todo-{exercise.name}"\nkind = "slip"\n'
            f'exercise = "{exercise.name}"\n'
            f"find = {_literal(find)}\nreplace = {_literal(replacement)}\n"
            'symptom = "TODO: what the code above does, in a sentence"\n'
            'question = "TODO: which question leads out of it?"\n'
        )
    return "\n".join(parts)


def _edit(exercise: NewExercise, text: str) -> tuple[str, str]:
    """The last statement of a solution, with the lines before it that make it unique; an edit of it."""
    body = list(REGION.finditer(exercise.text))[-1]["body"]
    lines = body.rstrip("\n").split("\n")
    last = ast.parse(dedent(body)).body[-1]
    first = last.lineno - 1
    margin = lines[first][: len(lines[first]) - len(lines[first].lstrip())]
    mistake = (
        f"{exercise.name} = 'TODO'" if exercise.kind == "constant" else "raise ValueError('TODO')"
    )
    statement = "\n".join(lines[first : last.end_lineno])
    before = exercise.text[: exercise.text.rindex(statement)].split("\n")[:-1]
    find = f"{statement}\n"
    replacement = f"{margin}{mistake}\n"
    while text.count(find) > 1 and before:
        line = before.pop()
        find, replacement = f"{line}\n{find}", f"{line}\n{replacement}"
    return find, replacement


def _literal(text: str) -> str:
    """A text of several lines as TOML writes it."""
    if "'''" in text:
        return toml_text(text)
    return f"'''\n{text}'''"
