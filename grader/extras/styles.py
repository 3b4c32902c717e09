"""`grader styles`: other right ways to write what is solved, and the line that leads to them."""

from collections.abc import Iterator
from pathlib import Path

import click
from rich.text import Text

from grader.cli.help import SpokenCommand
from grader.cli.hint import COLUMNS, only_exercise
from grader.cli.shared import ExitCode, course_option, echo
from grader.core.errors import GraderError
from grader.core.language import _, listed
from grader.core.text import filled
from grader.course.course import Course, Exercise
from grader.course.styles import Style, read_styles
from grader.judging.recordings import read_recording
from grader.progress.progress import read_progress
from grader.progress.solved import Shown, Solved
from grader.progress.store import Memory


@click.command(cls=SpokenCommand)
@click.argument("exercise")
@course_option
def styles(course: Course, exercise: str) -> ExitCode:
    """Show other right ways to write EXERCISE, once it is solved.

    Each earns full marks, with a sentence that says why it does the same.
    """
    named = only_exercise(course, exercise)
    is_solved = is_solved_now(course, named)
    echo(styles_text(course, named) if is_solved else later(named))
    return ExitCode.FINE if is_solved else ExitCode.NOT_PASSED


def styles_of(course: Course, exercise: Exercise) -> tuple[Style, ...]:
    """The styles of an exercise: from the author's file, or from the recording.

    Raises:
        CourseError: when the file has a problem.
    """
    assignment = course.by_id[exercise.assignment]
    if course.has_solutions:
        found = read_styles(course, assignment)
    else:
        found = read_recording(course.paths(assignment).recording).styles
    return found.get(exercise.name, ())


def is_solved_now(course: Course, exercise: Exercise) -> bool:
    """Whether an exercise is solved in the work as it is; it is checked where that is not known.

    Raises:
        UsageError: when there is no folder of work.
        GraderFault: when the grader itself fails.
    """
    now = read_progress(course, Memory(course.root))
    if now.unknown([exercise]) and not now.submission.is_empty:
        from grader.progress.live_checks import checked  # imports torch

        now = checked(now, [exercise])
    return now.is_solved(exercise)


def styles_text(course: Course, exercise: Exercise) -> str:
    """All right ways to write an exercise that are written down, or that there are none."""
    styles = styles_of(course, exercise)
    if not styles:
        return _("For {exercise} no other ways are written down.").format(exercise=exercise.id)
    head = _("{exercise} can be written in these ways; each has full marks:")
    parts = [head.format(exercise=exercise.id), *(_style_text(course, one) for one in styles)]
    return "\n\n".join(parts)


def _style_text(course: Course, style: Style) -> str:
    code = [f"      {line}".rstrip() for line in style.code.splitlines()]
    why = filled(course.text(style.why), COLUMNS, "    ", "    ")
    return "\n".join([f"  {course.text(style.name)}", "", *code, "", *why])


def later(exercise: Exercise) -> str:
    """What is said while an exercise is not solved."""
    sentence = _(
        "{exercise} is not solved yet. Other ways to write it are shown once all its visible "
        "checks pass."
    )
    return "\n".join(filled(sentence.format(exercise=exercise.id), COLUMNS))


def after(solved: Solved) -> Iterator[Shown]:
    """A line that leads from what was just solved to other ways to write it."""
    course = solved.course
    names = [course.name_of(e) for e in solved.exercises if styles_of(course, e)]
    command = "grader styles {}"
    if solved.place == "notebook":
        command = 'from grader.notebook import styles; styles("{}")'
    if names:
        commands = listed(f"`{command.format(name)}`" for name in names)
        line = _("Other right ways to write it: {commands}").format(commands=commands)
        yield Shown(Text(line, "dim"))


def cell(name: str) -> None:
    """Print other right ways to write an exercise that this notebook has solved.

    Args:
        name: the exercise's name or id.
    """
    from grader import notebook

    try:
        course = notebook.course_here(Path.cwd())
        exercise = only_exercise(course, name)
        echo(styles_text(course, exercise) if exercise.id in notebook.solved else later(exercise))
    except GraderError as error:
        echo(str(error))
