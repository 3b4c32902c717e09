"""Recordings that are kept: found again, made again after any change, and never wrong."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from grader.checks.recordings import write_recording
from grader.core import language
from grader.core.errors import CourseError
from grader.course.course import load_course
from grader.release import recorder, recording_cache
from grader.release.recording_cache import CACHE_VARIABLE, cache_folder, recorded
from grader.release.students import student_files, write_release

pytestmark = pytest.mark.slow


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """The folder of a cache of this test's own, which is not there yet."""
    folder = tmp_path / "cache" / "recordings"
    monkeypatch.setenv(CACHE_VARIABLE, str(folder))
    return folder


really_record = recorder.record
once = {}


@pytest.fixture
def made(monkeypatch):
    """The assignments that were recorded, in order; each is really recorded once for all tests."""
    assignments = []

    def record(course, assignment):
        assignments.append(assignment.id)
        if assignment.id not in once:
            once[assignment.id] = really_record(course, assignment)
        return once[assignment.id]

    monkeypatch.setattr(recorder, "record", record)
    return assignments


@pytest.fixture
def course(course_copy):
    """A course that can be changed."""
    return load_course(course_copy)


def test_what_was_made_once_is_found_again(course, kept, made):
    """Byte for byte what the recorder makes."""
    assignment = course.assignments[0]
    first, second = (recorded(course, assignment) for _ in range(2))
    assert first == second == write_recording(really_record(course, assignment))
    assert made == ["01_scores"]
    assert len(list(kept.iterdir())) == 1


def test_assignments_do_not_share_a_recording(course, kept, made):
    """Each has a file of its own."""
    for assignment in course.assignments * 2:
        recorded(course, assignment)
    assert made == ["01_scores", "02_mixture"]
    assert len(list(kept.iterdir())) == 2


@pytest.mark.parametrize(
    ("path", "more"),
    [
        ("course.toml", "[late]\ngrace_minutes = 7\n"),
        ("solutions/01_scores/scores.py", "MORE = 1\n"),
        ("tests/checks/01_scores/test_visible.py", "MORE = 1\n"),
    ],
)
def test_a_change_of_the_course_makes_it_again(course, kept, made, path, more):
    """Whatever decides scores counts."""
    recorded(course, course.assignments[0])
    with (course.root / path).open("a", encoding="utf-8") as file:
        file.write(more)
    recorded(load_course(course.root), course.assignments[0])
    assert made == ["01_scores"] * 2


def test_another_grader_makes_it_again(course, kept, made, monkeypatch):
    """What the checks ask, and how it is written down, may differ."""
    recorded(course, course.assignments[0])
    monkeypatch.setattr(recording_cache, "grader_hash", lambda: "another")
    recorded(course, course.assignments[0])
    assert made == ["01_scores"] * 2


@pytest.mark.parametrize("name", ["torch", "python"])
def test_another_version_makes_it_again(course, kept, made, monkeypatch, name):
    """Of torch, whose results differ in their last digits, and of Python."""
    recorded(course, course.assignments[0])
    used = recording_cache.versions()
    monkeypatch.setattr(recording_cache, "versions", lambda: {**used, name: "0.0.1"})
    recorded(course, course.assignments[0])
    assert made == ["01_scores"] * 2


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: data[:-1],
        lambda data: data[:20],
        lambda data: data + b"\0",
        lambda data: data[:40] + bytes([data[40] ^ 1]) + data[41:],
    ],
    ids=["empty", "torn", "torn in the checksum", "too long", "another byte"],
)
def test_a_damaged_file_is_ignored_and_made_again(course, kept, made, damage):
    """And then it is whole."""
    right = recorded(course, course.assignments[0])
    (path,) = kept.iterdir()
    path.write_bytes(damage(path.read_bytes()))
    assert [recorded(course, course.assignments[0]) for _ in range(2)] == [right] * 2
    assert made == ["01_scores"] * 2


def test_nothing_half_written_is_ever_found(course, kept, monkeypatch):
    """A file gets its name when it is whole; a disk that is full costs nothing else."""

    def full(self, data):
        with self.open("wb") as file:
            file.write(data[:50])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    assert recorded(course, course.assignments[0])
    assert list(kept.glob("*.bin")) == []


def test_a_folder_that_cannot_be_written_is_no_error(course, kept, made):
    """Then every release makes its recordings itself; also as root, a file is no folder."""
    kept.parent.mkdir()
    kept.write_text("not a folder", "utf-8")
    first, second = (recorded(course, course.assignments[0]) for _ in range(2))
    assert first == second
    assert made == ["01_scores"] * 2
    assert kept.read_text("utf-8") == "not a folder"


def test_without_a_folder_nothing_is_kept(course, made, monkeypatch):
    """An empty variable switches the cache off."""
    monkeypatch.setenv(CACHE_VARIABLE, "")
    for _ in range(2):
        recorded(course, course.assignments[0])
    assert made == ["01_scores"] * 2


def test_the_usual_folder_is_the_users(monkeypatch, tmp_path):
    """Where this system keeps what can be made again."""
    monkeypatch.delenv(CACHE_VARIABLE)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    folder = cache_folder()
    assert folder is not None
    assert folder.parts[-2:] == ("grader-kit", "recordings")


def test_only_the_last_used_are_kept(course, kept, monkeypatch):
    """What is used stays; what was not used for longest goes."""
    monkeypatch.setattr(recording_cache, "MOST_KEPT", 3)
    kept.mkdir(parents=True)
    for age in range(5):
        path = kept / f"{age}.bin"
        path.write_bytes(b"")
        os.utime(path, (1_000_000_000 - age, 1_000_000_000 - age))
    first = recorded(course, course.assignments[0])
    names = {path.name for path in kept.iterdir()}
    assert len(names) == 3
    assert {"0.bin", "1.bin"} < names
    (own,) = kept.glob("?" * 64 + ".bin")
    os.utime(own, (1, 1))
    assert recorded(course, course.assignments[0]) == first
    assert own.stat().st_mtime > 1_000_000_000


def test_what_cannot_be_recorded_is_not_kept(course, kept):
    """A solution that does not pass its visible checks."""
    path = course.root / "tests/checks/01_scores/test_visible.py"
    path.write_text(path.read_text("utf-8").replace("(2, 3)", "(3, 2)"), "utf-8")
    for _ in range(2):
        with pytest.raises(CourseError, match="the solution does not pass it"):
            recorded(course, course.assignments[0])
    assert not kept.exists()


def test_a_release_takes_what_is_kept(course, kept, made, tmp_path):
    """Two releases are the same to the byte; the second one makes no recording."""
    first = write_release(course, tmp_path / "first", student_files)
    assert made == ["01_scores", "02_mixture"]
    assert write_release(course, tmp_path / "second", student_files) == first
    assert made == ["01_scores", "02_mixture"]


def test_one_recording_serves_all_languages(course, kept):
    """What is recorded is English, whatever is spoken while it is made."""
    english = write_recording(recorder.record(course, course.assignments[0]))
    language.use("ja")
    spoken = replace(course, language="ja")
    assert write_recording(recorder.record(spoken, spoken.assignments[0])) == english
