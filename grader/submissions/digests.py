"""Digests of what each assignment's outcomes depend on in what a student handed in.

An assignment depends on

- the files in its folder, those of its name in any folder, and those of no assignment;
- the files anywhere that define an exercise which its own file lacks;
- by name, the modules and the student's own files that these import, however far;
- the same of the assignments that it imports and compares: their exercises are judged with its own.

A file that is found by another one's name may be passed over for a third one, so that a file always
comes with all that is in its folder and of its name. Where reading may come to an end before all is
read, each assignment depends on everything. Nothing is parsed unless it has to be; where something is
not sure, too much is taken, never too little. Times change no outcome.
"""

import os
import re
import stat
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import blake2b
from pathlib import Path

from grader.core.encodings import coding_line
from grader.course.course import Assignment, Course, Exercise
from grader.submissions.file_names import (
    ENVIRONMENT,
    FORMS,
    MOST_DEPTH,
    MOST_ENTRIES,
    MOST_FILES,
    NOT_SUBMISSIONS,
    TIMESTAMP,
    is_own_folder,
    plain_name,
)
from grader.submissions.moments import handed_in_at
from grader.submissions.notebooks import MAX_CODE_CHARACTERS
from grader.submissions.payload import MOST_IN_ALL
from grader.submissions.source_file import SourceFile, has_own, has_stub, most_bytes, source_of
from grader.submissions.submission import MOST_CODE

SIZE = 16
"""Bytes of a digest."""
WORD = re.compile(rb"(?:[ \t]|\\t)+(\w+)")
REST = re.compile(rb"[^\\(\n]*+")
"""A line up to what may let it go on in the next one."""
ESCAPED = (b"\\u00", b"\\uff")
"""How a notebook may write letters of a name."""


@dataclass(frozen=True, slots=True)
class Digests:
    """What identifies a hand-in.

    Args:
        by_assignment: of what the outcomes of each assignment can depend on.
        has_files: whether there is anything that may be read as work.
        times: when each assignment was handed in, where nbgrader wrote that beside the files.
    """

    by_assignment: Mapping[str, str]
    has_files: bool = True
    times: Mapping[str, datetime] = field(default_factory=dict)


def digests(course: Course, path: Path) -> Digests:
    """The digests of a student's folder or single file.

    Args:
        course: the course.
        path: the folder or file.

    Raises:
        OSError: when the folder itself, or the single file, cannot be read.
    """
    if path.is_file():
        made = _digest((b"single", os.fsencode(path.name), path.read_bytes()))
        return Digests(dict.fromkeys(course.by_id, made))
    return _Digester(course, _Listing(course, os.fspath(path))).digests()


@dataclass(frozen=True, slots=True, eq=False)
class _File:
    """A script or notebook.

    Args:
        key: its path inside the folder, with `/`.
        groups: the assignments whose folder it is in, or whose name it has.
        names: those by which another file may import it, or find it, besides these assignments'.
        data: as much of it as can matter.
        size: in bytes.
        state: a digest of its path, size and content.
    """

    key: str
    groups: tuple[str, ...]
    names: tuple[bytes, ...]
    data: bytes
    size: int
    state: bytes


