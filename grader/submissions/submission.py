"""Reads what a student handed in: which file counts for which assignment, as text, never run."""

import errno
import hashlib
import os
import re
import shlex
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from itertools import islice
from pathlib import Path

from grader.core.errors import UsageError
from grader.core.language import _, listed, paragraph
from grader.core.text import clean
from grader.course.course import Assignment, Course, Exercise
from grader.sandbox.failures import stub_message
from grader.submissions.file_names import (
    FORMS,
    MOST_FILES,
    NOT_SUBMISSIONS,
    code_files,
    plain_name,
    with_ending_too_many,
    work_files,
)
from grader.submissions.moments import handed_in_at
from grader.submissions.notebooks import Cell, defects
from grader.submissions.payload import MOST_IN_ALL
from grader.submissions.source_file import (
    SourceFile,
    encoding_note,
    has_own,
    is_written,
    may_define,
    problem_note,
    read_source,
)

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


def standing_for(
    course: Course, sources: Mapping[str, SourceFile], readings: Mapping[str, "Reading"]
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


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read for one assignment.

    Args:
        sources: the keys to look an exercise up in, first to last; none when nothing was found.
        read_from: the file that counts, for people.
        notes: what the student and the instructor should know about the choice.
        submitted_at: when it was handed in, where that is known.
        defects: what nbgrader cannot work with, for the instructor.
        undecided: why nobody can say what was handed in; "" where it could be read.
        own: the key of the assignment's own file that counts, "" where there is none.
        is_untouched: whether that file is as it was released.
        passed_over: the keys of files whose name means this assignment, and that are not read.
    """

    sources: tuple[str, ...] = ()
    read_from: str = ""
    notes: tuple[str, ...] = ()
    submitted_at: datetime | None = None
    defects: tuple[str, ...] = ()
    undecided: str = ""
    own: str = field(default="", compare=False)
    is_untouched: bool = field(default=False, compare=False)
    passed_over: tuple[str, ...] = field(default=(), compare=False)


@dataclass(frozen=True)
class Submission:
    """Everything one student handed in.

    Args:
        student: who.
        sources: the files, by their keys.
        readings: what was read for each assignment.
        modules: for the name of each of the course's own modules the file that stands for it, ""
            where there is none.
        lent: by the name of a module, the code of what the course lends in it.
        beside: the files of the student's own that no assignment asks for.
        files: what student code finds in its working folder, by the path there.
    """

    student: str
    sources: dict[str, SourceFile] = field(default_factory=dict)
    readings: dict[str, Reading] = field(default_factory=dict)
    modules: dict[str, str] = field(default_factory=dict)
    lent: dict[str, str] = field(default_factory=dict)
    beside: tuple[str, ...] = field(default=(), compare=False)
    files: Mapping[str, Path] = field(default_factory=dict, compare=False)

    @property
    def is_empty(self) -> bool:
        """Whether nothing at all was handed in."""
        return not any(reading.sources or reading.undecided for reading in self.readings.values())

    def libraries(self, assignments: Set[str] | None = None) -> tuple[str, ...]:
        """What its files mention of what takes long to import.

        Args:
            assignments: those that are asked for: their files count, and those whose modules these
                mention; None for all files.
        """
        left, others = [*self.sources], dict[str, SourceFile]()
        if assignments is not None:
            asked = assignments & self.readings.keys()
            left = [*{key for id_ in asked for key in self.files_for(id_)}]
            others = {key: one for key, one in self.sources.items() if key not in left}
        while left and others:
            words = self.sources[left.pop()].words
            mentioned = [key for key, other in others.items() if other.module in words]
            left += mentioned
            for key in mentioned:
                del others[key]
        needed = (source for key, source in self.sources.items() if key not in others)
        return tuple(dict.fromkeys(name for source in needed for name in source.libraries))

    @cached_property
    def hash(self) -> str:
        """A hash of all the code that was read."""
        digest = hashlib.sha256()
        for key, source in sorted(self.sources.items()):
            read = repr((key, bool(source.problem), source.cells))
            digest.update(read.encode("utf-8", "replace"))
        return digest.hexdigest()

    def files_for(self, id_: str) -> tuple[str, ...]:
        """The keys of the files that an assignment's results depend on."""
        sources = self.readings[id_].sources
        return tuple(dict.fromkeys((*sources, *self.beside))) if sources else ()

    def for_instructors(self) -> "Submission":
        """The same submission, with defects among its notes."""
        return self.with_notes({id_: r.defects for id_, r in self.readings.items()})

    def with_notes(self, notes: Mapping[str, tuple[str, ...]]) -> "Submission":
        """The same submission with more notes, by assignment."""
        readings = {
            id_: replace(reading, notes=(*reading.notes, *notes.get(id_, ())))
            for id_, reading in self.readings.items()
        }
        return replace(self, readings=readings)


def read_submission(
    course: Course, path: Path, student: str, *, is_all_theirs: bool = True
) -> Submission:
    """Read a student's folder or single file.

    Args:
        course: the course.
        path: the folder or file.
        student: whose it is.
        is_all_theirs: whether a folder holds nothing but their work, so that all in it is read.

    Raises:
        UsageError: when the path does not exist.
    """
    if path.is_file():
        if path.suffix.lower() not in FORMS:
            raise UsageError(_("{path} is neither a .py nor an .ipynb.").format(path=path))
        source = read_source(course, path, path.name)
        undecided = undecided_note(source)
        notes = () if undecided else (*problem_note(source), *encoding_note(source))
        reading = Reading((source.key,), source.name, notes, undecided=undecided)
        mine = [a for a in course.assignments if may_define(source, a)] or course.assignments
        readings = {a.id: reading if a in mine else Reading() for a in course.assignments}
        sources = {source.key: source}
        modules = standing_for(course, sources, readings)
        return Submission(
            student, sources, readings, modules, lent(course), files=course.data_files
        )
    if not path.is_dir():
        sentence = _("There is no submission at {path}. Give a folder, a .py or an .ipynb.")
        raise UsageError(sentence.format(path=path))
    return _Reader(course, path, is_all_theirs).read(student)


class _Reader:
    """Reads one student's folder.

    Args:
        course: the course.
        folder: the student's.
        is_all_theirs: whether files in any other folder are read as well.
    """

    def __init__(self, course: Course, folder: Path, is_all_theirs: bool) -> None:
        self.course, self.folder, self.is_all_theirs = course, folder, is_all_theirs
        self.sources: dict[str, SourceFile] = {}
        self.top = list(work_files(folder))
        self.all: list[Path] = []  # the files in it and in folders below it
        self.room = ReadingRoom()
        inside = [p for p in sorted(folder.iterdir(), reverse=True) if p.is_dir()]
        # By the names that are meant.
        self.folders = {plain_name(p.name): p for p in inside if not p.is_symlink()}

    def read(self, student: str) -> Submission:
        modules = {assignment.module for assignment in self.course.assignments}
        shared = [p for p in self.top if plain_name(p.stem) not in modules]
        shared_keys = tuple(self._add(path).key for path in self.room.fitting(shared))
        readings = {a.id: self._reading(a, shared_keys) for a in self.course.assignments}
        beside = self._add_others(readings)
        readings = {id_: self._with_others(id_, readings) for id_ in readings}
        for id_ in self.course.by_id:
            readings[id_] = self._with_imports(id_, readings)
        readings = {id_: self._with_file_notes(reading) for id_, reading in readings.items()}
        found = standing_for(self.course, self.sources, readings)
        lends, files = lent(self.course), self.course.data_files
        return Submission(student, self.sources, readings, found, lends, beside, files)

    def _add_others(self, readings: Mapping[str, Reading]) -> tuple[str, ...]:
        """Add the files that no assignment asks for: others may import them."""
        before = set(self.sources)
        if not self.is_all_theirs:
            return ()
        with suppress(OSError):
            self.all += (Path(entry.path) for entry in code_files(str(self.folder)))
        theirs = (
            path
            for path in self.all
            if not path.name.startswith("test_")
            and path.stem not in NOT_SUBMISSIONS
            and self._key(path) not in before
            and not self._is_passed_over(path, readings)
        )
        for path in self.room.fitting(theirs):
            self._add(path)
        return tuple(key for key in self.sources if key not in before)

    def _is_passed_over(self, path: Path, readings: Mapping[str, Reading]) -> bool:
        """Whether another file counts for the assignment that a file's name means."""
        meant = (readings[a.id] for a in self.course.assignments if _is_meant(a, path))
        key = path.relative_to(self.folder).as_posix()
        return any(r.own not in ("", key) and not r.is_untouched for r in meant)

    def _with_others(self, id_: str, readings: Mapping[str, Reading]) -> Reading:
        """A reading with the files that define what those of the assignment do not."""
        reading, assignment = readings[id_], self.course.by_id[id_]
        if not reading.sources and not reading.undecided:
            named = [s for k, s in self.sources.items() if _is_meant(assignment, Path(k))]
            if unread := next(filter(undecided_note, named), None):
                reading = _undecided(unread, reading.submitted_at)
        if reading.undecided:
            return reading
        if reading.own:
            meant = (path for path in self.all if _is_meant(assignment, path))
            inner = (path.relative_to(self.folder).as_posix() for path in meant)
            passed_over = tuple(key for key in inner if key not in reading.sources)
            reading = replace(reading, passed_over=passed_over)
        own = [self.sources[key] for key in reading.sources]
        lacking = [
            e for e in assignment.exercises if not any(has_own(s, assignment, e) for s in own)
        ]
        found = [
            source
            for key, source in (self.sources.items() if lacking else ())
            if key not in reading.sources
            and not Path(key).name.startswith("_")
            and self._defines(source, lacking, id_)
            and not self._is_passed_over(self.folder / key, readings)
        ]
        if not found:
            return reading
        keys = (*reading.sources, *(source.key for source in found))
        note = _("{file} was read for {assignment}.")
        notes = [note.format(file=source.name, assignment=id_) for source in found]
        read_from = reading.read_from or found[0].name
        return replace(reading, sources=keys, read_from=read_from, notes=(*reading.notes, *notes))

    def _with_imports(self, id_: str, readings: Mapping[str, Reading]) -> Reading:
        """A reading that is undecided as well where it imports what nobody can read."""
        reading = readings[id_]
        for other in self.course.by_id[id_].imports:
            if why := readings[other].undecided:
                line = re.compile(rf"\b(?:from|import)\b.*\b{self.course.by_id[other].module}\b")
                if any(line.search(self.sources[key].text) for key in reading.sources):
                    return replace(reading, sources=(), undecided=why)
        return reading

    def _defines(self, source: SourceFile, exercises: Sequence[Exercise], id_: str) -> bool:
        """Whether a file defines any of an assignment's exercises, and not for another one."""
        owned = self._owns(source.key, id_)
        return any(e.name not in owned and is_written(source, e) for e in exercises)

    def _owns(self, key: str, id_: str) -> set[str]:
        """The names that a file defines for an assignment of its own, which is not this one."""
        path = self.folder / key
        folder = plain_name(key.partition("/")[0])
        others = (a for a in self.course.assignments if a.id != id_)
        own = (a for a in others if _is_meant(a, path) or a.id == folder)
        return {exercise.name for assignment in own for exercise in assignment.exercises}

    def _reading(self, assignment: Assignment, shared: tuple[str, ...]) -> Reading:
        inner = self._inner(assignment)
        try:
            files = list(work_files(inner))
        except OSError as error:
            return Reading(undecided=refused_note(inner.name, error.strerror or ""))
        own = _named(assignment, files) or files or _named(assignment, self.top)
        mine = {path: self._add(path) for path in self.room.fitting(own)}
        submitted_at, time_notes = handed_in_at(inner, self.folder)
        shared = tuple(key for key in shared if own or may_define(self.sources[key], assignment))
        if not mine and not shared:
            return Reading(notes=self._ending_note(assignment, inner), submitted_at=submitted_at)
        found = [*mine.values()] or [self.sources[key] for key in shared]
        refused = [source for source in found if source.is_refused]
        has_text = any(source.is_text for source in found)
        if refused or not has_text:  # beside a file that is text, one that is none says nothing
            return _undecided((refused or found)[0], submitted_at)
        if not mine:
            return Reading(shared, self.sources[shared[0]].name, time_notes, submitted_at)
        chosen, notes = self._choose(assignment, found)
        if undecided_note(chosen):
            return _undecided(chosen, submitted_at)
        for source in found:
            if source is not chosen:  # an import finds the file that counts
                self.sources[source.key] = replace(source, importable=False)
        untouched = self._is_untouched(assignment, chosen)
        keys = (*shared, chosen.key) if untouched else (chosen.key, *shared)
        notes = (*notes, *name_note(assignment, chosen), *problem_note(chosen), *time_notes)
        defects = tuple(sentence for path in mine for sentence in self._defects(assignment, path))
        read_from = self.sources[keys[0]].name
        return Reading(
            keys, read_from, notes, submitted_at, defects, own=chosen.key, is_untouched=untouched
        )

    def _ending_note(self, assignment: Assignment, inner: Path) -> tuple[str, ...]:
        """That a file is not read because its name ends in `.txt`, which some systems hide."""
        folders = (inner, self.folder)
        found = (with_ending_too_many(folder, assignment.module) for folder in folders)
        path = next(filter(None, found), None)
        if path is None:
            return ()
        note = _("{file} is not read: its name ends in .txt. Rename it to {name}.")
        return (note.format(file=clean(path.name, 200), name=clean(path.stem, 200)),)

    def _inner(self, assignment: Assignment) -> Path:
        """The assignment's folder, also under a name in another case or of a copy."""
        exact = self.folder / assignment.id
        return exact if exact.is_dir() else self.folders.get(assignment.id, exact)

    def _defects(self, assignment: Assignment, path: Path) -> tuple[str, ...]:
        """What nbgrader cannot work with in one of the files."""
        released = self.course.paths(assignment).notebook
        source = self._add(path)
        is_readable = path.suffix.lower() == ".ipynb" and not source.problem
        if not is_readable or not released.is_file() or not self.room.is_left:
            return ()
        found = defects(path.read_bytes(), released.read_bytes())
        return tuple(f"{source.name}: {sentence}." for sentence in found)

    def _choose(
        self, assignment: Assignment, found: list[SourceFile]
    ) -> tuple[SourceFile, tuple[str, ...]]:
        """The file that counts where more than one was handed in."""
        if len(found) == 1:
            return found[0], ()
        readable = [source for source in found if not source.problem] or found
        filled = [s for s in readable if not self._is_untouched(assignment, s)]
        # Work may stand in the one that cannot be read; in the others there is none.
        filled = filled or [source for source in found if source.problem] or readable
        preferred = [s for s in filled if s.key.endswith(f".{self.course.prefer}")]
        chosen = (preferred or filled)[0]
        if chosen.problem:
            return chosen, ()
        if len(readable) < len(found):
            note = _("{file} was read; {others} cannot be.")
        elif len(filled) == 1 or self._is_untouched(assignment, chosen):
            return chosen, ()
        elif len(preferred) == len(filled):
            note = _("{file} was read and {others} was not: one file counts.")
        else:
            note = _("{file} was read and {others} was not: a .{form} file is preferred.")
        others = few(source.name for source in found if source is not chosen)
        return chosen, (note.format(file=chosen.name, others=others, form=self.course.prefer),)

    def _is_untouched(self, assignment: Assignment, source: SourceFile) -> bool:
        gaps = _gaps(assignment, source)
        paths = self.course.paths(assignment)
        stub, other = paths.stub, paths.notebook
        if source.key.endswith(".ipynb"):
            stub, other = other, stub
        if not any(gaps) or not stub.is_file():  # every stub has gaps
            return False
        if (self.folder / source.key).resolve() == stub.resolve():
            # A student's own copy: what was released here is known only by the gaps it had, which
            # are those of the other form.
            released = _gaps(assignment, read_source(self.course, other, other.name))
            return all(gaps) and sum(gaps) >= sum(released)
        # A stub of another release differs in its words; it still has every sentinel.
        original = read_source(self.course, stub, stub.name)
        return all(gaps) or _normal(original.cells) == _normal(source.cells)

    def _with_file_notes(self, reading: Reading) -> Reading:
        """A reading with notes on its files' encodings, and on files for which there was no room."""
        notes = [note for key in reading.sources for note in encoding_note(self.sources[key])]
        if self.room.left_out:
            notes.append(left_out_note(self._key(path) for path in self.room.left_out))
        return replace(reading, notes=(*reading.notes, *notes)) if notes else reading

    def _key(self, path: Path) -> str:
        return path.relative_to(self.folder).as_posix()

    def _add(self, path: Path) -> SourceFile:
        key = self._key(path)
        if key not in self.sources:
            self.sources[key] = source = read_source(self.course, path, key)
            self.room.take(source, 0 if source.problem else path.stat().st_size)
        return self.sources[key]


def _undecided(source: SourceFile, submitted_at: datetime | None) -> Reading:
    """The reading where nobody can say what is in a file that may hold the work."""
    return Reading((), source.name, (), submitted_at, undecided=undecided_note(source))


def _gaps(assignment: Assignment, source: SourceFile) -> list[int]:
    """How many gaps of each exercise are still as released, by the stub's sentinel."""
    return [source.text.count(f'"{stub_message(e.id)}"') for e in assignment.exercises]


def _named(assignment: Assignment, files: Iterable[Path]) -> list[Path]:
    """The files with an assignment's name; where there is none, those whose name is meant so."""
    meant = [path for path in files if _is_meant(assignment, path)]
    return [path for path in meant if path.stem == assignment.module] or meant


def _is_meant(assignment: Assignment, path: Path) -> bool:
    return plain_name(path.stem) == assignment.module


def _normal(cells: tuple[Cell, ...]) -> list[list[str]]:
    """Text to compare with the stub: without blank lines and trailing space."""
    lines = [[line.rstrip() for line in cell.text.split("\n")] for cell in cells]
    return [[line for line in cell if line] for cell in lines if any(cell)]
