"""The progress of a class run: a bar on a terminal, a line now and then elsewhere."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)

from grader.grading.class_files import Row
from grader.grading.class_run import Watcher

SECONDS_BETWEEN_LINES = 10.0


@dataclass
class _Count:
    """Counts who is done."""

    students: int = 0
    unchanged: int = 0
    graded: int = 0
    undecided: int = 0
    started: float = 0.0

    def begin(self, students: int, unchanged: int) -> None:
        """The run begins."""
        self.students, self.unchanged = students, unchanged
        self.started = time.monotonic()

    def done(self, row: Row) -> None:
        """One more student is done."""
        self.graded += 1
        self.undecided += row.undecided

    @property
    def rate(self) -> float:
        """Students per second."""
        return self.graded / max(time.monotonic() - self.started, 1e-9)


@dataclass
class _Bar(_Count):
    """A live bar."""

    bar: Progress = field(kw_only=True)
    task: TaskID | None = None

    def begin(self, students: int, unchanged: int) -> None:
        super().begin(students, unchanged)
        self.task = self.bar.add_task("", total=students, completed=unchanged, rate="")

    def done(self, row: Row) -> None:
        super().done(row)
        if self.task is not None:
            wrong = f", {self.undecided} undecided" if self.undecided else ""
            self.bar.update(self.task, advance=1, rate=f"{self.rate:.1f}/s{wrong}")


@dataclass
class _Lines(_Count):
    """A line at the beginning, every few seconds, and at the end."""

    screen: Console = field(kw_only=True)
    printed: float = 0.0

    def begin(self, students: int, unchanged: int) -> None:
        super().begin(students, unchanged)
        self.printed = self.started
        self.screen.print(f"Grading: {self.sentence()} done.")

    def done(self, row: Row) -> None:
        super().done(row)
        is_last = self.unchanged + self.graded == self.students
        if is_last or time.monotonic() - self.printed > SECONDS_BETWEEN_LINES:
            self.printed = time.monotonic()
            self.screen.print(f"{self.sentence()}.")

    def sentence(self) -> str:
        """The count in words."""
        text = f"{self.unchanged + self.graded} of {self.students} students"
        if self.unchanged:
            text += f" ({self.unchanged} unchanged)"
        if self.undecided:
            text += f", {self.undecided} UNDECIDED"
        return f"{text}, {self.rate:.1f} a second" if self.graded else text


@contextmanager
def progress(screen: Console) -> Iterator[Watcher]:
    """What shows the progress of a run on this screen."""
    if not screen.is_terminal:
        yield _Lines(screen=screen)
        return
    columns = (
        TextColumn("Grading"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=screen, transient=True) as bar:
        yield _Bar(bar=bar)
