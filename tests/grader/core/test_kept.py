"""What is kept in the user's cache: found again, made again after any change, and never wrong."""

import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from grader.core import kept as module
from grader.core.kept import CACHE_VARIABLE, cache_folder, is_kept, kept, one_at_a_time


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The folder of a cache of this test's own, which is not there yet."""
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))
    return tmp_path / "cache" / "kind"


class Maker:
    """Makes a content, and counts how often."""

    def __init__(self, content=b"made"):
        self.content, self.times = content, 0

    def __call__(self):
        """Make it once more."""
        self.times += 1
        time.sleep(0.01)  # so that another thread may begin
        return self.content


def test_what_was_made_once_is_found_again(folder):
    """And nothing else is."""
    make = Maker()
    assert [kept("kind", ["a", 1], make) for _ in range(2)] == [b"made"] * 2
    assert make.times == 1
    assert is_kept("kind", ["a", 1])
    assert not is_kept("kind", ["a", 2])
    assert not is_kept("another", ["a", 1])


def test_what_it_depends_on_makes_it_again(folder):
    """Each state has a file of its own."""
    make = Maker()
    for depends_on in (["a"], ["b"], ["a"]):
        kept("kind", depends_on, make)
    assert make.times == 2
    assert len(list(folder.iterdir())) == 2


@pytest.mark.parametrize("name", ["grader_hash", "versions", "machine"])
def test_another_grader_version_or_machine_makes_it_again(folder, monkeypatch, name):
    """What comes out may differ in its last digits, or in its form."""
    make = Maker()
    kept("kind", "a", make)
    if name == "machine":
        monkeypatch.setattr(module.platform, "machine", lambda: "another")
    elif name == "versions":
        monkeypatch.setattr(module, "versions", lambda: {"torch": "0.0.1"})
    else:
        monkeypatch.setattr(module, "grader_hash", lambda: "another")
    kept("kind", "a", make)
    assert make.times == 2


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: data[:-1],
        lambda data: data[:20],
        lambda data: data + b"\0",
        lambda data: data[:33] + bytes([data[33] ^ 1]) + data[34:],
    ],
    ids=["empty", "torn", "torn in the checksum", "too long", "another byte"],
)
def test_a_damaged_file_is_ignored_and_made_again(folder, damage):
    """And then it is whole."""
    make = Maker()
    kept("kind", "a", make)
    (path,) = folder.iterdir()
    path.write_bytes(damage(path.read_bytes()))
    assert [kept("kind", "a", make) for _ in range(2)] == [b"made"] * 2
    assert make.times == 2


@pytest.mark.parametrize("which", ["file", "folder"])
def test_what_others_may_write_is_not_believed(folder, which):
    """A folder or file that anybody may change could hold another class's results."""
    make = Maker()
    kept("kind", "a", make)
    (path,) = folder.iterdir()
    (path if which == "file" else folder).chmod(0o777)
    assert not is_kept("kind", "a")
    kept("kind", "a", make)
    assert make.times == 2
    assert is_kept("kind", "a")


def test_a_link_is_not_followed(folder, tmp_path):
    """What it leads to is somebody else's."""
    make = Maker()
    kept("kind", "a", make)
    (path,) = folder.iterdir()
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    kept("kind", "a", make)
    assert make.times == 2


def test_only_its_owner_can_read_it(folder):
    """It may hold solutions and hidden checks."""
    kept("kind", "a", Maker())
    (path,) = folder.iterdir()
    assert folder.stat().st_mode & 0o077 == 0
    assert path.stat().st_uid == os.getuid()


def test_nothing_half_written_is_ever_found(folder, monkeypatch):
    """A file gets its name when it is whole; a disk that is full costs nothing else."""

    def full(self, data):
        with self.open("wb") as file:
            file.write(data[:2])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    assert kept("kind", "a", Maker()) == b"made"
    assert list(folder.glob("*.bin")) == []


def test_a_folder_that_cannot_be_written_is_no_error(folder):
    """Then all is made each time; also as root, a file is no folder."""
    make = Maker()
    folder.parent.write_text("not a folder", "utf-8")
    assert [kept("kind", "a", make) for _ in range(2)] == [b"made"] * 2
    assert make.times == 2
    assert folder.parent.read_text("utf-8") == "not a folder"


def test_who_would_make_the_same_waits_and_finds_it(folder):
    """One at a time looks, makes and keeps; where no folder can be made, nobody waits."""
    make = Maker()

    def found_or_made(_turn):
        with one_at_a_time("kind", "a"):
            return kept("kind", "a", make)

    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(found_or_made, range(8))) == {b"made"}
    assert make.times == 1
    with one_at_a_time("kind", "a"), one_at_a_time("another", "a"):
        assert [file.name for file in folder.glob("*.lock")]


def test_who_has_waited_long_makes_it_as_well(folder, monkeypatch):
    """The process that holds the lock may have been stopped."""
    monkeypatch.setattr("grader.core.kept.PATIENCE", 0.1)
    make = Maker()
    with one_at_a_time("kind", "a"), one_at_a_time("kind", "a"):
        assert kept("kind", "a", make) == b"made"


def test_where_no_file_can_be_locked_nobody_waits(folder):
    """A file is no folder for locks either."""
    folder.parent.write_text("not a folder", "utf-8")
    with one_at_a_time("kind", "a"), one_at_a_time("kind", "a"):
        assert folder.parent.is_file()


def test_without_a_folder_nothing_is_kept(monkeypatch):
    """An empty variable switches the cache off."""
    monkeypatch.setenv(CACHE_VARIABLE, "")
    make = Maker()
    assert [kept("kind", "a", make) for _ in range(2)] == [b"made"] * 2
    assert make.times == 2
    assert not is_kept("kind", "a")


def test_the_usual_folder_is_the_users(monkeypatch, tmp_path):
    """Where this system keeps what can be made again."""
    monkeypatch.delenv(CACHE_VARIABLE)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() is not None
    assert cache_folder().name == "grader-kit"


def test_only_the_last_used_are_kept(folder):
    """What is used stays; what was not used for longest goes."""
    folder.mkdir(parents=True)
    for age in range(5):
        path = folder / f"{age}.bin"
        path.write_bytes(b"")
        os.utime(path, (1_000_000_000 - age, 1_000_000_000 - age))
    kept("kind", "a", Maker(), most=3)
    names = {path.name for path in folder.iterdir()}
    assert len(names) == 3
    assert {"0.bin", "1.bin"} < names
    (newest,) = folder.glob("?" * 64 + ".bin")
    os.utime(newest, (1, 1))
    kept("kind", "a", Maker(), most=3)
    assert newest.stat().st_mtime > 1_000_000_000


def test_what_fails_is_not_kept(folder):
    """The next one tries again."""

    def fail():
        raise ValueError("it cannot be made")

    for _ in range(2):
        with pytest.raises(ValueError, match="it cannot be made"):
            kept("kind", "a", fail)
    assert not folder.exists()
