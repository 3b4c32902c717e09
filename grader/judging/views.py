"""Loads the views of a course, and runs them against a student's code."""

import inspect
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import TypeVar

import pytest

from grader.core.errors import CourseError
from grader.core.language import _
from grader.core.records import Result
from grader.core.text import clean
from grader.core.views import HeatMap, Slider, ViewResult
from grader.course.course import CHECKS, PREDICTIONS, VIEWS, Course, Exercise
from grader.judging.exception_hints import place_words
from grader.judging.fixtures import CheckEnvironment
from grader.judging.messages import does_not_run, exception_words, explain_failure
from grader.judging.modules import declared, load_beside
from grader.judging.submission_grader import SubmissionGrader
from grader.sessions import own_time
from grader.sessions.base import Session
from grader.submissions.submission import Submission
from grader.testing.lookup import SubmissionHandle
from grader.testing.predictions import Prediction
from grader.testing.replies import Failure
from grader.testing.roles import Roles
from grader.testing.student import NotJudged, StudentHandle, StudentOutcome
from grader.testing.views import CannotShow, ExampleText, Heat, Text, View

Found = TypeVar("Found")


def asked(
    environment: CheckEnvironment,
    submission: SubmissionHandle,
    exercise: Exercise,
    ask: Callable[[StudentHandle], Found],
    broken: str,
) -> Found | str:
    """What comes of asking the code for an exercise; a sentence where nothing does.

    Args:
        environment: what checks run with.
        submission: in its session.
        exercise: whose code it is.
        ask: asks, by a handle as checks have it.
        broken: the sentence where `ask` itself fails, with `{reason}`.
    """
    course = environment.course
    submission.declared[exercise.id] = environment.declared(exercise)
    submission.forget()
    roles = Roles(dict(course.roles), course.other_names)
    student = StudentHandle(submission, exercise, roles=roles)
    try:
        with own_time.limited(course.limits.check_seconds):
            return ask(student)
    except StudentOutcome as outcome:
        return why_nothing_came(outcome.failure, exercise.name)
    except NotJudged as error:
        return str(error)
    except (Exception, pytest.fail.Exception, own_time.OwnTimeOver) as error:
        why = f"{type(error).__name__}: {error}".rstrip(": ")
        return broken.format(reason=clean(why))


def why_nothing_came(failure: Failure, name: str) -> str:
    """Why a request came to nothing, in a sentence; `grader check` says more."""
    if failure.stopped and failure.loading is not None:
        return does_not_run(failure.stopped, failure.loading)
    if failure.kind != "exception":
        return explain_failure(failure, (), name)
    at = failure.location
    if at is None:
        return _("{name} raised {exception}").format(name=name, exception=exception_words(failure))
    place = f"{clean(at.file, 120)}:{at.line}" if at.cell is None else place_words(at)
    sentence = _("{place}: {name} raised {exception}")
    return sentence.format(place=place, name=name, exception=exception_words(failure))


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


GIVEN = ("student", "text", "heat")
"""What views may ask for by name, besides what they move."""

MOST_MOVES, MOST_STATES = 2, 64


@dataclass(frozen=True, slots=True)
class ExerciseView:
    """A view with the exercise that it is of."""

    exercise: Exercise
    view: View

    @property
    def asks_for(self) -> tuple[str, ...]:
        """The names of its parameters."""
        return tuple(inspect.signature(self.view.function).parameters)

    @property
    def is_about_text(self) -> bool:
        """Whether it shows a text's words."""
        return "text" in self.asks_for


@dataclass(frozen=True, slots=True)
class Views:
    """The views of some exercises, in the order of the course.

    Args:
        example: the course's own text; None where it has none.
    """

    course: Course
    views: tuple[ExerciseView, ...] = ()
    example: ExampleText | None = None

    def of(self, exercises: Collection[str]) -> tuple[ExerciseView, ...]:
        """Those of these exercises, by id."""
        return tuple(one for one in self.views if one.exercise.id in exercises)

    @property
    def own_text(self) -> Text | None:
        """The course's own text, where it has one."""
        return self.example.text() if self.example is not None else None


def load_views(course: Course, exercises: Collection[str]) -> Views:
    """The views of some exercises.

    Raises:
        CourseError: when a file of views cannot be loaded, or declares something wrong.
    """
    common = course.root / CHECKS / VIEWS
    shared = [common] if common.is_file() else []
    files = load_beside(course, exercises, VIEWS, shared)
    if not files:
        return Views(course)
    problems: list[str] = []
    examples = [one for path in shared for one in declared(course, path, ExampleText)]
    found = [
        one for path in files for one in _views(course, path, problems, has_text=bool(examples))
    ]
    if problems:
        raise CourseError(*problems)
    order = list(course.exercises)
    found.sort(key=lambda one: order.index(one.exercise.id))
    chosen = tuple(one for one in found if one.exercise.id in exercises)
    return Views(course, chosen, next(iter(examples), None))


