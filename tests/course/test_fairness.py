"""What is right passes, however it is written: no check fails and no mistake is named."""

import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from grader.core.records import Outcome, Result
from grader.course.course import Assignment, Course, Exercise
from grader.judging.fixtures import CheckEnvironment, live_environment
from grader.judging.known_mistakes import LiveMistakes, RecordedMistakes
from grader.judging.submission_grader import Scope, SubmissionGrader, grade
from grader.sessions.child import ChildSession
from grader.sessions.launchers import Launcher
from grader.submissions.submission import Submission, read_submission
from grader.testing.lookup import SubmissionHandle

pytestmark = pytest.mark.slow

VARIANTS = Path(__file__).parent / "variants"
FILES = sorted(VARIANTS.glob("*/*.py"))
TRIED = list({path.parent: path for path in FILES[7::8]}.values())
"""What `make test` grades, one of each assignment; the proof grades all, and, before a release,
every fourth on inputs from a second seed.
"""

QUICK = FILES[7::24]

HEADS = [path for path in FILES if path.parent.name == "07_causal_attention"]
WRAPPER = VARIANTS / "08_multi_head_wrapper" / "as_in_the_documents.py"

SEEDED = [(path, "1") for path in FILES] + [(path, "2") for path in FILES[::4]]


def tier(path: Path, seed: str) -> tuple[pytest.MarkDecorator, ...]:
    """The markers of a case."""
    if seed != "1":
        return pytest.mark.proof, pytest.mark.long
    if path not in TRIED:
        return (pytest.mark.proof,)
    return () if path in QUICK else (pytest.mark.slow,)


CASES = [
    pytest.param(
        path, seed, id=f"{path.parent.name}/{path.stem}, seed {seed}", marks=tier(path, seed)
    )
    for path, seed in SEEDED
]

Judged = Callable[[CheckEnvironment, Submission, str], list[str]]


@pytest.fixture(scope="module")
def workbenches(course: Course) -> Iterator[dict[str, CheckEnvironment]]:
    """What to grade with, by seed."""
    found = {seed: live_environment(course, seed) for seed in ("1", "2")}
    yield found
    for environment in found.values():
        environment.close()


def hand_in(course: Course, path: Path, folder: Path, *others: Path) -> Submission:
    """A variant, handed in beside others, or the solutions, of what its assignment builds on."""
    assignment = course.by_id[path.parent.name]
    solutions = [course.paths(course.by_id[id_]).solution for id_ in assignment.imports]
    for file in (*solutions, *others, path):
        place = course.by_id[file.parent.name]
        (folder / place.id).mkdir(exist_ok=True)
        shutil.copyfile(file, folder / place.id / f"{place.module}.py")
    return read_submission(course, folder, path.stem)


def defined(handle: SubmissionHandle, assignment: Assignment) -> dict[str, Exercise]:
    """The exercises of an assignment that a submission defines."""
    names = handle.locate(assignment.exercises[0]).names
    return {exercise.id: exercise for exercise in assignment.exercises if exercise.name in names}


def complaints(result: Result) -> list[str]:
    """What did not pass, remarks aside, and what was taken for a mistake."""
    exercises = [exercise for assignment in result.assignments for exercise in assignment.exercises]
    failed = [
        f"{check.id}: {check.outcome}: {check.message}"
        for exercise in exercises
        for check in exercise.checks
        if check.outcome not in (Outcome.PASSED, Outcome.REMARK)
    ]
    named = [f"{exercise.id}: {exercise.findings}" for exercise in exercises if exercise.findings]
    short = [f"{e.id}: {e.score} of {e.max_score}" for e in exercises if e.score != e.max_score]
    return [*failed, *named, *short]


def graded(
    course: Course,
    bench: SubmissionGrader,
    launcher: Launcher,
    submission: Submission,
    assignment: Assignment,
) -> Result:
    """The result of what a submission defines of an assignment."""
    session = ChildSession(launcher, submission, course.limits)
    try:
        handle = SubmissionHandle(submission, session, course.limits)
        exercises = defined(handle, assignment)
        assert exercises
        return grade(bench, submission, session, Scope(exercises))
    finally:
        session.close()


@pytest.fixture
def judged(course: Course, launcher: Launcher) -> Judged:
    """Grades a submission's part in an assignment, and answers what is wrong with it.

    Known mistakes are run only where a check did not pass: elsewhere no name is given.
    """

    def judge(environment: CheckEnvironment, submission: Submission, id_: str) -> list[str]:
        assignment = course.by_id[id_]
        nameless = SubmissionGrader(environment, RecordedMistakes({}))
        found = complaints(graded(course, nameless, launcher, submission, assignment))
        if not found:
            return []
        bench = SubmissionGrader(environment, LiveMistakes(environment))
        return complaints(graded(course, bench, launcher, submission, assignment))

    return judge


@pytest.mark.parametrize(("path", "seed"), CASES)
def test_what_is_right_gets_full_marks(
    path: Path,
    seed: str,
    course: Course,
    workbenches: dict[str, CheckEnvironment],
    judged: Judged,
    tmp_path: Path,
) -> None:
    """A right variant gets full marks in all it defines, and no mistake is named."""
    submission = hand_in(course, path, tmp_path)
    assert judged(workbenches[seed], submission, path.parent.name) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "head",
    [
        pytest.param(path, id=path.stem, marks=pytest.mark.proof if number else ())
        for number, path in enumerate(HEADS)
    ],
)
def test_a_wrapper_of_any_right_heads_gets_full_marks(
    head: Path,
    course: Course,
    workbenches: dict[str, CheckEnvironment],
    judged: Judged,
    tmp_path: Path,
) -> None:
    """Assignment 08 goes by the student's own heads, however these are written."""
    submission = hand_in(course, WRAPPER, tmp_path, head)
    assert judged(workbenches["1"], submission, WRAPPER.parent.name) == []


def test_there_are_variants_of_every_assignment(course: Course) -> None:
    """Every assignment of the course has at least four variants, one of them in `make test`."""
    counts = Counter(path.parent.name for path in FILES)
    assert {id_: counts[id_] >= 4 for id_ in course.by_id} == dict.fromkeys(course.by_id, True)
    assert counts.keys() == course.by_id.keys() == {path.parent.name for path in TRIED}
    assert len(FILES) >= 50


def test_every_variant_says_what_is_special_about_it() -> None:
    """A variant's first line is a comment."""
    firsts = {path.stem: path.read_bytes().lstrip(b"\xef\xbb\xbf")[:2] for path in FILES}
    assert firsts == dict.fromkeys(firsts, b"# ")
