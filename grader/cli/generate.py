"""`grader generate`: stubs and notebooks from the solutions."""

import click

from grader.cli.shared import ExitCode, current_course, only_check_option, write_stale
from grader.release.stubs import stale


@click.command()
@only_check_option
def generate(only_check: bool) -> ExitCode:
    """Regenerate stubs and notebooks from the solutions."""
    course = current_course()
    course.require_solutions()
    changed = stale(course)
    write_stale(changed, course, only_check=only_check)
    if not changed:
        click.echo("Stubs and notebooks are up to date.")
    return ExitCode.NOT_PASSED if changed and only_check else ExitCode.FINE
