"""Tests of the notebook that the form grader opens: a student's code in the answer cells."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.course.course import Course, load_course
from grader.extras.nbgrader.gradebook import answered_notebook
from grader.release.solution_cells import read_solution
from grader.submissions.submission import read_submission

WEIGHTS = "@cache\ndef weights(raw):\n    return raw"
MIXTURE = "class Mixture:\n    pass"
Shown = Callable[..., tuple[list[str], list[str]]]
NOTHING = "# Mixture was not found in what was handed in."


@pytest.fixture(scope="module")
def course(course_folder: Path) -> Course:
    """The example course."""
    return load_course(course_folder)


@pytest.fixture
def shown(course: Course, tmp_path: Path) -> Shown:
    """Hands in a file for the second assignment; the answer cells, and what stands below."""

    def hand_in(name: str, *texts: str) -> tuple[list[str], list[str]]:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        cells = [{"cell_type": "code", "source": text} for text in texts]
        is_script = path.suffix == ".py"
        path.write_text(texts[0] if is_script else json.dumps({"cells": cells}), "utf-8")
        source = read_solution(course.assignments[1], course.paths(course.assignments[1]).solution)
        submission = read_submission(course, tmp_path, "ada")
        made = json.loads(answered_notebook(submission, source))["cells"]
        answers = [c for c in made if c["metadata"].get("nbgrader", {}).get("solution")]
        last = max(i for i, c in enumerate(made) if c["id"].startswith("test_"))
        return [c["source"] for c in answers], [c["source"] for c in made[last + 1 :]]

    return hand_in


def test_a_scripts_definitions_stand_in_the_answer_cells(shown: Shown) -> None:
    """With decorators and the comments right above; the whole file stands below."""
    text = f"import x\n\n# mine\n{WEIGHTS}\n\n\nHELPER = 1\n# %%\n{MIXTURE}\n"
    answers, below = shown("02_mixture/mixture.py", text)
    assert answers == [f"# mine\n{WEIGHTS}", MIXTURE]
    assert below == ["**The file as handed in: `02_mixture/mixture.py`**", text]


def test_a_notebooks_cells_stand_in_the_answer_cells(shown: Shown) -> None:
    """Whole, where they define one thing; the last definition wins; the others stand below."""
    answers, below = shown(
        "02_mixture/mixture.ipynb", "def weights(raw): ...", f"%time\n{WEIGHTS}\nprint(1)", "HELP"
    )
    assert answers == [f"%time\n{WEIGHTS}\nprint(1)", NOTHING]
    title = "**The other cells of `02_mixture/mixture.ipynb`**"
    assert below == [title, "def weights(raw): ...", "HELP"]


def test_one_cell_with_everything_is_taken_apart(shown: Shown) -> None:
    """Also in a file of another name that defines everything."""
    answers, _ = shown("everything.ipynb", f"{WEIGHTS}\n\n{MIXTURE}")
    assert answers == [WEIGHTS, MIXTURE]


def test_what_is_no_python_stands_below(shown: Shown) -> None:
    """Nobody's work is hidden from who grades by hand."""
    answers, below = shown("02_mixture/mixture.py", "def weights(raw)\n    return raw\n")
    assert answers[1] == NOTHING
    assert below[1:] == ["def weights(raw)\n    return raw\n"]
