"""Recordings that were made before, kept by what each depends on."""

import hashlib
from collections.abc import Iterable, Iterator
from math import comb
from pathlib import Path

from grader.core.kept import cache_folder, is_kept, kept
from grader.core.processes import spread
from grader.course.course import Assignment, Course, Exercise
from grader.course.misconceptions import all_misconceptions
from grader.course.outcome_parts import everything_of

KIND = "recordings"


def recorded(course: Course, assignment: Assignment) -> bytes:
    """The recording of an assignment as bytes, from the cache where it was made before.

    Raises:
        CourseError: as `record` does; a recording that cannot be made is not kept.
    """

    def make() -> bytes:
        from grader.judging.recordings import (
            write_recording,  # both import torch: that takes seconds
        )
        from grader.release.recorder import record

        return write_recording(record(course, assignment))

    return kept(KIND, _depends_on(course, assignment), make)


def record_missing(course: Course, jobs: int) -> tuple[int, Iterator[None]]:
    """Make the recordings that are not kept yet, in several processes.

    First how checks go with known mistakes, which takes longest, the most of them first; each is
    kept by itself. Where nothing can be kept, whoever releases makes them one after the other.

    Returns:
        How many steps there are, and what makes the next one each time.
    """
    missing = [a for a in course.assignments if not is_kept(KIND, _depends_on(course, a))]
    if cache_folder() is None:
        return 0, iter(())
    steps = [*_with_mistakes(course, missing), *((assignment, 0) for assignment in missing)]
    pieces = [(course, *step) for step in steps]
    return len(steps), spread(_record, pieces, jobs, few=1, in_order=False)


def _with_mistakes(course: Course, assignments: Iterable[Assignment]) -> list[tuple[Exercise, int]]:
    """The exercises of some assignments, with how many mistakes at a time; the most work first."""
    known = all_misconceptions(course)
    counts = {}
    for assignment in assignments:
        for exercise in assignment.exercises:
            number = sum(m.exercise == exercise.id for m in known[assignment.id])
            counts[exercise, 1], counts[exercise, 2] = number, comb(number, 2)
    return sorted(filter(counts.get, counts), key=lambda step: counts[step], reverse=True)


def _record(course: Course, target: Assignment | Exercise, size: int) -> None:
    from grader.release.recorder import with_mistakes  # imports torch

    if isinstance(target, Exercise):
        with_mistakes(course, target, size)
    else:
        recorded(course, target)


def _depends_on(course: Course, assignment: Assignment) -> list[object]:
    """What decides the recording of an assignment; of the others only what it uses of them."""
    paths = course.paths(assignment)
    words = [_digest(path) for path in (paths.hints, paths.styles)]
    points = [exercise.points for exercise in assignment.exercises]
    return [assignment.id, everything_of(course, assignment), words, points]


def _digest(path: Path) -> str:
    """The hash of a file; "" where there is none."""
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
