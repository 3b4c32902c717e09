"""Tests of what a notebook's own cells call, up to where checks are run."""

import importlib
import json
import os
import runpy
import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import IPython
import pytest
import torch
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from grader import extras, notebook
from grader.core.errors import GraderError
from grader.core.records import Result
from grader.course.course import Course, load_course
from grader.judging.collect import collect as really
from grader.judging.run import Check
from grader.judging.submission_grader import VISIBLE_CHECKS, Scope
from grader.notebook import (
    Kernel,
    StopError,
    check_exercise,
    experiment,
    hint,
    predict,
    styles,
    use_own,
)

ONE = "def one():\n    return 1\n"


Start = Callable[..., Path]


def cells(*texts: str) -> str:
    """A notebook with these cells."""
    return json.dumps({"cells": [{"cell_type": "code", "source": text} for text in texts]})


@pytest.fixture
def kernel(
    small_course: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Start]:
    """Puts the kernel into a folder, below a place with a student's `first`; answers the place."""
    monkeypatch.setenv("GRADER_COURSE", str(small_course.root))
    monkeypatch.delitem(sys.modules, "first", raising=False)
    monkeypatch.setattr(notebook, "_used", {})

    def start(here: str, path: str, text: str = ONE) -> Path:
        folder, file = tmp_path / here, tmp_path / path
        for place in (folder, file.parent):
            place.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
        monkeypatch.chdir(folder)
        return tmp_path

    yield start
    sys.modules.pop("first", None)


def stub(course: Course, name: str) -> str:
    """An assignment as it is handed out."""
    return (course.root / "assignments" / f"{name}.py").read_text("utf-8")


@pytest.mark.parametrize(
    ("here", "path", "text"),
    [
        ("work/02_second", "work/02_second/first.py", ONE),
        ("work/02_second", "work/01_first/first.py", ONE),
        ("work/02_second", "work/first.py", ONE),
        ("nb/autograded/me/02_second", "nb/submitted/me/01_first/first.py", ONE),
        ("work/02_second", "work/01_first/first.ipynb", cells("1 / 0", ONE)),
    ],
    ids=["beside", "next door", "flat", "as nbgrader collected it", "a notebook, in part"],
)
def test_the_students_own_module_is_found(kernel: Start, here: str, path: str, text: str) -> None:
    """Wherever students and nbgrader keep it; cells that fail are passed over."""
    kernel(here, path, text)
    use_own("01_first")
    assert importlib.import_module("first").one() == 1


def test_the_form_that_was_filled_in_counts(kernel: Start, small_course: Course) -> None:
    """Beside an untouched stub, as a students' copy has both."""
    kernel("work/02_second", "work/01_first/first.py", stub(small_course, "01_first/first"))
    kernel("work/02_second", "work/01_first/first.ipynb", cells(ONE))
    use_own("01_first")
    assert importlib.import_module("first").one() == 1


ASKED = "Your assignment 01_first is not here, and this notebook builds on it. Put your first.py or first.ipynb beside this notebook."


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[InteractiveShell]:
    """An IPython of its own, which the grader takes for the notebook's kernel."""
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    made = InteractiveShell(config=Config({"HistoryManager": {"enabled": False}}))
    monkeypatch.setattr(IPython, "get_ipython", lambda: made)
    notebook.this_kernel.cache_clear()
    yield made
    notebook.this_kernel.cache_clear()


def test_what_is_not_there_is_asked_for(kernel: Start, shell: InteractiveShell) -> None:
    """In a sentence without a traceback, which also ends Run All."""
    kernel("work/02_second", "elsewhere/other.py")
    with pytest.raises(StopError) as caught:
        use_own("01_first")
    assert caught.value._render_traceback_() == [ASKED]
    result = shell.run_cell('from grader.notebook import use_own; use_own("01_first")')
    assert isinstance(result.error_in_exec, StopError)


