"""The one file that a student hands in: a zip with the file that counts for each assignment."""

import io
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

from grader.core.errors import UsageError
from grader.core.files import write_whole
from grader.core.language import _
from grader.course.course import PICTURE, Course
from grader.intake.read import read_submissions
from grader.submissions.submission import Submission, read_submission

EPOCH = (1980, 1, 1, 0, 0, 0)
"""The time of every file, so that the same work gives the same zip."""


@dataclass(frozen=True, slots=True)
class Packed:
    """What is handed in.

    Args:
        files: by path in the zip.
        not_begun: the ids of assignments whose file is as it was released.
        left_out: other files in the folder, which the grader does not read.
        notes: by assignment, what the student should know about the choice of its file.
    """

    files: dict[str, bytes]
    not_begun: tuple[str, ...]
    left_out: tuple[str, ...]
    notes: dict[str, tuple[str, ...]]

    @property
    def archive(self) -> bytes:
        """The zip; not compressed, because a reader distrusts what packs too well."""
        memory = io.BytesIO()
        with zipfile.ZipFile(memory, "w") as made:
            for name, content in sorted(self.files.items()):
                made.writestr(zipfile.ZipInfo(name, EPOCH), content)
        return memory.getvalue()


def packed(course: Course, folder: Path) -> Packed:
    """What a student's folder has to hand in.

    Args:
        course: the course.
        folder: with a folder for each assignment.

    Raises:
        UsageError: when there is no such folder, or nothing in it has been begun.
    """
    submission = read_submission(course, folder, "me")
    readings = submission.readings
    not_begun = tuple(id_ for id_, reading in readings.items() if reading.is_untouched)
    chosen = {
        f"{id_}/{reading.own.rpartition('/')[2]}": reading.own
        for id_, reading in readings.items()
        if reading.own and not reading.is_untouched
    }
    own = {reading.own for reading in readings.values()}
    anything = {key for reading in readings.values() for key in reading.sources}
    chosen |= {key: key for key in (anything | {*submission.beside}) - own}
    files = {name: (folder / key).read_bytes() for name, key in chosen.items()}
    if not files:
        sentence = _("There is nothing to hand in yet: no exercise in {folder} has been begun.")
        raise UsageError(sentence.format(folder=folder))
    others = [path.relative_to(folder) for path in folder.rglob("*") if path.is_file()]
    left_out = [
        path.as_posix()
        for path in sorted(others)
        if path.as_posix() not in submission.sources
        and path.name != PICTURE
        and not any(part.startswith((".", "_")) for part in path.parts)
    ]
    notes = {id_: reading.notes for id_, reading in readings.items()}
    return Packed(files, not_begun, tuple(left_out), notes)


def as_handed_in(course: Course, path: Path, student: str) -> Submission:
    """Read a student's work as the grader will: packed, and unpacked again.

    Args:
        course: the course.
        path: the student's folder, or a single file, which is handed in as it is.
        student: whose it is.

    Raises:
        UsageError: when there is nothing to hand in.
    """
    if path.is_file():
        return read_submission(course, path, student)
    return unpacked(course, packed(course, path), student)


def unpacked(course: Course, work: Packed, student: str) -> Submission:
    """Read what was packed as the grader will, through its own intake.

    Args:
        course: the course.
        work: what was packed.
        student: whose it is.
    """
    with tempfile.TemporaryDirectory(prefix="handed-in-") as scratch:
        archive = Path(scratch) / "submission.zip"
        write_whole(archive, work.archive)
        with read_submissions(course, archive) as intake:
            (only,) = intake.students
            submission = read_submission(course, only.path or archive, student)
    lost = {
        id_: tuple(note for note in work.notes[id_] if note not in reading.notes)
        for id_, reading in submission.readings.items()
    }
    return submission.with_notes(lost)
