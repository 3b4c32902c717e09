"""Recordings that were made before, kept in the user's cache folder by what they depend on.

Nobody needs the cache: a file that is damaged is ignored and made again, and where nothing can be
written, nothing is kept.
"""

import hashlib
import json
import os
import platform
from contextlib import suppress
from pathlib import Path

from grader.core.errors import UsageError
from grader.core.files import write_whole
from grader.core.kit import KIT_NAME
from grader.core.versions import grader_hash, versions
from grader.course.course import Assignment, Course

CACHE_VARIABLE = "GRADER_CACHE"
"""The environment variable that names another folder; empty for no cache at all."""

MOST_KEPT = 64
"""Files that are kept, a few hundred KiB at most each: those that were used last."""

DIGEST_SIZE = hashlib.sha256().digest_size


def recorded(course: Course, assignment: Assignment) -> bytes:
    """The recording of an assignment as bytes, from the cache where it was made before.

    Raises:
        CourseError: as `record` does; a recording that cannot be made is not kept.
    """
    folder = cache_folder()
    path = folder / f"{cache_key(course, assignment)}.bin" if folder else None
    kept = _read(path) if path else None
    if kept is not None:
        return kept
    from grader.checks.recordings import write_recording  # both import torch, which takes seconds
    from grader.release.recorder import record

    content = write_recording(record(course, assignment))
    if path:
        _keep(path, content)
    return content


def cache_folder() -> Path | None:
    """The folder of the cache; None where the environment says that there is none."""
    named = os.environ.get(CACHE_VARIABLE)
    if named is not None:
        return Path(named) if named else None
    from platformdirs import user_cache_path

    return user_cache_path(KIT_NAME, appauthor=False) / "recordings"


def cache_key(course: Course, assignment: Assignment) -> str:
    """A hash of everything that a recording depends on."""
    paths = course.paths(assignment)
    words = [_digest(path) for path in (paths.hints, paths.styles)]
    used = [course.hash, words, grader_hash(), assignment.id, versions(), platform.machine()]
    return hashlib.sha256(json.dumps(used, sort_keys=True).encode()).hexdigest()


def _digest(path: Path) -> str:
    """The hash of a file that decides no score; "" where there is none."""
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""


def _read(path: Path) -> bytes | None:
    """What a file keeps; None when it is not there, or not what was written."""
    try:
        data = path.read_bytes()
        os.utime(path)
    except OSError:
        return None
    content = data[DIGEST_SIZE:]
    return content if hashlib.sha256(content).digest() == data[:DIGEST_SIZE] else None


def _keep(path: Path, content: bytes) -> None:
    """Write a file whole or not at all, and remove those that were not used for longest."""
    with suppress(OSError, UsageError):
        write_whole(path, hashlib.sha256(content).digest() + content)
        kept = sorted(path.parent.glob("*.bin"), key=_last_used)
        for old in kept[: max(0, len(kept) - MOST_KEPT)]:
            old.unlink(missing_ok=True)


def _last_used(path: Path) -> float:
    """When a file was used last; 0 for one that is gone already."""
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0
