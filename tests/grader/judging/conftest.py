"""The tiny course, and what it is graded with."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from grader.course.course import Course, load_course
from grader.judging.submission_grader import SubmissionGrader, full_grader


@pytest.fixture
def course(root: Path) -> Course:
    """The tiny course."""
    return load_course(root / "tests" / "example_course")


@pytest.fixture
def bench(course: Course) -> Iterator[SubmissionGrader]:
    """What to grade with."""
    with closing(full_grader(course, "3")) as made:
        yield made
