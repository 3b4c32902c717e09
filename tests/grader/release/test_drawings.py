"""The picture of an assignment: as text, as SVG, in stubs and releases, and what is wrong with it."""

import json
import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import nbformat
import pytest

from grader.authoring.translations import course_messages
from grader.core.errors import CourseError
from grader.core.text import display_width
from grader.course.course import Course, load_course
from grader.course.drawing import Box, Drawing, Gap, Map, Panel, Step, translated_drawing
from grader.extras.nbgrader.release import source_notebook
from grader.judging.picture_layout import arrows, placed
from grader.release.drawings import COLUMNS, drawing_svg, drawing_text
from grader.release.stubs import generate, stale

SVG = "{http://www.w3.org/2000/svg}"

FLOW = Drawing(
    "Who meets whom",
    [
        [Box("x", "(2, 3)")],
        [Box("left", of=["x"]), Box("`right`", note="kept", of=["x"])],
        [Box("sum", "(2,)", of=["left"]), Gap()],
        [Box("end", of=["sum", "`right`"])],
        Step("`view` it"),
        [
            Map("Before", [[1.0, None], [-0.5, float("-inf")]], rows=["a", "b"], sums="sum"),
            Map("After", [[1.0, 2.0]], groups=["one", "two"], marked=[(0, 1)], decimals=0),
        ],
    ],
    "The end.",
)

TEXT = """\
Who meets whom

┌──────────────────────────────────────────────────────────────────────────┐
│                                    x                                     │
│                                  (2, 3)                                  │
└──────────────────────────────────────────────────────────────────────────┘
                  │                                      │
                  ▼                                      ▼
┌───────────────────────────────────┐  ┌───────────────────────────────────┐
│               left                │  │               right               │
│                                   │  │               kept                │
└───────────────────────────────────┘  └───────────────────────────────────┘
                  │                                      │
                  ▼                                      │
┌───────────────────────────────────┐                    │
│                sum                │                    │
│               (2,)                │                    │
└───────────────────────────────────┘                    │
                  │                                      │
                  ▼                                      ▼
┌──────────────────────────────────────────────────────────────────────────┐
│                                   end                                    │
└──────────────────────────────────────────────────────────────────────────┘
                                  view it
                                     ↓
Before                                 After
                 sum                    one two
a  1.00      ·   1.00                    1  [2]
b −0.50     −∞   −0.50

The end."""

CHINESE = {"left": "左边的一个很长的名字要换行才放得下", "Who meets whom": "谁遇见谁", "sum": "和"}


def test_a_drawing_as_text() -> None:
    """Boxes with straight arrows that go past others; maps with marks, gaps and sums."""
    assert "\n".join(drawing_text(FLOW)) == TEXT


def test_a_drawing_as_svg() -> None:
    """It says what it is, has both colour schemes, and needs nothing from elsewhere."""
    text = drawing_svg(FLOW, "x & y", "zh_CN")
    root = ElementTree.fromstring(text)
    assert (root.findtext(f"{SVG}title"), root.findtext(f"{SVG}desc")) == (FLOW.title, "x & y")
    assert root.attrib["lang"] == "zh-CN"
    assert "prefers-color-scheme: dark" in text
    assert not re.search(r"<script|<image|href|@import|url\(|font-face", text)
    shown = [node.text for node in root.iter(f"{SVG}text")]
    assert shown[:5] == ["Who meets whom", "x", "(2, 3)", "left", "right"]
    assert shown.count("−∞") == shown.count("view it") == 1
    assert len(list(root.iter(f"{SVG}path"))) == 5 + 1  # one for each `of`, one for the step
    classes = [node.attrib["class"] for node in root.iter(f"{SVG}rect")]
    assert classes.count("empty") == classes.count("marked") == 1
    assert "hp3" in classes
    assert "hn3" in classes


def test_words_are_translated_and_code_is_not() -> None:
    """Names that arrows refer to as well; wide characters stay in their boxes."""
    drawing = translated_drawing(FLOW, lambda text: CHINESE.get(text, text))
    lines = drawing_text(drawing)
    assert lines[0] == "谁遇见谁"
    assert {display_width(line) for line in lines if "│  │" in line} == {COLUMNS}
    heard: list[str] = []
    translated_drawing(FLOW, lambda text: heard.append(text) or text)  # type: ignore[func-returns-value]
    assert not {"`right`", "(2, 3)", "a", ""} & {*heard}
    assert {"kept", "one", "`view` it", "The end."} <= {*heard}


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([[Box("b", of=["a"])]], "'b' is made of 'a', and no row above has that name"),
        ([[Box("b", tint="pink")]], "'b': the tint 'pink' is none of ('', 'blue', 'orange')"),
        ([[Map("m", [[1.0], [1.0, 2.0]])]], "'m': its rows are not of one length"),
        ([[Map("m", [])]], "'m': its rows are not of one length"),
        ([[Map("m", [[1.0]], rows=["a", "b"])]], "'m': 2 labels for 1 rows"),
        (
            [[Box("a"), Gap()], [Gap(), Box("b", of=["a"])]],
            "the arrow from 'a' to 'b' cannot be vertical; give one of them more span",
        ),
        (
            [[Box("a")], [Box("b")], [Box("c", of=["a"])]],
            "the arrow from 'a' to 'c' would go through 'b'; leave a Gap there",
        ),
    ],
)
def test_what_cannot_be_drawn_is_told(rows: list[list[Panel]], said: str) -> None:
    """With the names that the author gave."""
    with pytest.raises(ValueError, match=f"^{re.escape(said)}$"):
        arrows(placed(Drawing("", rows)))


