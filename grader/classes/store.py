"""The store of a class: one SQLite file in the output folder, which one command at a time writes.

It has what cannot be computed again without running student code, or was given out: outcomes by what
decides them, which of them each student's hand-ins use, what each student had in the last run, and
what was published. `results/`, `feedback/`, `scores.csv` and `summary.json` are made from it.
"""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import msgspec

from grader.classes.outcomes import AssignmentOutcome, packed
from grader.core.errors import UsageError
from grader.core.files import writing
from grader.core.kit import KIT_NAME
from grader.core.language import DEFAULT_LANGUAGE
from grader.intake.folders import JOURNAL, STORE

FORMAT = f"{KIT_NAME}/class/2"
ANONYMOUS = "--anonymous"
"""Stands among a run's options where it has numbers in place of names."""
KEPT_RUNS = 20
"""Outcomes that no hand-in uses stay for so many runs: undoing a change finds them again."""
WAIT_SECONDS = 1.0
"""How long another command may take to end before this one says that it is there."""

TABLES = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE outcome (
  key BLOB PRIMARY KEY, assignment TEXT NOT NULL, is_decided INTEGER NOT NULL,
  last_run INTEGER NOT NULL, record BLOB NOT NULL
) WITHOUT ROWID;
CREATE TABLE uses (
  student TEXT NOT NULL, assignment TEXT NOT NULL, number INTEGER NOT NULL, key BLOB NOT NULL,
  at TEXT NOT NULL, source TEXT NOT NULL, work TEXT NOT NULL,
  PRIMARY KEY (student, assignment, number)
) WITHOUT ROWID;
CREATE TABLE standing (student TEXT PRIMARY KEY, record BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE published (name TEXT PRIMARY KEY, summary TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE published_result (
  name TEXT NOT NULL, student TEXT NOT NULL, record BLOB NOT NULL, PRIMARY KEY (name, student)
) WITHOUT ROWID;
"""


SENT = """
CREATE TABLE IF NOT EXISTS sent (
  student TEXT NOT NULL, address TEXT NOT NULL, content TEXT NOT NULL, at TEXT NOT NULL,
  PRIMARY KEY (student, address)
) WITHOUT ROWID
"""
"""Made when it is needed: a store without it is as good."""


class RunOptions(msgspec.Struct, frozen=True):
    """How a class was graded last.

    Args:
        seed: of the hidden inputs.
        course_hash: of the course.
        isolation: how student code is kept apart, "sealed" or "process".
        language: what students read.
        assignments: which of them the results have.
        options: those of the command that decide what counts of what was handed in, and whether
            there are numbers in place of names.
        conditions: by assignment, a hash of each thing besides files that decides outcomes.
    """

    seed: str
    course_hash: str
    isolation: str
    language: str
    assignments: tuple[str, ...]
    options: tuple[str, ...] = ()
    conditions: Mapping[str, Mapping[str, str]] = {}


@dataclass(frozen=True, slots=True)
class Use:
    """An outcome that a hand-in has.

    Args:
        number: of the attempt, from 1; 0 where there are no attempts.
        key: the outcome's.
        at: when it was handed in, in ISO's form; "" where that is not known.
        source: where the time is known from.
        work: a hash of the files that the assignment can see.
    """

    number: int
    key: bytes
    at: str = ""
    source: str = ""
    work: str = ""


Uses = Mapping[str, Sequence[Use]]
"""What a student handed in, by assignment, the first time first."""


class Standing(msgspec.Struct, frozen=True, array_like=True):
    """What a student had in a run, to say what is different in the next one.

    Args:
        score: None when undecided or nothing was handed in.
        is_undecided: whether it was undecided.
        assignments: the score of each assignment that was handed in.
        keys: the keys of outcomes, by assignment.
        decided: what was decided about the student.
        unread: files that were handed in, where none could be read as work.
        handed_in: the ids of the assignments for which anything was.
    """

    score: float | None
    is_undecided: bool
    assignments: dict[str, float | None]
    keys: dict[str, tuple[bytes, ...]]
    decided: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    handed_in: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Sent:
    """What a student was sent: to which address, and a hash of what it says."""

    address: str
    content: str


class Store:
    """The store of one output folder, open for one command.

    Args:
        folder: the output folder.
        connection: to its file.
    """

    def __init__(self, folder: Path, connection: sqlite3.Connection) -> None:
        self.folder, self._connection = folder, connection
        self._runs = int(self._meta("runs") or 0)

    # Opening and closing.

    @staticmethod
    def to_write(folder: Path, *, force: bool = False, is_run: bool = True) -> "Store":
        """Open a folder's store, or begin one, and keep all other commands out of it.

        Args:
            folder: the output folder; it is made.
            force: whether a store of another version, or one that is damaged, is begun again.
            is_run: whether it counts as a run, after some of which unused outcomes are forgotten.

        Raises:
            UsageError: when another command works there, or its store cannot be used.
        """
        path = folder / STORE
        if (folder / JOURNAL).is_file() and not path.is_file() and not force:
            raise _other_version(folder, JOURNAL)
        with writing(path):
            folder.mkdir(parents=True, exist_ok=True)
        with _said(folder):
            try:
                return Store._opened(folder, path, is_run=is_run)
            except (sqlite3.DatabaseError, UsageError) as error:
                if not force or _is_busy(error):
                    raise
                path.unlink()
                return Store._opened(folder, path)

    @staticmethod
    def _opened(folder: Path, path: Path, *, is_run: bool = True) -> "Store":
        connection = sqlite3.connect(path, timeout=WAIT_SECONDS, isolation_level=None)
        try:
            connection.execute("PRAGMA locking_mode = EXCLUSIVE")  # until it is closed
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute("BEGIN IMMEDIATE")
            if not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                for statement in filter(str.strip, TABLES.split(";")):
                    connection.execute(statement)
                connection.execute("INSERT INTO meta VALUES ('format', ?)", (FORMAT,))
            _require_format(connection, folder)
            store = Store(folder, connection)
            if is_run:
                store._set("runs", str(store._runs + 1))
            connection.execute("COMMIT")
        except BaseException:
            connection.close()
            raise
        store._runs += is_run
        return store

    @staticmethod
    def to_read(folder: Path) -> "Store":
        """Open a folder's store, and keep commands that write out of it.

        What a killed command left half-written is first undone, which is a write: where the file
        may only be read, SQLite opens it for that.

        Raises:
            UsageError: when it holds none, or a command writes there.
        """
        path = folder / STORE
        if not path.is_file():
            raise UsageError(f"{folder} is no folder that `grader grade --out` wrote.")
        with _said(folder):
            connection = sqlite3.connect(
                f"{path.absolute().as_uri()}?mode=rw", uri=True, timeout=0, isolation_level=None
            )
            try:
                connection.execute("BEGIN")
                _require_format(connection, folder)
                return Store(folder, connection)
            except BaseException:
                connection.close()
                raise

    def __enter__(self) -> "Store":
        """Nothing more than it is."""
        return self

    def __exit__(self, *error: object) -> None:
        """Close it, which lets other commands in; one that was never written to is removed."""
        with _said(self.folder):
            is_empty = self._runs <= 1 and self.options() is None
            self._connection.close()
        if is_empty:
            with suppress(OSError):
                (self.folder / STORE).unlink(missing_ok=True)
                self.folder.rmdir()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Write all or nothing.

        Raises:
            UsageError: when it cannot be written; the store is then as it was.
        """
        with _said(self.folder):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):
                    self._connection.execute("ROLLBACK")
                raise

    # The run.

    def _meta(self, name: str) -> str | None:
        row = self._connection.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
        return None if row is None else str(row[0])

    def _set(self, name: str, value: str) -> None:
        self._connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (name, value))

    def options(self) -> RunOptions | None:
        """How the class was graded last; None before that."""
        text = self._meta("options")
        return None if text is None else msgspec.json.decode(text, type=RunOptions)

    def set_options(self, options: RunOptions) -> None:
        """Remember how the class is graded."""
        self._set("options", msgspec.json.encode(options).decode())

    # Outcomes.

    def decided(self) -> set[bytes]:
        """The keys of the outcomes in which everything was judged."""
        found = self._connection.execute("SELECT key FROM outcome WHERE is_decided")
        return {key for (key,) in found}

    def keys(self) -> set[bytes]:
        """Those of all outcomes, decided or not."""
        return {key for (key,) in self._connection.execute("SELECT key FROM outcome")}

    def outcome(self, key: bytes) -> bytes | None:
        """An outcome as it is stored, decided or not."""
        query = "SELECT record FROM outcome WHERE key = ?"
        row = self._connection.execute(query, (key,)).fetchone()
        return None if row is None else bytes(row[0])

    def add(self, outcomes: Mapping[bytes, AssignmentOutcome]) -> None:
        """Put outcomes into the store, at once.

        Args:
            outcomes: by their keys. One that is decided is never replaced by one that is not.
        """
        rows = [
            (key, one.part.id, one.is_decided, self._runs, packed(one))
            for key, one in outcomes.items()
        ]
        with self.transaction():
            self._connection.executemany(
                "INSERT INTO outcome VALUES (?, ?, ?, ?, ?) ON CONFLICT (key) DO UPDATE SET"
                " is_decided = excluded.is_decided, last_run = excluded.last_run,"
                " record = excluded.record WHERE excluded.is_decided OR NOT outcome.is_decided",
                rows,
            )

    # What students handed in.

    def uses(self) -> dict[str, dict[str, list[Use]]]:
        """By student and assignment, what was handed in, the first time first."""
        found: dict[str, dict[str, list[Use]]] = {}
        rows = self._connection.execute(
            "SELECT student, assignment, number, key, at, source, work FROM uses"
            " ORDER BY student, assignment, number"
        )
        for student, assignment, *rest in rows:
            found.setdefault(student, {}).setdefault(assignment, []).append(Use(*rest))
        return found

    def standings(self) -> dict[str, Standing]:
        """What each student had in the last run."""
        rows = self._connection.execute("SELECT student, record FROM standing")
        return {s: msgspec.msgpack.decode(record, type=Standing) for s, record in rows}

    def end_run(
        self,
        uses: Mapping[str, Uses],
        standings: Mapping[str, Standing],
        options: RunOptions,
    ) -> None:
        """Remember what a run was made of, and forget outcomes that were not used for long.

        Args:
            uses: what everybody in the class handed in.
            standings: what everybody in the class has.
            options: how the class was graded.
        """
        rows = [
            (student, id_, use.number, use.key, use.at, use.source, use.work)
            for student, parts in uses.items()
            for id_, found in parts.items()
            for use in found
        ]
        encode = msgspec.msgpack.encode
        records = [(student, encode(one)) for student, one in standings.items()]
        before = self._connection.execute("SELECT * FROM uses ORDER BY 1, 2, 3").fetchall()
        is_same = before == sorted(rows, key=lambda row: row[:3])
        with self.transaction():
            if not is_same:
                self._connection.execute("DELETE FROM uses")
                self._connection.executemany("INSERT INTO uses VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
            self._connection.execute("DELETE FROM standing")
            self._connection.executemany("INSERT INTO standing VALUES (?, ?)", records)
            self._connection.execute(
                "UPDATE outcome SET last_run = ? WHERE key IN (SELECT key FROM uses)", (self._runs,)
            )
            oldest = self._runs - KEPT_RUNS
            self._connection.execute("DELETE FROM outcome WHERE last_run < ?", (oldest,))
            self.set_options(options)

    def set_standings(self, standings: Mapping[str, Standing]) -> None:
        """Remember what some students have now, whose hand-ins are as they were."""
        rows = [(student, msgspec.msgpack.encode(one)) for student, one in standings.items()]
        with self.transaction():
            self._connection.executemany("INSERT OR REPLACE INTO standing VALUES (?, ?)", rows)

    # What was published.

    def published(self) -> list[str]:
        """The names of what was published, the first one first."""
        return [n for (n,) in self._connection.execute("SELECT name FROM published ORDER BY name")]

    def published_records(self, name: str) -> dict[str, bytes]:
        """Everybody's record as it was published, compressed by zlib."""
        query = "SELECT student, record FROM published_result WHERE name = ?"
        return dict(self._connection.execute(query, (name,)))

    def publish(self, name: str, summary: str, records: Mapping[str, bytes]) -> None:
        """Keep what students are given.

        Args:
            name: of what is published, in the order of time.
            summary: the class in numbers, as JSON.
            records: everybody's record, compressed by zlib.
        """
        rows = [(name, student, record) for student, record in records.items()]
        with self.transaction():
            self._connection.execute("INSERT INTO published VALUES (?, ?)", (name, summary))
            self._connection.executemany("INSERT INTO published_result VALUES (?, ?, ?)", rows)

    # What was sent.

    def sent(self) -> dict[str, set[Sent]]:
        """What each student was sent last, at each address."""
        query = "SELECT count(*) FROM sqlite_master WHERE name = 'sent'"
        if not self._connection.execute(query).fetchone()[0]:  # nothing was ever sent
            return {}
        rows = self._connection.execute("SELECT student, address, content FROM sent")
        found: dict[str, set[Sent]] = {}
        for student, address, content in rows:
            found.setdefault(student, set()).add(Sent(address, content))
        return found

    def remember_sent(self, student: str, sent: Sent, at: str) -> None:
        """Remember what a student was sent.

        Args:
            student: whom.
            sent: what.
            at: when, in ISO's form.
        """
        with self.transaction():
            self._connection.execute(SENT)
            row = (student, sent.address, sent.content, at)
            self._connection.execute("INSERT OR REPLACE INTO sent VALUES (?, ?, ?, ?)", row)


def _require_format(connection: sqlite3.Connection, folder: Path) -> None:
    try:
        row = connection.execute("SELECT value FROM meta WHERE name = 'format'").fetchone()
    except sqlite3.OperationalError as error:
        if getattr(error, "sqlite_errorname", "") != "SQLITE_ERROR":  # that there is no such table
            raise
        row = None
    if row is None or row[0] != FORMAT:
        raise _other_version(folder, "no format" if row is None else row[0])


def _other_version(folder: Path, what: str) -> UsageError:
    return UsageError(
        f"{folder} holds a class of another version of the grader ({what}, not {FORMAT}). Give another "
        "--out, or --force to grade everything again."
    )


def _is_busy(error: BaseException) -> bool:
    name = getattr(error, "sqlite_errorname", "")
    return name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED"))


@contextmanager
def _said(folder: Path) -> Iterator[None]:
    """Say in a sentence what SQLite reports, and what to do.

    Raises:
        UsageError: in place of SQLite's own error.
    """
    path = folder / STORE
    try:
        yield
    except sqlite3.Error as error:
        name = getattr(error, "sqlite_errorname", "")
        if _is_busy(error):
            sentence = f"Another grader command is working in {folder}. Wait for it, then run this command again."
        elif name == "SQLITE_FULL":
            sentence = (
                f"{path} cannot be written: the disk is full. Make room, and run the same command "
                "again: what is graded is kept."
            )
        elif name in ("SQLITE_NOTADB", "SQLITE_CORRUPT"):
            sentence = f"{path} is damaged ({error}). Give another --out, or --force to grade everything again."
        else:
            sentence = (
                f"{path} cannot be read or written ({error}). Choose a folder that you may write to, on "
                "a drive of this computer if it is a network drive; what is graded is kept."
            )
        raise UsageError(sentence) from error


@dataclass(frozen=True, slots=True)
class RunSettings:
    """The course as the run began with it, the hidden inputs' seed, and "sealed" or "process"."""

    root: Path
    course_hash: str
    seed: str
    isolation: str
    language: str = DEFAULT_LANGUAGE
