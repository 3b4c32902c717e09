"""A course folder for nbgrader: its notebooks in `source/` hold the solutions, as nbgrader wants it.

Beside each is what its test cells need; hidden checks are not in it.
"""

import re
from collections.abc import Iterable, Iterator

from grader.core.files import OutputFile
from grader.core.language import DEFAULT_LANGUAGE
from grader.course.check_helpers import predicted
from grader.course.course import MANIFEST, PICTURE, Assignment, Course
from grader.release.pictures import shown_picture
from grader.release.solution_cells import Solution, read_solution
from grader.release.stubs import notebook_text, translated
from grader.release.students import (
    Release,
    check_files,
    course_file,
    recorded,
    rendered,
    translations,
)

CONFIG = "nbgrader_config.py"
SOURCE_FOLDER = "source"


def nbgrader_files(course: Course) -> Iterator[OutputFile]:
    """The files of nbgrader's course folder."""
    yield OutputFile(CONFIG, config(course))
    recordings = {a.id: recorded(course, a) for a in course.assignments}
    for assignment in course.assignments:
        yield source_notebook(course, assignment)
        picture = shown_picture(course, *_source(course, assignment))
        if picture:
            yield OutputFile(f"{SOURCE_FOLDER}/{assignment.id}/{PICTURE}", picture.svg)
        for file in _small_course(course, assignment, recordings):
            yield OutputFile(f"{SOURCE_FOLDER}/{assignment.id}/{file.path}", file.content)


def source_notebook(course: Course, assignment: Assignment) -> OutputFile:
    """The notebook with solution, markers and test cells."""
    source, code = _source(course, assignment)
    text = notebook_text(source, lambda cell: cell.text, code=code)
    return OutputFile(f"{SOURCE_FOLDER}/{assignment.id}/{assignment.module}.ipynb", text)


def _source(course: Course, assignment: Assignment) -> tuple[Solution, str]:
    """A solution in the course's language, and which one that is."""
    code = course.language or DEFAULT_LANGUAGE
    path, asked = course.paths(assignment).solution, predicted(course, assignment)
    return translated(course, read_solution(assignment, path, asked), code), code


def _small_course(
    course: Course, assignment: Assignment, recordings: dict[str, bytes]
) -> Iterator[OutputFile]:
    """A course of one assignment and what it builds on: what the notebook's cells look for.

    nbgrader copies it along with the notebook, to students and to where it runs submissions.
    """
    chosen = [a for a in course.assignments if a.id in course.with_imports(assignment)]
    yield OutputFile(MANIFEST, manifest(course, chosen))
    yield from translations(course)
    yield from (course_file(course, path) for path in course.ledger_files)
    yield from check_files(course, chosen)
    for one in chosen:
        yield OutputFile(course.inner(course.paths(one).recording), recordings[one.id])


def manifest(course: Course, assignments: Iterable[Assignment]) -> str:
    """A `course.toml` with these assignments, and as much of the rest as a test cell needs."""
    return rendered("extras/nbgrader/course.toml.j2", course=course, assignments=assignments)


def course_id(course: Course) -> str:
    """The course's name in nbgrader's gradebook: its title in small letters."""
    return re.sub(r"[^a-z0-9]+", "-", course.title.lower()).strip("-") or "course"


def config(course: Course, db_url: str = "") -> str:
    """The `nbgrader_config.py` of a course folder.

    Args:
        course: whose configuration it is.
        db_url: the gradebook's address; nbgrader's own (`gradebook.db` in the folder) for "".
    """
    return rendered("extras/nbgrader/config.py.j2", course_id=course_id(course), db_url=db_url)


release = Release(nbgrader_files)
