"""Attacks that look for expected values, hidden checks, solutions, secrets and neighbours."""

UNHARMED = (8, {}, "")


def test_files_outside_cannot_be_read(attempt):
    """By their path, and by what leads to them."""
    verdict = attempt(
        """
        NUMBERS = __import__("itertools").count()


        def read(path, flags=os.O_RDONLY):
            return lambda: os.read(os.open(path, flags), 1000)


        def through_a_path_descriptor():
            number = os.open(CANARY, os.O_PATH)
            os.open(f"/proc/self/fd/{number}", os.O_RDONLY)


        def by_way_of(make):
            def action():
                way = f"way {next(NUMBERS)}"
                make(CANARY, way)
                os.open(way, os.O_RDONLY)

            return action


        CHECKS = f"{COURSE}/tests/checks/01_first"
        FILES = [CANARY, NEIGHBOUR, f"{COURSE}/course.toml", f"{COURSE}/solutions/01_first/first.py"]
        FILES += [f"{CHECKS}/test_hidden.py", f"{CHECKS}/test_visible.py", "/etc/passwd"]
        FILES += [f"{COURSE}/tests/documents/printed_tensors.json", "/dev/mem", "/dev/kmsg"]
        ATTEMPTS = {f"read {path}": read(path) for path in FILES if os.path.exists(path)}
        ATTEMPTS |= {
            "read backwards": read(COURSE + "/../canary"),
            "read and write": read(CANARY, os.O_RDWR),
            "through a path descriptor": through_a_path_descriptor,
            "by a symbolic link": by_way_of(os.symlink),
            "by a hard link": by_way_of(os.link),
            "map it": lambda: __import__("mmap").mmap(os.open(CANARY, os.O_RDONLY), 0),
        }
        """
    )
    assert verdict == UNHARMED


def test_folders_outside_cannot_be_listed(attempt):
    """Nobody learns who else handed in, or what the course holds."""
    verdict = attempt(
        """
        FOLDERS = [COURSE, os.path.dirname(NEIGHBOUR), OUTSIDE, "/", "/tmp", "/home", "/proc", "/dev"]
        FOLDERS += ["/dev/shm", "/etc", "/sys", f"/proc/{PARENT}", f"/proc/{GRADER}/fd", "/proc/self"]
        ATTEMPTS = {f"list {path}": lambda path=path: os.listdir(path) for path in FOLDERS}
        """
    )
    assert verdict == UNHARMED


def test_names_outside_cannot_be_watched(attempt):
    """A watched folder tells the names of what is opened in it."""
    verdict = attempt(
        """
        def watch(path):
            number = call("inotify_init1", os.O_NONBLOCK)
            call("inotify_add_watch", number, path.encode(), 0xFFF)


        FOLDERS = [COURSE, os.path.dirname(NEIGHBOUR), OUTSIDE]
        ATTEMPTS = {f"watch {path}": lambda path=path: watch(path) for path in FOLDERS}
        """
    )
    assert verdict == UNHARMED


def test_other_processes_cannot_be_looked_into(attempt):
    """Their memory, environment, arguments, descriptors and folders."""
    verdict = attempt(
        """
        NAMES = ("mem", "maps", "environ", "cmdline", "stat", "status", "root/etc/passwd", "fd/0")
        ATTEMPTS = {
            f"{pid} {name}": lambda pid=pid, name=name: open(f"/proc/{pid}/{name}", "rb").read(10)
            for pid in (GRADER, PARENT, 1, "self")
            for name in NAMES
            if os.path.lexists(f"/proc/{pid}") and name != "fd/0"
        }
        for pid in (GRADER, PARENT):
            for name in ("cwd", "root", "exe", "fd/0", "ns/net"):
                ATTEMPTS[f"link {pid} {name}"] = lambda p=f"/proc/{pid}/{name}": os.readlink(p)
        if os.getpid() == 1:
            ATTEMPTS = {name: a for name, a in ATTEMPTS.items() if not name.startswith("link 1 ")}
        """
    )
    assert verdict == UNHARMED


