"""What a platform's download holds: whose files are whose, and a folder for each student.

Canvas's zip has files `<lastfirst>_<ids>_<name>`, Moodle's has folders `<Full Name>_<id>_…`; a zip
may also hold a folder or a zip per student, or the work of one.
"""

import re
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from grader.course.course import WORK, Course
from grader.submissions.safe_zip import MIB, STUDENT_CAPS, TIMESTAMP, ArchiveError, unpack

CANVAS = re.compile(r"(?P<name>.+?)(?P<late>_LATE)?_(?P<id>\d+)_\d+_(?P<file>.+)")
MOODLE = re.compile(r"(?P<name>.+)_(?P<id>\d+)_assignsubmission_\w+?_?(?:_(?P<file>.+))?")
ATTEMPT = re.compile(r"-\d{1,3}$")
MAX_NESTING = 2
MAX_ARCHIVES = 50
"""Zips that one student may hand in, inside of one another or side by side."""
MAX_PROBLEMS = 5


Files = Sequence[tuple[Path, PurePosixPath]]
"""Where each file lies, and what the student called it."""


@dataclass(frozen=True, slots=True)
class Upload:
    """One student's files in a download.

    Args:
        name: whose, as the platform writes it.
        number: the platform's number for them, "" where it gives none.
        files: their files.
        is_late: whether the platform says so.
    """

    name: str
    number: str = ""
    files: Files = ()
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
        deeper = list(inside[0].iterdir())
        holds_work = {path.name for path in deeper if path.is_dir()} & {*course.by_id, WORK}
        if holds_work or not deeper or not all(path.is_dir() for path in deeper):
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
        return [Upload(path.stem, files=[(root / path, path)]) for path in flat], []
    if not folders or folders & {*course.by_id, WORK}:
        return [Upload(stem, files=[(root / path, path) for path in paths])], []
    files: dict[str, list[tuple[Path, PurePosixPath]]] = defaultdict(list)
    for path in (path for path in paths if len(path.parts) > 1):
        files[path.parts[0]].append((root / path, path.relative_to(path.parts[0])))
    return [Upload(name, files=found) for name, found in files.items()], [p.name for p in flat]


def _of_a_platform(root: Path, paths: Sequence[PurePosixPath]) -> tuple[list[Upload], list[str]]:
    """The same by the platform whose names these are; nobody's where they are no platform's.

    Canvas has files `<lastfirst>[_LATE]_<student>_<file>_<name>`, all in one folder; Moodle has
    folders `<Full Name>_<id>_assignsubmission_file`, or files that begin so.
    """
    canvas = {p: CANVAS.fullmatch(p.name) if len(p.parts) == 1 else None for p in paths}
    moodle = {path: MOODLE.fullmatch(path.parts[0]) for path in paths}
    found = (_grouped(root, matches) for matches in (canvas, moodle))
    return next((one for one in found if one[0]), ([], []))


def _grouped(
    root: Path, matches: Mapping[PurePosixPath, re.Match[str] | None]
) -> tuple[list[Upload], list[str]]:
    files: dict[tuple[str, str], list[tuple[Path, PurePosixPath]]] = defaultdict(list)
    late = set()
    for path, match in matches.items():
        if match and path.name != TIMESTAMP:
            whose = (match["name"], match["id"])
            own = path.parts[1:] or (match["file"] or path.name,)
            files[whose].append((root / path, PurePosixPath(*own)))
            if match.groupdict().get("late"):
                late.add(whose)
    uploads = [Upload(*whose, found, whose in late) for whose, found in files.items()]
    return uploads, [str(path) for path, match in matches.items() if match is None]


def ungraded(root: Path, others: Sequence[Path], uploads: Sequence[Upload]) -> list[Upload]:
    """Who handed in nothing but files of kinds that nobody grades.

    Args:
        root: the folder that holds the class.
        others: where such files would lie.
        uploads: who handed in something else.
    """
    have = {(upload.name, upload.number) for upload in uploads}
    inside = [path.relative_to(root) for path in others if path.is_relative_to(root)]
    found, _strangers = _of_a_platform(root, [PurePosixPath(path.as_posix()) for path in inside])
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
    modules = {assignment.module for assignment in course.assignments}
    most = STUDENT_CAPS.entries
    files = [(source, _without_attempt(modules, inner)) for source, inner in upload.files[:most]]
    problems = list(_copied(files, folder, Allowance()))
    if len(upload.files) > most:
        problems.insert(0, f"{len(upload.files)} files were handed in; {most} are looked at")
    _lift(course, folder)
    more = len(problems) - MAX_PROBLEMS
    return [*problems[:MAX_PROBLEMS], f"and {more} more"] if more > 1 else problems


def _copied(files: Files, folder: Path, allowance: Allowance, depth: int = 0) -> Iterator[str]:
    """Copy files among a student's others, and unpack zips beside them; tell what went wrong."""
    for source, inner in files:
        target = folder / inner
        if inner.suffix.lower() == ".zip":
            yield from _nested(source, inner.name, folder, allowance, depth + 1)
            continue
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError):
            yield f"{inner} lies in a folder that has a file's name"
            continue
        if target.exists():
            yield f"{inner} was handed in twice; the first one was taken"
        else:
            shutil.copyfile(source, target)


def _nested(
    archive: Path, name: str, folder: Path, allowance: Allowance, depth: int
) -> Iterator[str]:
    """Unpack a student's own zip beside their other files."""
    allowance.archives -= 1
    if depth > MAX_NESTING:
        yield f"{name} lies too deep in other zips and was not unpacked"
        return
    if allowance.archives < 0 or allowance.size < MIB:
        yield f"{name} was not unpacked: it is one zip too many"
        return
    with tempfile.TemporaryDirectory(dir=folder.parent) as temporary:
        inside = Path(temporary)
        try:
            unpacked = unpack(archive, inside, replace(STUDENT_CAPS, total=allowance.size))
        except ArchiveError as error:
            allowance.size -= sum(path.stat().st_size for path in _all_files(inside))
            yield f"{name} was not unpacked: {str(error).rstrip('.')}"
            return
        allowance.size -= unpacked.size
        yield from (f"left out of {name}: {problem}" for problem in unpacked.problems)
        # A timestamp in there was written by the student, not by nbgrader.
        files = [(inside / path, path) for path in unpacked.files if path.name != TIMESTAMP]
        yield from _copied(files, folder, allowance, depth)


def _without_attempt(modules: Collection[str], path: PurePosixPath) -> PurePosixPath:
    """A file's name without the number that Canvas gives a later attempt."""
    stem = ATTEMPT.sub("", path.stem)
    is_code = path.suffix.lower() != ".zip" and stem in modules
    return path.with_name(f"{stem}{path.suffix}") if is_code else path


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
