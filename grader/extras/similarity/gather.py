"""Reads what a class, and classes of earlier years, handed in, as traces."""

import gc
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from grader.classes.records import Records
from grader.core.errors import UsageError
from grader.core.processes import spread
from grader.course.course import Course
from grader.extras.similarity.traces import Given, Work, work_of
from grader.intake.read import read_submissions
from grader.intake.tables import read_text
from grader.submissions.faults import FAULTS, in_words
from grader.submissions.submission import read_submission


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads the work of one student after the other.

    Args:
        course: the course.
        given: what each assignment hands out.
        records: those of a run; None where there is none.
        archive: the name of the earlier year that is read, "" for this class.
    """

    course: Course
    given: Mapping[str, Given]
    records: Records | None
    archive: str = ""

    def work(self, student: str, path: Path | None, refused: str) -> Work | str:
        """The work of a student; "" where nothing was handed in, or why it cannot be read.

        Args:
            student: the student's name.
            path: where it lies.
            refused: why that is known to be unreadable; else "".
        """
        if path is None:
            return refused
        try:
            submission = read_submission(self.course, path, student)
            if not submission.sources:
                return next((r.undecided for r in submission.readings.values() if r.undecided), "")
            has_record = self.records is not None and student in self.records.texts
            result = self.records.failures(student) if self.records and has_record else None
            folder = path if path.is_dir() else path.parent
            return work_of(submission, folder, self.given, result, self.archive)
        except FAULTS as error:
            return in_words(error)


def gather(
    course: Course,
    submissions: Path,
    records: Records | None,
    archives: Sequence[Path] = (),
    jobs: int = 1,
) -> tuple[list[Work], list[str]]:
    """The work of a class and of earlier ones, and whose could not be read, with the reason.

    Args:
        course: the course.
        submissions: what the class handed in, as `grader grade` was given it.
        records: those of a run; of students without one only texts are compared.
        archives: what classes of earlier years handed in.
        jobs: how many processes read, where the class is large.

    Raises:
        UsageError: when there is nothing to read.
    """
    reader = Reader(course, {a.id: Given.of(course, a) for a in course.assignments}, records)
    gc.disable()  # there is a million of small things, none of them in a circle
    try:
        found = [*_class(reader, submissions, jobs)]
        names = [archive.resolve().name for archive in archives]
        for number, (archive, name) in enumerate(zip(archives, names, strict=True), 1):
            named = f"{name}_{number}" if name in names[: number - 1] else name
            found += _class(replace(reader, records=None, archive=named), archive, jobs)
    finally:
        gc.enable()
    works = [work for work in found if isinstance(work, Work)]
    if not works:
        raise UsageError(f"{submissions} holds no work.")
    return works, [work for work in found if isinstance(work, str)]


def _class(reader: Reader, submissions: Path, jobs: int) -> Iterator[Work | str]:
    with read_submissions(reader.course, submissions) as intake:
        pieces = [(s.id, s.path if not s.refused else None, s.refused) for s in intake.students]
        with closing(spread(reader.work, pieces, jobs)) as found:
            for (student, *_), work in zip(pieces, found, strict=True):
                if work:
                    yield f"{student}: {work}" if isinstance(work, str) else work


def read_groups(path: Path) -> list[list[str]]:
    """Who was meant to work together: a group a line, set apart by commas.

    Raises:
        UsageError: when the file cannot be read.
    """
    lines = read_text(path, "list of groups").splitlines()
    groups = [line.partition("#")[0].split(",") for line in lines]
    return [[name.strip() for name in group if name.strip()] for group in groups if any(group)]
