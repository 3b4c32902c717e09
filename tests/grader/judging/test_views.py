"""Views: how they are declared, loaded, and run against a student's code."""

from pathlib import Path

import pytest
import torch
from example_views import VIEW, write_views

from grader.authoring.check_proofs import Validation, views_show_solutions
from grader.core.errors import CourseError, UsageError
from grader.core.views import ViewResult
from grader.course.course import CHECKS, Course, load_course
from grader.judging.fixtures import live_environment, read_solutions
from grader.judging.views import ViewRun, Views, load_views
from grader.release.students import check_files
from grader.sandbox.failures import stub_message
from grader.sessions.in_process import InProcessSession
from grader.submissions.submission import read_submission
from grader.testing import ExampleText
from grader.testing.lookup import SubmissionHandle

STUB = stub_message("01_scores/scores")
EXAMPLE = ExampleText("One small step", [[0.0, 1.0], [0.5, 0.5], [1.0, 0.25]])


def result_of(course: Course, work: str | None = None, words: str | None = None) -> ViewResult:
    """What the first view shows of some work; of the solution unless given."""
    found = load_views(course, course.exercises)
    submission = read_solutions(course)
    if work is not None:
        folder = course.root / "work" / "01_scores"
        folder.mkdir(parents=True)
        (folder / "scores.py").write_text(work, "utf-8")
        submission = read_submission(course, folder.parent, "me")
    session = InProcessSession(submission)
    handle = SubmissionHandle(submission, session, course.limits, course.assignments)
    text = found.example and found.example.text(words)
    environment = live_environment(course, "visible")
    return ViewRun(environment, handle, text).run(found.views[0])


def test_a_view_shows_what_the_code_returns_for_each_setting(course_copy: Path) -> None:
    """One state for each value that can be moved, labelled with the words of the text."""
    result = result_of(write_views(course_copy))
    assert (result.title, result.look) == ("Scores of the first word", "They grow with the query.")
    assert result.ask == "By how much?"
    assert [result.setting(state) for state in range(len(result.states))] == [(1,), (2,)]
    (one,), (two,) = result.states
    assert one.values == ((0.7071068, 0.3535534, 0.1767767),)
    assert two.values == ((1.414214, 0.7071068, 0.3535534),)
    assert (one.rows.labels, one.columns.labels) == (("One",), ("One", "small", "step"))
    assert (one.rows.name, one.columns.name) == ("query", "key")
    assert not result.problem


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ("return 1", "scores returned 1; the picture needs a tensor of shape (1, 3)."),
        (
            "return keys[:2]",
            "scores returned a tensor of shape (2, 2); the picture needs a tensor of",
        ),
        (f"raise NotImplementedError({STUB!r})", "scores is not attempted yet: "),
        ("return queries + nothing", "scores.py:2: scores raised NameError: name 'nothing' is not"),
    ],
)
def test_what_cannot_be_shown_says_why(course_copy: Path, body: str, sentence: str) -> None:
    """There is a plain sentence where there is no picture."""
    result = result_of(write_views(course_copy), f"def scores(queries, keys):\n    {body}\n")
    assert sentence in result.problem
    assert result.states == ()


def test_a_file_that_does_not_run_says_where(course_copy: Path) -> None:
    """The line that stops it, which `grader check` shows as well."""
    work = "print(nothing)\n\n\ndef scores(queries, keys):\n    return 1\n"
    result = result_of(write_views(course_copy), work)
    first = "scores.py does not run: line 1: NameError: name 'nothing' is not defined"
    assert result.problem.splitlines()[:2] == [first, "    print(nothing)"]


def test_a_view_that_fails_itself_says_so(course_copy: Path) -> None:
    """What an author got wrong ends no command."""
    view = VIEW.replace("text.vectors[:1]", "text.vectors[:1][9]")
    result = result_of(write_views(course_copy, view))
    assert result.problem.startswith("The picture could not be made (IndexError: ")


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ('"scores"', '"scale"', "there is no exercise scale in the assignment"),
        ("heat, size", "heat, d", "it asks for `d`; views have heat, size, student, text"),
        (", size):", "):", "it moves `size` and has no parameter of that name"),
        ("[1, 2]", "[1]", "what is moved has at least two values"),
        ("[1, 2]", "range(65)", "it moves at most 2 things, and has at most 64 states"),
        ('N_("By how much?")', '""', "it has a title, what to look for, and a question"),
    ],
)
def test_a_wrong_declaration_is_the_authors(
    course_copy: Path, old: str, new: str, problem: str
) -> None:
    """Each problem has the file and the function."""
    course = write_views(course_copy, VIEW.replace(old, new, 1))
    with pytest.raises(CourseError) as raised:
        load_views(course, course.exercises)
    assert f"{CHECKS}/01_scores/views.py: first: {problem}" in raised.value.problems


def test_views_are_released_and_decide_no_score(course_copy: Path) -> None:
    """They are in students' copies, and changing one grades nobody again."""
    before = load_course(course_copy)
    assert load_views(before, before.exercises) == Views(before)
    course = write_views(course_copy)
    released = {file.path for file in check_files(course, course.assignments)}
    assert {f"{CHECKS}/views.py", f"{CHECKS}/01_scores/views.py"} <= released
    assert course.hash == before.hash


def test_other_words_have_random_vectors_that_stay() -> None:
    """Words of the example keep theirs, however they are written; the same word has the same."""
    text, again = (EXAMPLE.text("one giant step, giant!") for _ in range(2))
    assert text.words == ("one", "giant", "step", "giant")
    assert torch.equal(text.vectors, again.vectors)
    assert text.vectors[[0, 2]].tolist() == [[0.0, 1.0], [1.0, 0.25]]
    assert torch.equal(text.vectors[1], text.vectors[3])
    assert text.notes == ("Not in the example: giant. Its vector is random, the same each time.",)
    assert EXAMPLE.text().notes == ()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (" … ", "--text holds no words. Give it a few, in quotation marks."),
        ("word " * 40, "--text has 40 words; at most 12 can be shown."),
    ],
)
def test_a_text_has_one_to_twelve_words(words: str, sentence: str) -> None:
    """Anything else is a sentence."""
    with pytest.raises(UsageError) as raised:
        EXAMPLE.text(words)
    assert str(raised.value) == sentence


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("", "", ""),
        ("By how much?", "By how much.", "its question has no question mark"),
        (
            *("text.words[:1],", "text.words[:2],"),
            "the solution shows nothing: scores returned a tensor of shape (1, 3); the picture "
            "needs a tensor of shape (2, 3).",
        ),
    ],
)
def test_validate_proves_views(course_copy: Path, old: str, new: str, fault: str) -> None:
    """Each shows the solution, for its own text, for one word and for twelve."""
    course = write_views(course_copy, VIEW.replace(old, new))
    validation = Validation(course, dict(course.exercises), lambda _proof, items: items)
    faults = list(views_show_solutions(validation))
    assert faults[:1] == [f"{CHECKS}/01_scores/views.py: scores: {fault}"] * bool(fault)
