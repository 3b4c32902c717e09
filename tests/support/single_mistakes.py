"""What each single known mistake costs in its own exercise, and in others: one student each."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from decimal import Decimal

from grader.core.records import ExerciseResult
from grader.course.course import Assignment, Course
from grader.course.misconceptions import Misconception, edited
from grader.grading.known_mistakes import KnownMistakes, LiveMistakes
from grader.grading.submission_grader import Scope, SubmissionGrader, grade
from grader.sessions.child import ChildSession
from grader.sessions.launchers import Launcher
from grader.submissions.course_modules import standing_for
from grader.submissions.notebooks import Cell
from grader.submissions.submission import Reading, Submission


@dataclass(frozen=True, slots=True)
class Singles:
    """Known mistakes one at a time: no student here has two of them."""

    inner: KnownMistakes

    def known(self, exercise, checks, size):
        """As they are; none for two at a time."""
        return self.inner.known(exercise, checks, size) if size == 1 else []


@dataclass(frozen=True, slots=True)
class Loss:
    """What a single mistake costs an exercise.

    Args:
        is_said: whether a sentence says where it comes from.
    """

    exercise: str
    points: Decimal
    is_said: bool


@dataclass(frozen=True, slots=True)
class Cost:
    """What a single mistake costs.

    Args:
        own: in its own exercise.
        elsewhere: in each other exercise that loses anything by it.
    """

    mistake: str
    exercise: str
    own: Decimal
    elsewhere: tuple[Loss, ...]


def costs(grader: SubmissionGrader, launcher: Launcher, assignment: Assignment) -> Iterator[Cost]:
    """What each known mistake of an assignment costs, in it and in those that import it."""
    course = grader.environment.course
    with_singles = replace(grader, mistakes=Singles(grader.mistakes))
    for mistake in grader.mistakes.misconceptions[assignment.id]:
        made = submission_with(course, grader.mistakes, assignment, mistake)
        graded = [a for a in course.assignments if assignment.id in (a.id, *a.imports)]
        exercises = {e.id: e for a in graded for e in a.exercises}
        with closing(ChildSession(launcher, made, course.limits)) as session:
            result = grade(with_singles, made, session, Scope(exercises))
        yield _cost(mistake, result.exercises)


def submission_with(
    course: Course, mistakes: LiveMistakes, assignment: Assignment, mistake: Misconception
) -> Submission:
    """The solution of an assignment with one mistake, with what it imports and what imports it."""
    solutions = mistakes.solutions
    wanted = {assignment.id, *assignment.imports}
    importing = {a.id for a in course.assignments if assignment.id in a.imports}
    wanted |= importing
    readings = {
        a.id: solutions.readings[a.id] if a.id in wanted else Reading() for a in course.assignments
    }
    keys = {key for reading in readings.values() for key in reading.sources}
    sources = {key: solutions.sources[key] for key in keys}
    (own,) = readings[assignment.id].sources
    text = edited(sources[own].cells[0].text, mistake)
    sources[own] = replace(sources[own], cells=(Cell(None, text),))
    modules = standing_for(course, sources, readings)
    return Submission(mistake.id, sources, readings, modules, solutions.lent)


def _cost(mistake: Misconception, exercises: tuple[ExerciseResult, ...]) -> Cost:
    lost = {e.id: Decimal(str(e.max_score)) - e.score for e in exercises if e.score is not None}
    name = mistake.exercise.partition("/")[2]
    elsewhere = tuple(
        Loss(e.id, lost[e.id], _is_said(e, name))
        for e in exercises
        if lost[e.id] and e.id != mistake.exercise
    )
    return Cost(mistake.id, mistake.exercise, lost[mistake.exercise], elsewhere)


def _is_said(exercise: ExerciseResult, name: str) -> bool:
    """Whether what is read of an exercise names another one as what its loss comes from."""
    if name in exercise.judged_with or exercise.waits_for.endswith(name):
        return True
    return any(name in check.message for check in exercise.checks if check.waits_for)
