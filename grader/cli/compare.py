"""`grader compare`: two runs, or a run and another state of the course, side by side."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import click
from rich.markup import escape
from rich.table import Table

from grader.classes.compare import Comparison, by_check, compare_runs, signed, to_record
from grader.classes.decisions import DECISIONS
from grader.classes.records import Records, earlier_options, open_records
from grader.classes.store import ANONYMOUS, Store
from grader.cli.shared import (
    ANYTHING,
    FOLDER,
    ExitCode,
    current_course,
    echo,
    echo_json,
    format_option,
    from_here,
)
from grader.cli.view import console, table
from grader.core.entry_points import entries, load
from grader.core.errors import UsageError
from grader.core.files import write_whole
from grader.core.text import clean
from grader.course.course import COURSE_VARIABLE, MANIFEST, load_course
from grader.intake.folders import STORE

MOST_ROWS = 100
"""Of more students than these a terminal shows the first."""


@click.command()
@click.argument("old", type=FOLDER)
@click.argument("new", type=FOLDER)
@click.option("--submissions", type=ANYTHING, help="Whose work is graded with a course.")
@click.option("--roster", type=ANYTHING, help="The class's roster, as for `grader grade`.")
@click.option("--anonymous", type=ANYTHING, metavar="KEYFILE", help="As for `grader grade`.")
@format_option
@click.option("--html", "page", type=ANYTHING, help="Write a page, too.", metavar="FILE")
@click.option("--items", type=ANYTHING, help="Write how each check moved, as CSV.", metavar="FILE")
def compare(
    old: Path,
    new: Path,
    *,
    submissions: Path | None,
    roster: Path | None,
    anonymous: Path | None,
    format_: str,
    page: Path | None,
    items: Path | None,
) -> ExitCode:
    """Show whose score differs between OLD and NEW, by how much, and why.

    OLD and NEW are --out folders of `grader grade`, or what `grader publish` made of one. One of
    them, or both, may be a course instead: then --submissions are graded with it, in a folder that is
    removed afterwards, and what it changes in the other is shown. So a change of a check is tried
    before it counts.

    Checks that end differently for unchanged work are listed.
    """
    class_options = ["--roster", str(roster)] if roster is not None else []
    class_options += ["--anonymous", str(anonymous)] if anonymous is not None else []
    with _runs(old, new, submissions, class_options) as (before, after):
        comparison = compare_runs(before, after)
        if items is not None:
            stability_table = load(entries("grader.reports.compare")["items"])
            write_whole(items, stability_table([*before.results()], [*after.results()]))
    if page is not None:
        from grader.reports.html.pages import comparison_page

        write_whole(page, comparison_page(comparison, str(old), str(new)))
    if format_ == "json":
        echo_json(to_record(comparison))
    else:
        _print(comparison)
    return ExitCode.FINE


@contextmanager
def _runs(
    old: Path, new: Path, submissions: Path | None, class_options: Sequence[str]
) -> Iterator[tuple[Records, Records]]:
    """The records of both; what is a course is graded into a folder of its own."""
    with TemporaryDirectory(prefix="grader-compare-") as scratch:
        if _is_course(old):
            old = _graded(old, new, submissions, class_options, Path(scratch) / "old")
        if _is_course(new):
            new = _graded(new, old, submissions, class_options, Path(scratch) / "new")
        with ExitStack() as stack:
            for folder in (old, new):  # nobody writes there meanwhile
                if (folder / STORE).is_file():
                    stack.enter_context(Store.to_read(folder))
            yield open_records(old), open_records(new)


def _is_course(folder: Path) -> bool:
    return (folder / MANIFEST).is_file()


def _graded(
    course: Path, other: Path, submissions: Path | None, class_options: Sequence[str], out: Path
) -> Path:
    """A class graded with a course; where the other is a run, only what the course changes in it.

    Another process does it, because the checks of two courses have the same names.
    """
    if submissions is None:
        raise UsageError(f"{course} is a course: --submissions says whose work is graded with it.")
    if not _is_course(other):
        if not other.is_dir():
            raise UsageError(f"There is no folder {other}.")
        shutil.copytree(other, out, ignore=shutil.ignore_patterns("reports", "former"))
    before = earlier_options(out)
    isolation = before.isolation if before else "sealed"
    again = [option for option in before.options if option != ANONYMOUS] if before else []
    assignments = before.assignments if before else ()
    command = [sys.executable, "-m", "grader.cli", "grade", str(submissions), "--no-settings"]
    command += ["--out", str(out), "--quiet", "--isolation", isolation, *again]
    there = load_course(course).by_id if assignments else ()
    command += [part for id_ in assignments if id_ in there for part in ("--assignment", id_)]
    with suppress(UsageError):  # outside a course there are no decisions
        decisions = current_course().root / DECISIONS
        if decisions.is_file() and not (course / DECISIONS).exists():
            echo(
                f"{course} has no {DECISIONS}: {from_here(decisions)} of this course counts.",
                err=True,
            )
            command += ["--decisions", str(decisions)]
    command += class_options
    environment = {**os.environ, COURSE_VARIABLE: str(course.resolve())}
    done = subprocess.run(command, env=environment, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode not in (ExitCode.FINE, ExitCode.GRADERS_FAULT):
        raise UsageError(f"{course}: {done.stderr.strip()}")
    return out


def _print(comparison: Comparison) -> None:
    screen = console()
    screen.print(comparison.sentence)
    for line in comparison.same_work.lines:
        screen.print(clean(line), markup=False, soft_wrap=True)
    for names, where in ((comparison.only_before, "earlier"), (comparison.only_after, "later")):
        if names:
            line = f"Only in the {where} run: {', '.join(map(clean, names))}."
            screen.print(line, markup=False, soft_wrap=True)
    if comparison.of_scores:
        screen.print(_students(comparison))
    left = len(comparison.of_scores) - MOST_ROWS
    if left > 0:
        screen.print(f"{left} more: --format json and --html have everybody.")
    effects = by_check(comparison)
    if effects:
        counts = ("differs for", "gain", "lose")
        shown = table("check", *counts, right=counts)
        for effect in effects:
            lengths = map(len, (effect.students, effect.gaining, effect.losing))
            shown.add_row(escape(effect.id), *map(str, lengths))
        screen.print(shown)


def _students(comparison: Comparison) -> Table:
    scores = ("before", "after", "difference")
    students = table("student", *scores, "what it comes from", right=scores)
    for change in comparison.of_scores[:MOST_ROWS]:
        why = "\n".join(line for part in change.parts for line in part.lines)
        shown = (change.shown_before, change.shown_after, signed(change.difference))
        students.add_row(*map(escape, (clean(change.student), *shown, why)))
    return students
