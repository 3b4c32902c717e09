"""`grader doctor`: what this machine can do."""

import platform
from importlib.metadata import PackageNotFoundError, version

from rich.table import Table

from grader.cli.edge import ExitCode
from grader.cli.render import console
from grader.grading import seal_probe

SHOWN = ("torch", "pytest", "click", "rich", "nbformat", "nbgrader", "jupytext")


def run_doctor() -> ExitCode:
    """Print versions and layers of isolation; NOT_PASSED where student code cannot be sealed."""
    screen = console()
    versions = Table("what", "version", header_style="bold")
    versions.add_row("python", platform.python_version())
    versions.add_row("system", f"{platform.system()} {platform.release()} {platform.machine()}")
    for name in SHOWN:
        versions.add_row(name, _version(name))
    screen.print(versions)
    layers = seal_probe.examine()
    table = Table("layer", "needed", "holds", "tried here", header_style="bold")
    for layer in layers:
        needed = "yes" if layer.is_required else "no"
        table.add_row(layer.name, needed, "yes" if layer.holds else "NO", layer.detail)
    screen.print(table)
    if all(layer.holds for layer in layers if layer.is_required):
        screen.print("Student code can be sealed here: `grader grade` works as it is.")
        return ExitCode.FINE
    screen.print(
        "Student code cannot be sealed here: `grader grade` refuses unless you say "
        "`--isolation process`. `grader check` works."
    )
    return ExitCode.NOT_PASSED


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
