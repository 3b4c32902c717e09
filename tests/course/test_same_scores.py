"""The same work gets the same scores: in any order, form and process, on any processor."""

import ast
import json
import os
import shutil
import subprocess
import sys
import tempfile
import tokenize
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
import pytest
import torch
from nbformat import v4
from torch.nn import functional

from grader.authoring.bernoulli import other_processor
from grader.catalogue import LiveCatalogue, RecordedCatalogue
from grader.classroom import Student, grade_student, read_class
from grader.course import Assignment, Course, Exercise, load_course
from grader.grading import Bench, Scope, grade, grading_bench
from grader.ledger import Ledger
from grader.model import Outcome, Result
from grader.results import to_json
from grader.sessions.child import ChildSession, Launcher, default_launcher
from grader.sessions.in_process import InProcessSession
from grader.submission import Submission, read_submission
from grader.workbench import live_workbench

VARIANTS = Path(__file__).parent / "variants"
SEED = "1"
NOBODY = 65_534

FEW = 20
"""Only exercises with at most so many known mistakes are handed in with one: to recognise it, all
of them are run, and where a draw makes a difference also two at a time.
"""

DRAWN = ("06_dropout", "07_causal_attention", "08_multi_head_wrapper")
DRAWN += ("09_multi_head_attention", "11_gpt2_attention")
"""The assignments with dropout."""


@pytest.fixture(scope="module")
def course(root: Path) -> Course:
    """The course itself."""
    return load_course(root)


@pytest.fixture(scope="module")
def launcher() -> Iterator[Launcher]:
    """Makes the child processes that submissions run in."""
    made = default_launcher()
    yield made
    made.close()


# A small class: one student with everything right, one with a mistake here and there, and one who
# has the half of both.


def right_answer(assignment: Assignment) -> bytes:
    """A variant of a whole assignment."""
    folder = VARIANTS / assignment.id
    preferred = folder / "as_in_the_documents.py"
    return (preferred if preferred.is_file() else min(folder.glob("*.py"))).read_bytes()


def mistaken_answers(catalogue: LiveCatalogue, assignment: Assignment) -> list[bytes]:
    """The solution with a mistake in its last exercise, once for each that is known."""
    known = catalogue.of(assignment.exercises[-1])
    made = [catalogue.with_mistakes(assignment.exercises[-1], one) for one in known]
    key = catalogue.solutions.readings[assignment.id].sources[0]
    return [one.sources[key].cells[0].text.encode() for one in made if one is not None]


