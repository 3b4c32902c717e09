"""`grader grade`: a class, all checks."""

from pathlib import Path

import click


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
@click.option("--seed", type=int, help="Draw the hidden inputs of an earlier run again.")
@click.option(
    "--isolation",
    type=click.Choice(["sealed", "process"]),
    default="sealed",
    show_default=True,
    help="How student code is kept apart; `process` is not sealed.",
)
def grade(
    submissions: Path, out: Path, roster: Path | None, seed: int | None, isolation: str
) -> None:
    """Grade SUBMISSIONS, a folder with one folder per student, by all checks.

    A student's folder holds a folder per assignment (<student>/<nn_assignment>/<file>), or the
    files flat, or one file or notebook that defines everything. A single file is a class of one.

    Exits with 0 when grading worked, whatever the scores; with 2 for a wrong command or course;
    with 3 when a score is undecided.
    """
    from grader.classroom import grade_class, read_class, write_outputs
    from grader.cli.render import class_table, console
    from grader.course import find_course, load_course
    from grader.sessions.launchers import default_launcher
    from grader.sessions.sealed import sealed_launcher

    course = load_course(find_course(Path.cwd()))
    students = read_class(submissions, roster, course.by_id)
    is_sealed = isolation == "sealed"
    launcher = sealed_launcher() if is_sealed else default_launcher()
    results = list(grade_class(course, students, launcher, seed))
    write_outputs(course, results, out)
    screen = console()
    screen.print(class_table(results, sum(a.max_score for a in course.assignments)))
    if not is_sealed:
        screen.print("[bold red]NOT SEALED:[/] student code could read files and use the network.")
    screen.print(f"Isolation: {', '.join(launcher.isolation)}. Results are in {out}.")
    undecided = [result.student for result in results if result.undecided]
    if undecided:
        screen.print(f"[bold magenta]UNDECIDED, the grader failed: {', '.join(undecided)}[/]")
    raise SystemExit(3 if undecided else 0)
