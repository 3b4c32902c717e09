"""`grader status`: a map of the course, from what the last checks found."""

from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.markup import escape
from rich.text import Text

from grader.cli.edge import lang_option, open_course
from grader.core.errors import UsageError
from grader.core.language import _

if TYPE_CHECKING:
    from grader.course.course import Assignment, Course, Exercise
    from grader.progress.progress import Progress

BAR = 12
"""Columns of a bar."""
NAME = 28
COLUMNS = 78


@click.command()
@click.argument("targets", nargs=-1, metavar="[TARGET]...")
@click.option("--all", "everything", is_flag=True, help="Show every exercise.")
@click.option("--again", is_flag=True, help="Check everything anew, also what has not changed.")
@lang_option
def status(targets: tuple[str, ...], everything: bool, again: bool, lang: str | None) -> None:
    """Show where you are in the course: points, what is done, what comes next.

    TARGET is an assignment or an exercise, as for `grader check`; nothing means all. Only what
    changed since it was last checked is checked again. The points are those of the visible checks.
    """
    from grader.cli.render import console
    from grader.progress.progress import read_progress
    from grader.progress.store import Memory

    course = open_course(lang)
    chosen = list(course.select(targets).values())
    now = read_progress(course, Memory(course.root))
    if now.submission.is_empty:
        folder = course.root / "assignments"
        raise UsageError(_("There is no .py and no .ipynb in {folder}.").format(folder=folder))
    stale = chosen if again else now.unknown(chosen)
    if stale:
        from grader.progress.live_checks import checked

        now = checked(now, stale)
    print_status(now, chosen, console(), everything=everything or bool(targets))


def print_status(
    now: "Progress", chosen: "list[Exercise]", out: Console, *, everything: bool = False
) -> None:
    """Show the map: a line for each assignment, and one for each exercise where it is needed."""
    from grader.cli.render import broken

    ids = {exercise.id for exercise in chosen}
    most = sum(exercise.points for exercise in chosen)
    title = f"[bold]{escape(now.course.text(now.course.title))}[/]"
    head = _("{course}: {score} of {max_score} points")
    out.print(head.format(course=title, score=_points(now, chosen), max_score=most))
    out.print()
    following = now.unfinished(chosen)
    for assignment in now.course.assignments:
        exercises = [exercise for exercise in assignment.exercises if exercise.id in ids]
        if exercises:
            _print_assignment(now, assignment, exercises, out)
            if everything or _is_under_way(now, exercises) or following[:1] == exercises[:1]:
                for exercise in exercises:
                    _print_exercise(now, exercise, out)
    out.print()
    for line in what_next(now, chosen):
        out.print(broken(Text(line)))


def _print_assignment(
    now: "Progress", assignment: "Assignment", exercises: "list[Exercise]", out: Console
) -> None:
    most = sum(exercise.points for exercise in exercises)
    score = _points(now, exercises)
    bar = f"{_bar(float(now.score(exercises)) / most)} " if _has_bars(out) else ""
    words = {_word(now, exercise) for exercise in exercises}
    word = words.pop() if len(words) == 1 else _("under way")
    out.print(f"[bold]{assignment.id:<{NAME + 2}}[/] {bar}{score:>5} / {most:<3} [dim]{word}[/]")


def _print_exercise(now: "Progress", exercise: "Exercise", out: Console) -> None:
    from grader.cli.render import exercise_sign

    result = now.results.get(exercise.id)
    sign, style = exercise_sign(result) if result is not None else ("!", "bold magenta")
    gap = " " * (BAR + 3 if _has_bars(out) else 0)
    score = _points(now, [exercise])
    out.print(
        f"  [{style}]{sign}[/] {exercise.name:<{NAME - 2}} {gap}{score:>5} / {exercise.points:<3} "
        f"[dim]{_word(now, exercise)}[/]"
    )


def _word(now: "Progress", exercise: "Exercise") -> str:
    from grader.feedback.outcomes import status_words

    return status_words(now.results.get(exercise.id))


def _is_under_way(now: "Progress", exercises: "list[Exercise]") -> bool:
    return len({_word(now, exercise) for exercise in exercises}) > 1


def _points(now: "Progress", exercises: "list[Exercise]") -> str:
    from grader.grading.results import points

    if all(exercise.id not in now.results for exercise in exercises):
        return "?"
    return str(points(now.score(exercises)))


def _has_bars(out: Console) -> bool:
    """Whether a bar is of use: a pipe or a plain terminal has the points in numbers."""
    return out.is_terminal and not out.is_dumb_terminal and out.width >= 80


def _bar(share: float) -> str:
    """A bar in ASCII: full only when all is done, empty only when nothing is."""
    filled = round(BAR * share)
    if 0 < share < 1:
        filled = min(max(filled, 1), BAR - 1)
    return f"[{'#' * filled}{'.' * (BAR - filled)}]".replace("[", r"\[")


def what_next(now: "Progress", chosen: "list[Exercise]") -> list[str]:
    """What to do next, in three lines at most."""
    unfinished = now.unfinished(chosen)
    if not unfinished:
        return [_("All of it is done. Your instructor grades with further checks.")]
    first = unfinished[0]
    if not now.score(now.course.exercises.values()):
        return [
            _("Begin here: {file}").format(file=now.file(first)),
            _("Write {name} where it says TODO, there or in the notebook beside it.").format(
                name=first.name
            ),
            _("Run `grader watch`: it checks your work each time you save."),
        ]
    return [
        _("Next: {what}").format(what=first.id),
        "  " + _("in {file}").format(file=now.file(first)),
        _("When stuck: {command}").format(command=f"`grader hint {_short(now.course, first)}`"),
    ]


def _short(course: "Course", exercise: "Exercise") -> str:
    """The shortest name that is enough."""
    try:
        return exercise.name if len(course.select((exercise.name,))) == 1 else exercise.id
    except UsageError:
        return exercise.id


def newcomer() -> str:
    """What `grader` alone says inside a course, in a few lines; "" outside of one."""
    from grader.core.text import filled
    from grader.progress.progress import read_progress
    from grader.progress.store import Memory

    try:
        course = open_course(None)
        memory = Memory(course.root)
        now = read_progress(course, memory)
    except UsageError:
        return ""
    if memory.results().keys() & course.exercises.keys() - now.results.keys():
        words = _(
            "Your work changed since it was last checked: `grader status` checks it and shows "
            "where you are."
        )
        return "\n".join(filled(words, COLUMNS))
    chosen = list(course.exercises.values())
    lines = what_next(now, chosen)
    if len(lines) == 3 and not now.score(chosen):
        return "\n".join(lines)
    head = _("{score} of {max_score} points.").format(
        score=_points(now, chosen), max_score=course.max_score
    )
    more = _("`grader watch` checks each save; `grader status` shows all, `grader -h` more.")
    return "\n".join([head, *lines[:2], *filled(more, COLUMNS)])
