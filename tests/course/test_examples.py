"""The examples in the solutions' docstrings, which students read, are what the solutions return."""

import doctest
import importlib
import sys
from pathlib import Path

import pytest

from grader.course.course import load_course

COURSE = load_course(Path(__file__).parents[2])


@pytest.mark.parametrize("assignment", COURSE.assignments, ids=lambda assignment: assignment.id)
def test_the_examples_of_docstrings_are_true(
    assignment, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Printed figures included; what is drawn has a seed."""
    for one in COURSE.assignments:
        monkeypatch.syspath_prepend(COURSE.paths(one).solution.parent)
        monkeypatch.delitem(sys.modules, one.module, raising=False)
    module = importlib.import_module(assignment.module)
    found = doctest.testmod(module)
    for one in COURSE.assignments:
        sys.modules.pop(one.module, None)
    assert found.attempted
    assert (found.failed, capsys.readouterr().out) == (0, "")
