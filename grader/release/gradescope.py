"""The autograder's zip for Gradescope. It holds solutions and hidden checks: never for students."""

import io
import zipfile
from collections.abc import Iterator
from pathlib import Path

from grader.course.course import CHECKS, SOLUTIONS, WORK, Course
from grader.release.students import Released, copied_files, package_files, template, write_release

ZIP = "autograder.zip"
SCRIPTS = {"setup.sh": "gradescope_setup.sh", "run_autograder": "gradescope_run.sh"}
COURSE_FOLDERS = (WORK, SOLUTIONS, CHECKS, "tests/documents", "translations")
FORMS = (".py", ".ipynb", ".toml", ".json", ".mo")
MOMENT = (2020, 1, 1, 0, 0, 0)
"""Every entry's time, so that the same course makes the same zip."""


def release_to_gradescope(course: Course, folder: Path) -> list[Released]:
    """Write `autograder.zip` into an empty folder.

    Raises:
        UsageError: when the folder is not empty, or this is a released copy.
        CourseError: when stubs are stale, or a file is missing.
    """
    return write_release(course, folder, _zipped)


def gradescope_files(course: Course) -> Iterator[Released]:
    """What is in the zip: two scripts, and the course with everything that grading takes."""
    for name, source in SCRIPTS.items():
        yield Released(name, template(course, source).encode())
    inside = [*copied_files(course), *_course_files(course), *package_files()]
    inside.append(Released("README.md", f"# {course.title}\n".encode()))
    for file in inside:
        yield Released(f"course/{file.path}", file.content)


def _course_files(course: Course) -> Iterator[Released]:
    for folder in COURSE_FOLDERS:
        for path in sorted((course.root / folder).rglob("*")):
            if path.suffix in FORMS and "__pycache__" not in path.parts:
                yield Released(path.relative_to(course.root).as_posix(), path.read_bytes())


def _zipped(course: Course) -> Iterator[Released]:
    memory = io.BytesIO()
    with zipfile.ZipFile(memory, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in gradescope_files(course):
            entry = zipfile.ZipInfo(file.path, MOMENT)
            mode = 0o755 if file.path in SCRIPTS else 0o644
            entry.external_attr = (0o100000 | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, file.content)
    yield Released(ZIP, memory.getvalue())
