"""The tiers of tests: no promise of the README is left to the long proof alone."""

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from groups import ALONE, group_of
from promises import promised, promises


def without_a_test(wanted: dict[str, list[str]], left: Counter[str]) -> list[str]:
    """The promises that no test is left for."""
    return [promise for promise, files in wanted.items() if not any(left[file] for file in files)]


def selection(makefile: str, target: str) -> str:
    """The expression of markers that a target of the Makefile selects tests by."""
    (found,) = re.findall(rf'^{target}:.*\n\t.*(?:SELECTED=|-m )"([^"]+)"$', makefile, re.MULTILINE)
    return str(found)


@pytest.fixture(scope="module")
def table(root: Path) -> dict[str, list[str]]:
    """The table as it stands."""
    return promised(root)


@pytest.fixture(scope="module")
def collected(root: Path, table: dict[str, list[str]]) -> Counter[str]:
    """How many tests `make test` collects in each file that the table names."""
    names = {name for files in table.values() for name in files}
    paths = [str(path) for path in (root / "tests").rglob("test_*.py") if path.stem in names]
    expression = selection((root / "Makefile").read_text("utf-8"), "test")
    options = ("--collect-only", "-q", "-p", "no:randomly")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, "-m", expression, *paths],
        cwd=root,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found = [line.partition("::")[0] for line in done.stdout.splitlines() if "::" in line]
    return Counter(Path(path).stem for path in found)


@pytest.mark.proof
def test_every_promise_has_a_test_in_make_test(
    table: dict[str, list[str]], collected: Counter[str]
) -> None:
    """At least one of the files that the table names has a test left that is no proof."""
    assert len(table) >= 10
    assert [promise for promise, files in table.items() if not files] == []
    assert without_a_test(table, collected) == []


@pytest.mark.proof
def test_every_file_that_the_table_names_is_in_make_test(
    table: dict[str, list[str]], collected: Counter[str]
) -> None:
    """A file that is missing, or has nothing but proofs, promises what nobody looks at."""
    named = {file for files in table.values() for file in files}
    assert sorted(named - collected.keys()) == []


def test_a_promise_without_a_test_is_found() -> None:
    """In a table of three promises, of which one lost its last test and one its file."""
    text = (
        "| promise | attacked in |\n|---|---|\n"
        "| a | `test_one`, `tests/attacks/test_two.py` |\n"
        "| b | `test_two` (both ways) |\n"
        "| c | and a look around |\n\nMore.\n"
    )
    wanted = promises(text)
    assert wanted == {"a": ["test_one", "test_two"], "b": ["test_two"], "c": []}
    assert without_a_test(wanted, Counter(test_one=3)) == ["b", "c"]


def test_the_tiers_are_what_the_makefile_says(root: Path) -> None:
    """Each has all of the one before; together with the rest, `make test` is everything."""
    makefile = (root / "Makefile").read_text("utf-8")
    assert [selection(makefile, name) for name in ("quick", "test", "rest")] == [
        "not slow and not proof",
        "not proof",
        "proof",
    ]
    assert re.search(r"^proof: test rest$", makefile, re.MULTILINE)


def test_files_that_share_something_dear_stay_on_one_worker() -> None:
    """By their group; any other file stands for itself."""
    released = {group_of(f"tests/course/{name}.py") for name in ("test_release", "test_workflows")}
    assert released == {"release"}
    assert group_of("tests/course/test_tiers.py") == "tests/course/test_tiers.py"
    assert group_of("tests/example_class/test_reports.py") == "example class"
    assert group_of("tests/attacks/test_teeth.py") == ALONE
    assert group_of("tests/attacks/test_lying.py") == "attacks"
