"""`grader mutate`: the checks tried on small edits of the solutions."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

import click
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from grader.cli.progress import counting
from grader.cli.shared import ExitCode, cores, current_course, from_here, targets_argument
from grader.cli.view import console
from grader.course.course import Course

if TYPE_CHECKING:
    from grader.extras.mutants.trials import Trial, Tried


@click.command()
@targets_argument
@click.option(
    "-j",
    "--jobs",
    type=click.IntRange(min=1),
    help="How many processes try the mutants.  [default: one per core]",
)
@click.option(
    "--verbose",
    is_flag=True,
    help="Also list mutants that are caught but not named, only remarked upon, or equivalent.",
)
def mutate(targets: tuple[str, ...], jobs: int | None, verbose: bool) -> ExitCode:
    """Run the checks against mutants, small mechanical edits of the solutions.

    TARGET is an assignment or an exercise, as for `grader check`; nothing means all. An edit is
    caught when a check that carries weight does not pass, named when a known mistake is recognised
    in it, remarked upon when only a remark says it, and equivalent when everything that the checks
    ask for is the same, also with other seeds and other inputs. What is none of these survives.

    solutions/ASSIGNMENT/equivalent.toml lists survivors that are right all the same: `exercise`,
    `old`, `new` and the `reason` of each [[equivalent]].

    Exits with 0; with 1 when an edit survives or breaks a check, or one is listed for nothing.
    """
    course = current_course()
    course.require_solutions()
    from grader.extras.mutants.trials import mutate as tried_mutants
    from grader.extras.mutants.trials import outdated

    all_tried: list[Tried] = []
    number = len(course.select(targets))
    with counting(Console(stderr=True), "Trying mutants", number, "exercises") as shown:

        def show(mutants: int) -> None:
            shown.show(len(all_tried), f"{mutants} mutants")

        for tried in tried_mutants(course, targets, jobs or cores(), show):
            all_tried.append(tried)
            with shown.aside():
                _print_tried(course, tried, verbose=verbose)
    screen = console()
    screen.print(_mutation_table(all_tried))
    needless = list(outdated(course, all_tried))
    for sentence in needless:
        screen.print(f"✗ {sentence}", markup=False, soft_wrap=True)
    faults = list(_faults_in_words(all_tried))
    screen.print("\n".join(faults) or "No mutant survives.")
    return ExitCode.NOT_PASSED if faults or needless else ExitCode.FINE


def _faults_in_words(all_tried: "Sequence[Tried]") -> Iterator[str]:
    counts = Counter(trial.fate.value for tried in all_tried for trial in tried.faults)
    if count := counts["survived"]:
        yield f"{count} {'mutant survives' if count == 1 else 'mutants survive'}."
    if count := counts["broken"]:
        yield f"{count} {'mutant breaks' if count == 1 else 'mutants break'} a check."


def _print_tried(course: Course, tried: "Tried", *, verbose: bool) -> None:
    """Print what came of an exercise's mutants: a line, and those that are worth a look."""
    counts = ", ".join(f"{count} {what}" for what, count in tried.counts.items() if count)
    lines = [f"{tried.exercise.id}: {len(tried.trials)} mutants: {counts}"]
    for trial in tried.trials if verbose else tried.faults:
        if not trial.named:
            lines += _trial_lines(course, trial)
    console().print("\n".join(lines), markup=False, soft_wrap=True)


def _trial_lines(course: Course, trial: "Trial") -> list[str]:
    mutant, by = trial.mutant, f": {trial.check}" if trial.check else ""
    sign = "✗" if trial.is_fault else "·"
    place = f"{from_here(course.root / mutant.path)}:{mutant.line}"
    return [f"{sign} {place}: {trial.fate}{by}", f"    - {mutant.old}", f"    + {mutant.new}"]


def _mutation_table(all_tried: "Sequence[Tried]") -> Table:
    """What came of mutants: a row per assignment."""
    table = Table(header_style="bold", box=SIMPLE)
    table.add_column("assignment", no_wrap=True)
    columns = ("caught", "named", "remarked", "equivalent", "survived", "broken")
    for name in ("mutants", "caught", "named", "remark", "equal", "survive", "break", "s"):
        table.add_column(name, justify="right", no_wrap=True)
    groups = [
        (name, [*of_assignment])
        for name, of_assignment in groupby(all_tried, lambda t: t.exercise.assignment)
    ]
    for name, group in (*groups, ("the course", all_tried)):
        counts = [sum(tried.counts[column] for tried in group) for column in columns]
        mutants, seconds = (sum(len(t.trials) for t in group), sum(t.seconds for t in group))
        table.add_row(name, *map(str, (mutants, *counts)), f"{seconds:.0f}")
    table.caption = (
        "named: of those caught, by a known mistake. remark: only a remark says it. "
        "equal: as the solution, or written down as that. break: a check by itself fails. s: seconds."
    )
    return table
