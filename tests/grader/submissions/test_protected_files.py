"""The list of protected files: what differs from it is told."""

import pytest

from grader.submissions.protected_files import (
    PROTECTED,
    Change,
    fingerprint,
    protected_list,
    protection,
)
from tests.grader.submissions.conftest import put

FILES = {
    "course.toml": b"title\n",
    "tests/checks/01_a/test_visible.py": b"assert True\n",
    "grader/cli.py": b"\r\n\x00",
}


@pytest.fixture
def repository(tmp_path):
    """A student repository as it was released."""
    put(tmp_path, FILES)
    (tmp_path / PROTECTED).write_text(protected_list(FILES), "utf-8", newline="\n")
    return tmp_path


def test_a_repository_as_released_has_no_changes(repository):
    """The fingerprint is the list's own; the students' own files do not count."""
    put(repository, {"assignments/a.py": "x = 1\n", "grader/__pycache__/cli.pyc": b""})
    found = protection(repository)
    assert (found.fingerprint, found.changes) == (fingerprint(protected_list(FILES)), ())


def test_the_list_is_one_that_sha256sum_reads():
    """Its form, in the order of the paths."""
    lines = protected_list(FILES).splitlines()
    assert [line[64:] for line in lines] == [f"  {name}" for name in sorted(FILES)]


def test_changed_missing_and_added_files_are_told(repository):
    """By path."""
    put(repository, {"course.toml": "another title\n", "tests/checks/conftest.py": ""})
    (repository / "grader" / "cli.py").unlink()
    assert protection(repository).changes == (
        Change("course.toml", "changed"),
        Change("grader/cli.py", "missing"),
        Change("tests/checks/conftest.py", "added"),
    )


def test_a_changed_list_has_another_fingerprint(repository):
    """Whoever makes a list of their own is told apart by it."""
    before = protection(repository).fingerprint
    (repository / PROTECTED).write_text(protected_list({"course.toml": b"mine\n"}), "utf-8")
    assert protection(repository).fingerprint != before


def test_without_a_list_nothing_is_protected(tmp_path):
    """The course itself has none."""
    assert protection(tmp_path) is None
