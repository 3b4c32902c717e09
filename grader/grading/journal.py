"""What a class run has done so far, so that the next one goes on from there.

`run.jsonl` in the output folder: a line on the run, then a line for each student whose files are
written. Lines are only ever added, each after the files it is about; what a killed run left of a
line is skipped. A line on another run makes all before it void.
"""

import json
import secrets
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from msgspec import convert

from grader.core.errors import UsageError
from grader.core.files import writing
from grader.core.kit import KIT_NAME
from grader.core.language import DEFAULT_LANGUAGE
from grader.core.records import Record
from grader.grading.apart import has_lock
from grader.grading.class_files import Row, feedback_path, record_path
from grader.grading.results import as_json
from grader.submissions.student_folders import JOURNAL

FORMAT = f"{KIT_NAME}/run/2"
HEAD = '{"format": '
"""How the line of a run begins; those of students begin otherwise."""


class RunIdentity(Record, frozen=True):
    """What the results of a run depend on besides the submissions.

    Args:
        seed: of the hidden inputs.
        course_hash: of the course.
        versions: of the grader, Python and torch.
        isolation: how student code is kept apart, "sealed" or "process".
        language: what students read.
        assignments: which of them the results have; in a file of an earlier version, all.
        but_dates: a hash of everything that decides results but dates and the rule for late work.
        options: those of the command that decide what counts of what was handed in, and whether
            there are numbers in place of names.
    """

    seed: str
    course_hash: str
    versions: Mapping[str, str]
    isolation: str
    language: str = DEFAULT_LANGUAGE
    assignments: tuple[str, ...] = ()
    but_dates: str = ""
    options: tuple[str, ...] = ()


class Entry(Record, frozen=True, omit_defaults=True):
    """A student who is done.

    Args:
        fingerprint: of what was handed in.
        row: the result in one line.
        decided: a hash of what was decided about the student that can matter; "" for nothing.
    """

    student: str
    fingerprint: str
    row: Row
    decided: str = ""


def earlier_run(out: Path) -> RunIdentity | None:
    """The run that this folder holds; the next one draws the same inputs."""
    try:
        with (out / JOURNAL).open(encoding="utf-8") as lines:
            return _parsed(line for line in lines if line.startswith(HEAD)).identity
    except (OSError, UnicodeDecodeError):
        return None


def run_in(out: Path) -> RunIdentity:
    """The run that a folder holds.

    Raises:
        UsageError: when it holds none.
    """
    found = earlier_run(out)
    if found is None:
        raise UsageError(f"{out} is no folder that `grader grade --out` wrote.")
    return found


def new_seed() -> str:
    """A secret seed."""
    return str(secrets.randbits(64))


