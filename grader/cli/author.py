"""The commands for authors. Each imports what it needs: a released copy lacks some of it."""

from collections.abc import Callable
from pathlib import Path

import click

from grader.cli.edge import ExitCode
from grader.cli.render import console, validation_table
from grader.course.course import Course


def run_generate(course: Course, *, only_check: bool) -> ExitCode:
    """Write the stubs and notebooks that are stale, or only name them."""
    from grader.release.stubs import generate, stale

    course.require_solutions()
    changed = stale(generate(course))
    for file in changed:
        _update(course, file.path, file.write, only_check=only_check)
    if not changed:
        click.echo("Stubs and notebooks are up to date.")
    return ExitCode.NOT_PASSED if changed and only_check else ExitCode.FINE


def run_catalogues(course: Course, *, only_check: bool) -> ExitCode:
    """Write the translations' files that are stale, or only name them."""
    from grader.authoring.translations import translation_files, untranslated

    course.require_solutions()
    files = translation_files(course)
    changed = [file for file in files if not file.is_current]
    for file in changed:
        _update(course, file.path, file.write, only_check=only_check)
    missing = untranslated(files)
    for file in missing:
        click.echo(f"{file.path.relative_to(course.root)}: {file.open} still to be translated")
    return ExitCode.NOT_PASSED if only_check and (changed or missing) else ExitCode.FINE


def _update(course: Course, path: Path, write: Callable[[], object], *, only_check: bool) -> None:
    if not only_check:
        write()
    click.echo(f"{'stale' if only_check else 'written'}: {path.relative_to(course.root)}")


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
    from grader.release.github import list_fingerprint, release_to_github
    from grader.release.gradescope import release_to_gradescope
    from grader.release.nbgrader import release_to_nbgrader
    from grader.release.students import release_to_students

    releases = {
        "students": release_to_students,
        "nbgrader": release_to_nbgrader,
        "github": release_to_github,
        "gradescope": release_to_gradescope,
    }
    released = releases[audience](course, dest)
    size = sum(len(file.content) for file in released)
    files = "1 file" if len(released) == 1 else f"{len(released)} files"
    click.echo(f"Released to {audience}: {files}, {size / 1024:.0f} KiB, in {dest}")
    if audience == "github":
        click.echo(f"List of protected files: {list_fingerprint(released)} (reports show it).")
    if audience == "gradescope":
        click.echo("The zip holds solutions and hidden checks: for Gradescope's autograder alone.")


def run_validate(course: Course) -> ExitCode:
    """Prove the course's promises, and print the proof or every fault."""
    from grader.authoring.validate import validate

    course.require_solutions()
    report = validate(course)
    screen = console()
    screen.print(validation_table(report))
    for fault in report.faults:
        screen.print(f"✗ {fault}", markup=False, soft_wrap=True)
    count = len(report.faults)
    broken = f"{count} {'promise is' if count == 1 else 'promises are'} broken."
    screen.print(broken if count else "The course keeps its promises.")
    return ExitCode.NOT_PASSED if count else ExitCode.FINE
