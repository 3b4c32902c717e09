"""The records of a run as they were written: those in its folder, or those that were published."""

import json
import shutil
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from itertools import chain, count
from pathlib import Path

from msgspec.structs import replace

from grader.classes.store import ANONYMOUS, RunOptions, Store
from grader.core.errors import UsageError
from grader.core.files import OutputFile, file_name, is_shortened, writing
from grader.core.records import Outcome, Result
from grader.intake.folders import STORE
from grader.judging.results import parsed

PUBLISHED = "published"
"""`OUT/published/NAME` stands for what was published then, `OUT/published` for what was last."""
SUMMARY = "summary.json"
FORMER = "former"
"""The folder for what does not count any more: of former students, and older reports."""


def record_path(out: Path, student: str) -> Path:
    """Where the instructor's record of a student stands."""
    return out / "results" / f"{file_name(student)}.json"


def feedback_path(out: Path, student: str) -> Path:
    """Where the student's copy stands."""
    return out / "feedback" / f"{file_name(student)}.json"


def records_in(out: Path) -> dict[str, Path]:
    """The instructor's records of a folder, by student."""
    return {_whose(path): path for path in sorted(record_path(out, "").parent.glob("*.json"))}


def _whose(path: Path) -> str:
    """Whose record a file is: it says so itself where its name is a shortened one."""
    if is_shortened(path.stem):
        with suppress(OSError, ValueError, KeyError, TypeError):
            return str(json.loads(path.read_text("utf-8"))["student"])
    return path.stem


@dataclass(frozen=True, slots=True)
class Records:
    """Everybody's record in one run.

    Args:
        place: what it is called, for people.
        texts: what reads each student's record, by name.
    """

    place: Path
    texts: Mapping[str, Callable[[], bytes]]

    def text(self, student: str) -> bytes:
        """A student's record as JSON.

        Raises:
            UsageError: when it cannot be read.
        """
        try:
            return self.texts[student]()
        except (OSError, zlib.error) as error:
            raise UsageError(
                f"The record of {student} in {self.place} cannot be read ({error})."
            ) from error

    def result(self, student: str) -> Result:
        """A student's result.

        Raises:
            UsageError: when the record is not one of ours.
        """
        text = self.text(student)
        try:
            return parsed(text)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise UsageError(
                f"The record of {student} in {self.place} cannot be read as a result ({error!r})."
            ) from error

    def results(self) -> Iterator[Result]:
        """Everybody's, by name."""
        return (self.result(student) for student in self.texts)

    def failures(self, student: str) -> Result:
        """A result with those exercises only in which a check failed.

        Raises:
            UsageError: when the record is not one of ours.
        """
        result = self.result(student)
        failed = {
            exercise.id
            for exercise in result.exercises
            if any(check.outcome is Outcome.FAILED for check in exercise.checks)
        }
        assignments = (
            replace(part, exercises=tuple(e for e in part.exercises if e.id in failed))
            for part in result.assignments
        )
        return replace(result, assignments=tuple(assignments))


def open_records(place: Path) -> Records:
    """The records of a run's folder, or of what was published of it.

    Args:
        place: the folder; below it `published/NAME`, or `published` for the last.

    Raises:
        UsageError: when there are none.
    """
    out, name = _published_in(place)
    if out is None:
        found = records_in(place)
        if not place.is_dir():
            raise UsageError(f"There is no folder {place}.")
        if not found:
            raise UsageError(f"{place} holds no results. Give the --out folder of a run.")
        return Records(place, {student: path.read_bytes for student, path in found.items()})
    with Store.to_read(out) as store:
        names = store.published()
        if not names or name not in ("", *names):
            known = f"Published are: {', '.join(names)}." if names else "Nothing was published."
            raise UsageError(f"{place}: {out} has published nothing of that name. {known}")
        published = name or names[-1]
        records = store.published_records(published)
    texts = {name: partial(zlib.decompress, data) for name, data in sorted(records.items())}
    return Records(out / PUBLISHED / published, texts)


def _published_in(place: Path) -> tuple[Path | None, str]:
    """The run's folder and the name of what was published; no folder where another is meant."""
    if place.exists():
        return None, ""
    if place.name == PUBLISHED:
        return place.parent, ""
    if place.parent.name == PUBLISHED:
        return place.parent.parent, place.name
    return None, ""


