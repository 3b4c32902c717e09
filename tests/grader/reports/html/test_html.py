"""Feedback pages and the class report as text: what is on them, and what never is."""

import base64
import random
import re
from decimal import Decimal
from pathlib import Path

import made_results as made
import pytest
from generated_class import generated_class, picture
from msgspec.structs import replace

from grader.core.records import CheckResult, Finding, Mistake, Outcome, Result, Visibility
from grader.course.course import Course, load_course
from grader.reports.html.pages import address, class_report, pages, pictures, prose, student_page

SECRET = "expected 0.1234 for the secret input"
SCALE = Mistake("scores-not-scaled", "The scores are not scaled.", "What is d_k for?")
PICTURE = replace(picture(random.Random(1)), lines=(2, 4))
MESSAGE = "scores(<tensor (6, 6)>)\nThe result: 1 value differs.\nexpected\n  0.5\nIt is too large."


@pytest.fixture(scope="module")
def course(root: Path) -> Course:
    """The example course."""
    return load_course(root / "tests" / "example_course")


@pytest.fixture(scope="module")
def whole_course(root: Path) -> Course:
    """The course itself."""
    return load_course(root)


def check(name: str, outcome: Outcome, message: str = "", **more: object) -> CheckResult:
    """A visible check, unless more is said."""
    told = {"title": f"The title of {name}."} | more
    return made.check(f"01_scores/scores::visible::{name}", outcome, message, **told)


def result_of(
    *checks: CheckResult, score: float | None = 0.5, most: int = 2, **more: object
) -> Result:
    """A student's result in the first exercise; more is of the assignment."""
    findings = more.pop("findings", ())
    exercise = made.exercise("01_scores/scores", score, most, *checks, findings=findings)
    part = made.assignment("01_scores", exercise, **({"read_from": "01_scores/scores.py"} | more))
    more = {"score": exercise.score, "undecided": score is None}
    return made.result("ada", part, max_score=3 * most, **more)


def words(page: str) -> str:
    """What a page says, without its marks and style."""
    body = page.partition("<body")[2] or page
    return " ".join(re.sub(r"<script>.*</script>|<[^>]*>", " ", body, flags=re.S).split())


def test_a_failure_is_explained_with_everything_there_is_to_say(course: Course) -> None:
    """The mistake and its question, what was called, what came of it, and where to look."""
    failed = check("one", Outcome.FAILED, MESSAGE, picture=PICTURE)
    held = check("remark", Outcome.PASSED, weight=0)
    checks = (failed, check("two", Outcome.PASSED), held)
    said = words(student_page(result_of(*checks, findings=(Finding((SCALE,)),)), course))
    for sentence in (
        "Feedback for ada",
        "0.5 of 6 points",
        "This looks like a known mistake The scores are not scaled. scores-not-scaled",
        "What is d_k for?",
        "The title of one. scores(&lt;tensor (6, 6)&gt;) The result: 1 value differs.",
        "first difference: query 0 (Your), key 0 (Your)",
        "It is too large.",
        "The numbers as text expected 0.5",
        "the worked example in the docstring of scores, in 01_scores/scores.py.",
        "grader hint scores",
        "1 check passed The title of two.",
    ):
        assert sentence in said


def test_of_several_failures_the_first_is_shown_and_the_others_are_folded(course: Course) -> None:
    """A picture for the first alone; remarks come last."""
    remark = check("remark", Outcome.REMARK, "Better so.")
    checks = [check(name, Outcome.FAILED, MESSAGE, picture=PICTURE) for name in ("one", "two")]
    page = student_page(result_of(remark, *checks), course)
    assert page.count("<svg ") == 2  # expected and received
    assert page.index("The title of one.") < page.index("The title of two.")
    assert page.index("The title of two.") < page.index("The title of remark.")
    assert page.count('<details class="fold check">') == 2