@pytest.fixture(scope="module")
def scripts(course: Course, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The class's folder."""
    folder = tmp_path_factory.mktemp("scripts")
    bench = grading_bench(course, SEED)
    assert isinstance(bench.catalogue, LiveCatalogue)
    for number, assignment in enumerate(course.assignments):
        answers = dict.fromkeys(("right", "half"), right_answer(assignment))
        mistaken = mistaken_answers(bench.catalogue, assignment)
        if 0 < len(mistaken) <= FEW:
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


Graded = dict[str, dict[str, Any]]


@pytest.fixture(scope="module")
def bench(course: Course) -> Iterator[Bench]:
    """What to grade with."""
    made = grading_bench(course, SEED)
    yield made
    made.close()


@pytest.fixture(scope="module")
def usual(scripts: Path, bench: Bench, launcher: Launcher) -> Graded:
    """The class's records, graded as usual: by name, on one thread."""
    return {one.id: record(grade_student(bench, launcher, one)) for one in read_class(scripts)}


@pytest.mark.slow
def test_the_class_is_one_that_can_tell(usual: Graded) -> None:
    """There are full marks in it, and points lost to mistakes with a name."""
    right = scores(usual["right"]).values()
    assert [one["findings"] for one in right] == [[]] * len(right)
    assert usual["right"]["score"] == usual["right"]["max_score"]
    for student in ("mistaken", "half"):
        named = [one["findings"] for one in scores(usual[student]).values() if one["findings"]]
        assert len(named) >= 2
        assert usual[student]["score"] < usual["right"]["score"]


@pytest.mark.slow
def test_the_order_of_students_does_not_matter(
    course: Course, scripts: Path, usual: Graded, launcher: Launcher
) -> None:
    """In another order, and when their turn comes again, students have the same records."""
    students = {student.id: student for student in read_class(scripts)}
    order = ["right", "mistaken", "half", "right", "half"]
    bench = grading_bench(course, SEED)
    found = [record(grade_student(bench, launcher, students[name])) for name in order]
    bench.close()
    assert found == [usual[name] for name in order]


@pytest.mark.slow
def test_the_number_of_threads_does_not_matter(
    course: Course, scripts: Path, usual: Graded, launcher: Launcher
) -> None:
    """With four of torch's threads on the trusted side, the records are the same."""
    bench = grading_bench(course, SEED)
    before = torch.get_num_threads()
    torch.set_num_threads(4)
    try:
        found = record(grade_student(bench, launcher, Student("half", scripts / "half")))
    finally:
        torch.set_num_threads(before)
        bench.close()
    assert found == usual["half"]


@pytest.mark.slow
def test_a_notebook_gets_what_a_script_of_the_same_code_gets(
    notebooks: Path, bench: Bench, usual: Graded, launcher: Launcher
) -> None:
    """Scores, outcomes and the mistakes named are the same for both forms."""
    students = read_class(notebooks)
    found = {one.id: scores(record(grade_student(bench, launcher, one))) for one in students}
    assert found == {student: scores(content) for student, content in usual.items()}


def test_what_a_wrapper_lacks_is_no_mistake_in_either_form(
    course: Course, scripts: Path, notebooks: Path, tmp_path: Path, launcher: Launcher
) -> None:
    """Without the head of assignment 07, the wrapper of 08 is blocked, in a notebook as well."""
    exercise = course.exercises["08_multi_head_wrapper/MultiHeadAttentionWrapper"]
    bench = Bench(live_workbench(course, SEED), RecordedCatalogue({}))
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
import signal
import socket
import sys
from pathlib import Path

from grader import grading
from grader.classroom import grade_student, read_class
from grader.course import load_course
from grader.results import to_json
from grader.serving import warm_parent
from grader.sessions.child import WarmParent, default_launcher
from grader.sessions.in_process import InProcessSession
from grader.submission import read_submission


class ForkedParent(WarmParent):
    # A warm parent that is a fork of this process: another user may not reach the interpreter.

    def _start(self):
        self.is_closed = self.ready = False
        self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.pid = os.fork()
        if self.pid == 0:
            self.control.close()
            warm_parent(theirs.detach())
            os._exit(0)
        theirs.close()

    def _end(self):
        self.control.close()
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)


folder, user, seed = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
course = load_course(folder / "course")
(student,) = read_class(folder / "submissions")
grading.versions = functools.cache(grading.versions)
bench = grading.grading_bench(course, seed)

# Whatever is imported only when it is needed may be out of another user's reach: so all is done
# once, before this process becomes that user's.
submission = read_submission(course, student.path, student.id)
session = InProcessSession(submission)
grading.grade(bench, submission, session, grading.Scope(course.exercises))
if user:
    os.setgroups([])
    os.setgid(user)
    os.setuid(user)
launcher = ForkedParent() if sys.platform == "linux" else default_launcher()
result = grade_student(bench, launcher, student)
launcher.close()
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


