"""The student's own line that a check's outcome is about.

A location that the student's process reports is believed only where the submission has it: a file
that was handed in, and a line in it.
"""

import re
from collections.abc import Iterable

from grader.core.records import CodeLocation
from grader.core.text import clean
from grader.sandbox.failures import CodeLine
from grader.submissions.source_file import SourceFile, definitions
from grader.testing.judge import Mismatch
from grader.testing.student import StudentHandle, StudentOutcome

MAX_NAME = 1000


DEFINED = re.compile(r"^(?:async )?(?:def|class) (\w+)", re.MULTILINE)


def location_of(
    student: StudentHandle, error: BaseException | None, exercises: Iterable[str] = ()
) -> CodeLocation | None:
    """The line that failed or changed an argument, or else the one that defines the exercise's name.

    Of a line in another exercise's code, it is the one that led there. None for a check that
    passed, for one that the grader itself failed on, and where nothing was handed in.

    Args:
        student: the handle of the check.
        error: what ended it.
        exercises: the names of all exercises.
    """
    if not isinstance(error, StudentOutcome | AssertionError):
        return None
    submission = student.submission.submission
    keys = list(submission.readings[student.exercise.assignment].sources)
    if student.located is not None and student.located.key in keys:
        keys.insert(0, student.located.key)  # the one that was read comes first
    files = [submission.sources[key] for key in dict.fromkeys(keys)]
    beside = [source for source in submission.sources.values() if source not in files]
    others = set(exercises) - {student.exercise.name}
    confirmed = [_confirmed([*files, *beside], reported) for reported in _reported(error)]
    found = [one for one in confirmed if one is not None]
    if found:
        return next((line for line, around in found if around not in others), found[0][0])
    for source in files:
        for cell, line in reversed(list(definitions(source, student.exercise.name))):
            return _location(source, cell, line)  # the last definition counts, as in Python
    return None


def _reported(error: StudentOutcome | AssertionError) -> list[CodeLine]:
    """The line that the student's process says an error is about, and the one that led there."""
    lines: list[CodeLine | None] = []
    if isinstance(error, StudentOutcome):
        failure = error.failure
        loading = failure.loading
        lines = [failure.location or (loading.location if loading else None), failure.called]
    elif isinstance(error, Mismatch) and error.difference.expected is None:
        written = [line for call in error.calls[-1:] for _name, line in call.writes]
        lines = written if len(written) == 1 else []
    return [line for line in lines if line is not None]


def _confirmed(files: list[SourceFile], reported: CodeLine) -> tuple[CodeLocation, str] | None:
    """Where the line stands, and the function or class around it, where the submission has it."""
    for source in files:
        for cell in source.cells if source.key.rpartition("/")[2] == reported.file else ():
            is_there = 1 <= reported.line <= cell.text.count("\n") + 1
            if cell.number == reported.cell and is_there:
                above = "".join(cell.text.splitlines(keepends=True)[: reported.line])
                around = DEFINED.findall(above)[-1:]
                return _location(source, reported.cell, reported.line), "".join(around)
    return None


def _location(source: SourceFile, cell: int | None, line: int) -> CodeLocation:
    """The file's name is the student's own text, and is cleaned."""
    return CodeLocation(clean(source.key, MAX_NAME), line, cell)
