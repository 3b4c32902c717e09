"""Helpers of the course's tests: a small complete course that can be broken."""

import re
import runpy
import shutil
import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest

from grader.authoring import mistake_proofs
from grader.authoring import validate as validation
from grader.authoring.check_proofs import Report
from grader.authoring.free_points import FreePoints, OneAtATime
from grader.authoring.validate import validate
from grader.core.records import ExerciseResult
from grader.course.course import MANIFEST, Course, load_course
from grader.judging.known_mistakes import LiveMistakes, RecordedMistakes
from grader.judging.submission_grader import (
    ALL_CHECKS,
    VISIBLE_CHECKS,
    Scope,
    SubmissionGrader,
    grade,
    visible_grader,
)
from grader.release.stubs import generate
from grader.release.students import CONSTRAINTS, LICENSE
from grader.sessions.in_process import InProcessSession
from grader.sessions.launchers import Launcher, default_launcher
from grader.submissions.notebooks import Cell
from grader.submissions.submission import read_submission

Answer = Callable[..., ExerciseResult]

HERE = Path(__file__).parent
FEW = ("01_simple_attention", "04_self_attention")
WHOLE = ()

LARGE = (
    "SelfAttention_v1",
    "SelfAttentionNormal",
    "CausalAttention",
    "MultiHeadAttentionWrapper",
    "MultiHeadAttention",
    "GPT2MultiHeadAttention",
)
"""Exercises of which so many mistakes are known that only the proof looks for a name among them: to
name one, all are run.
"""


@pytest.hookimpl(tryfirst=True)  # before tests are selected by their markers
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the cases of large exercises; each test has others as well."""
    for item in items:
        if item.path.parent == HERE and "answer" in getattr(item, "fixturenames", ()):
            params = item.callspec.params if hasattr(item, "callspec") else {}
            if str(params.get("exercise", "")).rpartition("/")[2] in LARGE:
                item.add_marker(pytest.mark.proof)


@pytest.fixture(
    scope="session",
    params=[
        pytest.param(FEW, id="few"),
        pytest.param(WHOLE, id="whole", marks=[pytest.mark.proof, pytest.mark.long]),
    ],
)
def to_release(
    root: Path, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Course:
    """The course, or a copy of two of its assignments: recording all takes minutes."""
    if not request.param:
        return load_course(root)
    return part_of_course(root, tmp_path_factory.mktemp("few") / "course", request.param)


EVERY = 4
"""A part of the course has every fourth of the mistakes that are known of its assignments, and:"""
NAMED = 'id = "v2-scale-missing"'


def part_of_course(root: Path, folder: Path, ids: Collection[str]) -> Course:
    """A copy of the course with some of its assignments, as if the others had never been."""
    others = {a.id for a in load_course(root).assignments} - set(ids)
    ignored = shutil.ignore_patterns("__pycache__", *others)
    for name in (*("solutions", "assignments"), "tests/checks", "tests/documents"):
        shutil.copytree(root / name, folder / name, ignore=ignored)
    for name in (MANIFEST, CONSTRAINTS, LICENSE, "guide.md"):
        shutil.copy(root / name, folder)
    manifest = folder / MANIFEST
    head, *entries = re.split(r"(?m)^(?=\[\[assignments\]\])", manifest.read_text("utf-8"))
    head = re.sub(r"(?m)^points = .*\n", "", head)
    kept = [entry for entry in entries if any(f'id = "{id_}"' in entry for id_ in ids)]
    manifest.write_text("".join((head, *kept)), "utf-8")
    for file in folder.glob("solutions/*/misconceptions.toml"):
        head, *entries = re.split(r"(?m)^(?=\[\[misconceptions\]\])", file.read_text("utf-8"))
        some = [one for n, one in enumerate(entries) if n % EVERY == 0 or NAMED in one]
        file.write_text("".join((head, *some)), "utf-8")
    return load_course(folder)


@dataclass(frozen=True, slots=True)
class Example:
    """A copy of the example course.

    Args:
        folder: where it lies.
    """

    folder: Path

    def edit(self, path: str, old: str, new: str, times: int = 1) -> None:
        """Replace a text that stands in a file of the course, as often as said."""
        text = (self.folder / path).read_text("utf-8")
        assert text.count(old) == times
        (self.folder / path).write_text(text.replace(old, new), "utf-8")

    def append(self, path: str, text: str) -> None:
        """Add text to the end of a file."""
        whole = (self.folder / path).read_text("utf-8") + text
        (self.folder / path).write_text(whole, "utf-8")

    def regenerate(self) -> None:
        """Make stubs and notebooks anew."""
        for file in generate(load_course(self.folder)):
            file.write(self.folder)

    def report(self, *targets: str) -> Report:
        """What a validation finds."""
        return validate(load_course(self.folder), targets)

    def faults(self, *targets: str) -> list[str]:
        """The faults that a validation finds, of all or of some exercises.

        What knowing nothing earns is left out, which takes as long as everything else.
        """
        nothing = mistake_proofs.points_mean_something
        with pytest.MonkeyPatch.context() as patch:
            proofs = [proof for proof in validation.PROOFS if proof.find is not nothing]
            patch.setattr(validation, "PROOFS", proofs)
            patch.setattr(mistake_proofs, "free_points", lambda *_: FreePoints({}, 0.0, ""))
            return self.report(*targets).faults

    def faults_of_files(self) -> list[str]:
        """Those of files and texts alone: no check is run, which takes most of the time."""
        proofs = [one for one in validation.PROOFS if one.stage is not validation.Stage.CHECKS]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(validation, "PROOFS", proofs)
            return self.faults()


@pytest.fixture
def example(course_copy: Path) -> Example:
    """A course that keeps its promises, to be broken."""
    return Example(course_copy)


@pytest.fixture(scope="session")
def course(root: Path) -> Course:
    """The course itself."""
    return load_course(root)


@pytest.fixture
def defined_by(
    course: Course, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[str], SimpleNamespace]]:
    """What the solution of an assignment defines, run beside those that it imports."""
    imported = set[str]()

    def run(id_: str) -> SimpleNamespace:
        for other in course.by_id[id_].imports:
            path = course.paths(course.by_id[other]).solution
            monkeypatch.syspath_prepend(str(path.parent))
            imported.add(path.stem)
        return SimpleNamespace(**runpy.run_path(str(course.paths(course.by_id[id_]).solution)))

    yield run
    for name in imported:
        sys.modules.pop(name, None)


@pytest.fixture(scope="session")
def launcher() -> Iterator[Launcher]:
    """Makes the child processes of students' code, and of known mistakes."""
    made = default_launcher(("torch",))
    yield made
    made.close()


