"""nbgrader's own commands on the course folder that we release, with several ways of handing it in.

nbgrader starts a kernel for each submission: this is part of the proof, and all six ways of the long one.
"""

import csv
import json
import shutil
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from grader.core.records import ExerciseResult, Outcome, Visibility
from grader.judging.picture_layout import first_difference
from grader.judging.results import from_json
from grader.judging.scoring import exercise_score, total
from tests.grader.extras.nbgrader.conftest import grader_here, nbgrader, nbgrader_commands

pytestmark = [pytest.mark.proof, pytest.mark.xdist_group("nbgrader")]

ASSIGNMENT, MODULE = "02_mixture", "mixture"
IMPORTS = "import torch\nfrom scores import scores\nfrom torch import Tensor, nn"
WEIGHTS = "    return torch.softmax(raw, dim=-1)"
NOISY = """\
    import logging, sys, warnings
    warnings.warn("this is only a warning")
    logging.getLogger("noise").warning("and this is only a log")
    print("and this is only noise", file=sys.stderr)
    return torch.softmax(raw, dim=-1)"""
LOGGING = "import logging\nlogging.basicConfig(level='INFO')\n"
SUBMISSIONS: dict[str, dict[str, Any]] = {
    "perfect": {},
    "half": {"Mixture": None},
    "untouched": {"weights": None, "Mixture": None},
    "warns": {"": (IMPORTS, LOGGING + IMPORTS), "weights": (WEIGHTS, NOISY)},
    "fails_at_import": {"": (IMPORTS, f"import not_installed\n{IMPORTS}")},
    "mistaken": {"Mixture": ("@ self.W_value(x)", "@ self.W_key(x)")},
}
"""Per student and answer cell, the edit of the solution; None for the stub, "" for the imports."""

POINTS = {
    "perfect": 4,
    "half": 1,
    "untouched": 0,
    "warns": 4,
    "fails_at_import": 0,
    "mistaken": 3.1,
}
FEW = ("mistaken",)