class _Listing:
    """What lies in a folder.

    Args:
        course: the course.
        root: the folder.

    Raises:
        OSError: when the folder itself cannot be read.
    """

    def __init__(self, course: Course, root: str) -> None:
        self.course, self.root = course, root
        self.modules = {a.module: a.id for a in course.assignments}
        self.files: list[_File] = []  # scripts and notebooks that may be read
        # By assignment, "" for all, what else reading depends on.
        self.marks: dict[str, list[bytes]] = defaultdict(list)
        # By assignment, the folders that are meant to be its own, and whether each is a link.
        self.folders: dict[str, dict[str, bool]] = defaultdict(dict)
        self.has_times = False  # whether anything may say when something was handed in
        self.is_cut = False  # whether reading may end before all is read
        self.count = self.entries = self.size = self.code = 0
        self._folder(root, ())
        full = (self.count >= MOST_FILES, self.entries >= MOST_ENTRIES, self.code >= MOST_CODE)
        self.is_cut |= any(full) or self.size >= MOST_IN_ALL

    def _folder(self, path: str, above: tuple[str, ...]) -> None:
        try:
            with os.scandir(path) as found:
                entries = sorted(found, key=lambda entry: entry.name)
        except OSError as error:
            if not above:
                raise
            self._mark("", "unreadable", *above, f"{error.errno}")
            self.is_cut = True
            return
        own = self._meant(above[0]) if above else ""
        if any(entry.name == ENVIRONMENT for entry in entries):
            self._mark("", "environment", *above)
            self.is_cut = True
            if len(above) > 1 or (above and not own):
                return
        for entry in entries:
            name = entry.name
            self.entries += 1
            if entry.is_symlink():
                self._link(entry, above)
            elif entry.is_file(follow_symlinks=False):
                self._entry(entry, above)
            elif is_own_folder(entry) and len(above) + 1 < MOST_DEPTH:
                if not above and (id_ := self._meant(name)):
                    self.folders[id_][name] = False
                self._folder(entry.path, (*above, name))
            if len(above) < 2 and name[-4:].lower() == ".txt":
                self._text_file(name, above, own)

    def _link(self, entry: "os.DirEntry[str]", above: tuple[str, ...]) -> None:
        """Links count for nothing, but for those to nowhere, and one in the place of a folder."""
        try:
            mode = entry.stat().st_mode
        except FileNotFoundError:
            if entry.name.lower().endswith(FORMS):
                self._add((*above, entry.name), b"", 0, b"nowhere")
            return
        except OSError:
            return
        if entry.name == TIMESTAMP:
            self.has_times = True
        if not above and stat.S_ISDIR(mode) and (id_ := self._meant(entry.name)):
            self.has_times = self.folders[id_][entry.name] = True
            with suppress(OSError):
                self._mark(id_, "link", *sorted(path.name for path in Path(entry.path).iterdir()))

    def _entry(self, entry: "os.DirEntry[str]", above: tuple[str, ...]) -> None:
        name = entry.name
        if name == TIMESTAMP:
            self.has_times = True
        elif name.lower().endswith(FORMS) and not name.startswith("."):
            self.count += 1
            content = self._content(entry.path, most_bytes(name))
            self.code += min(content[1], MAX_CODE_CHARACTERS)
            self._add((*above, name), *content)

    def _content(self, path: str, most: int) -> tuple[bytes, int, bytes]:
        """As much of a file as can matter, its size, and a digest of both."""
        try:
            with open(path, "rb") as file:  # noqa: PTH123 (a class has ten thousand of them)
                status = os.fstat(file.fileno())
                room = MOST_IN_ALL - self.size if self.count <= MOST_ENTRIES else 0
                data = file.read(min(status.st_size + 1, most + 1, room))
        except OSError as error:
            return b"", 0, b"unreadable %d" % (error.errno or 0)
        self.size += len(data)
        # What there is no room for is known by when it was changed.
        changed = status.st_mtime_ns if len(data) == room else 0
        return data, status.st_size, b"%d %d " % (status.st_size, changed) + _hash(data)

    def _add(self, parts: tuple[str, ...], data: bytes, size: int, state: bytes) -> None:
        *folders, name = parts
        stem, key = name.rpartition(".")[0], "/".join(parts)
        meant = self.modules.get(plain_name(stem), "")
        if not meant and (name.startswith("test_") or stem in NOT_SUBMISSIONS):
            return
        own = self._meant(folders[0]) if folders else ""
        groups = tuple(dict.fromkeys(id_ for id_ in (meant, own) if id_))
        inner = folders[1:] if own else folders
        names = (*inner, *(() if meant else (stem,))) if groups else ()
        encoded = os.fsencode(key)
        state = _hash(b"%d " % len(encoded) + encoded + state)
        known = tuple(_plain(name) for name in names)
        self.files.append(_File(key, groups, known, data, size, state))

    def _meant(self, folder: str) -> str:
        """The assignment that a folder in the top one is meant for; "" for none."""
        name = plain_name(folder)
        return name if name in self.course.by_id else ""

    def _text_file(self, name: str, above: tuple[str, ...], own: str) -> None:
        """A script whose name ends in `.txt` is said to be not read."""
        stem = name[:-4]
        if stem.lower().endswith(FORMS):
            id_ = self.modules.get(plain_name(stem.rpartition(".")[0]), "")
            if id_ and (not above or own == id_):
                self._mark(id_, "text", *above, name)

    def _mark(self, id_: str, *words: str) -> None:
        self.marks[id_].append("\0".join(words).encode("utf-8", "surrogateescape"))


