"""A notebook's kernel: what it knows of the cells that it ran, and where it writes."""

import linecache
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from grader.core.errors import GraderError
from grader.course.course import Course, Exercise
from grader.submissions.notebooks import Cell, code_cells, notebook_text
from grader.submissions.source_file import SourceFile, definitions

KEY = "this notebook"
"""What the work of a kernel is called where a file would have its path."""


@dataclass(frozen=True, slots=True)
class Kernel:
    """What the notebook's kernel knows of the cells that it ran.

    Args:
        shell: IPython's.
        since: when this was made, in seconds since 1970: other cells ran before.
        ran_at: the same for the cells that ran after, by their numbers.
    """

    shell: Any
    since: float = field(default_factory=time.time)
    ran_at: dict[int, float] = field(default_factory=dict)

    @property
    def is_rich(self) -> bool:
        """Whether it shows more than text."""
        return hasattr(self.shell, "kernel")

    def note(self, result: Any) -> None:
        """Remember that a cell was run just now."""
        self.ran_at[result.execution_count] = time.time()

    def cell_names(self) -> dict[str, tuple[str, None]]:
        """By the file name that IPython gives to a cell's code, what a student calls the cell."""
        names = ((file, self.shell.compile.format_code_name(file)) for file in [*linecache.cache])
        return {file: (name[1], None) for file, name in names if name}

    def is_older_than_saved(self, course: Course, exercise: Exercise) -> bool:
        """Whether the file was saved, after an exercise's cell ran, with another text of it."""
        path = Path.cwd() / f"{course.by_id[exercise.assignment].module}.ipynb"
        history = [Cell(*pair) for pair in enumerate(self.shell.history_manager.input_hist_raw)]
        ran = [cell for cell in history if _defines(cell, exercise.name)]
        try:
            cells = code_cells(notebook_text(path.read_bytes()).text)
            saved = [cell for cell in cells if _defines(cell, exercise.name)]
            saved_at = path.stat().st_mtime
        except (OSError, GraderError):
            return False
        if len(saved) != 1 or not ran or ran[-1].text.strip() == saved[0].text.strip():
            return False
        return saved_at > self.ran_at.get(ran[-1].number or 0, self.since)


def _defines(cell: Cell, name: str) -> bool:
    source = SourceFile(KEY, "notebook", importable=False, cells=(cell,))
    return any(definitions(source, name))


@lru_cache(maxsize=1)
def this_kernel() -> Kernel | None:
    """The kernel that this runs in, None in a script."""
    find = getattr(sys.modules.get("IPython"), "get_ipython", None)
    shell = find() if find is not None else None
    if shell is None:
        return None
    kernel = Kernel(shell)
    shell.events.register("post_run_cell", kernel.note)
    return kernel


@contextmanager
def quiet_stderr() -> Iterator[None]:
    """Show on stdout what is written to stderr: nbgrader scores a cell that writes there 0."""
    stderr = sys.stderr
    with redirect_stderr(sys.stdout):
        try:
            with suppress(AttributeError):  # a kernel's stream; logging may have kept hold of it
                stderr.write = sys.stdout.write  # type: ignore[method-assign]
            yield
        finally:
            with suppress(AttributeError):
                del stderr.write
