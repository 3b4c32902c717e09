"""Tests of `grader import`: what of a notebook becomes what of an assignment, and what is refused."""

import ast
import json
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from grader.core.errors import UsageError
from grader.core.files import OutputFile
from grader.extras.importing import write
from grader.extras.importing.drafts import draft
from grader.extras.importing.exercises import split
from grader.extras.importing.nbgrader import Case, MarkedCode, Notes
from grader.extras.importing.renaming import renamed
from grader.extras.importing.write import Written, import_notebook

QUESTION = "# BEGIN QUESTION\nname: q1"
NOTEBOOKS = Path(__file__).parent / "notebooks"
OTTER, NBGRADER = NOTEBOOKS / "otter_moments.ipynb", NOTEBOOKS / "nbgrader_distances.ipynb"


@pytest.mark.parametrize("given", ["01_moments", "07_scores", "moments", "07_Moments"])
def test_an_id_that_is_taken_or_none_is_refused(course_copy: Path, given: str) -> None:
    """Nothing is written."""
    before = sorted(course_copy.rglob("*"))
    with pytest.raises(UsageError, match=r"there already|is no assignment's id"):
        import_notebook("otter", OTTER, course_copy, given)
    assert sorted(course_copy.rglob("*")) == before


def test_nothing_is_overwritten(course_copy: Path, tmp_path: Path) -> None:
    """A folder that is there already, or that is not empty, is refused."""
    stray = course_copy / "solutions" / "03_otter_moments"
    stray.mkdir()
    with pytest.raises(UsageError, match="is there already; nothing was written"):
        import_notebook("otter", OTTER, course_copy)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "notes.txt").write_text("mine", "utf-8")
    with pytest.raises(UsageError, match="is not an empty folder"):
        import_notebook("otter", OTTER, tmp_path / "full")


def test_all_is_written_or_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was written before a write failed is taken back."""
    written: list[str] = []
    really = OutputFile.write

    def failing(file: OutputFile, folder: Path) -> None:
        if folder == tmp_path / "course":
            written.append(file.path)
            if len(written) == 6:
                raise UsageError("The disk is full.")
        really(file, folder)

    monkeypatch.setattr(OutputFile, "write", failing)
    monkeypatch.setattr(write, "_tried_once", lambda *_: False)  # its tests need not run for this
    with pytest.raises(UsageError, match="disk"):
        import_notebook("nbgrader", NBGRADER, tmp_path / "course")
    assert list(tmp_path.iterdir()) == []


# Names that are set anew.


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "x = x + 1  # x\nprint('x', f'{x:.1f} x')",
            "x_2 = x_2 + 1  # x\nprint('x', f'{x_2:.1f} x')",
        ),
        ("def x(n):\n    return x(n - 1)", "def x_2(n):\n    return x_2(n - 1)"),
        ("def f(x):\n    return x\ng = lambda x: x", "def f(x):\n    return x\ng = lambda x: x"),
        ("class A:\n    x = 1\n\n\nA.x = x", "class A:\n    x = 1\n\n\nA.x = x_2"),
        (">>> x\n1", ">>> x_2\n1"),
        ("é = f(é, x=x)", "é = f(é, x=x_2)"),
    ],
)
def test_a_name_of_the_file_is_another(before: str, after: str) -> None:
    """What is called so elsewhere keeps its name."""
    assert renamed(before, {"x": "x_2"}) == after


def notebook(*cells: dict[str, Any]) -> str:
    """A notebook of some cells."""
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


def raw(text: str) -> dict[str, Any]:
    """A raw cell."""
    return {"cell_type": "raw", "source": text, "metadata": {}}


def code(text: str, **marks: Any) -> dict[str, Any]:
    """A code cell, with nbgrader's metadata where there is any."""
    metadata = {"nbgrader": marks} if marks else {}
    return {"cell_type": "code", "source": text, "metadata": metadata, "outputs": []}


def own(text: str) -> dict[str, Any]:
    """A cell that holds a solution."""
    return code(text, solution=True)


