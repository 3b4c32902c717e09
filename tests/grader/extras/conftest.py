"""Extras are tested with what the tests of commands and of reports have."""

from tests.grader.cli.conftest import edit, folder, grader, work
from tests.grader.reports.conftest import check_run, class_run, course, example_class

__all__ = ["check_run", "class_run", "course", "edit", "example_class", "folder", "grader", "work"]
