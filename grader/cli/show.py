"""`grader show`: what a student's own code makes of the course's text, or of any other."""

import json
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from grader.cli.edge import ExitCode
from grader.cli.streams import echo
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


@dataclass(frozen=True, slots=True)
class ShowOptions:
    """What `grader show` was asked for, as its help says."""

    target: str
    text: str | None
    html: Path | None
    format_: str


def run_show(course: Course, options: ShowOptions) -> ExitCode:
    """Show the views of an exercise, or of an assignment's exercises.

    Raises:
        UsageError: when there is nothing to show, or the text cannot be.
    """
    results = _results(course, options)
    if options.html is not None:
        from grader.reports.html.pages import views_page

        file = OutputFile(options.html.name, views_page(results, course))
        file.write(options.html.parent)
        echo(_("Your page: {file}").format(file=options.html))
    elif options.format_ == "json":
        echo(json.dumps([asdict(one) for one in results], indent=2, ensure_ascii=False))
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


def _results(course: Course, options: ShowOptions) -> tuple[ViewResult, ...]:
    from grader.sessions.launchers import early_launcher

    launcher = early_launcher()  # a fork of this process, while nothing is loaded in it
    from grader.judging.submission_grader import visible_grader
    from grader.judging.views import load_views, run_views
    from grader.sessions.child import ChildSession

    progress = read_progress(course, Memory(course.root))
    work = progress.submission
    with closing(ChildSession(launcher, work, course.limits, owns_launcher=True)) as session:
        views = load_views(course, course.exercises)
        chosen = _chosen(progress, views, options.target)
        text = views.own_text
        if options.text is not None:
            text = _asked_text(views, chosen, options.text)
        ids = [one.exercise.id for one in chosen]
        with closing(visible_grader(course, exercises=ids)) as grader:
            results = run_views(grader, work, session, chosen, text)
    return tuple(
        replace(one, is_solved=progress.is_solved(course.exercises[one.exercise]))
        for one in results
    )


def _chosen(progress: Progress, views: "Views", target: str) -> tuple["ExerciseView", ...]:
    """The views that a target names; without one, those of the last exercise that is solved.

    Raises:
        UsageError: when there are none.
    """
    if not views.views:
        raise UsageError(_("There is nothing to show in this course."))
    others = list(dict.fromkeys(one.exercise for one in views.views))
    if target:
        wanted = views.course.select((target,))
        found = views.of(wanted)
        near = {exercise.assignment for exercise in wanted.values()}
        names = [e.id for e in others if e.assignment in near]
        names = names or list(dict.fromkeys(e.assignment for e in others))
        sentence = _("There is nothing to show for {target}. There is for {others}.")
        said = sentence.format(target=target, others=listed(names))
    else:
        solved = [exercise.id for exercise in others if progress.is_solved(exercise)]
        found = views.of(solved[-1:])
        sentence = _(
            "`grader show` alone shows the last exercise that is solved, and none is known to be "
            "solved as it is now. Name an exercise, like `grader show {first}`: that shows what your code gives so "
            "far."
        )
        said = sentence.format(first=others[0].name)
    if not found:
        raise UsageError(said)
    return found


def _asked_text(views: "Views", chosen: tuple["ExerciseView", ...], words: str) -> "Text":
    """The text of `--text`.

    Raises:
        UsageError: when it has no words or too many, or nothing that is shown is about a text.
    """
    if views.example is None or not any(one.is_about_text for one in chosen):
        raise UsageError(_("What is shown here is not about a text: leave out --text."))
    return views.example.text(words)