def graded(text: str) -> dict[str, Any]:
    """A cell of tests, worth a point."""
    return code(text, grade=True, points=1)


def imported(folder: Path, *cells: dict[str, Any], system: str = "nbgrader") -> Written:
    """What is made of a notebook of some cells."""
    path = folder / "some.ipynb"
    path.write_text(notebook(*cells), "utf-8")
    return import_notebook(system, path, folder / "course")


def test_what_an_exercise_sets_stays_to_the_end(tmp_path: Path) -> None:
    """Later cells that set or change it do so under another name, and each test is kept."""
    cells = [
        own("total = 1 + 1"),
        graded("assert total == 2"),
        code("total = [1]"),
        own("total.append(2)"),
        graded("assert total[-1] == 2"),
        own("def total(n):\n    return n and 1 + total(n - 1)"),
        graded("assert total(3) == 3"),
        own("from math import sqrt as root"),
        graded("assert root(4) == 2"),
        own("def double(n):\n    return 2 * n"),
        code("four = double(2)"),
        graded("assert four == 4"),
    ]
    written = imported(tmp_path, *cells)
    names = ["total", "total_2", "total_3", "root", "double"]
    assert [exercise.name for exercise in written.assignment.exercises] == names
    assert (written.whole, written.open) == (5, 0)


def test_what_an_exercise_changes_is_the_students(tmp_path: Path) -> None:
    """Also where it is given before: the stub fails the test of it."""
    solution = own("for n in range(3):\n    stats.append(n)\nlast = n")
    written = imported(tmp_path, code("stats = []"), solution, graded("assert len(stats) == 3"))
    assert (written.whole, written.open) == (1, 0)


@pytest.mark.parametrize(
    "solutions",
    [
        ["### BEGIN SOLUTION\ndef f(n):\n    return 1 / n\n### END SOLUTION\nf(0)"],
        ["x = 1 / 0", "def f(n):\n    return 1 / n"],
    ],
)
def test_code_without_a_test_is_left_out_where_it_fails(
    solutions: list[str], tmp_path: Path
) -> None:
    """It is told at the line of the cell, not at that of the function which it calls."""
    cells = [own(text) for text in solutions]
    written = imported(tmp_path, *cells, graded("assert f(1) == 1"))
    assert (written.whole, written.open) == (1, 0)
    left_out = "cell 1: the code is left out, because it fails: ZeroDivisionError: division by zero"
    assert left_out in written.notes


def test_exercises_of_like_names_have_classes_of_their_own(tmp_path: Path) -> None:
    """Else the later one's checks would take the place of the earlier one's."""
    cells = []
    for name in ("x2", "x_2"):
        cells += [own(f"{name} = 1")]
        cells += [graded(f"assert {name} == 1")]
    written = imported(tmp_path, *cells)
    checks = tmp_path / "course" / "tests" / "checks" / written.assignment.id / "test_visible.py"
    tree = ast.parse(checks.read_text("utf-8"))
    names = [node.name for node in tree.body if isinstance(node, ast.ClassDef)]
    assert names == ["TestX2", "TestX2_"]


