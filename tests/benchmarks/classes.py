"""Makes classes of students for the benchmarks: full solutions in different words, or mistakes."""

import shutil
from collections.abc import Callable
from pathlib import Path

from grader.course.course import Assignment, Course
from grader.course.misconceptions import read_misconceptions

LAST_BITS = '''

def _in_the_last_bits(function, seed={seed}, most={most}):
    """Move floating-point results a little, always in the same way."""
    import functools

    import torch

    def nearly(value):
        if isinstance(value, tuple):
            return tuple(nearly(part) for part in value)
        if not isinstance(value, torch.Tensor) or isinstance(value, torch.nn.Parameter):
            return value
        if not value.is_floating_point():
            return value
        generator = torch.Generator().manual_seed(seed)
        off = most * torch.rand(value.shape, generator=generator, dtype=value.dtype)
        return value + off * (value != 0)

    @functools.wraps(function)
    def changed(*args, **kwargs):
        return nearly(function(*args, **kwargs))

    return changed


for _name, _thing in list(globals().items()):
    if _name == "dropout":  # judged by which values occur
        continue
    if getattr(_thing, "__module__", None) == __name__ and not _name.startswith("_"):
        if isinstance(_thing, type):
            _thing.forward = _in_the_last_bits(_thing.forward)
        elif callable(_thing):
            globals()[_name] = _in_the_last_bits(_thing)
'''
MOST_OFF = 5e-7
"""Checks judge to 1e-5, and what one function is off by, those that call it make larger."""


def other_words(course: Course, assignment: Assignment, number: int) -> str:
    """A full solution whose file differs from everybody else's, and whose results do not."""
    return f"{_solution(course, assignment)}\n# Student number {number}.\n"


def other_bits(course: Course, assignment: Assignment, number: int) -> str:
    """A full solution whose results differ from everybody else's in their last bits."""
    return _solution(course, assignment) + LAST_BITS.format(seed=number, most=MOST_OFF)


def mistaken(course: Course, assignment: Assignment, number: int) -> str:
    """A solution with one known mistake in each assignment, another one for each student."""
    text = _solution(course, assignment)
    known = read_misconceptions(course, assignment)
    if known:
        mistake = known[number % len(known)]
        text = text.replace(mistake.find, mistake.replace)
    return f"{text}\n# Student number {number}.\n"


KINDS: dict[str, Callable[[Course, Assignment, int], str]] = {
    "right, in other words": other_words,
    "right, other last bits": other_bits,
    "a mistake per assignment": mistaken,
}


def make_class(course: Course, folder: Path, kind: str, students: int) -> Path:
    """Write a class of this many students into an empty folder."""
    shutil.rmtree(folder, ignore_errors=True)
    for number in range(students):
        for assignment in course.assignments:
            path = folder / f"student-{number:05}" / assignment.id / f"{assignment.module}.py"
            path.parent.mkdir(parents=True)
            path.write_text(KINDS[kind](course, assignment, number), "utf-8")
    return folder


def _solution(course: Course, assignment: Assignment) -> str:
    return course.paths(assignment).solution.read_text("utf-8")
