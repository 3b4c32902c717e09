"""A student repository for GitHub: the students' copy, a workflow, and a list of protected files.

A push grades. The workflow has the least permissions, actions by full commit, pip's cache and a
time limit; it needs no secret.
"""

from collections.abc import Iterator

from grader.core.files import OutputFile
from grader.course.course import Course
from grader.release.students import student_files, template
from grader.submissions.protected_files import PROTECTED, fingerprint, protected_list

WORKFLOW = ".github/workflows/check.yml"
ATTRIBUTES = "* text=auto eol=lf\n*.bin binary\n"
IGNORED = (".venv/", "build/", "*.egg-info/", "__pycache__/", ".ipynb_checkpoints/")
STUDENTS_OWN = ("README.md", ".gitignore", "LICENSE")


def github_files(course: Course) -> Iterator[OutputFile]:
    """The files of a student repository, ready for `git init`; the list of protected ones last."""
    protected: dict[str, bytes] = {}
    for file in _unprotected(course):
        yield file
        if not file.path.startswith("assignments/") and file.path not in STUDENTS_OWN:
            protected[file.path] = file.data
    yield OutputFile(PROTECTED, protected_list(protected))


def list_fingerprint(released: list[OutputFile]) -> str:
    """What stands for the list of protected files, in every report of an unchanged one."""
    (listed,) = (file.text for file in released if file.path == PROTECTED)
    return fingerprint(listed)


def _unprotected(course: Course) -> Iterator[OutputFile]:
    for file in student_files(course):
        if file.path == "README.md":
            more = template(course, "github_readme.md")
            yield OutputFile(file.path, f"{file.text}\n{more}")
        else:
            yield file
    yield OutputFile(WORKFLOW, template(course, "github_workflow.yml"))
    yield OutputFile(".gitattributes", ATTRIBUTES)
    yield OutputFile(".gitignore", "".join(f"{line}\n" for line in IGNORED))
