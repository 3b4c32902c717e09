"""The package imports one way, and what runs beside student code imports next to nothing.

The layers themselves stand in `pyproject.toml`, as contracts of import-linter.
"""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest
from importlinter.cli import lint_imports

ENDS = re.compile(r"\b(print|exit|quit)\(")
EDGES = ("cli/", "notebook.py", "charts.py")
"""What may print and exit: the command line, and what a notebook's cell calls."""


def test_imports_go_one_way(root: Path) -> None:
    """Every contract on imports holds."""
    config = str(root / "pyproject.toml")
    assert lint_imports(config_filename=config, no_cache=True, no_logo=True) == 0


def test_the_sandbox_imports_the_standard_library_and_torch_only(root: Path) -> None:
    """Nothing else has to be readable where student code runs."""
    imported = set()
    for path in sorted((root / "grader" / "sandbox").glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                imported |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                imported.add(node.module or "")
    tops = {name.partition(".")[0] for name in imported if not name.startswith("grader.sandbox")}
    assert tops - sys.stdlib_module_names == {"torch"}


def test_only_the_edges_print_or_exit(root: Path) -> None:
    """`print` and `sys.exit` belong to the command line and to notebooks."""
    for path in sorted((root / "grader").rglob("*.py")):
        if path.relative_to(root / "grader").as_posix().startswith(EDGES):
            continue
        text = path.read_text("utf-8")
        if not ENDS.search(text):
            continue
        calls = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call))
        called = {ast.unparse(call.func) for call in calls}
        assert not called & {"print", "sys.exit", "exit", "quit"}, path


@pytest.mark.slow
def test_help_imports_neither_torch_nor_nbgrader() -> None:
    """`grader --help` is quick because it imports only what it shows."""
    code = (
        "import sys\n"
        "from grader.cli import cli\n"
        "try:\n    cli.main(['--help'], prog_name='grader')\n"
        "except SystemExit:\n    pass\n"
        "print(sorted({'torch', 'nbgrader', 'pytest', 'nbformat', 'numpy'} & set(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.splitlines()[-1] == "[]"


def imported_by(arguments: list[str], names: set[str], folder: Path) -> str:
    """Which modules whose names begin so a command has imported when it ends."""
    code = (
        "import sys\n"
        "from grader.cli import cli\n"
        f"try:\n    cli.main({arguments}, prog_name='grader')\n"
        "except SystemExit:\n    pass\n"
        f"print(sorted(name for name in sys.modules if name.startswith({(*names,)})))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
        cwd=folder,
    )
    return done.stdout.splitlines()[-1]


@pytest.mark.slow
def test_a_students_command_never_imports_nbgrader(example_course: Path) -> None:
    """`grader check` works where nbgrader is not installed; of stubs no view and no style is shown."""
    extras = {"nbgrader", "jupytext", "libcst", "nbformat", "grader.extras."}
    assert imported_by(["check", "01"], extras, example_course) == "[]"


@pytest.mark.proof
def test_grade_imports_nbgrader_only_for_a_gradebook(root: Path, tmp_path: Path) -> None:
    """A class can be graded where nbgrader is not installed."""
    work = root / "tests" / "example_class" / "submissions" / "renamed_file"
    arguments = ["grade", str(work), "--out", str(tmp_path), "--isolation", "process"]
    assert imported_by(arguments, {"nbgrader", "sqlalchemy", "alembic", "jupytext"}, root) == "[]"
    assert (tmp_path / "scores.csv").is_file()
