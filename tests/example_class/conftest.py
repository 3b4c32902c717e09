"""The example class, graded once as `make demo` grades it.

What students hand in is graded, never collected: some of them bring tests of their own.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from grader.classroom import grade_class, read_class, write_outputs
from grader.course import Course, load_course
from grader.model import Result
from grader.sessions.launchers import Launcher, default_launcher
from grader.sessions.sealed import CannotSealError, sealed_launcher

collect_ignore = ["submissions"]

HERE = Path(__file__).parent
SEED = 1


@dataclass(frozen=True, slots=True)
class Graded:
    """The class after grading.

    Args:
        course: the course.
        results: per student.
        out: the folder with what was written down.
    """

    course: Course
    results: dict[str, Result]
    out: Path

    def record(self, kind: str, student: str) -> dict[str, Any]:
        """A student's file in `results` or `feedback`."""
        record: dict[str, Any] = json.loads(
            (self.out / kind / f"{student}.json").read_text("utf-8")
        )
        return record


@pytest.fixture(scope="session")
def graded(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Graded:
    """The class, graded once, sealed where this machine can."""
    course = load_course(root)
    students = read_class(HERE / "submissions", HERE / "roster.csv")
    results = list(grade_class(course, students, launcher(), SEED))
    out = tmp_path_factory.mktemp("graded")
    write_outputs(course, results, out)
    return Graded(course, {result.student: result for result in results}, out)


def launcher() -> Launcher:
    """What `make demo` takes."""
    try:
        return sealed_launcher()
    except CannotSealError:
        return default_launcher()
