"""The processor's time of a process and of all processes below it: what other work beside changes least."""

import ctypes
import os
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

PR_SET_CHILD_SUBREAPER = 36
TICKS = os.sysconf("SC_CLK_TCK")
UTIME = 11
"""Where in what follows the name in `/proc/PID/stat` the four times begin."""


def of_tree(pid: int | None = None) -> float:
    """Seconds that a process, those below it, and those that it has waited for took so far."""
    if pid is None:
        usages = (
            resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
        )
        own = sum(usage.ru_utime + usage.ru_stime for usage in usages)
    else:
        try:
            text = Path(f"/proc/{pid}/stat").read_text("ascii")
        except OSError:
            return 0.0
        own = sum(map(int, text.rpartition(")")[2].split()[UTIME : UTIME + 4])) / TICKS
    return own + sum(map(of_tree, _children(pid or os.getpid())))


def _children(pid: int) -> Iterator[int]:
    with suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            yield from map(int, (task / "children").read_text("ascii").split())


def seconds_of(action: Callable[[], object]) -> float:
    """What an action takes, in this process and below it."""
    before = of_tree()
    action()
    return of_tree() - before


def of_command(
    command: Sequence[object], cwd: Path, environment: Mapping[str, str] | None = None
) -> float:
    """What a command takes, and all processes that it starts, also those that outlive it.

    Raises:
        SystemExit: when it ends with anything but 0 or 1.
    """
    done = subprocess.run(
        [sys.executable, __file__, *map(str, command)],
        cwd=cwd,
        env={**os.environ, **(environment or {})},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode not in (0, 1):
        raise SystemExit(f"{command}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    return float(done.stdout.splitlines()[-1])


def _main(command: Sequence[str]) -> int:
    """Run a command, wait for its orphans as well, and print what all of them took."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    status = subprocess.run(command, check=False).returncode
    with suppress(ChildProcessError):
        while True:
            os.wait()
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"\n{usage.ru_utime + usage.ru_stime}")
    return status


if __name__ == "__main__":
    raise SystemExit(_main(sys.argv[1:]))
