"""`grader compare`: two runs, or a run and another state of the course, side by side."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import click
from rich.markup import escape
from rich.table import Table

from grader.classes.compare import Comparison, by_check, compare_runs, signed, to_record
from grader.classes.records import Records, open_records
from grader.classes.store import RunOptions, Store
from grader.cli.edge import ExitCode
from grader.cli.named_runs import ANONYMOUS
from grader.cli.view import console
from grader.core.errors import UsageError
from grader.core.files import write_whole
from grader.core.text import clean
from grader.course.course import COURSE_VARIABLE, MANIFEST, load_course
from grader.intake.folders import STORE
from grader.reports.items import stability_table

MOST_ROWS = 100
"""Of more students than these a terminal shows the first."""


@dataclass(frozen=True, slots=True)
class CompareOptions:
    """What `grader compare` was asked for, as its help says."""

    old: Path
    new: Path
    submissions: Path | None
    roster: Path | None
    format_: str
    page: Path | None
    anonymous: Path | None = None
    items: Path | None = None


def run_compare(options: CompareOptions) -> ExitCode:
    """Compare, and print or write what differs.

    Raises:
        UsageError: when one of the two is neither a run nor a course.
    """
    with _runs(options) as (old, new):
        found = compare_runs(old, new)
        if options.items is not None:
            write_whole(options.items, stability_table([*old.results()], [*new.results()]))
    if options.page is not None:
        from grader.reports.html.pages import comparison_page

        write_whole(options.page, comparison_page(found, str(options.old), str(options.new)))
    if options.format_ == "json":
        click.echo(json.dumps(to_record(found), indent=2, ensure_ascii=False))
    else:
        _print(found)
    return ExitCode.FINE


@contextmanager
def _runs(options: CompareOptions) -> Iterator[tuple[Records, Records]]:
    """The records of both; what is a course is graded into a folder of its own."""
    with TemporaryDirectory(prefix="grader-compare-") as scratch:
        old, new = options.old, options.new
        if _is_course(old):
            old = _graded(old, new, options, Path(scratch) / "old")
        if _is_course(new):
            new = _graded(new, old, options, Path(scratch) / "new")
        with ExitStack() as stack:
            for folder in (old, new):  # nobody writes there meanwhile
                if (folder / STORE).is_file():
                    stack.enter_context(Store.to_read(folder))
            yield open_records(old), open_records(new)


def _is_course(folder: Path) -> bool:
    return (folder / MANIFEST).is_file()


def _graded(course: Path, other: Path, options: CompareOptions, out: Path) -> Path:
    """A class graded with a course; where the other is a run, only what the course changes in it.

    Another process does it, because the checks of two courses have the same names.
    """
    if options.submissions is None:
        raise UsageError(f"{course} is a course: --submissions says whose work is graded with it.")
    if not _is_course(other):
        if not other.is_dir():
            raise UsageError(f"There is no folder {other}.")
        shutil.copytree(other, out, ignore=shutil.ignore_patterns("reports", "former"))
    before = _run_in(out)
    isolation = before.isolation if before else "sealed"
    again = [one for one in before.options if one != ANONYMOUS] if before else []
    assignments = before.assignments if before else ()
    command = [sys.executable, "-m", "grader.cli", "grade", str(options.submissions)]
    command += ["--out", str(out), "--quiet", "--isolation", isolation, *again]
    there = load_course(course).by_id if assignments else ()
    command += [part for id_ in assignments if id_ in there for part in ("--assignment", id_)]
    command += ["--roster", str(options.roster)] if options.roster else []
    command += ["--anonymous", str(options.anonymous)] if options.anonymous else []
    environment = {**os.environ, COURSE_VARIABLE: str(course.resolve())}
    done = subprocess.run(command, env=environment, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode not in (ExitCode.FINE, ExitCode.GRADERS_FAULT):
        raise UsageError(f"{course}: {done.stderr.strip()}")
    return out


def _run_in(out: Path) -> RunOptions | None:
    """How the run in a folder was graded; None where there is none."""
    if not (out / STORE).is_file():
        return None
    with Store.to_read(out) as store:
        return store.options()


def _print(found: Comparison) -> None:
    screen = console()
    screen.print(found.sentence)
    for line in found.same_work.lines:
        screen.print(clean(line), markup=False, soft_wrap=True)
    for names, where in ((found.only_before, "earlier"), (found.only_after, "later")):
        if names:
            told = f"Only in the {where} run: {', '.join(map(clean, names))}."
            screen.print(told, markup=False, soft_wrap=True)
    if found.of_scores:
        screen.print(_students(found))
    left = len(found.of_scores) - MOST_ROWS
    if left > 0:
        screen.print(f"{left} more: --format json and --html have everybody.")
    effects = by_check(found)
    if effects:
        table = Table(header_style="bold")
        table.add_column("check", overflow="fold")
        for name in ("differs for", "gain", "lose"):
            table.add_column(name, justify="right")
        for one in effects:
            counts = map(len, (one.students, one.gaining, one.losing))
            table.add_row(escape(one.id), *map(str, counts))
        screen.print(table)


def _students(found: Comparison) -> Table:
    table = Table(header_style="bold")
    table.add_column("student", overflow="fold")
    for name in ("before", "after", "difference"):
        table.add_column(name, justify="right")
    table.add_column("what it comes from", overflow="fold")
    for change in found.of_scores[:MOST_ROWS]:
        why = "\n".join(line for part in change.parts for line in part.lines)
        shown = (change.shown_before, change.shown_after, signed(change.difference))
        table.add_row(*map(escape, (clean(change.student), *shown, why)))
    return table
