"""The commands for authors. Each imports what it needs: a released copy lacks some of it."""

from collections.abc import Iterable
from pathlib import Path

import click

from grader.cli.edge import ExitCode
from grader.cli.tables import validation_table
from grader.cli.view import console
from grader.core.files import OutputFile
from grader.course.course import Course


def run_generate(course: Course, *, only_check: bool) -> ExitCode:
    """Write the stubs and notebooks that are stale, or only name them."""
    from grader.release.stubs import stale

    course.require_solutions()
    changed = stale(course)
    _write(changed, course, only_check=only_check)
    if not changed:
        click.echo("Stubs and notebooks are up to date.")
    return ExitCode.NOT_PASSED if changed and only_check else ExitCode.FINE


def run_catalogues(course: Course, *, only_check: bool) -> ExitCode:
    """Write the translations' files that are stale, or only name them."""
    from grader.authoring.translations import translation_files

    course.require_solutions()
    updated = translation_files(course)
    changed = [file for one in updated for file in one.files if not file.is_current(course.root)]
    _write(changed, course, only_check=only_check)
    unfinished = [one for one in updated if one.untranslated]
    for one in unfinished:
        click.echo(f"{one.readable.path}: {one.untranslated} still to be translated")
    return ExitCode.NOT_PASSED if only_check and (changed or unfinished) else ExitCode.FINE


def _write(changed: Iterable[OutputFile], course: Course, *, only_check: bool) -> None:
    """Write files that are stale, or only list them."""
    for file in changed:
        if not only_check:
            file.write(course.root)
        click.echo(f"{'stale' if only_check else 'written'}: {file.path}")


def run_release(course: Course, dest: Path, audience: str) -> None:
    """Write what an audience receives.

    Args:
        course: the course, in the language to release it in.
        dest: the folder to write into.
        audience: "students", "nbgrader", "github" or "gradescope".

    Raises:
        CourseError: when the course is not ready.
        UsageError: when the folder is not empty, or in a released copy.
    """
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
    released = write_release(course, dest, releases[audience])
    size = sum(len(file.data) for file in released)
    files = "1 file" if len(released) == 1 else f"{len(released)} files"
    click.echo(f"Released to {audience}: {files}, {size / 1024:.0f} KiB, in {dest}")
    if audience == "github":
        click.echo(f"List of protected files: {list_fingerprint(released)} (reports show it).")
    if audience == "gradescope":
        click.echo("The zip holds solutions and hidden checks: for Gradescope's autograder alone.")


def run_validate(course: Course, targets: tuple[str, ...]) -> ExitCode:
    """Prove the course's promises, and print the proof or every fault."""
    from grader.authoring.validate import validate

    course.require_solutions()
    report = validate(course, targets)
    screen = console()
    screen.print(validation_table(report))
    for fault in report.faults:
        screen.print(f"✗ {fault}", markup=False, soft_wrap=True)
    count = len(report.faults)
    broken = f"{count} {'promise is' if count == 1 else 'promises are'} broken."
    kept = "What was chosen keeps its promises." if targets else "The course keeps its promises."
    screen.print(broken if count else kept)
    return ExitCode.NOT_PASSED if count else ExitCode.FINE