def test_a_script_that_builds_on_another_runs_by_itself(
    kernel: Start, small_course: Course
) -> None:
    """The stub finds the student's own module, wherever it is run from; else it says what to do."""
    place = kernel("anywhere", "work/02_second/second.py", stub(small_course, "02_second/second"))
    script = str(place / "work" / "02_second" / "second.py")
    with pytest.raises(SystemExit, match="Your assignment 01_first is not here"):
        runpy.run_path(script, run_name="__main__")
    kernel("anywhere", "work/01_first/first.py")
    assert runpy.run_path(script, run_name="__main__")["one"]() == 1


def test_outside_the_course_each_cell_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In one sentence each."""
    monkeypatch.delenv("GRADER_COURSE", raising=False)
    monkeypatch.chdir(tmp_path)
    sentence = (
        f"The course is not here: there is no course.toml in {tmp_path} or above it. Open this "
        "file inside the course folder, and run it from the top.\n"
    )
    assert check_exercise("01_first/one") == 0
    hint("one")
    assert capsys.readouterr() == (sentence * 2, "")


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("print('seen')", "seen"),
        (
            "raise NotImplementedError('01_first/one: not attempted yet')",
            "01_first/one is still to be written. Run this cell again when it is solved.",
        ),
        ("one()", "one is not defined here: run the cells above first."),
        (
            "raise TypeError('no')",
            "The experiment ended in TypeError: no. It needs what is written above it: run it "
            "again when those exercises are solved.",
        ),
    ],
    ids=["works", "stub", "name", "error"],
)
def test_an_experiment_that_cannot_run_says_why(
    code: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """In a sentence, so that Run All goes on; what one that works prints is all there is."""
    with experiment():
        exec(code, {})
    assert capsys.readouterr() == (f"{said}\n", "")


PREDICTION = """\
from grader.testing import prediction


@prediction("one", "What is it?", choices=["zero", "one", "two"], right=2, why="It is one.")
def number(student):
    return student.call("one").value + 1, ""
"""


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (None, "Write the number of your choice for None above, and run this cell again."),
        (4, "4 is none of the numbers above: choose one of them."),
        ("two", "'two' is none of the numbers above: choose one of them."),
        (3, "  Your code answers below, once one is solved."),
    ],
)
def test_a_prediction_is_taken_from_its_cell(
    kernel: Start,
    small_course: Course,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    answer: Any,
    said: str,
) -> None:
    """The question is shown until the answer is a choice's number."""
    kernel("work/01_first", "work/01_first/first.py")
    place = small_course.root / "tests" / "checks" / "01_first"
    place.mkdir(parents=True, exist_ok=True)
    (place / "predictions.py").write_text(PREDICTION, "utf-8")
    monkeypatch.setattr(extras.predict, "_in_notebook", {})
    predict("01_first/one", answer=answer)
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == said
    assert ("  What is it?" in lines) is (answer != 3)
    assert extras.predict._in_notebook == ({"01_first/one": 3} if answer == 3 else {})


