"""Asks a student's code for something apart from checks: an answer, or a sentence why there is none."""

from collections.abc import Callable
from typing import TypeVar

import pytest

from grader.core.language import _
from grader.core.text import clean, location_words
from grader.course.course import Exercise
from grader.judging.fixtures import CheckEnvironment
from grader.judging.messages import does_not_run, exception_words, explain_failure
from grader.sessions import own_time
from grader.testing.lookup import SubmissionHandle
from grader.testing.replies import Failure
from grader.testing.roles import Roles
from grader.testing.student import NotJudged, StudentHandle, StudentOutcome

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
    student = StudentHandle(submission, exercise, roles=Roles(dict(course.roles)))
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
    file = clean(at.file, 120)
    place = f"{file}:{at.line}" if at.cell is None else location_words(file, at.cell, at.line)
    sentence = _("{place}: {name} raised {exception}")
    return sentence.format(place=place, name=name, exception=exception_words(failure))
