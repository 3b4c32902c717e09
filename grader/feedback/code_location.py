"""The student's own line that a check's outcome is about.

A location that the student's process reports is believed only where the submission has it: a file
that was handed in, and a line in it.
"""

from grader.core.records import CodeLocation
from grader.core.text import clean
from grader.sandbox.failures import CodeLine
from grader.submissions.source_file import SourceFile, definitions
from grader.testing.student import StudentHandle, StudentOutcome

MAX_NAME = 1000


def location_of(student: StudentHandle, error: BaseException | None) -> CodeLocation | None:
    """The line that failed, or else the one where the exercise's own name is defined.

    None for a check that passed, for one that the grader itself failed on, and where nothing
    was handed in.
    """
    if not isinstance(error, StudentOutcome | AssertionError):
        return None
    submission = student.submission.submission
    keys = list(submission.readings[student.exercise.assignment].sources)
    if student.located is not None and student.located.key in keys:
        keys.insert(0, student.located.key)  # the one that was read comes first
    files = [submission.sources[key] for key in dict.fromkeys(keys)]
    beside = [source for source in submission.sources.values() if source not in files]
    if isinstance(error, StudentOutcome):
        failure = error.failure
        reported = failure.location or (failure.loading and failure.loading.location)
        confirmed = reported and _confirmed([*files, *beside], reported)
        if confirmed:
            return confirmed
    for source in files:
        for cell, line in reversed(list(definitions(source, student.exercise.name))):
            return _location(source, cell, line)  # the last definition counts, as in Python
    return None


def _confirmed(files: list[SourceFile], reported: CodeLine) -> CodeLocation | None:
    for source in files:
        for cell in source.cells if source.key.rpartition("/")[2] == reported.file else ():
            is_there = 1 <= reported.line <= cell.text.count("\n") + 1
            if cell.number == reported.cell and is_there:
                return _location(source, reported.cell, reported.line)
    return None


def _location(source: SourceFile, cell: int | None, line: int) -> CodeLocation:
    """The file's name is the student's own text, and is cleaned."""
    return CodeLocation(clean(source.key, MAX_NAME), line, cell)
