"""Processes of our own on this machine: how they begin and end, and work that is spread over some."""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from itertools import starmap
from typing import Any, TypeVar

from grader.core.errors import GraderError
from grader.core.language import current, use

R = TypeVar("R")

FEW = 100
"""Below this many pieces of quick work, starting processes costs more than it saves."""
MOST_PROCESSES = 16
"""More would fill the memory, and Windows allows no more than 61."""
AT_ONCE = 4
"""How many pieces a process is handed at a time."""

_work: list[Callable[..., Any]] = []
"""What this process does, where it is one of those that `spread` starts."""


def begin() -> None:
    """Set up a process: Ctrl-C is the main process's, and it ends with that process."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    block_ctrl_c(blocked=False)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def block_ctrl_c(*, blocked: bool) -> None:
    """Have Ctrl-C wait, where the system can; a new process inherits that."""
    if hasattr(signal, "pthread_sigmask"):
        how = signal.SIG_BLOCK if blocked else signal.SIG_UNBLOCK
        signal.pthread_sigmask(how, {signal.SIGINT})


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
    os._exit(1)


def spread(
    work: Callable[..., R],
    pieces: Sequence[tuple[Any, ...]],
    jobs: int,
    *,
    few: int | None = None,
    in_order: bool = True,
) -> Generator[R, None, None]:
    """What work returns for each piece; for many pieces it is done in several processes.

    Args:
        work: is sent to each process once, with all it refers to. Files that it writes may be there
            before its result is taken.
        pieces: the arguments, which are sent as well.
        jobs: how many processes; with 1, and for a few pieces, it is done here.
        few: how many pieces that is; `FEW` unless given.
        in_order: whether what comes is in the order of the pieces, and not as each is done.

    Raises:
        GraderError: when one of the processes is ended from elsewhere.
    """
    if jobs < 2 or len(pieces) <= (FEW if few is None else few):
        yield from starmap(work, pieces)
        return
    # Spawned, not forked: this process may have threads.
    spawn, many = multiprocessing.get_context("spawn"), min(jobs, MOST_PROCESSES)
    with ProcessPoolExecutor(many, spawn, _begin_to, (work, current())) as processes:
        try:
            block_ctrl_c(blocked=True)
            try:
                if in_order:
                    at_once = AT_ONCE if len(pieces) > FEW else 1
                    found = processes.map(_do, pieces, chunksize=at_once)
                else:
                    futures = [processes.submit(_do, piece) for piece in pieces]
                    found = (future.result() for future in as_completed(futures))
            finally:
                block_ctrl_c(blocked=False)
            yield from found
        except BrokenProcessPool as error:
            raise GraderError(
                "A process of the grader was ended from outside, perhaps because memory ran out. Run the "
                "same command again."
            ) from error
        finally:
            processes.shutdown(cancel_futures=True)


def _begin_to(work: Callable[..., Any], language: str) -> None:
    begin()
    use(language)
    _work.append(work)


def _do(piece: tuple[Any, ...]) -> Any:
    return _work[0](*piece)
