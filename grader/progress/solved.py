"""What is said once an exercise is solved, and before one is begun: by two groups of entry points."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from rich.console import RenderableType

from grader.core.entry_points import entries, load
from grader.core.errors import GraderError
from grader.course.course import Course, Exercise

if TYPE_CHECKING:
    from grader.judging.submission_grader import SubmissionGrader
    from grader.sessions.base import Session
    from grader.submissions.submission import Submission


@dataclass(frozen=True, slots=True)
class Solved:
    """Exercises that a run of checks is the first to find solved, while its session still answers.

    Args:
        grader: what they were checked with.
        submission: the work.
        session: that it runs in.
        exercises: those that were not solved before.
        place: where it is shown: by `grader check`, by `grader watch`, or in a notebook.
    """

    grader: "SubmissionGrader"
    submission: "Submission"
    session: "Session"
    exercises: Sequence[Exercise]
    place: Literal["check", "watch", "notebook"]

    @property
    def course(self) -> Course:
        """Their course."""
        return self.grader.environment.course


@dataclass(frozen=True, slots=True)
class Shown:
    """Something that is shown: as text, and in a notebook as HTML where there is some."""

    text: RenderableType
    html: str = ""


def what_follows(solved: Solved) -> list[Shown]:
    """What there is to show of exercises that were just solved.

    Where a file of the course is wrong there is nothing: `grader validate` says how.
    """
    shown: list[Shown] = []
    for entry in entries("grader.solved.after").values() if solved.exercises else ():
        with suppress(GraderError):
            shown += load(entry)(solved)
    return shown


def what_precedes(course: Course, exercise: Exercise) -> list[str]:
    """The lines to read before an exercise is written."""
    lines = (load(entry)(course, exercise) for entry in entries("grader.solved.before").values())
    return [line for line in lines if line]
