"""What a platform's download holds: whose files are whose, and a folder for each student.

Canvas's zip has files `<lastfirst>_<ids>_<name>`, Moodle's has folders `<Full Name>_<id>_…`; a zip
may also hold a folder or a zip per student, or the work of one.
"""

import re
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from grader.course.course import WORK, Course
from grader.intake.safe_zip import (
    MIB,
    STUDENT_CAPS,
    TIMESTAMP,
    Archive,
    ArchiveError,
    open_archive,
)
from grader.submissions.file_names import plain_name
from grader.submissions.payload import MOST_IN_ALL

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
        prefix: what the platform's name of a file begins with, which it knows the student by.
    """

    name: str
    number: str = ""
    files: Files = ()
    is_late: bool = False
    prefix: str = ""


@dataclass(slots=True)
class Allowance:
    """How much one student's zips may still unpack to."""

    size: int = STUDENT_CAPS.total
    archives: int = MAX_ARCHIVES


def innermost(course: Course, paths: Sequence[PurePosixPath]) -> PurePosixPath:
    """The folder that holds the class, below folders that hold nothing but the next one.

    Args:
        course: the course.
        paths: the files of a download.
    """
    folder = PurePosixPath()
    while True:
        below = [path.relative_to(folder).parts for path in paths]
        names = {parts[0] for parts in below}
        deeper = {parts[1] for parts in below if len(parts) > 2}
        is_only_one = len(names) == 1 and all(len(parts) > 2 for parts in below)
        holds_work = deeper & {*course.by_id, WORK}
        if not is_only_one or holds_work or any(map(MOODLE.fullmatch, names)):
            return folder
        folder = folder.joinpath(*names)


def uploads_of(
    course: Course, root: Path, paths: Sequence[PurePosixPath], stem: str
) -> tuple[list[Upload], list[str]]:
    """The files of each student, going by the platform's names; and those of nobody.

    Args:
        course: the course.
        root: where the download is unpacked.
        paths: the files that it has there.
        stem: whose the files are when they are of one student.
    """
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
    prefixes: dict[tuple[str, str], str] = {}
    for path, match in matches.items():
        if match and path.name != TIMESTAMP:
            whose = (match["name"], match["id"])
            own = path.parts[1:] or (match["file"] or path.name,)
            files[whose].append((root / path, PurePosixPath(*own)))
            if match.groupdict().get("late"):
                late.add(whose)
            is_canvas = match.re is CANVAS
            prefix = match.string[: match.start("file")] if is_canvas else moodle_prefix(*whose)
            prefixes.setdefault(whose, prefix)
    uploads = [Upload(*whose, f, whose in late, prefixes[whose]) for whose, f in files.items()]
    return uploads, [str(path) for path, match in matches.items() if match is None]


def moodle_prefix(name: str, number: str) -> str:
    """What Moodle's names of a student's files begin with."""
    return f"{name.replace('_', ' ')}_{number}_assignsubmission_file_"


def ungraded(others: Sequence[PurePosixPath], uploads: Sequence[Upload]) -> list[Upload]:
    """Who handed in nothing but files of kinds that nobody grades.

    Args:
        others: such files, in the folder that holds the class.
        uploads: who handed in something else.
    """
    have = {(upload.name, upload.number) for upload in uploads}
    found, _strangers = _of_a_platform(Path(), others)
    return [upload for upload in found if (upload.name, upload.number) not in have]


def check_class(archive: Archive, uploads: Sequence[Upload]) -> None:
    """Check how much a class's files come to, of each student's no more than one may have.

    Raises:
        ArchiveError: when it is too much.
    """
    sizes = (
        sum(archive.size(archive.path_of(path)) for path, _inner in upload.files)
        for upload in uploads
    )
    archive.check_total(sum(min(size, MOST_IN_ALL) for size in sizes))


# One student's files.


def lay_out(
    course: Course, upload: Upload, folder: Path, archive: Archive | None = None
) -> list[str]:
    """Copy a student's files into a folder as a submission has them.

    Of more files, or larger ones, than one student may have, those count that the course asks for.

    Args:
        course: the course.
        upload: the student's files.
        folder: a new folder.
        archive: what they have to be unpacked of first.

    Returns:
        What went wrong with some of them, in words.
    """
    folder.mkdir(parents=True)
    modules = {assignment.module for assignment in course.assignments}
    most = STUDENT_CAPS.entries
    files = [(source, _without_attempt(modules, inner)) for source, inner in upload.files]
    files.sort(key=lambda file: not _is_asked_for(modules, file[1]))
    problems = []
    if len(files) > most:
        problems.append(f"{len(files)} files were handed in; {most} are looked at")
    taken = files[:most] if archive is None else [*_unpacked(archive, files[:most], problems)]
    problems += _copied(taken, folder, Allowance())
    _lift(course, folder)
    return shortened(problems, MAX_PROBLEMS)


def shortened(lines: list[str], most: int) -> list[str]:
    """Lines, of many more the first, and how many there are besides."""
    more = len(lines) - most
    return [*lines[:most], f"and {more} more"] if more > 1 else lines


def _is_asked_for(modules: Collection[str], path: PurePosixPath) -> bool:
    """Whether a file has an assignment's name, or is a zip, in which such files may be."""
    return path.suffix.lower() == ".zip" or plain_name(path.stem) in modules


def _unpacked(
    archive: Archive, files: Files, problems: list[str]
) -> Iterator[tuple[Path, PurePosixPath]]:
    """Unpack one student's files; tell what went wrong, and yield the others."""
    left = MOST_IN_ALL
    for source, inner in files:
        path = archive.path_of(source)
        size = archive.size(path)
        if size > left:
            most = MOST_IN_ALL // MIB
            problems.append(f"{inner} was left out: all files have more than {most} MiB")
        elif problem := archive.unpack(path):
            problems.append(f"{inner} {problem}")
        else:
            left -= size
            yield source, inner


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
    caps = replace(STUDENT_CAPS, total=allowance.size)
    with tempfile.TemporaryDirectory(dir=folder.parent) as temporary:
        inside = Path(temporary)
        try:
            with closing(open_archive(archive, inside, caps)) as opened:
                size = sum(map(opened.size, opened.entries))
                opened.check_total(size)
                problems = opened.problems
                # A timestamp in there was written by the student, not by nbgrader.
                paths = (path for path in opened.entries if path.name != TIMESTAMP)
                files = [*_unpacked(opened, [(inside / path, path) for path in paths], problems)]
        except ArchiveError as error:
            yield f"{name} was not unpacked: {str(error).rstrip('.')}"
            return
        allowance.size -= size
        yield from (f"left out of {name}: {problem}" for problem in problems)
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
