"""Every command with its options and its help.

A command imports the module that does its work when it runs, so that `grader --help` is quick.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from grader.cli.edge import (
    Done,
    ExitCode,
    cores,
    current_course,
    is_students_copy,
    lang_option,
    open_course,
)
from grader.cli.importing import import_
from grader.cli.new_commands import new, preview
from grader.cli.schema import schema
from grader.cli.show_command import show
from grader.cli.spoken_help import SpokenCommand, SpokenGroup
from grader.cli.streams import echo
from grader.cli.term_commands import compare, publish
from grader.core.kit import KIT_NAME
from grader.reports.registry import CHECK_REPORTS, GRADE_REPORTS

ANYTHING = click.Path(path_type=Path)
FOLDER = click.Path(path_type=Path, file_okay=False)
targets_argument = click.argument("targets", nargs=-1, metavar="[TARGET]...")
only_check_option = click.option(
    "--check", "only_check", is_flag=True, help="Write nothing; exit 1 if any is stale."
)


@click.group(
    cls=SpokenGroup,
    epilog="Instructors: `grader grade SUBMISSIONS --out DIR` grades a class.",
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.option("--traceback", is_flag=True, help="Show where in the code an error was raised.")
@click.version_option(package_name=KIT_NAME, prog_name="grader")
@click.pass_context
def cli(ctx: click.Context, traceback: bool) -> None:
    """Exercises with checks that name your mistake.

    Students: `grader watch` checks your work each time you save; `grader check` checks it once,
    `grader status` shows where you are, `grader hint` helps, `grader pack` writes what you hand in.
    """
    del traceback  # the group's error handling reads it
    if ctx.invoked_subcommand is None:
        from grader.cli.status import newcomer

        words = newcomer()
        echo(words or ctx.get_help())
        ctx.exit(ExitCode.FINE if words else ExitCode.USAGE_OR_COURSE_ERROR)


# For students.


@cli.command(cls=SpokenCommand)
@targets_argument
@click.option(
    "--submission", type=ANYTHING, help="A folder or file with your work.  [default: assignments/]"
)
@click.option("--format", "format_", type=click.Choice(["text", "json"]), default="text")
@click.option("--verbose", is_flag=True, help="Show all that every check says.")
@click.option("--debug", is_flag=True, help="Run in this process: print and breakpoint() work.")
@click.option(
    "--as-graded",
    is_flag=True,
    help="Run only what `grader pack` would hand in, as it will be graded: sealed where possible.",
)
@click.option(
    "--report",
    "reports",
    type=click.Choice(CHECK_REPORTS),
    multiple=True,
    help="Also report in a platform's own form; may be given more than once.",
)
@lang_option
def check(lang: str | None, **options: Any) -> None:
    """Run the visible checks on your work.

    TARGET is an assignment (02_lists, or 02), an exercise (02_lists/merge, or merge where that is
    unique), or nothing for all.

    Exits with 0 when all passed, 1 when not (or when a protected file of the repository is not
    as it was released), 2 for a wrong command or course, 3 when the grader itself failed.
    """
    from grader.cli.check import CheckOptions, run_check

    raise Done(run_check(open_course(lang), CheckOptions(**options)))


@cli.command(cls=SpokenCommand)
@targets_argument
@lang_option
def watch(targets: tuple[str, ...], lang: str | None) -> None:
    """Check your work each time you save a file in assignments/.

    TARGET is an assignment or an exercise, as for `grader check`; nothing means all. The next
    exercise that is not solved is chosen by itself. Keys: h shows the next hint, n goes to the
    next exercise, a shows everything about the assignment, q quits.
    """
    from grader.cli.watch import run_watch

    run_watch(open_course(lang), targets)


@cli.command(cls=SpokenCommand)
@targets_argument
@click.option("--all", "everything", is_flag=True, help="Show every exercise.")
@click.option("--again", is_flag=True, help="Check everything anew, also what has not changed.")
@lang_option
def status(targets: tuple[str, ...], everything: bool, again: bool, lang: str | None) -> None:
    """Show where you are in the course: points, what is done, what comes next.

    TARGET is an assignment or an exercise, as for `grader check`; nothing means all. Only what
    changed since it was last checked is checked again. The points are those of the visible checks.
    """
    from grader.cli.status import run_status

    run_status(open_course(lang), targets, everything=everything, again=again)


@cli.command(cls=SpokenCommand)
@click.argument("exercise")
@click.option("--again", is_flag=True, help="Show the last one once more.")
@click.option("--all", "everything", is_flag=True, help="Show every hint.")
@click.option("--restart", is_flag=True, help="Begin with the first hint again.")
@lang_option
def hint(exercise: str, lang: str | None, **options: bool) -> None:
    """Show the next hint for EXERCISE.

    Where the last check named a mistake, its question comes first. Then hints climb: a question,
    then where to look; the last points at the equation.
    """
    from grader.cli.hint import run_hint

    run_hint(open_course(lang), exercise, **options)


@cli.command(cls=SpokenCommand)
@click.argument("target")
@click.option(
    "--answer",
    "numbers",
    type=int,
    multiple=True,
    metavar="NUMBER",
    help="The choice that you predict; given once for each prediction of TARGET.",
)
@lang_option
def predict(target: str, numbers: tuple[int, ...], lang: str | None) -> None:
    """Predict what your code will do, and have it answer once it is written.

    TARGET is an assignment or an exercise, as for `grader check`. A prediction is never worth
    points. What you said is remembered; when the exercise is solved, this shows it again, with what
    your own code says and why.
    """
    from grader.cli.predict import run_predict

    run_predict(open_course(lang), target, numbers)


@cli.command(cls=SpokenCommand)
@click.argument("exercise")
@lang_option
def styles(exercise: str, lang: str | None) -> None:
    """Show other right ways to write EXERCISE, once it is solved.

    Each earns full marks, with a sentence that says why it does the same.
    """
    from grader.cli.styles import run_styles

    run_styles(open_course(lang), exercise)


@cli.command(cls=SpokenCommand)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("submission.zip"),
    show_default=True,
    help="The file to write.",
)
@lang_option
def pack(out: Path, lang: str | None) -> None:
    """Write the one file that you hand in, and print a receipt.

    It holds the file that counts for each assignment that you have begun. That is run once more,
    as it will be graded; the receipt shows which file counts, the points that the visible checks
    see, and the zip's hash.

    Exits with 0; with 2 when nothing has been begun; with 3 when the grader itself failed.
    """
    from grader.cli.pack import run_pack

    raise Done(run_pack(open_course(lang), out))


# For instructors.


@cli.command()
@click.argument("submissions", type=ANYTHING)
@click.option(
    "--out",
    type=FOLDER,
    required=True,
    help="The folder for results, feedback, scores.csv and summary.json.",
)
@click.option(
    "--roster",
    type=click.Path(path_type=Path, dir_okay=False),
    help="A CSV with a column `student`; who is on it and handed in nothing is listed as such.",
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
    "--verbose",
    is_flag=True,
    help="Say for each student which definitions count, from where, and what does not count.",
)
@click.option(
    "--report",
    "reports",
    type=click.Choice(GRADE_REPORTS),
    multiple=True,
    help="Also report in a platform's own form, in DIR/reports/NAME/; scores.csv is always there.",
)
@click.option(
    "--decisions",
    type=ANYTHING,
    metavar="FILE",
    help="What was decided about students: extensions, overrides …  [default: decisions.toml of the course]",
)
@click.option(
    "--never-lower",
    type=FOLDER,
    metavar="OLD",
    help="Keep the score of an earlier run's folder in each assignment where it is higher.",
)
@click.option(
    "--times",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="When students handed in: Canvas's submissions (JSON), Moodle's worksheet, or a CSV.",
)
@click.option(
    "--policy",
    type=click.Choice(["last", "best", "best-per-exercise", "last-in-time"]),
    default="last",
    show_default=True,
    help="Which attempt counts where students have several, for each assignment.",
)
@click.option(
    "--history",
    is_flag=True,
    help="Take each commit of cloned repositories that changes the work as an attempt.",
)
@click.option(
    "--anonymous",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="KEYFILE",
    help="Write numbers in place of students' names; KEYFILE (CSV) says who is who.",
)
@click.option(
    "--gradebook",
    metavar="URL",
    help="Write into nbgrader's gradebook too: a path (SQLite) or postgresql://USER@HOST/NAME.",
)
@lang_option
def grade(lang: str | None, **options: Any) -> None:
    """Grade SUBMISSIONS, a folder with one folder per student, by all checks.

    A student's folder holds a folder per assignment (<student>/<nn_assignment>/<file>), or the
    files flat, or one file or notebook that defines everything. A single file is a class of one.
    A folder of cloned repositories (<assignment>-<login>) and the zip that Canvas or Moodle
    gives for a whole class are read as they are.

    Each student is written to --out as soon as they are graded. A run that was interrupted goes
    on where it stopped when the same command is given again. A student who handed in nothing new
    is graded again only in assignments whose checks, solutions or known mistakes changed, or when
    limits, the grader, torch or --seed changed. Points, due dates, weights and words change scores
    without that. Outcomes of the last three states of each assignment stay in --out, so that
    undoing a change grades nobody.

    A student's folder may hold folders named after times instead, and nbgrader's inbound folder is
    read as it is: these are attempts, each is graded once, and --policy says which counts.

    Extensions, late days, exemptions, overrides and what was decided about checks stand in
    decisions.toml beside course.toml. Changing it changes scores and runs no code.

    With --assignment, results have the assignments that were graded into --out so far: others keep
    their earlier results, and points are out of what was graded.

    Exits with 0 when grading worked, whatever the scores; with 2 for a wrong command or course;
    with 3 when a score is undecided; with 130 when interrupted.
    """
    from grader.cli.grade import GradeOptions, run_grade

    raise SystemExit(run_grade(open_course(lang), GradeOptions(**options)))


@cli.command()
@click.argument("student", required=False)
@click.argument("exercise", required=False)
@click.option(
    "--run", type=FOLDER, required=True, help="The folder that `grader grade --out` wrote."
)
@click.option(
    "--submissions", type=ANYTHING, help="What the class handed in, to show the code as well."
)
@click.option(
    "--requests",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="List what students ask to be looked at again, and how each request stands.",
)
@click.option("--again", is_flag=True, help="Grade it once more, with the run's own seed.")
@click.option("--format", "format_", type=click.Choice(["text", "json"]), default="text")
def explain(
    student: str | None, exercise: str | None, requests: Path | None, **options: Any
) -> None:
    """Show everything about one score: STUDENT's for EXERCISE.

    The code with its lines, how each check ended and what it says, known mistakes, isolation, seed
    and versions.

    With --requests, a CSV with columns student, exercise and why, or GitHub's issues as `gh issue
    list --json author,body` prints them, neither is given.

    Exits with 0; with 1 when --again comes to another result.
    """
    from grader.cli.explain import ExplainOptions, run_explain
    from grader.cli.requests import run_requests

    if requests is not None and student is None:
        run, format_ = options["run"], options["format_"]
        raise SystemExit(run_requests(current_course(), run, requests, format_))
    if requests is not None or student is None or exercise is None:
        raise click.UsageError("Give STUDENT and EXERCISE, or --requests FILE alone.")
    raise SystemExit(run_explain(current_course(), ExplainOptions(student, exercise, **options)))


@cli.command()
@click.argument("run", type=FOLDER)
@click.option("--submissions", type=ANYTHING, required=True, help="What the class handed in.")
@click.option(
    "--archive", "archives", type=ANYTHING, multiple=True, help="What an earlier class handed in."
)
@click.option("--ignore", type=ANYTHING, help="Who may work together: a group a line, by commas.")
@click.option("--first", type=click.IntRange(min=1), default=40, show_default=True, help="Pairs.")
@click.option("--html", type=ANYTHING, help="Write them to a page, side by side.")
@click.option("--export", type=FOLDER, help="Write everybody's own lines for dolos or JPlag.")
@click.option("--format", "format_", type=click.Choice(["text", "json"]), default="text")
def similar(**options: Any) -> None:
    """Show who shares what hardly anybody else has, in the class of RUN.

    Comments, names, strings, cells that students added, and wrong values that no known mistake
    explains. Texts and results are compared; no student code is run. It is evidence to look at,
    never proof, and nothing of it reaches a student's page.
    """
    from grader.cli.similar import SimilarOptions, run_similar

    raise SystemExit(run_similar(current_course(), SimilarOptions(**options)))


@cli.command(cls=SpokenCommand)
@lang_option
def doctor(lang: str | None) -> None:
    """Show whether all that is needed works here.

    In a student's copy: Python, torch, the copy's files, notebooks. Elsewhere: versions, and which
    layers of isolation really hold, by trying them.

    Exits with 0 when all is well (elsewhere: when student code can be sealed), with 1 when not.
    """
    from grader.cli.doctor import run_doctor, run_students_doctor

    raise SystemExit(run_students_doctor(open_course(lang)) if is_students_copy() else run_doctor())


@cli.command(hidden=True)
@click.option(
    "--root",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    default=Path("/autograder"),
    show_default=True,
    help="Gradescope's folder, with `submission` in it.",
)
def gradescope(root: Path) -> None:
    """Grade `submission` by all checks and write `results/results.json`.

    Exits with 0; or with 3, and without that file, when the grader itself failed: Gradescope then
    gives no score.
    """
    from grader.cli.gradescope import run_gradescope

    raise SystemExit(run_gradescope(current_course(), root))


@cli.command()
@click.argument("student")
@click.argument("exercise")
@click.option("--submissions", type=ANYTHING, required=True, help="What the class handed in.")
@click.option("--id", "id_", default="", help="The mistake's name, like scores-not-scaled.")
@click.option("--kind", type=click.Choice(["slip", "step", "idea"]), help="How grave it is.")
@click.option("--symptom", default="", help="What goes wrong, in a sentence.")
@click.option("--question", default="", help="A question that leads out of it.")
@click.option("--yes", is_flag=True, help="Run it without asking: the edit was read before.")
def learn(**options: Any) -> None:
    """Make a known mistake of what STUDENT wrote for EXERCISE.

    The edit of the solution is worked out and shown; its words are asked for, and whether to run it:
    it is a student's code, and runs sealed. It is kept when `grader validate` proves that it is caught
    and named. What uses more than the solution, numbers and tensors is refused.
    """
    from grader.cli.learn import LearnOptions, run_learn

    raise SystemExit(run_learn(current_course(), LearnOptions(**options)))


# For authors.


@cli.command()
@only_check_option
def generate(only_check: bool) -> None:
    """Write stubs and notebooks anew from the solutions."""
    from grader.cli.author import run_generate

    raise SystemExit(run_generate(current_course(), only_check=only_check))


@cli.command()
@only_check_option
def catalogues(only_check: bool) -> None:
    """Bring the catalogues of translations up to date, and compile them."""
    from grader.cli.author import run_catalogues

    raise SystemExit(run_catalogues(current_course(), only_check=only_check))


@cli.command()
@click.argument("dest", type=FOLDER)
@click.option(
    "--to",
    "audience",
    type=click.Choice(["students", "nbgrader", "github", "gradescope"]),
    required=True,
    help="A copy for students, a course folder for nbgrader, a student repository with a workflow, or an autograder's zip.",
)
@click.option(
    "--lang",
    metavar="CODE",
    help="Stubs, notebooks and README in the language of this code.  [default: the course's, or en]",
)
def release(dest: Path, audience: str, lang: str | None) -> None:
    """Write into DEST what students or a platform receive.

    Nothing for students has a solution or a hidden check in it. The zip for Gradescope has both,
    because it grades there: upload it as the autograder and give it to nobody else.

    For nbgrader it is the instructor's course folder: its source notebooks hold the solutions, and
    `nbgrader generate_assignment` makes from them what students receive.

    Exits with 0, or with 2 when the course is not ready or DEST is not empty.
    """
    from grader.cli.author import run_release
    from grader.core.language import resolve

    course = current_course()
    if lang:
        course = replace(course, language=resolve(lang, more=course.languages))
    run_release(course, dest, audience)


@cli.command()
@targets_argument
@click.option(
    "--verbose",
    is_flag=True,
    help="Print also what each known mistake leaves of the points.",
)
@click.option(
    "--translations",
    is_flag=True,
    help="Count what is still to be translated as a fault; else it is a warning.",
)
@click.option("--watch", "watching", is_flag=True, help="Do it again whenever a file is saved.")
def validate(targets: tuple[str, ...], verbose: bool, translations: bool, watching: bool) -> None:
    """Prove that the course keeps its promises.

    TARGET is an assignment or an exercise, as for `grader check`: only its checks are run. Nothing
    means all: the whole proof.

    Every stub earns 0, every solution earns full marks, every misconception loses points and is
    recognised by its own name, every printed tensor of the ledger is covered, and no release gives
    a solution away. Code that knows nothing earns next to nothing, and a recognised mistake leaves
    what its kind says. What is still to be translated is a warning. Exits with 0, or with 1
    and every fault.
    """
    from grader.cli.author import run_validate

    if watching:
        from grader.cli.validate_watch import run_validate_watch

        run_validate_watch(current_course(), targets, verbose=verbose, translations=translations)
        return
    raise SystemExit(
        run_validate(current_course(), targets, verbose=verbose, translations=translations)
    )


@cli.command()
@targets_argument
@click.option(
    "-j",
    "--jobs",
    type=click.IntRange(min=1),
    help="How many processes try the mutants; one per core unless said.",
)
@click.option(
    "--verbose",
    is_flag=True,
    help="List also what is caught and not named, remarked upon, or equivalent.",
)
def mutate(targets: tuple[str, ...], jobs: int | None, verbose: bool) -> None:
    """Try the checks on mechanical wrong answers, small edits of the solutions.

    TARGET is an assignment or an exercise, as for `grader check`; nothing means all. An edit is
    caught when a check that carries weight does not pass, named when a known mistake is recognised
    in it, remarked upon when only a remark says it, and equivalent when everything that the checks
    ask for is the same, also with other seeds and other inputs. What is none of these survives.

    solutions/ASSIGNMENT/equivalent.toml lists survivors that are right all the same: `exercise`,
    `old`, `new` and the `reason` of each [[equivalent]].

    Exits with 0; with 1 when an edit survives or breaks a check, or one is listed for nothing.
    """
    from grader.cli.author import run_mutate

    raise SystemExit(run_mutate(current_course(), targets, jobs=jobs or cores(), verbose=verbose))


for command in (compare, publish, show):
    cli.add_command(command)
cli.add_command(new)
cli.add_command(preview)
cli.add_command(import_)
cli.add_command(schema)
