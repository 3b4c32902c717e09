"""The same work gets the same scores: in any order, in either form, by whoever it is graded."""

import ast
import json
import os
import shutil
import subprocess
import sys
import tempfile
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
import torch
from nbformat import v4

from grader.classes.worker import grade_student
from grader.core.records import Outcome, Result
from grader.course.course import Assignment, Course
from grader.intake.folders import read_class
from grader.judging.fixtures import live_environment
from grader.judging.known_mistakes import LiveMistakes, RecordedMistakes
from grader.judging.results import to_json
from grader.judging.submission_grader import Scope, SubmissionGrader, full_grader, grade
from grader.sessions.child import ChildSession
from grader.sessions.launchers import Launcher
from grader.submissions.submission import read_submission

pytestmark = pytest.mark.xdist_group("same scores")

VARIANTS = Path(__file__).parent / "variants"
SEED = "1"
NOBODY = 65_534

FEW = 20
"""Only exercises with at most so many known mistakes are handed in with one: to recognise it, all
of them are run.
"""

SOME = ("01", "05", "06", "10", "11")
"""Assignments to grade where the whole course would take long."""

SHORT = ("01", "03", "06")
"""Assignments that the class of `make test` hands in; that of the proof hands in all."""

WHOLE = ()
OF_THE_WHOLE_COURSE = pytest.mark.parametrize("scripts", [WHOLE], ids=["whole"], indirect=True)


# A small class: one student with everything right, one with a mistake here and there, and one who
# has the half of both.


def right_answer(assignment: Assignment) -> bytes:
    """A variant of a whole assignment."""
    folder = VARIANTS / assignment.id
    preferred = folder / "as_in_the_documents.py"
    return (preferred if preferred.is_file() else min(folder.glob("*.py"))).read_bytes()


