"""`grader grade`: a class, all checks."""

import os
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from importlib.util import find_spec
from itertools import chain
from pathlib import Path

import click
from rich.console import Console

from grader.classes.cluster import grade_on_cluster
from grader.classes.deciding import NOT_RUN
from grader.classes.decisions import Decisions
from grader.classes.decisions_file import class_decisions
from grader.classes.policies import Policy
from grader.classes.process_pool import grade_locally
from grader.classes.records import (
    FORMER,
    REPORTS,
    SUMMARY,
    Records,
    last_published,
    open_records,
    results_of,
)
from grader.classes.rows import ClassResult, Row
from grader.classes.run import NEW_ASSIGNMENT, ClassRun, Grade, grade_here, handed_in_as_data
from grader.classes.store import Store
from grader.cli.edge import ExitCode, cores
from grader.cli.named_runs import ANONYMOUS, require_names, require_numbers
from grader.cli.progress import progress
from grader.cli.tables import class_summary, class_table, defect_lines, gaps_line
from grader.cli.view import console
from grader.core.errors import UsageError
from grader.core.kit import installing
from grader.core.language import _
from grader.core.records import Result
from grader.core.text import escaped, location_words
from grader.course.course import Course
from grader.intake.anonymous import anonymous, read_keys
from grader.intake.folders import STORE
from grader.intake.read import IntakeResult, read_submissions
from grader.intake.times import with_times
from grader.reports.base import GradedClass
from grader.reports.registry import graded

MOST_UNREAD = 20
"""Of more files that cannot be read a terminal shows the first."""
MOST_ROWS = 100
"""A class of more students is not shown as a table."""
MOST_NAMES = 10
GRADEBOOK_FOLDER = "nbgrader"


@dataclass(frozen=True, slots=True)
class GradeOptions:
    """What `grader grade` was asked for, as its help says."""

    submissions: Path
    out: Path
    roster: Path | None
    seed: int | None
    isolation: str
    jobs: int | None
    scheduler: str | None
    force: bool
    quiet: bool
    verbose: bool
    reports: tuple[str, ...]
    assignments: tuple[str, ...]
    decisions: Path | None
    never_lower: Path | None
    gradebook: str | None
    times: Path | None = None
    policy: str = Policy.LAST
    history: bool = False
    anonymous: Path | None = None


def run_grade(course: Course, options: GradeOptions) -> ExitCode:
    """Grade a class, write and print the results.

    Raises:
        UsageError: when an option cannot be used.
        CourseError: when the course is wrong or changed during the run.
    """
    out, screen = options.out, console(quiet=options.quiet)
    if out.resolve() == options.submissions.resolve():
        raise UsageError(f"{out} holds the submissions; give another --out.")
    if course.points_problem:
        _print_line(screen, f"{course.points_problem}.", "yellow")
    for name in course.limits.packages:
        if find_spec(name.partition(".")[0]) is None:
            _print_line(
                screen, f"{name} of course.toml's packages is not installed here.", "yellow"
            )
    if options.anonymous is not None and out.resolve() in options.anonymous.resolve().parents:
        raise UsageError(f"{options.anonymous} says who is who: keep it outside {out}.")
    if options.gradebook:
        _prepare_gradebook(course, options.gradebook, out)
    try:
        with (
            ended_like_ctrl_c(),
            read_submissions(
                course, options.submissions, options.roster, history=options.history
            ) as arrived,
        ):
            intake, decisions = _as_asked(course, options, arrived)
            published = _published(out)
            result = _grade(course, options, intake, decisions, screen)
            rows = result.rows
            if options.reports:
                results, now = _results(out, rows), datetime.now(UTC)
                covers = result.covers.sentence(rows)
                run = GradedClass(
                    result.course, results, dict(os.environ), now, intake.roster, covers
                )
                for file in graded(options.reports, run):
                    file.write(out / REPORTS)
            _print_class(screen, result, intake.notes, out)
            if options.verbose:
                _print_definitions(screen, _results(out, rows))
            _print_coverage(screen, result, out)
            _print_decisions(screen, rows)
            _print_open_attempts(screen, result)
            _print_gone(screen, result)
            _print_changes(screen, result, out, published)
            _print_older_reports(screen, result, options)
            is_filled = _fill_gradebook(course, intake, rows, options, screen)
    except KeyboardInterrupt:
        told = f"Interrupted. Who is graded is in {out}; the same command goes on from there."
        screen.print(told)
        return ExitCode.INTERRUPTED
    undecided = [row for row in rows if row.undecided]
    for line in _undecided_lines(out, undecided, intake):
        _print_line(screen, line, "bold magenta")
        if options.quiet:
            click.echo(escaped(line), err=True)
    return ExitCode.GRADERS_FAULT if undecided or not is_filled else ExitCode.FINE


