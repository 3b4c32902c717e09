"""Checks as they are collected: what they share with others, what they inherit, in which order."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.authoring.translations import course_messages
from grader.core.errors import CourseError, GraderFault
from grader.core.records import Visibility
from grader.course.check_helpers import helpers_of, hidden_helpers, imported_helpers
from grader.course.course import CHECKS, Course, load_course
from grader.judging.collect import collect
from grader.judging.run import Check
from grader.release.students import check_files
from grader.testing.draw import Draw

ALL = (Visibility.VISIBLE, Visibility.HIDDEN)
VISIBLE, HIDDEN = f"{CHECKS}/01_scores/test_visible.py", f"{CHECKS}/01_scores/test_hidden.py"
OWN, SHARED = f"{CHECKS}/01_scores/helpers.py", f"{CHECKS}/helpers.py"
OF_THE_COURSE = '''\
from grader.testing import N_


def judge_number(judge, value):
    judge.that(value == NUMBER, "It is another number")


class HasNumber:
    def test_a_number_that_is_shared(self, judge):
        """The number should be right."""
        judge_number(judge, 1)


NUMBER = 1
'''
OF_AN_ASSIGNMENT = "from ..helpers import HasNumber, judge_number\n"

Write = Callable[..., Course]


@pytest.fixture
def written(course_copy: Path) -> Write:
    """The example course with more files, and with lines before its check files."""

    def write(files: dict[str, str], lines: dict[str, str] | None = None) -> Course:
        for path, text in files.items():
            (course_copy / path).write_text(text, "utf-8")
        for path, line in (lines or {}).items():
            file = course_copy / path
            file.write_text(line + file.read_text("utf-8"), "utf-8")
        return load_course(course_copy)

    return write


def edited(course: Course, old: str, new: str, before: str = "") -> Course:
    """The course with an edit of its visible checks, and lines before them."""
    path = course.root / VISIBLE
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(before + text.replace(old, new), "utf-8")
    return load_course(course.root)


def inheriting(course: Course, mixins: str, imported: str) -> Course:
    """The course with a class of visible checks that inherits."""
    return edited(course, "class TestScores:", f"class TestScores({mixins}):", f"{imported}\n")


def checks_of(course: Course) -> dict[str, Check]:
    """The visible checks of the first exercise, by name."""
    return {check.name: check for check in collect(course, ("01_scores/scores",), ALL[:1])}


def test_a_class_inherits_from_the_helpers_of_its_assignment_and_these_from_the_courses(
    written: Write,
) -> None:
    """Files beside the checks, by relative imports."""
    course = written({SHARED: OF_THE_COURSE, OWN: OF_AN_ASSIGNMENT})
    course = inheriting(course, "HasNumber", "from .helpers import HasNumber")
    check = checks_of(course)["test_a_number_that_is_shared"]
    assert (check.title, check.file) == ("The number should be right.", VISIBLE)


def test_each_course_has_helpers_of_its_own(written: Write, tmp_path: Path) -> None:
    """They have the same names; what was loaded for another course does not count."""
    course = written({SHARED: OF_THE_COURSE})
    inheriting(course, "HasNumber", "from ..helpers import HasNumber")
    other = tmp_path / "other"
    shutil.copytree(course.root, other)
    text = OF_THE_COURSE.replace("The number", "The other number")
    (other / SHARED).write_text(text, "utf-8")
    for root, name in ((course.root, "number"), (other, "other number"), (course.root, "number")):
        check = checks_of(load_course(root))["test_a_number_that_is_shared"]
        assert check.title == f"The {name} should be right."


@pytest.mark.parametrize(
    ("text", "said"),
    [("1 / 0\n", "ZeroDivisionError: division by zero"), ("def\n", "SyntaxError: invalid syntax")],
)
def test_a_helper_that_cannot_be_loaded_is_told(written: Write, text: str, said: str) -> None:
    """By its path; the next attempt finds it repaired."""
    course = written({SHARED: text}, {VISIBLE: "from ..helpers import NUMBER\n"})
    with pytest.raises(GraderFault) as caught:
        checks_of(course)
    assert str(caught.value).startswith(f"checks could not be collected: {SHARED}: {said}")
    assert checks_of(written({SHARED: "NUMBER = 1\n"}))


def test_what_is_inherited_follows_what_is_the_classes_own(written: Write) -> None:
    """But for gates; what the kit has comes after what the course has, and remarks last."""
    gate = OF_THE_COURSE.replace(
        "class HasNumber:\n",
        "class HasNumber:\n"
        "    @pytest.mark.gate\n"
        "    def test_a_gate_that_is_shared(self, judge):\n"
        '        """It should be there."""\n\n',
    )
    course = written({SHARED: f"import pytest\n{gate}"})
    imported = "from ..helpers import HasNumber\nfrom grader.testing.mixins import *"
    course = inheriting(course, "KeepsNames, KeepsArguments, HasNumber", imported)
    checks = checks_of(course)
    assert list(checks) == [
        "test_a_score_for_each_query_and_key",
        "test_a_gate_that_is_shared",
        "test_the_scores_as_printed",
        "test_as_many_queries_as_keys",
        "test_a_number_that_is_shared",
        "test_the_arguments_are_left_as_they_are",
        "test_the_parameters_keep_their_names",
        "test_keys_of_another_size_are_refused",
    ]
    assert checks["test_the_arguments_are_left_as_they_are"].is_conduct
    assert checks["test_the_parameters_keep_their_names"].weight == 0


def test_students_receive_the_helpers_that_visible_checks_import(written: Write) -> None:
    """Those that only hidden ones import stay with the authors."""
    files = {SHARED: OF_THE_COURSE, OWN: OF_AN_ASSIGNMENT}
    course = written(files, {HIDDEN: "from .helpers import judge_number\n"})
    hidden = (course.root / SHARED, course.root / OWN)
    assert helpers_of(course) == hidden_helpers(course) == hidden
    assert imported_helpers([course.root / HIDDEN]) == hidden
    both = [f"{CHECKS}/{id_}/test_visible.py" for id_ in ("01_scores", "02_mixture")]
    assert [file.path for file in check_files(course, course.assignments)] == both
    course = written({}, {VISIBLE: "from ..helpers import judge_number\n"})
    assert hidden_helpers(course) == (course.root / OWN,)
    assert [file.path for file in check_files(course, course.assignments)] == [*both, SHARED]


@pytest.mark.slow
def test_what_helpers_say_is_there_to_translate(written: Write) -> None:
    """Titles and sentences, by the file."""
    law = '\ndef law(judge, costs):\n    judge.grows(costs, at_most=2, step="step {number}")\n'
    course = written({SHARED: OF_THE_COURSE + law})
    said = {message.id for message in course_messages(course) if message.file == SHARED}
    assert said == {"The number should be right.", "It is another number", "step {number}"}


def test_a_check_that_is_inherited_breaks_at_a_line_of_its_own_file(written: Write) -> None:
    """Where its class says what the inputs are, not where the kit asks for them."""
    course = inheriting(written({}), "KeepsArguments", "from grader.testing.mixins import *")
    head, line = (
        "(KeepsArguments):\n",
        "    def inputs(self, draw, dtype=None):\n        return 1 / 0\n",
    )
    course = edited(course, head, head + line)
    text = (course.root / VISIBLE).read_text("utf-8")
    check = checks_of(course)["test_the_arguments_are_left_as_they_are"]
    with pytest.raises(ZeroDivisionError) as caught:
        check.function(check.owner(), attempt=None, draw=None)
    number = text[: text.index("return 1 / 0")].count("\n") + 1
    assert check.line_of(caught.value) == f"{VISIBLE}:{number}: "


def test_a_class_says_what_its_function_is_called_with_by_shapes(written: Write) -> None:
    """Normal tensors of these shapes are drawn, in their order; a class that says none has none."""
    course = inheriting(written({}), "KeepsArguments", "from grader.testing.mixins import *")
    owner = checks_of(course)["test_the_arguments_are_left_as_they_are"].owner()
    with pytest.raises(NotImplementedError, match="neither `shapes` nor `inputs`"):
        owner.inputs(Draw("1", "check"))
    owner.shapes = ((2, 3), (4,))
    drawn, again = owner.inputs(Draw("1", "check")), Draw("1", "check")
    assert [one.tolist() for one in drawn] == [again.normal(*s).tolist() for s in owner.shapes]


def test_a_check_with_parameters_or_of_other_fixtures_is_told(written: Write) -> None:
    """All of them at once; marks mean what they mean to pytest."""
    course, head = written({}), "class TestScores:\n"
    lines = (
        '    @pytest.mark.parametrize("judge", [1])\n    def test_0(self, student, judge):',
        "    def test_1(self, student, tmp_path):",
    )
    more = "".join(f'{line}\n        """It holds."""\n\n' for line in lines)
    with pytest.raises(CourseError) as caught:
        checks_of(edited(course, head, head + more))
    have = "checks have attempt, student, reference, judge, draw, printed"
    (owner,) = {problem.split("::")[1] for problem in caught.value.problems}
    assert list(caught.value.problems) == [
        f"{VISIBLE}::{owner}::test_0: it asks for parameters; {have}",
        f"{VISIBLE}::{owner}::test_1: it asks for `tmp_path`; {have}",
    ]