@dataclass
class Journal:
    """The journal of a run, open for more lines; only one run at a time writes to a folder.

    Args:
        out: the output folder.
        identity: of this run; what was done under another one does not count.
        force: whether to begin again whatever was done.
        known: who is done under this identity.
        before: the last entry of everybody, under whatever identity.
        under: the identity of each of these.

    Raises:
        UsageError: when another run is writing there, or the last one's format is another.
    """

    out: Path
    identity: RunIdentity
    force: bool = False
    known: dict[str, Entry] = field(init=False, default_factory=dict)
    before: dict[str, Entry] = field(init=False, default_factory=dict)
    under: dict[str, RunIdentity] = field(init=False, default_factory=dict)
    file: IO[str] = field(init=False)

    def __enter__(self) -> "Journal":
        """Read what was done."""
        with writing(self.out / JOURNAL):
            self.out.mkdir(parents=True, exist_ok=True)
            self.file = (self.out / JOURNAL).open("a+", encoding="utf-8")
        if not has_lock(self.file.fileno(), alone=True):
            self.file.close()
            raise UsageError(
                f"Another `grader grade` is writing to {self.out}. Wait for it, or give another --out."
            )
        self.file.seek(0)
        text = self.file.read()
        lines = _parsed(text.splitlines())
        if lines.other_format and not self.force:
            self.file.close()
            raise UsageError(
                f"{self.out} holds a run of another version of the grader (its format is "
                f"{lines.other_format!r}, not {FORMAT!r}). Give another --out, or --force to grade "
                "everything again."
            )
        self.before, self.under = lines.before, lines.under
        if text and not text.endswith("\n"):
            self._write("\n")
        if lines.identity == self.identity and not self.force:
            self.known = lines.known
        else:
            self._line({"format": FORMAT, **as_json(self.identity)})
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file, which lets the next run in."""
        with writing(self.out / JOURNAL):
            self.file.close()

    def unchanged(
        self, student: str, fingerprint: str, decided: Callable[[Row], str] = lambda _row: ""
    ) -> Row | None:
        """The result of a student who is done and handed in the same, with both files there.

        Args:
            student: the student's id.
            fingerprint: of what was handed in.
            decided: a hash of what was decided about the student that can matter for such a result.
        """
        entry = self.known.get(student)
        if entry is None or entry.decided != decided(entry.row):
            return None
        return self._row(entry, fingerprint)

    def unchanged_but_dates(self, student: str, fingerprint: str, decided: str = "") -> Row | None:
        """The same of a student whose result could have other dates, and nothing else that is new.

        Never of a student about whom something was decided, or whose times are from elsewhere than
        the files.

        Args:
            student: the student's id.
            fingerprint: of what was handed in.
            decided: a hash of what was decided about the student.
        """
        is_same = student in self.under and not self.force and not decided
        if not is_same or self.under[student].but_dates != self.identity.but_dates:
            return None
        entry = self.before[student]
        is_plain = not entry.decided and not entry.row.time_sources
        return self._row(entry, fingerprint) if is_plain else None

    def _row(self, entry: Entry | None, fingerprint: str) -> Row | None:
        if entry is None or entry.fingerprint != fingerprint or entry.row.undecided:
            return None
        paths = (record_path(self.out, entry.student), feedback_path(self.out, entry.student))
        return entry.row if all(path.is_file() for path in paths) else None

    def earlier(self, names: Iterable[str]) -> dict[str, Row]:
        """Results of earlier runs, whatever they depended on, as far as their records are there."""
        entries = [self.before[name] for name in names if name in self.before]
        return {e.student: e.row for e in entries if record_path(self.out, e.student).is_file()}

    def add(self, student: str, fingerprint: str, row: Row, decided: str = "") -> None:
        """Record that a student's files are written.

        Args:
            student: the student's id.
            fingerprint: of what was handed in.
            row: the result in one line.
            decided: a hash of what was decided about the student.
        """
        self.known[student] = Entry(student, fingerprint, row, decided)
        self._line(as_json(self.known[student]))

    def _line(self, record: Mapping[str, Any]) -> None:
        self._write(json.dumps(record) + "\n")

    def _write(self, text: str) -> None:
        with writing(self.out / JOURNAL):
            self.file.write(text)
            self.file.flush()


@dataclass(slots=True)
class _Lines:
    """What a journal's lines say; see `Journal`.

    Args:
        other_format: the last run's, where it is not ours.
    """

    identity: RunIdentity | None = None
    known: dict[str, Entry] = field(default_factory=dict)
    before: dict[str, Entry] = field(default_factory=dict)
    under: dict[str, RunIdentity] = field(default_factory=dict)
    other_format: str = ""

    def add(self, record: dict[str, Any]) -> None:
        """Take in one line."""
        format_ = record.pop("format", None)
        if format_ == FORMAT:
            self.identity, self.known = convert(record, RunIdentity), {}
            self.other_format = ""
        elif isinstance(format_, str):
            self.identity, self.other_format = None, format_
        elif self.identity is not None:
            entry = convert(record, Entry)
            self.known[entry.student] = self.before[entry.student] = entry
            self.under[entry.student] = self.identity


def _parsed(lines: Iterable[str]) -> _Lines:
    """The last run's identity and entries, and everybody's last one; other lines are skipped."""
    found = _Lines()
    for line in lines:
        with suppress(ValueError, TypeError, KeyError, AttributeError):
            found.add(json.loads(line))
    return found
