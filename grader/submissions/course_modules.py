"""What stands for the course's own modules, when a student's file imports one by its name."""

from collections.abc import Mapping
from typing import Protocol

from grader.course.course import Course
from grader.submissions.source_file import SourceFile, is_written


class Read(Protocol):
    """What was read for an assignment."""

    @property
    def sources(self) -> tuple[str, ...]:
        """The keys of its files."""


def standing_for(
    course: Course, sources: Mapping[str, SourceFile], readings: Mapping[str, Read]
) -> dict[str, str]:
    """The file that stands for each of the course's modules, by the module's name; else "".

    Args:
        course: the course.
        sources: the submission's files by their keys.
        readings: what was read for each assignment.
    """
    return {
        assignment.module: next(
            (
                key
                for key in readings[assignment.id].sources
                if any(is_written(sources[key], exercise) for exercise in assignment.exercises)
            ),
            "",
        )
        for assignment in course.assignments
    }


def lent(course: Course) -> dict[str, str]:
    """By the name of a module, the code of what the course lends in it."""
    return {a.module: a.lends for a in course.assignments if a.lends}
