"""Each benchmark runs at its smallest size, so that no renaming breaks one unnoticed."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
SMALL_COURSE = HERE.parent / "example_course"
SMALLEST = {
    "busy": ("busy.py", "--loops", "1", "--assignment", "01", "--no-class"),
    "isolation": ("isolation.py", "--rounds", "1", "--course", "COURSE"),
    "student": ("throughput.py", "--only", "student", "--rounds", "3", "--course", "COURSE"),
    "optional": ("throughput.py", "--only", "optional", "--rounds", "1", "--course", "COURSE"),
    "workers": ("throughput.py", "--only", "workers", "--rounds", "1", "--course", "COURSE"),
    "nbgrader": ("throughput.py", "--only", "nbgrader", "--course", "COURSE"),
    "class": ("throughput.py", "--only", "class", "--students", "3", "--course", "COURSE"),
    "check": ("throughput.py", "--only", "check", "--rounds", "1", "--course", "COURSE"),
    "names": ("names.py", "--mutants", "2", "--pairs", "1", "--jobs", "1", "--course", "COURSE"),
    "pairs": (
        *("pairs.py", "--old", "KIT", "--only", "students", "--sizes", "11"),
        *("--kinds", "words", "--rounds", "1", "--warm-up", "0"),
    ),
    "leave_one_out": ("leave_one_out.py", "--mistakes", "1", "--jobs", "1", "--course", "COURSE"),
    "watch": ("watch.py", "--rounds", "1"),
    "scale": ("scale.py", "--sizes", "8", "--first", "1"),
    "similar": ("similar.py", "--size", "12"),
    "copies": ("similar.py", "--seed", "1"),
    "term": ("term.py", "--honest", "8", "--copies", "2"),
}
LONG = ("busy", "copies", "pairs", "scale", "student", "term", "watch", "workers")


def case(name: str) -> object:
    """A benchmark's smallest run, marked by how long it takes."""
    marks = [pytest.mark.long] if name in LONG else []
    return pytest.param(*SMALLEST[name][:1], SMALLEST[name][1:], id=name, marks=marks)


@pytest.mark.slow
@pytest.mark.proof
@pytest.mark.parametrize(("program", "words"), [case(name) for name in SMALLEST])
def test_a_benchmark_runs_at_its_smallest_size(
    program: str, words: tuple[str, ...], tmp_path: Path
) -> None:
    """It prints a table or its figures, and ends well or with 1, which is its verdict."""
    course = tmp_path / "course"
    shutil.copytree(SMALL_COURSE, course)
    command = [sys.executable, str(HERE / program), *words]
    places = {"COURSE": str(course), "KIT": str(HERE.parents[1])}
    command = [places.get(word, word) for word in command]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=900)
    assert "Traceback" not in done.stderr, done.stderr
    assert done.returncode in (0, 1), done.stderr
    assert any(character.isdigit() for character in done.stdout), done.stdout