def test_the_rest_of_a_long_message_is_folded(course: Course) -> None:
    """What a student's code prints may have hundreds of lines."""
    long = "\n".join(f"line {number}" for number in range(300))
    page = student_page(result_of(check("one", Outcome.FAILED, long)), course)
    assert "line 18\nline 19</pre>" in page
    assert "<summary>The rest of the message</summary><pre>line 20\nline 21\n" in page
    drawn = check("one", Outcome.FAILED, f"{MESSAGE}\n{long}", picture=PICTURE)
    page = student_page(result_of(drawn), course)
    assert page.count("<li>line ") == 5
    assert "<summary>The rest of the message</summary><pre>line 5\nline 6\n" in page


def test_a_hidden_check_tells_its_title_alone(course: Course) -> None:
    """Neither its message nor its picture is on a student's page, nor is the run's seed."""
    secret = replace(PICTURE, expected=((0.987654,) * 6,) * 6)
    hidden = check("hidden", Outcome.FAILED, SECRET, picture=secret, visibility=Visibility.HIDDEN)
    page = student_page(result_of(hidden), course)
    assert "1 hidden check did not pass The title of hidden." in words(page)
    assert [text for text in (SECRET, "0.98", "4815162342", "<svg ") if text in page] == []


def test_code_within_a_sentence_is_shown_as_code(course: Course) -> None:
    """Titles, symptoms and questions have it in backticks; whatever it is, it is text."""
    assert prose("`a<b>` and b`") == "<code>a&lt;b&gt;</code> and b`"
    titled = check("one", Outcome.FAILED, "No.", title="It has shape `(d_in, d_out)`.")
    mistake = Mistake("misspelt", "It is not `forward`.", "Is `__call__` it?")
    page = student_page(result_of(titled, findings=(Finding((mistake,)),)), course)
    for code in ("(d_in, d_out)", "forward", "__call__"):
        assert f"<code>{code}</code>" in page


def test_what_is_undecided_is_no_work_for_the_student(course: Course) -> None:
    """It is not what comes next, has no hint, and is not crossed out."""
    broken = result_of(check("one", Outcome.ERROR, "Broken."), score=None)
    said = words(student_page(broken, course))
    assert "! The title of one. (undecided: the grader failed) Broken." in said
    assert [text for text in ("Next:", "grader hint", "✗") if text in said] == []


HOSTILE = "</pre><script>alert(1)</script>&\u202e"


def test_what_is_worth_no_points_says_so(course: Course) -> None:
    """On a student's page, and by a sign in the class's map."""
    result = result_of(check("a", Outcome.PASSED), score=0, most=0)
    page = student_page(result, course)
    assert page.count('<span class="points">unscored</span>') == 2
    assert "Worth no points" in page
    assert "<td>✓" in class_report([result], course)


def test_what_students_write_is_text(course: Course) -> None:
    """In names, messages, files and notes; also in the class report."""
    failed = check("one", Outcome.FAILED, HOSTILE)
    result = result_of(failed, read_from=HOSTILE, notes=(HOSTILE,), days_late=1)
    hostile = replace(result, student=HOSTILE)
    page = student_page(hostile, course)
    assert "<script" not in page
    assert page.count("&lt;/pre&gt;&lt;script&gt;alert(1)&lt;/script&gt;&amp;") >= 4
    report = class_report([hostile, replace(hostile, undecided=True, score=None)], course)
    assert report.count("<script") == 1  # our own
    assert "alert(1)" not in re.search(r"<script>.*</script>", report, re.S)[0]  # type: ignore[index]


def test_nothing_handed_in_is_no_zero(course: Course) -> None:
    """And an undecided score is neither."""
    nothing = replace(result_of(), submitted=False, score=None, assignments=())
    said = words(student_page(nothing, course))
    assert "Nothing was handed in. There is no score, which is not a zero." in said
    assert "points" not in said.partition("Graded with")[0]
    broken = replace(result_of(check("one", Outcome.ERROR, "Broken.")), undecided=True, score=None)
    said = words(student_page(broken, course))
    assert "The score is undecided." in said
    assert "? of 6 points" in said


