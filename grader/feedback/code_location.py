"""The student's own line that a check's outcome is about.

A location that the student's process reports is believed only where the submission has it: a file
that was handed in, and a line in it.
"""

from grader.core.records import CodeLocation
from grader.core.text import clean
from grader.sandbox.failures import CodeLine
from grader.submissions.source_file import SourceFile, definitions
from grader.testing.judge import Mismatch
from grader.testing.student import StudentHandle, StudentOutcome

MAX_NAME = 1000


def location_of(student: StudentHandle, error: BaseException | None) -> CodeLocation | None:
    """The line that failed or changed an argument, or else the one that defines the exercise's name.

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
    reported = _reported(error)
    if confirmed := reported and _confirmed([*files, *beside], reported):
        return confirmed
    for source in files:
        for cell, line in reversed(list(definitions(source, student.exercise.name))):
            return _location(source, cell, line)  # the last definition counts, as in Python
    return None


def _reported(error: StudentOutcome | AssertionError) -> CodeLine | None:
    """The line that the student's process says an error is about."""
    if isinstance(error, StudentOutcome):
        failure = error.failure
        loading = failure.loading
        return failure.location or (loading.location if loading else None)
    if isinstance(error, Mismatch) and error.difference.expected is None:
        lines = [line for call in error.calls[-1:] for _name, line in call.writes]
        return lines[0] if len(lines) == 1 else None
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
