"""`grader watch`: checks a student's work each time a file is saved."""

import os
import queue
import select
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, nullcontext, suppress
from types import FrameType
from typing import TYPE_CHECKING

import click

from grader.cli.help import SpokenCommand
from grader.cli.shared import course_option, targets_argument
from grader.cli.view import console
from grader.core.errors import UsageError
from grader.core.language import _
from grader.course.course import Course
from grader.progress.file_watch import saves

if TYPE_CHECKING:  # it imports torch, which takes seconds: something is said before
    from grader.cli.loop import Loop

WAIT_SECONDS = 0.5
LONG_SECONDS = 2.0
LOOK_SECONDS = 0.1

Event = Callable[["Loop"], None]
Events = queue.SimpleQueue[Event]


@click.command(cls=SpokenCommand)
@targets_argument
@course_option
def watch(course: Course, targets: tuple[str, ...]) -> None:
    """Check your work each time you save a file in assignments/.

    TARGET is an assignment or an exercise, as for `grader check`; nothing means all. The next
    exercise that is not solved is chosen by itself. Keys: h shows the next hint, n goes to the
    next exercise, a shows everything about the assignment, q quits.
    """
    chosen = tuple(course.select(targets).values())
    folder = course.work_folder
    if not folder.is_dir():
        raise UsageError(_("There is no folder {folder} to watch.").format(folder=folder))
    screen = console()
    screen.print(_("Starting …"), style="dim")

    from grader.cli.loop import Loop
    from grader.progress.live_checks import LiveChecker, fast_launcher

    launcher = fast_launcher(course)
    events: Events = queue.SimpleQueue()

    def report_saves(stop: threading.Event) -> None:
        for _save in saves(folder, stop):
            events.put(lambda loop: loop.saved())

    def report_key(key: str) -> None:
        events.put(lambda loop: loop.pressed(key))

    checker = LiveChecker(course, lambda v: events.put(lambda loop: loop.judged(v)), launcher)
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


# Single keys from the terminal, without Enter.


def has_keys() -> bool:
    """Whether somebody can press keys: standard input and output are a terminal."""
    try:
        return sys.stdin.isatty() and sys.stdout.isatty()
    except (AttributeError, ValueError):  # closed, or none
        return False


@contextmanager
def in_background(work: Callable[[threading.Event], None]) -> Iterator[None]:
    """Do something in a thread while the block runs.

    Args:
        work: called with what tells it to end.
    """
    stop = threading.Event()
    thread = threading.Thread(target=work, args=(stop,), daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(2.0)


@contextmanager
def pressed(report: Callable[[str], None]) -> Iterator[None]:
    """Report each key while the block runs; the terminal is then as it was before.

    Args:
        report: called with each key, in a thread of its own.
    """
    read = _read_windows if sys.platform == "win32" else _read_posix
    # A closed window or a `kill` ends the block in order.
    ended = _handled(lambda number, _frame: sys.exit(128 + number), "SIGTERM", "SIGHUP")
    with _single_keys(), ended, in_background(lambda stop: read(report, stop)):
        yield


@contextmanager
def _single_keys() -> Iterator[None]:
    """Have the terminal pass on keys at once and show none; Ctrl-C and Ctrl-Z work as before."""
    if sys.platform == "win32":
        yield
        return
    import termios
    import tty

    descriptor = sys.stdin.fileno()
    before = termios.tcgetattr(descriptor)

    def begin(*_: object) -> None:
        tty.setcbreak(descriptor, termios.TCSADRAIN)

    try:
        with _handled(begin, "SIGCONT"):  # after Ctrl-Z and fg
            begin()
            yield
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)


@contextmanager
def _handled(handler: Callable[[int, FrameType | None], None], *names: str) -> Iterator[None]:
    """Have a function called on signals, of those that this system knows."""
    with ExitStack() as stack:
        for number in (getattr(signal, name) for name in names if hasattr(signal, name)):
            stack.callback(signal.signal, number, signal.signal(number, handler))
        yield


def _read_posix(report: Callable[[str], None], stop: threading.Event) -> None:
    descriptor = sys.stdin.fileno()
    while not stop.is_set():
        if select.select([descriptor], [], [], LOOK_SECONDS)[0]:
            data = os.read(descriptor, 64)
            if not data:
                return
            for key in data.decode("utf-8", "ignore"):
                report(key)


def _read_windows(report: Callable[[str], None], stop: threading.Event) -> None:
    import msvcrt

    while not stop.wait(LOOK_SECONDS):
        while msvcrt.kbhit():  # type: ignore[attr-defined,unused-ignore]
            report(msvcrt.getwch())  # type: ignore[attr-defined,unused-ignore]
