"""Which tests stay on one worker: those of a file, and those of files that share something expensive.

xdist has groups of its own (`--dist loadgroup`), but since pytest 9.2 names of tests are computed, so
that xdist 3.8 no longer writes a test's group behind its name, and every test is a group by itself.
"""

import re
from functools import cache
from pathlib import Path

from xdist.scheduler import LoadFileScheduling

ROOT = Path(__file__).parents[2]
GROUP = re.compile(r'pytest\.mark\.xdist_group\("([^"]+)"\)')


ALONE = "each alone"
"""The group of files whose tests share nothing and take long: they are handed out one by one."""


class Groups(LoadFileScheduling):
    """Hands out files one by one, and files of one group together."""

    def _split_scope(self, nodeid: str) -> str:
        group = group_of(super()._split_scope(nodeid))
        return nodeid if group == ALONE else group


@cache
def group_of(path: str) -> str:
    """The group of a file of tests: its own mark's, else its folder's; its path where it has none."""
    for file in (ROOT / path, (ROOT / path).with_name("conftest.py")):
        named = GROUP.search(file.read_text("utf-8")) if file.is_file() else None
        if named:
            return named[1]
    return path