# In a course.

SOLUTION, DRAWING = "solutions/01_scores/scores.py", "solutions/01_scores/picture.py"
LINE = "# ![Two keys\n# and their scores.](picture.svg)"
CODE = """\
import torch
from scores import scores

from grader.course.drawing import Drawing, Map


def picture() -> Drawing:
    torch.manual_seed(1)
    return Drawing("Scores of a query", [[Map("Both", scores(torch.eye(2), torch.eye(2)).tolist())]])
"""


@pytest.fixture
def drawn(course_copy: Path) -> Course:
    """The example course with a picture."""
    solution = course_copy / SOLUTION
    text = solution.read_text("utf-8")
    solution.write_text(text.replace("fits each key.\n", f"fits each key.\n#\n{LINE}\n"), "utf-8")
    (course_copy / DRAWING).write_text(CODE, "utf-8")
    return load_course(course_copy)


def test_a_picture_is_generated_beside_stub_and_notebook(drawn: Course) -> None:
    """The notebook links it, the stub has it as text; a change of either makes it stale."""
    made = {Path(file.path).name: file.text for file in generate(drawn)}
    assert ElementTree.fromstring(made["picture.svg"]).findtext(f"{SVG}desc") == (
        "Two keys and their scores."
    )
    assert "# ```text\n# Scores of a query\n#\n# Both\n#  0.71     0\n" in made["scores.py"]
    assert "picture.svg" not in made["scores.py"]
    notebook = json.loads(made["scores.ipynb"])
    nbformat.validate(notebook)
    shown = "![Two keys\nand their scores.](picture.svg)"
    assert "".join(notebook["cells"][0]["source"]).endswith(shown)
    assert (
        shown in json.loads(source_notebook(drawn, drawn.assignments[0]).text)["cells"][0]["source"]
    )
    for file in generate(drawn):
        file.write(drawn.root)
    assert stale(drawn) == []
    (drawn.root / DRAWING).write_text(CODE.replace("Both", "Each"), "utf-8")
    assert [Path(file.path).name for file in stale(drawn)] == ["scores.py", "picture.svg"]


def test_a_picture_decides_no_score_and_is_translated(drawn: Course, example_course: Path) -> None:
    """Results stay as they are; its words are among the course's texts."""
    with_words = {message.id for message in course_messages(drawn)}
    assert {"Both", "![Two keys and their scores.](picture.svg)"} <= with_words
    before = drawn.hash
    (drawn.root / DRAWING).write_text(CODE.replace("Both", "Each"), "utf-8")
    assert replace(drawn).hash == before


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (CODE.replace("torch.eye(2), ", "None, "), f"{DRAWING}:9: TypeError: "),
        (CODE + "def", f"{DRAWING}:10: SyntaxError: "),
        (CODE.replace("def picture", "def other"), f"{DRAWING}: it defines no function picture()"),
        (CODE + "picture = int\n", f"{DRAWING}: picture() returns int, not a Drawing"),
        ("", f"{SOLUTION}:6: it shows picture.svg, and there is no {DRAWING}"),
    ],
)
def test_a_faulty_picture_is_told_with_its_place(drawn: Course, code: str, said: str) -> None:
    """What `grader generate` and `grader validate` say."""
    path = drawn.root / DRAWING
    path.write_text(code, "utf-8") if code else path.unlink()
    with pytest.raises(CourseError) as caught:
        generate(drawn)
    assert str(caught.value).startswith(said)


@pytest.mark.parametrize("line", ["", f"{LINE}\n#\n{LINE}", f"# See it: {LINE[2:]}"])
def test_a_picture_is_shown_once_by_a_line_of_its_own(drawn: Course, line: str) -> None:
    """Else it would be nowhere, twice, or in the middle of a sentence."""
    solution = drawn.root / SOLUTION
    solution.write_text(solution.read_text("utf-8").replace(LINE, line or "#"), "utf-8")
    with pytest.raises(CourseError, match="one line by itself has to show the picture"):
        generate(drawn)
