"""Tests of submissions as data: when it changes, and that unpacking loses nothing."""

import os
from pathlib import Path

import pytest

from grader.submissions.payload import MOST_BYTES, read_payload
from grader.submissions.submission import read_submission

ONE = "def one():\n    return 1\n"


@pytest.fixture
def folder(tmp_path) -> Path:
    """A submission: an assignment's folder, a flat file, and what does not matter."""
    root = tmp_path / "class" / "ada"
    (root / "01_first").mkdir(parents=True)
    (root / "01_first" / "first.py").write_text(ONE)
    (root / "01_first" / "timestamp.txt").write_text("2026-01-02 03:04:05 UTC")
    (root / "second.py").write_text("def two():\n    return 2\n")
    (root / "notes.txt").write_text("mine")
    (root / "other").mkdir()
    (root / "other" / "first.py").write_text("")
    return root


def test_what_can_matter_is_taken_in(folder):
    """Scripts, notebooks and timestamps, in any folder; nothing else."""
    (folder / ".venv").mkdir()
    (folder / ".venv" / "tool.py").write_text("")
    (folder / "python").mkdir()
    (folder / "python" / "pyvenv.cfg").write_text("")
    (folder / "python" / "tool.py").write_text("")
    assert [(name, size) for name, _, size in read_payload(folder, "ada").files] == [
        ("01_first/first.py", len(ONE)),
        ("01_first/timestamp.txt", 23),
        ("other/first.py", 0),
        ("second.py", 24),
    ]


def test_the_same_files_are_the_same_data(folder):
    """Whatever their times, and whatever lies beside them."""
    before = read_payload(folder, "ada")
    os.utime(folder / "second.py", (1, 1))
    (folder / "notes.txt").write_text("others")
    assert read_payload(folder, "ada") == before


@pytest.mark.parametrize(
    "change",
    [
        lambda root: (root / "second.py").write_text("def two():\n    return 3\n"),
        lambda root: (root / "second.py").rename(root / "zwei.py"),
        lambda root: (root / "second.py").unlink(),
        lambda root: (root / "second.py").rename(root / "01_first" / "second.py"),
        lambda root: (root / "second.ipynb").write_text("{}"),
        lambda root: (root / "01_first" / "timestamp.txt").write_text("2026-01-02 03:04:06 UTC"),
        lambda root: (root / "01_first").rename(root / "02_second"),
    ],
    ids=["contents", "name", "gone", "moved", "new", "timestamp", "assignment"],
)
def test_whatever_matters_changes_the_data(folder, change):
    """Contents, names, places, and when it was handed in."""
    before = read_payload(folder, "ada")
    change(folder)
    assert read_payload(folder, "ada") != before


def test_a_single_file_is_not_a_folder_with_that_file(folder):
    """One is read for every assignment, the other is not."""
    alone = folder / "01_first"
    (alone / "timestamp.txt").unlink()
    assert read_payload(alone / "first.py", "ada") != read_payload(alone, "ada")


@pytest.mark.only_on("linux", "darwin", reason="links need rights elsewhere")
def test_links_are_never_followed(folder, tmp_path):
    """Neither to files nor to folders: what they lead to is not the student's."""
    before = read_payload(folder, "ada")
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "second.py").write_text("secret = 1\n")
    (folder / "linked.py").symlink_to(secret / "second.py")
    (folder / "02_second").symlink_to(secret)
    assert read_payload(folder, "ada") == before


@pytest.mark.only_on("linux", "darwin", reason="there are no pipes elsewhere")
def test_a_pipe_is_not_waited_for(folder):
    """It is no file."""
    before = read_payload(folder, "ada")
    os.mkfifo(folder / "first.py")
    assert read_payload(folder, "ada") == before


def test_unpacked_it_reads_the_same(small_course, folder, tmp_path):
    """Sources, readings, notes and times: what another machine reads is what this one would."""
    handed = read_payload(folder, "ada")
    place = tmp_path / "elsewhere"
    place.mkdir()
    unpacked = handed.unpack(place)
    assert unpacked == place / "ada"
    assert read_submission(small_course, unpacked, "ada") == read_submission(
        small_course, folder, "ada"
    )
    assert read_payload(unpacked, "ada") == handed


def test_a_single_file_unpacked_reads_the_same(small_course, folder, tmp_path):
    """Under its own name."""
    file = folder / "second.py"
    unpacked = read_payload(file, "ada").unpack(tmp_path)
    assert unpacked == tmp_path / "ada" / "second.py"
    assert read_submission(small_course, unpacked, "ada") == read_submission(
        small_course, file, "ada"
    )


def test_an_empty_submission_is_an_empty_folder(tmp_path):
    """Not a missing one."""
    empty = tmp_path / "empty"
    empty.mkdir()
    unpacked = read_payload(empty, "ada").unpack(tmp_path)
    assert (unpacked, list(unpacked.iterdir())) == (tmp_path / "ada", [])


def test_of_a_huge_file_the_beginning_and_the_size_travel(small_course, tmp_path):
    """It is not graded, and says the same elsewhere."""
    root = tmp_path / "class" / "ada"
    root.mkdir(parents=True)
    with (root / "first.ipynb").open("wb") as file:
        file.truncate(MOST_BYTES + 1000)
    handed = read_payload(root, "ada")
    assert [(name, len(data), size) for name, data, size in handed.files] == [
        ("first.ipynb", MOST_BYTES, MOST_BYTES + 1000)
    ]
    unpacked = handed.unpack(tmp_path)
    assert read_submission(small_course, unpacked, "ada") == read_submission(
        small_course, root, "ada"
    )