@pytest.mark.slow
def test_root_and_others_give_the_same_scores(
    course: Course, scripts: Path, usual: Graded, in_the_open: Path
) -> None:
    """Another process gives the same; where this one is root's, that one is somebody else's."""
    shutil.copytree(scripts / "half", in_the_open / "submissions" / "half")
    for part in ("solutions", "tests/checks", "tests/documents"):
        shutil.copytree(course.root / part, in_the_open / "course" / part)
    shutil.copy(course.root / "course.toml", in_the_open / "course")
    for path in (in_the_open, *in_the_open.rglob("*")):
        path.chmod(0o777 if path.is_dir() else 0o644)
    me = os.geteuid()
    user = NOBODY if me == 0 else 0
    done = subprocess.run(
        [sys.executable, "-c", APART, in_the_open, str(user), SEED],
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
    assert scores(answer["record"]) == scores(usual["half"])


# Both kinds of processor.


@dataclass(frozen=True)
class Work:
    """A submission, and which exercise of it to grade."""

    submission: Submission
    exercise: Exercise


def work_with_dropout(course: Course, catalogue: LiveCatalogue) -> dict[str, Work]:
    """Each solution with dropout, and each with a mistake in its dropout."""
    found = {}
    for assignment in course.assignments:
        if assignment.id not in DRAWN:
            continue
        for exercise in assignment.exercises:
            found[exercise.id] = Work(catalogue.solutions, exercise)
            mistakes = catalogue.of(exercise)
            for known in mistakes if len(mistakes) <= FEW else ():
                mistaken = catalogue.with_mistakes(exercise, known)
                if "drop" in known.mistake.id and mistaken is not None:
                    found[known.mistake.id] = Work(mistaken, exercise)
    return found


def graded_here(bench: Bench, work: Work) -> dict[str, Any]:
    """The scores of a piece of work that runs in this process."""
    session = InProcessSession(work.submission)
    result = grade(bench, work.submission, session, Scope({work.exercise.id: work.exercise}))
    return scores(record(result))[work.exercise.id]


@pytest.fixture(scope="module")
def drawn_here(course: Course, bench: Bench) -> dict[str, dict[str, Any]]:
    """What work with dropout gets on this processor."""
    assert isinstance(bench.catalogue, LiveCatalogue)
    work = work_with_dropout(course, bench.catalogue)
    return {name: graded_here(bench, one) for name, one in work.items()}


def test_the_two_kinds_of_processor_draw_different_masks(course: Course) -> None:
    """One seed gives two masks, so that a check that depends on a draw would be found out."""

    def mask(processor: AbstractContextManager[None]) -> torch.Tensor:
        with processor, torch.random.fork_rng(devices=[]):
            torch.manual_seed(123)
            return functional.dropout(torch.ones(6, 6), 0.5)

    here, there = mask(nullcontext()), mask(other_processor())
    assert not torch.equal(here, there)
    printed = Ledger(course.documents)("T23").tensor
    assert [here.unique().tolist(), there.unique().tolist(), printed.unique().tolist()] == [
        [0.0, 2.0]
    ] * 3


@pytest.mark.slow
def test_work_with_dropout_gets_the_same_on_both_kinds_of_processor(
    course: Course, bench: Bench, drawn_here: dict[str, dict[str, Any]]
) -> None:
    """Work that runs on the other kind gets the same scores, and its mistakes the same names."""
    assert isinstance(bench.catalogue, LiveCatalogue)
    work = work_with_dropout(course, bench.catalogue)
    with other_processor():
        drawn_there = {name: graded_here(bench, one) for name, one in work.items()}
    assert drawn_there == drawn_here


@pytest.mark.slow
def test_grading_on_the_other_kind_of_processor_gives_the_same(
    course: Course, bench: Bench, drawn_here: dict[str, dict[str, Any]]
) -> None:
    """The trusted side may run on the other kind as well: solutions still get full marks."""
    assert isinstance(bench.catalogue, LiveCatalogue)
    work = work_with_dropout(course, bench.catalogue)
    solutions = {name: one for name, one in work.items() if name in course.exercises}
    with other_processor():
        there = Bench(live_workbench(course, SEED), RecordedCatalogue({}))
        drawn_there = {name: graded_here(there, one) for name, one in solutions.items()}
        there.close()
    assert drawn_there == {name: drawn_here[name] for name in solutions}
    assert {name: one["score"] for name, one in drawn_there.items()} == {
        name: course.exercises[name].points for name in solutions
    }


def test_the_documents_printed_mask_is_right_on_both_kinds_of_processor(
    course: Course, bench: Bench
) -> None:
    """Whatever a processor draws, the mask that the documents printed gives what they printed."""
    assert isinstance(bench.catalogue, LiveCatalogue)
    exercise = course.exercises["06_dropout/apply_dropout_mask"]
    work = Work(bench.catalogue.solutions, exercise)
    for processor in (nullcontext(), other_processor()):
        with processor:
            outcomes = graded_here(bench, work)["checks"]
        printed = {id_: how for id_, how in outcomes.items() if id_.endswith("as_printed")}
        assert len(printed) == 2
        assert set(printed.values()) == {Outcome.PASSED}
