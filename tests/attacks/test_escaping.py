"""Attacks on the seal itself: other processes, other files, other namespaces."""

UNHARMED = (8, {}, "")


def test_every_system_call_that_is_denied_is_denied_here(attack):
    """By its number, with arguments that would do no harm; and by its number for x32."""
    verdict = attack(
        """
        def answer(number):
            ctypes.set_errno(0)
            LIBC.syscall(number, -1, 0, 0, 0, 0, 0)
            return ctypes.get_errno()


        def double(x):
            numbers = {name: number for name, number in DENIED.items() if number is not None}
            if os.uname().machine == "x86_64":
                numbers |= {"x32": 0x40000000 + 39, "x32 execve": 0x40000000 + 520}
            odd = [name for name, number in numbers.items() if answer(number) != errno.EPERM]
            assert len(numbers) > 90 and not odd, odd
            return x + x
        """
    )
    assert verdict == UNHARMED


def test_a_new_thread_is_sealed_as_well(attempt):
    """The filter is the process's, not only the first thread's."""
    verdict = attempt(
        """
        import threading


        def in_thread(action):
            raised = []

            def run():
                try:
                    action()
                except OSError as error:
                    raised.append(error)

            thread = threading.Thread(target=run)
            thread.start()
            thread.join()
            if raised:
                raise raised[0]


        ATTEMPTS = {
            "fork": lambda: in_thread(os.fork),
            "read": lambda: in_thread(lambda: open(CANARY).read()),
            "chmod": lambda: in_thread(lambda: os.chmod(CANARY, 0o777)),
            "signal": lambda: in_thread(lambda: os.kill(GRADER, 0)),
        }
        """
    )
    assert verdict == UNHARMED


def test_nobody_else_is_signalled(attempt):
    """By id, group, everybody, thread, descriptor or ownership of a socket."""
    verdict = attempt(
        """
        import fcntl, signal, socket


        def by_owner(pid, command=8):
            one, other = socket.socketpair()
            owner = pid if command == 8 else __import__("struct").pack("ii", 1, pid)
            fcntl.fcntl(one, command, owner)
            fcntl.fcntl(one, 10, signal.SIGUSR1)
            fcntl.fcntl(one, fcntl.F_SETFL, os.O_NONBLOCK | os.O_ASYNC)
            other.send(b"x")
            raise PermissionError(errno.EPERM, "whether it arrived is looked at outside")


        def by_queue(pid):
            call("sigqueue", pid, signal.SIGUSR1, None)


        ATTEMPTS = {}
        for pid in (GRADER, PARENT, -GRADER, -PARENT, 0, -1):
            ATTEMPTS[f"kill {pid}"] = lambda pid=pid: os.kill(pid, signal.SIGUSR1)
        for pid in (GRADER, PARENT):
            ATTEMPTS |= {
                f"group {pid}": lambda pid=pid: os.killpg(pid, signal.SIGUSR1),
                f"queue {pid}": lambda pid=pid: by_queue(pid),
                f"tgkill {pid}": lambda pid=pid: call("tgkill", pid, pid, 10),
                f"descriptor {pid}": lambda pid=pid: os.pidfd_open(pid),
                f"owner {pid}": lambda pid=pid: by_owner(pid),
                f"owner of type {pid}": lambda pid=pid: by_owner(pid, 15),
            }
        """
    )
    assert verdict == UNHARMED


def test_nobody_else_is_slowed_down_or_moved(attempt):
    """Priorities, processors, schedules and limits of other processes."""
    verdict = attempt(
        """
        import resource


        def limit(pid):
            resource.prlimit(pid, resource.RLIMIT_NOFILE, (3, 3))


        ATTEMPTS = {}
        for pid in (GRADER, PARENT):
            ATTEMPTS |= {
                f"nice {pid}": lambda pid=pid: os.setpriority(os.PRIO_PROCESS, pid, 19),
                f"processors {pid}": lambda pid=pid: os.sched_setaffinity(pid, {0}),
                f"schedule {pid}": lambda pid=pid: os.sched_setscheduler(
                    pid, os.SCHED_IDLE, os.sched_param(0)
                ),
                f"limits {pid}": lambda pid=pid: limit(pid),
                f"group {pid}": lambda pid=pid: os.setpgid(pid, pid),
            }
        """
    )
    assert verdict == UNHARMED