def _views(
    course: Course, path: Path, problems: list[str], *, has_text: bool
) -> Iterator[ExerciseView]:
    for view in declared(course, path, View):
        exercise = course.exercises.get(f"{path.parent.name}/{view.name}")
        where = f"{course.inner(path)}: {view.function.__name__}"
        found = list(_problems(view, has_text=has_text))
        if exercise is None:
            found.insert(0, f"there is no exercise {view.name} in the assignment")
        problems += (f"{where}: {problem}" for problem in found)
        if exercise is not None:
            yield ExerciseView(exercise, view)


def _problems(view: View, *, has_text: bool) -> Iterator[str]:
    """What is wrong in the declaration of a view."""
    asks_for = inspect.signature(view.function).parameters
    known = {*GIVEN, *view.moves} if has_text else {"student", "heat", *view.moves}
    if unknown := [name for name in asks_for if name not in known]:
        yield f"it asks for `{unknown[0]}`; views have {', '.join(sorted(known))}"
    if unused := [name for name in view.moves if name not in asks_for]:
        yield f"it moves `{unused[0]}` and has no parameter of that name"
    if any(len(values) < 2 for values in view.moves.values()):
        yield "what is moved has at least two values"
    states = len(list(product(*view.moves.values())))
    if len(view.moves) > MOST_MOVES or states > MOST_STATES:
        yield f"it moves at most {MOST_MOVES} things, and has at most {MOST_STATES} states"
    if not all((view.title, view.look, view.ask)):
        yield "it has a title, what to look for, and a question"


@dataclass(frozen=True, slots=True)
class ViewRun:
    """Runs views against one submission.

    Args:
        submission: in its session.
        text: what is shown; None where the course has no text.
    """

    environment: CheckEnvironment
    submission: SubmissionHandle
    text: Text | None = None

    def run(self, one: ExerciseView) -> ViewResult:
        """What a view shows of the submission; a problem says why it shows nothing."""
        view, course = one.view, self.environment.course
        say = course.text
        notes = self.text.notes if self.text is not None and one.is_about_text else ()
        sliders = tuple(Slider(say(name), tuple(v)) for name, v in view.moves.items())
        empty = ViewResult(
            exercise=one.exercise.id,
            title=say(view.title),
            look=say(view.look),
            ask=say(view.ask),
            sliders=sliders,
            notes=notes,
            is_about_text=one.is_about_text,
        )
        states = []
        for values in product(*view.moves.values()):
            found = self._state(one, dict(zip(view.moves, values, strict=True)))
            if isinstance(found, str):
                return replace(empty, problem=found)
            states.append(found)
        return replace(empty, states=tuple(states))

    def _state(self, one: ExerciseView, moved: dict[str, object]) -> tuple[HeatMap, ...] | str:
        """The heat maps of one state, or why there are none."""
        broken = _("The picture could not be made ({reason}).")

        def shown(student: StudentHandle) -> tuple[HeatMap, ...] | str:
            heat = Heat(student.calls, self.environment.course.text)
            given = {"student": student, "text": self.text, "heat": heat, **moved}
            try:
                found = one.view.function(**{name: given[name] for name in one.asks_for})
                return (found,) if isinstance(found, HeatMap) else tuple(found)
            except CannotShow as reason:
                return str(reason)

        return asked(self.environment, self.submission, one.exercise, shown, broken)


def run_views(
    grader: SubmissionGrader,
    submission: Submission,
    session: Session,
    views: Iterable[ExerciseView],
    text: Text | None = None,
) -> tuple[ViewResult, ...]:
    """What views show of a submission.

    Args:
        grader: whose environment they are run in.
        submission: what is shown.
        session: the conversation with the process that runs it.
        views: which.
        text: the words that are shown; None where the course has no text.
    """
    course = grader.environment.course
    handle = SubmissionHandle(submission, session, course.limits, course.assignments)
    return tuple(map(ViewRun(grader.environment, handle, text).run, views))


def shown_solved(
    grader: SubmissionGrader, submission: Submission, session: Session, result: Result
) -> tuple[ViewResult, ...]:
    """The views of all exercises that are solved, for a page.

    Args:
        grader: what it was graded with.
        submission: what was graded.
        session: the conversation with the process that runs it.
        result: how it was graded.

    Returns:
        None of a course whose views are wrong: `grader show` and `grader validate` say how.
    """
    solved = [exercise.id for exercise in result.exercises if exercise.is_solved]
    try:
        views = load_views(grader.environment.course, solved)
    except CourseError:
        return ()
    return run_views(grader, submission, session, views.views, views.own_text)