def mistaken_answers(known_mistakes: LiveMistakes, assignment: Assignment) -> list[bytes]:
    """The solution with a mistake in its last exercise, once for each that is known."""
    known = known_mistakes.of(assignment.exercises[-1])
    made = [known_mistakes.with_mistakes(assignment.exercises[-1], one) for one in known]
    key = known_mistakes.solutions.readings[assignment.id].sources[0]
    return [one.sources[key].cells[0].text.encode() for one in made if one is not None]


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(SHORT, id="short"),
        pytest.param(WHOLE, id="whole", marks=[pytest.mark.proof, pytest.mark.long]),
    ],
)
def scripts(
    course: Course, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Path:
    """The class's folder."""
    folder = tmp_path_factory.mktemp("scripts")
    bench = full_grader(course, SEED)
    assert isinstance(bench.mistakes, LiveMistakes)
    for number, assignment in enumerate(course.assignments):
        if request.param and assignment.id[:2] not in request.param:
            continue
        answers = dict.fromkeys(("right", "half"), right_answer(assignment))
        mistaken = mistaken_answers(bench.mistakes, assignment)
        stands = all((folder / "mistaken" / one).is_dir() for one in assignment.imports)
        if 0 < len(mistaken) <= FEW and stands:
            answers["mistaken"] = mistaken[0]
            answers["half"] = answers["half"] if number % 2 else mistaken[-1]
        for student, answer in answers.items():
            path = folder / student / assignment.id / f"{assignment.module}.py"
            path.parent.mkdir(parents=True)
            path.write_bytes(answer)
    bench.close()
    return folder


def as_notebook(path: Path) -> str:
    """A notebook of a script's code: a cell for each statement, and what stands before it."""
    with tokenize.open(path) as file:
        lines = file.read().splitlines()
    ends = [statement.end_lineno or 0 for statement in ast.parse("\n".join(lines)).body]
    starts = [0, *ends]
    cells = ["\n".join(lines[start:end]) for start, end in zip(starts, ends, strict=False)]
    notebook = v4.new_notebook(cells=[v4.new_code_cell(cell) for cell in cells])
    return nbformat.writes(notebook)


@pytest.fixture(scope="module")
def notebooks(scripts: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same class, with a notebook for each script."""
    folder = tmp_path_factory.mktemp("notebooks")
    for script in scripts.rglob("*.py"):
        path = folder / script.relative_to(scripts).with_suffix(".ipynb")
        path.parent.mkdir(parents=True)
        path.write_text(as_notebook(script), "utf-8")
    return folder


def record(result: Result) -> dict[str, Any]:
    """The record of a result, without the time that checks took."""
    content = to_json(result)
    for assignment in content["assignments"]:
        for exercise in assignment["exercises"]:
            for check in exercise["checks"]:
                del check["duration_s"]
    return content


def scores(content: dict[str, Any]) -> dict[str, Any]:
    """Of a record: scores, how each check ended, and the mistakes that were named."""
    exercises = [exercise for a in content["assignments"] for exercise in a["exercises"]]
    return {
        exercise["id"]: {
            "score": exercise["score"],
            "findings": exercise["findings"],
            "checks": {check["id"]: check["outcome"] for check in exercise["checks"]},
        }
        for exercise in exercises
    }


def of_some(course: Course, content: dict[str, Any]) -> dict[str, Any]:
    """The scores of a record, of some assignments only."""
    found = scores(content)
    return {id_: found[id_] for id_ in course.select(SOME)}


Graded = dict[str, dict[str, Any]]


@pytest.fixture(scope="module")
def bench(course: Course, launcher: Launcher) -> Iterator[SubmissionGrader]:
    """What to grade with."""
    made = full_grader(course, SEED, launcher=launcher)
    yield made
    made.close()


@pytest.fixture(scope="module")
def usual(scripts: Path, bench: SubmissionGrader, launcher: Launcher) -> Graded:
    """The class's records, graded as usual: by name, on one thread."""
    return {one.id: record(grade_student(bench, launcher, one)) for one in read_class(scripts)}


@pytest.mark.slow
def test_the_class_is_one_that_can_tell(course: Course, scripts: Path, usual: Graded) -> None:
    """There are full marks in it, and points lost to mistakes with a name."""
    right = scores(usual["right"]).values()
    assert [one["findings"] for one in right] == [[]] * len(right)
    handed_in = {path.name for path in (scripts / "right").iterdir()}
    points = sum(e.points for e in course.exercises.values() if e.assignment in handed_in)
    assert usual["right"]["score"] == sum(one["score"] for one in right) == points
    for student in ("mistaken", "half"):
        named = [one["findings"] for one in scores(usual[student]).values() if one["findings"]]
        assert len(named) >= 2
        assert usual[student]["score"] < usual["right"]["score"]


@OF_THE_WHOLE_COURSE
@pytest.mark.proof
def test_the_order_of_students_does_not_matter(
    course: Course, scripts: Path, usual: Graded, launcher: Launcher
) -> None:
    """In another order, and when their turn comes again, students have the same records."""
    students = {student.id: student for student in read_class(scripts)}
    order = ["right", "mistaken", "half", "right"]
    bench = full_grader(course, SEED)
    found = [record(grade_student(bench, launcher, students[name])) for name in order]
    bench.close()
    assert found == [usual[name] for name in order]


@OF_THE_WHOLE_COURSE
@pytest.mark.proof
def test_the_number_of_threads_does_not_matter(
    course: Course, scripts: Path, usual: Graded, launcher: Launcher
) -> None:
    """With four of torch's threads on the trusted side, scores are the same."""
    submission = read_submission(course, scripts / "half", "half")
    session = ChildSession(launcher, submission, course.limits)
    bench = full_grader(course, SEED)
    before = torch.get_num_threads()
    torch.set_num_threads(4)
    try:
        result = grade(bench, submission, session, Scope(course.select(SOME)))
    finally:
        torch.set_num_threads(before)
        session.close()
        bench.close()
    assert scores(record(result)) == of_some(course, usual["half"])


@pytest.mark.slow
def test_a_notebook_gets_what_a_script_of_the_same_code_gets(
    notebooks: Path, bench: SubmissionGrader, usual: Graded, launcher: Launcher
) -> None:
    """Scores, outcomes and the mistakes named are the same for both forms."""
    students = read_class(notebooks)
    found = {one.id: scores(record(grade_student(bench, launcher, one))) for one in students}
    assert found == {student: scores(content) for student, content in usual.items()}


@OF_THE_WHOLE_COURSE
@pytest.mark.proof
def test_what_a_wrapper_lacks_is_no_mistake_in_either_form(
    course: Course, scripts: Path, notebooks: Path, tmp_path: Path, launcher: Launcher
) -> None:
    """Without the head of assignment 07, the wrapper of 08 is blocked, in a notebook as well."""
    exercise = course.exercises["08_multi_head_wrapper/MultiHeadAttentionWrapper"]
    bench = SubmissionGrader(live_environment(course, SEED), RecordedMistakes({}))
    found = []
    for form in (scripts, notebooks):
        folder = tmp_path / form.name
        shutil.copytree(form / "right" / exercise.assignment, folder / exercise.assignment)
        submission = read_submission(course, folder, "someone")
        session = ChildSession(launcher, submission, course.limits)
        result = grade(bench, submission, session, Scope({exercise.id: exercise}))
        session.close()
        found.append(set(scores(record(result))[exercise.id]["checks"].values()))
    bench.close()
    assert found == [{Outcome.BLOCKED}, {Outcome.BLOCKED}]


# As root, and as somebody who is not.

APART = """
import functools
import json
import os
import sys
from pathlib import Path

from grader.judging import submission_grader
from grader.course.course import load_course
from grader.judging.results import to_json
from grader.sessions.child import ChildSession
from grader.sessions.launchers import ForkedParent, default_launcher
from grader.sessions.in_process import InProcessSession
from grader.submissions.submission import read_submission

folder, user, seed, targets = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4:]
course = load_course(folder / "course")
submission = read_submission(course, folder / "submission", "half")
scope = submission_grader.Scope(course.select(tuple(targets)))
bench = submission_grader.full_grader(course, seed)
submission_grader.versions = functools.cache(submission_grader.versions)
# Whatever is imported only when it is needed may be out of another user's reach: so all is done
# once, before this process becomes that user's.
submission_grader.grade(bench, submission, InProcessSession(submission), scope)
if user:
    os.setgroups([])
    os.setgid(user)
    os.setuid(user)
# A fork of this process: another user may not reach the interpreter.
launcher = ForkedParent() if sys.platform == "linux" else default_launcher()
session = ChildSession(launcher, submission, course.limits, owns_launcher=True)
result = submission_grader.grade(bench, submission, session, scope)
session.close()
bench.close()
print(json.dumps({"user": os.geteuid(), "record": to_json(result)}))
"""


@pytest.fixture
def in_the_open() -> Iterator[Path]:
    """A folder that every user can read and write: pytest's own ones are private."""
    shared = Path("/tmp")
    where = shared if os.access(shared, os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=where) as name:
        yield Path(name)


@OF_THE_WHOLE_COURSE
@pytest.mark.proof
def test_root_and_others_give_the_same_scores(
    course: Course, scripts: Path, usual: Graded, in_the_open: Path
) -> None:
    """Another process gives the same; where this one is root's, that one is somebody else's."""
    shutil.copytree(scripts / "half", in_the_open / "submission")
    for part in ("solutions", "tests/checks", "tests/documents"):
        shutil.copytree(course.root / part, in_the_open / "course" / part)
    shutil.copy(course.root / "course.toml", in_the_open / "course")
    for path in (in_the_open, *in_the_open.rglob("*")):
        path.chmod(0o777 if path.is_dir() else 0o644)
    me = os.geteuid()
    user = NOBODY if me == 0 else 0
    done = subprocess.run(
        [sys.executable, "-c", APART, in_the_open, str(user), SEED, *SOME],
        cwd=in_the_open,
        env={**os.environ, **dict.fromkeys(("HOME", "TMPDIR"), str(in_the_open))},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout.splitlines()[-1])
    assert answer["user"] == (user or me)
    assert answer["record"]["isolation"] == usual["half"]["isolation"]
    assert scores(answer["record"]) == of_some(course, usual["half"])
