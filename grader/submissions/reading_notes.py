"""What is said of files when a submission is read."""

import errno
import os
import shlex
from collections.abc import Iterable
from itertools import islice

from grader.core.language import _, listed, paragraph
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
    sentences = [sentence.format(file=name, reason=reason)]
    if reason == os.strerror(errno.EACCES):
        todo = _("Make it readable, with {command} for example, and run the same command again.")
        sentences.append(todo.format(command=f"`chmod -R u+rX {shlex.quote(name)}`"))
    return paragraph(sentences)


def undecided_note(source: SourceFile) -> str:
    """Why nobody can say what is in a file; "" for any other."""
    if source.is_refused:
        return refused_note(source.name, source.problem)
    return "" if source.is_text else problem_note(source)[0]


def left_out_note(names: Iterable[str]) -> str:
    """That there was no room for files."""
    note = _("Not read, because all files together are more than one student's may be: {files}.")
    return note.format(files=few(clean(name, 80) for name in names))
