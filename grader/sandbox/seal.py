"""Seals the process it runs in: namespaces, Landlock, seccomp. Linux on x86-64 and Arm64.

Part of what exists where student code runs: standard library only. A layer that cannot be put on
raises `OSError`; nothing is passed over in silence.
"""

import ctypes
import errno
import os
import platform
import signal
import struct
import sys
from collections.abc import Iterable

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
PR_SET_CHILD_SUBREAPER = 36
RETURN_ALLOW, RETURN_ERRNO, RETURN_KILL = 0x7FFF0000, 0x00050000, 0x80000000
LOAD, JUMP_EQUAL, JUMP_AT_LEAST, JUMP_SET, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
AT_NUMBER, AT_ARCHITECTURE, AT_FIRST_ARGUMENT, AT_SECOND_ARGUMENT = 0, 4, 16, 24
X32_BIT = 0x40000000

ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}

# System calls by name: their numbers on x86-64 and on Arm64 (None: not there).
Numbers = dict[str, tuple[int | None, int | None]]
DENIED: Numbers = {
    # other processes and programs
    "fork": (57, None),
    "vfork": (58, None),
    "execve": (59, 221),
    "execveat": (322, 281),
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "kcmp": (312, 272),
    "pidfd_open": (434, 434),
    "pidfd_getfd": (438, 438),
    "pidfd_send_signal": (424, 424),
    "tkill": (200, 130),
    "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240),
    "setpriority": (141, 140),
    "sched_setscheduler": (144, 119),
    "sched_setparam": (142, 118),
    "sched_setattr": (314, 274),
    "ioprio_set": (251, 30),
    "migrate_pages": (256, 238),
    "move_pages": (279, 239),
    # the network, and descriptors sent through sockets
    "socket": (41, 198),
    "connect": (42, 203),
    "accept": (43, 202),
    "accept4": (288, 242),
    "bind": (49, 200),
    "listen": (50, 201),
    "setsockopt": (54, 208),
    "sendmsg": (46, 211),
    "recvmsg": (47, 212),
    "sendmmsg": (307, 269),
    "recvmmsg": (299, 243),
    # namespaces, mounts, and the rest of the system
    "unshare": (272, 97),
    "setns": (308, 268),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "reboot": (169, 142),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "init_module": (175, 105),
    "delete_module": (176, 106),
    "finit_module": (313, 273),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "acct": (163, 89),
    "quotactl": (179, 60),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "clock_adjtime": (305, 266),
    "adjtimex": (159, 171),
    "syslog": (103, 116),
    "vhangup": (153, 58),
    "iopl": (172, None),
    "ioperm": (173, None),
    "modify_ldt": (154, None),
    "personality": (135, 92),
    # memory and objects that outlive or bypass the limits
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "userfaultfd": (323, 282),
    "shmget": (29, 194),
    "shmctl": (31, 195),
    "shmat": (30, 196),
    "semget": (64, 190),
    "semctl": (66, 191),
    "semop": (65, 193),
    "semtimedop": (220, 192),
    "msgget": (68, 186),
    "msgctl": (71, 187),
    "msgsnd": (69, 189),
    "msgrcv": (70, 188),
    "mq_open": (240, 180),
    "mq_unlink": (241, 181),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "fanotify_init": (300, 262),
    "inotify_init": (253, None),
    "inotify_init1": (294, 26),
    "inotify_add_watch": (254, 27),
    # what Landlock does not restrict: owners, modes, times and attributes of files
    "chmod": (90, None),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "fchmodat2": (452, 452),
    "chown": (92, None),
    "fchown": (93, 55),
    "lchown": (94, None),
    "fchownat": (260, 54),
    "utime": (132, None),
    "utimes": (235, None),
    "futimesat": (261, None),
    "utimensat": (280, 88),
    "setxattr": (188, 5),
    "lsetxattr": (189, 6),
    "fsetxattr": (190, 7),
    "setxattrat": (463, 463),
    "removexattr": (197, 14),
    "lremovexattr": (198, 15),
    "fremovexattr": (199, 16),
    "removexattrat": (466, 466),
    "file_setattr": (469, 469),
}
CLONE: tuple[int, int] = (56, 220)
CLONE3: tuple[int, int] = (435, 435)
SIGNALS_TO_SELF: Numbers = {"kill": (62, 129), "tgkill": (234, 131)}
ABOUT_ITSELF: Numbers = {"prlimit64": (302, 261), "sched_setaffinity": (203, 122)}
"""Calls that are allowed for process 0, which means oneself, and for the own id."""
PRCTL: tuple[int, int] = (157, 167)
PR_SET_PDEATHSIG = 1
SOCKETPAIR: tuple[int, int] = (53, 199)
AF_UNIX, SOCK_STREAM, SOCK_CLOEXEC, SOCK_NONBLOCK = 1, 1, 0x80000, 0x800
STREAMS = tuple(
    SOCK_STREAM | flags for flags in (0, SOCK_CLOEXEC, SOCK_NONBLOCK, SOCK_CLOEXEC | SOCK_NONBLOCK)
)
"""An event loop wakes itself through a pair of these; datagrams could be sent to others."""
IOCTL: tuple[int, int] = (16, 29)
TCGETS, TIOCGWINSZ, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX = (
    *(0x5401, 0x5413, 0x541B),
    *(0x5421, 0x5450, 0x5451),
)
HARMLESS_IOCTLS = (TCGETS, TIOCGWINSZ, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX)
"""What Python asks of descriptors; other requests change the flags of files that may be read."""
CAPSET: tuple[int, int] = (126, 91)
CAPABILITY_VERSION = 0x20080522