@pytest.fixture(scope="session")
def grader(course: Course, launcher: Launcher) -> Iterator[SubmissionGrader]:
    """What students check with."""
    made = visible_grader(course, launcher=launcher)
    yield made
    made.close()


@pytest.fixture
def answer(course: Course, grader: SubmissionGrader) -> Answer:
    """Grades the solution of an exercise in which a piece of text, or more of them, is replaced."""
    return partial(_answer, course, grader, grader)


@pytest.fixture(scope="session")
def one_at_a_time(grader: SubmissionGrader) -> SubmissionGrader:
    """The same without two mistakes at a time, which take a minute where there are many."""
    assert isinstance(grader.mistakes, LiveMistakes)
    return replace(grader, mistakes=OneAtATime(grader.mistakes))


@pytest.fixture
def single(course: Course, grader: SubmissionGrader, one_at_a_time: SubmissionGrader) -> Answer:
    """As `answer`, with one mistake at a time."""
    return partial(_answer, course, grader, one_at_a_time)


@pytest.fixture
def checked(course: Course, grader: SubmissionGrader) -> Answer:
    """The same without the known mistakes, which take far longer to run than the checks."""
    return partial(_answer, course, grader, replace(grader, mistakes=RecordedMistakes({})))


def with_edit(
    course: Course, folder: Path, id_: str, edited: str, edit: tuple[str, str]
) -> ExerciseResult:
    """An exercise by its visible checks, where one of the solutions it stands on is edited.

    Args:
        course: the course.
        folder: where the files are written.
        id_: the exercise's.
        edited: the assignment whose solution is edited.
        edit: what stands there once, and what is put in its place.
    """
    exercise = course.exercises[id_]
    for needed in course.with_imports(course.by_id[exercise.assignment]):
        solution = course.paths(course.by_id[needed]).solution
        text = solution.read_text("utf-8")
        if needed == edited:
            assert text.count(edit[0]) == 1
            text = text.replace(*edit)
        (folder / solution.name).write_text(text, "utf-8")
    submission = read_submission(course, folder, "me")
    with closing(visible_grader(course)) as made:
        scope = Scope({id_: exercise}, VISIBLE_CHECKS)
        (found,) = grade(made, submission, InProcessSession(submission), scope).exercises
    return found


def _answer(
    course: Course,
    made: SubmissionGrader,
    used: SubmissionGrader,
    exercise: str,
    find: str,
    put: str,
    *more: tuple[str, str],
    hidden: bool = False,
) -> ExerciseResult:
    (id_, found), *_others = course.select((exercise,)).items()
    assert isinstance(made.mistakes, LiveMistakes)
    solutions = made.mistakes.solutions
    key = solutions.readings[found.assignment].sources[0]
    text = solutions.sources[key].cells[0].text
    for old, new in ((find, put), *more):
        assert old in text
        text = text.replace(old, new)
    changed = replace(solutions.sources[key], cells=(Cell(None, text),))
    submission = replace(solutions, sources={**solutions.sources, key: changed})
    session, scope = InProcessSession(submission), ALL_CHECKS if hidden else VISIBLE_CHECKS
    result = grade(used, submission, session, Scope({id_: found}, scope))
    return result.exercises[0]
