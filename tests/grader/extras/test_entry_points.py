"""Tests of entry points: what another package adds, as the page on it shows, and when it is loaded."""

import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from grader.core import kit
from grader.core.entry_points import entries, load, of_address
from grader.core.errors import UsageError
from grader.reports.base import graded

BLOCK = re.compile(r"(?ms)^```(\w+)\n(.*?)^```")


@pytest.fixture
def project(root: Path, tmp_path: Path) -> Path:
    """The package that the page shows, as its author writes it."""
    blocks = BLOCK.findall((root / "docs" / "extending.md").read_text("utf-8"))
    folder = tmp_path / "extension"
    folder.mkdir()
    for name, kind in (("pyproject.toml", "toml"), ("grader_extension.py", "python")):
        text = "\n".join(block for language, block in blocks if language == kind)
        (folder / name).write_text(text, "utf-8")
    return folder


@pytest.fixture
def installed(project: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The same, where Python finds it with its entry points."""
    content = tomllib.loads((project / "pyproject.toml").read_text("utf-8"))["project"]
    lines = []
    for group, added in content["entry-points"].items():
        lines += [f"[{group}]", *(f"{name} = {value}" for name, value in added.items())]
    info = project / "grader_extension-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: grader-extension\nVersion: 1\n")
    (info / "entry_points.txt").write_text("\n".join(lines))
    monkeypatch.syspath_prepend(project)
    entries.cache_clear()
    yield
    entries.cache_clear()
    sys.modules.pop("grader_extension", None)


def test_each_example_of_the_page_is_of_twenty_lines(project: Path) -> None:
    """Without what is empty."""
    code = (project / "grader_extension.py").read_text("utf-8")
    parts = code.split("# grader_extension.py, continued\n")
    assert [len(list(filter(str.strip, part.splitlines()))) <= 20 for part in parts] == [True, True]


@pytest.mark.usefixtures("installed")
def test_a_command_of_another_package_is_listed_and_runs(grader, folder) -> None:
    """Below the kit's own, without being loaded; its errors are sentences."""
    shown = grader("--help").out
    assert "From other packages:\n  points      List the assignments that are worth more" in shown
    assert "grader_extension" not in sys.modules
    ran = grader("points", "2")
    assert (ran.code, ran.out) == (0, "02_mixture: 4\n")
    ran = grader("points", "99")
    assert (ran.code, ran.err) == (2, "No assignment is worth more than 99.0 points.\n")


@pytest.mark.usefixtures("installed")
def test_a_report_of_another_package_is_made(class_run) -> None:
    """In a folder of its name."""
    (file,) = graded(["missing"], class_run)
    assert file.path == "missing/missing.csv"
    assert file.text.startswith("student,assignment\n")
    assert "nothing_handed_in," not in file.text


@pytest.mark.proof
def test_a_package_is_installed_with_pip(project: Path, course_copy: Path, tmp_path: Path) -> None:
    """As the page says, with its build backend."""
    place = tmp_path / "installed"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*pip, "--no-index", "--target", place, project], check=True)
    ran = subprocess.run(
        [sys.executable, "-m", "grader.cli", "points", "2"],
        cwd=course_copy,
        env={**os.environ, "PYTHONPATH": str(place)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "02_mixture: 4\n", "")


LOADED = """
import sys
from grader.cli import cli
try:
    cli.main(sys.argv[1:], standalone_mode=False)
except SystemExit:
    pass
loaded = [name for name, module in [*sys.modules.items()] if not hasattr(module, "__path__")]
print(sorted(name for name in loaded if name.startswith("grader.extras")))
"""


STATUS = pytest.param("status", ["grader.extras.predict"], marks=pytest.mark.proof)


@pytest.mark.slow
@pytest.mark.parametrize(("command", "used"), [("--help", []), STATUS])
def test_a_command_loads_no_extra_that_it_does_not_use(
    course_copy: Path, command: str, used: list[str]
) -> None:
    """What comes before an exercise may be a prediction; of `check`, see `tests/course/test_layers.py`."""
    ran = subprocess.run(
        [sys.executable, "-c", LOADED, command],
        cwd=course_copy,
        env={**os.environ, "XDG_STATE_HOME": str(course_copy / "state")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.stdout.splitlines()[-1:] == [str(used)], ran.stderr


def test_what_an_entry_needs_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where its extra is not installed; of another package it is that one's own affair."""
    monkeypatch.setattr(kit, "_origin", dict)
    value = "grader.extras.not_there:it"
    with pytest.raises(UsageError) as caught:
        load(EntryPoint("it", f"{value} [author]", "grader.commands"))
    assert str(caught.value) == (
        "it needs grader.extras.not_there, which is not installed. "
        "Run: pip install 'grader-kit[author]'."
    )
    with pytest.raises(ModuleNotFoundError):
        load(EntryPoint("it", value, "grader.commands"))


def test_every_entry_of_the_kit_is_there() -> None:
    """Each can be loaded."""
    for name, entry in entries("grader").items():
        assert load(entry) is not None, name


def test_an_address_may_name_the_entry() -> None:
    """What stands before its colon may be something else as well."""
    for address in ("nbgrader:x.db", "postgresql://user@host/name", "gradebook.db"):
        assert of_address("grader.gradebooks", address, "nbgrader").name == "nbgrader"
