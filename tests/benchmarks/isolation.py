"""What sealing costs, as ratios taken in one run on one machine.

    python tests/benchmarks/isolation.py [--rounds 7] [--course FOLDER]

Prints a table in Markdown. Each row is the median of several rounds, the rows taken in turn, so
that a change of the machine's speed meets all of them alike.
"""

import argparse
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import torch

from grader.course.course import load_course
from grader.judging.fixtures import read_solutions
from grader.judging.seal_probe import sealed_launcher
from grader.judging.submission_grader import Scope, full_grader, grade
from grader.sandbox.wire import Frame
from grader.sessions.base import Session
from grader.sessions.child import ChildSession
from grader.sessions.launchers import Launcher, WarmParent

ROOT = Path(__file__).parents[2]


class Listening(Session):
    """A session that passes requests on and keeps them."""

    def __init__(self, inner: Session) -> None:
        self.inner = inner
        self.isolation = inner.isolation
        self.heard: list[tuple[Frame, float]] = []

    @property
    def generation(self) -> int:  # type: ignore[override]
        """The inner session's."""
        return self.inner.generation

    def ask(self, frame: Frame, seconds: float) -> Frame:
        """Keep and pass on."""
        self.heard.append((frame, seconds))
        return self.inner.ask(frame, seconds)

    def close(self) -> None:
        """Close the inner session."""
        self.inner.close()


def fork_and_end() -> None:
    """Fork this process, which has torch, and wait for the child to end."""
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)


def fresh_interpreter() -> None:
    """Start Python and import torch."""
    subprocess.run([sys.executable, "-I", "-c", "import torch"], check=True)


def seconds_of(action: Callable[[], None]) -> float:
    """How long an action takes."""
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--course", type=Path, default=ROOT)
    options = parser.parse_args()
    torch.set_num_threads(1)
    course = load_course(options.course.resolve())
    submission = read_solutions(course)
    sealed, plain = sealed_launcher(), WarmParent()

    def serve(launcher: Launcher, requests: list[tuple[Frame, float]]) -> None:
        session = ChildSession(launcher, submission, course.limits)
        for frame, seconds in requests:
            session.ask(frame, seconds)
        session.close()

    grader = full_grader(course, "1")
    listening = Listening(ChildSession(sealed, submission, course.limits))
    grade(grader, submission, listening, Scope(course.exercises))
    listening.close()
    hello = [(Frame({"verb": "state", "instance": 0}), 5.0)]
    actions: dict[str, Callable[[], None]] = {
        "bare fork of a process that has torch": fork_and_end,
        "child with limits, one request": lambda: serve(plain, hello),
        "sealed child, one request": lambda: serve(sealed, hello),
        f"sealed child, the whole course ({len(listening.heard)} requests)": lambda: serve(
            sealed, listening.heard
        ),
        "fresh interpreter that imports torch": fresh_interpreter,
    }
    taken: dict[str, list[float]] = {name: [] for name in actions}
    for _ in range(options.rounds):
        for name, action in actions.items():
            taken[name].append(seconds_of(action))
    grader.close()
    sealed.close()
    plain.close()
    fork = statistics.median(taken["bare fork of a process that has torch"])
    fresh = statistics.median(taken["fresh interpreter that imports torch"])
    print(f"Isolation: {', '.join(sealed.isolation)}.\n")
    print("| what | ms (median) | times a bare fork | share of a fresh interpreter |")
    print("|---|---:|---:|---:|")
    for name, times in taken.items():
        median = statistics.median(times)
        print(f"| {name} | {median * 1000:.1f} | {median / fork:.1f} | {median / fresh:.3f} |")


if __name__ == "__main__":
    main()
