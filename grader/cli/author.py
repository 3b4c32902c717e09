"""The commands for authors. Each imports what it needs: a released copy lacks some of it."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click
from rich.console import Console

from grader.cli.edge import ExitCode, cores, from_here
from grader.cli.progress import counted, counting
from grader.cli.tables import kept_table, mutation_table, unearned_table, validation_table
from grader.cli.view import console
from grader.core.errors import UsageError
from grader.core.files import OutputFile
from grader.core.kit import installing
from grader.course.course import Course

if TYPE_CHECKING:
    from grader.extras.mutants.trials import Trial, Tried

T = TypeVar("T")


def run_generate(course: Course, *, only_check: bool) -> ExitCode:
    """Write the stubs and notebooks that are stale, or only name them."""
    from grader.release.stubs import stale

    course.require_solutions()
    changed = stale(course)
    _write(changed, course, only_check=only_check)
    if not changed:
        click.echo("Stubs and notebooks are up to date.")
    return ExitCode.NOT_PASSED if changed and only_check else ExitCode.FINE


def run_catalogues(course: Course, *, only_check: bool) -> ExitCode:
    """Write the translations' files that are stale, or only name them."""
    from grader.authoring.translations import translation_files

    course.require_solutions()
    updated = translation_files(course)
    changed = [file for one in updated for file in one.files if not file.is_current(course.root)]
    _write(changed, course, only_check=only_check)
    unfinished = [one for one in updated if one.untranslated]
    for one in unfinished:
        click.echo(f"{one.readable.path}: {one.untranslated} still to be translated")
    return ExitCode.NOT_PASSED if only_check and (changed or unfinished) else ExitCode.FINE


def _write(changed: Iterable[OutputFile], course: Course, *, only_check: bool) -> None:
    """Write files that are stale, or only list them."""
    for file in changed:
        if not only_check:
            file.write(course.root)
        click.echo(f"{'stale' if only_check else 'written'}: {file.path}")


def run_release(course: Course, dest: Path, audience: str) -> None:
    """Write what an audience receives.

    Args:
        course: the course, in the language to release it in.
        dest: the folder to write into.
        audience: "students", "nbgrader", "github" or "gradescope".

    Raises:
        CourseError: when the course is not ready.
        UsageError: when the folder is not empty, or in a released copy.
    """
    from grader.release.github import github_files, list_fingerprint
    from grader.release.gradescope import zipped_files
    from grader.release.nbgrader import nbgrader_files
    from grader.release.students import student_files, write_release

    releases = {
        "students": student_files,
        "nbgrader": nbgrader_files,
        "github": github_files,
        "gradescope": zipped_files,
    }

    def files_of(course: Course) -> Iterable[OutputFile]:
        if audience != "gradescope":  # which has the solutions in place of recordings
            _record_missing(course)
        return releases[audience](course)

    released = write_release(course, dest, files_of)
    size = sum(len(file.data) for file in released)
    files = "1 file" if len(released) == 1 else f"{len(released)} files"
    click.echo(f"Released to {audience}: {files}, {size / 1024:.0f} KiB, in {dest}")
    if audience == "github":
        click.echo(f"List of protected files: {list_fingerprint(released)} (reports show it).")
    if audience == "gradescope":
        click.echo("The zip holds solutions and hidden checks: for Gradescope's autograder alone.")


def _record_missing(course: Course) -> None:
    """Make the recordings that are not kept yet, and show how far that is."""
    from grader.release.recording_cache import record_missing

    number, recordings = record_missing(course, cores())
    if number:
        for _done in counted(Console(stderr=True), "Recording assignments", number, recordings):
            pass


def run_validate(
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
    screen.print(validation_table(report))
    screen.print(unearned_table(report))
    if verbose:
        screen.print(kept_table(report))
    for warning in report.warnings:
        screen.print(f"! {warning}", markup=False, soft_wrap=True)
    for fault in report.faults:
        screen.print(f"✗ {fault}", markup=False, soft_wrap=True)
    count = len(report.faults)
    broken = f"{count} {'promise is' if count == 1 else 'promises are'} broken."
    kept = "What was chosen keeps its promises." if targets else "The course keeps its promises."
    screen.print(broken if count else kept)
    return ExitCode.NOT_PASSED if count else ExitCode.FINE


def run_mutate(course: Course, targets: tuple[str, ...], *, jobs: int, verbose: bool) -> ExitCode:
    """Try the mutants of the solutions, and print those that no check tells from a solution.

    Args:
        course: the course.
        targets: assignments or exercises; none for all.
        jobs: how many processes try them.
        verbose: list also those that a student would read no name of.

    Raises:
        UsageError: in a released copy, or without libcst.
    """
    course.require_solutions()
    try:
        from grader.extras.mutants.trials import mutate, outdated
    except ModuleNotFoundError as error:
        raise UsageError(
            f"Mutants need libcst, and {error.name} is not installed. Run: {installing('author')}."
        ) from error

    all_tried: list[Tried] = []
    number = len(course.select(targets))
    with counting(Console(stderr=True), "Trying mutants", number, "exercises") as shown:

        def show(mutants: int) -> None:
            shown.show(len(all_tried), f"{mutants} mutants")

        for tried in mutate(course, targets, jobs, show):
            all_tried.append(tried)
            with shown.aside():
                _print_tried(course, tried, verbose=verbose)
    screen = console()
    screen.print(mutation_table(all_tried))
    needless = list(outdated(course, all_tried))
    for sentence in needless:
        screen.print(f"✗ {sentence}", markup=False, soft_wrap=True)
    said = list(_faults_in_words(all_tried))
    screen.print("\n".join(said) or "No mutant survives.")
    return ExitCode.NOT_PASSED if said or needless else ExitCode.FINE


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
    return [
        f"{sign} {place}: {trial.fate}{by}",
        f"    - {mutant.old}",
        f"    + {mutant.new}",
    ]
