"""What is said of files when a submission is read."""

from collections.abc import Iterable, Sequence
from itertools import islice

from grader.core.language import _, listed
from grader.core.text import clean
from grader.course.course import Assignment
from grader.submissions.file_names import plain_name
from grader.submissions.source_file import SourceFile, problem_note

MOST_NAMES = 5


def few(names: Iterable[str]) -> str:
    """Some names, of more than a few the first."""
    first = [*islice(names, MOST_NAMES + 1)]
    return listed([*first[:MOST_NAMES], *["…"] * (len(first) > MOST_NAMES)])


def name_note(assignment: Assignment, source: SourceFile) -> tuple[str, ...]:
    """That a file was read although its name, or its folder's, is another one."""
    *folders, name = source.key.split("/")
    stem = name.rpartition(".")[0]
    is_named = stem == assignment.module or plain_name(stem) != assignment.module
    if is_named and folders in ([], [assignment.id]):
        return ()
    note = _("{file} was read for {assignment}.")
    return (note.format(file=source.name, assignment=assignment.id),)


def refused_note(name: str, reason: str) -> str:
    """That it is this machine that cannot read a file or folder."""
    sentence = _("{file} cannot be read on this machine: {reason}.")
    return sentence.format(file=name, reason=reason)


def unreadable(files: Sequence[SourceFile], *, is_chosen: bool = True) -> str:
    """Why nobody can say what was handed in, by one of its files; "" where all can be read.

    Args:
        files: those that may hold it.
        is_chosen: whether they count; else only this machine's failure matters, because the others
            may count in their place.
    """
    for source in files:
        if source.is_refused:
            return refused_note(source.name, source.problem)
        if is_chosen and not source.is_text:
            return problem_note(source)[0]
    return ""


def left_out_note(names: Iterable[str]) -> str:
    """That there was no room for files."""
    note = _("Not read, because all files together are more than one student's may be: {files}.")
    return note.format(files=few(clean(name, 80) for name in names))
