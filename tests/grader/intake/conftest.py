"""What a class hands in, and how it is read."""

import os
import subprocess

import pytest

from grader.intake.read import read_submissions

ONE = "def one():\n    return 1\n"
TWO = "from first import one\n\n\ndef two():\n    return one() + 1\n"
FIRST = "01_first/first.py"


def git(folder, *words, **variables):
    """Run git as a student does, without anybody's own settings."""
    settings = {"GIT_CONFIG_GLOBAL": os.devnull, **variables}
    command = ["git", "-C", folder, "-c", "user.name=E", "-c", "user.email=e@x.y", *words]
    ran = subprocess.run(command, env={**os.environ, **settings}, check=True, capture_output=True)
    return ran.stdout.decode().strip()


def files_in(folder, pattern="*"):
    """The texts of a folder's files, by name; None without a folder."""
    if folder is None:
        return None
    found = (path for path in sorted(folder.rglob(pattern)) if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_text("utf-8") for path in found}


@pytest.fixture
def put(tmp_path):
    """Writes files of the class, all of the same text."""

    def write(*names, text=ONE, folder="class"):
        for name in names:
            path = tmp_path / folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
        return tmp_path / folder

    return write


@pytest.fixture
def arrived(small_course, tmp_path):
    """Reads a class: what is looked at of each student, else their files; and what arrived."""

    def read_class(path=None, roster=None, of=lambda student: files_in(student.path), **options):
        path = path or tmp_path / "class"
        with read_submissions(small_course, path, roster, **options) as arrived:
            return {student.id: of(student) for student in arrived.students}, arrived

    return read_class


@pytest.fixture
def write(tmp_path):
    """Writes a list: a roster, times, keys or requests."""

    def write_list(text, encoding="utf-8"):
        path = tmp_path / "list"
        path.write_text(text, encoding)
        return path

    return write_list