def test_memory_holds_no_secret(attack):
    """Everything Python can reach, frozen objects and frames included, and the heap itself."""
    verdict = attack(
        """
        import gc, sys


        # Bytes are compared one higher, so that no copy made here holds what is looked for.
        HIGHER = bytes((byte + 1) % 256 for byte in range(256))
        MARKS = [bytes(HIGHER[ord(c)] for c in reversed(mark)) for mark in SECRETS_BACKWARDS]


        def has_secret(data):
            text = data.encode("utf-8", "replace") if type(data) is str else data
            higher = text.translate(HIGHER)
            return [mark for mark in MARKS if mark in higher]


        def among_objects():
            gc.unfreeze()
            seen, found = set(), []
            queue = [*gc.get_objects(), sys._getframe(), *sys._current_frames().values()]
            while queue:
                one = queue.pop()
                if id(one) in seen:
                    continue
                seen.add(id(one))
                if type(one) in (str, bytes, bytearray):
                    found += has_secret(one) if len(one) > 8 else []
                else:
                    queue += gc.get_referents(one)
            return found, len(seen)


        def on_the_heap():
            LIBC.sbrk.restype = ctypes.c_void_p
            end = LIBC.sbrk(0) & ~0xFFF
            start, resident = end, ctypes.create_string_buffer(1)
            while LIBC.mincore(ctypes.c_void_p(start - 4096), 4096, resident) == 0:
                start -= 4096
            found, step = [], 2**20
            for place in range(start, end, step):
                found += has_secret(ctypes.string_at(place, min(step + 64, end - place)))
            return found, end - start


        def double(x):
            (found, objects), (more, size) = among_objects(), on_the_heap()
            assert objects > 50_000 and size > 2**20, "too little was searched"
            assert not found and not more, "there was a secret"
            return x + x
        """,
        request_seconds=30.0,
    )
    assert verdict == UNHARMED


def test_the_environment_and_the_arguments_are_bare(attack):
    """As Python knows them, and as they stand in memory."""
    verdict = attack(
        """
        import sys


        def double(x):
            left = ["HOME", "LANG", "MPLBACKEND", "PATH", "TMPDIR", "TORCHINDUCTOR_CACHE_DIR"]
            assert sorted(os.environ) == left, sorted(os.environ)
            assert os.environ["HOME"] == os.environ["TMPDIR"] == os.getcwd()
            raw = ctypes.POINTER(ctypes.c_char_p).in_dll(LIBC, "environ")
            names, index = [], 0
            while raw[index]:
                names.append(raw[index].partition(b"=")[0])
                index += 1
            assert sorted(names) == [name.encode() for name in left], names
            assert sys.argv == ["-c"], sys.argv
            return x + x
        """
    )
    assert verdict == UNHARMED


def test_no_descriptor_is_inherited_but_the_connection(attack):
    """Not the control socket of the parent, nor a neighbour's connection."""
    verdict = attack(
        """
        def opened():
            for number in range(4096):
                try:
                    os.fstat(number)
                except OSError:
                    continue
                yield number


        def double(x):
            assert set(opened()) == {0, 1, 2, connection()}, list(opened())
            for number in (0, 1, 2):
                assert os.path.samestat(os.fstat(number), os.stat("/dev/null"))
            return x + x
        """
    )
    assert verdict == UNHARMED


def test_nothing_that_judges_is_loaded(attack):
    """Only what serves: no checks, no course, no pytest, no results."""
    verdict = attack(
        """
        import sys


        def double(x):
            ours = {name for name in sys.modules if name.partition(".")[0] in ("grader", "pytest")}
            parts = {"failures", "kinds", "limits", "loader", "plain_data", "processes", "seal", "servant", "stream"}
            parts |= {"arguments", "constructors", "own_modules", "placeholders", "statements"}
            parts |= {"reached", "syscall_table", "tables", "together", "watching", "wire", "tensors", "module_state"}
            parts |= {"libraries", "torch_later", "work_folder"}
            inside = {f"grader.sandbox.{part}" for part in parts}
            assert ours == {"grader", "grader.sandbox", *inside}, ours
            return x + x
        """
    )
    assert verdict == UNHARMED


def test_the_generator_foretells_no_hidden_input(attack):
    """A student who knows the state of the generators knows nothing of the inputs."""
    verdict = attack(
        """
        import random

        drawn = [torch.randn(2, 4), torch.randn(3, 5), torch.rand(2, 4)]
        drawn += [0.8 * one for one in drawn]


        def double(x):
            for one in drawn:
                assert one.shape != x.shape or not torch.equal(one, x)
            return x + x
        """
    )
    assert verdict == UNHARMED


def test_a_neighbour_leaves_nothing_to_find(attack, grader):
    """What one submission keeps in modules, on disk or in memory, the next does not see."""
    keep = "import sys, torch\nsys.left = torch.left = 'here'\nsys.modules['left'] = sys\n"
    assert attack(f"{keep}\ntry:\n    open('left', 'w').write('here')\nexcept OSError: pass\n") == (
        UNHARMED
    )
    verdict = attack(
        """
        import sys


        def double(x):
            assert not hasattr(sys, "left") and not hasattr(torch, "left")
            assert "left" not in sys.modules and not os.path.exists("left")
            return x + x
        """
    )
    assert verdict == UNHARMED