def is_supported() -> bool:
    """Whether this system is one that can be sealed at all."""
    return sys.platform == "linux" and platform.machine() in ARCHITECTURES


def _check(answer: int, what: str) -> int:
    if answer < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return answer


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
        descriptor = os.open(f"/proc/self/{name}", os.O_WRONLY)
        try:
            os.write(descriptor, text.encode())
        finally:
            os.close(descriptor)


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


def _handled_files(version: int) -> int:
    return FILES_BY_VERSION[max(v for v in FILES_BY_VERSION if v <= version)]


def restrict_files(readable: Iterable[str], writable: Iterable[str]) -> None:
    """Allow reading below some paths and writing below others; nothing else, and no TCP."""
    libc, version = _libc(), landlock_version()
    if version < LEAST_LANDLOCK:
        raise OSError(errno.ENOSYS, "this kernel has no Landlock")
    files = _handled_files(version)
    net = NET_BIND_AND_CONNECT if version >= 4 else 0
    scope = SCOPE_ABSTRACT_SOCKETS_AND_SIGNALS if version >= SCOPE_LANDLOCK else 0
    attributes = struct.pack("QQQ", files, net, scope)
    size = 8 if version < 4 else 16 if version < SCOPE_LANDLOCK else 24
    ruleset = _check(
        libc.syscall(LANDLOCK_CREATE_RULESET, attributes, size, 0), "making a Landlock ruleset"
    )
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
        answer = _libc().syscall(LANDLOCK_ADD_RULE, ruleset, LANDLOCK_RULE_PATH_BENEATH, rule, 0)
        _check(answer, f"allowing {path}")
    finally:
        os.close(descriptor)


# seccomp.

Instruction = tuple[int, int, int, int]


def _deny(number: int) -> Instruction:
    return (RETURN, 0, 0, RETURN_ERRNO | number)


def seccomp_program(machine: str, pid: int) -> bytes:
    """The filter as the kernel reads it: what is denied answers "not permitted".

    Threads may be made, processes not; signals go to the process itself only.

    Args:
        machine: "x86_64" or "aarch64".
        pid: the process id that the sealed process has in its own eyes.
    """
    column = 0 if machine == "x86_64" else 1
    program: list[Instruction] = [
        (LOAD, 0, 0, AT_ARCHITECTURE),
        (JUMP_EQUAL, 1, 0, ARCHITECTURES[machine]),
        (RETURN, 0, 0, RETURN_KILL),
        (LOAD, 0, 0, AT_NUMBER),
    ]
    if machine == "x86_64":
        program += [(JUMP_AT_LEAST, 0, 1, X32_BIT), _deny(errno.EPERM)]
    # libc falls back from clone3 to clone, whose flags a filter can see.
    program += [(JUMP_EQUAL, 0, 1, CLONE3[column]), _deny(errno.ENOSYS)]
    program += _when(CLONE[column], (JUMP_SET, 0, 1, CLONE_THREAD))
    for numbers in SIGNALS_TO_SELF.values():
        number = numbers[column]
        if number is not None:
            program += _when(number, (JUMP_EQUAL, 0, 1, pid))
    for numbers in ABOUT_ITSELF.values():
        number = numbers[column]
        if number is not None:
            program += _one_of(number, AT_FIRST_ARGUMENT, (0, pid), errno.EPERM)
    program += _unless(PRCTL[column], PR_SET_PDEATHSIG)
    program += _pairs_of_streams(SOCKETPAIR[column])
    program += _one_of(IOCTL[column], AT_SECOND_ARGUMENT, HARMLESS_IOCTLS, errno.ENOTTY)
    for numbers in DENIED.values():
        number = numbers[column]
        if number is not None:
            program += [(JUMP_EQUAL, 0, 1, number), _deny(errno.EPERM)]
    program.append((RETURN, 0, 0, RETURN_ALLOW))
    return b"".join(struct.pack("HBBI", *instruction) for instruction in program)


