"""`grader styles`: other right ways to write what is solved, and the line that leads to them."""

from collections.abc import Iterable

import click

from grader.cli.help import SpokenCommand
from grader.cli.hint import COLUMNS, hint_name, only_exercise
from grader.cli.shared import course_option, echo
from grader.core.language import _, listed
from grader.core.text import filled
from grader.course.course import Course, Exercise
from grader.course.styles import Style
from grader.progress.next_hint import is_solved_now, styles_of


@click.command(cls=SpokenCommand)
@click.argument("exercise")
@course_option
def styles(course: Course, exercise: str) -> None:
    """Show other right ways to write EXERCISE, once it is solved.

    Each earns full marks, with a sentence that says why it does the same.
    """
    named = only_exercise(course, exercise)
    echo(styles_text(course, named) if is_solved_now(course, named) else later(named))


def styles_text(course: Course, exercise: Exercise) -> str:
    """All right ways to write an exercise that are written down, or that there are none."""
    styles = styles_of(course, exercise)
    if not styles:
        sentence = _("For {exercise} no other ways are written down.")
        return sentence.format(exercise=exercise.id)
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


def styles_line(course: Course, solved: Iterable[Exercise]) -> str:
    """A line that leads from what was just solved to other ways to write it; "" for none.

    Args:
        course: the course.
        solved: what was not solved before.
    """
    having = [exercise for exercise in solved if styles_of(course, exercise)]
    if not having:
        return ""
    commands = (f"`grader styles {hint_name(course, exercise.id)}`" for exercise in having)
    return _("Other right ways to write it: {commands}").format(commands=listed(commands))