def test_an_exercise_that_waits_says_for_which(course: Course) -> None:
    """Once, and without a title that would read as if something were wrong."""
    blocked = check(
        "one", Outcome.BLOCKED, "It needs 01_scores/dot.", waits_for="01_scores/dot", picture=None
    )
    result = result_of(blocked, check("two", Outcome.BLOCKED, "Not run."), score=0)
    said = words(student_page(result, course))
    assert "scores waiting for dot 0 / 2 It needs 01_scores/dot." in said
    assert said.count("It needs") == 1
    assert "The title of" not in said
    assert "Not run." not in said


def test_an_assignment_without_a_file_is_one_line(course: Course) -> None:
    """Its exercises are all missing, which one sentence says."""
    missing = check("one", Outcome.MISSING, "Nothing was handed in for scores.")
    page = student_page(result_of(missing, read_from=""), course)
    assert "Nothing was handed in for it." in words(page)
    assert "<details" not in page


def test_all_exercises_of_the_course_have_pages(whole_course: Course) -> None:
    """Each student's page is where the class report's link leads; nobody's name is in the way."""
    results = generated_class(whole_course, 5)
    results[1] = replace(results[1], student="index")
    results[2] = replace(results[2], student="名前 & 50%")
    made = dict(pages(results, whole_course))
    names = [f"students/{result.student}.html" for result in results]
    pictures = [f"students/pictures/{one.id}.svg" for one in whole_course.assignments]
    assert list(made) == ["index.html", *pictures, *names]
    links = set(re.findall(r'href="(students/[^"]*)"', made["index.html"]))
    assert links == {address(result.student) for result in results}
    assert address("名前 & 50%") == "students/%E5%90%8D%E5%89%8D%20%26%2050%25.html"


def test_a_students_own_page_holds_the_pictures(whole_course: Course) -> None:
    """It is one file; a class's pages link those that lie beside them."""
    (result,) = generated_class(whole_course, 1)
    own = student_page(result, whole_course)
    held = re.findall(
        r'<img class="drawing" src="data:image/svg\+xml;base64,([^"]+)" alt="(\w)', own
    )
    svg = whole_course.paths(whole_course.assignments[0]).picture.read_bytes()
    assert base64.b64decode(held[0][0]) == svg
    assert len(held) == len(whole_course.assignments)
    linked = dict(pages([result], whole_course))[address(result.student)]
    assert 'href="pictures/01_simple_attention.svg"' in linked
    assert "<img" not in linked


def test_pages_need_nothing_from_elsewhere(whole_course: Course) -> None:
    """No address is in them but those of each other."""
    made = dict(pages(generated_class(whole_course, 3), whole_course))
    for text in (text for path, text in made.items() if path.endswith(".html")):
        links = re.findall(r'(?:src|href|action)\s*=\s*"([^"]*)"|url\(|@import|https?:', text)
        others = [link for link in links if not link.startswith(("#", "students/"))]
        assert {f"students/{link}" for link in others} <= made.keys()


def test_the_class_report_names_what_to_teach_again(whole_course: Course) -> None:
    """With counts, the question that leads out, and the exercise."""
    results = generated_class(whole_course, 60)
    said = words(class_report(results, whole_course))
    assert re.search(r"1\d of 5\d teach this again ", said)
    assert "An exercise separates well when" in said
    assert "Late" in said
    assert "Nothing handed in" in said


def test_the_class_report_begins_with_scores_and_the_map(whole_course: Course) -> None:
    """What few misunderstood is folded, and comes after them."""
    page = class_report(generated_class(whole_course, 60), whole_course)
    titles = re.findall(r"<h2[^>]*>(.*?)</h2>", page)
    assert titles[:5] == [
        *("Scores", "Students by exercises", "Assignments, one after the other"),
        *("Who needs a look", "What the class misunderstood"),
    ]
    said = page.partition('id="mistakes-title"')[2].partition("<details")[0]
    shares = [int(n) / int(of) for n, of in re.findall(r"<strong>(\d+)</strong> of (\d+)", said)]
    assert shares
    assert min(shares) >= 0.05


