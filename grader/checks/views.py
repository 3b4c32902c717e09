"""Loads the views of a course, and runs one against a student's code."""

import inspect
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import TypeVar

import pytest

from grader.checks.fixtures import CheckEnvironment
from grader.checks.modules import forget_checks, load, loaded
from grader.core.errors import CourseError
from grader.core.language import _
from grader.core.text import clean, location_words
from grader.core.views import HeatMap, Slider, ViewResult
from grader.course.check_helpers import imported_helpers
from grader.course.course import CHECKS, VIEWS, Course, Exercise
from grader.feedback.messages import does_not_run, exception_words, explain_failure
from grader.sessions import own_time
from grader.testing.lookup import SubmissionHandle
from grader.testing.replies import Failure
from grader.testing.roles import Roles
from grader.testing.student import StudentHandle, StudentOutcome
from grader.testing.views import CannotShow, ExampleText, Heat, Text, View

GIVEN = ("student", "text", "heat")
"""What views may ask for by name, besides what they move."""

MOST_MOVES, MOST_STATES = 2, 64

Kind = TypeVar("Kind")


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


def load_views(course: Course, exercises: Collection[str]) -> Views:
    """The views of some exercises.

    Raises:
        CourseError: when a file of views cannot be loaded, or declares something wrong.
    """
    folder = course.root / CHECKS
    ids = dict.fromkeys(course.exercises[id_].assignment for id_ in exercises)
    files = [path for id_ in ids if (path := folder / id_ / VIEWS).is_file()]
    if not files:
        return Views(course)
    forget_checks(folder)
    shared = [folder / VIEWS] if (folder / VIEWS).is_file() else []
    needed = dict.fromkeys((*imported_helpers((*shared, *files)), *shared, *files))
    with pytest.MonkeyPatch.context() as patch:
        # Marks of checks are known only while these are collected; a test run refuses others.
        patch.setattr(pytest.mark, "_config", None, raising=False)
        problems = [problem for path in needed if (problem := load(course, path))]
    if problems:
        raise CourseError(*problems)
    examples = [one for path in shared for one in _declared(course, path, ExampleText)]
    found = [
        one for path in files for one in _views(course, path, problems, has_text=bool(examples))
    ]
    if problems:
        raise CourseError(*problems)
    order = list(course.exercises)
    found.sort(key=lambda one: order.index(one.exercise.id))
    chosen = tuple(one for one in found if one.exercise.id in exercises)
    return Views(course, chosen, next(iter(examples), None))


def _declared(course: Course, path: Path, kind: type[Kind]) -> list[Kind]:
    """What a file has of a kind, in its order."""
    return [value for value in vars(loaded(course, path)).values() if isinstance(value, kind)]


def _views(
    course: Course, path: Path, problems: list[str], *, has_text: bool
) -> Iterator[ExerciseView]:
    for view in _declared(course, path, View):
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
        self.submission.declared[one.exercise.id] = self.environment.declared(one.exercise)
        states = []
        for values in product(*view.moves.values()):
            found = self._state(one, dict(zip(view.moves, values, strict=True)))
            if isinstance(found, str):
                return replace(empty, problem=found)
            states.append(found)
        return replace(empty, states=tuple(states))

    def _state(self, one: ExerciseView, moved: dict[str, object]) -> tuple[HeatMap, ...] | str:
        """The heat maps of one state, or why there are none."""
        course = self.environment.course
        self.submission.forget()
        student = StudentHandle(self.submission, one.exercise, roles=Roles(dict(course.roles)))
        heat = Heat(student.calls, course.text)
        given = {"student": student, "text": self.text, "heat": heat, **moved}
        try:
            with own_time.limited(course.limits.check_seconds):
                found = one.view.function(**{name: given[name] for name in one.asks_for})
                return (found,) if isinstance(found, HeatMap) else tuple(found)
        except StudentOutcome as outcome:
            return why_nothing_came(outcome.failure, one.exercise.name)
        except CannotShow as reason:
            return str(reason)
        except (Exception, pytest.fail.Exception, own_time.OwnTimeOver) as error:
            why = f"{type(error).__name__}: {error}".rstrip(": ")
            return _("The picture could not be made ({reason}).").format(reason=clean(why))


def why_nothing_came(failure: Failure, name: str) -> str:
    """Why a request came to nothing, in a sentence; `grader check` says more."""
    if failure.stopped and failure.loading is not None:
        return does_not_run(failure.stopped, failure.loading)
    if failure.kind != "exception":
        return explain_failure(failure, (), name)
    at = failure.location
    if at is None:
        return _("{name} raised {exception}").format(name=name, exception=exception_words(failure))
    file = clean(at.file, 120)
    place = f"{file}:{at.line}" if at.cell is None else location_words(file, at.cell, at.line)
    sentence = _("{place}: {name} raised {exception}")
    return sentence.format(place=place, name=name, exception=exception_words(failure))
