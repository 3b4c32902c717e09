"""Generates the stub and the student notebook of an assignment from its solution."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import nbformat
from nbformat import v4

from grader.core.errors import CourseError
from grader.core.files import OutputFile
from grader.core.language import DEFAULT_LANGUAGE, KIT, N_, OWN_TRANSLATIONS, translate
from grader.course.course import Assignment, Course, Exercise
from grader.release.prose import in_comment, translated_code, translated_markdown
from grader.release.solution_cells import Solution, SolutionCell, cleared, read_solution
from grader.submissions.notebooks import IMPORTS_CELL

MARKDOWN_WIDTH = 98
"""Columns of Markdown in the percent form, without the comment sign."""

SCHEMA_VERSION = 3
"""Of nbgrader's cell metadata."""

NOTEBOOK_METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def generate(course: Course, code: str = DEFAULT_LANGUAGE) -> list[OutputFile]:
    """All files that are made from the solutions, with their prose in a language.

    Raises:
        CourseError: when a solution cannot be read, or a translation changes what code does.
    """
    files = []
    for assignment in course.assignments:
        paths = course.paths(assignment)
        source = translated(course, read_solution(assignment, paths.solution), code)
        made = {paths.stub: stub(source), paths.notebook: student_notebook(source, code)}
        files += [OutputFile(course.inner(path), text) for path, text in made.items()]
    return files


def translated(course: Course, source: Solution, code: str) -> Solution:
    """A solution whose prose is in another language; its code is the same.

    Args:
        course: whose translations are used.
        source: the solution.
        code: the language.

    Raises:
        CourseError: when a translation changes what the code does.
    """
    if code == DEFAULT_LANGUAGE:
        return source

    def say(text: str) -> str:
        return course.text_in(code, text)

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
    return Solution(source.assignment, text, tuple(cells))


def stub(source: Solution) -> str:
    """The stub: the solution's text with its regions replaced, markers and all."""
    text = source.text
    for cell in source.cells:
        if cell.exercise:
            text = text.replace(cell.text, cleared(source.assignment, cell))
            text = text.replace(f'# %% exercise="{cell.exercise}"', "# %%")
    return text


def student_notebook(source: Solution, code: str = DEFAULT_LANGUAGE) -> str:
    """The notebook for students and nbgrader: the stub's cells, each exercise with its test cell."""
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
    first_code = next((cell for cell in source.cells if cell.kind == "code"), None)
    cells = []
    for number, cell in enumerate(source.cells, 1):
        if cell is first_code and source.assignment.imports:
            cells.append(_imports_cell(source.assignment, code))
        if not cell.exercise:
            cells.append(_plain_cell(cell, number))
            continue
        exercise = exercises[cell.exercise]
        cells.append(_code_cell(answer(cell), cell.exercise, _metadata(exercise, is_test=False)))
        test = test_text(exercise, code)
        cells.append(_code_cell(test, f"test_{cell.exercise}", _metadata(exercise, is_test=True)))
    cells += [_plain_cell(c, n) for n, c in enumerate(more, len(source.cells) + 1)]
    notebook = v4.new_notebook(cells=cells, metadata=NOTEBOOK_METADATA)
    nbformat.validate(notebook)
    return json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def _plain_cell(cell: SolutionCell, number: int) -> Any:
    id_ = f"{'text' if cell.kind == 'markdown' else 'code'}-{number:02d}"
    make = v4.new_markdown_cell if cell.kind == "markdown" else v4.new_code_cell
    return make(cell.text, id=id_)


def _imports_cell(assignment: Assignment, code: str) -> Any:
    """A read-only cell that lets the notebook import what earlier assignments defined."""
    both = translate(OWN_TRANSLATIONS, KIT, code, N_(" and "))
    comment = N_(
        "Finds your own assignment {numbers}: beside this notebook, or in the folder next to it."
    )
    numbers = both.join(id_.partition("_")[0] for id_ in assignment.imports)
    text = (
        f"# {translate(OWN_TRANSLATIONS, KIT, code, comment).format(numbers=numbers)}\n"
        "from grader.notebook import use_own\n\n"
    ) + "\n".join(f'use_own("{id_}")' for id_ in assignment.imports)
    marks = {"schema_version": SCHEMA_VERSION, "grade": False, "solution": False, "locked": True}
    return _code_cell(text, IMPORTS_CELL, {**marks, "task": False, "grade_id": IMPORTS_CELL})


def _code_cell(text: str, name: str, nbgrader: dict[str, Any]) -> Any:
    return v4.new_code_cell(text, id=name[:64], metadata={"nbgrader": nbgrader})


def _metadata(exercise: Exercise, *, is_test: bool) -> dict[str, Any]:
    marks: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "grade": is_test,
        "solution": not is_test,
        "locked": is_test,
        "task": False,
        "grade_id": grade_id(exercise, is_test=is_test),
    }
    return {**marks, "points": exercise.points} if is_test else marks


def grade_id(exercise: Exercise, *, is_test: bool) -> str:
    """The name of an exercise's answer cell or test cell in nbgrader's gradebook."""
    return f"test_{exercise.name}" if is_test else exercise.name


def test_text(exercise: Exercise, code: str) -> str:
    """What stands in an exercise's test cell."""
    comment = N_("Checks {name}; the last line is the points earned.")
    comment = translate(OWN_TRANSLATIONS, KIT, code, comment).format(name=exercise.name)
    return (
        f"# {comment}\n"
        "from grader.notebook import check_exercise\n\n"
        f'check_exercise("{exercise.id}")'
    )


def stale(course: Course) -> list[OutputFile]:
    """The stubs and notebooks that differ from what the solutions make, as they should be.

    Raises:
        CourseError: when a solution cannot be read.
    """
    return [file for file in generate(course) if not file.is_current(course.root)]
