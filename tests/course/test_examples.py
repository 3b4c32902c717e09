"""The examples in the solutions' docstrings, which students read, are what the solutions return."""

from pathlib import Path

import pytest

from grader.authoring.file_proofs import wrong_examples
from grader.course.course import load_course

COURSE = load_course(Path(__file__).parents[2])


@pytest.mark.parametrize("assignment", COURSE.assignments, ids=lambda assignment: assignment.id)
def test_the_examples_of_docstrings_are_true(assignment) -> None:
    """Printed figures included; what is drawn has a seed."""
    assert ">>> " in COURSE.paths(assignment).solution.read_text("utf-8")
    assert wrong_examples(COURSE, assignment) == []
