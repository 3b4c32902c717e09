"""`grader status`: a map of the course, from what the last checks found."""

from collections.abc import Sequence

import click
from rich.console import Console
from rich.markup import escape
from rich.text import Text

from grader.cli.help import SpokenCommand
from grader.cli.render import exercise_sign, print_file_failures
from grader.cli.shared import course_option, from_here, open_course, targets_argument
from grader.cli.view import SCORE, Lines, console, score_column
from grader.core.errors import UsageError
from grader.core.language import _, paragraph
from grader.core.records import added
from grader.core.text import display_width, filled
from grader.course.course import Course, Exercise
from grader.judging.outcomes import NOT_HANDED_IN, is_attempted, status_words, where_to_look
from grader.judging.results import points
from grader.progress.progress import Progress, read_progress
from grader.progress.solved import what_precedes
from grader.progress.store import Memory

BAR = 12
"""Columns of a bar."""
NAME = 28
COLUMNS = 78


@click.command(cls=SpokenCommand)
@targets_argument
@click.option("--all", "everything", is_flag=True, help="Show every exercise.")
@click.option("--again", is_flag=True, help="Check everything anew, also what has not changed.")
@course_option
def status(course: Course, targets: tuple[str, ...], *, everything: bool, again: bool) -> None:
    """Show where you are in the course: points, what is done, what comes next.

    TARGET is an assignment or an exercise, as for `grader check`; nothing means all. Only what
    changed since it was last checked is checked again. The points are those of the visible checks.
    """
    chosen = list(course.select(targets).values())
    now = read_progress(course, Memory(course.root))
    if now.submission.is_empty:
        folder = course.work_folder
        raise UsageError(_("There is no .py and no .ipynb in {folder}.").format(folder=folder))
    stale = chosen if again else now.unknown(chosen)
    if stale:
        from grader.progress.live_checks import checked  # imports torch

        now = checked(now, stale)
    print_status(now, chosen, console(), everything=everything or bool(targets))


def print_status(
    now: Progress, chosen: Sequence[Exercise], out: Console, *, everything: bool = False
) -> None:
    """Show the map: a line for each assignment, and one for each exercise where it is needed.

    Args:
        now: the progress.
        chosen: the exercises to show.
        out: where to write.
        everything: whether to show every exercise.
    """
    ids = {exercise.id for exercise in chosen}
    most = added(exercise.points for exercise in chosen)
    title = f"[bold]{escape(now.course.text(now.course.title))}[/]"
    head = _("{course}: {score} of {max_score} points") if most else "{course}"
    out.print(head.format(course=title, score=_points(now, chosen), max_score=most))
    out.print()
    following = now.unfinished(chosen)
    for assignment in now.course.assignments:
        exercises = [exercise for exercise in assignment.exercises if exercise.id in ids]
        if exercises:
            words = {_words(now, exercise) for exercise in exercises}
            is_under_way = len(words) > 1
            word = _("under way") if is_under_way else words.pop()
            _print_assignment(now, exercises, word, out)
            if everything or is_under_way or following[:1] == exercises[:1]:
                print_file_failures(out, now.file_failures.get(assignment.id, ()))
                for exercise in exercises:
                    _print_exercise(now, exercise, out)
    out.print()
    for line in what_next(now, chosen):
        out.print(Lines(Text(line)))
    following = [e for e in following[:1] if not is_attempted(now.results.get(e.id))]
    for line in (line for exercise in following for line in what_precedes(now.course, exercise)):
        out.print(Lines(Text(line)))


def _print_assignment(
    now: Progress, exercises: Sequence[Exercise], word: str, out: Console
) -> None:
    most = added(exercise.points for exercise in exercises)
    name, score = exercises[0].assignment, _points(now, exercises)
    left = len(now.unfinished(exercises))
    share = float(now.score(exercises)) / most if most else 1 - left / len(exercises)
    bar = f"{_bar(share)} " if _has_bars(out) else ""
    out.print(f"[bold]{name:<{NAME + 2}}[/] {bar}{_column(score, most)} [dim]{word}[/]")


