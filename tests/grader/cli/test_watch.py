"""Tests of `grader watch` as a whole: in a pseudo-terminal, in a pipe, and how it ends."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.grader.cli.conftest import NOT_SCALED

try:
    import pexpect
except ImportError:  # Windows has no pseudo-terminals
    pexpect = None


RIGHT = "def scores(queries, keys):\n    return queries @ keys.T / keys.shape[-1] ** 0.5\n"
ENDLESS = "def scores(queries, keys):\n    while True:\n        pass\n"
BEGUN = "Write it where it says TODO"


# Each starts the real command, which imports torch.
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("each alone")]
in_a_terminal = pytest.mark.only_on(
    "linux", "darwin", reason="Windows has no pseudo-terminals, and hears Ctrl-C otherwise"
)


@dataclass
class Terminal:
    """The command in a pseudo-terminal of eighty columns."""

    child: Any
    folder: Path

    def save(self, text: str) -> None:
        """Save the scores as editors do: beside the file, then over it."""
        path = self.folder / "assignments" / "01_scores" / "scores.py"
        beside = path.with_suffix(".tmp")
        beside.write_text(text, "utf-8")
        beside.replace(path)

    def sees(self, text: str) -> None:
        """Wait until a text is on the screen."""
        self.child.expect_exact(text)

    def end(self) -> int:
        """Wait until the command has ended; its exit code, or a signal's number below zero."""
        self.child.expect(pexpect.EOF)
        self.child.close()
        return self.child.exitstatus if self.child.exitstatus is not None else -1


@pytest.fixture
def terminal(folder: Path) -> Iterator[Callable[..., Terminal]]:
    """Starts the command."""
    children = []

    def start(*targets: str, **environment: str) -> Terminal:
        child = pexpect.spawn(
            sys.executable,
            ["-m", "grader.cli", "watch", *targets],
            cwd=str(folder),
            env={**os.environ, "TERM": "xterm-256color", "COLUMNS": "80", **environment},
            encoding="utf-8",
            dimensions=(40, 80),
            timeout=120,
        )
        child.delaybeforesend = None
        children.append(child)
        return Terminal(child, folder)

    yield start
    for child in children:
        child.close(force=True)


@in_a_terminal
def test_save_verdict_hint_next_quit(terminal):
    """A student's loop from beginning to end; the terminal is then as it was."""
    watch = terminal()
    watch.sees(BEGUN)
    assert not watch.child.getecho()
    watch.save(NOT_SCALED)
    watch.sees("The scores are not scaled.")
    watch.sees("q quit")
    watch.child.send("h")
    watch.sees("Hint 1 of 3 for 01_scores/scores:")
    watch.child.send("h")
    watch.sees("Hint 2 of 3 for 01_scores/scores:")
    watch.save(RIGHT)
    watch.sees("scores is solved: 2 points. Well done!")
    watch.sees("Next: 02_mixture/weights (not attempted yet)")
    watch.child.send("n")
    watch.sees("Next: 02_mixture/Mixture (not attempted yet)")
    watch.child.send("a")
    watch.sees("0 of 4 points.")
    watch.child.send("q")
    watch.sees("Stopped watching.")
    assert watch.child.getecho()
    assert watch.end() == 0


@in_a_terminal
@pytest.mark.proof
def test_an_endless_loop_blocks_neither_keys_nor_saves(terminal, edit):
    """It is left at once, and nothing of it goes on running."""
    limits = "[limits]\nrequest_seconds = 600\nsubmission_seconds = 1200\n\n"
    edit("course.toml", '[[assignments]]\nid = "01', f'{limits}[[assignments]]\nid = "01')
    watch = terminal()
    watch.sees(BEGUN)
    watch.save(ENDLESS)
    watch.sees("Still checking.")
    watch.child.send("?")
    watch.sees("q quit")
    watch.save(RIGHT)
    watch.sees("scores is solved")
    watch.save(ENDLESS)
    watch.sees("Saved at")
    watch.child.send("q")
    watch.sees("Stopped watching.")
    assert watch.end() == 0


@in_a_terminal
@pytest.mark.proof
@pytest.mark.parametrize(
    ("end", "code"),
    [
        pytest.param(lambda child: child.sendintr(), 0, id="Ctrl-C"),
        pytest.param(lambda child: child.kill(signal.SIGTERM), 143, id="SIGTERM"),
    ],
)
def test_the_terminal_is_left_as_it_was(terminal, end, code):
    """However it ends."""
    watch = terminal()
    assert watch.child.getecho()
    watch.sees(BEGUN)
    assert not watch.child.getecho()
    end(watch.child)
    if code == 0:
        watch.sees("Stopped watching.")
        assert watch.child.getecho()
    assert watch.end() == code


@in_a_terminal
@pytest.mark.proof
def test_without_a_terminal_it_prints_verdicts_until_it_is_interrupted(folder, own):
    """Keys are off."""
    watch = subprocess.Popen(
        [sys.executable, "-m", "grader.cli", "watch", "01"],
        cwd=folder,
        env={**os.environ, "PYTHONIOENCODING": "cp437", "COLUMNS": "80"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="cp437",
    )
    seen = []

    def until(text: str) -> None:
        for line in watch.stdout:
            seen.append(line.rstrip())
            if text in seen[-1]:
                return
        pytest.fail("\n".join(seen))

    until(BEGUN)
    own(scores="right")
    until("Congratulations!")
    watch.send_signal(signal.SIGINT)
    rest, faults = watch.communicate(timeout=60)
    assert (watch.returncode, faults) == (0, "")
    assert seen[1:5] == [
        "Watching assignments/: save a file, and its verdict appears here.",
        "Ctrl-C ends it.",
        "01_scores  assignments/01_scores/scores.py",
        "  · scores                           0 / 2  not attempted yet",
    ]
    seen += rest.splitlines()
    assert "\x1b[" not in "\n".join(seen)
    assert seen[-2:] == [
        "Everything here is solved: 2 points. Congratulations!",
        "Stopped watching.",
    ]
