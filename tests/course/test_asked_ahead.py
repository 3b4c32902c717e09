"""What is asked at once changes no outcome, no message and no name, whatever was handed in."""

import re
import shutil
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from grader.core.records import Visibility
from grader.course.course import Course
from grader.course.misconceptions import read_misconceptions
from grader.judging.answer_cache import AnswerCache
from grader.judging.results import to_json
from grader.judging.submission_grader import Scope, SubmissionGrader, grade
from grader.sandbox.wire import Frame, decode_header, split
from grader.sessions.child import ChildSession
from grader.sessions.in_process import InProcessSession
from grader.sessions.launchers import Launcher
from grader.submissions.submission import read_submission

TESTS = Path(__file__).parents[1]
TIME_OF_DAY = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d+")
CLASSES = (TESTS / "example_class" / "submissions", TESTS / "hand_ins" / "submissions")
SOME = ("scale_forgotten", "exits_the_process")
"""What `make test` hands in; the proof hands in everything."""
LONG = (
    "chapter_named_like_one_assignment",
    "dictionary_config",
    "einops_in_some_answers",
    "endless_loop",
    "endless_loop_at_import",
    "lightning_module",
    "main_with_argparse",
    "misspelt_constructor",
    "misspelt_methods",
    "one_projection_for_all",
    "seed_in_the_constructor",
    "tabs_and_form_feeds",
    "two_notebooks",
    "wrong_shape",
)
"""Whose records take longest to make twice: before a release alone."""


def handed_in() -> Iterator[Any]:
    """Each student of the example class and each hand-in."""
    for student in sorted(path for folder in CLASSES for path in folder.iterdir()):
        marks = [] if student.name in SOME else [pytest.mark.proof]
        marks += [pytest.mark.long] if student.name in LONG else []
        yield pytest.param(student, id=student.name, marks=[pytest.mark.slow, *marks])


def variants() -> Iterator[Any]:
    """Each right answer in other words; three of four before a release alone."""
    for number, path in enumerate(sorted((TESTS / "course" / "variants").glob("*/*.py"))):
        marks = [pytest.mark.proof, *[pytest.mark.long] * (number % 4 > 0)]
        yield pytest.param(path, id=f"{path.parent.name[:2]}-{path.stem}", marks=marks)


def without_time(value: Any) -> Any:
    """A record without durations, and without the times of day that code printed."""
    if isinstance(value, str):
        return TIME_OF_DAY.sub("", value)
    if isinstance(value, dict):
        return {key: without_time(part) for key, part in value.items() if key != "duration_s"}
    return [without_time(part) for part in value] if isinstance(value, list) else value


@pytest.fixture
def differs(course: Course, grader: SubmissionGrader, launcher: Launcher) -> Any:
    """Whether a folder's record is another one when each check asks by itself."""

    def record(grader: SubmissionGrader, folder: Path, scope: Scope) -> Any:
        forgetful = replace(grader, answers=AnswerCache())
        submission = read_submission(course, folder, "student")
        with closing(ChildSession(launcher, submission, course.limits)) as session:
            return without_time(to_json(grade(forgetful, submission, session, scope)))

    def compare(folder: Path, *assignments: str) -> bool:
        exercises = {
            id_: exercise
            for id_, exercise in course.exercises.items()
            if not assignments or exercise.assignment in assignments
        }
        alone = record(replace(grader, expected=None), folder, Scope(exercises))
        assert alone["assignments"]
        return bool(record(grader, folder, Scope(exercises)) != alone)

    return compare


@pytest.mark.parametrize("folder", list(handed_in()))
def test_what_is_handed_in_has_the_same_record(folder: Path, differs: Any) -> None:
    """Loops, deaths, floods of output and notebooks that break off among them."""
    assert not differs(folder)


@pytest.mark.parametrize("path", list(variants()))
def test_a_right_answer_in_other_words_has_the_same_record(
    path: Path, course: Course, differs: Any, tmp_path: Path
) -> None:
    """Beside the solutions of what it imports."""
    assignment = course.by_id[path.parent.name]
    for id_ in course.with_imports(assignment):
        (tmp_path / id_).mkdir()
        shutil.copy(course.paths(course.by_id[id_]).solution, tmp_path / id_)
    shutil.copy(path, tmp_path / assignment.id / f"{assignment.module}.py")
    assert not differs(tmp_path, assignment.id)


@pytest.mark.proof
@pytest.mark.long
@pytest.mark.parametrize("number", [f"{number:02}" for number in range(1, 17)])
def test_known_mistakes_have_the_same_record(
    number: str, course: Course, differs: Any, tmp_path: Path
) -> None:
    """Each by itself."""
    assignment = next(a for a in course.assignments if a.id.startswith(number))
    for id_ in course.with_imports(assignment):
        (tmp_path / id_).mkdir()
        shutil.copy(course.paths(course.by_id[id_]).solution, tmp_path / id_)
    file = tmp_path / assignment.id / f"{assignment.module}.py"
    text = file.read_text("utf-8")
    found = []
    for mistake in read_misconceptions(course, assignment):
        file.write_text(text.replace(mistake.find, mistake.replace), "utf-8")
        found += [mistake.mistake.id] if differs(tmp_path, assignment.id) else []
    assert found == []


BUILT_ON_REPLIES = {
    "15_cache/CachedAttention": "visible::test_one_token_after_the_other",
    "15_cache/generate_cached": "visible::test_eight_tokens_cost_eight_steps",
    "17_a_model_that_writes/attend": "hidden::test_unseen_texts",
}
"""By exercise, a check that hands back what came back."""


@pytest.mark.slow
@pytest.mark.parametrize("id_", BUILT_ON_REPLIES)
def test_what_the_solution_replied_is_not_sent_ahead(
    id_: str, course: Course, grader: SubmissionGrader
) -> None:
    """A student's process could read it before it replies itself; such checks ask by themselves."""
    exercise, asked = course.exercises[id_], dict[str, tuple[bytes, ...]]()
    checks = grader.checks(Scope({id_: exercise}))
    assert grader.expected is not None
    for visibility in Visibility:
        some = [check for check in checks if check.visibility is visibility]
        asked |= grader.expected.of(exercise, some).requests
    assert f"{id_}::{BUILT_ON_REPLIES[id_]}" not in asked
    assert len(asked) > len(checks) / 3
    with closing(InProcessSession(grader.environment.reference.submission)) as session:
        for check, requests in asked.items():
            assert not repeated(session, requests), check


def repeated(session: InProcessSession, requests: tuple[bytes, ...]) -> list[int]:
    """Which of these requests hold eight numbers in a row that only an earlier reply has."""
    session.ask(Frame({"verb": "forget"}), 1.0)
    known, replied, found = set[bytes](), set[bytes](), []
    for number, request in enumerate(requests):
        ((text, payload),) = split(request)
        given = in_eights(payload)
        if replied & (given - known):
            found.append(number)
        known |= given
        replied |= in_eights(session.ask(Frame(decode_header(text), payload), 60.0).payload) - known
    return found


def in_eights(payload: bytes) -> set[bytes]:
    """All eight numbers of four bytes in a row, but where they are nearly all the same."""
    windows = (payload[start : start + 32] for start in range(0, len(payload) - 31, 4))
    return {window for window in windows if len(set(window)) > 8}
