"""Reads what a student handed in: which file counts for which assignment, as text, never run."""

import codecs
import hashlib
import io
import re
import tokenize
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path

from grader.core.errors import SubmissionError, UsageError
from grader.core.language import _, listed
from grader.core.text import clean
from grader.course.course import Assignment, Course
from grader.sandbox.failures import stub_message
from grader.submissions.file_names import FORMS, TIMESTAMP, plain_name, with_ending_too_many
from grader.submissions.nbgrader_defects import defects
from grader.submissions.notebooks import MAX_BYTES as MAX_NOTEBOOK_BYTES
from grader.submissions.notebooks import MAX_CODE_CHARACTERS, Cell, code_cells

NOT_SUBMISSIONS = ("conftest", "setup", "nbgrader_config")
NOT_FOR_FILES = {"punycode", "idna", "unicode-escape", "raw-unicode-escape", "utf-7"}
"""Codecs that no file is written in; two of them take time by the square of a text's length."""


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file as text.

    Args:
        key: its path inside the submission, with `/`.
        module: the name it is imported by.
        importable: whether other files may import it (only the course's own module names).
        cells: its code; one cell without a number for a `.py` file.
        problem: why it could not be read, "" when it could.
        is_refused: whether it was this machine that could not read it, not that it makes no sense.
    """

    key: str
    module: str
    importable: bool
    cells: tuple[Cell, ...]
    problem: str = ""
    is_refused: bool = False

    @property
    def name(self) -> str:
        """The path as people are shown it."""
        return clean(self.key, 200)

    def header(self) -> dict[str, object]:
        """This file as it is sent to the servant."""
        return {
            "module": self.module,
            "importable": self.importable,
            "display": self.key.rpartition("/")[2],
            "cells": [[cell.number, cell.text] for cell in self.cells],
        }


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
    """

    sources: tuple[str, ...] = ()
    read_from: str = ""
    notes: tuple[str, ...] = ()
    submitted_at: datetime | None = None
    defects: tuple[str, ...] = ()
    undecided: str = ""
    own: str = field(default="", compare=False)
    is_untouched: bool = field(default=False, compare=False)


@dataclass(frozen=True)
class Submission:
    """Everything one student handed in.

    Args:
        student: who.
        sources: the files, by their keys.
        readings: what was read for each assignment.
        modules: what the course's own modules are called, handed in or not.
    """

    student: str
    sources: dict[str, SourceFile] = field(default_factory=dict)
    readings: dict[str, Reading] = field(default_factory=dict)
    modules: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether nothing at all was handed in."""
        return not any(reading.sources or reading.undecided for reading in self.readings.values())

    @cached_property
    def hash(self) -> str:
        """A hash of all the code that was read."""
        digest = hashlib.sha256()
        for key, source in sorted(self.sources.items()):
            read = repr((key, bool(source.problem), source.cells))
            digest.update(read.encode("utf-8", "replace"))
        return digest.hexdigest()

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


def read_submission(course: Course, path: Path, student: str) -> Submission:
    """Read a student's folder or single file.

    Args:
        course: the course.
        path: the folder or file.
        student: whose it is.

    Raises:
        UsageError: when the path does not exist.
    """
    modules = tuple(assignment.module for assignment in course.assignments)
    if path.is_file():
        if path.suffix.lower() not in FORMS:
            raise UsageError(_("{path} is neither a .py nor an .ipynb.").format(path=path))
        source = _read(course, path, path.name)
        undecided = _refused(source.name, source.problem) if source.is_refused else ""
        reading = Reading((source.key,), source.name, _problem_note(source), undecided=undecided)
        mine = [a for a in course.assignments if _may_define(source, a)] or course.assignments
        readings = {a.id: reading if a in mine else Reading() for a in course.assignments}
        return Submission(student, {source.key: source}, readings, modules)
    if not path.is_dir():
        sentence = _("There is no submission at {path}. Give a folder, a .py or an .ipynb.")
        raise UsageError(sentence.format(path=path))
    return _Reader(course, path).read(student)


@dataclass
class _Reader:
    """Reads one student's folder.

    Args:
        top: the files that lie in it.
        folders: the folders in it, by the names that are meant.
    """

    course: Course
    folder: Path
    sources: dict[str, SourceFile] = field(default_factory=dict)
    top: list[Path] = field(default_factory=list)
    folders: dict[str, Path] = field(default_factory=dict)

    def read(self, student: str) -> Submission:
        modules = tuple(assignment.module for assignment in self.course.assignments)
        self.top = list(_files(self.folder))
        inside = [p for p in sorted(self.folder.iterdir(), reverse=True) if p.is_dir()]
        self.folders = {plain_name(p.name): p for p in inside if not p.is_symlink()}
        shared = [p for p in self.top if plain_name(p.stem) not in modules]
        shared_keys = tuple(self._add(path).key for path in shared)
        readings = {a.id: self._reading(a, shared_keys) for a in self.course.assignments}
        return Submission(student, self.sources, readings, modules)

    def _reading(self, assignment: Assignment, shared: tuple[str, ...]) -> Reading:
        inner = self._inner(assignment)
        try:
            files = list(_files(inner))
        except OSError as error:
            return Reading(undecided=_refused(inner.name, error.strerror or ""))
        own = _named(assignment, files) or files or _named(assignment, self.top)
        submitted_at, time_notes = _submitted_at(inner, self.folder)
        shared = tuple(key for key in shared if own or _may_define(self.sources[key], assignment))
        if not own and not shared:
            return Reading(notes=self._ending_note(assignment, inner), submitted_at=submitted_at)
        found = [self._add(path) for path in own] or [self.sources[key] for key in shared]
        refused = [_refused(source.name, source.problem) for source in found if source.is_refused]
        if refused:
            return Reading(undecided=refused[0], submitted_at=submitted_at)
        if not own:
            return Reading(shared, self.sources[shared[0]].name, time_notes, submitted_at)
        chosen, notes = self._choose(assignment, found)
        for source in found:
            if source is not chosen:  # an import finds the file that counts
                self.sources[source.key] = replace(source, importable=False)
        untouched = self._is_untouched(assignment, chosen)
        copies = [p.name for p in files if p not in own and _is_meant(assignment, p)]
        if untouched and copies and not notes:
            note = _("{file} was read and {others} was not: one file counts.")
            notes = (note.format(file=chosen.name, others=listed(clean(n, 80) for n in copies)),)
        keys = (*shared, chosen.key) if untouched else (chosen.key, *shared)
        notes = (*notes, *_name_note(assignment, chosen), *_problem_note(chosen), *time_notes)
        defects = tuple(sentence for path in own for sentence in self._defects(assignment, path))
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
        if path.suffix.lower() != ".ipynb" or source.problem or not released.is_file():
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
        others = listed(source.name for source in found if source is not chosen)
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
            released = _gaps(assignment, _read(self.course, other, other.name))
            return all(gaps) and sum(gaps) >= sum(released)
        # A stub of another release differs in its words; it still has every sentinel.
        original = _read(self.course, stub, stub.name)
        return all(gaps) or _normal(original.cells) == _normal(source.cells)

    def _add(self, path: Path) -> SourceFile:
        key = path.relative_to(self.folder).as_posix()
        if key not in self.sources:
            self.sources[key] = _read(self.course, path, key)
        return self.sources[key]


def _gaps(assignment: Assignment, source: SourceFile) -> list[int]:
    """How many gaps of each exercise are still as released, by the stub's sentinel."""
    text = "\n".join(cell.text for cell in source.cells)
    return [text.count(f'"{stub_message(e.id)}"') for e in assignment.exercises]


def _named(assignment: Assignment, files: Iterable[Path]) -> list[Path]:
    """The files with an assignment's name; where there is none, those whose name is meant so."""
    meant = [path for path in files if _is_meant(assignment, path)]
    return [path for path in meant if path.stem == assignment.module] or meant


def _is_meant(assignment: Assignment, path: Path) -> bool:
    return plain_name(path.stem) == assignment.module


def _may_define(source: SourceFile, assignment: Assignment) -> bool:
    """Whether a file may define an exercise of an assignment; who cannot read it cannot say no."""
    text = "\n".join(cell.text for cell in source.cells)
    names = "|".join(exercise.name for exercise in assignment.exercises)
    pattern = (
        rf"^[ \t]*(?:(?:async )?def|class)[ \t]+(?:{names})\b"
        rf"|^[\w \t,]*\b(?:{names})\b[\w \t,]*[:=][^=]|^.*\bimport\b.*\b(?:{names})\b"
    )
    return bool(source.problem) or re.search(pattern, text, re.MULTILINE) is not None


def _name_note(assignment: Assignment, source: SourceFile) -> tuple[str, ...]:
    """That a file was read although its name, or its folder's, is another one."""
    *folders, name = source.key.split("/")
    stem = name.rpartition(".")[0]
    is_named = stem == assignment.module or plain_name(stem) != assignment.module
    if is_named and folders in ([], [assignment.id]):
        return ()
    note = _("{file} was read for {assignment}.")
    return (note.format(file=source.name, assignment=assignment.id),)


def _refused(name: str, reason: str) -> str:
    sentence = _("{file} cannot be read on this machine: {reason}.")
    return sentence.format(file=name, reason=reason)


def _problem_note(source: SourceFile) -> tuple[str, ...]:
    if not source.problem:
        return ()
    note = _("{file} cannot be read: {problem}.")
    return (note.format(file=source.name, problem=source.problem),)


def _files(folder: Path) -> Iterator[Path]:
    """The scripts and notebooks right in a folder, never through a link, in a fixed order."""
    if not folder.is_dir() or folder.is_symlink():
        return
    for path in sorted(folder.iterdir()):
        hidden = path.name.startswith((".", "_", "test_")) or path.stem in NOT_SUBMISSIONS
        if path.suffix.lower() in FORMS and not hidden and _is_handed_in(path):
            yield path


def _is_handed_in(path: Path) -> bool:
    """Whether it is a file, or a link to nowhere, which stands for one; no other link counts."""
    return not path.exists() if path.is_symlink() else path.is_file()


def _read(course: Course, path: Path, key: str) -> SourceFile:
    module = plain_name(path.stem)
    importable = any(module == assignment.module for assignment in course.assignments)
    module = module if importable else path.stem
    is_notebook = path.suffix.lower() == ".ipynb"
    cells: tuple[Cell, ...] = ()
    problem, is_refused = "", False
    try:
        size, most = path.stat().st_size, MAX_NOTEBOOK_BYTES if is_notebook else MAX_CODE_CHARACTERS
        if size > most:
            sentence = _("it has {size} bytes; at most {most} are read")
            raise SubmissionError(sentence.format(size=size, most=most))
        data = path.read_bytes()
        cells = code_cells(data) if is_notebook else (Cell(None, _script(data)),)
    except (SubmissionError, OSError) as error:
        is_refused = isinstance(error, OSError)
        problem = f"{error.strerror}" if isinstance(error, OSError) else str(error)
    return SourceFile(key, module, importable, cells, problem, is_refused)


def _script(data: bytes) -> str:
    try:
        encoding, _lines = tokenize.detect_encoding(io.BytesIO(data).readline)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if codecs.lookup(encoding).name in NOT_FOR_FILES:
                raise LookupError
            text = data.decode(encoding)
    except (SyntaxError, ValueError, LookupError) as error:
        problem = _("it is not text in UTF-8; save it again in that encoding")
        raise SubmissionError(problem) from error
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _normal(cells: tuple[Cell, ...]) -> list[list[str]]:
    """Text to compare with the stub: without blank lines and trailing space."""
    lines = [[line.rstrip() for line in cell.text.split("\n")] for cell in cells]
    return [[line for line in cell if line] for cell in lines if any(cell)]


def _submitted_at(*folders: Path) -> tuple[datetime | None, tuple[str, ...]]:
    """The time that nbgrader wrote into the first of these folders, or why there is none."""
    notes: tuple[str, ...] = ()
    for folder in folders:
        path = folder / TIMESTAMP
        if path.is_file():
            if not folder.is_symlink() and not path.is_symlink() and (moment := _moment(path)):
                return moment, ()
            note = _("{file} holds no date and time: nothing is taken for late.")
            notes = (note.format(file=TIMESTAMP),)
    return None, notes


def _moment(path: Path) -> datetime | None:
    """The moment that a file holds, if that is what it holds."""
    try:
        text = path.read_text("utf-8") if path.stat().st_size <= 100 else ""
        moment = datetime.fromisoformat(text.strip().replace(" UTC", "+00:00"))
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
