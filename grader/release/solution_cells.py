"""Reads a solution: percent cells, one of them per exercise, with marked regions to write."""

import importlib
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from grader.core.errors import CourseError, UsageError
from grader.core.kit import installing
from grader.course.course import FILES, SOLUTIONS, Assignment, Course
from grader.course.lost_exercises import require_listed
from grader.sandbox.failures import stub_message

BEGIN = "### BEGIN SOLUTION"
END = "### END SOLUTION"
IN_NOTEBOOK = 'active="ipynb"'
"""Marks a cell of a solution that stands in the notebook alone, as jupytext writes it."""

REGION = re.compile(
    rf"^(?P<indent>[ \t]*){BEGIN}[ \t]*\n(?P<body>.*?)^[ \t]*{END}[ \t]*$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class SolutionCell:
    """A cell of a solution.

    Args:
        kind: "markdown" or "code".
        text: its content, without the comment signs of markdown.
        exercise: the exercise it holds, "" for none.
        is_experiment: whether it stands in the notebook alone; code of it is a comment elsewhere.
    """

    kind: str
    text: str
    exercise: str = ""
    is_experiment: bool = False


@dataclass(frozen=True, slots=True)
class Solution:
    """A solution as its author wrote it: the text, and the same as cells.

    Args:
        predicted: the exercises that a prediction is asked for, by short name.
    """

    assignment: Assignment
    text: str
    cells: tuple[SolutionCell, ...]
    predicted: tuple[str, ...] = ()


def read_solution(assignment: Assignment, path: Path, predicted: tuple[str, ...] = ()) -> Solution:
    """Read a solution in percent form.

    Args:
        assignment: whose solution it is.
        path: its file.
        predicted: the exercises that a prediction is asked for, by short name.

    Raises:
        CourseError: with everything that is wrong with its cells or markers.
        UsageError: without jupytext.
    """
    # jupytext belongs to the authors' extra; students never need it.
    try:
        import jupytext
    except ModuleNotFoundError as error:
        raise UsageError(
            f"Solutions are read with jupytext, and {error.name} is not installed. "
            f"Run: {installing('author')}."
        ) from error

    place = f"{SOLUTIONS}/{assignment.id}/{path.name}"
    try:
        text = path.read_text("utf-8")
    except OSError as error:
        raise CourseError(f"{place}: the solution cannot be read ({error.strerror})") from error
    require_listed(assignment, path)
    notebook = jupytext.reads(text, fmt="py:percent")
    cells = tuple(
        SolutionCell(
            cell.cell_type,
            cell.source,
            cell.metadata.get("exercise", ""),
            cell.metadata.get("active") == "ipynb",
        )
        for cell in notebook.cells
    )
    problems = _problems(assignment, cells)
    if problems:
        raise CourseError(*(f"{place}: {problem}" for problem in problems))
    return Solution(assignment, text, cells, predicted)


def _problems(assignment: Assignment, cells: tuple[SolutionCell, ...]) -> list[str]:
    found = [cell.exercise for cell in cells if cell.exercise]
    wanted = [exercise.name for exercise in assignment.exercises]
    problems = [f"no cell is marked exercise={name!r}" for name in wanted if name not in found]
    problems += [
        f"a cell is marked exercise={name!r}, which course.toml does not list"
        for name in found
        if name not in wanted
    ]
    problems += [f"two cells are marked exercise={n!r}" for n in set(found) if found.count(n) > 1]
    if not problems and found != wanted:
        problems.append(f"its exercises stand in another order than in course.toml: {found}")
    for cell in cells:
        first = cell.text.split("\n", 1)[0]
        where = f"in the cell that begins {first[:60]!r}"
        regions = len(REGION.findall(cell.text))
        if not cell.text.count(BEGIN) == cell.text.count(END) == regions:
            problems.append(f"unpaired solution markers {where}")
        elif bool(regions) != bool(cell.exercise):
            what = "no solution region" if cell.exercise else "a solution region and no exercise="
            problems.append(f"{what} {where}")
    return problems


def without_experiments(text: str) -> str:
    """A solution's text without the cells that stand in the notebook alone."""
    cell = rf"(?m)^# %%.*{re.escape(IN_NOTEBOOK)}.*\n(?:(?!# %%).*(?:\n|\Z))*"
    return f"{re.sub(cell, '', text).rstrip()}\n"


def sentinel(assignment: Assignment, exercise: str, indent: str) -> str:
    """The statement a stub has where the student is to write: a constant's stub raises nothing."""
    error = f'NotImplementedError("{stub_message(f"{assignment.id}/{exercise}")}")'
    return f"raise {error}" if indent else f"{exercise} = {error}"


def cleared(assignment: Assignment, cell: SolutionCell) -> str:
    """A cell's text with its solution regions replaced by the sentinel."""
    return REGION.sub(
        lambda match: match["indent"] + sentinel(assignment, cell.exercise, match["indent"]),
        cell.text,
    )


@contextmanager
def loaded(course: Course, assignment: Assignment) -> Iterator[ModuleType]:
    """The module of a solution, which finds those of the others; all are forgotten afterwards.

    It is loaded, and used, in a working folder with its files, as it is when it is graded.
    """
    names = {one.module for one in course.assignments}
    before = {name: sys.modules.pop(name) for name in names & sys.modules.keys()}
    path, writes = sys.path[:], sys.dont_write_bytecode
    folders = [course.paths(one).solution.parent.resolve() for one in course.assignments]
    sys.path[:0] = map(str, folders)
    sys.dont_write_bytecode = True  # an edit within the same second would go unseen
    try:
        importlib.invalidate_caches()
        with tempfile.TemporaryDirectory() as folder:
            files = course.root.resolve() / SOLUTIONS / assignment.id / FILES
            if files.is_dir():
                shutil.copytree(files, folder, dirs_exist_ok=True)
                sys.path.append(str(files))
            with chdir(folder):
                yield importlib.import_module(assignment.module)
    finally:
        sys.path[:], sys.dont_write_bytecode = path, writes
        for name in names & sys.modules.keys():
            del sys.modules[name]
        sys.modules.update(before)
