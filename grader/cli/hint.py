"""`grader hint`: the next hint for an exercise, remembered from one call to the next."""

from typing import TYPE_CHECKING

import click

from grader.cli.edge import lang_option, open_course
from grader.cli.streams import echo
from grader.core.errors import UsageError
from grader.core.language import _

if TYPE_CHECKING:
    from grader.course.course import Course, Exercise


@click.command()
@click.argument("exercise")
@click.option("--again", is_flag=True, help="Show the last one once more.")
@click.option("--all", "everything", is_flag=True, help="Show every hint.")
@click.option("--restart", is_flag=True, help="Begin with the first hint again.")
@lang_option
def hint(exercise: str, again: bool, everything: bool, restart: bool, lang: str | None) -> None:
    """Show the next hint for EXERCISE.

    Where the last check named a mistake, its question comes first. Then hints climb: a question,
    then where to look; the last points at the equation.
    """
    from grader.cli.advice import NOT_REMEMBERED, advice_text, after_advice
    from grader.progress.next_hint import (
        all_hints,
        forget,
        hints_of,
        last_hint,
        next_advice,
        remember_advice,
    )
    from grader.progress.store import Memory

    course = open_course(lang)
    chosen = _only(course, exercise)
    memory, hints = Memory(course.root), hints_of(course, chosen)
    if everything:
        told = [advice_text(one, chosen) for one in all_hints(hints)]
        echo("\n\n".join(told))
        return
    if again:
        last = last_hint(hints, memory, chosen)
        echo(f"{advice_text(last, chosen)}\n\n{after_advice(last)}")
        return
    kept = forget(memory, chosen) if restart else True
    advice = next_advice(hints, memory, chosen)
    echo(f"{advice_text(advice, chosen)}\n\n{after_advice(advice)}")
    if not (remember_advice(advice, memory, chosen) and kept):
        echo(_(NOT_REMEMBERED), err=True)


def _only(course: "Course", name: str) -> "Exercise":
    """The exercise of this name.

    Raises:
        UsageError: when it is none, or an assignment.
    """
    chosen = list(course.select((name,)).values())
    if len(chosen) != 1:
        names = ", ".join(one.name for one in chosen)
        sentence = _("{name!r} is an assignment. Name one of its exercises: {names}.")
        raise UsageError(sentence.format(name=name, names=names))
    return chosen[0]
