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
STUDENTS_OWN = ("README.md", "AGENTS.md", "CLAUDE.md", ".gitignore", "LICENSE")


def github_files(course: Course) -> Iterator[OutputFile]:
    """The files of a student repository, ready for `git init`; the list of protected ones last."""
    files = {file.path: file for file in student_files(course)}
    added = {
        "README.md": f"{files['README.md'].text}\n{template(course, 'github_readme.md')}",
        WORKFLOW: template(course, "github_workflow.yml"),
        ".gitattributes": ATTRIBUTES,
        ".gitignore": "".join(f"{line}\n" for line in IGNORED),
    }
    files |= {path: OutputFile(path, text) for path, text in added.items()}
    yield from files.values()
    protected = {
        path: file.data
        for path, file in files.items()
        if not path.startswith("assignments/") and path not in STUDENTS_OWN
    }
    yield OutputFile(PROTECTED, protected_list(protected))


def list_fingerprint(released: list[OutputFile]) -> str:
    """What stands for the list of protected files, in every report of an unchanged one."""
    (listed,) = (file.text for file in released if file.path == PROTECTED)
    return fingerprint(listed)
