"""How a class run goes on, live: a bar on a terminal, a line now and then elsewhere."""

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
        """One more."""
        self.graded += 1
        self.undecided += row.undecided

    @property
    def rate(self) -> float:
        """Students per second."""
        return self.graded / max(time.monotonic() - self.started, 1e-9)

    def sentence(self) -> str:
        """The count in words."""
        text = f"{self.unchanged + self.graded} of {self.students} students"
        if self.unchanged:
            text += f" ({self.unchanged} unchanged)"
        if self.undecided:
            text += f", {self.undecided} UNDECIDED"
        return f"{text}, {self.rate:.1f} a second" if self.graded else text


@dataclass
class _Bar:
    """A live bar."""

    bar: Progress
    count: _Count = field(default_factory=_Count)
    task: TaskID | None = None

    def begin(self, students: int, unchanged: int) -> None:
        """Show the bar."""
        self.count.begin(students, unchanged)
        self.task = self.bar.add_task("", total=students, completed=unchanged, told="")

    def done(self, row: Row) -> None:
        """Move it."""
        self.count.done(row)
        if self.task is not None:
            wrong = f", {self.count.undecided} undecided" if self.count.undecided else ""
            self.bar.update(self.task, advance=1, told=f"{self.count.rate:.1f}/s{wrong}")


@dataclass
class _Lines:
    """A line at the beginning, every few seconds, and at the end."""

    screen: Console
    count: _Count = field(default_factory=_Count)
    told: float = 0.0

    def begin(self, students: int, unchanged: int) -> None:
        """Tell how many there are."""
        self.count.begin(students, unchanged)
        self.told = self.count.started
        self.screen.print(f"Grading: {self.count.sentence()} done.")

    def done(self, row: Row) -> None:
        """Tell now and then."""
        self.count.done(row)
        is_last = self.count.unchanged + self.count.graded == self.count.students
        if is_last or time.monotonic() - self.told > SECONDS_BETWEEN_LINES:
            self.told = time.monotonic()
            self.screen.print(f"{self.count.sentence()}.")


@contextmanager
def progress(screen: Console) -> Iterator[Watcher]:
    """What tells how a run goes on, on this screen."""
    if not screen.is_terminal:
        yield _Lines(screen)
        return
    columns = (
        TextColumn("Grading"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[told]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=screen, transient=True) as bar:
        yield _Bar(bar)