def test_assignments_stand_one_after_the_other(whole_course: Course) -> None:
    """With the mean of those who have a score, and each student's points; a gap is blank."""
    results = generated_class(whole_course, 3)
    full, empty, *_rest = results[0].assignments
    first = replace(results[0], assignments=(replace(full, score=Decimal(full.max_score)),))
    nothing = replace(results[1], assignments=())
    page = class_report([first, nothing], whole_course)
    term = page.partition('id="term-title"')[2].partition("</section>")[0]
    means, points = term.split("<details")
    assert re.search(rf'title="{full.id}">01<br>1</th>', means)
    assert re.search(rf'title="{empty.id}">02<br>0</th>', means)
    assert re.findall(r"<td>(?:<span>)?(\d+&nbsp;%|–)", means)[:2] == ["100&nbsp;%", "–"]
    rows = re.findall(r'<tr><th scope="row">.*?</tr>', points)
    cells = [re.findall(r'class="number">([^<]*)</td>', row)[:2] for row in rows]
    assert cells == [[f"{full.max_score:g}", ""], ["", ""]]
    one = class_report([first], whole_course.only([full.id]))
    assert "term-title" not in one


def test_undecided_and_late_students_come_first(course: Course) -> None:
    """On the map, too."""
    results = generated_class(course, 200, seed=2)
    undecided = [r.student for r in results if r.undecided]
    late = [r.student for r in results if any(a.days_late for a in r.assignments)]
    rows = re.findall(r'role="rowheader"><a[^>]*>(\w+)</a>', class_report(results, course))
    assert undecided
    assert late
    assert rows[: len(undecided) + len(late)] == undecided + [s for s in late if s not in undecided]
    assert sorted(rows) == sorted(result.student for result in results)


def test_who_is_late_is_listed_with_the_days_that_cost_nothing(course: Course) -> None:
    """Late days of their own took nothing off."""
    for used, words_ in ((0, "01_scores: 2 days"), (1, "01_scores: 2 days, 1 at no cost")):
        late = result_of(check("it", Outcome.PASSED), days_late=2, late_days_used=used)
        assert f"ada {words_} " in words(class_report([late], course))


def test_a_file_in_which_nothing_was_found_comes_first_with_the_reason(course: Course) -> None:
    """Its student has no points, and nothing to learn from that."""
    told = "scores is not defined.\nLoading the file stopped early: KeyError: <b>"
    result = result_of(check("it", Outcome.MISSING, told))
    said = words(class_report([result, result_of(check("it", Outcome.FAILED, "no"))], course))
    assert "Nothing found in their files 1" in said
    assert said.count("01_scores: Loading the file stopped early: KeyError: &lt;b&gt;") == 1
    failures = ("a.py does not run: line 3: NameError\n    x\nWhat is x?",)
    broken = result_of(check("it", Outcome.MISSING, told), file_failures=failures)
    said = words(class_report([broken], course))
    assert "01_scores: a.py does not run: line 3: NameError" in said


@pytest.mark.parametrize(("isolation", "is_told"), [(("sealed",), False), (("limits",), True)])
def test_a_class_that_was_not_sealed_says_so(
    course: Course, isolation: tuple[str, ...], is_told: bool
) -> None:
    """Where scores are looked at, too."""
    result = replace(result_of(check("it", Outcome.PASSED)), isolation=isolation)
    said = words(class_report([result], course))
    assert ("Not sealed: student code could read files" in said) is is_told


def test_an_empty_class_has_a_report(course: Course) -> None:
    """Nobody is in it."""
    said = words(class_report([], course))
    assert "students 0 handed in 0" in said
    assert "No known mistake was recognised." in said


def test_pictures_alone_bring_their_style() -> None:
    """For a notebook, where there is no page around them."""
    text = pictures([PICTURE])
    assert text.lstrip().startswith("<style>")
    assert text.count("<svg ") == 2
    assert "prefers-color-scheme: dark) { .ac.page" in text
