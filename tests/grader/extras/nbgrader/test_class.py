"""The commands end to end: a class graded into a gradebook, twice, and opened in the form grader."""

import csv
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from nbgrader.api import Gradebook
from playwright.sync_api import Error as PlaywrightError

from grader.extras.nbgrader.store import open_gradebook
from tests.grader.extras.nbgrader.conftest import environment_of, grader_here, nbgrader_commands

pytestmark = pytest.mark.slow

START_SECONDS = 60.0

NOT_SCALED = (
    "HELPER = 1\n\n\ndef scores(queries, keys):\n    # too simple\n    return queries @ keys.T\n"
)
LATE = "2027-02-02 10:00:00 UTC"
DUE = '\ntitle = "Scores"\ndue = 2027-02-01T12:00:00Z\n'
RULE = "\n[late]\npercent_per_day = 10\n\n[[assignments]]"


@pytest.fixture
def class_folder(course_folder: Path, tmp_path: Path) -> Path:
    """A course with a due date, and a class: a script, notebooks, late work, and nobody."""
    course = tmp_path / "course"
    course.mkdir()
    for path in course_folder.iterdir():
        (course / path.name).symlink_to(path)
    manifest = (course_folder / "course.toml").read_text("utf-8")
    manifest = manifest.replace('\ntitle = "Scores"\n', DUE).replace("\n[[assignments]]", RULE, 1)
    (course / "course.toml").unlink()
    (course / "course.toml").write_text(manifest, "utf-8")
    scores, mixture = "01_scores/scores.py", "02_mixture/mixture.py"
    for student, name, text in (
        ("ada", scores, solution(course, scores)),
        ("ada", mixture, solution(course, mixture)),
        ("bo", scores, NOT_SCALED),
        ("cem", "01_scores/scores.ipynb", doubled(course)),
        ("dot", scores, solution(course, scores)),
        ("dot", "01_scores/timestamp.txt", LATE),
    ):
        path = tmp_path / "class" / student / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    (tmp_path / "roster.csv").write_text("student\nada\neve\n", "utf-8")
    return tmp_path


def solution(course: Path, name: str) -> str:
    """A solution's text."""
    return (course / "solutions" / name).read_text("utf-8")


def doubled(course: Path) -> str:
    """The first assignment's notebook, untouched, with its answer cell twice."""
    path = course / "assignments" / "01_scores" / "scores.ipynb"
    notebook = json.loads(path.read_text("utf-8"))
    cells = notebook["cells"]
    place = next(i for i, cell in enumerate(cells) if cell["id"] == "scores")
    notebook["cells"] = [*cells[:place], {**cells[place], "id": "again"}, *cells[place:]]
    return json.dumps(notebook)


def grade(folder: Path, address: str) -> str:
    """Grade the class into a gradebook; what the screen shows."""
    options = ("--out", "../out", "--isolation", "process", "--roster", "../roster.csv")
    options += ("--jobs", "1", "--seed", "1", "--gradebook", address)
    done = grader_here(folder / "course", "grade", "../class", *options)
    assert (done.code, done.err) == (0, "")
    return done.out


def scores(gradebook: Gradebook) -> dict[tuple[str, str], tuple[float, float]]:
    """Each submission's score and what lateness takes off it."""
    return {
        (one.student.id, one.name): (one.score, one.late_submission_penalty)
        for student in gradebook.students
        for one in gradebook.student_submissions(student.id)
    }


def exported(folder: Path) -> dict[tuple[str, str], float]:
    """What `nbgrader export` wrote, run in the folder that was made for it."""
    with (folder / "out" / "nbgrader" / "grades.csv").open(encoding="utf-8", newline="") as file:
        return {(r["student_id"], r["assignment"]): float(r["score"]) for r in csv.DictReader(file)}


