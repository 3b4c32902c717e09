"""The README's picture: a student of the example class at the desk. `make golden` draws it anew."""

from pathlib import Path
from typing import Any

import pytest
from browser import Open, chromium, visit
from desk_server import STUDENT, served

from grader.classes.records import earlier_options
from grader.extras.desk.desk import Desk
from grader.intake.read import read_submissions

__all__ = ["chromium", "visit"]

pytestmark = [
    *(pytest.mark.slow, pytest.mark.proof, pytest.mark.long),
    pytest.mark.xdist_group("example class"),
]

HERE = Path(__file__).parent
PICTURE = "docs/desk.png"
SIZE = (1280, 1000)


def test_a_students_work_stands_beside_the_feedback(
    root: Path, graded_dear: Any, visit: Open, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """The code with its lines, what is known of its mistakes, a request, and the forms."""
    requests, options = tmp_path / "requests.csv", earlier_options(graded_dear.out)
    why = "I think one of the two is right."
    requests.write_text(f"student,exercise,why\ntwo_mistakes,SelfAttention_v2,{why}\n", "utf-8")
    assert options is not None
    with read_submissions(graded_dear.course, HERE / "submissions", HERE / "roster.csv") as intake:
        place = tmp_path / "decisions.toml"
        desk = Desk(graded_dear.course, graded_dear.out, options, intake, place, requests=requests)
        with served(desk) as (address, _once):
            page = visit(address, SIZE).page
            here = address.partition("/?")[0]
            page.goto(here + STUDENT.format("two_mistakes", "04_self_attention"))
            page.keyboard.press("p")
            assert "class SelfAttention_v1(nn.Module):" in page.locator(".source").text_content()
            assert "v1-root-forgotten" in page.locator(".feedback").text_content()
            assert why in page.locator(".decide").text_content()
            page.get_by_label("reason, which the student reads").fill("The scale is right here.")
            if request.config.getoption("--update-golden"):
                page.screenshot(path=root / PICTURE)
