"""A pytest plugin that runs the graded checks as they are, on student code in the same process.

    python -m pytest -p in_the_open --course COURSE --submission FOLDER COURSE/tests/checks

What a course without isolation would do: a fresh pytest process per student. No score, no gates,
no diagnosis; only whether each check passed.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.course.check_helpers import imported_helpers
from grader.course.course import load_course
from grader.judging.collect import FILES, FIXTURES, describe_check
from grader.judging.fixtures import CheckEnvironment, Fixtures, live_environment
from grader.judging.modules import load
from grader.sessions.in_process import InProcessSession
from grader.submissions.submission import read_submission
from grader.testing.lookup import SubmissionHandle

MARKS = ("exercise", "weight", "gate", "remark", "conduct", "guessable", "memory", "deepens")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Whose code to check, against which course."""
    parser.addoption("--course", type=Path, required=True)
    parser.addoption("--submission", type=Path, required=True)


def pytest_configure(config: pytest.Config) -> None:
    """Make the marks known, and load what check files import."""
    for mark in MARKS:
        config.addinivalue_line("markers", mark)
    course = load_course(config.getoption("--course"))
    for file in FILES:
        for helper in imported_helpers((course.root / "tests" / "checks").glob(f"*/{file}")):
            if fault := load(course, helper):
                raise pytest.UsageError(fault)


@pytest.fixture(scope="session")
def environment(request: pytest.FixtureRequest) -> Iterator[CheckEnvironment]:
    """The course and its reference."""
    made = live_environment(load_course(request.config.getoption("--course")), "1")
    yield made
    made.close()


@pytest.fixture(scope="session")
def submission(environment: CheckEnvironment, request: pytest.FixtureRequest) -> SubmissionHandle:
    """The student's code, in this process."""
    course = environment.course
    read = read_submission(course, request.config.getoption("--submission"), "student")
    return SubmissionHandle(read, InProcessSession(read), course.limits, course.assignments)


@pytest.fixture
def fixtures(
    environment: CheckEnvironment, submission: SubmissionHandle, request: pytest.FixtureRequest
) -> Iterator[Fixtures]:
    """What one check is called with; where it names its memory, in a process of its own."""
    check = describe_check(environment.course, request.path, request.cls, request.node.name)
    submission.declared[check.exercise.id] = environment.declared(check.exercise)
    with submission.within(check.memory_mib, check.exercise.assignment) as asked:
        made = environment.fixtures(asked, check.exercise, check.id, FILES[request.path.name])
        made.judge.axes = getattr(check.owner, "axes", ())
        yield made


def _part(name: str) -> object:
    """A fixture that is a part of the others."""

    @pytest.fixture(name=name)
    def part(fixtures: Fixtures) -> object:
        return getattr(fixtures, name)

    return part


globals().update({f"the_{name}": _part(name) for name in FIXTURES})
