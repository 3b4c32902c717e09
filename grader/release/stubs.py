"""Generates the stub and the student notebook of an assignment from its solution."""

import json
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import partial
from textwrap import indent
from typing import Any

import nbformat
from nbformat import v4

from grader.core.errors import CourseError
from grader.core.files import OutputFile
from grader.core.language import DEFAULT_LANGUAGE, KIT, N_, OWN_TRANSLATIONS, translate
from grader.course.check_helpers import predicted
from grader.course.course import FILES, SOLUTIONS, WORK, Assignment, Course, Exercise
from grader.release.pictures import shown_picture
from grader.release.prose import in_comment, translated_code, translated_markdown
from grader.release.solution_cells import (
    Solution,
    SolutionCell,
    cleared,
    read_solution,
    without_experiments,
)
from grader.submissions.notebooks import EXPERIMENT, IMPORTS_CELL, PREDICTION

POINTS = re.compile(rb'(?m)^ *"points": [0-9.]+,?$')
"""A test cell's points, in the metadata of a notebook."""

MARKDOWN_WIDTH = 98
"""Columns of Markdown in the percent form, without the comment sign."""

READ_ONLY = {
    "schema_version": 3,
    **dict.fromkeys(("grade", "solution", "task"), False),
    "locked": True,
}
"""nbgrader's metadata of a cell that is neither written by students nor graded."""

NOTEBOOK_METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def generate(
    course: Course, code: str = DEFAULT_LANGUAGE, only: Collection[str] | None = None
) -> list[OutputFile]:
    """All files that are made from the solutions, pictures included, with their prose in a language.

    Args:
        course: the course, whole: a picture may import any of its solutions.
        code: the language.
        only: the ids of the assignments whose files are made; all of them unless given.

    Raises:
        CourseError: when a solution cannot be read, or a translation changes what code does.
    """
    files = []
    for assignment in course.assignments:
        if only is not None and assignment.id not in only:
            continue
        paths = course.paths(assignment)
        solution = read_solution(assignment, paths.solution, predicted(course, assignment))
        source = translated(course, solution, code)
        picture = shown_picture(course, source, code)
        shown = picture.in_text(source) if picture else source
        made = {paths.stub: stub(shown, code), paths.notebook: student_notebook(source, code)}
        if picture:
            made[paths.picture] = picture.svg
        files += [OutputFile(course.inner(path), text) for path, text in made.items()]
    return files + [file for file in handed_out(course) if only is None or _of(file) in only]


def handed_out(course: Course) -> list[OutputFile]:
    """The files that student code finds in its working folder, as students receive them."""
    tops = {a.id: course.root / SOLUTIONS / a.id / FILES for a in course.assignments}
    return [
        OutputFile(f"{WORK}/{id_}/{name}", path.read_bytes())
        for name, path in course.data_files.items()
        for id_, top in tops.items()
        if path == top / name
    ]


def _of(file: OutputFile) -> str:
    return file.path.split("/")[1]


def translated(course: Course, source: Solution, code: str) -> Solution:
    """A solution whose prose is in another language; its code is the same.

    Raises:
        CourseError: when a translation changes what the code does.
    """
    if code == DEFAULT_LANGUAGE:
        return source
    say = partial(course.text_in, code)
    text, cells = source.text, []
    try:
        for cell in source.cells:
            if cell.kind == "markdown":
                words = translated_markdown(cell.text, say)
                wrapped = in_comment(translated_markdown(cell.text, say, MARKDOWN_WIDTH))
                text = text.replace(in_comment(cell.text), wrapped)
            else:
                words = translated_code(cell.text, say)
                text = text.replace(cell.text, words)
            cells.append(replace(cell, text=words))
    except (ValueError, SyntaxError) as error:
        raise CourseError(f"{source.assignment.id} in {code}: {error}") from error
    return replace(source, text=text, cells=tuple(cells))


def stub(source: Solution, code: str = DEFAULT_LANGUAGE) -> str:
    """The stub: the solution's text with its regions replaced, markers and all.

    One that imports earlier assignments finds them also when it is run by itself.

    Args:
        source: the solution.
        code: the language of what generated cells say.
    """
    text = without_experiments(source.text)
    first_code = _first_code(source)
    if first_code is not None and source.assignment.imports:
        start, imports = f"# %%\n{first_code.text}", _script_imports(source.assignment, code)
        text = text.replace(start, f"# %%\n{imports}\n\n{start}")
    for cell in source.cells:
        if cell.exercise:
            text = text.replace(cell.text, cleared(source.assignment, cell))
            text = text.replace(f'# %% exercise="{cell.exercise}"', "# %%")
    return text


def student_notebook(source: Solution, code: str = DEFAULT_LANGUAGE) -> str:
    """The students' notebook: the stub's cells, each exercise with its test cell."""
    return notebook_text(source, lambda cell: cleared(source.assignment, cell), code=code)


