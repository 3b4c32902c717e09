"""Attacks on what comes after: the next submission finds everything as it should be."""

import textwrap

import pytest

UNHARMED = (8, {}, "")

POISONS = {
    "torch": """
        import torch
        torch.set_default_dtype(torch.float64)
        torch.set_grad_enabled(False)
        torch.use_deterministic_algorithms(True)
        torch.set_num_threads(7)
        torch.manual_seed(7)
        torch.nn.Linear.forward = lambda self, x: x
        torch.Tensor.sum = lambda self: 0
        torch.set_printoptions(profile="full")
    """,
    "python": """
        import builtins, gc, random, sys, warnings
        builtins.float = builtins.sum = lambda *_: 0
        sys.modules["torch"] = sys.modules["poison"] = sys
        sys.path[:] = ["/nowhere"]
        sys.setrecursionlimit(50)
        sys.stdout = sys.stderr = None
        random.seed(7)
        gc.disable()
        warnings.simplefilter("error")
    """,
    "the process": """
        import ctypes, os, signal, time
        os.environ["POISON"] = os.environ["TMPDIR"] = "/nowhere"
        ctypes.CDLL(None).putenv(b"POISON=1")
        os.umask(0o777)
        os.chdir("/")
        signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
        time.tzset()
    """,
    "the servant": """
        patch("seal", "filter_system_calls", lambda: None)
        patch("seal", "restrict_files", lambda *_: None)
        for name in ("serve", "_child", "warm_parent", "_fork"):
            patch("processes", name, None)
        for name in ("send", "Reader.receive"):
            patch("stream", name, None)
        patch("servant", "Servant.reply", None)
    """,
    "files": """
        import os
        for path in ("left", "torch.py", "sitecustomize.py", "grader/__init__.py", "a/b/c"):
            try:
                os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
                open(path, "w").write("raise SystemExit")
            except OSError:
                pass
    """,
    "threads": """
        import threading, time
        def forever():
            while True:
                time.sleep(0.001)
        for _ in range(20):
            threading.Thread(target=forever).start()
    """,
    "memory": """
        import ctypes, gc
        kept = [bytearray(2**20) for _ in range(100)]
        gc.freeze()
        ctypes.memset(id(10**6), 255, 1)
    """,
    "the processors": """
        import os
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    """,
    "the terminal and the session": """
        import ctypes, os
        for action in (os.setsid, os.setpgrp, lambda: os.tcsetpgrp(0, 1)):
            try:
                action()
            except OSError:
                pass
        ctypes.CDLL(None).prctl(1, 0, 0, 0, 0)
        ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
        ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)
        ctypes.CDLL(None).prctl(15, b"grader", 0, 0, 0)
    """,
}

PRISTINE = """
import builtins, gc, signal, sys, threading, warnings

FOUND = {
    "dtype": torch.get_default_dtype() is torch.float32,
    "gradients": torch.is_grad_enabled(),
    "not deterministic": not torch.are_deterministic_algorithms_enabled(),
    "on one thread": torch.get_num_threads() == 1,
    "not seeded": torch.initial_seed() != 7,
    "layers": type(nn.Linear(2, 3)(torch.ones(2))) is torch.Tensor and torch.ones(3).sum() == 3,
    "builtins": builtins.float is type(1.0) and builtins.sum([1, 2]) == 3,
    "modules": not {"poison", "left"} & set(sys.modules),
    "path": "/nowhere" not in sys.path,
    "recursion": sys.getrecursionlimit() == 1000,
    "collection": gc.isenabled() and gc.get_freeze_count() > 0,
    "environment": " ".join(sorted(os.environ))
    == "HOME LANG MPLBACKEND PATH TMPDIR TORCHINDUCTOR_CACHE_DIR",
    "files": not any(map(os.path.exists, ("left", "a", "grader", "torch.py"))),
    "umask": os.umask(0o22) == 0o22,
    "blocked signals": not signal.pthread_sigmask(signal.SIG_BLOCK, []),
    "threads": threading.active_count() == 1,
    "processors": sorted(os.sched_getaffinity(0)) == PROCESSORS,
    "folder": os.getcwd() == os.environ["HOME"],
    "warnings": "error" not in [entry[0] for entry in warnings.filters],
    "group": os.getpgrp() == os.getsid(0) == os.getpid(),
}


def double(x):
    odd = [name for name, is_right in FOUND.items() if not is_right]
    assert not odd, odd
    return x + x
"""


@pytest.mark.parametrize("poison", POISONS.values(), ids=POISONS.keys())
def test_the_next_submission_finds_everything_as_it_was(grader, poison):
    """Whatever the one before did to its process, its folder or the servant."""
    grader.script(textwrap.dedent(poison))
    assert grader.script(PRISTINE) == UNHARMED


def test_a_poisoned_process_serves_only_its_own_submission(attack):
    """A default dtype that was changed is the student's own mistake, and nobody else's."""
    verdict = attack("torch.set_default_dtype(torch.float64)\n")
    assert verdict == (6.2, {"Layer": "passed passed failed"}, "raised RuntimeError")