def read_two(one: Records, other: Records, student: str) -> tuple[Result, Result]:
    """Two records of a student, without the assignments that are the same in both.

    Raises:
        UsageError: when a record is not one of ours.
    """
    results = one.result(student), other.result(student)
    parts, others = ({part.id: part for part in result.assignments} for result in results)
    same = {id_ for id_ in parts.keys() & others.keys() if parts[id_] == others[id_]}
    before, after = (
        replace(result, assignments=tuple(a for a in result.assignments if a.id not in same))
        for result in results
    )
    return before, after


REPORTS = "reports"


@dataclass(slots=True)
class Files:
    """Writes the files of students.

    Args:
        out: the output folder.
        are_written: whether any was.
    """

    out: Path
    are_written: bool = False

    def write(self, files: Iterable[OutputFile]) -> None:
        """Write files of a student, each whole or not at all.

        Raises:
            UsageError: when one cannot be written.
        """
        for file in files:
            if not self.are_written:
                self._move_reports()
            self.are_written = True
            file.write(self.out)

    def _move_reports(self) -> None:
        """Keep an earlier run's reports where nobody takes them for those of newer results."""
        reports, target = self.out / REPORTS, self.out / FORMER / REPORTS
        if reports.is_dir():
            with writing(target):
                shutil.rmtree(target, ignore_errors=True)
                target.parent.mkdir(parents=True, exist_ok=True)
                reports.replace(target)

    def move_away(self, students: Iterable[str]) -> None:
        """Keep former students' files, and their pages, where no report looks for them."""
        for student in students:
            page = self.out / REPORTS / "html" / "students" / f"{file_name(student)}.html"
            for path in (record_path(self.out, student), feedback_path(self.out, student), page):
                if path.is_file():
                    target = self.out / FORMER / path.parent.name / path.name
                    with writing(target):
                        target.parent.mkdir(parents=True, exist_ok=True)
                        path.replace(target)


NAME = "%Y-%m-%dT%H-%M-%SZ"


def publish(out: Path, now: datetime) -> Path:
    """Keep a run's records as students are given them; what they are called from now on.

    Args:
        out: the run's folder.
        now: the moment, with its zone, which names them.

    Raises:
        UsageError: when there is no run in the folder, or it cannot be written.
    """
    summary = out / SUMMARY
    if not summary.is_file():
        raise UsageError(f"{out} holds no run: there is no {SUMMARY}. Give the --out of one.")
    records = open_records(out)
    packed = {student: zlib.compress(records.text(student), 6) for student in records.texts}
    with Store.to_write(out) as store:
        name, taken = now.astimezone(UTC).strftime(NAME), store.published()
        names = chain((name,), (f"{name}_{number}" for number in count(2)))
        name = next(one for one in names if one not in taken)
        store.publish(name, summary.read_text("utf-8"), packed)
    return out / PUBLISHED / name


def last_published(out: Path) -> Path | None:
    """What was published last; None where nothing was."""
    with Store.to_read(out) as store:
        names = store.published()
    return out / PUBLISHED / names[-1] if names else None


def require_numbers(folder: Path, option: str, numbers: Mapping[str, str]) -> None:
    """Raise UsageError where a folder has results under names.

    Args:
        folder: a run's.
        option: which option gives it.
        numbers: everybody's, by name.
    """
    students = {*records_in(folder), *records_in(folder / FORMER)}
    if named := sorted(students - {*numbers.values()}):
        raise UsageError(
            f"{folder} has results of students who are no numbers of the key file, like {named[0]}. "
            f"Give another --{option}."
        )


def earlier_options(out: Path) -> RunOptions | None:
    """How the run in a folder was graded; None where there is none."""
    if not (out / STORE).is_file():
        return None
    with Store.to_read(out) as store:
        return store.options()


def require_names(out: Path) -> None:
    """Raise UsageError where a folder has results under numbers."""
    before = earlier_options(out)
    if before is not None and ANONYMOUS in before.options:
        raise UsageError(
            f"{out} holds a run without names. Give its key file again, {ANONYMOUS} KEYFILE; or "
            "another --out."
        )
