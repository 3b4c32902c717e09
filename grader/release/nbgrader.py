"""A course folder for nbgrader: source notebooks, and beside each what its test cells need.

The notebooks in `source/` hold the solutions, as nbgrader wants it; hidden checks are not in it.
"""

import json
import re
from collections.abc import Iterable, Iterator

from grader.core.files import OutputFile
from grader.core.language import DEFAULT_LANGUAGE
from grader.course.course import MANIFEST, Assignment, Course
from grader.release.recording_cache import recorded
from grader.release.solution_cells import read_solution
from grader.release.stubs import notebook_text, translated
from grader.release.students import course_file, translations

CONFIG = "nbgrader_config.py"
SOURCE_FOLDER = "source"


def nbgrader_files(course: Course) -> Iterator[OutputFile]:
    """The files of nbgrader's course folder."""
    yield OutputFile(CONFIG, config(course))
    recordings = {a.id: recorded(course, a) for a in course.assignments}
    for assignment in course.assignments:
        yield source_notebook(course, assignment)
        for file in _small_course(course, assignment, recordings):
            yield OutputFile(f"{SOURCE_FOLDER}/{assignment.id}/{file.path}", file.content)


def source_notebook(course: Course, assignment: Assignment) -> OutputFile:
    """The notebook with solution, markers and test cells."""
    spoken = course.language or DEFAULT_LANGUAGE
    source = translated(
        course, read_solution(assignment, course.paths(assignment).solution), spoken
    )
    text = notebook_text(source, lambda cell: cell.text, code=spoken)
    return OutputFile(f"{SOURCE_FOLDER}/{assignment.id}/{assignment.module}.ipynb", text)


def _small_course(
    course: Course, assignment: Assignment, recordings: dict[str, bytes]
) -> Iterator[OutputFile]:
    """A course of one assignment and what it builds on: what the notebook's cells look for.

    nbgrader copies it along with the notebook, to students and to where it runs submissions.
    """
    chosen = [a for a in course.assignments if a.id in course.with_imports(assignment)]
    yield OutputFile(MANIFEST, manifest(course, chosen))
    yield from translations(course)
    yield course_file(course, course.documents)
    for one in chosen:
        paths = course.paths(one)
        yield course_file(course, paths.visible_checks)
        yield OutputFile(course.inner(paths.recording), recordings[one.id])


def manifest(course: Course, assignments: Iterable[Assignment]) -> str:
    """A `course.toml` with these assignments, and as much of the rest as a test cell needs."""
    lines = [
        "# Made by `grader release --to nbgrader`: what the notebook's test cells look for.",
        "",
        "[course]",
        f"title = {_text(course.title)}",
        *([f"language = {_text(course.language)}"] if course.language else []),
    ]
    for assignment in assignments:
        lines += [
            "",
            "[[assignments]]",
            f"id = {_text(assignment.id)}",
            f"title = {_text(assignment.title)}",
            f"imports = [{', '.join(_text(id_) for id_ in assignment.imports)}]",
            "[assignments.exercises]",
            *(f"{exercise.name} = {exercise.points}" for exercise in assignment.exercises),
        ]
    return "\n".join(lines) + "\n"


def _text(value: str) -> str:
    """A text as TOML writes it: as JSON does, for everything that a manifest can hold."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def course_id(course: Course) -> str:
    """The course's name in nbgrader's gradebook: its title in small letters."""
    return re.sub(r"[^a-z0-9]+", "-", course.title.lower()).strip("-") or "course"


def config(course: Course, db_url: str = "") -> str:
    """The `nbgrader_config.py` of a course folder.

    Args:
        course: whose configuration it is.
        db_url: the gradebook's address; nbgrader's own (`gradebook.db` in the folder) for "".
    """
    address = f"c.CourseDirectory.db_url = {db_url!r}\n" if db_url else ""
    return f'''"""The course as nbgrader runs it; written by `grader`."""

from nbgrader.converters import GenerateAssignment
from nbgrader.preprocessors import ClearSolutions

from grader.release.clearing import ClearOurSolutions

c = get_config()  # noqa: F821 (nbgrader gives it)
c.CourseDirectory.course_id = "{course_id(course)}"
{address}
# Each exercise has a stub of its own; nbgrader's ClearSolutions knows one text per course.
c.GenerateAssignment.preprocessors = [
    ClearOurSolutions if step is ClearSolutions else step
    for step in GenerateAssignment.class_traits()["preprocessors"].default()
]
'''
