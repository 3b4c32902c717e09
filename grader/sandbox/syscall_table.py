"""The table of system calls by which sealed processes are filtered: numbers, and which are denied.

It runs beside student code: standard library only.
"""

import re

ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}

# System calls by name: their numbers on x86-64 and on Arm64 (None: not there).
Numbers = dict[str, tuple[int | None, int | None]]


def _read(table: str) -> Numbers:
    """Calls from a text: `name x86-64 Arm64,` each, "-" where it is not there, "#" for a comment."""
    entries = re.sub(r"#.*", "", table).split(",")
    rows = (entry.split() for entry in entries if entry.strip())
    return {name: (_number(first), _number(second)) for name, first, second in rows}


def _number(text: str) -> int | None:
    return None if text == "-" else int(text)


DENIED = _read(
    """
    # other processes and programs
    fork 57 -, vfork 58 -, execve 59 221, execveat 322 281, ptrace 101 117,
    process_vm_readv 310 270, process_vm_writev 311 271, process_madvise 440 440, kcmp 312 272,
    pidfd_open 434 434, pidfd_getfd 438 438, pidfd_send_signal 424 424, tkill 200 130,
    rt_sigqueueinfo 129 138, rt_tgsigqueueinfo 297 240, setpriority 141 140,
    sched_setscheduler 144 119, sched_setparam 142 118, sched_setattr 314 274,
    ioprio_set 251 30, migrate_pages 256 238, move_pages 279 239,
    # the network, and descriptors sent through sockets
    socket 41 198, connect 42 203, accept 43 202, accept4 288 242, bind 49 200, listen 50 201,
    setsockopt 54 208, sendmsg 46 211, recvmsg 47 212, sendmmsg 307 269, recvmmsg 299 243,
    # namespaces, mounts, and the rest of the system
    unshare 272 97, setns 308 268, mount 165 40, umount2 166 39, pivot_root 155 41,
    chroot 161 51, open_tree 428 428, move_mount 429 429, fsopen 430 430, fsconfig 431 431,
    fsmount 432 432, fspick 433 433, mount_setattr 442 442, name_to_handle_at 303 264,
    open_by_handle_at 304 265, swapon 167 224, swapoff 168 225, reboot 169 142,
    sethostname 170 161, setdomainname 171 162, init_module 175 105, delete_module 176 106,
    finit_module 313 273, kexec_load 246 104, kexec_file_load 320 294, acct 163 89,
    quotactl 179 60, settimeofday 164 170, clock_settime 227 112, clock_adjtime 305 266,
    adjtimex 159 171, syslog 103 116, vhangup 153 58, iopl 172 -, ioperm 173 -,
    modify_ldt 154 -, personality 135 92,
    # memory and objects that outlive or bypass the limits
    memfd_create 319 279, memfd_secret 447 447, userfaultfd 323 282, shmget 29 194,
    shmctl 31 195, shmat 30 196, semget 64 190, semctl 66 191, semop 65 193, semtimedop 220 192,
    msgget 68 186, msgctl 71 187, msgsnd 69 189, msgrcv 70 188, mq_open 240 180,
    mq_unlink 241 181, add_key 248 217, request_key 249 218, keyctl 250 219, bpf 321 280,
    perf_event_open 298 241, io_uring_setup 425 425, io_uring_enter 426 426,
    io_uring_register 427 427, fanotify_init 300 262, inotify_init 253 -, inotify_init1 294 26,
    inotify_add_watch 254 27,
    # what Landlock does not restrict: owners, modes, times and attributes of files
    chmod 90 -, fchmod 91 52, fchmodat 268 53, fchmodat2 452 452, chown 92 -, fchown 93 55,
    lchown 94 -, fchownat 260 54, utime 132 -, utimes 235 -, futimesat 261 -, utimensat 280 88,
    setxattr 188 5, lsetxattr 189 6, fsetxattr 190 7, setxattrat 463 463, removexattr 197 14,
    lremovexattr 198 15, fremovexattr 199 16, removexattrat 466 466, file_setattr 469 469,
    """
)
CLONE: tuple[int, int] = (56, 220)
CLONE3: tuple[int, int] = (435, 435)
SIGNALS_TO_SELF: Numbers = {"kill": (62, 129), "tgkill": (234, 131)}
ABOUT_ITSELF: Numbers = {"prlimit64": (302, 261), "sched_setaffinity": (203, 122)}
"""Calls that are allowed for process 0, which means oneself, and for the own id."""
PRCTL: tuple[int, int] = (157, 167)
SOCKETPAIR: tuple[int, int] = (53, 199)
AF_UNIX, SOCK_STREAM, SOCK_CLOEXEC, SOCK_NONBLOCK = 1, 1, 0x80000, 0x800
STREAMS = tuple(
    SOCK_STREAM | flags for flags in (0, SOCK_CLOEXEC, SOCK_NONBLOCK, SOCK_CLOEXEC | SOCK_NONBLOCK)
)
"""An event loop wakes itself through a pair of these; datagrams could be sent to others."""
IOCTL: tuple[int, int] = (16, 29)
HARMLESS_IOCTLS = (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)
"""What Python asks of descriptors; other requests change the flags of files that may be read.

TCGETS, TIOCGWINSZ, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX.
"""
CAPSET: tuple[int, int] = (126, 91)


def column(machine: str) -> int:
    """Where a machine's numbers stand in the table."""
    return 0 if machine == "x86_64" else 1


def present(calls: Numbers, machine: str) -> list[int]:
    """The numbers of those calls that the machine has."""
    numbers = (pair[column(machine)] for pair in calls.values())
    return [number for number in numbers if number is not None]