def test_a_class_is_graded_into_a_gradebook_twice(class_folder: Path, address: str) -> None:
    """A score given by hand in between stays; nbgrader's API and its export give all of it back."""
    shown = grade(class_folder, address)
    assert (
        "Cells of these notebooks are not as released: nbgrader would stop here, for the whole "
        "class: cem." in shown
    )
    with open_gradebook(address, "small-steps") as gradebook:
        assert sorted(student.id for student in gradebook.students) == [
            *("ada", "bo", "cem", "dot", "eve")
        ]
        assert scores(gradebook) == {
            ("ada", "01_scores"): (2.0, 0.0),
            ("ada", "02_mixture"): (4.0, 0.0),
            ("bo", "01_scores"): (0.8, 0.0),
            ("cem", "01_scores"): (0.0, 0.0),
            ("dot", "01_scores"): (2.0, 0.2),
        }
        said = gradebook.find_comment("scores", "scores", "01_scores", "bo").comment
        assert "→ A known mistake, scores-not-scaled: The scores are not scaled." in said
        assert "fail, too, perhaps for this reason alone." in said
        by_hand = gradebook.find_grade("test_scores", "scores", "01_scores", "bo")
        by_hand.manual_score, by_hand.extra_credit = 1.5, 0.25
        gradebook.db.commit()
    grade(class_folder, address)
    with open_gradebook(address, "small-steps") as gradebook:
        assert scores(gradebook)["bo", "01_scores"] == (1.75, 0.0)
        assert len(scores(gradebook)) == 5
    nbgrader_commands(
        class_folder / "out" / "nbgrader",
        ("export", "--to", "grades.csv"),
        ("generate_feedback", "01_scores"),
    )
    assert {key: score for key, score in exported(class_folder).items() if score} == {
        ("ada", "01_scores"): 2.0,
        ("ada", "02_mixture"): 4.0,
        ("bo", "01_scores"): 1.75,
        ("dot", "01_scores"): 1.8,
    }
    page = class_folder / "out" / "nbgrader" / "feedback" / "bo" / "01_scores" / "scores.html"
    assert "scores-not-scaled" in page.read_text("utf-8")


# The form grader.


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """A Jupyter server in a folder, on a free port; its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = (f"--port={port}", "--ServerApp.port_retries=0", "--IdentityProvider.token=token")
    log = folder.parent / "server.log"
    with (
        log.open("w", encoding="utf-8") as file,
        subprocess.Popen(
            [sys.executable, "-m", "jupyter_server", "--no-browser", "--allow-root", *options],
            cwd=folder,
            env=environment_of(folder),
            stdout=file,
            stderr=file,
        ) as process,
    ):
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait(30)


def reached(visit: Any, address: str) -> Any:
    """A page of a server that may just have been started, as soon as it answers."""
    until = time.monotonic() + START_SECONDS
    while True:
        try:
            return visit(address, size=(1200, 1400)).page
        except PlaywrightError:
            if time.monotonic() > until:
                raise


def table(page: Any) -> list[list[str]]:
    """The rows of a page's table as text, as soon as there are any."""
    page.wait_for_selector("tbody td a")
    rows = page.query_selector_all("tbody tr")
    return [[cell.inner_text() for cell in row.query_selector_all("td")] for row in rows]


@pytest.mark.parametrize("address", ["sqlite"], indirect=True)
@pytest.mark.long
@pytest.mark.proof
def test_the_form_grader_shows_the_class_and_opens_a_submission(
    class_folder: Path, address: str, visit: Any
) -> None:
    """In a real browser: assignments, students, scores, a script in its answer cell, the comment."""
    grade(class_folder, address)
    pictures = Path(os.environ.get("GRADER_TEST_PICTURES", class_folder))
    with served(class_folder / "out" / "nbgrader") as server:
        page = reached(visit, f"{server}/formgrader?token=token")
        assert [row[0] for row in table(page)][:2] == ["01_scores", "02_mixture"]
        page.screenshot(path=pictures / "assignments.png")
        page.goto(f"{server}/formgrader/manage_students")
        assert [(row[1], row[3]) for row in table(page) if len(row) > 3] == [
            ("ada", "6 / 6"),
            ("bo", "0.8 / 6"),
            ("cem", "0 / 6"),
            ("dot", "2 / 6"),
            ("eve", "0 / 6"),
        ]
        page.screenshot(path=pictures / "students.png")
        page.goto(f"{server}/formgrader/gradebook/01_scores/scores")
        rows = [row for row in table(page) if "0.8 / 2" in row]
        assert len(rows) == 1
        page.screenshot(path=pictures / "submissions.png")
        page.get_by_role("link", name=rows[0][1], exact=True).click()
        page.wait_for_selector(".comment[placeholder*='scores-not-scaled']")
        shown = page.inner_text("body")
        assert "# too simple\n    return queries @ keys.T" in shown
        assert "The file as handed in: 01_scores/scores.py" in shown
        (score,) = page.query_selector_all("input.score")
        assert score.get_attribute("placeholder") == "0.8"
        page.screenshot(path=pictures / "submission.png")
