"""Gradescope's autograder: a zip that holds solutions and hidden checks, and is never for students."""

import io
import zipfile
from collections.abc import Iterator

from grader.core.files import OutputFile
from grader.course.course import CHECKS, SOLUTIONS, WORK, Course
from grader.release.students import (
    Release,
    course_file,
    installed_files,
    package_files,
    template,
)

ZIP = "autograder.zip"
SCRIPTS = {"setup.sh": "extras/gradescope/setup.sh", "run_autograder": "extras/gradescope/run.sh"}
COURSE_FOLDERS = (WORK, SOLUTIONS, CHECKS, "translations")
FORMS = (".py", ".ipynb", ".toml", ".json", ".mo")
MOMENT = (2020, 1, 1, 0, 0, 0)
"""Every entry's time, so that the same course makes the same zip."""


def gradescope_files(course: Course) -> Iterator[OutputFile]:
    """What is in the zip: two scripts, and the course with everything that grading takes."""
    for name, source in SCRIPTS.items():
        yield OutputFile(name, template(course, source))
    paths = (path for folder in COURSE_FOLDERS for path in course.files_of(folder))
    ours = (p for p in paths if p.suffix in FORMS and "__pycache__" not in p.parts)
    own = (course_file(course, path) for path in (*ours, *course.ledger_files))
    readme = OutputFile("README.md", f"# {course.title}\n")
    for file in (*installed_files(course, hidden=True), *own, *package_files(), readme):
        yield OutputFile(f"course/{file.path}", file.content)


def zipped_files(course: Course) -> Iterator[OutputFile]:
    """The one file that Gradescope takes, `autograder.zip`."""
    memory = io.BytesIO()
    with zipfile.ZipFile(memory, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in gradescope_files(course):
            entry = zipfile.ZipInfo(file.path, MOMENT)
            mode = 0o755 if file.path in SCRIPTS else 0o644
            entry.external_attr = (0o100000 | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, file.data)
    yield OutputFile(ZIP, memory.getvalue())


NOTE = "The zip holds solutions and hidden checks: for Gradescope's autograder alone."

release = Release(zipped_files, lambda _released: NOTE, has_recordings=False)
