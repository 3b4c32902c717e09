"""`grader show`: what a student's own code makes of the course's text, or of any other."""

import json
from contextlib import closing
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from grader.cli.help import SpokenCommand
from grader.cli.shared import FILE, ExitCode, course_option, echo, format_option
from grader.core.errors import UsageError
from grader.core.files import OutputFile
from grader.core.language import _, listed
from grader.core.views import ViewResult
from grader.course.course import Course
from grader.progress.progress import Progress, read_progress
from grader.progress.store import Memory

if TYPE_CHECKING:
    from grader.judging.views import ExerciseView, Views
    from grader.testing.views import Text


@click.command(cls=SpokenCommand)
@click.argument("target", default="", metavar="[TARGET]")
@click.option("--text", help='Show other words, like --text "A few of your own"; at most 12.')
@click.option(
    "--html",
    type=FILE,
    metavar="FILE",
    help="Write a page with sliders; it needs no network.",
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
        echo(json.dumps([asdict(result) for result in results], indent=2, ensure_ascii=False))
    else:
        _print(results)
    is_whole = not any(result.problem for result in results)
    return ExitCode.FINE if is_whole else ExitCode.NOT_PASSED


def _print(results: tuple[ViewResult, ...]) -> None:
    from grader.cli.shown_views import print_view
    from grader.cli.view import console

    out = console()
    for place, result in enumerate(results):
        if place:
            out.print()
        print_view(out, result)


def _results(course: Course, target: str, words: str | None) -> tuple[ViewResult, ...]:
    from grader.sessions.launchers import early_launcher

    launcher = early_launcher()  # a fork of this process, while nothing is loaded in it
    from grader.judging.shown_views import own_text, run_views
    from grader.judging.submission_grader import visible_grader
    from grader.judging.views import load_views
    from grader.sessions.child import ChildSession

    progress = read_progress(course, Memory(course.root))
    work = progress.submission
    with closing(ChildSession(launcher, work, course.limits, owns_launcher=True)) as session:
        views = load_views(course, course.exercises)
        chosen = _chosen(progress, views, target)
        text = own_text(views) if words is None else _asked_text(views, chosen, words)
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


def _asked_text(views: "Views", chosen: tuple["ExerciseView", ...], words: str) -> "Text":
    """The text of `--text`.

    Raises:
        UsageError: when it has no words or too many, or nothing that is shown is about a text.
    """
    if views.example is None or not any(view.is_about_text for view in chosen):
        raise UsageError(_("What is shown here is not about a text: leave out --text."))
    return views.example.text(words)
