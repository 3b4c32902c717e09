"""What was worked out before, kept in the user's cache folder by everything that it depends on.

Nobody needs the cache: a file that is damaged, or that somebody else could have written, is ignored
and made again, and where nothing can be written, nothing is kept. It may hold what students must not
read, so only its owner can.
"""

import hashlib
import json
import os
import platform
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from grader.core.errors import UsageError
from grader.core.files import write_whole, writing
from grader.core.kit import KIT_NAME, grader_hash, versions

CACHE_VARIABLE = "GRADER_CACHE"
"""The environment variable that names another folder; empty for no cache at all."""

PATIENCE = 60.0
"""Seconds that a process waits for another one that makes the same."""

DIGEST_SIZE = hashlib.sha256().digest_size


def kept(kind: str, depends_on: object, make: Callable[[], bytes], *, most: int = 64) -> bytes:
    """What was made before from the same things, or what is made now.

    Args:
        kind: the name of a folder in the cache.
        depends_on: everything that decides it, as JSON, besides versions, the machine's kind and this
            package, which count always.
        make: makes it; what it raises is passed on, and nothing is kept then.
        most: files of this kind that are kept, or a few more: those that were used last.
    """
    content = found(kind, depends_on)
    if content is None:
        content = make()
        keep(kind, depends_on, content, most=most)
    return content


def found(kind: str, depends_on: object) -> bytes | None:
    """What was kept, if anything was; nothing where it is not ours alone, or not what was written."""
    path = _path(kind, depends_on)
    try:
        if path is None or not (_is_private(path.parent) and _is_private(path)):
            return None
        data = path.read_bytes()
        os.utime(path)
    except OSError:
        return None
    content = data[DIGEST_SIZE:]
    return content if hashlib.sha256(content).digest() == data[:DIGEST_SIZE] else None


def keep(kind: str, depends_on: object, content: bytes, *, most: int = 64) -> None:
    """Keep what was made, and remove what was not used for longest; see `kept`."""
    path = _path(kind, depends_on)
    if path is None:
        return
    with suppress(OSError, UsageError):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.parent.chmod(0o700)
        write_whole(path, hashlib.sha256(content).digest() + content)
        files = [*path.parent.glob("*.bin")]
        if len(files) > most + most // 4:  # not each time: all have to be looked at
            for old in sorted(files, key=_last_used)[: len(files) - most]:
                old.unlink(missing_ok=True)


@contextmanager
def one_at_a_time(kind: str, depends_on: object) -> Iterator[None]:
    """Let other processes that would make the same wait, and find it when their turn comes.

    Where nothing can be written, or no file be locked, nobody waits; and nobody longer than
    `PATIENCE`, as the other process may have been stopped.
    """
    from filelock import FileLock

    path = _path(kind, depends_on)
    with ExitStack() as stack:
        if path is not None:
            with suppress(OSError, NotImplementedError):
                path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                # One of sixteen files: no lock is left behind for each thing that was ever made.
                lock = path.with_name(f"{path.name[0]}.lock")
                stack.enter_context(FileLock(lock, timeout=PATIENCE, mode=0o600))
        yield


def is_kept(kind: str, depends_on: object) -> bool:
    """Whether `kept` would make nothing."""
    return found(kind, depends_on) is not None


def _path(kind: str, depends_on: object) -> Path | None:
    """Where something is kept; None where nothing is."""
    folder = cache_folder()
    if folder is None:
        return None
    used = [depends_on, grader_hash(), versions(), platform.machine()]
    key = hashlib.sha256(json.dumps(used, sort_keys=True).encode()).hexdigest()
    return folder / kind / f"{key}.bin"


def cache_folder() -> Path | None:
    """The folder of the cache; None where the environment says that there is none."""
    named = os.environ.get(CACHE_VARIABLE)
    if named is not None:
        return Path(named) if named else None
    from platformdirs import user_cache_path

    return user_cache_path(KIT_NAME, appauthor=False)


def _is_private(path: Path) -> bool:
    """Whether nobody else can have written there; Windows keeps a user's folders apart itself."""
    if not hasattr(os, "getuid"):
        return True
    status = path.lstat()
    return status.st_uid == os.getuid() and not status.st_mode & 0o022


@contextmanager
def exclusive(folder: Path) -> Iterator[None]:
    """Keep other commands of this user, on this computer, out of a folder.

    Raises:
        UsageError: when another command works there.
    """
    from filelock import FileLock, Timeout
    from platformdirs import user_cache_path

    name = hashlib.sha256(str(folder.resolve()).encode("utf-8", "replace")).hexdigest()[:16]
    locks = user_cache_path(KIT_NAME, appauthor=False) / "locks"
    with writing(locks):
        locks.mkdir(parents=True, exist_ok=True)
        lock = FileLock(locks / f"{name}.lock", timeout=0)
        try:
            lock.acquire()
        except Timeout as error:
            raise UsageError(
                f"Another grader command is working in {folder}. Wait for it, then run this command again."
            ) from error
    try:
        yield
    finally:
        lock.release()


def _last_used(path: Path) -> float:
    """When a file was used last; 0 for one that is gone already."""
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0
