"""The student's own line that a check's outcome is about.

A location that the student's process reports is believed only where the submission has it: a file
that was handed in, and a line in it.
"""

from grader.core.records import CodeLocation
from grader.core.text import clean
from grader.sandbox.failures import CodeLine
from grader.submissions.submission import SourceFile
from grader.testing.lookup import definitions
from grader.testing.student import StudentHandle, StudentOutcome

MAX_NAME = 1000


def location_of(student: StudentHandle, error: BaseException | None) -> CodeLocation | None:
    """The line that failed, or else the one where the exercise's own name is defined.

    None for a check that passed, for one that the grader itself failed on, and where nothing
    was handed in.
    """
    if not isinstance(error, StudentOutcome | AssertionError):
        return None
    files = _source_files(student)
    if isinstance(error, StudentOutcome):
        failure = error.failure
        reported = failure.location or (failure.loading and failure.loading.location)
        confirmed = reported and _confirmed(files, reported)
        if confirmed:
            return confirmed
    return _definition(files, student.exercise.name)


def _source_files(student: StudentHandle) -> list[SourceFile]:
    """The files the exercise may stand in, the one that was read first."""
    submission = student.submission.submission
    keys = list(submission.readings[student.exercise.assignment].sources)
    if student.located is not None and student.located.key in keys:
        keys.insert(0, student.located.key)
    return [submission.sources[key] for key in dict.fromkeys(keys)]


def _confirmed(files: list[SourceFile], reported: CodeLine) -> CodeLocation | None:
    for source in files:
        if source.key.rpartition("/")[2] != reported.file:
            continue
        for cell in source.cells:
            is_there = 1 <= reported.line <= cell.text.count("\n") + 1
            if cell.number == reported.cell and is_there:
                return _location(source, reported.cell, reported.line)
    return None


def _definition(files: list[SourceFile], name: str) -> CodeLocation | None:
    """Where a name is defined: the last time, as in Python."""
    for source in files:
        for cell, line in reversed(list(definitions(source, name))):
            return _location(source, cell, line)
    return None


def _location(source: SourceFile, cell: int | None, line: int) -> CodeLocation:
    """The file's name is the student's own text, and is cleaned."""
    return CodeLocation(clean(source.key, MAX_NAME), line, cell)
