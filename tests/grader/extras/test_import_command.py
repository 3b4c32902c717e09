"""Tests of `grader import`, from the notebook to the scores."""

import shutil
from pathlib import Path

import pytest

from grader.course.course import load_course

NOTEBOOKS = Path(__file__).parents[1] / "extras" / "notebooks"
EXAMPLES = {
    "otter": ("moments", {"weighted_mean": 2, "spread": 5, "WITHIN_ONE": 1}),
    "nbgrader": ("distances", {"manhattan": 2, "scaled": 1.5, "Distance": 2}),
}
"""Of each system, the notebook's title and the points of its exercises."""


@pytest.mark.slow
@pytest.mark.parametrize("system", EXAMPLES)
def test_a_notebook_is_a_course_that_holds(
    grader, folder: Path, root: Path, system: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it says stands in `docs/from_SYSTEM.md`; `validate` is green, a solution earns all, a stub nothing."""
    monkeypatch.chdir(tmp_path)
    title, points = EXAMPLES[system]
    path = f"{system}_{title}.ipynb"
    shutil.copy(NOTEBOOKS / path, tmp_path)
    ran = grader("import", system, path, "--to", title, "--assignment", f"01_{title}")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out in (root / "docs" / f"from_{system}.md").read_text("utf-8")
    course = tmp_path / title
    made = load_course(course)
    assert {exercise.name: exercise.points for exercise in made.exercises.values()} == points
    monkeypatch.chdir(course)
    for name_of_file in ("pyproject.toml", "constraints.txt", "LICENSE"):
        (course / name_of_file).write_text(f"{name_of_file} of the course\n", "utf-8")
    ran = grader("validate")
    assert (ran.code, ran.lines[-1]) == (0, "The course keeps its promises.")
    for student, source in (("right", "solutions"), ("stub", "assignments")):
        hand_in = tmp_path / "class" / student / f"{title}.py"
        hand_in.parent.mkdir(parents=True)
        shutil.copy(course / source / f"01_{title}" / f"{title}.py", hand_in)
    ran = grader("grade", tmp_path / "class", "--out", tmp_path / "graded", "--jobs", 1)
    assert (ran.code, ran.err) == (0, "")
    scores = (tmp_path / "graded" / "scores.csv").read_text("utf-8").splitlines()
    total = str(made.max_score)
    assert [line.split(",")[:3] for line in scores[1:]] == [
        ["right", total, total],
        ["stub", "0", total],
    ]


@pytest.mark.proof
def test_a_notebook_is_added_to_the_course_of_the_folder(grader, folder: Path) -> None:
    """Under the id that is asked for; what is there stays, and the course's total grows."""
    path = NOTEBOOKS / "nbgrader_distances.ipynb"
    before = (folder / "course.toml").read_text("utf-8")
    ran = grader("import", "nbgrader", path, "--assignment", "05_distances")
    assert (ran.code, ran.err) == (0, "")
    assert ran.lines[0] == "05_distances: 3 exercises, 5.5 points"
    course = load_course(folder)
    assert (course.points, course.max_score, course.points_problem) == (11.5, 11.5, "")
    after = (folder / "course.toml").read_text("utf-8")
    assert after.startswith(before.replace("points = 6", "points = 11.5"))
    assert grader("generate", "--check").code == 0
    ran = grader("import", "nbgrader", path, "--assignment", "05_distances")
    assert ran.code == 2
    assert "05_distances has the number or the name of 05_distances" in ran.err


def test_a_course_is_no_empty_folder(grader, folder: Path) -> None:
    """It says what to do instead."""
    ran = grader("import", "otter", NOTEBOOKS / "otter_moments.ipynb", "--to", folder)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == f"{folder} is a course already. Run the command in it, without --to.\n"
