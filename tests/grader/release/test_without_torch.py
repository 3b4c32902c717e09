"""A course of Python's own values is released, checked and graded without torch."""

import ast
import os
import re
import subprocess
import sys
import tomllib
from importlib.metadata import requires
from pathlib import Path

import pytest

import grader
from grader.authoring.new import new_course
from grader.core.files import write_all
from grader.core.kit import KIT_NAME
from grader.course.course import load_course
from grader.release.students import students, write_release

WITHOUT = """\
import sys


class NotInstalled:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "torch":
            raise ModuleNotFoundError("No module named 'torch'", name="torch")


sys.meta_path.insert(0, NotInstalled())
from grader.cli import main

main()
"""


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new course of plain values."""
    folder = tmp_path_factory.mktemp("plain") / "course"
    write_all(new_course("Words", "01_words", "plain"), folder)
    return folder


@pytest.fixture(scope="module")
def released(course: Path) -> Path:
    """Its copy for students."""
    folder = course.with_name("released")
    write_release(load_course(course), folder, students)
    return folder


def run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Run a command where torch is not installed."""
    environment = {**os.environ, "GRADER_CACHE": ""}
    line = [sys.executable, "-c", WITHOUT, *command]
    return subprocess.run(
        line, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def test_its_copy_asks_for_no_torch(released: Path, example_course: Path) -> None:
    """Neither the project nor what is said of installing it; a course of tensors does."""
    project = tomllib.loads((released / "pyproject.toml").read_text("utf-8"))
    assert not [line for line in project["project"]["dependencies"] if line.startswith("torch")]
    for name in ("README.md", ".devcontainer/devcontainer.json"):
        text = (released / name).read_text("utf-8")
        assert "torch" not in text.casefold()
    assert "- **Windows cannot find" in (released / "README.md").read_text("utf-8")
    assert load_course(example_course).needs_torch


def test_what_torch_brings_along_is_asked_for_where_the_kit_imports_it() -> None:
    """Without torch it would not be there."""
    brought = {_name(line) for line in requires("torch") or () if "extra ==" not in line}
    asked = {_name(line) for line in requires(KIT_NAME) or ()}
    trees = [ast.parse(path.read_bytes()) for path in Path(grader.__file__).parent.rglob("*.py")]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    imported = {
        alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names
    }
    imported |= {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
    names = {_name(name.partition(".")[0]) for name in imported}
    assert {"filelock", "jinja2"} <= names & brought <= asked


def _name(requirement: str) -> str:
    """A requirement's name, as indexes compare it."""
    return re.split(r"[^\w.-]", requirement, maxsplit=1)[0].lower().replace("_", "-")


@pytest.mark.slow
def test_students_check_their_work_where_torch_is_not_installed(
    course: Path, released: Path, tmp_path: Path
) -> None:
    """What is right passes; a mistake has its name and its values; the stub is not attempted."""
    solutions = course / "solutions"
    right = run(released, "check", "--submission", str(solutions))
    assert (right.returncode, right.stderr) == (0, "")
    mistaken = run(released, "check", "--submission", "../course/tests/example_class/one_mistake")
    assert mistaken.returncode == 1
    assert "This looks like a known mistake:" in mistaken.stdout
    assert "expected 0.210819" in mistaken.stdout
    assert "not attempted yet" in run(released, "check").stdout


@pytest.mark.slow
@pytest.mark.only_on("linux", reason="only Linux can seal")
def test_a_class_is_graded_where_torch_is_not_installed(course: Path, tmp_path: Path) -> None:
    """By hidden checks, and with the name of a mistake."""
    run_ = run(
        course, "grade", "tests/example_class", "--out", str(tmp_path / "out"), "--jobs", "1"
    )
    assert run_.returncode == 0, run_.stderr
    assert "standardize-by-variance" in run_.stdout
