"""`grader catalogues`: the upkeep of translations."""

import click

from grader.cli.shared import ExitCode, current_course, only_check_option, write_stale


@click.command()
@only_check_option
def catalogues(only_check: bool) -> ExitCode:
    """Update the translation catalogues and compile them."""
    from grader.authoring.translations import translation_files

    course = current_course()
    course.require_solutions()
    updated = translation_files(course)
    changed = [
        file
        for translated in updated
        for file in translated.files
        if not file.is_current(course.root)
    ]
    write_stale(changed, course, only_check=only_check)
    unfinished = [translated for translated in updated if translated.untranslated]
    for translated in unfinished:
        click.echo(f"{translated.readable.path}: {translated.untranslated} still to be translated")
    return ExitCode.NOT_PASSED if only_check and (changed or unfinished) else ExitCode.FINE
