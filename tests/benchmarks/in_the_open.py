"""A pytest plugin that runs the graded checks as they are, on student code in the same process.

    python -m pytest -p in_the_open --submission FOLDER tests/checks

What a course without isolation would do: a fresh pytest process per student. No score, no gates,
no diagnosis; only whether each check passed.
"""

from pathlib import Path

import pytest

from grader.checks.collect import FILES, MARKS, describe_check
from grader.checks.fixtures import Fixtures, live_environment
from grader.course.course import load_course
from grader.sessions.in_process import InProcessSession
from grader.submissions.submission import read_submission
from grader.testing.lookup import SubmissionHandle

ROOT = Path(__file__).parents[2]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Whose code to check."""
    parser.addoption("--submission", type=Path, required=True)


def pytest_configure(config: pytest.Config) -> None:
    """Make the marks known."""
    for mark in MARKS:
        config.addinivalue_line("markers", mark)


@pytest.fixture(scope="session")
def environment():
    """The course and its reference."""
    made = live_environment(load_course(ROOT), "1")
    yield made
    made.close()


@pytest.fixture(scope="session")
def submission(environment, request):
    """The student's code, in this process."""
    course = environment.course
    read = read_submission(course, request.config.getoption("--submission"), "student")
    return SubmissionHandle(read, InProcessSession(read), course.limits, course.assignments)


@pytest.fixture
def fixtures(environment, submission, request) -> Fixtures:
    """What one check is called with."""
    check = describe_check(environment.course, request.node)
    return environment.fixtures(submission, check.exercise, check.id, FILES[request.path.name])


@pytest.fixture
def student(fixtures):
    """The student's code."""
    return fixtures.student


@pytest.fixture
def reference(fixtures):
    """The solution."""
    return fixtures.reference


@pytest.fixture
def judge(fixtures):
    """What compares."""
    return fixtures.judge


@pytest.fixture
def draw(fixtures):
    """What draws inputs."""
    return fixtures.draw


@pytest.fixture
def printed(fixtures):
    """The documents' tensors."""
    return fixtures.printed
