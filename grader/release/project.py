"""What a copy of the course is installed by: a project of its own, with the grader in it.

It is made from what is installed here, because a course need not lie in the kit's own folder.
"""

from collections.abc import Iterable, Iterator
from importlib.metadata import Distribution, distribution
from importlib.resources import files
from typing import Any

from jinja2 import Template

from grader.core.files import OutputFile
from grader.core.kit import KIT_NAME
from grader.course.course import Course
from grader.course.toml_table import toml_text

CONSTRAINTS, LICENSE = "constraints.txt", "LICENSE"
KITS_LICENSE = f"grader/{LICENSE}"
NO_CONSTRAINTS = "# The course pins no versions.\n"


def project_files(course: Course) -> Iterator[OutputFile]:
    """The project, the versions that the course pins, its licence and the kit's."""
    kit = distribution(KIT_NAME)
    license_ = kit.read_text(f"licenses/{LICENSE}") or ""
    yield OutputFile("pyproject.toml", _project(kit, has_license=bool(license_)))
    if license_:
        yield OutputFile(KITS_LICENSE, license_)
    pinned = course.root / CONSTRAINTS
    yield OutputFile(CONSTRAINTS, pinned.read_bytes() if pinned.is_file() else NO_CONSTRAINTS)
    if (course.root / LICENSE).is_file():
        yield OutputFile(LICENSE, (course.root / LICENSE).read_bytes())


def _project(kit: Distribution, *, has_license: bool) -> str:
    return rendered(
        "project.toml.j2",
        kit=KIT_NAME,
        about=kit.metadata,
        dependencies=[one for one in kit.requires or () if "extra ==" not in one],
        scripts=[entry for entry in kit.entry_points if entry.group == "console_scripts"],
        license=KITS_LICENSE,
        has_license=has_license,
    )


def rendered(name: str, **values: Any) -> str:
    """A template that lies beside this module; it may write texts as TOML does.

    Args:
        name: the template's file.
        values: what it shows.
    """
    source = files("grader.release").joinpath(name).read_text("utf-8")
    template = Template(source, trim_blocks=True, keep_trailing_newline=True)
    return str(template.render(values, text=toml_text, texts=_texts))


def _texts(values: Iterable[str]) -> str:
    return f"[{', '.join(map(toml_text, values))}]"
