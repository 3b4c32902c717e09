"""Hashes of what a student handed in: of all of it, and of what each assignment can see."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from grader.course.course import Course
from grader.submissions.attempts import contents


@dataclass(frozen=True, slots=True)
class Digests:
    """Hashes of a student's files."""

    whole: str
    by_assignment: Mapping[str, str]
    has_files: bool = True
    timestamps: bool = False


def digests_of(course: Course, path: Path) -> Digests:
    """Those of a student's folder or file."""
    found = contents(course, path)
    has_files = path.is_file() or any(path.rglob("*.py")) or any(path.rglob("*.ipynb"))
    return Digests("", found, has_files, any(path.rglob("timestamp.txt")))
