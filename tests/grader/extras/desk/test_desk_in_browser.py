"""The desk in a headless browser: by keyboard, on a phone, read aloud, and with hostile work."""

import pytest
from browser import DESKTOP, PHONE
from desk_server import STUDENT

from tests.grader.classes.conftest import STUDENTS
from tests.grader.extras.desk.conftest import IMAGE

pytestmark = pytest.mark.slow


@pytest.fixture
def window(visit, address):
    """A window of a real browser, on the map."""
    return lambda size=DESKTOP, **how: visit(address, size, **how)


def test_a_student_is_found_decided_about_and_left_by_keyboard(room, window):
    """The map, a search, points with a reason, the next one, the one before, and back."""
    seen, student = window(), STUDENTS[18]
    keys, page = seen.page.keyboard, seen.page
    keys.press("/")
    keys.type("student-18")
    keys.press("Enter")
    page.wait_for_url("**/student?*")
    keys.press("p")
    keys.press("Tab")
    keys.type("0.25")
    keys.press("Tab")
    keys.type("Half of a half.")
    keys.press("Enter")
    page.get_by_text("Written.").wait_for()
    page.wait_for_load_state()  # with its script, which hears the keys
    (entry,) = room.decided("overrides", student)
    assert (entry["points"], entry["reason"]) == (0.25, "Half of a half.")
    assert page.locator(".feedback .note").first.text_content().endswith("Half of a half.")
    keys.press("m")
    page.get_by_role("searchbox").wait_for()
    page.wait_for_load_state()
    keys.press("j")
    keys.press("j")
    second = page.evaluate("document.activeElement.textContent")
    keys.press("Enter")
    page.wait_for_url("**/student?*")
    shown = "([name, is_it]) => (document.querySelector('h1').dataset.student === name) === is_it"
    keys.press("j")
    page.wait_for_function(shown, arg=[second, False])
    page.wait_for_load_state()
    keys.press("k")
    page.wait_for_function(shown, arg=[second, True])
    assert seen.complaints == []


def test_next_goes_through_what_the_map_shows(window):
    """Of a section or of a search, in the order of the table."""
    page = window().page
    page.get_by_label("section").select_option("B")
    page.get_by_role("searchbox").fill("student-1")
    page.get_by_role("link", name="student-13").click()
    page.get_by_role("link", name="Next").click()
    assert page.locator("h1").get_attribute("data-student") == "student-15"


@pytest.mark.parametrize(
    ("size", "dark"),
    [
        pytest.param(DESKTOP, False, marks=[pytest.mark.proof, pytest.mark.long]),
        pytest.param(PHONE, True, marks=pytest.mark.proof),
    ],
)
def test_both_pages_pass_the_accessibility_check(window, size, dark):
    """axe-core finds nothing, everything unfolded; none is wider than a phone; no complaint."""
    from axe_playwright_python.sync_playwright import Axe

    seen = window(size, dark=dark)
    for path in (
        "/",
        STUDENT.format(STUDENTS[9], "01_scores"),
        STUDENT.format(STUDENTS[2], "01_scores"),
    ):
        seen.page.goto(seen.page.url.partition("/student")[0].rstrip("/") + path)
        seen.page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
        found = Axe().run(seen.page).response["violations"]
        assert [
            (one["id"], [node["html"][:200] for node in one["nodes"][:3]]) for one in found
        ] == []
        assert seen.page.evaluate("document.documentElement.scrollWidth") == size[0]
    assert seen.complaints == []


def test_hostile_work_does_nothing_in_a_browser(window):
    """It is shown as it was written."""
    seen = window()
    seen.page.get_by_role("link", name=IMAGE).click()
    assert "document.title = 'live'" in seen.page.locator(".source").first.text_content()
    assert seen.page.title().startswith(IMAGE)
    assert seen.complaints == []
