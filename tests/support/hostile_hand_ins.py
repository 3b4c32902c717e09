"""Folders that no honest student hands in: each is read, or a reason is told, by every command."""

import json
import os
from collections.abc import Callable
from pathlib import Path

HEAD = "def scores(queries, keys):\n"


Fill = Callable[[Path], object]


def _script(text: str | bytes) -> Fill:
    data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    return lambda folder: (folder / "scores.py").write_bytes(data)


def _notebook(*cells: object) -> Fill:
    made = [{"cell_type": "code", "source": source} for source in cells]
    text = json.dumps({"cells": made, "nbformat": 4})
    return lambda folder: (folder / "scores.ipynb").write_text(text, "utf-8")


def _pipe(folder: Path) -> None:
    os.mkfifo(folder / "scores.py")


def _link_in_a_circle(folder: Path) -> None:
    (folder / "scores.py").symlink_to("scores.py")


def _file_for_a_folder(folder: Path) -> None:
    (folder / "01_scores").write_text("x", "utf-8")


def _folder_for_a_file(folder: Path) -> None:
    (folder / "scores.py" / "scores.py").mkdir(parents=True)


def _odd_names(folder: Path) -> None:
    for name in (b"\xff\xfe.py", b"a\nb.py", "é\u202e.py".encode(), b"scores\x1b[31m.py"):
        Path(os.fsdecode(os.fsencode(folder) + b"/" + name)).write_text("x = 1\n", "utf-8")


def _many_folders(folder: Path) -> None:
    for _level in range(60):
        folder = folder / "f"
        folder.mkdir()
    (folder / "scores.py").write_text(HEAD, "utf-8")


HAND_INS: dict[str, Fill] = {
    "brackets": _script(f"{HEAD}    return {'(' * 5_000}1{')' * 5_000}\n"),
    "signs": _script(f"{HEAD}    return {'-' * 100_000}1\n"),
    "sums": _script(f"{HEAD}    return {'1+' * 20_000}1\n"),
    "calls": _script(f"{HEAD}    return queries{'.T' * 3_000}\n"),
    "deep blocks": _script(HEAD + "".join(f"{' ' * n}if 1:\n" for n in range(4, 99))),
    "decorators": _script("@a\n" * 3_000 + HEAD + "    return 1\n"),
    "lambdas": _script(f"{HEAD}    return {'lambda:' * 900}1\n"),
    "f-strings": _script(HEAD + "    return " + "f'{" * 150 + "1" + "}'" * 150 + "\n"),
    "open quotes": _script(HEAD + '    """' * 9 + "\n    return 1"),
    "zero bytes": _script(HEAD.encode() + b"    return \0 1\n"),
    "surrogates": _script(f"{HEAD}    return '\ud800'\n"),
    "an odd coding": _script(b"# -*- coding: utf-7 -*-\n" + HEAD.encode() + b"    return 1\n"),
    "no coding": _script(b"# coding: undefined\n" + HEAD.encode() + b"    return 1\n"),
    "a form feed": _script(f"{HEAD}\f    return 1\r    # \x0c\x1c\x85\u2028 odd\n"),
    "a long name": _script(
        f"def {'s' * 60_000}(q):\n    return 1\n{HEAD}    return {'q' * 60_000}\n"
    ),
    "a long number": _script(f"{HEAD}    return {'9' * 50_000}\n"),
    "many lines": _script(HEAD + "    x = 1\n" * 40_000),
    "comments": _script(HEAD + "    # \x1b[31m\u202e <script>\n" * 5_000 + "    return 1\n"),
    "nothing": _script(""),
    "escapes": _script(f"{HEAD}    return '\x1b]0;x\x07' #\x9b31m\n"),
    "a notebook of no cells": lambda f: (f / "scores.ipynb").write_text("[" * 99_999),
    "a notebook of wrong types": _notebook(1, None, {}, [1, {}], ["x"] * 9),
    "a notebook of half characters": _notebook(f"{HEAD}    return '\udc80'"),
    "a notebook of magics": _notebook("%%bash\nrm -rf /", f"!ls\n%%time\n{HEAD}    return 1"),
    "a pipe": _pipe,
    "a link in a circle": _link_in_a_circle,
    "a file for a folder": _file_for_a_folder,
    "a folder for a file": _folder_for_a_file,
    "odd names": _odd_names,
    "many folders": _many_folders,
}
"""What fills each student's folder, by the student's name."""
