"""`grader hint`: the next hint for an exercise, remembered from one call to the next."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from grader.cli.edge import lang_option, open_course
from grader.errors import UsageError
from grader.language import _

if TYPE_CHECKING:
    from grader.course import Course, Exercise


@click.command()
@click.argument("exercise")
@click.option("--restart", is_flag=True, help="Begin with the first hint again.")
@lang_option
def hint(exercise: str, restart: bool, lang: str | None) -> None:
    """Show the next hint for EXERCISE.

    Hints climb: a question first, then where to look; the last points at the equation.
    """
    course = open_course(lang)
    chosen = list(course.select((exercise,)).values())
    if len(chosen) != 1:
        names = ", ".join(one.name for one in chosen)
        sentence = _("{name!r} is an assignment. Name one of its exercises: {names}.")
        raise UsageError(sentence.format(name=exercise, names=names))
    hints = _hints(course, chosen[0])
    shown = 0 if restart else _remembered(course).get(chosen[0].id, 0)
    number = min(shown, len(hints) - 1)
    head = _("Hint {number} of {count} for {exercise}:")
    head = head.format(number=number + 1, count=len(hints), exercise=chosen[0].id)
    click.echo(f"{head}\n\n  {course.text(hints[number])}\n")
    if number + 1 < len(hints):
        click.echo(_("Ask again for the next one."))
    else:
        click.echo(_("That is the last one. `--restart` begins again."))
    _remember(course, chosen[0].id, number + 1)


def _hints(course: "Course", exercise: "Exercise") -> tuple[str, ...]:
    """The hints: from the author's file, or in a released copy from the recording."""
    assignment = course.by_id[exercise.assignment]
    if course.has_solutions:
        from grader.hints import read_hints

        return read_hints(assignment, course.paths(assignment).hints)[exercise.name]
    from grader.recording import read_recording

    return read_recording(course.paths(assignment).recording).hints[exercise.name]


def _memory() -> Path:
    from platformdirs import user_state_path

    return user_state_path("attention-course", appauthor=False) / "hints.json"


def _everything() -> dict[str, dict[str, int]]:
    try:
        content = json.loads(_memory().read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def _remembered(course: "Course") -> dict[str, int]:
    """How many hints of each exercise were shown in this copy of the course."""
    found = _everything().get(str(course.root.resolve()))
    if not isinstance(found, dict):
        return {}
    return {k: v for k, v in found.items() if type(v) is int and v >= 0}


def _remember(course: "Course", exercise: str, shown: int) -> None:
    content = _everything()
    content[str(course.root.resolve())] = {**_remembered(course), exercise: shown}
    try:
        _memory().parent.mkdir(parents=True, exist_ok=True)
        _memory().write_text(json.dumps(content, indent=1), "utf-8")
    except OSError:
        click.echo(_("(Which hint comes next could not be remembered.)"), err=True)
