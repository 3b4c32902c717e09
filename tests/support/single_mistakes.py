"""What each single known mistake costs in its own exercise, and in others: one student each."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from decimal import Decimal

from grader.authoring.free_points import OneAtATime
from grader.core.records import ExerciseResult
from grader.course.course import Assignment, Course
from grader.course.misconceptions import Misconception, edited
from grader.judging.known_mistakes import LiveMistakes
from grader.judging.submission_grader import Scope, SubmissionGrader, grade
from grader.sessions.child import ChildSession
from grader.sessions.launchers import Launcher
from grader.submissions.notebooks import Cell
from grader.submissions.submission import Reading, Submission, standing_for


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


def costs(
    grader: SubmissionGrader,
    launcher: Launcher,
    assignment: Assignment,
    chosen: Iterable[Misconception],
) -> Iterator[Cost]:
    """What known mistakes of an assignment cost, in it and in those that import it."""
    course = grader.environment.course
    with_singles = replace(grader, mistakes=OneAtATime(grader.mistakes))
    graded = [a for a in course.assignments if assignment.id in (a.id, *a.imports)]
    scope = Scope({e.id: e for a in graded for e in a.exercises})
    for mistake in chosen:
        made = submission_with(course, grader.mistakes, assignment, mistake)
        with closing(ChildSession(launcher, made, course.limits)) as session:
            result = grade(with_singles, made, session, scope)
        yield _cost(mistake, result.exercises)


def submission_with(
    course: Course, mistakes: LiveMistakes, assignment: Assignment, mistake: Misconception
) -> Submission:
    """The solution of an assignment with one mistake, with what it imports, and what imports it with all of that."""
    solutions = mistakes.solutions
    wanted = {assignment.id, *assignment.imports}
    importing = [a for a in course.assignments if assignment.id in a.imports]
    wanted |= {id_ for a in importing for id_ in (a.id, *a.imports)}
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
    lost = {e.id: Decimal(str(e.max_score)) - (e.score or 0) for e in exercises}
    touched = [e for e in exercises if lost[e.id] and e.id != mistake.exercise]
    names = {mistake.exercise.partition("/")[2], *(e.name for e in touched)}
    # What is right with a right part is not right by itself, and says so.
    names |= {e.name for e in exercises if not names.isdisjoint(e.judged_with)}
    elsewhere = tuple(Loss(e.id, lost[e.id], _is_said(e, names - {e.name})) for e in touched)
    return Cost(mistake.id, mistake.exercise, lost[mistake.exercise], elsewhere)


def _is_said(exercise: ExerciseResult, names: Collection[str]) -> bool:
    """Whether what is read of an exercise names another one that its loss comes from."""
    awaited = {check.waits_for.partition("/")[2] for check in exercise.checks}
    return not {*exercise.judged_with, *exercise.may_come_from, *awaited}.isdisjoint(names)


BEGIN, END = "<!-- single mistakes -->\n", "<!-- /single mistakes -->\n"
HEAD = "| exercise | mistakes | lost in it | lost in others of its file | lost in later files |\n|---|---|---|---|---|\n"


def row(exercise: str, found: Sequence[Cost]) -> str:
    """A line of the table: what the mistakes of an exercise cost, each by itself."""
    file = exercise.partition("/")[0] + "/"
    inside = [_inside(cost, file) for cost in found]
    outside = [sum((loss.points for loss in cost.elsewhere), Decimal(0)) for cost in found]
    later = [whole - own for whole, own in zip(outside, inside, strict=True)]
    own = [cost.own for cost in found]
    cells = [f"`{exercise}`", str(len(found)), *map(_range, (own, inside, later))]
    return f"| {' | '.join(cells)} |\n"


def _inside(cost: Cost, file: str) -> Decimal:
    lost = (loss.points for loss in cost.elsewhere if loss.exercise.startswith(file))
    return sum(lost, Decimal(0))


def _range(points: Sequence[Decimal]) -> str:
    least, most = (f"{value:g}" for value in (min(points), max(points)))
    return least if least == most else f"{least} to {most}"


def faults(cost: Cost) -> list[str]:
    """What is not fair in what a mistake costs."""
    file = cost.exercise.partition("/")[0] + "/"
    unsaid = [loss.exercise for loss in cost.elsewhere if not loss.is_said]
    found = [f"{cost.mistake}: {exercise} loses and does not say why" for exercise in unsaid]
    if _inside(cost, file) > cost.own:
        found.append(f"{cost.mistake}: costs {cost.own}, and {_inside(cost, file)} beside it")
    return found