def notebook_text(
    source: Solution,
    answer: Callable[[SolutionCell], str],
    more: Sequence[SolutionCell] = (),
    code: str = DEFAULT_LANGUAGE,
) -> str:
    """A notebook with test cells.

    Args:
        source: the solution whose cells it has.
        answer: makes the text of an exercise's own cell.
        more: cells at its end.
        code: the language of what generated cells say.
    """
    exercises = {exercise.name: exercise for exercise in source.assignment.exercises}
    first_code = _first_code(source)
    cells = []
    for number, cell in enumerate((*source.cells, *more), 1):
        if cell is first_code and source.assignment.imports:
            cells.append(_imports_cell(source.assignment, code))
        if not cell.exercise:
            cells.append(_plain_cell(cell, number))
            continue
        exercise = exercises[cell.exercise]
        if cell.exercise in source.predicted:
            cells.append(_prediction_cell(exercise, code))
        name = grade_id(exercise, is_test=False)
        cells.append(_code_cell(answer(cell), name, solution=True, locked=False))
        cells.append(_test_cell(exercise, code))
    notebook = v4.new_notebook(cells=cells, metadata=NOTEBOOK_METADATA)
    nbformat.validate(notebook)
    return json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def _first_code(source: Solution) -> SolutionCell | None:
    return next((cell for cell in source.cells if cell.kind == "code"), None)


def _plain_cell(cell: SolutionCell, number: int) -> Any:
    if cell.kind == "markdown":
        return v4.new_markdown_cell(cell.text, id=f"text-{number:02d}")
    marks = {"tags": [EXPERIMENT]} if cell.is_experiment else {}
    return v4.new_code_cell(cell.text, id=f"code-{number:02d}", metadata=marks)


def _imports_cell(assignment: Assignment, code: str) -> Any:
    """A read-only cell that lets the notebook import what earlier assignments defined."""
    comment = N_(
        "Finds your own assignment {numbers}: beside this notebook, or in the folder next to it."
    )
    return _code_cell("\n".join(_imports(assignment, comment, code)), IMPORTS_CELL)


def _script_imports(assignment: Assignment, code: str) -> str:
    """The same in a script; where it is imported, as the grader does, nothing happens."""
    comment = N_("Finds your own assignment {numbers} when this file is run by itself.")
    head, calls = _imports(assignment, comment, code)
    return f'{head}\nif __name__ == "__main__":\n{indent(calls, " " * 4)}'


def _imports(assignment: Assignment, comment: str, code: str) -> tuple[str, str]:
    """The comment, and the calls that find earlier assignments."""
    numbers = _say(code, " and ").join(id_.partition("_")[0] for id_ in assignment.imports)
    calls = "\n".join(f'use_own("{id_}")' for id_ in assignment.imports)
    head = f"# {_say(code, comment).format(numbers=numbers)}"
    return head, f"from grader.notebook import use_own\n\n{calls}"


def _say(code: str, text: str) -> str:
    return translate(OWN_TRANSLATIONS, KIT, code, text)


def _test_cell(exercise: Exercise, code: str) -> Any:
    comment = _say(
        code, N_("Checks {name}. Run the cell above first, then this one (Shift+Enter).")
    )
    stuck = _say(code, N_("For a hint, run {call} in a cell of its own."))
    call = f'hint("{exercise.name}")'
    head = f"# {comment.format(name=exercise.name)}\n# {stuck.format(call=call)}"
    head += "\nfrom grader.notebook import check_exercise, hint"
    text, name = f'{head}\n\ncheck_exercise("{exercise.id}")', grade_id(exercise, is_test=True)
    return _code_cell(text, name, grade=True, points=exercise.points)


def _prediction_cell(exercise: Exercise, code: str) -> Any:
    """A cell that asks for a prediction; the student writes the number into it."""
    text = N_("A prediction, worth no points. Run this cell, and write your choice for None.")
    call = f'predict("{exercise.id}", answer=None)'
    text = f"# {_say(code, text)}\nfrom grader.notebook import predict\n\n{call}"
    marks = {"tags": [PREDICTION]}
    return v4.new_code_cell(text, id=f"predict_{exercise.name}"[:64], metadata=marks)


def _code_cell(text: str, name: str, **marks: bool | float) -> Any:
    """A cell with nbgrader's metadata; read-only and not graded where `marks` say no other."""
    return v4.new_code_cell(
        text, id=name[:64], metadata={"nbgrader": {**READ_ONLY, "grade_id": name, **marks}}
    )


def grade_id(exercise: Exercise, *, is_test: bool) -> str:
    """The name of an exercise's answer cell or test cell in nbgrader's gradebook."""
    return f"test_{exercise.name}" if is_test else exercise.name


def stale(course: Course, only: Collection[str] | None = None) -> list[OutputFile]:
    """The stubs and notebooks that differ from what the solutions make, as they should be.

    Points alone make none stale: releases have those of the manifest.

    Args:
        course: the course, whole.
        only: the ids of the assignments that are looked at; all of them unless given.

    Raises:
        CourseError: when a solution cannot be read.
    """

    def is_current(file: OutputFile) -> bool:
        path = course.root / file.path
        return path.is_file() and POINTS.sub(b"", path.read_bytes()) == POINTS.sub(b"", file.data)

    return [file for file in generate(course, only=only) if not is_current(file)]
