"""Loads the predictions of a course, and has a student's code answer one."""

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from grader.checks.fixtures import CheckEnvironment
from grader.checks.modules import forget_checks, load, loaded
from grader.checks.views import why_nothing_came
from grader.core.errors import CourseError
from grader.core.language import _
from grader.core.text import clean
from grader.course.check_helpers import imported_helpers
from grader.course.course import CHECKS, PREDICTIONS, Course, Exercise
from grader.sessions import own_time
from grader.testing.lookup import SubmissionHandle
from grader.testing.predictions import Prediction
from grader.testing.roles import Roles
from grader.testing.student import StudentHandle, StudentOutcome

LEAST, MOST = 3, 5


@dataclass(frozen=True, slots=True)
class CodeAnswer:
    """What a student's code says.

    Args:
        number: of the choice that holds, counted from 1.
        figure: what shows it, in numbers; "" where the choice says all.
    """

    number: int
    figure: str


def load_predictions(course: Course, exercises: Collection[str]) -> dict[str, Prediction]:
    """The predictions of some exercises, by id, in the order of the course.

    Raises:
        CourseError: when a file of them cannot be loaded, or declares something wrong.
    """
    folder = course.root / CHECKS
    ids = dict.fromkeys(course.exercises[id_].assignment for id_ in exercises)
    files = [path for id_ in ids if (path := folder / id_ / PREDICTIONS).is_file()]
    if not files:
        return {}
    forget_checks(folder)
    needed = dict.fromkeys((*imported_helpers(files), *files))
    problems = [problem for path in needed if (problem := load(course, path))]
    if problems:
        raise CourseError(*problems)
    declared = {path: _declared(course, path) for path in files}
    problems = [fault for path, found in declared.items() for fault in _faults(course, path, found)]
    if problems:
        raise CourseError(*problems)
    by_id = {f"{p.parent.name}/{one.name}": one for p, found in declared.items() for one in found}
    return {id_: by_id[id_] for id_ in course.exercises if id_ in by_id and id_ in exercises}


def _declared(course: Course, path: Path) -> list[Prediction]:
    return [one for one in vars(loaded(course, path)).values() if isinstance(one, Prediction)]


def _faults(course: Course, path: Path, found: list[Prediction]) -> Iterator[str]:
    """What is wrong in the declarations of a file."""
    place = course.inner(path)
    for name, count in Counter(one.name for one in found).items():
        if f"{path.parent.name}/{name}" not in course.exercises:
            yield f"{place}: there is no exercise {name} in the assignment"
        if count > 1:
            yield f"{place}: {name} has {count} predictions; one is allowed"
    for one in found:
        if not LEAST <= len(one.choices) <= MOST:
            counted = f"{len(one.choices)} choices; {LEAST} to {MOST} are needed"
            yield f"{place}: {one.name} has {counted}"
        if len(set(one.choices)) < len(one.choices):
            yield f"{place}: two choices of {one.name} are the same"


def answered(
    environment: CheckEnvironment,
    submission: SubmissionHandle,
    exercise: Exercise,
    one: Prediction,
) -> CodeAnswer | str:
    """What a student's code says to a prediction, or a sentence that says why it says nothing.

    Args:
        environment: what checks run with.
        submission: in its session.
        exercise: that the prediction is of.
        one: the prediction.
    """
    course = environment.course
    submission.declared[exercise.id] = environment.declared(exercise)
    submission.forget()
    student = StudentHandle(submission, exercise, roles=Roles(dict(course.roles)))
    try:
        with own_time.limited(course.limits.check_seconds):
            number, figure = one.answer(student)
        if not 1 <= number <= len(one.choices):
            raise ValueError(f"there is no choice {number}")
        return CodeAnswer(number, clean(figure))
    except StudentOutcome as outcome:
        return why_nothing_came(outcome.failure, exercise.name)
    except (Exception, pytest.fail.Exception, own_time.OwnTimeOver) as error:
        why = f"{type(error).__name__}: {error}".rstrip(": ")
        sentence = _("What your code says to it could not be found out ({reason}).")
        return sentence.format(reason=clean(why))
