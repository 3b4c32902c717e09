"""Writes reports down: whole or not at all, or at the end of a file that the platform keeps."""

import os
from collections.abc import Iterable
from pathlib import Path

from grader.reports.base import File


def write_reports(files: Iterable[File], folder: Path) -> None:
    """Write a report's files; a path that is not absolute is inside the folder."""
    for file in files:
        path = folder / file.path
        if file.text is None:
            path.unlink(missing_ok=True)
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        data = file.text.encode("utf-8", "backslashreplace")
        if file.append:
            with path.open("ab") as end:
                end.write(data)
            continue
        temporary = path.with_name(f".{path.name}.{os.getpid()}")
        temporary.write_bytes(data)
        temporary.replace(path)
