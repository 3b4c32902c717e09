"""`grader doctor`: what this machine can do."""

import platform
import sys
from importlib.metadata import PackageNotFoundError, version

import click

SHOWN = ("torch", "pytest", "click", "rich", "nbformat", "nbgrader", "jupytext")


@click.command()
def doctor() -> None:
    """Show versions, and which layers of isolation really hold here, by trying them.

    Exits with 0 when student code can be sealed on this machine, with 1 when not.
    """
    from rich.table import Table

    from grader.cli.render import console
    from grader.grading.seal_probe import examine

    screen = console()
    versions = Table(header_style="bold")
    versions.add_column("what")
    versions.add_column("version")
    versions.add_row("python", platform.python_version())
    versions.add_row("system", f"{platform.system()} {platform.release()} {platform.machine()}")
    for name in SHOWN:
        versions.add_row(name, _version(name))
    screen.print(versions)
    layers = examine()
    table = Table(header_style="bold")
    for column in ("layer", "needed", "holds", "tried here"):
        table.add_column(column)
    for layer in layers:
        needed = "yes" if layer.is_required else "no"
        table.add_row(layer.name, needed, "yes" if layer.holds else "NO", layer.detail)
    screen.print(table)
    sealed = all(layer.holds for layer in layers if layer.is_required)
    if sealed:
        screen.print("Student code can be sealed here: `grader grade` works as it is.")
    else:
        screen.print(
            "Student code cannot be sealed here: `grader grade` refuses unless you say "
            "`--isolation process`. `grader check` works."
        )
    sys.exit(0 if sealed else 1)


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
