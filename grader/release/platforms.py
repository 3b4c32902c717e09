"""Releases for platforms: a repository for GitHub, Gradescope's zip, a course folder for nbgrader.

On GitHub a push grades: the workflow has the least permissions, actions by full commit, pip's cache
and a time limit; it needs no secret. Gradescope's zip holds solutions and hidden checks: never for
students. nbgrader's notebooks in `source/` hold the solutions, as nbgrader wants it, and beside each is
what its test cells need; hidden checks are not in it.
"""

import io
import json
import re
import zipfile
from collections.abc import Iterable, Iterator
from functools import partial

from grader.core.files import OutputFile
from grader.core.language import DEFAULT_LANGUAGE, KIT, N_, OWN_TRANSLATIONS, translate
from grader.course.check_helpers import predicted
from grader.course.course import CHECKS, MANIFEST, PICTURE, SOLUTIONS, WORK, Assignment, Course
from grader.release.pictures import shown_picture
from grader.release.solution_cells import Solution, read_solution
from grader.release.stubs import notebook_text, translated
from grader.release.students import (
    check_files,
    course_file,
    installed_files,
    package_files,
    recorded,
    rendered,
    student_files,
    template,
    translations,
)
from grader.submissions.protected_files import PROTECTED, fingerprint, protected_list

WORKFLOW = ".github/workflows/check.yml"
REGRADE = ".github/ISSUE_TEMPLATE/regrade.yml"
ATTRIBUTES = "* text=auto eol=lf\n*.bin binary\n"
IGNORED = (".venv/", "build/", "*.egg-info/", "__pycache__/", ".ipynb_checkpoints/")
STUDENTS_OWN = ("README.md", "AGENTS.md", "CLAUDE.md", ".gitignore", "LICENSE")


def github_files(course: Course) -> Iterator[OutputFile]:
    """The files of a student repository, ready for `git init`; the list of protected ones last."""
    files = {file.path: file for file in student_files(course)}
    added = {
        "README.md": f"{files['README.md'].text}\n{template(course, 'github_readme.md')}",
        WORKFLOW: template(course, "github_workflow.yml"),
        REGRADE: regrade_form(course),
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


def regrade_form(course: Course) -> str:
    """The form of an issue that asks for an exercise to be looked at again, as YAML.

    `grader explain --requests` reads the answers in this order.
    """
    say = partial(translate, OWN_TRANSLATIONS, KIT, course.language or DEFAULT_LANGUAGE)
    exercise = {
        "label": say(N_("Exercise")),
        "options": [id_ for id_, one in course.exercises.items() if one.points],
    }
    why = {
        "label": say(N_("Why")),
        "description": say(N_("What in your code is right and was not seen? Name the lines.")),
    }
    required = {"required": True}
    form = {
        "name": say(N_("Look at a score again")),
        "description": say(N_("You think that an exercise earned more points than it was given.")),
        "labels": ["regrade"],
        "body": [
            {"type": "dropdown", "attributes": exercise, "validations": required},
            {"type": "textarea", "attributes": why, "validations": required},
        ],
    }
    # Everything that is JSON is YAML.
    return "".join(
        f"{key}: {json.dumps(value, ensure_ascii=False)}\n" for key, value in form.items()
    )


def list_fingerprint(released: list[OutputFile]) -> str:
    """What stands for the list of protected files, in every report of an unchanged one."""
    (listed,) = (file.text for file in released if file.path == PROTECTED)
    return fingerprint(listed)


ZIP = "autograder.zip"
SCRIPTS = {"setup.sh": "gradescope_setup.sh", "run_autograder": "gradescope_run.sh"}
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
    for file in (*installed_files(course), *own, *package_files(), readme):
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
    return rendered("nbgrader_course.toml.j2", course=course, assignments=assignments)


def course_id(course: Course) -> str:
    """The course's name in nbgrader's gradebook: its title in small letters."""
    return re.sub(r"[^a-z0-9]+", "-", course.title.lower()).strip("-") or "course"


def config(course: Course, db_url: str = "") -> str:
    """The `nbgrader_config.py` of a course folder.

    Args:
        course: whose configuration it is.
        db_url: the gradebook's address; nbgrader's own (`gradebook.db` in the folder) for "".
    """
    return rendered("nbgrader_config.py.j2", course_id=course_id(course), db_url=db_url)
