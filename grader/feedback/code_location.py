"""The line of the student's own that a check's outcome is about.

What the student's process tells of a place is believed only as far as the submission itself bears
it out: a file that was handed in, and a line that it has.
"""

import re

from grader.core.records import CodeLocation
from grader.core.text import clean
from grader.submissions.submission import SourceFile
from grader.testing.student import CodeLine, StudentHandle, StudentOutcome

MAX_NAME = 1000


def place_of(student: StudentHandle, error: BaseException | None) -> CodeLocation | None:
    """The line that failed, or else the one where the exercise's own name is defined.

    None for a check that passed, for one that the grader itself failed on, and where nothing
    was handed in.
    """
    if isinstance(error, StudentOutcome):
        told = error.failure.place or (error.failure.loading and error.failure.loading.place)
        found = _confirmed(student, told) if told else None
        return found or _definition(student)
    return _definition(student) if isinstance(error, AssertionError) else None


def _sources(student: StudentHandle) -> list[SourceFile]:
    """The files the exercise may stand in, the one that was read first."""
    submission = student.submission.submission
    keys = list(submission.readings[student.exercise.assignment].sources)
    if student.located is not None and student.located.key in keys:
        keys.insert(0, student.located.key)
    return [submission.sources[key] for key in dict.fromkeys(keys)]


def _confirmed(student: StudentHandle, told: CodeLine) -> CodeLocation | None:
    for source in _sources(student):
        if source.key.rpartition("/")[2] != told.file:
            continue
        for cell in source.cells:
            if cell.number == told.cell and 1 <= told.line <= cell.text.count("\n") + 1:
                return _where(source, told.line, told.cell)
    return None


def _definition(student: StudentHandle) -> CodeLocation | None:
    """Where the exercise's name is defined: the last time, as Python has it."""
    name = re.escape(student.exercise.name)
    defines = re.compile(rf"^[ \t]*(?:def|class)[ \t]+{name}\b|^{name}[ \t]*[:=]", re.MULTILINE)
    for source in _sources(student):
        for cell in reversed(source.cells):
            starts = [match.start() for match in defines.finditer(cell.text)]
            if starts:
                line = cell.text.count("\n", 0, starts[-1]) + 1
                return _where(source, line, cell.number)
    return None


def _where(source: SourceFile, line: int, cell: int | None) -> CodeLocation:
    """A place, whose file's name is the student's own text."""
    return CodeLocation(clean(source.key, MAX_NAME), line, cell)
