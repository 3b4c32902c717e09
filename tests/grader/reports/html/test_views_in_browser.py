"""A page of views in a headless browser: sliders by keyboard, folds without a script."""

from dataclasses import replace
from pathlib import Path

import pytest
from browser import PHONE, Open

from grader.core.records import Axis
from grader.core.views import HeatMap, Slider, ViewResult
from grader.course.course import load_course
from grader.reports.html.pages import views_page

pytestmark = pytest.mark.slow

WORDS = tuple(f"word{number}" for number in range(12))


def heat_map(number: float) -> HeatMap:
    """Twelve words among themselves, all with the same number."""
    rows = ((number,) * len(WORDS),) * len(WORDS)
    axes = (Axis(name, 0, len(WORDS), WORDS) for name in ("query", "key"))
    return HeatMap("a title", rows, *axes)


MOVED = ViewResult(
    exercise="01_first/one",
    title="All alike",
    look="Each is the sum of both.",
    ask="Which is largest?",
    sliders=(Slider("p", (0.1, 0.5)), Slider("head", (1, 2, 3))),
    states=tuple((heat_map(p + head),) for p in (0.1, 0.5) for head in (1, 2, 3)),
)
OTHERS = (
    replace(MOVED, sliders=(), states=((heat_map(-1),),), is_solved=False, notes=("A note.",)),
    replace(MOVED, states=(), problem="one returned 1."),
)


@pytest.fixture
def page(root: Path, tmp_path: Path) -> Path:
    """A page of three views."""
    path = tmp_path / "views.html"
    path.write_text(views_page((MOVED, *OTHERS), load_course(root)), "utf-8")
    return path


def test_sliders_move_by_keyboard(visit: Open, page: Path) -> None:
    """Each key shows another state, and says its value; axe-core finds nothing on a dark phone."""
    from axe_playwright_python.sync_playwright import Axe

    seen = visit(page, PHONE, dark=True)
    view = seen.page.locator(".view").first

    def shown() -> tuple[str, str]:
        (state,) = view.locator(".state:visible").all()
        cell = state.locator(".cell text").first.text_content()
        return str(cell), str(view.get_by_label("head").get_attribute("aria-valuetext"))

    assert shown() == ("2.500", "2")
    view.get_by_label("head").press("ArrowRight")
    assert shown() == ("3.500", "3")
    view.get_by_label("p", exact=True).press("Home")
    assert shown() == ("3.100", "3")
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= PHONE[0]
    found = Axe().run(seen.page).response["violations"]
    assert [(one["id"], [node["html"][:200] for node in one["nodes"][:3]]) for one in found] == []
    assert (seen.complaints, seen.requests) == ([], [])


def test_without_a_script_each_setting_is_a_fold(visit: Open, page: Path) -> None:
    """The one in the middle is open, and no slider is there that does nothing."""
    seen = visit(page, scripts=False)
    view = seen.page.locator(".view").first
    assert view.locator("input:visible").count() == 0
    assert view.locator("summary:visible").all_text_contents()[:2] == [
        "p = 0.1, head = 1",
        "p = 0.1, head = 2",
    ]
    assert view.locator(".state[open] summary").all_text_contents() == ["p = 0.5, head = 2"]
