"""Loads the predictions of a course, and has a student's code answer one."""

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from grader.core.errors import CourseError
from grader.core.language import _
from grader.core.text import clean
from grader.course.course import PREDICTIONS, Course, Exercise
from grader.judging.asked import asked
from grader.judging.fixtures import CheckEnvironment
from grader.judging.modules import declared, load_beside
from grader.testing.lookup import SubmissionHandle
from grader.testing.predictions import Prediction
from grader.testing.student import StudentHandle

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
    files = load_beside(course, exercises, PREDICTIONS)
    made = {path: declared(course, path, Prediction) for path in files}
    problems = [fault for path, found in made.items() for fault in _faults(course, path, found)]
    if problems:
        raise CourseError(*problems)
    by_id = {f"{p.parent.name}/{one.name}": one for p, found in made.items() for one in found}
    return {id_: by_id[id_] for id_ in course.exercises if id_ in by_id and id_ in exercises}


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

    def answer(student: StudentHandle) -> CodeAnswer:
        number, figure = one.answer(student)
        if not 1 <= number <= len(one.choices):
            raise ValueError(f"there is no choice {number}")
        return CodeAnswer(number, clean(figure))

    broken = _("What your code says to it could not be found out ({reason}).")
    return asked(environment, submission, exercise, answer, broken)
