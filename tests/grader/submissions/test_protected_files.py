"""The list of protected files: what differs from it is told."""

import pytest

from grader.submissions.protected_files import (
    PROTECTED,
    Change,
    fingerprint,
    protected_list,
    protection,
)

FILES = {
    "course.toml": b"title\n",
    "tests/checks/01_a/test_visible.py": b"assert True\n",
    "grader/cli.py": b"\r\n\x00",
}


@pytest.fixture
def repository(tmp_path):
    """A student repository as it was released."""
    for name, content in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    (tmp_path / PROTECTED).write_text(protected_list(FILES), "utf-8", newline="\n")
    return tmp_path


def test_a_repository_as_released_has_no_changes(repository) -> None:
    """The fingerprint is the list's own; the students' own files do not count."""
    (repository / "assignments").mkdir()
    (repository / "assignments" / "a.py").write_text("x = 1\n")
    (repository / "grader" / "__pycache__").mkdir()
    (repository / "grader" / "__pycache__" / "cli.pyc").write_bytes(b"")
    found = protection(repository)
    assert (found.fingerprint, found.changes) == (fingerprint(protected_list(FILES)), ())


def test_the_list_is_one_that_sha256sum_reads() -> None:
    """Its form, in the order of the paths."""
    lines = protected_list(FILES).splitlines()
    assert [line[64:] for line in lines] == [f"  {name}" for name in sorted(FILES)]


def test_changed_missing_and_added_files_are_told(repository) -> None:
    """By path."""
    (repository / "course.toml").write_bytes(b"another title\n")
    (repository / "grader" / "cli.py").unlink()
    (repository / "tests" / "checks" / "conftest.py").write_text("")
    assert protection(repository).changes == (
        Change("course.toml", "changed"),
        Change("grader/cli.py", "missing"),
        Change("tests/checks/conftest.py", "added"),
    )


def test_a_changed_list_has_another_fingerprint(repository) -> None:
    """Whoever makes a list of their own is told apart by it."""
    before = protection(repository).fingerprint
    (repository / PROTECTED).write_text(protected_list({"course.toml": b"mine\n"}), "utf-8")
    assert protection(repository).fingerprint != before


def test_without_a_list_nothing_is_protected(tmp_path) -> None:
    """The course itself has none."""
    assert protection(tmp_path) is None
