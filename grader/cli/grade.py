"""`grader grade`: a class, all checks."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import click

from grader.classes.deciding import Policy
from grader.classes.decisions import class_decisions
from grader.classes.process_pool import grade_locally
from grader.classes.records import (
    PUBLISHED,
    REPORTS,
    earlier_options,
    last_published,
    open_records,
    require_names,
    require_numbers,
)
from grader.classes.rows import Row
from grader.classes.run import ClassRun, Grade, Watcher, grade_here, handed_in_as_data
from grader.classes.store import ANONYMOUS
from grader.cli.class_output import (
    MOST_LINES,
    Said,
    class_lines,
    group_notes,
    print_class,
    print_definitions,
    print_line,
    print_lines,
    row_results,
    run_lines,
    undecided_lines,
)
from grader.cli.options_before import other_options
from grader.cli.progress import progress
from grader.cli.publish import published as published_now
from grader.cli.settings import settings_option
from grader.cli.shared import (
    ANYTHING,
    FILE,
    FOLDER,
    ExitCode,
    cores,
    course_option,
    ended_like_ctrl_c,
)
from grader.cli.view import console
from grader.core.entry_points import entries, load, of_address
from grader.core.errors import UsageError
from grader.core.text import escaped
from grader.course.course import Course
from grader.intake.anonymous import anonymous as numbered
from grader.intake.anonymous import read_keys
from grader.intake.folders import STORE
from grader.intake.read import IntakeResult, read_submissions
from grader.intake.times import with_times
from grader.reports.base import OF_GRADE, GradedClass, graded

GRADEBOOKS = "grader.gradebooks"
FAILED = "bold magenta"
"""The style of lines about what could not be decided or written; a run with such lines exits with 3."""
OTHER_LINES = 7
"""Lines of `MOST_LINES` for the rest: changed options 1, what is graded again 1, progress 2, the class 3."""


@click.command()
@click.argument("submissions", type=ANYTHING, required=False)
@click.option(
    "--out",
    type=FOLDER,
    help="The folder for results, feedback, scores.csv and summary.json.",
)
@click.option(
    "--roster",
    type=FILE,
    help="A CSV with a column `student`; students on it without a submission are listed as well.",
)
@click.option(
    "--assignment",
    "assignments",
    multiple=True,
    metavar="TARGET",
    help="Grade only this one, like 03, out of its own points; may be given more than once.",
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
    help="How many students are graded at a time.  [default: one per core]",
)
@click.option(
    "--scheduler",
    metavar="ADDRESS|local",
    help="Grade on the workers of a dask scheduler, or of a cluster made on this machine.",
)
@click.option(
    "--force", is_flag=True, help="Grade everybody again, also students without new work."
)
@click.option("--quiet", is_flag=True, help="Print nothing but errors.")
@click.option(
    "--table", is_flag=True, help="Show everybody's score and what happened, in any class."
)
@click.option(
    "--verbose",
    is_flag=True,
    help="Show for each student which definitions count, from where, and what is ignored.",
)
@click.option(
    "--report",
    "reports",
    type=click.Choice([*entries(OF_GRADE)]),
    multiple=True,
    help="Also report in a platform's own form, in DIR/reports/NAME/; scores.csv is always there.",
)
@click.option(
    "--decisions",
    type=ANYTHING,
    metavar="FILE",
    help="Decisions about students: extensions, overrides …  [default: decisions.toml of the course]",
)
@click.option(
    "--never-lower",
    type=FOLDER,
    metavar="OLD",
    help="Keep the score of an earlier run's folder, or of what was `published` last, where it is "
    "higher in an assignment.",
)
@click.option(
    "--times",
    type=FILE,
    metavar="FILE",
    help="When students handed in: Canvas's submissions (JSON), Moodle's worksheet, or a CSV.",
)
@click.option(
    "--policy",
    type=click.Choice(["last", "best", "best-per-exercise", "last-in-time"]),
    default="last",
    help="Which attempt counts where students have several, for each assignment.  [default: last]",
)
@click.option(
    "--history",
    is_flag=True,
    help="Take each commit of cloned repositories that changes the work as an attempt.",
)
@click.option(
    "--publish",
    is_flag=True,
    help="Then keep it as students receive it, as `grader publish` does, unless a score is undecided.",
)
@click.option(
    "--anonymous",
    type=FILE,
    metavar="KEYFILE",
    help="Write numbers in place of students' names; KEYFILE (CSV) says who is who.",
)
@click.option(
    "--gradebook",
    metavar="URL",
    help="Write into nbgrader's gradebook too: a path (SQLite) or postgresql://USER@HOST/NAME.",
)
@settings_option
@course_option
def grade(
    course: Course,
    submissions: Path,
    *,
    out: Path,
    roster: Path | None,
    assignments: tuple[str, ...],
    seed: int | None,
    isolation: str,
    jobs: int | None,
    scheduler: str | None,
    force: bool,
    quiet: bool,
    table: bool,
    verbose: bool,
    reports: tuple[str, ...],
    decisions: Path | None,
    never_lower: Path | None,
    times: Path | None,
    policy: str,
    history: bool,
    publish: bool,
    anonymous: Path | None,
    gradebook: str | None,
) -> ExitCode:
    """Grade SUBMISSIONS, a folder with one folder per student, by all checks.

    A student's folder holds a folder per assignment (<student>/<nn_assignment>/<file>), or the
    files flat, or one file or notebook that defines everything. A single file is a class of one.
    A folder of cloned repositories (<assignment>-<login>) and the zip that Canvas or Moodle
    gives for a whole class are read as they are.

    What is the same each week stands in course.toml under [grade]: submissions, out, roster, times,
    policy, history, never_lower, reports and assignments. Options override it.

    What the checks found is kept in --out as soon as a student is graded; scores and pages are
    written at the end. A run that was interrupted goes on where it stopped when the same command
    is given again. A student who handed in nothing new
    is graded again only in assignments whose checks, solutions or known mistakes changed, or when
    limits, the grader, torch or --seed changed. Points, due dates, weights and words change scores
    without that. What the checks found before a change stays in --out for 20 runs, so that undoing
    the change grades nobody.

    A student's folder may hold folders named after times instead, and nbgrader's inbound folder is
    read as it is: these are attempts, each is graded once, and --policy says which counts.

    Extensions, late days, exemptions, overrides and what was decided about checks stand in
    decisions.toml beside course.toml. Changing it changes scores and runs no code.

    With --assignment, results have the assignments that were graded into --out so far: others keep
    their earlier results, and points are out of what was graded.

    Exits with 0 when grading worked, whatever the scores; with 2 for a wrong command or course;
    with 3 when a score is undecided; with 130 when interrupted.
    """
    screen = console(quiet=quiet)
    if out.resolve() == submissions.resolve():
        raise UsageError(f"{out} holds the submissions; give another --out.")
    if anonymous is not None and out.resolve() in anonymous.resolve().parents:
        raise UsageError(f"{anonymous} says who is who: keep it outside {out}.")
    if gradebook:
        book = of_address(GRADEBOOKS, gradebook, "nbgrader")
        for note in load(book).prepare(course, gradebook, out / book.name):
            print_line(console(), note, "yellow")
    if never_lower == Path(PUBLISHED) and not never_lower.exists():
        never_lower = last_published(out) if (out / STORE).is_file() else None
    if seed is None and anonymous is not None and course.grade.out and not (out / STORE).is_file():
        run_with_names = earlier_options(course.root / course.grade.out)
        seed = int(run_with_names.seed) if run_with_names else None  # the same scores
    paths = {"--roster": roster, "--times": times, "--never-lower": never_lower}
    counting = _counting_options(policy, paths, history=history, anonymous=anonymous is not None)
    exercises = course.select(assignments).values() if assignments else ()
    try:
        with (
            ended_like_ctrl_c(),
            read_submissions(course, submissions, roster, history=history) as arrived,
        ):
            intake = with_times(course, arrived, times)
            decided = class_decisions(
                course,
                decisions,
                intake,
                has_roster=roster is not None,
                out=out,
                former=() if anonymous is None else read_keys(anonymous),
            )
            if anonymous is None:
                require_names(out)
            else:
                intake, numbers = numbered(intake, anonymous)
                decided = decided.renamed(numbers)
                require_numbers(out, "out", numbers)
                if never_lower is not None:
                    require_numbers(never_lower, "never-lower", numbers)
            intake = replace(intake, roster=decided.labelled(intake.roster))
            published = last_published(out) if (out / STORE).is_file() else None
            run = ClassRun(
                course,
                intake.students,
                out,
                isolation,
                None if seed is None else str(seed),
                force,
                intake.is_whole,
                intake.roster,
                tuple(dict.fromkeys(exercise.assignment for exercise in exercises)),
                decided,
                None if never_lower is None else open_records(never_lower),
                counting,
                jobs or cores(),
                Policy(policy),
            )
            before = earlier_options(out)
            if before is not None and (line := other_options(before.options, counting)):
                print_line(screen, line, "yellow")
            problems = *_course_problems(course), *_without_effect(intake, run.policy, gradebook)
            with progress(screen) as watcher:
                where = _scheduler(scheduler, jobs or cores(), watcher)
                result = run.carry_out(where, watcher)
            rows = result.rows
            if reports:
                results, now = row_results(out, rows), datetime.now(UTC)
                covers = result.covers.sentence(rows)
                whole = GradedClass(
                    result.course, results, dict(os.environ), now, intake.roster, covers
                )
                for file in graded(reports, whole):
                    file.write(out / REPORTS)
            filled = _fill_gradebook(run, rows, gradebook) if gradebook else ()
            undecided = [row for row in rows if row.undecided]
            open_lines = undecided_lines(out, undecided, intake)
            print_class(screen, result, out, as_table=table)
            if verbose:
                print_definitions(screen, row_results(out, rows))
            more = run_lines(result, out, published, reports)
            if publish:
                what = ["Not published: a score is undecided."] if undecided else published_now(out)
                filled = [*filled, *((line, "") for line in what)]
            is_nbgraders = bool(gradebook) or (submissions.parent / "nbgrader_config.py").is_file()
            notes = [*group_notes(result.course, rows, decided.groups), *intake.notes]
            said = class_lines(result, notes, out, is_nbgraders=is_nbgraders)
            lines = [*filled, *more, *problems, *said]
            # All of them where names are hidden: the file of what has no room would have some.
            room = len(lines) if anonymous else MOST_LINES - OTHER_LINES - len(open_lines)
            print_lines(screen, lines, room, out)
    except KeyboardInterrupt:
        line = f"Interrupted. Who is graded is in {out}; the same command goes on from there."
        screen.print(line)
        return ExitCode.INTERRUPTED
    for line in open_lines:
        print_line(screen, line, FAILED)
        if quiet:
            click.echo(escaped(line), err=True)
    is_open = bool(undecided) or any(style == FAILED for _line, style in filled)
    return ExitCode.GRADERS_FAULT if is_open else ExitCode.FINE


def _course_problems(course: Course) -> Iterator[tuple[str, str]]:
    """What is wrong with the course, and stops nobody."""
    if course.points_problem:
        yield f"{course.points_problem}.", "yellow"
    names = [n for n in course.limits.packages if find_spec(n.partition(".")[0]) is None]
    if names:
        verb = "is" if len(names) == 1 else "are"
        yield f"{', '.join(names)} of course.toml's packages {verb} not installed here.", "yellow"


def _without_effect(intake: IntakeResult, policy: Policy, gradebook: str | None) -> Said:
    """Refuse a policy that the gradebook cannot show, and say where one has no effect.

    Raises:
        UsageError: for a gradebook, where another attempt than the last may count.
    """
    if policy is Policy.LAST:
        return ()
    if not any(student.attempts for student in intake.students):
        return [
            (f"--policy {policy} has no effect: no student has more than one attempt.", "yellow")
        ]
    if gradebook:
        raise UsageError(
            "nbgrader's gradebook shows the code of last attempts: --gradebook needs --policy last."
        )
    return ()


def _counting_options(
    policy: str, paths: Mapping[str, Path | None], *, history: bool, anonymous: bool
) -> tuple[str, ...]:
    """What was given of the options that decide what counts of what was handed in."""
    counting = [] if policy == Policy.LAST else ["--policy", str(policy)]
    for option, path in paths.items():
        if path is not None and not anonymous:  # a path may have a name
            counting += [option, str(path.resolve())]
    return (*counting, *["--history"] * history, *[ANONYMOUS] * anonymous)


def _scheduler(address: str | None, jobs: int, watcher: Watcher) -> Grade:
    """Where students are graded: on a cluster, in worker processes, or in this process."""
    if address is not None:
        cluster = load(of_address("grader.schedulers", address, "dask"))
        return partial(cluster, address=address, jobs=jobs, pack=handed_in_as_data)
    if jobs == 1:
        return partial(grade_here, says=watcher.prepares)
    return partial(grade_locally, jobs=jobs, says=watcher.prepares)


def _fill_gradebook(run: ClassRun, rows: Sequence[Row], address: str) -> Said:
    """Write the class into the gradebook; what there is to say, and who is not in it."""
    book = of_address(GRADEBOOKS, address, "nbgrader")
    graded_now = {student.id for student in run.students}
    results = row_results(run.out, [row for row in rows if row.student in graded_now])
    times = {row.student: row.submitted_at for row in rows}
    work = run.course, run.students, results
    filled = load(book).fill(*work, address, run.out / book.name, run.roster, times)
    failed = [f"NOT IN THE GRADEBOOK: {name}: {why}" for name, why in filled.failed.items()]
    return [(filled.note, ""), *((line, FAILED) for line in failed)]
