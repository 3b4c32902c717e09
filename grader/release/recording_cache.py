"""Recordings that were made before, kept by what each depends on."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

from grader.core.kept import cache_folder, is_kept, kept
from grader.core.processes import spread
from grader.course.course import Assignment, Course
from grader.course.outcome_parts import everything_of

KIND = "recordings"


def recorded(course: Course, assignment: Assignment) -> bytes:
    """The recording of an assignment as bytes, from the cache where it was made before.

    Raises:
        CourseError: as `record` does; a recording that cannot be made is not kept.
    """

    def make() -> bytes:
        from grader.checks.recordings import (
            write_recording,  # both import torch: that takes seconds
        )
        from grader.release.recorder import record

        return write_recording(record(course, assignment))

    return kept(KIND, _depends_on(course, assignment), make)


def record_missing(course: Course, jobs: int) -> tuple[int, Iterator[None]]:
    """Make the recordings that are not kept yet, in several processes.

    Where nothing can be kept, whoever releases makes them one after the other.

    Returns:
        How many there are to make, and what makes the next one each time.
    """
    missing = [a for a in course.assignments if not is_kept(KIND, _depends_on(course, a))]
    if cache_folder() is None or len(missing) < 2:
        return 0, iter(())
    return len(missing), spread(_record, [(course, a) for a in missing], jobs, few=1)


def _record(course: Course, assignment: Assignment) -> None:
    recorded(course, assignment)


def _depends_on(course: Course, assignment: Assignment) -> list[object]:
    """What decides the recording of an assignment; of the others only what it uses of them."""
    paths = course.paths(assignment)
    words = [_digest(path) for path in (paths.hints, paths.styles)]
    points = [exercise.points for exercise in assignment.exercises]
    return [assignment.id, everything_of(course, assignment), words, points]


def _digest(path: Path) -> str:
    """The hash of a file; "" where there is none."""
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
