"""How much of what one student handed in is read, so that it takes seconds whatever it is."""

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from grader.submissions.file_names import MOST_FILES
from grader.submissions.payload import MOST_IN_ALL
from grader.submissions.source_file import SourceFile

MOST_CODE = 2**23
"""Characters of code in all files."""
MOST_SECONDS = 6.0
"""Of processor time, after which no other file is begun; one alone takes two at most."""


@dataclass(slots=True)
class ReadingRoom:
    """What may still be read of one student's files.

    Args:
        files: how many.
        size: bytes of files.
        code: characters of code.
        begun: the thread's processor time when reading began.
        left_out: the files for which there was no room.
    """

    files: int = MOST_FILES
    size: int = MOST_IN_ALL
    code: int = MOST_CODE
    begun: float = field(default_factory=time.thread_time)
    left_out: dict[Path, None] = field(default_factory=dict)

    @property
    def is_left(self) -> bool:
        """Whether another file may be begun."""
        is_time = time.thread_time() - self.begun < MOST_SECONDS
        return is_time and min(self.files, self.size, self.code) > 0

    def fitting(self, paths: Iterable[Path]) -> Iterator[Path]:
        """Those files for which there is room when it is their turn."""
        for path in paths:
            if self.is_left:
                yield path
            else:
                self.left_out[path] = None

    def take(self, source: SourceFile, size: int) -> None:
        """Take off what a file had."""
        self.files -= 1
        self.size -= size
        self.code -= sum(len(cell.text) for cell in source.cells)
