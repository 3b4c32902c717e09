"""Seals the process it runs in: namespaces, Landlock, seccomp. Linux on x86-64 and Arm64.

It runs beside student code: standard library only. A layer that cannot be put on
raises `OSError`; none is skipped silently.
"""

import ctypes
import errno
import os
import platform
import signal
import struct
import sys
from collections.abc import Iterable

from grader.sandbox import syscall_table as table

LIBC = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None

# Namespaces.

CLONE_NEWNS, CLONE_NEWUTS, CLONE_NEWIPC = 0x00020000, 0x04000000, 0x08000000
CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = 0x10000000, 0x20000000, 0x40000000
ALL_NAMESPACES = (
    CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET
)
CLONE_THREAD = 0x00010000
MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REC, MS_PRIVATE = 2, 4, 8, 16384, 1 << 18

# Landlock, by the number of its interface's version.

LANDLOCK_CREATE_RULESET, LANDLOCK_ADD_RULE, LANDLOCK_RESTRICT_SELF = 444, 445, 446
LANDLOCK_VERSION_FLAG = 1
LANDLOCK_RULE_PATH_BENEATH = 1
READ_FILE, READ_DIR = 1 << 2, 1 << 3
FILES_BY_VERSION = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 5: (1 << 16) - 1}
EXECUTE, MAKE_CHAR, MAKE_SOCK, MAKE_BLOCK = 1 << 0, 1 << 6, 1 << 9, 1 << 11
RIGHTS_ON_FILES = 0b111 | 1 << 14 | 1 << 15
NET_BIND_AND_CONNECT = 0b11
SCOPE_ABSTRACT_SOCKETS_AND_SIGNALS = 0b11
LEAST_LANDLOCK = 1
SCOPE_LANDLOCK = 6

# seccomp.

PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
PR_SET_CHILD_SUBREAPER, PR_SET_PDEATHSIG = 36, 1
CAPABILITY_VERSION = 0x20080522
RETURN_ALLOW, RETURN_ERRNO, RETURN_KILL = 0x7FFF0000, 0x00050000, 0x80000000
LOAD, JUMP_EQUAL, JUMP_AT_LEAST, JUMP_SET, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
AT_NUMBER, AT_ARCHITECTURE, AT_FIRST_ARGUMENT, AT_SECOND_ARGUMENT = 0, 4, 16, 24
X32_BIT = 0x40000000


def is_supported() -> bool:
    """Whether this system is one that can be sealed at all."""
    return sys.platform == "linux" and platform.machine() in table.ARCHITECTURES


def _check(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def _libc() -> ctypes.CDLL:
    if LIBC is None:
        raise OSError(errno.ENOSYS, "only Linux can be sealed")
    return LIBC


# Namespaces.


def enter_namespaces() -> None:
    """New user, process, network, mount, message and host-name namespaces for what is forked next."""
    user, group = os.getuid(), os.getgid()
    _check(_libc().unshare(ALL_NAMESPACES), "unshare")
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{user} {user} 1"),
        ("gid_map", f"{group} {group} 1"),
    ):
        with open(f"/proc/self/{name}", "w", encoding="ascii") as file:  # noqa: PTH123 (no pathlib here)
            file.write(text)


def mount_private_folder(folder: str, mebibytes: int) -> None:
    """Mount an empty file system of limited size on a folder, seen by this process alone."""
    libc = _libc()
    _check(libc.mount(None, b"/", None, MS_REC | MS_PRIVATE, None), "making mounts private")
    options = f"size={mebibytes}m,nr_inodes=1000,mode=700".encode()
    flags = MS_NOSUID | MS_NODEV | MS_NOEXEC
    _check(libc.mount(b"private", folder.encode(), b"tmpfs", flags, options), "mounting a tmpfs")


def end_with_parent() -> None:
    """Have the kernel kill this process when its parent ends."""
    _check(_libc().prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0), "tying to the parent")


def adopt_orphans() -> None:
    """Let grandchildren whose parent ended become this process's own children."""
    _check(_libc().prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), "becoming a subreaper")


# Landlock.


def landlock_version() -> int:
    """The version of Landlock's interface here; 0 where there is none."""
    if LIBC is None:
        return 0
    return max(0, int(LIBC.syscall(LANDLOCK_CREATE_RULESET, None, 0, LANDLOCK_VERSION_FLAG)))


def restrict_files(readable: Iterable[str], writable: Iterable[str]) -> None:
    """Allow reading below some paths and writing below others; nothing else, and no TCP."""
    libc, version = _libc(), landlock_version()
    if version < LEAST_LANDLOCK:
        raise OSError(errno.ENOSYS, "this kernel has no Landlock")
    files = FILES_BY_VERSION[max(known for known in FILES_BY_VERSION if known <= version)]
    net = NET_BIND_AND_CONNECT if version >= 4 else 0
    scope = SCOPE_ABSTRACT_SOCKETS_AND_SIGNALS if version >= SCOPE_LANDLOCK else 0
    attributes = struct.pack("QQQ", files, net, scope)
    size = 8 if version < 4 else 16 if version < SCOPE_LANDLOCK else 24
    made = libc.syscall(LANDLOCK_CREATE_RULESET, attributes, size, 0)
    ruleset = _check(made, "making a Landlock ruleset")
    try:
        for path in readable:
            _allow(ruleset, path, READ_FILE | READ_DIR)
        no_devices = files & ~(EXECUTE | MAKE_CHAR | MAKE_SOCK | MAKE_BLOCK)
        for path in writable:
            _allow(ruleset, path, no_devices)
        _check(libc.syscall(LANDLOCK_RESTRICT_SELF, ruleset, 0), "putting Landlock on")
    finally:
        os.close(ruleset)


