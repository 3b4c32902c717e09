"""`grader preview`: an assignment or an exercise as students will see it."""

import json
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass

import click
from rich.console import Console
from rich.text import Text

from grader.cli.render import print_check
from grader.cli.shared import course_option
from grader.cli.view import console, view_of
from grader.core.errors import UsageError
from grader.core.language import current
from grader.core.records import Result
from grader.course.course import Assignment, Course, Exercise
from grader.course.misconceptions import Misconception
from grader.course.toml_table import did_you_mean
from grader.judging.seal_probe import launcher_as_graded
from grader.judging.submission_grader import VISIBLE_CHECKS, Scope, grade, with_live_mistakes
from grader.release.solution_cells import cleared, read_solution
from grader.release.stubs import grade_id, stub, student_notebook, translated
from grader.sessions.child import ChildSession
from grader.sessions.launchers import Launcher
from grader.submissions.submission import Submission
from grader.testing.draw import VISIBLE_SEED


@click.command()
@click.argument("target")
@click.option(
    "--mistake", default="", metavar="ID", help="Only what is said of this known mistake."
)
@course_option
def preview(course: Course, target: str, mistake: str) -> None:
    """Show an assignment or an exercise as students will see it.

    The stub, the notebook's cells, and what `grader check` says of the stub, of the solution, and of
    each known mistake. TARGET is an assignment or an exercise, as for `grader check`.
    """
    course.require_solutions()
    exercises = course.select((target,))
    with closing(launcher_as_graded(course.packages)) as launcher:
        screen = console()
        if not mistake:
            _print_released(screen, released(course, exercises))
        trials = Trials(course, launcher)
        if not mistake:
            _print_said(screen, course, "What `check` says of the stub", trials.stub(exercises))
            solved = trials.solution(exercises)
            _print_said(screen, course, "What `check` says of the solution", solved)
        for known, result in trials.mistaken(exercises, mistake):
            name = f"{known.id} ({known.mistake.kind})"
            _print_said(screen, course, f"What `check` says of the known mistake {name}", result)


def _print_released(screen: Console, shown: "Released") -> None:
    _print_heading(screen, "The stub")
    screen.print(shown.stub, markup=False, soft_wrap=True)
    _print_heading(screen, "The notebook")
    for kind, text in shown.cells:
        screen.print(f"[{kind}]", style="dim", markup=False)
        screen.print(f"{text}\n", markup=False, soft_wrap=True)


def _print_said(screen: Console, course: Course, heading: str, result: Result) -> None:
    """Print what a student would read of a result."""
    _print_heading(screen, heading)
    print_check(result, screen, view_of(course))


def _print_heading(screen: Console, words: str) -> None:
    screen.print()
    screen.rule(Text(words, style="bold"), align="left")
    screen.print()


# The stub, the notebook, and what `check` says of answers.

Exercises = Mapping[str, Exercise]
"""Exercises of one assignment, by id."""


@dataclass(frozen=True, slots=True)
class Released:
    """An assignment as students receive it, as far as it was asked for.

    Args:
        stub: the stub's text, or that of the exercises' cells.
        cells: the notebook's: the kind and the text of each.
    """

    stub: str
    cells: tuple[tuple[str, str], ...]


def released(course: Course, exercises: Exercises) -> Released:
    """The stub and the notebook of an assignment, or what some of its exercises have of them.

    Args:
        course: the course.
        exercises: which.

    Raises:
        CourseError: when the solution cannot be read.
    """
    assignment = _assignment(course, exercises)
    source = read_solution(assignment, course.paths(assignment).solution)
    source = translated(course, source, current())
    is_whole = len(exercises) == len(assignment.exercises)
    names = {exercise.name for exercise in exercises.values()}
    chosen = [cleared(assignment, cell) for cell in source.cells if cell.exercise in names]
    ids = {grade_id(e, is_test=it_is) for e in exercises.values() for it_is in (False, True)}
    cells = tuple(
        (cell["cell_type"], "".join(cell["source"]))
        for cell in json.loads(student_notebook(source, current()))["cells"]
        if is_whole or cell["metadata"].get("nbgrader", {}).get("grade_id") in ids
    )
    return Released(stub(source, current()) if is_whole else "\n\n\n".join(chosen), cells)


def _assignment(course: Course, exercises: Exercises) -> Assignment:
    return course.by_id[next(iter(exercises.values())).assignment]


@dataclass
class Trials:
    """Checks answers as `grader check` checks a student's.

    Args:
        course: the course.
        launcher: starts the processes that the answers run in.
    """

    course: Course
    launcher: Launcher

    def __post_init__(self) -> None:
        """Read solutions and misconceptions."""
        self.grader, self.mistakes = with_live_mistakes(
            self.course, VISIBLE_SEED, launcher=self.launcher
        )

    def stub(self, exercises: Exercises) -> Result:
        """What is said of the stub; what it imports is solved."""
        assignment = _assignment(self.course, exercises)
        text = stub(read_solution(assignment, self.course.paths(assignment).solution))
        return self._checked(self.mistakes.with_text(assignment.exercises[0], text), exercises)

    def solution(self, exercises: Exercises) -> Result:
        """What is said of the solution."""
        return self._checked(self.mistakes.solutions, exercises)

    def mistaken(
        self, exercises: Exercises, only: str = ""
    ) -> Iterator[tuple[Misconception, Result]]:
        """What is said of each known mistake.

        Args:
            exercises: whose mistakes.
            only: the id of the one to try; all of them where it is "".

        Raises:
            UsageError: when no mistake of these exercises has that id.
        """
        mistakes = [(e, mistake) for e in exercises.values() for mistake in self.mistakes.of(e)]
        ids = [mistake.id for _exercise, mistake in mistakes]
        if only and only not in ids:
            known = did_you_mean(only, ids) or f"They have {', '.join(ids) or 'none'}."
            raise UsageError(f"There is no known mistake {only!r} in what was chosen; {known}")
        for exercise, mistake in mistakes:
            work = self.mistakes.with_mistakes(exercise, mistake)
            if work is not None and only in ("", mistake.id):
                yield mistake, self._checked(work, {exercise.id: exercise})

    def _checked(self, work: Submission, exercises: Exercises) -> Result:
        with closing(ChildSession(self.launcher, work, self.course.limits)) as session:
            return grade(self.grader, work, session, Scope(dict(exercises), VISIBLE_CHECKS))
