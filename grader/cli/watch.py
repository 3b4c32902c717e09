"""`grader watch`: checks a student's work each time a file is saved."""

import queue
import threading
from collections.abc import Callable
from contextlib import closing, nullcontext, suppress
from typing import TYPE_CHECKING

from grader.cli.keys import has_keys, in_background, pressed
from grader.cli.view import console
from grader.core.errors import UsageError
from grader.core.language import _
from grader.course.course import Course
from grader.progress.file_watch import saves

if TYPE_CHECKING:  # it imports torch, which takes seconds: something is said before
    from grader.cli.loop import Loop

WAIT_SECONDS = 0.5
LONG_SECONDS = 2.0

Event = Callable[["Loop"], None]
Events = queue.SimpleQueue[Event]


def run_watch(course: Course, targets: tuple[str, ...]) -> None:
    """Check on each save until the student quits.

    Raises:
        UsageError: when a target names nothing, or there is no folder to watch.
    """
    chosen = tuple(course.select(targets).values())
    folder = course.work_folder
    if not folder.is_dir():
        raise UsageError(_("There is no folder {folder} to watch.").format(folder=folder))
    screen = console()
    screen.print(_("Starting …"), style="dim")

    from grader.cli.loop import Loop
    from grader.progress.live_checks import LiveChecker, Verdict, fast_launcher

    launcher = fast_launcher(course)
    events: Events = queue.SimpleQueue()

    def report_saves(stop: threading.Event) -> None:
        for _save in saves(folder, stop):
            events.put(lambda loop: loop.saved())

    def report_key(key: str) -> None:
        events.put(lambda loop: loop.pressed(key))

    def report_verdict(verdict: Verdict) -> None:
        events.put(lambda loop: loop.judged(verdict))

    checker = LiveChecker(course, report_verdict, launcher)
    loop = Loop(course, chosen, screen, checker, has_keys())
    with (
        closing(checker),
        suppress(KeyboardInterrupt),
        in_background(report_saves),
        pressed(report_key) if loop.has_keys else nullcontext(),
    ):
        loop.begin()
        run(loop, events)
    screen.print(_("Stopped watching."), style="dim")


def run(loop: "Loop", events: Events) -> None:
    """Let the loop have each event in turn, until it is over."""
    waited = 0.0
    while not loop.is_over:
        try:
            event = events.get(timeout=WAIT_SECONDS)
        except queue.Empty:
            # The timeout only lets Ctrl-C through on Windows, and notices a long run.
            waited = waited + WAIT_SECONDS if loop.is_busy else 0.0
            if waited == LONG_SECONDS:
                loop.waited()
            continue
        waited = 0.0
        event(loop)