def _allow(ruleset: int, path: str, access: int) -> None:
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        if not os.path.isdir(path):  # noqa: PTH112 (no pathlib here)
            access &= RIGHTS_ON_FILES
        rule = struct.pack("=Qi", access, descriptor)
        added = _libc().syscall(LANDLOCK_ADD_RULE, ruleset, LANDLOCK_RULE_PATH_BENEATH, rule, 0)
        _check(added, f"allowing {path}")
    finally:
        os.close(descriptor)


# seccomp.

Instruction = tuple[int, int, int, int]


def _deny(number: int) -> Instruction:
    return (RETURN, 0, 0, RETURN_ERRNO | number)


def seccomp_program(machine: str, pid: int) -> bytes:
    """The filter as the kernel reads it: what is denied fails with "not permitted".

    Threads may be made, processes not; signals go to the process itself only.

    Args:
        machine: "x86_64" or "aarch64".
        pid: the process id that the sealed process has in its own eyes.
    """
    column = table.column(machine)
    allow, refuse = (RETURN, 0, 0, RETURN_ALLOW), _deny(errno.EPERM)
    first = (LOAD, 0, 0, AT_FIRST_ARGUMENT)
    program: list[Instruction] = [
        (LOAD, 0, 0, AT_ARCHITECTURE),
        (JUMP_EQUAL, 1, 0, table.ARCHITECTURES[machine]),
        (RETURN, 0, 0, RETURN_KILL),
        (LOAD, 0, 0, AT_NUMBER),
    ]
    if machine == "x86_64":
        program += [(JUMP_AT_LEAST, 0, 1, X32_BIT), refuse]
    # libc falls back from clone3 to clone, whose flags a filter can see.
    program += _for_call(table.CLONE3[column], _deny(errno.ENOSYS))
    is_thread = (JUMP_SET, 1, 0, CLONE_THREAD)
    program += _for_call(table.CLONE[column], first, is_thread, refuse, allow)
    for number in table.present(table.SIGNALS_TO_SELF, machine):
        program += _for_call(number, *_only(AT_FIRST_ARGUMENT, (pid,), refuse), allow)
    for number in table.present(table.ABOUT_ITSELF, machine):
        program += _for_call(number, *_only(AT_FIRST_ARGUMENT, (0, pid), refuse), allow)
    is_death_signal = (JUMP_EQUAL, 0, 1, PR_SET_PDEATHSIG)
    program += _for_call(table.PRCTL[column], first, is_death_signal, refuse, allow)
    # Pairs of local sockets are connected to each other and to nothing else.
    is_local = _only(AT_FIRST_ARGUMENT, (table.AF_UNIX,), refuse)
    is_stream = _only(AT_SECOND_ARGUMENT, table.STREAMS, refuse)
    program += _for_call(table.SOCKETPAIR[column], *is_local, *is_stream, allow)
    is_harmless = _only(AT_SECOND_ARGUMENT, table.HARMLESS_IOCTLS, _deny(errno.ENOTTY))
    program += _for_call(table.IOCTL[column], *is_harmless, allow)
    for number in table.present(table.DENIED, machine):
        program += _for_call(number, refuse)
    program.append(allow)
    return b"".join(struct.pack("HBBI", *instruction) for instruction in program)


def _for_call(number: int, *instructions: Instruction) -> list[Instruction]:
    """Instructions for one system call, which every other call jumps over."""
    return [(JUMP_EQUAL, 0, len(instructions), number), *instructions]


def _only(argument: int, allowed: tuple[int, ...], denial: Instruction) -> list[Instruction]:
    """Deny the call unless an argument (its low half) has one of these values."""
    tests = [(JUMP_EQUAL, len(allowed) - n, 0, value) for n, value in enumerate(allowed)]
    return [(LOAD, 0, 0, argument), *tests, denial]


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def filter_system_calls() -> None:
    """Put the seccomp filter on this process."""
    text = seccomp_program(platform.machine(), os.getpid())
    program = _Program(len(text) // 8, text)
    libc = _libc()
    result = libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0)
    _check(result, "putting seccomp on")


def give_up_privileges() -> None:
    """No capabilities, and no new privileges from now on."""
    libc = _libc()
    header = struct.pack("Ii", CAPABILITY_VERSION, 0)
    nothing = struct.pack("6I", *(0,) * 6)
    number = table.CAPSET[table.column(platform.machine())]
    _check(libc.syscall(number, header, nothing), "giving up capabilities")
    _check(libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "giving up new privileges")


# What may be read: Python and what it loads lazily, nothing of the course.


def readable_paths() -> list[str]:
    """Python's own files, the system's libraries, and the sandbox; never the working folder."""
    found = [sys.base_prefix, "/usr/lib", "/usr/lib64", "/usr/share/zoneinfo", "/lib", "/lib64"]
    found += ["/etc/ld.so.cache", "/etc/localtime", "/dev/null", "/dev/urandom", "/dev/zero"]
    found += [path for path in sys.path if path.endswith("site-packages")]
    found.append(os.path.dirname(__file__))  # noqa: PTH120 (no pathlib here)
    return list(dict.fromkeys(found))
