"""Each time that a student handed in: folders named after the time.

An attempt's folder is the whole work of the student as it was then: what was handed in at other
times for other assignments lies beside it, because code may import it.
"""

import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path

from grader.course.course import Course
from grader.submissions.file_names import FORMS, TIMESTAMP, copy_code, plain_name
from grader.submissions.moments import BY_FOLDER, Moment, parsed

STAMP = re.compile(
    r"(?P<day>\d{4}-?\d\d-?\d\d)[T _](?P<time>\d\d[:.-]?\d\d([:.-]?\d\d)?)(?P<part>\.\d+)?(?P<zone>.*)"
)
"""A date with a time of day; some systems allow no colon in a folder's name."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One of the times that a student handed in.

    Args:
        moment: when.
        path: the folder with the work as it was then.
        only: the assignments that were handed in; all that the folder holds where none is named.
    """

    moment: Moment
    path: Path
    only: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Arrived:
    """What arrived at one time: a whole folder, or the folders of some assignments.

    Args:
        moment: when.
        folder: where it lies.
        parts: the folders of assignments, by id; none where the folder is the whole work.
    """

    moment: Moment
    folder: Path
    parts: Mapping[str, Path]


def stamp_of(name: str) -> datetime | None:
    """The time that a folder is named after; None where the name is no date with a time of day."""
    match = STAMP.fullmatch(name.strip())
    if match is None:
        return None
    day, time = (re.sub(r"\D", "", match[part]) for part in ("day", "time"))
    zone = re.sub(r"[:.-](?=\d\d$)", "", match["zone"].replace(" UTC", "Z"))
    return parsed(f"{day}T{time}{(match['part'] or '')[:7]}{zone}")


def stamped(
    course: Course, folder: Path, scratch: Callable[[], Path], student: str
) -> tuple[tuple[Attempt, ...], str]:
    """The attempts in a student's folder; and a note where it may or may not hold attempts.

    Args:
        course: the course.
        folder: the student's.
        scratch: makes a folder for what has to be put together, and returns it.
        student: whose it is.
    """
    moments, others = stamps_in(folder)
    if not moments or others:
        note = f"{student} has folders named after times beside {others[0]}" if moments else ""
        return (), f"{note}: all of it is read as one submission." if note else ""
    arrived = [
        Arrived(Moment(at, BY_FOLDER), path, _parts(course, path)) for path, at in moments.items()
    ]
    return attempts_of(arrived, partial(place_of, scratch, student)), ""


def stamps_in(folder: Path) -> tuple[dict[Path, datetime], list[str]]:
    """The folders in a folder that are named after times, and what else may be work."""
    inside = sorted(
        p for p in folder.iterdir() if not p.name.startswith(".") and not p.is_symlink()
    )
    moments = {p: at for p in inside if p.is_dir() and (at := stamp_of(p.name))}
    others = [p for p in inside if p.is_dir() or p.suffix.lower() in FORMS]
    return moments, [path.name for path in others if path not in moments]


def place_of(scratch: Callable[[], Path], student: str) -> Path:
    """Where the attempts of a student are put together."""
    return scratch() / "attempts" / student


def _parts(course: Course, folder: Path) -> dict[str, Path]:
    """The folders of assignments; none where anything else lies beside them."""
    with os.scandir(folder) as found:  # a class has many of them, and `Path` asks for each again
        inside = [e for e in found if not e.name.startswith(".") and e.name != TIMESTAMP]
        parts = {
            plain_name(e.name): Path(e.path) for e in inside if _is_folder(e) and not e.is_symlink()
        }
        others = [e for e in inside if not _is_folder(e) and e.name.lower().endswith(FORMS)]
    return {} if others or parts.keys() - course.by_id.keys() else parts


def attempts_of(arrived: Iterable[Arrived], scratch: Callable[[], Path]) -> tuple[Attempt, ...]:
    """One student's attempts in the order of time, each with the others' work as it was then.

    Args:
        arrived: what arrived.
        scratch: makes the student's folder for what has to be put together, and returns it.
    """
    latest: dict[str, Path] = {}
    attempts = []
    for one in sorted(arrived, key=lambda one: (one.moment.at, one.folder.name)):
        if not one.parts:
            latest = {}
            attempts.append(Attempt(one.moment, one.folder))
            continue
        latest |= one.parts
        path = one.folder
        if latest != {id_: path / id_ for id_ in one.parts}:
            path = scratch() / f"{len(attempts):04}"
            for id_, source in latest.items():
                copy_code(source, path / id_)
        attempts.append(Attempt(one.moment, path, tuple(one.parts)))
    return tuple(attempts)


def _is_folder(entry: "os.DirEntry[str]") -> bool:
    """Whether it is a folder; a link that points in a circle is none."""
    try:
        return entry.is_dir()
    except OSError:
        return False