def test_styles_are_shown_where_this_notebook_solved_the_exercise(
    kernel: Start, small_course: Course, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before that, a sentence says when."""
    kernel("work/01_first", "work/01_first/first.py")
    with pytest.MonkeyPatch.context() as patch:
        for solved in (set(), {"01_first/one"}):
            patch.setattr(notebook, "solved", solved)
            styles("one")
    first, last = capsys.readouterr().out.splitlines()[::2]
    assert first.startswith("01_first/one is not solved yet.")
    assert last == "For 01_first/one no other ways are written down."


NOT_DEFINED = (
    "two is not defined here. Run the cell above first (Shift+Enter), then this one. If the cell "
    "above ends in an error, mend the error first.\n"
)


def test_a_test_cell_before_its_definition_says_which_cell_comes_first(
    kernel: Start, shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    """Another exercise's name, however like it, is not taken for a slip."""
    kernel("work/02_second", "work/01_first/first.py")
    shell.run_cell('from grader.notebook import check_exercise\none = 1\ncheck_exercise("two")')
    assert capsys.readouterr().out.startswith(NOT_DEFINED)


def test_a_name_that_is_misspelt_goes_to_the_checks(small_course: Course) -> None:
    """They ask for what was meant."""
    names: dict[str, Any] = {"dotproduct": 1, "one": 1}
    assert notebook._is_defined(small_course, "dot_product", names)
    assert not notebook._is_defined(small_course, "ones", names)


@pytest.mark.parametrize(
    ("saved", "later", "is_older"),
    [
        ("def two():\n    return 3\n", 60, True),
        ("def two():\n    return 3\n", -60, False),
        ("def two():\n    return 2", 60, False),
        ("x = 1", 60, False),
    ],
    ids=["saved after it ran", "not saved since", "the same", "without the exercise"],
)
def test_a_cell_that_was_edited_and_not_run_is_noticed(
    kernel: Start,
    shell: InteractiveShell,
    small_course: Course,
    saved: str,
    later: float,
    is_older: bool,
) -> None:
    """Only where the file is newer than the run, and has another text."""
    place = kernel("work/02_second", "work/02_second/second.ipynb", cells(saved))
    made = Kernel(shell)
    shell.events.register("post_run_cell", made.note)
    shell.run_cell("def two():\n    return 2\n", store_history=True)
    file = place / "work" / "02_second" / "second.ipynb"
    os.utime(file, (made.since + later,) * 2)
    exercise = small_course.exercises["02_second/two"]
    assert made.is_older_than_saved(small_course, exercise) is is_older


def test_a_cell_is_named_as_ipython_names_it(shell: InteractiveShell) -> None:
    """By the number in the margin."""
    shell.run_cell("1\n", store_history=True)
    shell.run_cell("def two():\n    return 2\n", store_history=True)
    file = shell.user_ns["two"].__code__.co_filename
    assert Kernel(shell).cell_names()[file] == ("In[2]", None)


def test_earlier_work_that_changed_is_read_anew(kernel: Callable[..., Path]) -> None:
    """What the notebook imported from it is replaced; what is its own stays."""
    place = kernel("work/02_second", "work/01_first/first.py")
    use_own("01_first")
    one = importlib.import_module("first").one
    names: dict[str, Any] = {"one": one, "mine": one}
    notebook._read_own_anew(names)
    assert names == {"one": one, "mine": one}
    kernel("work/02_second", "work/01_first/first.py", ONE.replace("1", "10"))
    notebook._read_own_anew(names)
    assert (names["one"](), names["mine"]) == (10, one)
    (place / "work" / "01_first" / "first.py").unlink()
    notebook._read_own_anew(names)
    assert names["one"]() == 10


def test_checks_and_experiments_compute_on_one_thread(
    kernel: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where other things run, several threads wait for each other; outside, a student's own count."""
    kernel("work/01_first", "work/01_first/first.py")
    seen = []

    def grade(*_: object) -> Result:
        seen.append(torch.get_num_threads())
        raise GraderError("enough")

    monkeypatch.setattr(notebook, "grade", grade)
    monkeypatch.setattr(notebook, "_grader", lambda root, assignment: None)
    monkeypatch.setattr(sys.modules[__name__], "one", 1, raising=False)
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        check_exercise("01_first/one")
        with experiment():
            seen.append(torch.get_num_threads())
            raise ValueError
        assert (seen, torch.get_num_threads()) == ([1, 1], 2)
    finally:
        torch.set_num_threads(before)


def test_the_checks_of_a_notebook_are_collected_once(
    course_copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of the assignment alone, each found again by its exercise."""
    notebook._grader.cache_clear()
    asked = []

    def collect(course: Course, exercises: Collection[str], *more: Any) -> tuple[Check, ...]:
        asked.append([*exercises])
        return really(course, exercises, *more)

    monkeypatch.setattr("grader.judging.submission_grader.collect", collect)
    try:
        with closing(notebook._grader(course_copy, "02_mixture")) as grader:
            ids = {
                exercise.id: [check.id for check in grader.checks(scope)]
                for exercise in grader.environment.course.by_id["02_mixture"].exercises
                for scope in [Scope({exercise.id: exercise}, VISIBLE_CHECKS)]
            }
    finally:
        notebook._grader.cache_clear()
    assert asked == [["02_mixture/weights", "02_mixture/Mixture"]]
    course = load_course(course_copy)
    for id_, found in ids.items():
        assert found == [check.id for check in really(course, [id_], VISIBLE_CHECKS)] != []
