"""Solutions as modules that can be imported, for what authors write beside them."""

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

from grader.course.course import Assignment, Course


@contextmanager
def loaded(course: Course, assignment: Assignment) -> Iterator[ModuleType]:
    """The module of a solution, which finds those of the others; all are forgotten afterwards."""
    names = {one.module for one in course.assignments}
    before = {name: sys.modules.pop(name) for name in names & sys.modules.keys()}
    path, writes = sys.path[:], sys.dont_write_bytecode
    sys.path[:0] = [str(course.paths(one).solution.parent) for one in course.assignments]
    sys.dont_write_bytecode = True  # an edit within the same second would go unseen
    try:
        importlib.invalidate_caches()
        yield importlib.import_module(assignment.module)
    finally:
        sys.path[:], sys.dont_write_bytecode = path, writes
        for name in names & sys.modules.keys():
            del sys.modules[name]
        sys.modules.update(before)
