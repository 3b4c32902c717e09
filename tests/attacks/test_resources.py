"""Attacks on what a machine has: memory, processes, threads, descriptors, disk, output."""

import pytest

UNHARMED = (8, {}, "")
MEMORY = (5, {"double": "out_of_memory blocked blocked"}, "memory")

HUNGRY = {
    "a tensor": "torch.ones(2**30)",
    "a tensor that is written to": "torch.zeros(2**30).fill_(1)",
    "many tensors": "[torch.ones(2**20) for _ in range(2**12)]",
    "bytes": "bytes(2**32)",
    "text": "'x' * 2**33",
    "a list": "[0] * 2**30",
    "many small things": "[bytes(2**20) for _ in range(2**12)]",
    "a number": "1 << 2**35",
    "a product of tensors": "torch.ones(2**16, 1) @ torch.ones(1, 2**16)",
}


@pytest.mark.parametrize("value", HUNGRY.values(), ids=HUNGRY.keys())
def test_memory_is_limited(attack, value):
    """The machine's own stays untouched."""
    assert attack(f"def double(x):\n    return {value}\n", request_seconds=10.0) == MEMORY


def test_memory_by_map_is_limited(attack):
    """Private and shared maps."""
    verdict = attack(
        """
        import mmap


        def double(x):
            for flags in (mmap.MAP_PRIVATE, mmap.MAP_SHARED):
                try:
                    mmap.mmap(-1, 2**31, flags | mmap.MAP_ANONYMOUS)
                except OSError as error:
                    assert error.errno == errno.ENOMEM
                else:
                    raise AssertionError("two GiB were mapped")
            return x + x
        """
    )
    assert verdict == UNHARMED


def test_limits_cannot_be_raised(attempt):
    """Neither one's own nor those of others."""
    verdict = attempt(
        """
        import resource

        LIMITS = ("RLIMIT_AS", "RLIMIT_FSIZE", "RLIMIT_CORE")


        def raise_limit(pid, name):
            limit = getattr(resource, name)
            try:
                resource.prlimit(pid, limit, (2**45, 2**45))
            except ValueError:  # "not allowed to raise maximum limit"
                raise PermissionError(errno.EPERM, name)


        ATTEMPTS = {
            f"{name} of {pid}": lambda pid=pid, name=name: raise_limit(pid, name)
            for pid in (0, os.getpid(), PARENT, GRADER)
            for name in LIMITS
        }
        """
    )
    assert verdict == UNHARMED


def test_memory_of_the_kernel_is_limited(attack):
    """What lies in sockets and pipes counts as memory, too."""
    verdict = attack(
        """
        import socket


        def fill(one):
            sent = 0
            try:
                while sent < 2**28:
                    sent += os.write(one, bytes(2**16))
            except OSError:
                pass
            return sent


        def pair():
            ends = socket.socketpair()
            for end in ends:
                end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 2**28)
                os.set_blocking(end.fileno(), False)
            return [os.dup(end.fileno()) for end in ends]


        def pipe():
            ends = os.pipe()
            os.set_blocking(ends[1], False)
            return ends[1:]


        def double(x):
            sent = 0
            for make in (pair, pipe):
                try:
                    while sent < 2**28:
                        sent += sum(fill(end) for end in make())
                except OSError:
                    pass
            assert sent < 2**28, "256 MiB were put into buffers of the kernel"
            return x + x
        """,
        request_seconds=10.0,
    )
    assert verdict == UNHARMED


