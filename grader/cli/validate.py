"""`grader validate`: the proof that a course keeps its promises, once or at each save."""

import subprocess
import sys
import time
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from grader.cli.progress import counted
from grader.cli.shared import ExitCode, current_course, targets_argument
from grader.cli.view import console
from grader.course.course import CHECKS, MANIFEST, SOLUTIONS, Course
from grader.progress.file_watch import LOOK_SECONDS, polled

if TYPE_CHECKING:
    from grader.authoring.check_proofs import Report, Row

T = TypeVar("T")
WRITTEN = (".py", ".toml")
"""What authors write."""


@click.command()
@targets_argument
@click.option(
    "--verbose", is_flag=True, help="Also show what each known mistake leaves of the points."
)
@click.option(
    "--translations",
    is_flag=True,
    help="Count missing translations as faults, not as warnings.",
)
@click.option("--watch", "watching", is_flag=True, help="Run again whenever a file is saved.")
def validate(
    targets: tuple[str, ...], verbose: bool, translations: bool, watching: bool
) -> ExitCode | None:
    """Prove that the course keeps its promises.

    TARGET is an assignment or an exercise, as for `grader check`: only its checks are run. Nothing
    means all: the whole proof.

    Every stub earns 0, every solution earns full marks, every misconception loses points and is
    recognised by its own name, every printed tensor of the ledger is covered, and no release gives
    a solution away. Code that knows nothing earns next to nothing, and a recognised mistake leaves
    what its kind says. What is still to be translated is a warning. Exits with 0, or with 1
    and every fault.
    """
    course = current_course()
    if watching:
        _prove_at_each_save(course, targets, verbose=verbose, translations=translations)
        return None
    return prove(course, targets, verbose=verbose, translations=translations)


def prove(
    course: Course, targets: tuple[str, ...], *, verbose: bool, translations: bool
) -> ExitCode:
    """Prove the course's promises, and print the proof or every fault.

    Args:
        course: the course.
        targets: assignments or exercises; none for all.
        verbose: print also what each known mistake leaves of the points.
        translations: count what is still to be translated as a fault.
    """
    from grader.authoring.validate import validate

    course.require_solutions()
    err = Console(stderr=True)

    def each(proof: str, items: Collection[T], /) -> Iterable[T]:
        return counted(err, f"Proving {proof}", len(items), items)

    report = validate(course, targets, translations=translations, each=each)
    screen = console()
    screen.print(_validation_table(report))
    screen.print(_unearned_table(report))
    if verbose:
        screen.print(_kept_table(report))
    for warning in report.warnings:
        screen.print(f"! {warning}", markup=False, soft_wrap=True)
    for fault in report.faults:
        screen.print(f"✗ {fault}", markup=False, soft_wrap=True)
    count = len(report.faults)
    broken = f"{count} {'promise is' if count == 1 else 'promises are'} broken."
    kept = "What was chosen keeps its promises." if targets else "The course keeps its promises."
    screen.print(broken if count else kept)
    return ExitCode.NOT_PASSED if count else ExitCode.FINE


def _prove_at_each_save(
    course: Course, targets: tuple[str, ...], *, verbose: bool, translations: bool
) -> None:
    """Validate now and after each save, until Ctrl-C.

    Each time is a process of its own: checks and solutions are then as they are saved.
    """
    course.require_solutions()
    course.select(targets)
    options = {"--verbose": verbose, "--translations": translations}
    given = [*targets, *(name for name, is_set in options.items() if is_set)]
    command = [sys.executable, "-m", "grader.cli", "validate", *given]
    screen = console()
    with suppress(KeyboardInterrupt):
        for _ in polled(
            partial(_written, course.root), partial(time.sleep, LOOK_SECONDS), at_once=True
        ):
            screen.rule(style="dim")
            subprocess.run(command, cwd=course.root, check=False)
            screen.print("Waiting for a save; Ctrl-C ends it.", style="dim")


def _written(root: Path) -> Iterator[Path]:
    """The files that authors write."""
    yield root / MANIFEST
    for folder in (SOLUTIONS, CHECKS):
        yield from (path for path in (root / folder).rglob("*") if path.suffix in WRITTEN)


def _validation_table(report: "Report") -> Table:
    """The course as its author sees it: a row per exercise, in sections per assignment."""
    table = Table(header_style="bold", box=SIMPLE)
    table.add_column("exercise", no_wrap=True)
    for name in ("points", "visible", "hidden", "known", "named", "visibly", "apart"):
        table.add_column(name, justify="right", no_wrap=True)
    for assignment, group in groupby(report.rows, lambda row: row.exercise.assignment):
        rows = list(group)
        table.add_row(f"[bold]{assignment}[/]", *_numbers(rows))
        for row in rows:
            table.add_row(f"  {row.exercise.name}", *_numbers([row]))
        table.add_section()
    table.add_row("[bold]the course[/]", *_numbers(report.rows))
    table.caption = (
        "visible, hidden: checks. known: misconceptions; named: recognised by all checks; "
        "visibly: by the visible ones alone. apart: the smallest separation."
    )
    return table


def _unearned_table(report: "Report") -> Table:
    """What code earns of each exercise that computes nothing right."""
    table = Table(header_style="bold", box=SIMPLE, title="What knowing nothing earns")
    table.add_column("exercise", no_wrap=True)
    table.add_column("at most", justify="right")
    table.add_column("by returning")
    table.add_column("by heart", justify="right")
    table.add_column("why it can be guessed")
    for row in report.rows:
        free = row.free_points
        most, memorised = f"{free.most:.0%}", f"{free.memorised:.0%}"
        table.add_row(row.exercise.name, most, free.best, memorised, free.guessable)
    table.caption = "By heart: right on visible inputs, and zeros elsewhere."
    return table


def _kept_table(report: "Report") -> Table:
    """What each known mistake leaves of its exercise's points, the most first."""
    table = Table(header_style="bold", box=SIMPLE, title="What known mistakes leave of the points")
    for name in ("exercise", "known mistake", "kind"):
        table.add_column(name, no_wrap=True)
    table.add_column("left", justify="right")
    table.add_column("")
    for row in report.rows:
        for left in sorted(row.kept, key=lambda left: -left.share):
            why = "" if left.is_judged else "no value was judged"
            share = f"{left.share:.0%}"
            table.add_row(row.exercise.name, left.mistake.id, left.mistake.kind, share, why)
    return table


def _numbers(rows: "list[Row]") -> list[str]:
    """The columns of one or more exercises."""
    names = ("visible", "hidden", "misconceptions", "recognised", "recognised_visibly")
    counts = [(r.exercise.points, *(getattr(r, name) for name in names)) for r in rows]
    smallest = min((row.separation for row in rows), default=float("inf"))
    apart = "-" if smallest == float("inf") else f"{smallest:.2g}"
    return [*(str(sum(column)) for column in zip(*counts, strict=True)), apart]
