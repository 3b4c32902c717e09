"""Tests of `grader doctor` and `grader --help` in a student's copy."""

import importlib
from unittest.mock import Mock

import click
import pytest

from grader.cli import cli, doctor
from grader.cli.app import COMMANDS_BY_TASK, GRADE

pytestmark = pytest.mark.slow


@pytest.fixture
def copy(grader, folder, tmp_path, monkeypatch):
    """A students' copy, which is the current folder."""
    place = tmp_path / "released"
    (folder / "constraints.txt").write_text('torch==2.13.0 ; python_version >= "3.11"\n')
    assert grader("release", place, "--to", "students").code == 0
    monkeypatch.chdir(place)
    return place


def test_a_copy_that_can_work_is_told_so(grader, copy, monkeypatch) -> None:
    """Python, torch, the files, notebooks; nothing of seals. Work may change, and line ends."""
    monkeypatch.setattr(doctor, "_version", lambda name: "2.13.0+cpu")
    monkeypatch.setattr(doctor, "find_spec", lambda name: None)
    (copy / "assignments/01_scores/scores.py").write_text("mine", "utf-8")
    course = copy / "course.toml"
    course.write_bytes(course.read_bytes().replace(b"\n", b"\r\n"))
    ran = grader("doctor")
    assert (ran.code, ran.err) == (0, "")
    assert ran.lines[0].startswith("✓ Python 3.")
    assert ran.lines[1:] == [
        "✓ torch 2.13.0+cpu, as the course was made with",
        "✓ The copy's files are all there, and as released.",
        "· Jupyter is not installed in this Python. If you want notebooks: `pip install -c constraints.txt",
        "jupyterlab`",
        "All is well: `grader check` works here.",
    ]


def test_what_is_missing_or_changed_in_a_copy_is_named(grader, copy) -> None:
    """With what to do; it exits with 1."""
    (copy / "tests/checks/01_scores/recording.bin").unlink()
    (copy / "assignments/01_scores/scores.ipynb").unlink()
    with (copy / "tests/checks/02_mixture/test_visible.py").open("a") as file:
        file.write("# mine\n")
    ran = grader("doctor")
    assert ran.code == 1
    said = " ".join(ran.out.split())
    assert (
        "✗ 3 files of the copy are not as released. Take them from a new copy of the course; your "
        "work in assignments/ can stay." in said
    )
    assert "✗ assignments/01_scores/scores.ipynb: missing" in said
    assert "✗ tests/checks/01_scores/recording.bin: missing" in said
    assert "✗ tests/checks/02_mixture/test_visible.py: changed" in said
    assert "All is well" not in said


@pytest.mark.parametrize(
    ("version", "loads", "code", "said"),
    [
        ("2.6.0", True, 0, "~ torch 2.6.0; the course was made with 2.13.0."),
        ("2.6.0", False, 1, "✗ torch 2.6.0 is installed but cannot be loaded: a DLL is missing"),
        ("", False, 1, "✗ torch is not installed in this Python."),
    ],
)
def test_another_torch_is_told_and_none_is_a_fault(
    grader, copy, monkeypatch, version, loads, code, said
) -> None:
    """As is one that cannot be loaded."""
    monkeypatch.setattr(doctor, "_version", lambda name: version)
    if not loads:
        monkeypatch.setattr(
            importlib, "import_module", Mock(side_effect=OSError("a DLL is missing"))
        )
        monkeypatch.setattr(doctor, "find_spec", lambda name: None)
    ran = grader("doctor")
    assert (ran.code, said in ran.out) == (code, True)


def test_help_in_a_copy_lists_what_works_there(grader, folder, tmp_path, monkeypatch) -> None:
    """In the course itself they are listed by what one wants to do, each once, and all of them."""

    def listed(heading: str) -> list[str]:
        _head, _, commands = grader("--help").out.partition(f"{heading}:\n")
        return [line.split()[0] for line in commands.partition("\n\n")[0].splitlines()]

    students = ["check", "doctor", "hint", "pack", "predict", "show", "status", "styles", "watch"]
    work = ["check", "watch", "status", "hint", "show", "predict", "styles", "pack"]
    everything = [name for wish in COMMANDS_BY_TASK for name in listed(wish)]
    assert listed("Work on the exercises") == work
    assert listed("Look into what a class did") == ["explain", "compare", "similar", "learn"]
    assert sorted(everything) == cli.list_commands(click.Context(cli))
    assert "grader grade SUBMISSIONS" in grader("--help").out
    (tmp_path / "copy").mkdir()
    (tmp_path / "copy" / "course.toml").write_text("")
    monkeypatch.chdir(tmp_path / "copy")
    assert listed("Commands") == students
    assert "grader grade SUBMISSIONS" not in grader("--help").out


def test_a_command_without_a_place_of_its_own_is_in_the_section_of_its_group(grader, monkeypatch):
    """An instructors' command of another package, say, or a new one of the kit."""
    monkeypatch.setitem(COMMANDS_BY_TASK, GRADE, "release grade")
    _head, _, commands = grader("--help").out.partition(f"{GRADE}:\n")
    names = [line.split()[0] for line in commands.partition("\n\n")[0].splitlines()]
    assert names == ["release", "grade", "desk", "publish", "send"]
