"""What a platform's download holds: whose files are whose, and a folder for each student.

Canvas's zip has files `<lastfirst>_<ids>_<name>`, Moodle's has folders `<Full Name>_<id>_…`; a zip
may also hold a folder or a zip per student, or the work of one.
"""

import re
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from grader.course.course import WORK, Course
from grader.submissions.safe_zip import MIB, STUDENT_CAPS, TIMESTAMP, ArchiveError, Unpacked, unpack

CANVAS = re.compile(r"(?P<name>.+?)(?P<late>_LATE)?_(?P<id>\d+)_\d+_(?P<file>.+)")
MOODLE = re.compile(r"(?P<name>.+)_(?P<id>\d+)_assignsubmission_\w+?_?(?:_(?P<file>.+))?")
ATTEMPT = re.compile(r"-\d{1,3}$")
MAX_NESTING = 2
MAX_ARCHIVES = 50
"""Zips that one student may hand in, inside of one another or side by side."""
MAX_PROBLEMS = 5


@dataclass(frozen=True, slots=True)
class Upload:
    """One student's files in a download.

    Args:
        name: whose, as the platform writes it.
        number: the platform's number for them, "" where it gives none.
        files: where each lies, and what the student called it.
        is_late: whether the platform says so.
    """

    name: str
    number: str = ""
    files: tuple[tuple[Path, PurePosixPath], ...] = ()
    is_late: bool = False


@dataclass(slots=True)
class Allowance:
    """How much one student's zips may still unpack to."""

    size: int = STUDENT_CAPS.total
    archives: int = MAX_ARCHIVES


def _all_files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def innermost(course: Course, folder: Path) -> Path:
    """The folder that holds the class, below folders that hold nothing but the next one."""
    while folder.is_dir():
        inside = list(folder.iterdir())
        if len(inside) != 1 or not inside[0].is_dir() or MOODLE.fullmatch(inside[0].name):
            break
        deeper = [path for path in inside[0].iterdir() if path.is_dir()]
        holds_work = {path.name for path in deeper} & {*course.by_id, WORK}
        if holds_work or not deeper or len(deeper) < len(list(inside[0].iterdir())):
            break
        folder = inside[0]
    return folder


def uploads_of(course: Course, root: Path, stem: str) -> tuple[list[Upload], list[str]]:
    """The files of each student, going by the platform's names; and those of nobody.

    Args:
        course: the course.
        root: the unpacked download.
        stem: whose the files are when they are of one student.
    """
    paths = [PurePosixPath(path.relative_to(root).as_posix()) for path in _all_files(root)]
    uploads, strangers = _of_a_platform(root, paths)
    if uploads:
        return uploads, strangers
    flat = [path for path in paths if len(path.parts) == 1]
    folders = {path.parts[0] for path in paths} - {path.name for path in flat}
    if not folders and all(path.suffix.lower() == ".zip" for path in flat):
        return [Upload(p.stem, files=((root / p, PurePosixPath(p.name)),)) for p in flat], []
    if not folders or folders & {*course.by_id, WORK}:
        return [Upload(stem, files=tuple((root / path, path) for path in paths))], []
    files: dict[str, list[tuple[Path, PurePosixPath]]] = defaultdict(list)
    for path in (path for path in paths if len(path.parts) > 1):
        files[path.parts[0]].append((root / path, PurePosixPath(*path.parts[1:])))
    uploads = [Upload(name, files=tuple(listed)) for name, listed in files.items()]
    return uploads, [path.name for path in flat]


def _of_a_platform(root: Path, paths: Sequence[PurePosixPath]) -> tuple[list[Upload], list[str]]:
    """The same by the platform whose names these are; nobody's where they are no platform's.

    Canvas has files `<lastfirst>[_LATE]_<student>_<file>_<name>`, all in one folder; Moodle has
    folders `<Full Name>_<id>_assignsubmission_file`, or files that begin so.
    """
    canvas = {p: CANVAS.fullmatch(p.name) if len(p.parts) == 1 else None for p in paths}
    moodle = {path: MOODLE.fullmatch(path.parts[0]) for path in paths}
    for matches in (canvas, moodle):
        uploads, strangers = _grouped(root, matches)
        if uploads:
            return uploads, strangers
    return [], []


