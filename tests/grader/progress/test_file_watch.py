"""Tests of noticing that a file was saved: through the system, and by looking."""

import queue
import sys
import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from unittest.mock import Mock

import pytest

from grader.progress import file_watch


class Watched:
    """A watch in a thread of its own.

    Args:
        saves: makes the watch.
    """

    def __init__(self, saves: Callable[[threading.Event], Iterator[None]]) -> None:
        self.stop = threading.Event()
        self.told: queue.Queue[str] = queue.Queue()
        self.thread = threading.Thread(target=self._run, args=(saves(self.stop),), daemon=True)
        self.thread.start()

    def _run(self, saves: Iterator[None]) -> None:
        for _ in saves:
            self.told.put("saved")
        self.told.put("stopped")

    def until_told(self, save: Callable[[int], None]) -> None:
        """Save until it is noticed: the watch may still have to begin."""
        for attempt in range(100):
            save(attempt)
            try:
                assert self.told.get(timeout=0.3) == "saved"
            except queue.Empty:
                continue
            return
        pytest.fail("no save was noticed")

    def end(self) -> None:
        """Stop it."""
        self.stop.set()
        self.thread.join(30)
        assert not self.thread.is_alive()


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """A lost folder is noticed at once."""
    monkeypatch.setattr(file_watch, "LOST_MS", 20)


WAYS = {
    "by the system": lambda folder: partial(file_watch.saves, folder),
    "by looking": lambda folder: (
        lambda stop: file_watch.polled(lambda: file_watch._work(folder), lambda: stop.wait(0.01))
    ),
}


@pytest.fixture(params=WAYS)
def watched(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Watched]:
    """A watch of a folder with one assignment."""
    (tmp_path / "01_a").mkdir()
    (tmp_path / "01_a" / "a.py").write_text("", "utf-8")
    made = Watched(WAYS[request.param](tmp_path))
    yield made
    made.end()


def replaced(folder: Path, number: int) -> None:
    """Save as many editors do: beside the file, then over it."""
    beside = folder / "01_a" / "a.py.swp"
    beside.write_text("x" * number, "utf-8")
    beside.replace(folder / "01_a" / "a.py")


@pytest.mark.parametrize(
    "save",
    [
        pytest.param(lambda at, n: (at / "01_a" / "a.py").write_text("x" * n), id="in place"),
        pytest.param(replaced, id="replaced"),
        pytest.param(lambda at, n: (at / f"new_{n}.ipynb").write_text("{}"), id="a new notebook"),
    ],
)
def test_a_save_is_noticed(watched, tmp_path, save):
    """In whatever way a file is written."""
    watched.until_told(partial(save, tmp_path))


def test_a_folder_that_another_takes_the_place_of_is_watched_on(watched, tmp_path):
    """As when work is stashed and comes back."""
    watched.until_told(lambda n: (tmp_path / "01_a" / "a.py").write_text("x" * n, "utf-8"))
    tmp_path.rename(tmp_path.with_name(f"{tmp_path.name}-elsewhere"))
    assert watched.told.get(timeout=30) == "saved"
    (tmp_path / "01_a").mkdir(parents=True)
    watched.until_told(lambda n: (tmp_path / "01_a" / "a.py").write_text("y" * n, "utf-8"))


def test_other_files_are_not_looked_at(tmp_path):
    """An editor's own, or what Python writes."""
    (tmp_path / "a.txt").write_text("", "utf-8")
    (tmp_path / "a.py").write_text("", "utf-8")
    assert list(file_watch._seen(file_watch._work(tmp_path))) == [str(tmp_path / "a.py")]


def test_a_folder_that_goes_while_it_is_listed_ends_no_watch(tmp_path):
    """Then there are the files that were found until then."""
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "a.py").write_text("", "utf-8")
    listed = file_watch._work(folder)
    assert next(listed) == folder / "a.py"
    folder.rename(tmp_path / "elsewhere")
    assert list(listed) == []


@pytest.mark.parametrize(
    "error", [OSError("no more watches"), RuntimeError("no more watches"), None], ids=str
)
def test_where_the_system_refuses_files_are_polled(tmp_path, monkeypatch, error):
    """It has only so many watches to give; an installation without watchfiles goes on working."""
    if error is None:
        monkeypatch.setitem(sys.modules, "watchfiles", None)
    else:
        monkeypatch.setattr("watchfiles.watch", Mock(side_effect=error))
    monkeypatch.setattr(file_watch, "LOOK_SECONDS", 0.01)
    made = Watched(partial(file_watch.saves, tmp_path))
    made.until_told(lambda n: (tmp_path / "a.py").write_text("x" * n, "utf-8"))
    made.end()


def test_files_are_named_once_now_and_once_after_each_change(tmp_path):
    """Also where one was saved before the next look, or while the caller was busy."""
    file = tmp_path / "a.toml"
    file.write_text("1")
    looks = []

    def files():
        looks.append(file.read_text())
        if len(looks) == 4:  # two looks found nothing new
            file.write_text("22")
        return [file]

    noticed = file_watch.polled(files, lambda: None, at_once=True)
    next(noticed)
    assert looks == ["1"]
    next(noticed)
    assert looks == ["1", "1", "1", "1"]
    file.write_text("333")
    next(noticed)
    assert looks[-1] == "333"
