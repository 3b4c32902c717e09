"""A course folder for nbgrader: source notebooks, and beside each what its test cells need.

The notebooks in `source/` hold the solutions, as nbgrader wants it; hidden checks are not in it.
"""

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from grader.core.language import DEFAULT_LANGUAGE as ENGLISH
from grader.course.course import MANIFEST, Assignment, Course
from grader.release.recording_cache import recorded
from grader.release.solution_cells import read_source
from grader.release.stubs import notebook_text, translated
from grader.release.students import Released, translations, write_release

CONFIG = "nbgrader_config.py"
DEFAULT_LANGUAGE = "source"


def release_to_nbgrader(course: Course, folder: Path) -> list[Released]:
    """Write a course folder for nbgrader into an empty folder.

    Raises:
        UsageError: when the folder is not empty, or this is a released copy itself.
        CourseError: when stubs are stale or a solution does not pass its visible checks.
    """
    return write_release(course, folder, nbgrader_files)


def nbgrader_files(course: Course) -> Iterator[Released]:
    """The files of nbgrader's course folder."""
    yield Released(CONFIG, config(course).encode())
    recordings = {a.id: recorded(course, a) for a in course.assignments}
    for assignment in course.assignments:
        yield source_notebook(course, assignment)
        for file in _small_course(course, assignment, recordings):
            yield Released(f"{DEFAULT_LANGUAGE}/{assignment.id}/{file.path}", file.content)


def source_notebook(course: Course, assignment: Assignment) -> Released:
    """The notebook with solution, markers and test cells."""
    spoken = course.language or ENGLISH
    source = translated(course, read_source(assignment, course.paths(assignment).solution), spoken)
    text = notebook_text(source, lambda cell: cell.text, code=spoken)
    return Released(f"{DEFAULT_LANGUAGE}/{assignment.id}/{assignment.module}.ipynb", text.encode())


def _small_course(
    course: Course, assignment: Assignment, recordings: dict[str, bytes]
) -> Iterator[Released]:
    """A course of one assignment and what it builds on: what the notebook's cells look for.

    nbgrader copies it along with the notebook, to students and to where it runs submissions.
    """
    chosen = [a for a in course.assignments if a.id in _needed(course, assignment)]
    yield Released(MANIFEST, manifest(course, chosen).encode())
    yield from translations(course)
    yield _copy(course, course.documents)
    for one in chosen:
        paths = course.paths(one)
        yield _copy(course, paths.visible_checks)
        inner = paths.recording.relative_to(course.root).as_posix()
        yield Released(inner, recordings[one.id])


def _needed(course: Course, assignment: Assignment) -> set[str]:
    """An assignment and all that it imports, however far."""
    found = {assignment.id}
    for id_ in assignment.imports:
        found |= _needed(course, course.by_id[id_])
    return found


def _copy(course: Course, path: Path) -> Released:
    return Released(path.relative_to(course.root).as_posix(), path.read_bytes())


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
