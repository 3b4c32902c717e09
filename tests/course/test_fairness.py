"""What is right passes, however it is written: no check fails and no mistake is named."""

import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.course import Assignment, Course, Exercise, load_course
from grader.grading import Bench, Scope, grade, grading_bench
from grader.handle import SubmissionHandle
from grader.model import Outcome, Result
from grader.sessions.child import ChildSession, Launcher, default_launcher
from grader.submission import Submission, read_submission

VARIANTS = Path(__file__).parent / "variants"
FILES = sorted(VARIANTS.glob("*/*.py"))
SAMPLE = FILES[::4]
"""These are graded on hidden inputs from a second seed, too."""

SEEDED = [(path, "1") for path in FILES] + [(path, "2") for path in SAMPLE]
NAMES = [f"{path.parent.name}/{path.stem}, seed {seed}" for path, seed in SEEDED]


@pytest.fixture(scope="module")
def course(root: Path) -> Course:
    """The course itself."""
    return load_course(root)


@pytest.fixture(scope="module")
def benches(course: Course) -> Iterator[dict[str, Bench]]:
    """What to grade with, by seed."""
    found = {seed: grading_bench(course, seed) for seed in ("1", "2")}
    yield found
    for bench in found.values():
        bench.close()


@pytest.fixture(scope="module")
def launcher() -> Iterator[Launcher]:
    """Makes the child processes that variants run in."""
    made = default_launcher()
    yield made
    made.close()


def hand_in(course: Course, path: Path, folder: Path) -> Submission:
    """A variant, handed in beside the solutions of what its assignment builds on."""
    assignment = course.by_id[path.parent.name]
    for imported in map(course.by_id.__getitem__, assignment.imports):
        shutil.copytree(course.paths(imported).solution.parent, folder / imported.id)
    (folder / assignment.id).mkdir()
    shutil.copyfile(path, folder / assignment.id / f"{assignment.module}.py")
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


@pytest.mark.parametrize(("path", "seed"), SEEDED, ids=NAMES)
def test_what_is_right_gets_full_marks(
    path: Path,
    seed: str,
    course: Course,
    benches: dict[str, Bench],
    launcher: Launcher,
    tmp_path: Path,
) -> None:
    """A right variant gets full marks in all it defines, and no mistake is named."""
    submission = hand_in(course, path, tmp_path)
    session = ChildSession(launcher, submission, course.limits)
    try:
        handle = SubmissionHandle(submission, session, course.limits)
        exercises = defined(handle, course.by_id[path.parent.name])
        assert exercises
        result = grade(benches[seed], submission, session, Scope(exercises))
    finally:
        session.close()
    assert complaints(result) == []


def test_there_are_variants_of_every_assignment(course: Course) -> None:
    """Every assignment of the course has at least four variants, and there are at least fifty."""
    counts = Counter(path.parent.name for path in FILES)
    assert {id_: counts[id_] >= 4 for id_ in course.by_id} == dict.fromkeys(course.by_id, True)
    assert counts.keys() == course.by_id.keys()
    assert len(FILES) >= 50


def test_every_variant_says_what_is_special_about_it() -> None:
    """A variant's first line is a comment."""
    firsts = {path.stem: path.read_bytes().lstrip(b"\xef\xbb\xbf")[:2] for path in FILES}
    assert firsts == dict.fromkeys(firsts, b"# ")
