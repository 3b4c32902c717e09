"""A small course, and what a student hands in for it."""

import json

import pytest

from grader.course.course import Assignment, Course, Exercise, LateRule, Limits
from grader.submissions.submission import read_submission

STUB = 'def dot(a, b):\n    raise NotImplementedError("01_first/dot: not attempted yet")\n'
DONE = "def dot(a, b):\n    return a @ b\n"
LAYER = "class Layer:\n    pass\n"
BOTH = f"{DONE}\n\n{LAYER}"


def cell(source, kind="code", **metadata):
    """A cell of a notebook."""
    return {"cell_type": kind, "source": source, "metadata": metadata}


def notebook(*cells, **others):
    """A notebook's text; what is no dictionary is the text of a code cell."""
    made = [one if isinstance(one, dict) else cell(one) for one in cells]
    return json.dumps({"cells": made, "metadata": {}, "nbformat": 4, **others})


def put(folder, files):
    """Write files by name, as text or bytes."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())


def course_of(root, *assignments, prefer="py"):
    """A course."""
    return Course(root, "T", prefer, Limits(), LateRule(), assignments)


def assignment_of(id_, *names):
    """An assignment with exercises of these names."""
    return Assignment(id_, id_, tuple(Exercise(id_, name, 1) for name in names))


@pytest.fixture
def course(tmp_path):
    """Two assignments, the first with a stub in both forms."""
    root = tmp_path / "course"
    put(root / "assignments" / "01_first", {"first.py": STUB, "first.ipynb": notebook("", STUB)})
    return course_of(root, assignment_of("01_first", "dot"), assignment_of("02_second", "Layer"))


@pytest.fixture
def folder(tmp_path):
    """A student's folder."""
    path = tmp_path / "ada"
    path.mkdir()
    return path


@pytest.fixture
def read(course, folder):
    """Writes files into the student's folder and reads it."""

    def read(files=(), **others):
        put(folder, dict(files))
        return read_submission(course, folder, "ada", **others)

    return read
