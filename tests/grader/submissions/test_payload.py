"""Tests of submissions as data: when it changes, and that unpacking loses nothing."""

import os

import pytest

from grader.submissions import payload
from grader.submissions.payload import MOST_BYTES, read_payload
from grader.submissions.submission import read_submission
from tests.grader.submissions.conftest import DONE, put

TIME = "01_first/timestamp.txt"


@pytest.fixture
def work(folder):
    """A submission: an assignment's folder, a flat file, and what does not matter."""
    put(
        folder,
        {
            "01_first/first.py": DONE,
            TIME: "2026-01-02 03:04:05 UTC",
            "second.py": "def two():\n    return 2\n",
            "notes.txt": "mine",
            "other/first.py": "",
        },
    )
    return folder


def test_what_can_matter_is_taken_in(work):
    """Scripts, notebooks and timestamps, in any folder; nothing else."""
    put(work, {".venv/tool.py": "", "python/pyvenv.cfg": "", "python/tool.py": ""})
    assert [(name, size) for name, _, size in read_payload(work, "ada").files] == [
        ("01_first/first.py", len(DONE)),
        (TIME, 23),
        ("other/first.py", 0),
        ("second.py", 24),
    ]


def pipe(work, _tmp_path):
    """It is no file, and is not waited for."""
    os.mkfifo(work / "first.py")


def links(work, tmp_path):
    """What they lead to is not the student's."""
    put(tmp_path / "secret", {"second.py": "secret = 1\n"})
    (work / "linked.py").symlink_to(tmp_path / "secret" / "second.py")
    (work / "02_second").symlink_to(tmp_path / "secret")


def others(work, _tmp_path):
    """Other times, and what lies beside."""
    os.utime(work / "second.py", (1, 1))
    put(work, {"notes.txt": "others"})


POSIX = pytest.mark.only_on("linux", "darwin", reason="links need rights elsewhere, pipes are none")


@pytest.mark.parametrize(
    "change", [others, pytest.param(links, marks=POSIX), pytest.param(pipe, marks=POSIX)]
)
def test_what_does_not_matter_leaves_the_data_as_it_was(work, tmp_path, change):
    """Links are never followed, neither to files nor to folders."""
    before = read_payload(work, "ada")
    change(work, tmp_path)
    assert read_payload(work, "ada") == before


@pytest.mark.parametrize(
    "change",
    [
        lambda root: put(root, {"second.py": "def two():\n    return 3\n"}),
        lambda root: (root / "second.py").rename(root / "zwei.py"),
        lambda root: (root / "second.py").unlink(),
        lambda root: (root / "second.py").rename(root / "01_first" / "second.py"),
        lambda root: put(root, {"second.ipynb": "{}"}),
        lambda root: put(root, {TIME: "2026-01-02 03:04:06 UTC"}),
        lambda root: (root / "01_first").rename(root / "02_second"),
    ],
    ids=["contents", "name", "gone", "moved", "new", "timestamp", "assignment"],
)
def test_whatever_matters_changes_the_data(work, change):
    """Contents, names, places, and when it was handed in."""
    before = read_payload(work, "ada")
    change(work)
    assert read_payload(work, "ada") != before


def test_a_single_file_is_not_a_folder_with_that_file(work):
    """One is read for every assignment, the other is not."""
    alone = work / "01_first"
    (work / TIME).unlink()
    assert read_payload(alone / "first.py", "ada") != read_payload(alone, "ada")


@pytest.mark.parametrize(
    ("handed_in", "name"), [(".", "ada"), ("second.py", "ada/second.py")], ids=["folder", "file"]
)
def test_unpacked_it_reads_the_same(course, work, tmp_path, handed_in, name):
    """Sources, readings, notes and times: what another machine reads is what this one would."""
    made = read_payload(work / handed_in, "ada")
    unpacked = made.unpack(tmp_path / "elsewhere")
    assert unpacked == tmp_path / "elsewhere" / name
    one, other = (read_submission(course, at, "ada") for at in (unpacked, work / handed_in))
    assert one == other
    assert read_payload(unpacked, "ada") == made


def test_an_empty_submission_is_an_empty_folder(folder, tmp_path):
    """Not a missing one."""
    (tmp_path / "elsewhere").mkdir()
    unpacked = read_payload(folder, "ada").unpack(tmp_path / "elsewhere")
    assert (unpacked.name, list(unpacked.iterdir())) == ("ada", [])


def test_of_a_huge_file_the_beginning_and_the_size_travel(course, folder, tmp_path):
    """It is not graded, and says the same elsewhere."""
    with (folder / "first.ipynb").open("wb") as file:
        file.truncate(MOST_BYTES + 1000)
    made = read_payload(folder, "ada")
    sizes = [(name, len(data), size) for name, data, size in made.files]
    assert sizes == [("first.ipynb", MOST_BYTES, MOST_BYTES + 1000)]
    paths = (made.unpack(tmp_path / "elsewhere"), folder)
    one, other = (read_submission(course, path, "ada") for path in paths)
    assert one == other


def test_of_all_files_so_many_bytes_are_kept(folder, monkeypatch):
    """Two hundred notebooks of 64 MiB would fill the memory."""
    monkeypatch.setattr(payload, "MOST_IN_ALL", 10)
    put(folder, dict.fromkeys(("a.py", "b.py", "c.py"), "12345678"))
    sizes = [(len(data), size) for _name, data, size in read_payload(folder, "ada").files]
    assert sizes == [(8, 8), (2, 8), (0, 8)]
