"""The one file that a student hands in: a zip with the file that counts for each assignment."""

import io
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

from grader.core.errors import UsageError
from grader.core.files import write_whole
from grader.core.language import _
from grader.course.course import Course
from grader.submissions.intake import read_submissions
from grader.submissions.submission import Submission, read_submission

EPOCH = (1980, 1, 1, 0, 0, 0)
"""The time of every file, so that the same work gives the same zip."""


@dataclass(frozen=True, slots=True)
class Packed:
    """What is handed in.

    Args:
        files: by path in the zip.
        not_begun: the ids of assignments whose file is as it was released.
        left_out: other scripts and notebooks in the folder, which the grader does not read.
    """

    files: dict[str, bytes]
    not_begun: tuple[str, ...]
    left_out: tuple[str, ...]

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
    files, known, not_begun = {}, set(), []
    for id_, reading in submission.readings.items():
        known.add(reading.own)
        if reading.own and reading.is_untouched:
            not_begun.append(id_)
        elif reading.own:
            name = reading.own.rpartition("/")[2]
            files[f"{id_}/{name}"] = (folder / reading.own).read_bytes()
    for key in {key for reading in submission.readings.values() for key in reading.sources} - known:
        known.add(key)  # a file that may define anything
        files[key] = (folder / key).read_bytes()
    if not files:
        sentence = _("There is nothing to hand in yet: no exercise in {folder} has been begun.")
        raise UsageError(sentence.format(folder=folder))
    others = [path.relative_to(folder) for path in folder.rglob("*") if path.is_file()]
    left_out = [
        path.as_posix()
        for path in sorted(others)
        if path.as_posix() not in known
        and path.parts[0] not in not_begun
        and not any(part.startswith((".", "_")) for part in path.parts)
    ]
    return Packed(files, tuple(not_begun), tuple(left_out))


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
    with tempfile.TemporaryDirectory(prefix="handed-in-") as scratch:
        archive = Path(scratch) / "submission.zip"
        write_whole(archive, packed(course, path).archive)
        with read_submissions(course, archive) as intake:
            (only,) = intake.students
            return read_submission(course, only.path or archive, student)