@contextmanager
def ended_like_ctrl_c() -> Iterator[None]:
    """Let what ends a program politely (`timeout`, a batch system) end it as Ctrl-C does."""

    def interrupt(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _as_asked(
    course: Course, options: GradeOptions, arrived: IntakeResult
) -> tuple[IntakeResult, Decisions]:
    """A class with its times, perhaps without names; and what was decided about it."""
    intake, keys = with_times(course, arrived, options.times), options.anonymous
    decisions = class_decisions(
        course,
        options.decisions,
        intake,
        has_roster=options.roster is not None,
        out=options.out,
        former=() if keys is None else read_keys(keys),
    )
    if keys is None:
        require_names(options.out)
        return intake, decisions
    intake, numbers = anonymous(intake, keys)
    require_numbers(options.out, "out", numbers)
    if options.never_lower is not None:
        require_numbers(options.never_lower, "never-lower", numbers)
    return intake, decisions.renamed(numbers)


def _grade(
    course: Course,
    options: GradeOptions,
    intake: IntakeResult,
    decisions: Decisions,
    screen: Console,
) -> ClassResult:
    seed = None if options.seed is None else str(options.seed)
    policy = Policy(options.policy)
    run = ClassRun(
        course,
        intake.students,
        options.out,
        options.isolation,
        seed,
        options.force,
        intake.is_whole,
        intake.roster,
        _assignments(course, options.assignments),
        decisions,
        _earlier(options.never_lower),
        _counting_options(options),
        options.jobs or cores(),
        policy,
    )
    _print_other_options(screen, options)
    has_attempts = any(student.attempts for student in intake.students)
    if has_attempts and options.gradebook and policy is not Policy.LAST:
        raise UsageError(
            "nbgrader's gradebook shows the code of last attempts: --gradebook needs --policy last."
        )
    if not has_attempts and policy is not Policy.LAST:
        told = f"--policy {policy} has no effect: no student has more than one attempt."
        _print_line(screen, told, "yellow")
    with progress(screen) as watcher:
        return run.carry_out(_scheduler(options), watcher)


def _print_other_options(screen: Console, options: GradeOptions) -> None:
    """Say where the run before was with other options that decide what counts."""
    if not (options.out / STORE).is_file():
        return
    with Store.to_read(options.out) as store:
        before = store.options()
    if before is not None and before.options != _counting_options(options):
        none = "none of --policy, --times, --history and --never-lower"
        used = " ".join(one for one in before.options if one != ANONYMOUS) or none
        _print_line(screen, f"The previous run used different options: {used}.", "yellow")


def _counting_options(options: GradeOptions) -> tuple[str, ...]:
    """What was given of the options that decide what counts of what was handed in."""
    policy = () if options.policy == Policy.LAST else ("--policy", str(options.policy))
    given = {"--times": options.times, "--never-lower": options.never_lower}
    paths = [
        (option, str(path.resolve()))
        for option, path in given.items()
        if path is not None and options.anonymous is None  # a path may have a name
    ]
    history = ("--history",) if options.history else ()
    without_names = () if options.anonymous is None else (ANONYMOUS,)
    return (*policy, *chain(*paths), *history, *without_names)


def _earlier(folder: Path | None) -> Records | None:
    """The run whose scores are not to fall."""
    return open_records(folder) if folder is not None else None


def _results(out: Path, rows: Sequence[Row]) -> list[Result]:
    """The full results of some students, from what is written."""
    return results_of(open_records(out), [row.student for row in rows])


def _assignments(course: Course, named: tuple[str, ...]) -> tuple[str, ...]:
    """The ids of the assignments to grade, in course order; none where all are."""
    found = course.select(named).values() if named else ()
    return tuple(dict.fromkeys(exercise.assignment for exercise in found))


def _scheduler(options: GradeOptions) -> Grade:
    """Where students are graded: on a cluster, in worker processes, or in this process."""
    jobs, address = options.jobs or cores(), options.scheduler
    if address is not None:
        return partial(grade_on_cluster, address=address, jobs=jobs, pack=handed_in_as_data)
    return grade_here if jobs == 1 else partial(grade_locally, jobs=jobs)


def _undecided_lines(out: Path, undecided: Sequence[Row], intake: IntakeResult) -> list[str]:
    """Whose score is undecided, and why: by cause, and each file that cannot be read by name."""
    refused = {student.id: student.refused for student in intake.students}
    busy, failed, unread = list[str](), list[str](), list[str]()
    for row, result in zip(undecided, _results(out, undecided), strict=True):
        files = [f"{row.student}: {refused[row.student]}."] if refused.get(row.student) else []
        files += [f"{row.student}, {id_}: {note}" for id_, note in _unread(result)]
        unread += files
        if row.had_no_turn:
            busy.append(row.student)
        elif not files:
            failed.append(row.student)
    left = len(unread) - MOST_UNREAD
    more = [f"{left} more cannot be read: `notes` in {out / 'results'} say why."]
    return [
        *([f"UNDECIDED, the computer was busy: {', '.join(busy)}"] if busy else []),
        *(f"UNDECIDED, {line}" for line in unread[:MOST_UNREAD]),
        *(more if left > 0 else []),
        *([f"UNDECIDED, the grader failed: {', '.join(failed)}"] if failed else []),
    ]


def _unread(result: Result) -> Iterator[tuple[str, str]]:
    """The assignments whose file cannot be read, each with the sentence that says so."""
    failed = _("The grader itself failed: {reason}").partition("{")[0]
    for part in result.assignments:
        is_unread = part.score is None and not part.exercises
        if is_unread and part.notes and not part.notes[-1].startswith(failed):
            yield part.id, part.notes[-1]


def _print_coverage(screen: Console, result: ClassResult, out: Path) -> None:
    """Say whose results are older than this run, and whose were moved aside."""
    if result.covers.earlier:
        _print_line(screen, result.covers.sentence(result.rows), "yellow")
    if result.left:
        names = ", ".join(result.left)
        _print_line(
            screen, f"Not in this class any more: {names}. Their results are in {out / FORMER}."
        )


def _print_decisions(screen: Console, rows: Sequence[Row]) -> None:
    """Say how many results are not those of the checks alone."""
    count = sum(bool(row.decided) for row in rows)
    if count:
        who = "1 student has" if count == 1 else f"{count} students have"
        told = f"{who} a result with decisions: the column `decided` of scores.csv says which."
        _print_line(screen, told)
    lacking = [row.student for row in rows if any(d.startswith(NOT_RUN) for d in row.decided)]
    if lacking:
        told = (
            "A check that counts for nobody, or as passed, failed first for these, so that others "
            f"were not run: {', '.join(lacking)}. Mend the check and grade again."
        )
        _print_line(screen, told, "yellow")


def _print_open_attempts(screen: Console, result: ClassResult) -> None:
    """Name attempts that could not be judged, where another one counts."""
    for attempt in result.open_attempts[:MOST_NAMES]:
        told = f"UNDECIDED, this attempt could not be judged: {attempt}. Run the command again to grade it."
        _print_line(screen, told, "yellow")


def _print_gone(screen: Console, result: ClassResult) -> None:
    """Name who handed in work before that is not there any more."""
    by_assignment: dict[str, list[str]] = {}
    for student, id_ in result.gone:
        by_assignment.setdefault(id_, []).append(student)
    for id_, students in by_assignment.items():
        names = ", ".join(students[:MOST_NAMES])
        names += f" and {len(students) - MOST_NAMES} more" if len(students) > MOST_NAMES else ""
        told = f"{id_}: handed in before this run, and missing now: {names}."
        _print_line(screen, told, "yellow")


def _published(out: Path) -> Path | None:
    """What was published last of this folder, if anything was."""
    return last_published(out) if (out / STORE).is_file() else None


def _print_changes(screen: Console, result: ClassResult, out: Path, published: Path | None) -> None:
    """Say how many scores are not what they were before, and why."""
    why = {reason: count for reason, count in result.why.items() if reason != NEW_ASSIGNMENT}
    count = sum(why.values())
    if not count:
        return
    who = "1 student has another score" if count == 1 else f"{count} students have other scores"
    reasons = ", ".join(f"{reason} ({n})" for reason, n in sorted(why.items()))
    where = f"{out / SUMMARY} names them under `changed`"
    if published is not None:
        where = f"`grader compare {published} {out}` shows whose differ from what was published"
    _print_line(screen, f"{who} than before: {reasons}. {where}.", "yellow")


def _print_older_reports(screen: Console, result: ClassResult, options: GradeOptions) -> None:
    """Say which reports of an earlier run were moved aside and not made again."""
    older = options.out / FORMER / REPORTS
    if result.is_written and older.is_dir():
        kinds = {path.name for path in older.iterdir()} - {*options.reports}
        if kinds:
            again = " ".join(f"--report {kind}" for kind in sorted(kinds))
            told = f"Reports older than these results are in {older}; {again} makes new ones."
            _print_line(screen, told, "yellow")


def _print_line(screen: Console, line: str, style: str = "") -> None:
    screen.print(escaped(line), style=style, markup=False, soft_wrap=True)


def _print_class(screen: Console, result: ClassResult, notes: Sequence[str], out: Path) -> None:
    rows, course = result.rows, result.course
    due = course.due_at(datetime.now(UTC))
    so_far = None if due.assignments == course.assignments else due
    for note in notes:
        _print_line(screen, note)
    show = class_table if len(rows) <= MOST_ROWS else class_summary
    screen.print(show(rows, course.max_score, so_far))
    if gaps := gaps_line(course, rows):
        _print_line(screen, gaps)
    for defect in defect_lines(rows, out):
        _print_line(screen, defect, "yellow")
    isolations = {row.isolation for row in rows if row.isolation}
    if any("sealed" not in layers for layers in isolations):
        screen.print("[bold red]NOT SEALED:[/] student code could read files and use the network.")
    isolation = "; ".join(sorted(map(", ".join, isolations))) or "nothing was run"
    screen.print(f"Isolation: {isolation}. Results are in {out}.")


def _print_definitions(screen: Console, results: Sequence[Result]) -> None:
    """Say for each student which definitions count, from where, and what does not count."""
    for result in results:
        _print_line(screen, f"{result.student}:", "bold")
        for assignment in result.assignments:
            for exercise in assignment.exercises if assignment.read_from else ():
                at, where = exercise.defined, "not defined"
                if at is not None:
                    where = location_words(at.file, at.cell, at.line)
                _print_line(screen, f"  {exercise.id}: {where}")
            for line in assignment.ignored:
                _print_line(screen, f"  {assignment.id}: {line}", "yellow")


# nbgrader's gradebook; nbgrader itself is imported only here.


def _prepare_gradebook(course: Course, address: str, out: Path) -> None:
    """Open the gradebook and give it the course's structure, before anybody is graded."""
    try:
        from grader.gradebook.fill import prepare_gradebook
    except ModuleNotFoundError as error:
        raise UsageError(
            f"A gradebook needs nbgrader, and {error.name} is not installed. "
            f"Run: {installing('instructor')}."
        ) from error
    for note in prepare_gradebook(course, address, out / GRADEBOOK_FOLDER):
        _print_line(console(), note, "yellow")


def _fill_gradebook(
    course: Course, intake: IntakeResult, rows: Sequence[Row], options: GradeOptions, out: Console
) -> bool:
    """Write the class into the gradebook, if one was given; whether everybody is in it."""
    if not options.gradebook:
        return True
    from grader.gradebook.fill import fill_gradebook

    folder = options.out / GRADEBOOK_FOLDER
    mine = {student.id for student in intake.students}
    results = _results(options.out, [row for row in rows if row.student in mine])
    times = {row.student: row.submitted_at for row in rows}
    filled = fill_gradebook(
        course, intake.students, results, options.gradebook, folder, intake.roster, times
    )
    _print_line(
        out,
        f"nbgrader's gradebook has {filled.students} students. Its form grader opens in "
        f"{folder}: run `jupyter lab` there, then choose Nbgrader, Formgrader.",
    )
    for student, why in filled.failed.items():
        _print_line(out, f"NOT IN THE GRADEBOOK: {student}: {why}")
    return not filled.failed
