"""`grader doctor`: what this machine can do; in a student's copy, whether the copy can work."""

import importlib
import platform
import re
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

import click
from rich.table import Table
from rich.text import Text

from grader.cli.help import SpokenCommand
from grader.cli.shared import ExitCode, is_students_copy, lang_option, open_course
from grader.cli.view import STYLES, Lines, console
from grader.core.language import _, ngettext, paragraph
from grader.course.course import Course
from grader.judging import seal_probe
from grader.submissions.protected_files import released_changes

SHOWN = ("torch", "pytest", "click", "rich", "nbformat", "nbgrader", "jupytext")
PINNED_TORCH = re.compile(r"^torch==([^\s;]+)", re.MULTILINE)
INSTALL = "pip install -c constraints.txt ."
MOST_FILES = 8
"""How many files that differ are named."""


@click.command(cls=SpokenCommand)
@lang_option
def doctor(lang: str | None) -> ExitCode:
    """Show whether all that is needed works here.

    In a student's copy: Python, torch, the copy's files, notebooks. Elsewhere: versions, and which
    layers of isolation really hold, by trying them.

    Exits with 0 when all is well (elsewhere: when student code can be sealed), with 1 when not.
    """
    return _examine_copy(open_course(lang)) if is_students_copy() else _examine_machine()


def _examine_machine() -> ExitCode:
    """Print versions and layers of isolation; NOT_PASSED where student code cannot be sealed."""
    screen = console()
    versions = Table("what", "version", header_style="bold")
    versions.add_row("python", platform.python_version())
    versions.add_row("system", f"{platform.system()} {platform.release()} {platform.machine()}")
    for name in SHOWN:
        versions.add_row(name, _version(name) or "not installed")
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
    """The version of what is installed; "" where it is not."""
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


# In a student's copy.

Line = tuple[str, str]
"""A sign, and what there is to say."""


def _examine_copy(course: Course) -> ExitCode:
    """Print whether this copy can work here; NOT_PASSED where something has to be mended."""
    screen = console()
    python = _("Python {version}, in {folder}")
    lines = [
        ("✓", python.format(version=platform.python_version(), folder=sys.prefix)),
        _torch(course),
        *_files(course),
        _notebooks(),
    ]
    for sign, words in lines:
        screen.print(Lines(Text.assemble((sign, STYLES[sign]), " ", words)))
    if any(sign == "✗" for sign, _words in lines):
        return ExitCode.NOT_PASSED
    screen.print(Lines(Text(_("All is well: `grader check` works here."))))
    return ExitCode.FINE


def _torch(course: Course) -> Line:
    """Whether torch is there, can be loaded, and is the one that the course was made with."""
    installed = _version("torch")
    if not installed:
        sentence = _("torch is not installed in this Python. Run in the course's folder: {command}")
        return "✗", sentence.format(command=f"`{INSTALL}`")
    try:
        importlib.import_module("torch")
    except (ImportError, OSError) as error:
        sentence = _("torch {version} is installed but cannot be loaded: {reason}")
        return "✗", sentence.format(version=installed, reason=error)
    constraints = course.root / "constraints.txt"
    match = PINNED_TORCH.search(constraints.read_text("utf-8") if constraints.is_file() else "")
    if match is None:
        return "✓", f"torch {installed}"
    if match[1] == installed.partition("+")[0]:
        return "✓", _("torch {version}, as the course was made with").format(version=installed)
    sentence = _(
        "torch {version}; the course was made with {pinned}. Yours should give the same results. "
        "To have that one, run {command}"
    )
    return "~", sentence.format(version=installed, pinned=match[1], command=f"`{INSTALL}`")


def _files(course: Course) -> Iterator[Line]:
    """Which files of the copy are not as released."""
    changes = released_changes(course.root)
    if changes is None:
        return
    if not changes:
        yield "✓", _("The copy's files are all there, and as released.")
        return
    count = len(changes)
    sentence = ngettext(
        "{count} file of the copy is not as released.",
        "{count} files of the copy are not as released.",
        count,
    )
    todo = _("Take them from a new copy of the course; your work in assignments/ can stay.")
    yield "✗", paragraph((sentence.format(count=count), todo))
    for change in changes[:MOST_FILES]:
        yield "✗", f"  {change.path}: {_(change.what)}"
    if count > MOST_FILES:
        yield "✗", "  " + _("and {count} more").format(count=count - MOST_FILES)


def _notebooks() -> Line:
    """Whether notebooks can be run, and by which Python."""
    if find_spec("ipykernel") is None or find_spec("jupyter_client") is None:
        sentence = _("Jupyter is not installed in this Python. If you want notebooks: {command}")
        return "·", sentence.format(command="`pip install -c constraints.txt jupyterlab`")
    specs = importlib.import_module("jupyter_client.kernelspec")
    command = specs.KernelSpecManager().get_kernel_spec(specs.NATIVE_KERNEL_NAME).argv[0]
    if Path(command).is_absolute() and Path(command).parent != Path(sys.executable).parent:
        sentence = _(
            "The notebook's kernel is another Python, {python}: the grader may be missing there. "
            "In Jupyter or your editor choose the kernel in {folder}."
        )
        return "~", sentence.format(python=command, folder=sys.prefix)
    return "✓", _("Notebooks run in this Python too.")
