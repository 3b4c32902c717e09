"""The commands for authors."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from grader.core.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grader.core.files import OutputFile
    from grader.course.course import Course


@click.command()
@click.option("--check", "only_check", is_flag=True, help="Write nothing; exit 1 if any is stale.")
def generate(only_check: bool) -> None:
    """Write stubs and notebooks anew from the solutions."""
    from grader.course.course import find_course, load_course
    from grader.release.stubs import stale

    course = load_course(find_course(Path.cwd()))
    _require_solutions(course)
    changed = stale(course)
    _write(changed, course, only_check=only_check)
    if not changed:
        click.echo("Stubs and notebooks are up to date.")
    raise SystemExit(1 if changed and only_check else 0)


@click.command()
@click.option("--check", "only_check", is_flag=True, help="Write nothing; exit 1 if any is stale.")
def catalogues(only_check: bool) -> None:
    """Bring the catalogues of translations up to date, and compile them."""
    from grader.authoring.translations import translation_files
    from grader.course.course import find_course, load_course

    course = load_course(find_course(Path.cwd()))
    _require_solutions(course)
    updated = translation_files(course)
    changed = [file for one in updated for file in one.files if not file.is_current(course.root)]
    _write(changed, course, only_check=only_check)
    unfinished = [one for one in updated if one.untranslated]
    for one in unfinished:
        click.echo(f"{one.readable.path}: {one.untranslated} still to be translated")
    raise SystemExit(1 if only_check and (changed or unfinished) else 0)


def _write(changed: "Iterable[OutputFile]", course: "Course", *, only_check: bool) -> None:
    """Write files that are stale, or only list them."""
    for file in changed:
        if not only_check:
            file.write(course.root)
        click.echo(f"{'stale' if only_check else 'written'}: {file.path}")


@click.command()
@click.argument("dest", type=click.Path(path_type=Path, file_okay=False))
@click.option(
    "--to",
    "audience",
    type=click.Choice(["students", "nbgrader", "github", "gradescope"]),
    required=True,
    help="A copy for students, a course folder for nbgrader, a student repository with a workflow, or an autograder's zip.",
)
@click.option(
    "--lang",
    metavar="CODE",
    help="Stubs, notebooks and README in en, zh_CN or ja.  [default: the course's, or en]",
)
def release(dest: Path, audience: str, lang: str | None) -> None:
    """Write into DEST what students or a platform receive.

    Nothing for students has a solution or a hidden check in it. The zip for Gradescope has both,
    because it grades there: upload it as the autograder and give it to nobody else.

    For nbgrader it is the instructor's course folder: its source notebooks hold the solutions, and
    `nbgrader generate_assignment` makes from them what students receive.

    Exits with 0, or with 2 when the course is not ready or DEST is not empty.
    """
    from grader.core.language import resolve
    from grader.course.course import find_course, load_course
    from grader.release.github import github_files, list_fingerprint
    from grader.release.gradescope import zipped_files
    from grader.release.nbgrader import nbgrader_files
    from grader.release.students import student_files, write_release

    releases = {
        "students": student_files,
        "nbgrader": nbgrader_files,
        "github": github_files,
        "gradescope": zipped_files,
    }
    course = load_course(find_course(Path.cwd()))
    if lang:
        course = replace(course, language=resolve(lang))
    released = write_release(course, dest, releases[audience])
    size = sum(len(file.data) for file in released)
    files = "1 file" if len(released) == 1 else f"{len(released)} files"
    click.echo(f"Released to {audience}: {files}, {size / 1024:.0f} KiB, in {dest}")
    if audience == "github":
        click.echo(f"List of protected files: {list_fingerprint(released)} (reports show it).")
    if audience == "gradescope":
        click.echo("The zip holds solutions and hidden checks: for Gradescope's autograder alone.")


@click.command()
def validate() -> None:
    """Prove that the course keeps its promises.

    Every stub earns 0, every solution earns full marks, every misconception loses points and is
    recognised by its own name, every printed tensor of the documents is covered, and no release
    gives a solution away. Exits with 0, or with 1 and every fault.
    """
    from grader.authoring.validate import validate as validate_course
    from grader.cli.render import console, validation_table
    from grader.course.course import find_course, load_course

    course = load_course(find_course(Path.cwd()))
    _require_solutions(course)
    report = validate_course(course)
    screen = console()
    screen.print(validation_table(report))
    for fault in report.faults:
        screen.print(f"✗ {fault}", markup=False, soft_wrap=True)
    count = len(report.faults)
    screen.print(
        "The course keeps its promises."
        if not count
        else f"{count} {'promise is' if count == 1 else 'promises are'} broken."
    )
    raise SystemExit(1 if count else 0)


def _require_solutions(course: "Course") -> None:
    if not course.has_solutions:
        raise UsageError(
            "This is a released copy of the course, without solutions; `grader check` works here."
        )