class _Digester:
    """Finds what each assignment depends on.

    Args:
        course: the course.
        listing: what lies in the folder.
    """

    def __init__(self, course: Course, listing: _Listing) -> None:
        self.course, self.listing = course, listing
        self.common = [file for file in listing.files if not file.groups]
        # By assignment, the files in its folder and of its name.
        self.of = {id_: [f for f in listing.files if id_ in f.groups] for id_ in course.by_id}
        # By file, the assignments and the files that it mentions; all where that may be any.
        self.known: dict[_File, tuple[set[str], list[_File]]] = {}
        self.texts: dict[_File, bytes] = {}
        self.named = [file for file in listing.files if file.names]
        self.modules = [(module.encode(), id_) for module, id_ in listing.modules.items()]
        is_plain = all(name.isascii() for file in self.named for name in file.names)
        self.escapes = ESCAPED if is_plain else (b"\\u",)
        self.marks: dict[str, bytes] = {}
        for id_ in listing.folders.keys() | listing.marks.keys():
            known = sorted(listing.folders.get(id_, {}).items()), sorted(listing.marks.get(id_, ()))
            self.marks[id_] = repr((id_, *known)).encode("utf-8", "surrogateescape")
        # By assignment, the files that define what its own lacks.
        self.wanted = {} if listing.is_cut else self._definers()

    def digests(self) -> Digests:
        """The digests of everything."""
        listing = self.listing
        ids, root = [*self.course.by_id], Path(listing.root)
        made, times = {}, {}
        for id_ in ids:
            files, others = self._reached(id_)
            places = (root / (self._inner(id_) or id_), root) if listing.has_times else ()
            at, notes = handed_in_at(*places)
            if at is not None:
                times[id_] = at
            # A note stands among what is graded; a time does not.
            parts = (id_.encode(), b"time" if notes else b"", *sorted(file.state for file in files))
            marks = (self.marks[other] for other in sorted(self.marks.keys() & {"", *others}))
            made[id_] = _digest((*parts, *marks))
        return Digests(made, bool(listing.files), times)

    def _reached(self, id_: str) -> tuple[Iterable[_File], Iterable[str]]:
        """The files that an assignment depends on, and the assignments."""
        if self.listing.is_cut:
            return self.listing.files, self.course.by_id
        ids, files = set[str](), set[_File]()
        new_ids, new = self._judged(id_), {*self.common}
        while new_ids or new:
            for other in new_ids:
                new |= {*self.of.get(other, ()), *self.wanted.get(other, ())} - files
            ids, files = ids | new_ids, files | new
            mentioned = [self._mentioned(file) for file in new]
            new_ids = {i for file in new for i in file.groups}.union(
                *(m[0] for m in mentioned)
            ) - ids
            new = {file for _ids, named in mentioned for file in named} - files
        return files, ids

    def _judged(self, id_: str) -> set[str]:
        """An assignment, and those whose exercises are judged for it."""
        found, new = {id_}, [id_]
        while new:
            assignment = self.course.by_id[new.pop()]
            imports = (one for one in assignment.imports if not self.course.by_id[one].lends)
            others = {one for one in (*assignment.compares, *imports) if one not in found}
            found |= others
            new += others
        return found

    def _mentioned(self, file: _File) -> tuple[set[str], list[_File]]:
        """The assignments whose module a file mentions, and the files; all where it may be any."""
        if file not in self.known:
            text = self._text(file)
            is_notebook = text is file.data and _is_notebook(file)
            text = _with_imports(text, is_notebook=is_notebook)
            ids, named = {*self.course.by_id}, self.listing.files
            if not _is_dynamic(text):
                ids = {id_ for module, id_ in self.modules if module in text}
                named = [f for f in self.named if any(name in text for name in f.names)]
            self.known[file] = ids, named
        return self.known[file]

    def _text(self, file: _File) -> bytes:
        """A file's text, for the names in it, as Python reads them: maybe with more than code."""
        if file not in self.texts:
            data = file.data
            is_plain = _is_plain(data)
            if is_plain and _is_notebook(file):
                is_plain = not any(escape in data for escape in self.escapes)
            self.texts[file] = data if is_plain else _plain(self._source(file).text)
        return self.texts[file]

    def _source(self, file: _File) -> SourceFile:
        return source_of(self.course, file.key, file.data, file.size)

    def _definers(self) -> dict[str, list[_File]]:
        """By assignment, the files of others that may define what its own file lacks."""
        owners: dict[bytes, list[str]] = defaultdict(list)
        for exercise in self.course.exercises.values():
            owners[exercise.name.encode()].append(exercise.assignment)
        loose = [name for name in owners if name.isupper() or not name.isascii()]
        wanted: dict[str, dict[_File, set[bytes]]] = defaultdict(dict)
        for file in self.listing.files if owners else ():
            text = self._text(file) if file.groups else b""
            pieces = (*text.split(b"def")[1:], *text.split(b"class")[1:])
            words = {match[1] for match in map(WORD.match, pieces) if match}
            words.update(name for name in loose if name in text)
            for name in words & owners.keys():
                if not any(id_ in file.groups for id_ in owners[name]):
                    for id_ in owners[name]:
                        wanted[id_].setdefault(file, set()).add(name)
        found = {}
        for id_, files in wanted.items():
            lacking = self._lacking(self.course.by_id[id_])
            found[id_] = [file for file, names in files.items() if names & lacking]
        return found

    def _lacking(self, assignment: Assignment) -> set[bytes]:
        """The names of exercises that not each file has which may be the assignment's own."""
        inner = self._inner(assignment.id)
        paths = [(file, file.key.rpartition("/")) for file in self.of.get(assignment.id, ())]
        work = [
            (f, folder) for f, (folder, _, name) in paths if not name.startswith(("_", "test_"))
        ]
        own = [file for file, folder in work if folder == inner != ""]
        own = own or [file for file, folder in work if not folder]
        sources = [self._source(file) for file in own]
        return {
            exercise.name.encode()
            for exercise in assignment.exercises
            if not sources or not all(_has(s, assignment, exercise) for s in sources)
        }

    def _inner(self, id_: str) -> str:
        """The folder that counts as an assignment's; "" for none."""
        folders = self.listing.folders.get(id_, {})
        plain = sorted(name for name, is_link in folders.items() if not is_link)
        return id_ if id_ in folders else next(iter(plain), "")


