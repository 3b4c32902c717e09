"""The progress of a class run: a bar on a terminal, a line now and then elsewhere."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
)

from grader.grading.class_files import Row
from grader.grading.class_run import Watcher

SECONDS_BETWEEN_LINES = 10.0
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

    def planned(self, sentences: Sequence[str]) -> None:
        """Say what is graded again, and why."""
        for sentence in sentences:
            self.bar.console.print(sentence, markup=False, soft_wrap=True)

    def begin(self, students: int, unchanged: int) -> None:
        """The run begins."""
        self.students, self.unchanged = students, unchanged
        self.started = self.printed = time.monotonic()
        self.bar.add_task("", total=students, completed=unchanged, rate="")
        self._print(f"Grading: {self._sentence()} done.")

    def done(self, row: Row) -> None:
        """One more student is done."""
        self.graded += 1
        self.undecided += row.undecided
        wrong = f", {self.undecided} undecided" if self.undecided else ""
        self.bar.update(self.bar.task_ids[0], advance=1, rate=f"{self._rate:.1f}/s{wrong}")
        is_last = self.unchanged + self.graded == self.students
        if is_last or time.monotonic() - self.printed > SECONDS_BETWEEN_LINES:
            self.printed = time.monotonic()
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


def counted(screen: Console, label: str, total: int, items: Iterator[T]) -> Iterator[T]:
    """The same items, while a bar shows how many came; elsewhere than on a terminal, lines do.

    Args:
        screen: where.
        label: what is done, before the numbers.
        total: how many items there will be.
        items: each is taken when the one before it is done with.
    """
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    printed = time.monotonic()
    with Progress(*columns, console=screen, transient=True, disable=not screen.is_terminal) as bar:
        task = bar.add_task(label, total=total)
        if bar.disable:
            screen.print(f"{label}: 0 of {total}.")
        for number, item in enumerate(items, 1):
            bar.update(task, advance=1)
            if bar.disable and time.monotonic() - printed > SECONDS_BETWEEN_LINES:
                printed = time.monotonic()
                screen.print(f"{label}: {number} of {total}.")
            yield item


@contextmanager
def progress(screen: Console, what: str = "students") -> Iterator[Watcher]:
    """What shows the progress of a run on this screen; `what` are graded."""
    columns = (
        TextColumn("Grading"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=screen, transient=True, disable=not screen.is_terminal) as bar:
        yield _Count(bar, what)
