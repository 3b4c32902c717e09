"""Files that `grader new` writes: made from templates, proven in a copy, written all or none."""

import re
import shutil
import tempfile
from collections.abc import Sequence
from functools import lru_cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from grader.core.errors import UsageError
from grader.core.files import OutputFile
from grader.core.kit import installing
from grader.course.course import MANIFEST, SOLUTIONS, Course, load_course
from grader.course.toml_table import toml_text
from grader.release.stubs import generate

SUFFIX = ".template"
"""What templates' names end in: no tool takes them for code, and no release has them."""


@lru_cache(maxsize=1)
def _environment() -> Environment:
    made = Environment(
        loader=PackageLoader("grader.authoring"),
        autoescape=False,
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["quoted"] = toml_text
    return made


def rendered(template: str, **values: Any) -> str:
    """A template's text.

    Args:
        template: its path below `templates/`, without its suffix.
        **values: what is put into it.
    """
    return _environment().get_template(template + SUFFIX).render(**values)


def rendered_folder(folder: str, **values: Any) -> list[OutputFile]:
    """The files of a folder of templates, each at its path in there.

    Args:
        folder: its name below `templates/`.
        **values: what is put into each.

    Raises:
        UsageError: in a released copy, which has no templates.
    """
    top = files("grader.authoring").joinpath("templates", folder)
    if not top.is_dir():
        raise UsageError(
            "A released copy has no templates. Install the kit itself, and run this outside of the "
            f"copy: {installing('author')}."
        )
    return [OutputFile(path, rendered(f"{folder}/{path}", **values)) for path in _paths(top)]


def _paths(folder: Traversable, before: str = "") -> list[str]:
    found: list[str] = []
    for entry in sorted(folder.iterdir(), key=lambda one: one.name):
        if entry.is_dir():
            found += _paths(entry, f"{before}{entry.name}/")
        elif entry.name.endswith(SUFFIX):
            found.append(f"{before}{entry.name.removesuffix(SUFFIX)}")
    return found


def with_generated(root: Path | None, changed: Sequence[OutputFile]) -> list[OutputFile]:
    """Files to write, and the stubs and notebooks that they lead to; nothing is written here.

    Args:
        root: the course that they belong to; None for a new one.
        changed: files with their paths in the course.

    Raises:
        CourseError: when the course would not be read with them.
    """
    with tempfile.TemporaryDirectory() as name:
        copy = Path(name)
        if root is not None:
            shutil.copy(root / MANIFEST, copy)
            shutil.copytree(root / SOLUTIONS, copy / SOLUTIONS)
        for file in changed:
            file.write(copy)
        return [*changed, *_generated(load_course(copy), changed)]


def _generated(course: Course, changed: Sequence[OutputFile]) -> list[OutputFile]:
    """The stubs and notebooks of the assignments whose solutions are among changed files.

    Raises:
        CourseError: when a solution cannot be read.
    """
    paths = {file.path for file in changed}
    mine = [a for a in course.assignments if course.inner(course.paths(a).solution) in paths]
    return generate(course.only({assignment.id for assignment in mine}))


def camel(name: str) -> str:
    """A name in the form of a class: `row_sums` as `RowSums`."""
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))


def dashed(name: str) -> str:
    """A name in the form of a misconception's id: `RowSums` as `row-sums`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|_", "-", name).lower().strip("-")
