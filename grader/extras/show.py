"""`grader show`: what a student's own code makes of the course's text, or of any other."""

import shlex
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Group, RenderableType
from rich.text import Text

from grader.cli.help import SpokenCommand
from grader.cli.pictures import Maps
from grader.cli.shared import FILE, ExitCode, course_option, echo, echo_json, format_option
from grader.cli.view import Lines, console
from grader.core.errors import UsageError
from grader.core.files import OutputFile
from grader.core.language import _, listed
from grader.core.views import ViewResult
from grader.course.course import Course
from grader.progress.progress import Progress, read_progress
from grader.progress.solved import Shown, Solved
from grader.progress.store import Memory

if TYPE_CHECKING:
    from grader.judging.views import ExerciseView, Views
    from grader.testing.views import Text as Words

MOST_MAPS = 4
"""With more heat maps than these, not every state is shown."""


@click.command(cls=SpokenCommand)
@click.argument("target", default="", metavar="[TARGET]")
@click.option("--text", help='Show other words, like --text "A few of your own"; at most 12.')
@click.option(
    "--html", type=FILE, metavar="FILE", help="Write a page with sliders; it needs no network."
)
@format_option
@course_option
def show(
    course: Course, target: str, *, text: str | None, html: Path | None, format_: str
) -> ExitCode:
    """Show what your own code makes of the course's text.

    TARGET is an assignment or an exercise, as for `grader check`; nothing means the last one in
    the course that you have solved. What is not solved yet is shown as your code gives it now.

    Exits with 0; with 1 when your code gives nothing that can be shown; with 2 for a wrong command
    or course.
    """
    results = _results(course, target, text)
    if html is not None:
        from grader.reports.html.pages import views_page

        file = OutputFile(html.name, views_page(results, course))
        file.write(html.parent)
        echo(_("Your page: {file}").format(file=html))
    elif format_ == "json":
        echo_json([asdict(result) for result in results])
    else:
        _print(results)
    is_whole = not any(result.problem for result in results)
    return ExitCode.FINE if is_whole else ExitCode.NOT_PASSED


def _print(results: tuple[ViewResult, ...]) -> None:
    out = console()
    for place, result in enumerate(results):
        if place:
            out.print()
        out.print(Group(*view_lines(result)), soft_wrap=True)


def _results(course: Course, target: str, words: str | None) -> tuple[ViewResult, ...]:
    from grader.sessions.launchers import early_launcher

    launcher = early_launcher()  # a fork of this process, while nothing is loaded in it
    from grader.judging.submission_grader import visible_grader
    from grader.judging.views import load_views, run_views
    from grader.sessions.child import ChildSession

    progress = read_progress(course, Memory(course.root))
    work = progress.submission
    with closing(ChildSession(launcher, work, course.limits, owns_launcher=True)) as session:
        views = load_views(course, course.exercises)
        chosen = _chosen(progress, views, target)
        text = views.own_text if words is None else _asked_text(views, chosen, words)
        ids = [view.exercise.id for view in chosen]
        with closing(visible_grader(course, exercises=ids)) as grader:
            results = run_views(grader, work, session, chosen, text)
    return tuple(
        replace(result, is_solved=progress.is_solved(course.exercises[result.exercise]))
        for result in results
    )


def _chosen(progress: Progress, views: "Views", target: str) -> tuple["ExerciseView", ...]:
    """The views that a target names; without one, those of the last exercise that is solved.

    Raises:
        UsageError: when there are none.
    """
    if not views.views:
        raise UsageError(_("There is nothing to show in this course."))
    others = list(dict.fromkeys(view.exercise for view in views.views))
    if target:
        wanted = views.course.select((target,))
        chosen = views.of(wanted)
        near = {exercise.assignment for exercise in wanted.values()}
        names = [e.id for e in others if e.assignment in near]
        names = names or list(dict.fromkeys(e.assignment for e in others))
        sentence = _("There is nothing to show for {target}. There is for {others}.")
        problem = sentence.format(target=target, others=listed(names))
    else:
        solved = [exercise.id for exercise in others if progress.is_solved(exercise)]
        chosen = views.of(solved[-1:])
        sentence = _(
            "`grader show` alone shows the last exercise that is solved, and none is known to be "
            "solved as it is now. Name an exercise, like `grader show {first}`: that shows what your code gives so "
            "far."
        )
        problem = sentence.format(first=others[0].name)
    if not chosen:
        raise UsageError(problem)
    return chosen


def _asked_text(views: "Views", chosen: tuple["ExerciseView", ...], words: str) -> "Words":
    """The text of `--text`.

    Raises:
        UsageError: when it has no words or too many, or nothing that is shown is about a text.
    """
    if views.example is None or not any(view.is_about_text for view in chosen):
        raise UsageError(_("What is shown here is not about a text: leave out --text."))
    return views.example.text(words)


def view_lines(result: ViewResult, *, is_whole: bool = True) -> Iterator[RenderableType]:
    """A view, line by line.

    Args:
        result: the view.
        is_whole: whether to show it for several settings of what can be moved, not for one alone.
    """
    yield Lines(Text.assemble((result.title, "bold"), (f"  {result.exercise}", "dim")))
    for note in result.notes:
        yield Lines(Text(note, style="dim"), 2)
    if result.problem:
        for sentence in result.problem.splitlines():
            yield Lines(Text(sentence, style="yellow"), 2)
        return
    if not result.is_solved:
        yield Lines(Text(_("Not solved yet: this is what your code gives now."), style="yellow"), 2)
    for state in _shown(result) if is_whole else [result.first]:
        if result.sliders:
            yield Lines(Text(result.setting_words(state), style="bold"), 2)
        yield Maps(result, state, 2)
    for words in (result.look_words, result.ask):
        yield Lines(Text(words), 2)


def after(solved: Solved) -> Iterator[Shown]:
    """The views of the last exercise that was just solved, and how to see more of it."""
    from grader.judging.views import load_views, run_views

    views = load_views(solved.course, [exercise.id for exercise in solved.exercises])
    last = views.views[-1].exercise.id if views.views else ""
    run = solved.grader, solved.submission, solved.session
    results = run_views(*run, views.of([last]), views.own_text)
    if not results:
        return
    lines: list[RenderableType] = []
    for result in results:
        lines += ["", *view_lines(result, is_whole=False)]
    if solved.place == "notebook":
        from grader.reports.html.pages import views as page

        yield Shown(Group(*lines), page(results))
        return
    more = _("More of it: {command}.")
    if any(result.is_about_text for result in results):
        more = _('More of it: {command}; with `--text "…"` it is about words of your own.')
    name = shlex.quote(solved.course.name_of(solved.course.exercises[last]))
    words = more.format(command=f"`grader show {name}`")
    yield Shown(Group(*lines, Lines(Text(words, style="dim"), 2)))


def _shown(result: ViewResult) -> Sequence[int]:
    """The states that are shown: all, or the first, the one in the middle and the last."""
    count = len(result.states)
    if sum(map(len, result.states)) <= MOST_MAPS:
        return range(count)
    return sorted({0, result.first, count - 1})
