"""Pages in a headless browser: folding, sorting, filtering, reading aloud, loading."""

import dataclasses
import itertools
import random
import statistics
from pathlib import Path
from typing import Any

import pytest
from browser import DESKTOP, PHONE, Open
from generated_class import generated_class, picture
from msgspec.structs import replace

from grader.core import language
from grader.course.course import Course, load_course
from grader.intake.roster import Enrolled
from grader.reports.html.class_views import groups_of
from grader.reports.html.pages import pages, pictures

pytestmark = pytest.mark.slow

PARTS = 6
"""So many assignments of the course have the generated classes."""

MOST_TIMES = 3.0
"""So many times longer than for 6 students may the class report of 600 take to open."""


@pytest.fixture(scope="module")
def classes(root: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    """The pages of generated classes, by their size."""
    course = shorter(load_course(root))
    return {size: generated(course, size, tmp_path_factory) for size in (6, 60)}


def shorter(course: Course) -> Course:
    """The course's first assignments."""
    return dataclasses.replace(course, assignments=course.assignments[:PARTS])


def generated(course: Course, size: int, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A generated class's page, and those of its students where they are few."""
    folder = tmp_path_factory.mktemp(f"class_of_{size}")
    (folder / "students" / "pictures").mkdir(parents=True)
    made = pages(generated_class(course, size), course)
    for path, text in made if size == 6 else [next(made)]:
        (folder / path).write_text(text, "utf-8")
    return folder


@pytest.fixture(params=["class", "student"])
def page(request: pytest.FixtureRequest, classes: dict[int, Path]) -> Path:
    """A page of each kind."""
    name = {"class": "index.html", "student": "students/student003.html"}
    return classes[6] / name[request.param]


IN_EACH_RUN = "student", "desktop-light"


@pytest.mark.parametrize(
    ("page", "size", "dark"),
    [
        pytest.param(page, size, dark, id=f"{page}-{name}", marks=marks)
        for name, size, dark in (
            ("desktop-light", DESKTOP, False),
            ("phone-dark", PHONE, True),
            ("desktop-dark", DESKTOP, True),
            ("phone-light", PHONE, False),
        )
        for page in ("class", "student")
        for marks in (() if (page, name) == IN_EACH_RUN else pytest.mark.proof,)
    ],
    indirect=["page"],
)
def test_a_page_passes_the_accessibility_check(
    visit: Open, page: Path, size: tuple[int, int], dark: bool
) -> None:
    """axe-core finds nothing, everything unfolded; no complaint and no request was made."""
    from axe_playwright_python.sync_playwright import Axe

    seen = visit(page, size, dark=dark)
    seen.page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    response = Axe().run(seen.page).response
    assert {"color-contrast", "document-title", "html-has-lang"} <= {
        rule["id"] for rule in response["passes"]
    }
    found = response["violations"]
    assert [(one["id"], [node["html"][:200] for node in one["nodes"][:3]]) for one in found] == []
    assert (seen.complaints, seen.requests) == ([], [])


def test_no_page_is_wider_than_a_phone(visit: Open, page: Path) -> None:
    """What is wider scrolls by itself."""
    seen = visit(page, PHONE)
    seen.page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    assert seen.page.evaluate("document.documentElement.scrollWidth") == PHONE[0]


@pytest.mark.parametrize(("code", "axis"), [("zh_CN", "查询"), ("ja", "トークン")])
@pytest.mark.parametrize("rows", [pytest.param(1, marks=pytest.mark.proof), 4])
def test_chinese_and_japanese_labels_have_room(
    visit: Open, tmp_path: Path, code: str, axis: str, rows: int
) -> None:
    """Their characters are twice as wide: none is cut, none lies on another."""
    language.use(code)
    shown = picture(random.Random(1), rows, 3)
    shown = replace(shown, rows=replace(shown.rows, name=axis if rows > 1 else ""))
    (tmp_path / "picture.html").write_text(f"<meta charset=utf-8>{pictures([shown])}", "utf-8")
    seen = visit(tmp_path / "picture.html")
    assert seen.page.locator(f"div[lang={code.replace('_', '-')}]").count() == 1
    boxes = "nodes => nodes.map(node => node.getBBox()).map(box => [box.x, box.x + box.width])"
    labels = seen.page.locator("svg .beside text, svg .axis text").evaluate_all(boxes)
    assert [box for box in labels if box[0] < 0] == []
    for one, other in itertools.pairwise(seen.page.locator("svg .axis text").all()):
        (_, end), (start, _) = (text.evaluate_all(boxes)[0] for text in (one, other))
        assert end < start or start == 0


@pytest.mark.proof
def test_a_dark_page_is_printed_in_light_colours(visit: Open, page: Path) -> None:
    """Paper is white."""
    seen = visit(page, dark=True)
    seen.page.emulate_media(media="print", color_scheme="dark")
    assert seen.page.evaluate("getComputedStyle(document.body).color") == "rgb(31, 35, 40)"


def test_how_an_exercise_stands_is_said_on_a_phone_too(
    visit: Open, classes: dict[int, Path]
) -> None:
    """Only the sign is seen there; who listens hears the word."""
    seen = visit(classes[6] / "students" / "student003.html", PHONE)
    words = seen.page.locator(".exercise .word").evaluate_all(
        "nodes => nodes.map(node => getComputedStyle(node).display)"
    )
    assert words
    assert "none" not in words


@pytest.mark.proof
def test_a_long_name_leaves_its_mark_on_the_map(visit: Open, classes: dict[int, Path]) -> None:
    """A name is cut before “undecided” or “late” is."""
    seen = visit(classes[60] / "index.html", PHONE)
    seen.page.locator(".map tbody th a").first.evaluate("node => node.textContent = 'x'.repeat(80)")
    assert seen.page.locator(".map tbody th").first.evaluate(
        "node => node.lastElementChild.getBoundingClientRect().right"
        " <= node.getBoundingClientRect().right"
    )


@pytest.mark.proof
def test_a_name_is_cut_before_an_id(visit: Open, classes: dict[int, Path]) -> None:
    """Who reads ids only has them whole."""
    seen = visit(classes[60] / "index.html", PHONE)
    cut = seen.page.locator(".map tbody th").first.evaluate(
        "node => { node.insertAdjacentHTML('beforeend', '<span class=quiet>' + 'x'.repeat(80) + '</span>');"
        " const id = node.querySelector('a'); return id.scrollWidth > id.clientWidth + 1; }"
    )
    assert not cut


def test_an_exercise_folds_and_unfolds_by_keyboard(visit: Open, classes: dict[int, Path]) -> None:
    """What is to be mended is open to begin with."""
    seen = visit(classes[6] / "students" / "student003.html")
    name = seen.page.locator("details.exercise[open]").first.get_attribute("id")
    body = seen.page.locator(f'details[id="{name}"] > .body')
    assert body.is_visible()
    seen.page.locator(f'details[id="{name}"] > summary').focus()
    seen.page.keyboard.press("Enter")
    assert not body.is_visible()
    seen.page.keyboard.press("Enter")
    assert body.is_visible()


def column(seen: Any, number: int) -> list[str]:
    """The texts of a column of the map."""
    script = (
        "number => [...document.querySelectorAll('.map tbody tr:not([hidden])')]"
        ".map(row => row.cells[number].textContent)"
    )
    return list(seen.page.evaluate(script, number))


def test_the_map_is_sorted_by_any_column(visit: Open, classes: dict[int, Path]) -> None:
    """By a click: the highest first, then the lowest; names from A to Z. Its heading says so."""
    seen = visit(classes[60] / "index.html")
    headings = seen.page.locator(".map thead th")
    for number, state in itertools.product((1, 2, 12), ("descending", "ascending")):
        headings.nth(number).locator("button").click()
        texts = column(seen, number)
        found = [float(text) if text.replace(".", "").isdigit() else -1 for text in texts]
        assert found == sorted(found, reverse=state == "descending")
        assert headings.nth(number).get_attribute("aria-sort") == state
    headings.nth(0).locator("button").click()
    assert column(seen, 0) == sorted(column(seen, 0))
    states = [heading.get_attribute("aria-sort") for heading in headings.all()]
    assert states == ["ascending"] + ["none"] * (len(states) - 1)
    assert seen.complaints == []


def test_the_map_is_narrowed_to_groups_of_the_roster(
    visit: Open, root: Path, tmp_path: Path
) -> None:
    """A section, a tutor and a label, at once and with a name; a roster without has no such lists."""
    course = shorter(load_course(root))
    results = generated_class(course, 12)
    roster = {
        one.student: Enrolled(
            one.student,
            section="AB"[n % 2],
            tutor=("Tamsin", "Uri", "Vera")[n % 3],
            tags=("part time", "again") if n < 4 else (),
        )
        for n, one in enumerate(results)
    }
    _path, text = next(pages(results, course, groups=groups_of(roster)))
    (tmp_path / "index.html").write_text(text, "utf-8")
    seen = visit(tmp_path / "index.html")
    said = seen.page.locator("#found")
    seen.page.get_by_label("section").select_option("A")
    assert said.text_content() == "6 students"
    seen.page.get_by_label("tutor").select_option("Tamsin")
    assert said.text_content() == "2 students"
    seen.page.get_by_label("label").select_option("part time")
    assert said.text_content() == "1 student"
    assert column(seen, 0) == [f"{results[0].student}"]
    seen.page.get_by_role("searchbox").fill("nobody")
    assert said.text_content() == "0 students"
    assert seen.complaints == []


@pytest.mark.proof
def test_the_map_is_filtered_by_name(visit: Open, classes: dict[int, Path]) -> None:
    """What is found is counted, and said to who cannot see it."""
    seen = visit(classes[60] / "index.html")
    seen.page.get_by_role("searchbox").fill("STUDENT05")
    assert sorted(name[:10] for name in column(seen, 0)) == [f"student05{n}" for n in range(10)]
    assert seen.page.locator("#found").text_content() == "10 students"
    seen.page.get_by_role("searchbox").fill("")
    assert len(column(seen, 0)) == 60


def test_without_scripts_everything_is_there(visit: Open, classes: dict[int, Path]) -> None:
    """The tables in their order, and no control that does nothing."""
    seen = visit(classes[60] / "index.html", scripts=False)
    assert seen.page.locator(".map tbody tr").count() == 60
    assert not seen.page.get_by_role("searchbox").is_visible()
    assert seen.page.locator("button").count() == 0


def test_a_screen_reader_finds_a_table(visit: Open, root: Path, classes: dict[int, Path]) -> None:
    """The map keeps its rows, headings and cells, although it is laid out as a grid."""
    exercises = len(shorter(load_course(root)).exercises)
    seen = visit(classes[60] / "index.html")
    table = seen.page.get_by_role("table", name="Points of each student in each exercise")
    row = table.get_by_role("row", name="student000")
    assert row.get_by_role("rowheader").count() == 1
    assert row.get_by_role("cell").count() == 1 + exercises
    assert table.get_by_role("columnheader").count() == 2 + exercises


def test_a_link_leads_to_the_students_page(visit: Open, classes: dict[int, Path]) -> None:
    """From the map."""
    seen = visit(classes[6] / "index.html")
    seen.page.locator(".map").get_by_role("link", name="student003").click()
    assert seen.page.locator("h1").text_content() == "Feedback for student003"


@pytest.mark.proof
@pytest.mark.long
def test_a_class_of_600_opens_in_under_three_times_the_time_of_6(
    visit: Open, root: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """The whole course's, from the address to the first picture, in turns, the median of each."""
    course = load_course(root)
    folders = {size: generated(course, size, tmp_path_factory) for size in (6, 600)}
    times: dict[int, list[float]] = {6: [], 600: []}
    for _ in range(9):
        for size, found in times.items():
            seen = visit(folders[size] / "index.html")
            found.append(
                seen.page.evaluate(
                    "() => new Promise(done => requestAnimationFrame(() =>"
                    " requestAnimationFrame(() => done(performance.now()))))"
                )
            )
            seen.page.close()
    ratio = statistics.median(times[600]) / statistics.median(times[6])
    assert ratio < MOST_TIMES, f"{ratio:.2f} times"
