"""`grader hint`: the next hint for an exercise, and its words, which `grader watch` shows, too."""

from collections.abc import Iterable

import click

from grader.cli.help import SpokenCommand
from grader.cli.shared import course_option, echo
from grader.core.errors import UsageError
from grader.core.language import N_, _, listed
from grader.core.text import filled
from grader.course.course import Course, Exercise
from grader.progress.next_hint import Advice, Helper, Hint

NOT_REMEMBERED = N_("(Which hint comes next could not be remembered.)")
COLUMNS = 78


@click.command(cls=SpokenCommand)
@click.argument("exercise")
@click.option("--again", is_flag=True, help="Show the last one once more.")
@click.option("--all", "everything", is_flag=True, help="Show every hint.")
@click.option("--restart", is_flag=True, help="Begin with the first hint again.")
@course_option
def hint(course: Course, exercise: str, *, again: bool, everything: bool, restart: bool) -> None:
    """Show the next hint for EXERCISE.

    Where the last check named a mistake, its question stands above it. Hints climb: a question,
    then where to look; the last points at the equation.
    """
    print_hint(course, exercise, again=again, everything=everything, restart=restart)


def print_hint(
    course: Course,
    name: str,
    restarting: str = "--restart",
    /,
    *,
    again: bool,
    everything: bool,
    restart: bool,
) -> None:
    """Print an exercise's next hint.

    Args:
        course: the course.
        name: the exercise's name or id.
        restarting: how to ask for the first one again.
        again: whether to show the last hint once more.
        everything: whether to show all hints.
        restart: whether to begin with the first again.

    Raises:
        UsageError: when the name is no exercise's.
        CourseError: when the author's file of hints has a problem.
    """
    exercise = only_exercise(course, name)
    helper = Helper(course, exercise)
    hints = helper.hints()
    if everything:
        echo(advice_text(hints, exercise))
        return
    is_kept = helper.forget() if restart and not again else True
    shown = (helper.last(),) if again else helper.next()
    follows = _("Ask again for the next one.")
    if is_at_the_end(shown):
        follows = _("That is the last one. `{restarting}` begins again.")
        follows = follows.format(restarting=restarting)
    echo(f"{advice_text(shown, exercise)}\n\n{follows}")
    if not again and not (helper.remember(shown) and is_kept):
        echo(_(NOT_REMEMBERED), err=True)


def only_exercise(course: Course, name: str) -> Exercise:
    """The one exercise of a name or an id.

    Raises:
        UsageError: when it names none, or an assignment.
    """
    having = [exercise for exercise in course.exercises.values() if exercise.name == name]
    # An assignment of that name is not meant.
    if len(having) == 1:
        return having[0]
    first, *others = course.select((name,)).values()
    if others:
        names = listed(map(course.name_of, (first, *others)))
        sentence = _("{name!r} is an assignment. Name one of its exercises: {names}.")
        raise UsageError(sentence.format(name=name, names=names))
    return first


def is_at_the_end(shown: Iterable[Advice]) -> bool:
    """Whether no other hint comes after these."""
    return any(isinstance(advice, Hint) and advice.is_last for advice in shown)


def advice_text(shown: Iterable[Advice], exercise: Exercise) -> str:
    """Questions and hints, in lines of less than 80 columns."""
    return "\n\n".join(_text(advice, exercise) for advice in shown)


def _text(advice: Advice, exercise: Exercise) -> str:
    if isinstance(advice, Hint):
        head = _("Hint {number} of {count} for {exercise}:")
        head = head.format(number=advice.number, count=advice.count, exercise=exercise.id)
        return "\n".join([head, "", *_wrapped(advice.text)])
    head = _("The last check of {exercise} saw a known mistake:")
    if len(advice.mistakes) > 1:
        head = _("The last check of {exercise} saw one of these mistakes:")
    lines = [head.format(exercise=exercise.id)]
    for mistake in advice.mistakes:
        lines += ["", *_wrapped(mistake.symptom), *_wrapped(mistake.question)]
    return "\n".join(lines)


def _wrapped(text: str) -> list[str]:
    return [line for part in text.splitlines() for line in filled(part, COLUMNS, "  ", "  ")]
