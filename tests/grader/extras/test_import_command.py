"""Tests of `grader import`, from the notebook to the scores."""

import re
import shutil
import sys
from pathlib import Path

import pytest

NOTEBOOKS = Path(__file__).parents[1] / "extras" / "notebooks"
EXAMPLES = {"otter": "otter_moments", "nbgrader": "nbgrader_distances"}

MISTAKES = {
    "weighted_mean": ("sum(weights)", "len(weights)"),
    "spread": (".mean(dim=0)", ".sum(dim=0)"),
    "WITHIN_ONE": ("0.68", "0.95"),
    "manhattan": ("abs(x - y)", "(x - y) ** 2"),
    "scaled": ("values / scale", "values * scale"),
    "Distance": (".sqrt()", ""),
}
"""What the test fills in for `raise ValueError('TODO')`: an edit of the line above it."""

UNWRITTEN = {
    "test_cell_25": 'judge(student.call("spread", torch.tensor([[1.0, 2.0], [5.0, 9.0]])).value, torch.tensor([4.0, 12.25]))',
    "test_cell_9": 'judge(student.call(student.call("Distance", 3).value, torch.zeros(1, 3)).value, '
    "torch.tensor([12**0.5]))",
}
"""What it writes in place of the checks that were not plain."""


def filled(folder: Path) -> None:
    """Replace every TODO of an imported course, as its author would."""
    (mistakes,) = folder.glob("solutions/*/misconceptions.toml")
    parts = mistakes.read_text("utf-8").split("[[misconceptions]]")
    text = parts[0]
    for part in parts[1:]:
        name = re.search('exercise = "(.+)"', part)[1]  # type: ignore[index]
        find = re.search("find = '''\n(.+?)'''", part, re.DOTALL)[1]  # type: ignore[index]
        edited = find.replace(*MISTAKES[name])
        assert edited != find
        part = re.sub(
            "replace = '''\n.+?'''",
            lambda _, e=edited: f"replace = '''\n{e}'''",
            part,
            flags=re.DOTALL,
        )
        text += "[[misconceptions]]" + part.replace("todo-", "slip-")
    mistakes.write_text(re.sub(r'"TODO: [^"]+"', '"What does it do?"', text), "utf-8")
    for path in folder.glob("tests/checks/*/*.py"):
        text = re.sub(
            r"TODO: say what should hold; [^\n]+", 'It should hold."""', path.read_text("utf-8")
        )
        for name, line in UNWRITTEN.items():
            body = rf"(def {name}\(.+?\n.+?\n)(?:\s+#[^\n]+\n)+\s+judge.that\([^\n]+"
            text = re.sub(body, lambda match, line=line: f"{match[1]}        {line}", text)
        path.write_text(text, "utf-8")
    for path in folder.glob("solutions/*/hints.toml"):
        path.write_text(path.read_text("utf-8").replace("TODO: ", "Think: "), "utf-8")
    for name in ("pyproject.toml", "constraints.txt", "LICENSE"):
        (folder / name).write_text(f"{name} of the course\n", "utf-8")


@pytest.mark.parametrize("system", EXAMPLES)
def test_a_notebook_is_a_course_once_its_todos_are_filled_in(
    grader, folder: Path, system: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before that `validate` names what is not written; then a solution earns all, a stub nothing."""
    course, name = tmp_path / "new", EXAMPLES[system]
    ran = grader("import", system, NOTEBOOKS / f"{name}.ipynb", "--to", course)
    assert (ran.code, ran.err) == (0, "")
    assert f"written: ../new/solutions/01_{name}/{name}.py" in ran.lines
    assert ran.lines[-1] == "Now fill in each TODO; `grader validate 01` says what is still open."
    monkeypatch.chdir(course)
    ran = grader("validate", "01")
    unwritten = [line for line in ran.lines if line.endswith("TODO: this check is not written yet")]
    assert (ran.code, len(unwritten)) == (1, 1)
    assert f"solutions/01_{name}/hints.toml:2: still to be written: a question that" in ran.out
    filled(course)
    for module in [module for module in sys.modules if module.startswith("tests.checks")]:
        monkeypatch.delitem(sys.modules, module)  # as it was before it was filled in
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
