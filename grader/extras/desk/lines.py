"""A student on the map of the desk: the result in one line, and why somebody should look at it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from grader.classes.rows import Row
from grader.classes.run import Maker
from grader.classes.score import StudentInputs
from grader.classes.store import Standing
from grader.core.files import OutputFile
from grader.core.language import _, listed
from grader.core.records import ExerciseResult, Outcome, Result
from grader.course.course import Course
from grader.reports.html.class_views import Entry, First, first_to_look_at, score_cell, students_map


@dataclass(frozen=True, slots=True)
class Line:
    """A student on the map.

    Args:
        row: the result in one line.
        standing: what the store remembers of it.
        files: those of the student that are to be written, because they differ.
        score: the total, as the map shows it.
        cells: the exercises, as the map shows them.
        looks: why somebody should look: groups with this student alone.
    """

    row: Row
    standing: Standing
    files: tuple[OutputFile, ...]
    score: str
    cells: Sequence[Entry]
    looks: tuple[First, ...]


@dataclass(frozen=True, slots=True)
class Liner:
    """Makes lines of what students handed in."""

    maker: Maker
    course: Course

    def line(self, inputs: StudentInputs) -> Line:
        """A student's line."""
        result = self.maker.scorer.result(inputs)
        row, standing, _open_attempts, files = self.maker.made_of(result, inputs)
        ((_result, cells),) = students_map([result], self.course)
        looks = (*first_to_look_at([result], self.course), *near_misses(result))
        return Line(row, standing, files, score_cell(result), cells, looks)


def near_misses(result: Result) -> Iterator[First]:
    """The exercises of which one check alone did not pass, and nobody knows the mistake."""
    found = [f"{e.id}: {title}" for e in result.exercises if (title := _only_failure(e))]
    if found:
        why = _("One check alone did not pass, and no known mistake explains it.")
        yield First(_("Nearly right"), why, ((result.student, listed(found)),))


def _only_failure(exercise: ExerciseResult) -> str:
    """The title of the one check that did not pass; "" where there is none, or several."""
    counting = [check for check in exercise.checks if check.weight]
    failed = [check for check in counting if check.outcome is not Outcome.PASSED]
    is_near = len(failed) == 1 < len(counting) and failed[0].outcome is Outcome.FAILED
    is_open = exercise.max_score and not (exercise.findings or exercise.decision)
    return failed[0].title if is_near and is_open else ""