@dataclass(frozen=True, slots=True)
class NbgraderFolder:
    """The folder that nbgrader worked in, and what its commands said.

    Args:
        folder: nbgrader's course folder.
        students: who handed something in.
        said: what nbgrader's commands wrote to stderr.
    """

    folder: Path
    students: tuple[str, ...]
    said: str

    def notebook(self, kind: str, student: str = "") -> dict[str, Any]:
        """The notebook in one of nbgrader's folders, cells by name."""
        path = self.folder / kind / student / ASSIGNMENT / f"{MODULE}.ipynb"
        return json.loads(path.read_text("utf-8"))

    def test_cell(self, student: str, exercise: str) -> dict[str, Any]:
        """A test cell as nbgrader ran it."""
        cells = self.notebook("autograded", student)["cells"]
        return next(cell for cell in cells if cell["id"] == f"test_{exercise}")


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(FEW, id="few"),
        pytest.param(tuple(SUBMISSIONS), id="all", marks=pytest.mark.long),
    ],
)
def place(
    course_folder: Path, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> NbgraderFolder:
    """A released course folder after nbgrader's whole way, from assignment to export."""
    folder = tmp_path_factory.mktemp("nbgrader") / "course"
    released = grader_here(course_folder, "release", str(folder), "--to", "nbgrader")
    assert released.code == 0, released.err
    assert not list(folder.rglob("test_hidden.py"))
    made = [("generate_assignment", id_) for id_ in ("01_scores", ASSIGNMENT)]
    said = nbgrader_commands(folder, *made)
    for student in request.param:
        hand_in(folder, student, SUBMISSIONS[student])
    said += nbgrader_commands(
        folder, ("autograde", ASSIGNMENT), ("generate_feedback", ASSIGNMENT), ("export",)
    )
    return NbgraderFolder(folder, request.param, said)


def hand_in(folder: Path, student: str, edits: dict[str, Any]) -> None:
    """Put a student's edits of the solution where nbgrader collects submissions."""
    for id_ in ("01_scores", ASSIGNMENT):
        shutil.copytree(folder / "release" / id_, folder / "submitted" / student / id_)
    for id_, module in (("01_scores", "scores"), (ASSIGNMENT, MODULE)):
        path = folder / "submitted" / student / id_ / f"{module}.ipynb"
        released = json.loads(path.read_text("utf-8"))
        solved = json.loads((folder / "source" / id_ / path.name).read_text("utf-8"))
        for cell, solution in zip(released["cells"], solved["cells"], strict=True):
            marks = cell["metadata"].get("nbgrader", {})
            text = "".join(solution["source"])
            if marks.get("solution"):
                cell["source"] = edited(cell, text, edits.get(marks["grade_id"], ()))
            elif text == IMPORTS:
                cell["source"] = edited(cell, text, edits.get("", ()))
        path.write_text(json.dumps(released), "utf-8")


def edited(cell: dict[str, Any], text: str, edit: tuple[str, str] | tuple[()] | None) -> str:
    """The solution's text with an edit; the stub's for None."""
    if edit is None:
        return "".join(cell["source"])
    if not edit:
        return text
    assert edit[0] in text
    return text.replace(*edit)


def exported(place: NbgraderFolder) -> dict[str, float]:
    """The scores that nbgrader exports, by student."""
    with (place.folder / "grades.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["assignment"] == ASSIGNMENT]
    return {row["student_id"]: float(row["score"]) for row in rows}


@pytest.fixture(scope="module")
def ours(course_folder: Path, place: NbgraderFolder) -> dict[str, list[ExerciseResult]]:
    """What our grader finds in the same files, by student: the exercises, visible checks only."""
    out = place.folder.parent / "out"
    arguments = ("--out", str(out), "--isolation", "process", "--jobs", "1")
    graded = grader_here(course_folder, "grade", str(place.folder / "submitted"), *arguments)
    assert graded.code == 0, graded.err
    found = {}
    for student in place.students:
        path = out / "results" / f"{student}.json"
        result = from_json(json.loads(path.read_text("utf-8")))
        (graded_one,) = (a for a in result.assignments if a.id == ASSIGNMENT)
        found[student] = [visible(exercise) for exercise in graded_one.exercises]
    return found


def visible(exercise: ExerciseResult) -> ExerciseResult:
    """An exercise as its visible checks alone judge it."""
    checks = tuple(c for c in exercise.checks if c.visibility is Visibility.VISIBLE)
    score = exercise_score(exercise.max_score, checks, exercise.findings)
    return replace(exercise, checks=checks, score=score)


def printed(cell: dict[str, Any]) -> str:
    """What a cell printed."""
    texts = [output["text"] for output in cell["outputs"] if output["output_type"] == "stream"]
    return "".join("".join(text) for text in texts)


def test_generated_assignments_are_our_student_notebooks(
    course_folder: Path, place: NbgraderFolder
) -> None:
    """Cell for cell: ids, texts and marks; nbgrader adds checksums and locks test cells."""
    theirs = place.notebook("release")["cells"]
    path = course_folder / "assignments" / ASSIGNMENT / f"{MODULE}.ipynb"
    ours = json.loads(path.read_text("utf-8"))["cells"]
    assert [comparable(cell) for cell in theirs] == [comparable(cell) for cell in ours]


def comparable(cell: dict[str, Any]) -> tuple[object, ...]:
    """What of a cell both sides must agree on."""
    marks = cell["metadata"].get("nbgrader", {})
    kept = {k: v for k, v in marks.items() if k not in ("checksum", "cell_type")}
    return cell["cell_type"], cell["id"], "".join(cell["source"]), kept


def test_nbgrader_scores_as_our_visible_checks_do(
    place: NbgraderFolder, ours: dict[str, list[ExerciseResult]]
) -> None:
    """Partial credit, and no noise costs the others; a failing import ends a cell in a kernel only."""
    scores = {one: float(total(e.score for e in ours[one]) or 0) for one in ours}
    theirs = {student: POINTS[student] for student in place.students}
    assert exported(place) == theirs
    assert scores == {**theirs, **dict.fromkeys({"fails_at_import"} & theirs.keys(), 4)}


def test_a_test_cell_shows_our_messages(
    place: NbgraderFolder, ours: dict[str, list[ExerciseResult]]
) -> None:
    """The same messages, the known mistake by its name, and tensors as a picture below."""
    cell = place.test_cell("mistaken", "Mixture")
    shown = " ".join(printed(cell).split())
    exercise = ours["mistaken"][1]
    failed = [check for check in exercise.checks if check.outcome is Outcome.FAILED]
    assert len(failed) == 1
    assert failed[0].picture is not None
    first, after = failed[0].picture.lines
    lines = failed[0].message.splitlines()
    told = [" ".join(line.split()) for line in lines[:first] + lines[after:]]
    assert told
    assert [line for line in told if line not in shown] == []
    below = [out["data"] for out in cell["outputs"] if out["output_type"] == "display_data"]
    assert len(below) == 1
    assert "<svg" in "".join(below[0]["text/html"])
    assert first_difference(failed[0].picture) in "".join(below[0]["text/plain"])
    assert exercise.misconceptions == ("mixture-of-keys",)
    assert "The keys are mixed, not the values. (mixture-of-keys)" in shown


def test_a_test_cell_writes_to_stdout_and_ends_in_its_points(place: NbgraderFolder) -> None:
    """Nothing on stderr, which would make its score 0, and nothing raised."""
    for student, exercise in product(place.students, ("weights", "Mixture")):
        *shown, last = place.test_cell(student, exercise)["outputs"]
        kinds = {(out["output_type"], out.get("name")) for out in shown}
        assert ("stream", "stdout") in kinds
        assert kinds <= {("stream", "stdout"), ("display_data", None)}
        assert last["output_type"] == "execute_result"


def test_feedback_has_the_messages(place: NbgraderFolder) -> None:
    """The feedback page of the mistaken student names the mistake."""
    page = place.folder / "feedback" / "mistaken" / ASSIGNMENT / f"{MODULE}.html"
    assert "mixture-of-keys" in page.read_text("utf-8")


def test_nbgrader_warns_of_nothing_of_ours(place: NbgraderFolder) -> None:
    """What its commands log is information; the kernel's own words on its transport aside."""
    warned = [line for line in place.said.splitlines() if "WARNING" in line or "ERROR" in line]
    assert [line for line in warned if "[IPKernelApp]" not in line] == []


def test_the_solutions_validate(place: NbgraderFolder) -> None:
    """`nbgrader validate` passes the source notebook, which builds on assignment 01."""
    shutil.copytree(place.folder / "source", place.folder / "elsewhere")
    path = str(Path("elsewhere", ASSIGNMENT, f"{MODULE}.ipynb"))
    assert nbgrader(place.folder, "validate", path).out.strip() == (
        "Success! Your notebook passes all the tests."
    )
