"""Tests of `grader import`, from the notebook to the scores."""

import shutil
from pathlib import Path

import pytest

NOTEBOOKS = Path(__file__).parents[1] / "extras" / "notebooks"
EXAMPLES = {"otter": "otter_moments", "nbgrader": "nbgrader_distances"}


@pytest.mark.parametrize("system", EXAMPLES)
def test_a_notebook_is_a_course_that_holds(
    grader, folder: Path, system: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At once: `validate` is green, a solution earns all, and a stub nothing."""
    course, name = tmp_path / "new", EXAMPLES[system]
    ran = grader("import", system, NOTEBOOKS / f"{name}.ipynb", "--to", course)
    assert (ran.code, ran.err) == (0, "")
    assert f"written: ../new/solutions/01_{name}/{name}.py" in ran.lines
    assert ran.lines[-1] == "`grader validate 01` says what is left to decide."
    monkeypatch.chdir(course)
    for name_of_file in ("pyproject.toml", "constraints.txt", "LICENSE"):
        (course / name_of_file).write_text(f"{name_of_file} of the course\n", "utf-8")
    ran = grader("validate")
    assert (ran.code, ran.lines[-1]) == (0, "The course keeps its promises.")
    for student, source in (("right", "solutions"), ("stub", "assignments")):
        hand_in = tmp_path / "class" / student / f"{name}.py"
        hand_in.parent.mkdir(parents=True)
        text = (course / source / f"01_{name}" / f"{name}.py").read_text("utf-8")
        hand_in.write_text(text, "utf-8")
    ran = grader("grade", tmp_path / "class", "--out", tmp_path / "graded", "--jobs", 1)
    assert (ran.code, ran.err) == (0, "")
    scores = (tmp_path / "graded" / "scores.csv").read_text("utf-8").splitlines()
    points = {"otter": "8", "nbgrader": "5.5"}[system]
    assert [line.split(",")[:3] for line in scores[1:]] == [
        ["right", points, points],
        ["stub", "0", points],
    ]


def test_a_notebook_is_added_to_the_course_of_the_folder(grader, folder: Path) -> None:
    """Under the id that is asked for; what is there already is left alone, and that is told."""
    path = NOTEBOOKS / "nbgrader_distances.ipynb"
    ran = grader("import", "nbgrader", path, "--assignment", "05_distances")
    assert (ran.code, ran.err) == (0, "")
    assert ran.lines[0] == "05_distances: 3 exercises, 5.5 points"
    assert "points = 11.5" in (folder / "course.toml").read_text("utf-8")
    assert grader("generate", "--check").code == 0
    ran = grader("import", "nbgrader", path, "--assignment", "05_distances")
    assert ran.code == 2
    assert "05_distances has the number or the name of 05_distances" in ran.err


def test_a_course_is_no_empty_folder(grader, folder: Path) -> None:
    """It says what to do instead."""
    ran = grader("import", "otter", NOTEBOOKS / "otter_moments.ipynb", "--to", folder)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == f"{folder} is a course already. Run the command in it, without --to.\n"


@pytest.mark.parametrize(("system", "title"), [("otter", "moments"), ("nbgrader", "distances")])
def test_the_page_shows_what_the_command_prints(
    grader, root: Path, system: str, title: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The worked example of `docs/from_otter.md` and `docs/from_nbgrader.md`."""
    monkeypatch.chdir(tmp_path)
    path = f"{system}_{title}.ipynb"
    shutil.copy(NOTEBOOKS / path, tmp_path)
    ran = grader("import", system, path, "--to", title, "--assignment", f"01_{title}")
    assert ran.code == 0
    assert ran.out in (root / "docs" / f"from_{system}.md").read_text("utf-8")