def test_other_namespaces_cannot_be_entered_or_made(attempt):
    """Whatever would need them is refused, too."""
    verdict = attempt(
        """
        FLAGS = {"user": 0x10000000, "mount": 0x20000, "pid": 0x20000000, "net": 0x40000000}
        ATTEMPTS = {
            f"unshare {name}": lambda flag=flag: call("unshare", flag) for name, flag in FLAGS.items()
        }
        ATTEMPTS |= {
            "setns": lambda: call("setns", connection(), 0),
            "mount": lambda: call("mount", b"x", b"/tmp", b"tmpfs", 0, None),
            "mount again": lambda: call("mount", None, b"/", None, 32 | 4096, None),
            "unmount": lambda: call("umount2", os.getcwd().encode(), 2),
            "chroot": lambda: os.chroot("."),
            "root": lambda: call("syscall", 155 if os.uname().machine == "x86_64" else 41, b".", b"."),
            "host name": lambda: call("sethostname", b"x", 1),
        }
        """
    )
    assert verdict == UNHARMED


def test_privileges_cannot_be_won(attack):
    """No capabilities, none to come, and nobody else to become."""
    verdict = attack(
        """
        def refused(action):
            try:
                action()
            except OSError:
                return True
            return False


        def double(x):
            user = os.getuid()
            assert LIBC.prctl(39, 0, 0, 0, 0) == 1, "no new privileges"
            assert all(LIBC.prctl(23, n, 0, 0, 0) >= 0 for n in range(36))
            assert refused(lambda: os.setuid(user + 1)) and refused(lambda: os.setgid(12345))
            assert refused(lambda: os.setgroups([0]))
            header, data = ctypes.c_uint64(0x20080522), (ctypes.c_uint32 * 6)()
            assert LIBC.capget(ctypes.byref(header), data) == 0 and not any(data), list(data)
            data[0] = data[1] = 0xFFFFFFFF
            assert LIBC.capset(ctypes.byref(header), data) < 0
            assert LIBC.prctl(47, 2, 21, 0, 0) < 0, "ambient capabilities"
            return x + x
        """
    )
    assert verdict == UNHARMED


def test_nothing_outside_is_changed(attempt):
    """Not even a folder that everybody may write to."""
    verdict = attempt(
        """
        import shutil

        FILE = f"{OUTSIDE}/file"
        NEW = f"{OUTSIDE}/attack"


        def write(path, flags):
            return lambda: os.open(path, flags, 0o666)


        def flags_of(path):
            number, flags = os.open(path, os.O_RDONLY), ctypes.c_long(0)
            call("ioctl", number, ctypes.c_ulong(0x80086601), ctypes.byref(flags))
            call("ioctl", number, ctypes.c_ulong(0x40086602), ctypes.byref(flags))


        def attributes(path):  # file_setattr: "no dump"
            what = ctypes.create_string_buffer(b"\\x80" + bytes(23), 24)
            if LIBC.syscall(469, -100, path.encode(), what, 24, 0) < 0:
                raise OSError(ctypes.get_errno(), "file_setattr")


        ATTEMPTS = {
            "append": write(FILE, os.O_WRONLY | os.O_APPEND),
            "empty it": write(FILE, os.O_RDWR | os.O_TRUNC),
            "empty it while reading": write(FILE, os.O_RDONLY | os.O_TRUNC),
            "truncate": lambda: os.truncate(FILE, 0),
            "create": write(NEW, os.O_CREAT | os.O_WRONLY),
            "create without a name": write(OUTSIDE, os.O_TMPFILE | os.O_RDWR),
            "delete": lambda: os.unlink(FILE),
            "rename": lambda: os.rename(FILE, NEW),
            "rename over": lambda: os.rename(os.getcwd(), OUTSIDE),
            "link": lambda: os.link(FILE, NEW),
            "symbolic link": lambda: os.symlink(FILE, NEW),
            "folder": lambda: os.mkdir(NEW),
            "remove folder": lambda: os.rmdir(OUTSIDE),
            "pipe": lambda: os.mkfifo(NEW),
            "device": lambda: os.mknod(NEW, 0o600 | stat.S_IFCHR, os.makedev(1, 3)),
            "device of one's own": lambda: os.mknod("d", 0o600 | stat.S_IFBLK, os.makedev(8, 0)),
            "mode": lambda: os.chmod(FILE, 0o777),
            "owner": lambda: os.chown(FILE, os.getuid(), os.getgid()),
            "times": lambda: os.utime(FILE, (1, 1)),
            "attribute": lambda: os.setxattr(FILE, "user.attack", b"x"),
            "Python's own files": write(os.__file__, os.O_WRONLY),
            "truncate Python's own files": write(os.__file__, os.O_RDONLY | os.O_TRUNC),
            "bytecode of Python's own": write(os.__file__ + ".attack", os.O_CREAT | os.O_WRONLY),
            "shared memory": write("/dev/shm/attack", os.O_CREAT | os.O_RDWR),
            "temporary files": write("/tmp/attack", os.O_CREAT | os.O_RDWR),
            "copy": lambda: shutil.copy(os.__file__, NEW),
        }
        """
    )
    assert verdict == UNHARMED


