"""Runs a command as the user nobody, who may read Python wherever it is installed.

Where a closed folder stands above Python (a home of root's), this process alone gets an empty one
in its place with nothing but Python in it. Needs root.
"""

import ctypes
import os
import pwd
import stat
import sys
from pathlib import Path

LIBC = ctypes.CDLL(None, use_errno=True)
CLONE_NEWNS = 0x00020000
MS_BIND, MS_REC, MS_PRIVATE = 4096, 16384, 1 << 18


def _mount(source: str, target: Path, kind: str | None, flags: int, options: str = "") -> None:
    answer = LIBC.mount(
        source.encode(), bytes(target), kind and kind.encode(), flags, options.encode() or None
    )
    if answer != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), str(target))


def _closed_above(path: Path) -> Path | None:
    """The outermost folder above a path that others may not enter."""
    closed = [folder for folder in path.parents if not folder.stat().st_mode & stat.S_IXOTH]
    return closed[-1] if closed else None


def open_to_all(path: Path) -> None:
    """Let everybody reach a folder, in the eyes of this process and its children."""
    closed = _closed_above(path)
    if closed is None:
        return
    if LIBC.unshare(CLONE_NEWNS) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), "unshare")
    _mount("none", Path("/"), None, MS_REC | MS_PRIVATE)
    descriptor = os.open(path, os.O_PATH)
    _mount("empty", closed, "tmpfs", 0, "mode=755")
    path.mkdir(parents=True)
    _mount(f"/proc/self/fd/{descriptor}", path, None, MS_BIND | MS_REC)
    os.close(descriptor)


def main(command: list[str]) -> None:
    """Become nobody, then the command."""
    open_to_all(Path(sys.base_prefix).resolve())
    nobody = pwd.getpwnam("nobody")
    os.setgroups([])
    os.setgid(nobody.pw_gid)
    os.setuid(nobody.pw_uid)
    os.execv(command[0], command)


if __name__ == "__main__":
    main(sys.argv[1:])
