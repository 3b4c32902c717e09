"""The modules of the package import only downwards."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

LAYERS = [
    "errors model",
    "language",
    "text drawing classlists protected",
    "wire sealing",
    "sources",
    "servant",
    "serving",
    "manifest",
    "course",
    "notebooks hints",
    "defects",
    "submission misconceptions",
    "sessions.base",
    "sessions.in_process sessions.launchers sessions.traced",
    "sessions.child",
    "handle ledger draw",
    "judging sessions.sealed",
    "messages diagnosis places",
    "pictures recording scoring results versions",
    "outputs",
    "memory",
    "standing advice",
    "watching",
    "reports.base",
    "reports.junit reports.github reports.classroom50 reports.github_legacy reports.gradescope",
    "reports.scores reports.writing",
    "reports.gradebooks",
    "reports.standing",
    "reports.insights reports.html.heatmap",
    "reports.html.views",
    "reports.html.class_views",
    "reports.html.pages",
    "reports.html.report",
    "reports.registry",
    "workbench",
    "replay",
    "checks",
    "pytest_plugin",
    "catalogue",
    "grading",
    "classroom handed_in orders archives repositories authoring.source authoring.bernoulli authoring.prose",
    "station journal downloads",
    "class_run pool cluster arrivals",
    "authoring.generate authoring.record authoring.catalogues",
    "release.students release.clearing",
    "release.github release.gradescope release.nbgrader",
    "authoring.validate",
    "gradebook.store gradebook.comments gradebook.answers",
    "gradebook.structure gradebook.scores",
    "gradebook.fill",
    "desk",
    "cli.pictures",
    "cli.render cli.edge cli.progress cli.keys cli.streams cli.advice",
    "cli.loop",
    "cli.gradebook",
    "notebook cli.check cli.watch cli.status cli.hint cli.grade cli.author cli.doctor cli.gradescope",
    "cli",
    "cli.__main__",
]
"""Each line imports only from lines above it (and `cli.check` from nothing beside it)."""

LEVEL = {name: level for level, line in enumerate(LAYERS) for name in line.split()}
SANDBOX = {"wire", "sealing", "sources", "servant", "serving"}


def modules(root: Path) -> dict[str, Path]:
    """All modules of the package by dotted name, packages that only document left out."""
    package = root / "grader"
    found = {}
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package).with_suffix("").parts
        name = ".".join(part for part in parts if part != "__init__")
        if name:
            found[name] = path
    empty = [name for name in found if found[name].name == "__init__.py" and name != "cli"]
    return {name: path for name, path in found.items() if name not in empty}


def imports(path: Path) -> set[str]:
    """The modules of the package that a module imports, wherever in its text."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("grader."):
            module = (node.module or "").removeprefix("grader.")
            inner = {f"{module}.{alias.name}" for alias in node.names} & LEVEL.keys()
            names |= inner or {module}
        elif isinstance(node, ast.ImportFrom) and node.module == "grader":
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.Import):
            names |= {a.name.removeprefix("grader.") for a in node.names if "grader." in a.name}
    return names


def test_every_module_has_its_layer(root: Path) -> None:
    """A new module is given its place in the table."""
    assert modules(root).keys() == LEVEL.keys()


@pytest.mark.parametrize("name", LEVEL)
def test_a_module_imports_only_from_layers_above_its_own_line(root: Path, name: str) -> None:
    """Imports go one way."""
    for imported in imports(modules(root)[name]):
        assert LEVEL[imported] < LEVEL[name], f"{name} imports {imported}"


@pytest.mark.parametrize("name", sorted(SANDBOX))
def test_what_runs_beside_student_code_imports_only_its_own_kind(root: Path, name: str) -> None:
    """The sandbox holds wire, sources, servant and serving, and nothing else of ours."""
    assert imports(modules(root)[name]) <= SANDBOX


@pytest.mark.parametrize(
    "name", sorted(set(LEVEL) - {"cli", "cli.render cli.progress", "notebook"})
)
def test_only_the_edges_print_or_exit(root: Path, name: str) -> None:
    """`print` and `sys.exit` belong to the command line and to notebooks."""
    if name.startswith("cli."):
        return
    tree = ast.parse(modules(root)[name].read_text("utf-8"))
    called = {ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    assert not called & {"print", "sys.exit", "exit", "quit"}


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
    """Which of these modules a command has imported when it ends."""
    code = (
        "import sys\n"
        "from grader.cli import cli\n"
        f"try:\n    cli.main({arguments}, prog_name='grader')\n"
        "except SystemExit:\n    pass\n"
        f"print(sorted({names} & set(sys.modules)))\n"
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
def test_a_students_command_never_imports_nbgrader(root: Path) -> None:
    """`grader check` works where nbgrader is not installed."""
    assert imported_by(["check", "01"], {"nbgrader", "jupytext", "nbformat"}, root) == "[]"


@pytest.mark.slow
def test_grade_imports_nbgrader_only_for_a_gradebook(root: Path, tmp_path: Path) -> None:
    """A class can be graded where nbgrader is not installed."""
    work = root / "tests" / "example_class" / "submissions" / "scale_forgotten"
    arguments = ["grade", str(work), "--out", str(tmp_path), "--isolation", "process"]
    assert imported_by(arguments, {"nbgrader", "sqlalchemy", "alembic", "jupytext"}, root) == "[]"
    assert (tmp_path / "scores.csv").is_file()
