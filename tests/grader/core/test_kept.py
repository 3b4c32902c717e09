"""What is kept in the user's cache: found again, made again after any change, and never wrong."""

import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

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


@pytest.fixture
def make():
    """Makes a content."""
    return Maker()


def test_what_was_made_once_is_found_again(folder, make):
    """And nothing else is: each state has a file of its own."""
    assert [kept("kind", ["a", 1], make) for _ in range(2)] == [b"made"] * 2
    assert make.times == 1
    assert is_kept("kind", ["a", 1])
    assert not is_kept("kind", ["a", 2])
    assert not is_kept("another", ["a", 1])
    for depends_on in (["a", 2], ["a", 1]):
        kept("kind", depends_on, make)
    assert make.times == 2
    assert len(list(folder.iterdir())) == 2


def link(path):
    """What a link leads to is somebody else's."""
    elsewhere = path.rename(path.parents[2] / "elsewhere")
    path.symlink_to(elsewhere)


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(path.read_bytes()[:-1]),
        lambda path: path.write_bytes(path.read_bytes()[:20]),
        lambda path: path.write_bytes(path.read_bytes() + b"\0"),
        lambda path: path.write_bytes(path.read_bytes()[:33] + b"\0" + path.read_bytes()[34:]),
        # What anybody may change could hold another class's results.
        lambda path: path.chmod(0o777),
        lambda path: path.parent.chmod(0o777),
        link,
    ],
    ids=[
        *("empty", "torn", "torn in the checksum", "too long", "another byte"),
        *("a file for all", "a folder for all", "a link"),
    ],
)
def test_what_cannot_be_trusted_is_made_again(folder, make, damage):
    """And then it is whole."""
    kept("kind", "a", make)
    (path,) = folder.iterdir()
    damage(path)
    assert not is_kept("kind", "a")
    assert [kept("kind", "a", make) for _ in range(2)] == [b"made"] * 2
    assert make.times == 2


@pytest.mark.parametrize("name", ["grader_hash", "versions", "platform.machine"])
def test_another_grader_version_or_machine_makes_it_again(folder, make, monkeypatch, name):
    """What comes out may differ in its last digits, or in its form."""
    kept("kind", "a", make)
    monkeypatch.setattr(f"grader.core.kept.{name}", lambda: {"torch": "0.0.1"})
    kept("kind", "a", make)
    assert make.times == 2


def test_only_its_owner_can_read_it(folder, make):
    """It may hold solutions and hidden checks."""
    kept("kind", "a", make)
    (path,) = folder.iterdir()
    assert folder.stat().st_mode & 0o077 == 0
    assert path.stat().st_uid == os.getuid()


def test_nothing_half_written_is_ever_found(folder, make, monkeypatch):
    """A file gets its name when it is whole; a disk that is full costs nothing else."""

    def full(self, data):
        with self.open("wb") as file:
            file.write(data[:2])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    assert kept("kind", "a", make) == b"made"
    assert list(folder.glob("*.bin")) == []


@pytest.mark.parametrize("is_off", [False, True], ids=["a file in its place", "an empty variable"])
def test_where_there_is_no_folder_all_is_made_each_time(folder, make, monkeypatch, is_off):
    """This is no error, and nobody waits; also as root, a file is no folder."""
    folder.parent.write_text("not a folder", "utf-8")
    if is_off:
        monkeypatch.setenv(CACHE_VARIABLE, "")
    with one_at_a_time("kind", "a"), one_at_a_time("kind", "a"):
        assert [kept("kind", "a", make) for _ in range(2)] == [b"made"] * 2
    assert make.times == 2
    assert not is_kept("kind", "a")
    assert folder.parent.read_text("utf-8") == "not a folder"


def test_who_would_make_the_same_waits_and_finds_it(folder, make):
    """One at a time looks, makes and keeps; where no folder can be made, nobody waits."""

    def found_or_made(_turn):
        with one_at_a_time("kind", "a"):
            return kept("kind", "a", make)

    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(found_or_made, range(8))) == {b"made"}
    assert make.times == 1
    with one_at_a_time("kind", "a"), one_at_a_time("another", "a"):
        assert [file.name for file in folder.glob("*.lock")]


def test_who_has_waited_long_makes_it_as_well(folder, make, monkeypatch):
    """The process that holds the lock may have been stopped."""
    monkeypatch.setattr("grader.core.kept.PATIENCE", 0.1)
    with one_at_a_time("kind", "a"), one_at_a_time("kind", "a"):
        assert kept("kind", "a", make) == b"made"


def test_the_usual_folder_is_the_users(monkeypatch, tmp_path):
    """Where this system keeps what can be made again."""
    monkeypatch.delenv(CACHE_VARIABLE)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() is not None
    assert cache_folder().name == "grader-kit"


def test_only_the_last_used_are_kept(folder, make):
    """What is used stays; what was not used for longest goes."""
    folder.mkdir(parents=True)
    for age in range(5):
        path = folder / f"{age}.bin"
        path.write_bytes(b"")
        os.utime(path, (1_000_000_000 - age, 1_000_000_000 - age))
    kept("kind", "a", make, most=3)
    names = {path.name for path in folder.iterdir()}
    assert len(names) == 3
    assert {"0.bin", "1.bin"} < names
    (newest,) = folder.glob("?" * 64 + ".bin")
    os.utime(newest, (1, 1))
    kept("kind", "a", make, most=3)
    assert newest.stat().st_mtime > 1_000_000_000


def test_what_fails_is_not_kept(folder):
    """The next one tries again."""

    def fail():
        raise ValueError("it cannot be made")

    for _ in range(2):
        with pytest.raises(ValueError, match="it cannot be made"):
            kept("kind", "a", fail)
    assert not folder.exists()
