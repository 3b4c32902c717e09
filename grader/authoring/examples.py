"""Proves that the examples in the docstrings of solutions, which students read, are true."""

import doctest
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

from grader.core.text import clean
from grader.course.course import Assignment, Course
from grader.release.pictures import loaded
from grader.sessions import own_time

Raised = tuple[type[BaseException], BaseException, TracebackType]


@dataclass
class _Examples(doctest.DocTestRunner):
    """Runs examples and keeps a sentence on each that is wrong.

    Args:
        path: the file that they stand in.
    """

    path: str
    wrong: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(verbose=False)

    def report_start(self, out: Any, test: doctest.DocTest, example: doctest.Example) -> None:
        """Say nothing of an example that begins."""

    def report_failure(
        self, out: Any, test: doctest.DocTest, example: doctest.Example, got: str
    ) -> None:
        """Keep that an example returns something else."""
        self._keep(test, example, f"returns {_line(got)}, not {_line(example.want)}")

    def report_unexpected_exception(
        self, out: Any, test: doctest.DocTest, example: doctest.Example, exc_info: Raised
    ) -> None:
        """Keep that an example raises; that its time is over ends all of them."""
        kind, error, _traceback = exc_info
        if isinstance(error, own_time.OwnTimeOver):
            raise error
        self._keep(test, example, f"raises {kind.__name__}: {clean(str(error))[:200]}")

    def _keep(self, test: doctest.DocTest, example: doctest.Example, what: str) -> None:
        place = f"{self.path}:{(test.lineno or 0) + example.lineno + 1}"
        self.wrong.append(f"{place}: the example `{_line(example.source)}` {what}")


def _line(text: str) -> str:
    """A text in one line, "nothing" where it is empty."""
    return clean(" ".join(text.split()))[:200] or "nothing"


def wrong_examples(course: Course, assignment: Assignment) -> list[str]:
    """What the docstrings of an assignment's solution show that is not so, each with its line."""
    path = course.inner(course.paths(assignment).solution)
    runner, seconds = _Examples(path), course.limits.submission_seconds
    try:
        with loaded(course, assignment) as module, own_time.limited(seconds):
            for test in doctest.DocTestFinder().find(module):
                runner.run(test, out=lambda _text: None)
    except own_time.OwnTimeOver:
        runner.wrong.append(f"{path}: its examples did not end within {seconds:g} seconds")
    except Exception as error:  # whatever loading the author's file raises
        said = f"{type(error).__name__}: {clean(str(error))[:200]}"
        runner.wrong.append(f"{path}: its examples cannot be run: {said}")
    return runner.wrong
