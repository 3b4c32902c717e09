"""The tiny course, and what it is graded with."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from grader.core.records import Result
from grader.course.course import Course, load_course
from grader.judging.submission_grader import Scope, SubmissionGrader, full_grader, grade
from grader.sessions.child import ChildSession
from grader.submissions.submission import read_submission


@pytest.fixture
def course(root: Path) -> Course:
    """The tiny course."""
    return load_course(root / "tests" / "example_course")


@pytest.fixture
def bench(course: Course) -> Iterator[SubmissionGrader]:
    """What to grade with."""
    with closing(full_grader(course, "3")) as made:
        yield made


@pytest.fixture
def graded(course: Course, warm_parent: Any, tmp_path: Path) -> Callable[..., tuple[Result, Any]]:
    """Grades a text or files in a child; the result, and the session, which has ended."""

    def run(
        bench: SubmissionGrader, files: str | Mapping[str, str], kind: Any = ChildSession
    ) -> tuple[Result, Any]:
        folder = tmp_path / "student"
        folder.mkdir(exist_ok=True)
        for name, text in ({"scores.py": files} if isinstance(files, str) else files).items():
            (folder / name).write_text(text, "utf-8")
        submission = read_submission(course, folder, "student")
        with closing(kind(warm_parent, submission, course.limits)) as session:
            return grade(bench, submission, session, Scope(course.exercises)), session

    return run
