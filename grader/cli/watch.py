"""`grader watch`: checks a student's work each time a file is saved."""

import contextlib
import queue
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from grader.cli.edge import lang_option, open_course
from grader.core.errors import UsageError
from grader.core.language import _

if TYPE_CHECKING:
    from grader.cli.loop import Loop

WAIT_SECONDS = 0.5
LONG_SECONDS = 2.0

Event = Callable[["Loop"], None]


@click.command()
@click.argument("targets", nargs=-1, metavar="[TARGET]...")
@lang_option
def watch(targets: tuple[str, ...], lang: str | None) -> None:
    """Check your work each time you save a file in assignments/.

    TARGET is an assignment or an exercise, as for `grader check`; nothing means all. The next
    exercise that is not solved is chosen by itself. Keys: h shows the next hint, n goes to the
    next exercise, a shows everything about the assignment, q quits.
    """
    from grader.cli.keys import has_keys
    from grader.cli.render import console
    from grader.progress.progress import work_folder

    course = open_course(lang)
    chosen = tuple(course.select(targets).values())
    folder = work_folder(course)
    if not folder.is_dir():
        raise UsageError(_("There is no folder {folder} to watch.").format(folder=folder))
    screen = console()
    screen.print(_("Starting …"), style="dim")

    from grader.cli.loop import Loop
    from grader.progress.live_checks import LiveChecker, fast_launcher

    launcher = fast_launcher(course.limits)
    events: queue.SimpleQueue[Event] = queue.SimpleQueue()
    checker = LiveChecker(
        course, lambda verdict: events.put(lambda loop: loop.judged(verdict)), launcher
    )
    loop = Loop(course, chosen, screen, checker, has_keys())
    with (
        contextlib.closing(checker),
        contextlib.suppress(KeyboardInterrupt),
        _watching(folder, events),
        _keys(events, wanted=loop.has_keys),
    ):
        loop.begin()
        run(loop, events)
    screen.print(_("Stopped watching."), style="dim")


def run(loop: "Loop", events: "queue.SimpleQueue[Event]") -> None:
    """Let the loop have each event in turn, until it is over."""
    waited = 0.0
    while not loop.is_over:
        try:
            event = events.get(timeout=WAIT_SECONDS)
        except queue.Empty:
            # Nothing more than to let Ctrl-C through on Windows, and to notice a long run.
            waited = waited + WAIT_SECONDS if loop.is_busy else 0.0
            if waited == LONG_SECONDS:
                loop.waited()
            continue
        waited = 0.0
        event(loop)


@contextmanager
def _watching(folder: Path, events: "queue.SimpleQueue[Event]") -> Iterator[None]:
    """Tell each save while the block runs."""
    from grader.progress.file_watch import saves

    stop = threading.Event()

    def tell() -> None:
        for _save in saves(folder, stop):
            events.put(lambda loop: loop.saved())

    thread = threading.Thread(target=tell, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(2.0)


@contextmanager
def _keys(events: "queue.SimpleQueue[Event]", *, wanted: bool) -> Iterator[None]:
    """Tell each key while the block runs, where there are keys."""
    from grader.cli.keys import pressed

    if not wanted:
        yield
        return
    with pressed(lambda key: events.put(lambda loop: loop.pressed(key))):
        yield