def _print_exercise(now: Progress, exercise: Exercise, out: Console) -> None:
    result = now.results.get(exercise.id)
    sign, style = exercise_sign(result) if result is not None else ("!", "bold magenta")
    gap = " " * (BAR + 3 if _has_bars(out) else 0)
    score = _points(now, [exercise])
    out.print(
        f"  [{style}]{sign}[/] {exercise.name:<{NAME - 2}} {gap}{_column(score, exercise.points)} "
        f"[dim]{_words(now, exercise)}[/]"
    )


def _column(score: str, most: float) -> str:
    column = score_column(score, most)
    return column + " " * (SCORE + 2 - display_width(column))


def _words(now: Progress, exercise: Exercise) -> str:
    """How an exercise stands, in words."""
    result = now.results.get(exercise.id)
    is_handed_in = now.submission.readings[exercise.assignment].read_from
    if result is not None and result.is_untouched and not is_handed_in:
        return _(NOT_HANDED_IN)
    return status_words(result)


def _points(now: Progress, exercises: Sequence[Exercise]) -> str:
    is_known = any(exercise.id in now.results for exercise in exercises)
    return str(points(now.score(exercises))) if is_known else "?"


def _has_bars(out: Console) -> bool:
    """Whether to draw bars: a pipe or a plain terminal gets the points in numbers only."""
    return out.is_terminal and not out.is_dumb_terminal and out.width >= 80


def _bar(share: float) -> str:
    """A bar in ASCII: full only when all is done, empty only when nothing is."""
    full = round(BAR * share)
    if 0 < share < 1:
        full = min(max(full, 1), BAR - 1)
    return f"[{'#' * full}{'.' * (BAR - full)}]".replace("[", r"\[")


def what_next(now: Progress, chosen: Sequence[Exercise]) -> list[str]:
    """What to do next, in three lines at most."""
    unfinished = now.unfinished(chosen)
    if not unfinished:
        if others := now.unfinished(now.course.exercises.values()):
            return [_("All of these are done. Next: {what}").format(what=others[0].id)]
        return [_("All of it is done. Your instructor grades with further checks.")]
    first = unfinished[0]
    file = place(now, first)
    if not now.score(now.course.exercises.values()):
        write = _("Write {name} where it says TODO, there or in the notebook beside it.")
        return [
            _("Begin here: {file}").format(file=file),
            write.format(name=first.name),
            _("Run `grader watch`: it checks your work each time you save."),
        ]
    short = now.course.name_of(first)
    return [
        _("Next: {what}").format(what=first.id),
        "  " + _("in {file}").format(file=file),
        _("When stuck: {command}").format(command=f"`grader hint {short}`"),
    ]


def place(now: Progress, exercise: Exercise) -> str:
    """Where an exercise is to be written or mended, as an editor opens it."""
    result = now.results.get(exercise.id)
    where = where_to_look(result) if result is not None else None
    if where is None:
        return from_here(now.course.root / now.file(exercise))
    return f"{from_here(now.course.work_folder / where.file)}:{where.line}"


def newcomer() -> str:
    """What `grader` alone says, in a few lines.

    Raises:
        UsageError: outside of a course.
    """
    try:
        course = open_course(None)
        memory = Memory(course.root)
        now = read_progress(course, memory)
    except UsageError as error:
        more = _("`grader --help` lists all commands.")
        raise UsageError(paragraph((str(error), more))) from error
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
    head = _("{score} of {max_score} points.")
    head = head.format(score=_points(now, chosen), max_score=course.max_score)
    more = _("`grader watch` checks each save; `grader status` shows all, `grader -h` more.")
    heads = [head] if course.max_score else []
    return "\n".join([*heads, *lines[:2], *filled(more, COLUMNS)])
