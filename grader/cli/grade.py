"""`grader grade`: a class, all checks."""

import os
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from grader.cli.edge import lang_option, open_course
from grader.reports.registry import GRADE_REPORTS

if TYPE_CHECKING:
    from rich.console import Console

    from grader.course.course import Course
    from grader.grading.class_files import Row
    from grader.grading.class_run import Grade
    from grader.submissions.intake import IntakeResult

MOST_ROWS = 100
"""A class of more students is not shown as a table."""
INTERRUPTED = 130


@click.command()
@click.argument("submissions", type=click.Path(path_type=Path))
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    required=True,
    help="The folder for results, feedback, scores.csv and summary.json.",
)
@click.option(
    "--roster",
    type=click.Path(path_type=Path, dir_okay=False),
    help="A CSV with a column `student`; who is on it and handed in nothing is listed as such.",
)
@click.option(
    "--seed",
    type=int,
    help="Draw the hidden inputs of an earlier run again; else those of the run that --out holds.",
)
@click.option(
    "--isolation",
    type=click.Choice(["sealed", "process"]),
    default="sealed",
    show_default=True,
    help="How student code is kept apart; `process` is not sealed.",
)
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    help="How many students are graded at a time; one per core unless said.",
)
@click.option(
    "--scheduler",
    metavar="ADDRESS|local",
    help="Grade on the workers of a dask scheduler, or of a cluster made on this machine.",
)
@click.option("--force", is_flag=True, help="Grade everybody, also who handed in nothing new.")
@click.option("--quiet", is_flag=True, help="Print nothing but errors.")
@click.option(
    "--report",
    "reports",
    type=click.Choice(GRADE_REPORTS),
    multiple=True,
    help="Also report in a platform's own form, in DIR/reports/NAME/; scores.csv is always there.",
)
@click.option(
    "--gradebook",
    metavar="URL",
    help="Write into nbgrader's gradebook too: a path (SQLite) or postgresql://USER@HOST/NAME.",
)
@lang_option
def grade(
    submissions: Path,
    out: Path,
    roster: Path | None,
    seed: int | None,
    isolation: str,
    jobs: int | None,
    scheduler: str | None,
    force: bool,
    quiet: bool,
    reports: tuple[str, ...],
    gradebook: str | None,
    lang: str | None,
) -> None:
    """Grade SUBMISSIONS, a folder with one folder per student, by all checks.

    A student's folder holds a folder per assignment (<student>/<nn_assignment>/<file>), or the
    files flat, or one file or notebook that defines everything. A single file is a class of one.
    A folder of cloned repositories (<assignment>-<login>) and the zip that Canvas or Moodle
    gives for a whole class are read as they are.

    Each student is written to --out as soon as they are graded. A run that was interrupted goes
    on where it stopped when the same command is given again; a student who handed in nothing new
    is not graded again, unless the course, the grader, torch or --seed changed.

    Exits with 0 when grading worked, whatever the scores; with 2 for a wrong command or course;
    with 3 when a score is undecided; with 130 when interrupted.
    """
    from rich.markup import escape

    from grader.cli.gradebook import fill, prepare
    from grader.cli.progress import progress
    from grader.cli.render import console
    from grader.core.errors import UsageError
    from grader.grading.class_files import read_results
    from grader.grading.class_run import ClassRun
    from grader.submissions.intake import arrive

    course = open_course(lang)
    screen = console(quiet=quiet)
    chosen = None if seed is None else str(seed)
    if out.resolve() == submissions.resolve():
        raise UsageError(f"{out} holds the submissions; give another --out.")
    if course.points_problem:
        screen.print(f"{course.points_problem}.", style="yellow", markup=False, soft_wrap=True)
    if gradebook:
        prepare(course, gradebook, out)
    try:
        with arrive(course, submissions, roster) as arrived:
            run = ClassRun(course, arrived.students, out, isolation, chosen, force)
            with progress(screen) as watcher:
                rows = run.carry_out(_how(jobs, scheduler), watcher)
            _report(course, rows, arrived, out, reports)
            _tell(screen, rows, arrived.notes, out, course.max_score)
            is_filled = not gradebook or fill(
                course, arrived.students, read_results(out, rows), gradebook, out, screen
            )
    except KeyboardInterrupt:
        screen.print(
            f"Interrupted. Who is graded is in {out}; the same command goes on from there."
        )
        raise SystemExit(INTERRUPTED) from None
    undecided = [row.student for row in rows if row.undecided]
    if undecided:
        told = f"UNDECIDED, the grader failed: {', '.join(undecided)}"
        screen.print(f"[bold magenta]{escape(told)}[/]")
        if quiet:
            click.echo(told, err=True)
    raise SystemExit(3 if undecided or not is_filled else 0)


def _how(jobs: int | None, scheduler: str | None) -> "Grade":
    """Where students are graded: on a cluster, in worker processes, or in this process."""
    from grader.grading.class_run import grade_here, sent
    from grader.grading.dask_cluster import grade_on_cluster
    from grader.grading.process_pool import grade_locally

    wanted = jobs or cores()
    if scheduler is not None:
        return partial(grade_on_cluster, address=scheduler, jobs=wanted, take=sent)
    if wanted == 1:
        return grade_here
    return partial(grade_locally, jobs=wanted)


def cores() -> int:
    """The processor cores that this process may use."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _tell(
    screen: "Console", rows: "Sequence[Row]", notes: "Sequence[str]", out: Path, max_score: int
) -> None:
    from grader.cli.render import class_summary, class_table

    for note in notes:
        screen.print(note, markup=False, soft_wrap=True)
    if len(rows) <= MOST_ROWS:
        screen.print(class_table(rows, max_score))
    else:
        screen.print(class_summary(rows, max_score))
    for row in rows:
        for defect in row.defects:
            screen.print(f"{row.student}: {defect}", style="yellow", markup=False, soft_wrap=True)
    layers = sorted({", ".join(row.isolation) for row in rows if row.isolation})
    if any(row.isolation and "sealed" not in row.isolation for row in rows):
        screen.print("[bold red]NOT SEALED:[/] student code could read files and use the network.")
    screen.print(f"Isolation: {'; '.join(layers) or 'nothing was run'}. Results are in {out}.")


def _report(
    course: "Course",
    rows: "Sequence[Row]",
    arrived: "IntakeResult",
    out: Path,
    names: tuple[str, ...],
) -> None:
    """Write the reports asked for into `reports/`."""
    if not names:
        return
    from grader.grading.class_files import read_results
    from grader.reports.base import GradedClass
    from grader.reports.registry import graded

    results = read_results(out, rows)
    run = GradedClass(course, results, dict(os.environ), datetime.now(UTC), arrived.roster)
    for file in graded(names, run):
        file.write(out / "reports")