def _when(number: int, test: Instruction) -> list[Instruction]:
    """Allow a call only when a test of its first argument (its low half) holds."""
    code, _, _, value = test
    return [
        (JUMP_EQUAL, 0, 4, number),
        (LOAD, 0, 0, AT_FIRST_ARGUMENT),
        (code, 0, 1, value),
        (RETURN, 0, 0, RETURN_ALLOW),
        _deny(errno.EPERM),
    ]


def _one_of(number: int, where: int, allowed: tuple[int, ...], answer: int) -> list[Instruction]:
    """Allow a call only with one of some values as an argument (its low half)."""
    tests = [(JUMP_EQUAL, len(allowed) - n, 0, value) for n, value in enumerate(allowed)]
    return [
        (JUMP_EQUAL, 0, len(tests) + 3, number),
        (LOAD, 0, 0, where),
        *tests,
        _deny(answer),
        (RETURN, 0, 0, RETURN_ALLOW),
    ]


def _pairs_of_streams(number: int) -> list[Instruction]:
    """Allow pairs of local sockets that are connected to each other and to nothing else."""
    tests = [(JUMP_EQUAL, len(STREAMS) - n, 0, kind) for n, kind in enumerate(STREAMS)]
    return [
        (JUMP_EQUAL, 0, len(tests) + 5, number),
        (LOAD, 0, 0, AT_FIRST_ARGUMENT),
        (JUMP_EQUAL, 0, len(tests) + 1, AF_UNIX),
        (LOAD, 0, 0, AT_SECOND_ARGUMENT),
        *tests,
        _deny(errno.EPERM),
        (RETURN, 0, 0, RETURN_ALLOW),
    ]


def _unless(number: int, value: int) -> list[Instruction]:
    """Deny a call with this value as its first argument (its low half)."""
    return [
        (JUMP_EQUAL, 0, 4, number),
        (LOAD, 0, 0, AT_FIRST_ARGUMENT),
        (JUMP_EQUAL, 0, 1, value),
        _deny(errno.EPERM),
        (RETURN, 0, 0, RETURN_ALLOW),
    ]


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def filter_system_calls() -> None:
    """Put the seccomp filter on this process."""
    text = seccomp_program(platform.machine(), os.getpid())
    program = _Program(len(text) // 8, text)
    libc = _libc()
    answer = libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0)
    _check(answer, "putting seccomp on")


def give_up_privileges() -> None:
    """No capabilities, and no new privileges from now on."""
    libc = _libc()
    header = struct.pack("Ii", CAPABILITY_VERSION, 0)
    nothing = struct.pack("6I", *(0,) * 6)
    number = CAPSET[0 if platform.machine() == "x86_64" else 1]
    _check(libc.syscall(number, header, nothing), "giving up capabilities")
    _check(libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "giving up new privileges")


# What may be read: Python and what it loads lazily, nothing of the course.


def readable_paths() -> list[str]:
    """Python's own files and the system's libraries; never the working folder."""
    found = [sys.base_prefix, "/usr/lib", "/usr/lib64", "/usr/share/zoneinfo", "/lib", "/lib64"]
    found += ["/etc/ld.so.cache", "/etc/localtime", "/dev/null", "/dev/urandom", "/dev/zero"]
    found += [path for path in sys.path if path.endswith("site-packages")]
    return list(dict.fromkeys(found))
