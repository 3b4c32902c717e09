"""How far long work is: a bar on a terminal, a line now and then elsewhere."""

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from grader.classes.run import Watcher

SECONDS_BETWEEN_LINES = 10.0
FEW = 10
"""Known mistakes that are run in less than a second."""
MOST_PLANNED = 3
"""Of more sentences on what is graded again the first are shown, in one line."""
T = TypeVar("T")


@dataclass
class _Count:
    """Counts who is done, and shows it by a bar, or by lines where the bar is disabled."""

    bar: Progress
    what: str = "students"
    students: int = 0
    unchanged: int = 0
    graded: int = 0
    undecided: int = 0
    started: float = 0.0
    printed: float = 0.0
    pause: float = 30.0

    def planned(self, sentences: Sequence[str]) -> None:
        """Say what is graded again, and why."""
        if sentences:
            left = len(sentences) - MOST_PLANNED
            more = [f"{left} more changes like these."] if left > 0 else []
            line = " ".join((*sentences[:MOST_PLANNED], *more))
            self.bar.console.print(line, markup=False, soft_wrap=True)

    def begin(self, what: str, total: int, done: int) -> None:
        """The run begins."""
        self.what, self.students, self.unchanged = what, total, done
        self.started = self.printed = time.monotonic()
        self.bar.add_task("", total=total, completed=done, rate="", now="")
        self._print(f"Grading: {self._sentence()} done.")

    def prepares(self, exercise: str, number: int) -> None:
        """So many known mistakes are run; the first who gets an exercise wrong waits for it."""
        if number < FEW:
            return
        what = f"{number} known mistakes of {exercise.rpartition('/')[2]} are run, once for all"
        self.bar.update(self.bar.task_ids[0], now=what)
        if time.monotonic() - self.printed > SECONDS_BETWEEN_LINES:
            self.printed = time.monotonic()
            self._print(f"Grading: {what}.")

    def done(self, *, is_undecided: bool) -> None:
        """One more is graded."""
        self.graded += 1
        self.undecided += is_undecided
        wrong = f", {self.undecided} undecided" if self.undecided else ""
        self.bar.update(self.bar.task_ids[0], advance=1, rate=f"{self._rate:.1f}/s{wrong}", now="")
        is_last = self.unchanged + self.graded == self.students
        if is_last or time.monotonic() - self.printed > self.pause:
            self.printed = time.monotonic()
            self.pause *= 3
            self._print(f"{self._sentence()}.")

    def _print(self, line: str) -> None:
        if self.bar.disable:
            self.bar.console.print(line)

    @property
    def _rate(self) -> float:
        """Students per second."""
        return self.graded / max(time.monotonic() - self.started, 1e-9)

    def _sentence(self) -> str:
        text = f"{self.unchanged + self.graded} of {self.students} {self.what}"
        if self.unchanged:
            text += f" ({self.unchanged} unchanged)"
        if self.undecided:
            text += f", {self.undecided} UNDECIDED"
        return f"{text}, {self._rate:.1f} a second" if self.graded else text


@dataclass
class Counting:
    """Shows how much of some work is done, by a bar, or by lines where the bar is disabled.

    Args:
        bar: has one task.
        label: what is done, before the numbers.
        total: how many there are to do.
        what: what these are, after the numbers.
        printed: when the last line was.
    """

    bar: Progress
    label: str
    total: int
    what: str
    printed: float

    def show(self, done: int, more: str = "") -> None:
        """So many are done.

        Args:
            done: how many.
            more: what else there is to say.
        """
        self.bar.update(self.bar.task_ids[0], completed=done, more=more)
        if self.bar.disable and time.monotonic() - self.printed > SECONDS_BETWEEN_LINES:
            self.printed = time.monotonic()
            words = " ".join(filter(None, (f"{self.label}: {done} of {self.total}", self.what)))
            self.bar.console.print(", ".join(filter(None, (words, more))) + ".", markup=False)

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Take the bar away while something else is printed."""
        self.bar.stop()
        try:
            yield
        finally:
            self.bar.start()


@contextmanager
def counting(screen: Console, label: str, total: int, what: str = "") -> Iterator[Counting]:
    """What shows how much of some work is done, while it goes on.

    Work that is done within seconds shows nothing but a bar.

    Args:
        screen: where; standard error, so that it is no part of the output.
        label: what is done, before the numbers.
        total: how many there are to do.
        what: what these are, after the numbers.
    """
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[more]}", markup=False),
    )
    is_hidden = not screen.is_terminal
    with Progress(
        *columns,
        console=screen,
        transient=True,
        disable=is_hidden,
        redirect_stdout=False,
        redirect_stderr=False,
    ) as bar:
        bar.add_task(label, total=total, more="")
        yield Counting(bar, label, total, what, time.monotonic())


def counted(screen: Console, label: str, total: int, items: Iterable[T]) -> Iterator[T]:
    """The same items, while it is shown how many of them are done with.

    Args:
        screen: where; standard error, so that it is no part of the output.
        label: what is done with them.
        total: how many there are.
        items: each is taken when the one before it is done with.
    """
    with counting(screen, label, total) as shown:
        for number, item in enumerate(items, 1):
            yield item
            shown.show(number)


@contextmanager
def progress(screen: Console) -> Iterator[Watcher]:
    """What shows the progress of a run on this screen."""
    columns = (
        TextColumn("Grading"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[now]}", markup=False),
    )
    with Progress(*columns, console=screen, transient=True, disable=not screen.is_terminal) as bar:
        yield _Count(bar)
