"""How much of what one student handed in is read, so that it takes seconds whatever it is."""

import errno
import os
import shlex
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Protocol

from grader.core.language import _, listed, paragraph
from grader.core.text import clean
from grader.course.course import Assignment, Course
from grader.submissions.file_names import MOST_FILES, plain_name
from grader.submissions.payload import MOST_IN_ALL
from grader.submissions.source_file import SourceFile, is_written, problem_note

MOST_CODE = 2**23
"""Characters of code in all files."""
MOST_SECONDS = 6.0
"""Of processor time, after which no other file is begun; one alone takes two at most."""


@dataclass(slots=True)
class ReadingRoom:
    """What may still be read of one student's files.

    Args:
        files: how many.
        size: bytes of files.
        code: characters of code.
        begun: the thread's processor time when reading began.
        left_out: the files for which there was no room.
    """

    files: int = MOST_FILES
    size: int = MOST_IN_ALL
    code: int = MOST_CODE
    begun: float = field(default_factory=time.thread_time)
    left_out: dict[Path, None] = field(default_factory=dict)

    @property
    def is_left(self) -> bool:
        """Whether another file may be begun."""
        is_time = time.thread_time() - self.begun < MOST_SECONDS
        return is_time and min(self.files, self.size, self.code) > 0

    def fitting(self, paths: Iterable[Path]) -> Iterator[Path]:
        """Those files for which there is room when it is their turn."""
        for path in paths:
            if self.is_left:
                yield path
            else:
                self.left_out[path] = None

    def take(self, source: SourceFile, size: int) -> None:
        """Take off what a file had."""
        self.files -= 1
        self.size -= size
        self.code -= sum(len(cell.text) for cell in source.cells)


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
    found = {}
    for assignment in course.assignments:
        keys, exercises = readings[assignment.id].sources, assignment.exercises
        written = (key for key in keys if any(is_written(sources[key], e) for e in exercises))
        found[assignment.module] = next(written, "")
    return found


def lent(course: Course) -> dict[str, str]:
    """By the name of a module, the code of what the course lends in it."""
    return {a.module: a.lends for a in course.assignments if a.lends}
