"""`grader validate --watch`: the proof again, whenever an author saves a file."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

from grader.cli.view import console
from grader.course.course import CHECKS, MANIFEST, SOLUTIONS, Course
from grader.progress.file_watch import LOOK_SECONDS, now_and_changed

WRITTEN = (".py", ".toml")
"""What authors write."""


def run_validate_watch(
    course: Course, targets: tuple[str, ...], *, verbose: bool, translations: bool
) -> None:
    """Validate now and after each save, until Ctrl-C.

    Each time is a process of its own: checks and solutions are then as they are saved.

    Args:
        course: the course.
        targets: assignments or exercises; none for all.
        verbose: as for `grader validate`.
        translations: as for `grader validate`.

    Raises:
        UsageError: in a released copy, or when a target names nothing.
    """
    course.require_solutions()
    course.select(targets)
    options = {"--verbose": verbose, "--translations": translations}
    given = [*targets, *(name for name, is_set in options.items() if is_set)]
    command = [sys.executable, "-m", "grader.cli", "validate", *given]
    screen = console()
    with suppress(KeyboardInterrupt):
        for _ in now_and_changed(partial(_written, course.root), LOOK_SECONDS):
            screen.rule(style="dim")
            subprocess.run(command, cwd=course.root, check=False)
            screen.print("Waiting for a save; Ctrl-C ends it.", style="dim")


def _written(root: Path) -> Iterator[Path]:
    """The files that authors write."""
    yield root / MANIFEST
    for folder in (SOLUTIONS, CHECKS):
        yield from (path for path in (root / folder).rglob("*") if path.suffix in WRITTEN)