def _grouped(
    root: Path, matches: Mapping[PurePosixPath, re.Match[str] | None]
) -> tuple[list[Upload], list[str]]:
    files: dict[tuple[str, str], list[tuple[Path, PurePosixPath]]] = defaultdict(list)
    late = set()
    for path, match in matches.items():
        if match is None or path.name == TIMESTAMP:
            continue
        whose = (match["name"], match["id"])
        own = path.parts[1:] or (match["file"] or path.name,)
        files[whose].append((root / path, PurePosixPath(*own)))
        if match.groupdict().get("late"):
            late.add(whose)
    uploads = [
        Upload(name, number, tuple(listed), (name, number) in late)
        for (name, number), listed in files.items()
    ]
    return uploads, [str(path) for path, match in matches.items() if match is None]


def ungraded(root: Path, others: Sequence[Path], uploads: Sequence[Upload]) -> list[Upload]:
    """Who handed in nothing but files of kinds that nobody grades.

    Args:
        root: the folder that holds the class.
        others: where such files would lie.
        uploads: who handed in something else.
    """
    have = {(upload.name, upload.number) for upload in uploads}
    paths = [
        PurePosixPath(p.relative_to(root).as_posix()) for p in others if p.is_relative_to(root)
    ]
    found, _strangers = _of_a_platform(root, paths)
    return [upload for upload in found if (upload.name, upload.number) not in have]


# One student's files.


def lay_out(course: Course, upload: Upload, folder: Path) -> list[str]:
    """Copy a student's files into a folder as a submission has them.

    Args:
        course: the course.
        upload: the student's files.
        folder: a new folder.

    Returns:
        What went wrong with some of them, in words.
    """
    folder.mkdir(parents=True)
    allowance = Allowance()
    problems = []
    for source, inner in upload.files:
        if inner.suffix.lower() == ".zip":
            problems += _nested(source, inner.name, folder, allowance, 1)
        else:
            problems += _copied(source, folder, _without_attempt(course, inner))
    _lift(course, folder)
    more = len(problems) - MAX_PROBLEMS
    return [*problems[:MAX_PROBLEMS], f"and {more} more"] if more > 1 else problems


def _copied(source: Path, folder: Path, inner: PurePosixPath) -> list[str]:
    """Copy a file among a student's files."""
    target = folder / inner
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        return [f"{inner} lies in a folder that has a file's name"]
    if target.exists():
        return [f"{inner} was handed in twice; the first one was taken"]
    shutil.copyfile(source, target)
    return []


def _nested(archive: Path, name: str, folder: Path, allowance: Allowance, depth: int) -> list[str]:
    """Unpack a student's own zip beside their other files."""
    allowance.archives -= 1
    if depth > MAX_NESTING:
        return [f"{name} lies too deep in other zips and was not unpacked"]
    if allowance.archives < 0 or allowance.size < MIB:
        return [f"{name} was not unpacked: it is one zip too many"]
    with tempfile.TemporaryDirectory(dir=folder.parent) as temporary:
        caps = replace(STUDENT_CAPS, total=allowance.size)
        try:
            unpacked = unpack(archive, Path(temporary), caps)
        except ArchiveError as error:
            allowance.size -= sum(path.stat().st_size for path in _all_files(Path(temporary)))
            return [f"{name} was not unpacked: {str(error).rstrip('.')}"]
        allowance.size -= unpacked.size
        problems = [f"left out of {name}: {problem}" for problem in unpacked.problems]
        return problems + _merged(unpacked, Path(temporary), folder, allowance, depth)


def _merged(
    unpacked: Unpacked, source: Path, folder: Path, allowance: Allowance, depth: int
) -> list[str]:
    problems = []
    for path in unpacked.files:
        if path.suffix.lower() == ".zip":
            problems += _nested(source / path, path.name, folder, allowance, depth + 1)
        elif path.name != TIMESTAMP:  # which the student wrote, not nbgrader
            problems += _copied(source / path, folder, path)
    return problems


def _without_attempt(course: Course, path: PurePosixPath) -> PurePosixPath:
    """A file's name without the number that Canvas gives a later attempt."""
    stem = ATTEMPT.sub("", path.stem)
    modules = {assignment.module for assignment in course.assignments}
    return path.with_name(f"{stem}{path.suffix}") if stem in modules else path


def _lift(course: Course, folder: Path) -> None:
    """Move everything up while the folder holds only one folder that is no assignment's."""
    for _ in range(8):
        inside = list(folder.iterdir())
        whole = [path for path in inside if path.name == WORK and path.is_dir()]
        only = inside if len(inside) == 1 and inside[0].is_dir() else whole
        if not only or only[0].name in course.by_id:
            return
        moved = only[0].rename(folder / ".lifted")
        for path in moved.iterdir():
            if not (folder / path.name).exists():
                path.rename(folder / path.name)
        shutil.rmtree(moved)
