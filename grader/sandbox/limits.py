"""What a child process may use, and the limits it puts on itself before it runs student code.

It runs on both sides, beside student code as well: standard library only.
"""

import contextlib
import importlib
import os
import re
import signal
import sys
from collections.abc import Iterable
from dataclasses import dataclass

from grader.sandbox.torch_later import leave_out_compiler

MIB = 2**20
LIMITS_MEMORY = sys.platform == "linux"
"""Whether the memory of a process can be limited here."""
MAX_DESCRIPTORS = 256
"""The buffers of pipes and sockets are memory that no other limit counts."""
WITHOUT_WINDOWS = {"MPLBACKEND": "Agg"}
"""What tells matplotlib to draw and show nothing, in a process's environment."""


@dataclass(frozen=True, slots=True)
class ChildLimits:
    """What a child process may use, and what is put around it.

    Args:
        folder: its own folder, for temporary files.
        first_instance: instances are numbered from here, so that no two processes share a number.
        memory_mib: MiB on top of what is imported before.
        output_kib: KiB of printed text that are kept.
        file_mib: MiB in any file it writes.
        packages: what is imported before it is confined, where that is installed.
        sealed: whether Landlock and seccomp are put on.
        namespaces: whether it has namespaces of its own.
    """

    folder: str
    first_instance: int
    memory_mib: int
    output_kib: int
    file_mib: int
    packages: tuple[str, ...] = ()
    sealed: bool = False
    namespaces: bool = False


LIBRARIES = ("torch", "numpy", "pandas")
"""What takes long to import: that is done before a child is forked, where code mentions it."""
SLOW_PARTS = {
    "torch._dynamo.config": re.compile(r"\btorch\.(?:func|compile|vmap)\b"),
    "sympy": re.compile(r"""["']meta["']"""),
}
"""What torch imports itself, in a quarter of a second or more, when some things are first done."""
TORCH_CACHE = "TORCHINDUCTOR_CACHE_DIR"
"""The variable with the folder that importing it makes where there is none."""


def libraries_in(texts: Iterable[str]) -> tuple[str, ...]:
    """The libraries that some code mentions in any way."""
    text = "\n".join(texts)
    found = tuple(name for name in LIBRARIES if name in text)
    return (*found, "numpy.random") if "numpy" in found or "pandas" in found else found


def slow_parts_in(texts: Iterable[str]) -> tuple[str, ...]:
    """What else is imported before a child is forked, for what some code does."""
    text = "\n".join(texts)
    return tuple(name for name, needed in SLOW_PARTS.items() if needed.search(text))


def import_packages(names: Iterable[str]) -> None:
    """Import what student code may rely on; where that cannot be, its own import says so."""
    for name in names:
        with contextlib.suppress(Exception):
            importlib.import_module(name)
    leave_out_compiler()


def limit_process(limits: ChildLimits) -> None:
    """Limit memory, files and core dumps of this process, where the system can."""
    try:
        import resource
    except ImportError:  # Windows
        return
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with contextlib.suppress(ValueError, OSError):
        size = limits.file_mib * MIB
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    with contextlib.suppress(ValueError, OSError):
        most = min(MAX_DESCRIPTORS, resource.getrlimit(resource.RLIMIT_NOFILE)[1])
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    if LIMITS_MEMORY:
        with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123 (no pathlib here)
            pages = int(file.read().split()[0])  # of address space; torch alone takes some GiB
        memory = pages * os.sysconf("SC_PAGE_SIZE") + limits.memory_mib * MIB
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