def test_attributes_of_files_are_not_changed(attempt):
    """The system call `file_setattr` is newer than Landlock's rights; it says "no dump" here."""
    verdict = attempt(
        """
        def set_attributes(path):
            what = ctypes.create_string_buffer(b"\\x80" + bytes(23), 24)
            if LIBC.syscall(469, -100, path.encode(), what, 24, 0) < 0:
                raise OSError(ctypes.get_errno(), "file_setattr")


        ATTEMPTS = {path: lambda path=path: set_attributes(path) for path in (f"{OUTSIDE}/file",)}
        """
    )
    assert verdict == UNHARMED


def test_flags_of_readable_files_are_not_changed(attempt):
    """A file that may be read takes flags by `ioctl`; here they are set to what they are."""
    verdict = attempt(
        """
        def set_flags(path):
            number, flags = os.open(path, os.O_RDONLY), ctypes.c_long(0)
            call("ioctl", number, ctypes.c_ulong(0x80086601), ctypes.byref(flags))
            call("ioctl", number, ctypes.c_ulong(0x40086602), ctypes.byref(flags))


        ATTEMPTS = {path: lambda path=path: set_flags(path) for path in (os.__file__,)}
        """
    )
    assert verdict == UNHARMED


def test_what_outlives_a_process_cannot_be_made(attempt):
    """Memory and queues of the system's, and files without a name."""
    verdict = attempt(
        """
        from multiprocessing import shared_memory

        ATTEMPTS = {
            "memory file": lambda: os.memfd_create("attack"),
            "shared memory": lambda: shared_memory.SharedMemory("attack", True, 100),
            "shared memory of the system's": lambda: call("shmget", 4711, 100, 0o1666),
            "semaphores": lambda: call("semget", 4711, 1, 0o1666),
            "message queue": lambda: call("msgget", 4711, 0o1666),
            "keys": lambda: call("syscall", 248 if os.uname().machine == "x86_64" else 217, 0, 0, 0),
            "eventful rings": lambda: call("syscall", 425, 8, ctypes.create_string_buffer(120)),
        }
        """
    )
    assert verdict == UNHARMED


def test_an_escape_through_python_itself_finds_the_same_walls(attempt):
    """Another interpreter, other builtins, and the loader of libraries."""
    verdict = attempt(
        """
        import importlib.util, io, zipimport
        from ctypes.util import find_library


        def library():
            with open("attack.so", "wb") as file:
                file.write(b"\\x7fELF")
            ctypes.CDLL(CANARY)


        def ours():
            spec = importlib.util.spec_from_file_location(
                "hidden", f"{COURSE}/tests/checks/01_first/test_hidden.py"
            )
            spec.loader.exec_module(importlib.util.module_from_spec(spec))


        ATTEMPTS = {
            "io": lambda: io.open_code(CANARY),
            "raw": lambda: io.FileIO(CANARY),
            "loader": ours,
            "libc": lambda: call("open", CANARY.encode(), 0),
            "torch": lambda: torch.load(CANARY),
            "numpy": lambda: __import__("numpy").fromfile(CANARY),
            "splice": lambda: os.sendfile(1, os.open(CANARY, os.O_RDONLY), 0, 10),
            "debugger": lambda: call("ptrace", 16, GRADER, 0, 0),
        }
        """,
    )
    assert verdict == UNHARMED