def _is_plain(data: bytes) -> bool:
    """Whether bytes are as Python reads names in them."""
    if coding_line(data):
        return False
    if data.isascii():
        return True
    with suppress(ValueError):
        return unicodedata.is_normalized("NFKC", data.decode())
    return False


def _is_notebook(file: _File) -> bool:
    return file.key.lower().endswith(".ipynb")


def _with_imports(text: bytes, *, is_notebook: bool) -> bytes:
    """A text up to the end of its last import: the names of modules stand in no other statement.

    Args:
        text: of a file.
        is_notebook: whether its lines are JSON.
    """
    last = text.rfind(b"import")
    while last >= 0 and text[last + 6 : last + 7].isalnum():  # "important"
        last = text.rfind(b"import", 0, last)
    if last < 0:
        return b""
    line = REST.match(text, last)
    end = line.end() if line else len(text)
    is_end = text[end : end + 1] in (b"", b"\n")
    if is_notebook and text[end : end + 2] == b"\\n":
        is_end = True
    return text[:end] if is_end else text


def _has(source: SourceFile, assignment: Assignment, exercise: Exercise) -> bool:
    """What `has_own` says, for most files without looking for any other name."""
    text = source.text
    for keyword in (f"\ndef {exercise.name}(", f"\nclass {exercise.name}("):
        if keyword in text and not has_stub(source, exercise):
            return True
    return has_own(source, assignment, exercise)


def _is_dynamic(text: bytes) -> bool:
    """Whether a text may import a module whose name does not stand in it."""
    pieces = text.split(b"import")
    after = pieces[1:]
    return any(p.startswith(b"lib") for p in after) or any(
        one.endswith(b"__") and two.startswith(b"__")
        for one, two in zip(pieces, after, strict=False)
    )


def _plain(text: str) -> bytes:
    """A text as Python reads names in it."""
    return unicodedata.normalize("NFKC", text).encode("utf-8", "surrogateescape")


def _hash(data: bytes) -> bytes:
    return blake2b(data, digest_size=SIZE).digest()


def _digest(parts: Iterable[bytes]) -> str:
    """A digest of parts, in which no two lists of parts are the same bytes."""
    digest = blake2b(digest_size=SIZE)
    for part in parts:
        digest.update(b"%d " % len(part))
        digest.update(part)
    return digest.hexdigest()