def test_processes_cannot_be_made(attempt):
    """By any of the ways to make one."""
    verdict = attempt(
        """
        import concurrent.futures, multiprocessing, subprocess, sys


        def system():
            if os.system("true") != 0:
                raise PermissionError(errno.EPERM, "system")


        def pool():
            with concurrent.futures.ProcessPoolExecutor(1) as executor:
                executor.submit(os.getpid).result()


        def by_clone(number, *flags):
            if LIBC.syscall(number, *flags, 0, 0, 0, 0) < 0:
                raise OSError(ctypes.get_errno(), "clone")


        CLONE = 56 if os.uname().machine == "x86_64" else 220
        ATTEMPTS = {
            "fork": os.fork,
            "forkpty": os.forkpty,
            "vfork": lambda: by_clone(CLONE, 0x4111),
            "clone": lambda: by_clone(CLONE, 17),
            "clone into new namespaces": lambda: by_clone(CLONE, 0x7C020011),
            "clone3": lambda: by_clone(435, ctypes.create_string_buffer(88), 88),
            "posix_spawn": lambda: os.posix_spawn(sys.executable, ["python"], {}),
            "execv": lambda: os.execv(sys.executable, ["python", "-c", "pass"]),
            "exec by descriptor": lambda: os.execve(os.open(os.__file__, os.O_RDONLY), ["x"], {}),
            "subprocess": lambda: subprocess.run(["/bin/true"]),
            "shell": lambda: subprocess.run("true", shell=True),
            "system": system,
            "multiprocessing": lambda: multiprocessing.get_context("fork").Process().start(),
            "spawn": lambda: multiprocessing.get_context("spawn").Process().start(),
            "pool": pool,
        }
        """,
    )
    assert verdict == UNHARMED


def test_threads_are_limited_and_harm_nobody(attack):
    """As many as memory holds; those that are there are ended."""
    verdict = attack(
        """
        import threading


        def double(x):
            gate = threading.Event()
            try:
                for _ in range(100_000):
                    threading.Thread(target=gate.wait, daemon=True).start()
            except RuntimeError:
                return x + x
        """,
        request_seconds=10.0,
    )
    assert verdict == UNHARMED


def test_honest_threads_are_not_punished(attack):
    """Threads, locks, queues, and a pool of threads."""
    verdict = attack(
        """
        from concurrent.futures import ThreadPoolExecutor


        def double(x):
            with ThreadPoolExecutor(4) as pool:
                return torch.stack(list(pool.map(lambda row: row + row, x)))
        """
    )
    assert verdict == UNHARMED


def test_descriptors_are_limited(attack):
    """They are the process's own, and go with it."""
    verdict = attack("def double(x):\n    while True:\n        os.dup(0)\n", request_seconds=10.0)
    assert verdict == (5, {"double": "failed blocked blocked"}, "raised OSError")


def test_disk_is_limited(attack):
    """Large files, many files, deep folders, and a file with a hole."""
    verdict = attack(
        """
        MOST = 2**20


        def grow(path):
            size = 0
            with open(path, "wb", buffering=0) as file:
                try:
                    while size < 2 * MOST:
                        size += file.write(bytes(2**16))
                except OSError:
                    pass
            return size


        def attempts():
            try:
                yield sum(grow(f"file {n}") for n in range(8))
            except OSError:
                yield 0
            made = 0
            try:
                for n in range(3_000):
                    os.mkdir(f"folder {n}")
                    made += 1
            except OSError:
                pass
            yield made * 1024
            try:
                with open("hole", "wb") as file:
                    yield file.truncate(2**40)
            except OSError:
                yield 0


        def double(x):
            for used in attempts():
                assert used <= 1.1 * MOST, used
            return x + x
        """,
        request_seconds=10.0,
    )
    assert verdict == UNHARMED


def test_a_temporary_file_can_be_used_where_there_is_a_place_of_ones_own(attack, is_first_process):
    """With namespaces a submission has a small folder; without, nothing can be written."""
    verdict = attack(
        """
        import tempfile


        def double(x):
            with tempfile.TemporaryDirectory() as folder, open(f"{folder}/one", "w+b") as file:
                torch.save(x, file)
                file.seek(0)
                return 2 * torch.load(file)
        """
    )
    lost = (5, {"double": "failed blocked blocked"}, "raised PermissionError")
    assert verdict == (UNHARMED if is_first_process else lost)


def test_output_is_limited(attack):
    """Fifty megabytes are counted, and forgotten."""
    verdict = attack(
        """
        import sys


        def double(x):
            for _ in range(50):
                print("x" * 2**20)
                sys.stderr.write("y" * 2**20)
                os.write(1, bytes(2**20))
            return x + x
        """,
        request_seconds=10.0,
    )
    assert verdict == UNHARMED


def test_input_is_empty(attack):
    """Nobody waits for a student who is not there."""
    verdict = attack(
        "import sys\n\n\ndef double(x):\n    assert sys.stdin.read() == ''\n    input()\n"
    )
    assert verdict == (5, {"double": "failed blocked blocked"}, "raised EOFError")
