"""Which of a submission's files an import means: the course's modules, and the student's own.

It runs beside student code: standard library only.
"""

import sys
from collections.abc import Iterator, Mapping
from typing import Any

LIBRARIES = {*sys.stdlib_module_names, "torch", "numpy"}
"""What no file of a student's stands for, whatever its name."""

ENDS = (".py", "/__init__.py", ".ipynb")


def is_librarys(name: str) -> bool:
    """Whether a dotted name is that of a library which no file replaces."""
    return name.partition(".")[0] in LIBRARIES


def folder_of(key: str, level: int) -> str:
    """The folder in which a file's import is looked up first.

    Args:
        key: the file.
        level: how many dots stand before the name.
    """
    folders = key.split("/")[:-1]
    return "/".join(folders[: len(folders) - max(0, level - 1)])


def file_of(texts: Mapping[str, Any], name: str, folder: str) -> str:
    """The file, or the folder (with `/` at its end), that a dotted name means; "" for none.

    Args:
        texts: the submission's files by key.
        name: the name.
        folder: where it is looked for first; then at the top, then in every other folder.
    """
    path = name.replace(".", "/")
    for base in dict.fromkeys((folder, "", *_folders(texts))):
        start = f"{base}/{path}" if base else path
        found = (f"{start}{end}" for end in ENDS if f"{start}{end}" in texts)
        if key := next(found, ""):
            return key
        if any(other.startswith(f"{start}/") for other in texts):
            return f"{start}/"
    return ""


def _folders(texts: Mapping[str, Any]) -> Iterator[str]:
    """The folders of the files, and those around them."""
    for key in texts:
        folders = key.split("/")[:-1]
        yield from ("/".join(folders[:depth]) for depth in range(len(folders), 0, -1))