def test_what_is_drawn_at_random_is_tried_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its test may pass once by chance."""
    tries: list[None] = []
    monkeypatch.setattr(write, "_tried_once", lambda *_: bool(tries.append(None)))
    solution = own("import random\nx = random.random()")
    imported(tmp_path, solution, graded("assert x < 0.5"))
    assert len(tries) == 2


def test_files_that_students_are_given_are_taken_along(tmp_path: Path) -> None:
    """Otter lists them; a module that tests alone import may hold answers otherwise."""
    (tmp_path / "listed.py").write_text("ONE = 1", "utf-8")
    listed = raw("# ASSIGNMENT CONFIG\nstudent_files:\n    - listed.py")
    solution = (raw("# BEGIN SOLUTION"), code("x = 1 # SOLUTION"), raw("# END SOLUTION"))
    judged = code("import listed\nassert x == listed.ONE")
    cells = (*solution, raw("# BEGIN TESTS"), judged, raw("# END TESTS"), raw("# END QUESTION"))
    written = imported(tmp_path, listed, raw(QUESTION), *cells, system="otter")
    assert (written.whole, written.open) == (1, 0)
    assert f"solutions/{written.assignment.id}/files/listed.py" in written.paths


# Broken notebooks.


BROKEN = {
    "text": ("otter", "not a notebook", "its JSON is damaged at line 1, column 1."),
    "a list": ("otter", "[]", "its JSON is not a notebook."),
    "no markers": ("otter", notebook(code("x = 1")), "has no question between raw cells"),
    "no marks": ("nbgrader", notebook(code("x = 1")), "has no autograded answer"),
    "open question": (
        "otter",
        notebook(raw(QUESTION)),
        "cell 1: the question has no `# END QUESTION`.",
    ),
    "end first": ("otter", notebook(raw("# END QUESTION")), "cell 1: a question ends without a"),
    "part outside": ("otter", notebook(raw("# BEGIN TESTS")), "stands in the wrong place."),
    "no YAML": ("otter", notebook(raw("# BEGIN QUESTION\nname: [q1")), "are not YAML"),
    "open solution": (
        "otter",
        notebook(raw(QUESTION), raw("# BEGIN SOLUTION"), code("# BEGIN SOLUTION\nx = 1")),
        "cell 3: `# BEGIN SOLUTION` has no `# END SOLUTION`.",
    ),
    "students' copy": (
        "nbgrader",
        notebook(own("def f():\n    # YOUR CODE HERE\n    raise NotImplementedError()")),
        "cell 1: it holds no solution; import the notebook of the `source` folder.",
    ),
    "points": (
        "nbgrader",
        notebook(own("x = 1"), code("assert x == 1", grade=True, points="two")),
        "cell 2: `points` is 'two'; a number of points is needed.",
    ),
    "no exercise": (
        "nbgrader",
        notebook(own("print('hello')")),
        "cell 1: `print('hello')` is left out: a solution defines a function, a class or a constant",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_notebook_that_cannot_be_imported_is_told_in_a_sentence(
    name: str, tmp_path: Path
) -> None:
    """With the cell, where it is about one; nothing is written."""
    system, text, sentence = BROKEN[name]
    path = tmp_path / "broken.ipynb"
    path.write_text(text, "utf-8")
    with pytest.raises(UsageError) as raised:
        import_notebook(system, path, tmp_path / "course")
    assert sentence in str(raised.value)
    assert str(path) in str(raised.value)
    assert not (tmp_path / "course").exists()


# Tests as checks.

NAMES = ("f", "Net", "LIMIT")


def text_of(test: str, earlier: str = "", output: str = "") -> str | None:
    """The check that is made of a test, beside the code of earlier ones."""
    made = draft(Case(1, test, output=output), ast.parse(earlier).body, NAMES, ())
    return made and made.text


@pytest.mark.parametrize(
    ("test", "text"),
    [
        ("# two\nassert f(1)==2", "assert f(1) == 2"),
        (">>> f(1)\n[1, 2]", "assert f(1) == [1, 2]"),
        (">>> f(1)\nabc def", "assert repr(f(1)) == 'abc def'"),
        (">>> f(1)\nTrue", "assert f(1)"),
        (">>> f(1)\ntensor([1])", "assert torch.equal(f(1), torch.tensor([1]))"),
        ("  assert f(1)", "assert f(1)"),
        ("assert f(", None),
    ],
)
def test_a_test_stands_in_its_check(test: str, text: str | None) -> None:
    """What its cell shows is a condition; what is no Python nobody can run."""
    assert text_of(test) == text


NEEDED = "import math\nx = 2\ny = x + 1"


@pytest.mark.parametrize(
    ("test", "earlier", "needed"),
    [
        ("assert f(y) == math.sqrt(4)", f"{NEEDED}\nz = 3\nassert f(y)\nprint(y)", NEEDED),
        (
            "assert x == [3]",
            "x = [2]\nf(x)\nnp.testing.assert_equal(x, 1)\nassert x",
            "x = [2]\nf(x)",
        ),
    ],
)
def test_a_test_has_what_it_needs_of_earlier_ones(test: str, earlier: str, needed: str) -> None:
    """And nothing else of them: a call may change something, one that judges changes nothing."""
    assert text_of(test, earlier) == f"{needed}\n{test}"


@pytest.mark.parametrize("right", [2, 4])
def test_what_a_test_prints_stands_before_its_value(right: int) -> None:
    """As in the output of its cell."""
    text = text_of("print(f(1))\nf(2)", output="2\n3") or ""
    ends = nullcontext() if right == 2 else pytest.raises(AssertionError)
    with ends:
        exec(text.replace("f(1)", str(right)).replace("f(2)", "3"), {})


def test_a_check_says_what_its_test_says_of_itself() -> None:
    """A hidden one gives nothing away."""
    text = '"""Squares of small numbers."""\nassert f(1) == 2'
    titles = [draft(Case(3, text, hidden), (), NAMES, ()).title for hidden in (False, True)]  # type: ignore[union-attr]
    assert titles == [
        "The tests of cell 3 should pass: Squares of small numbers.",
        "The hidden tests of cell 3 should pass.",
    ]


# Solutions as regions.


def regions(text: str, *solution: int) -> list[str]:
    """The pieces of a cell whose marked lines are given, counted from 1."""
    return [piece.text for piece in split(MarkedCode(1, text, frozenset(solution)), (), Notes())]


def test_a_region_stands_below_the_docstring() -> None:
    """Also where the whole function was marked; what is written for students stays."""
    (text,) = regions('def f(x):\n    """Twice x."""\n    y = 2 * x\n    return y', 1, 2, 3, 4)
    assert text == (
        'def f(x):\n    """Twice x."""\n    # TODO: write this.\n    ### BEGIN SOLUTION\n'
        "    y = 2 * x\n    return y\n    ### END SOLUTION"
    )


def test_a_region_has_whole_statements() -> None:
    """A marked line within a statement of several lines marks all of it."""
    (text,) = regions(
        "def f(x):\n    # TODO: add.\n    y = 1\n    return sum(\n        [x, y]\n    )", 5
    )
    assert text.endswith(
        "    y = 1\n    ### BEGIN SOLUTION\n    return sum(\n        [x, y]\n    )\n    ### END SOLUTION"
    )


def test_a_marked_line_that_opens_a_block_makes_the_whole_body_the_gap() -> None:
    """Else the stub would be no Python."""
    (text,) = regions("def f(x):\n    if x:\n        return 1\n    return 0", 2)
    places = [text.index(part) for part in ("### BEGIN", "if x:", "return 0", "### END")]
    assert places == sorted(places)


def test_a_cell_is_parted_into_exercises_and_given_code() -> None:
    """Code that is not marked stays as it is."""
    made = regions("import math\n\nA = 1\n\ndef f():\n    return A\n\nB = 2", 3, 6)
    todo = "# TODO: set A.\n### BEGIN SOLUTION\nA = 1\n### END SOLUTION"
    assert [made[0], made[1], made[3]] == ["import math", todo, "B = 2"]


def test_what_a_solution_imports_beside_other_things_is_given() -> None:
    """Other cells may need it; comments above it are the solution's."""
    made = regions("# secret\nimport math\ndef f(x):\n    return math.sqrt(x)", 1, 2, 3, 4)
    assert [made[0], made[1].splitlines()[0]] == ["import math", "def f(x):"]


@pytest.mark.parametrize("text", ["# %% a part\nX = 1", "def f():\n    # %%\n    return 1"])
def test_a_line_that_would_begin_a_cell_is_told(text: str, tmp_path: Path) -> None:
    """In a script it would part the cell."""
    with pytest.raises(UsageError, match="begin a cell of a script"):
        imported(tmp_path, own(text), graded("assert f() == 1 or X"))
