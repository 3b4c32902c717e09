"""A student repository for GitHub, where a push grades.

The workflow has the least permissions, actions by full commit, pip's cache and a time limit; it needs no
secret.
"""

import json
from collections.abc import Iterable, Iterator
from functools import partial

from grader.core.files import OutputFile
from grader.core.language import DEFAULT_LANGUAGE, KIT, N_, OWN_TRANSLATIONS, translate
from grader.course.course import Course
from grader.release.students import Release, student_files, template
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
        "README.md": f"{files['README.md'].text}\n{template(course, 'extras/github/readme.md')}",
        WORKFLOW: template(course, "extras/github/workflow.yml"),
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


def list_fingerprint(released: Iterable[OutputFile]) -> str:
    """What stands for the list of protected files, in every report of an unchanged one."""
    (listed,) = (file.text for file in released if file.path == PROTECTED)
    return f"List of protected files: {fingerprint(listed)} (reports show it)."


release = Release(github_files, list_fingerprint)
