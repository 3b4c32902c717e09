"""The commands for authors."""

from pathlib import Path

import click


@click.command()
@click.option("--check", "only_check", is_flag=True, help="Write nothing; exit 1 if any is stale.")
def generate(only_check: bool) -> None:
    """Write stubs and notebooks anew from the solutions."""
    from grader.authoring.generate import generate as generate_files
    from grader.authoring.generate import stale
    from grader.course import find_course, load_course

    course = load_course(find_course(Path.cwd()))
    changed = stale(generate_files(course))
    for file in changed:
        if not only_check:
            file.write()
        click.echo(f"{'stale' if only_check else 'written'}: {file.path.relative_to(course.root)}")
    if not changed:
        click.echo("Stubs and notebooks are up to date.")
    raise SystemExit(1 if changed and only_check else 0)
