"""Views on a terminal: heat maps, what to look for, a question."""

import shlex
from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from grader.cli.pictures import render_maps
from grader.cli.view import broken, indented
from grader.core.language import _
from grader.core.views import ViewResult
from grader.course.course import Course

MOST_MAPS = 4
"""With more heat maps than these, not every state is shown."""


def print_view(out: Console, result: ViewResult, *, is_whole: bool = True) -> None:
    """Show a view.

    Args:
        out: where to.
        result: the view.
        is_whole: whether to show it for several settings of what can be moved, not for one alone.
    """
    out.print(broken(Text.assemble((result.title, "bold"), (f"  {result.exercise}", "dim"))))
    for note in result.notes:
        out.print(indented(Text(note, style="dim"), 2))
    if result.problem:
        for sentence in result.problem.splitlines():
            out.print(indented(Text(sentence, style="yellow"), 2))
        return
    if not result.is_solved:
        sentence = _("Not solved yet: this is what your code gives now.")
        out.print(indented(Text(sentence, style="yellow"), 2))
    for state in _shown(result) if is_whole else [result.first]:
        if result.sliders:
            out.print(indented(Text(result.setting_words(state), style="bold"), 2))
        for line in render_maps(result, state, out, 2):
            out.print(Text("  ").append_text(line), soft_wrap=True)
    for words in (result.look_words, result.ask):
        out.print(indented(Text(words), 2))


def print_new_views(out: Console, course: Course, results: Sequence[ViewResult]) -> None:
    """Show the views of an exercise that was just solved, and how to see more of it.

    Args:
        out: where to.
        course: the course.
        results: the views; nothing is shown where there are none.
    """
    for result in results:
        out.print()
        print_view(out, result, is_whole=False)
    if results:
        more = _("More of it: {command}.")
        if any(result.is_about_text for result in results):
            more = _('More of it: {command}; with `--text "…"` it is about words of your own.')
        command = show_command(course, results[0].exercise)
        out.print(indented(Text(more.format(command=command), style="dim"), 2))


def _shown(result: ViewResult) -> Sequence[int]:
    """The states that are shown: all, or the first, the one in the middle and the last."""
    count = len(result.states)
    if sum(map(len, result.states)) <= MOST_MAPS:
        return range(count)
    return sorted({0, result.first, count - 1})


def show_command(course: Course, id_: str) -> str:
    """What shows an exercise's views."""
    return f"`grader show {shlex.quote(course.name_of(course.exercises[id_]))}`"
