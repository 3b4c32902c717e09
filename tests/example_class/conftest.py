"""The example class, graded once as `make demo` grades it.

What students hand in is graded, never collected: some of them bring tests of their own.
"""

import json
from collections.abc import Collection, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from grader.classes.run import ClassRun, Done
from grader.classes.store import RunSettings
from grader.classes.workers import new_worker
from grader.core.records import Result
from grader.course.course import Course, load_course
from grader.intake.folders import Student, read_class
from grader.intake.roster import read_roster
from grader.judging.results import from_json
from grader.judging.seal_probe import examine

collect_ignore = ["submissions"]

HERE = Path(__file__).parent
SEED = 1
DEAR = ("misspelt_methods", "two_mistakes", "wrong_shape")
"""Who has so much wrong that all known mistakes are run, alone and in twos: as dear as all others
together, and left to the proof.
"""
WHOLE = ("perfect_py",)
"""Who handed in the whole course, and is left to the proof as well."""


@dataclass(frozen=True, slots=True)
class Graded:
    """The class after grading.

    Args:
        course: the course.
        results: per student.
        out: the folder with what was written down.
    """

    course: Course
    results: dict[str, Result]
    out: Path

    def record(self, kind: str, student: str) -> dict[str, Any]:
        """A student's file in `results` or `feedback`."""
        record: dict[str, Any] = json.loads(
            (self.out / kind / f"{student}.json").read_text("utf-8")
        )
        return record


@pytest.fixture(scope="session")
def graded(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Graded:
    """The class without those below, graded once, sealed where this machine can."""
    return graded_of(root, tmp_path_factory.mktemp("graded"))


@pytest.fixture(scope="session")
def graded_dear(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Graded:
    """Those who are dear."""
    return graded_of(root, tmp_path_factory.mktemp("dear"), DEAR)


@pytest.fixture(scope="session")
def graded_whole(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Graded:
    """Who handed in the whole course."""
    return graded_of(root, tmp_path_factory.mktemp("whole"), WHOLE)


def graded_of(root: Path, out: Path, names: Collection[str] = ()) -> Graded:
    """Grade these students, or all whom no other part has."""
    course = load_course(root)
    everybody = read_class(HERE / "submissions", roster=read_roster(HERE / "roster.csv"))
    others = {student.id for student in everybody}.difference(DEAR, WHOLE)
    students = [student for student in everybody if student.id in (names or others)]
    run = ClassRun(course, students, out, isolation(), str(SEED))
    run.carry_out(grade_in_less_time, Silence())
    records = [json.loads(path.read_text("utf-8")) for path in (out / "results").iterdir()]
    results = sorted((from_json(record) for record in records), key=lambda r: r.student)
    return Graded(course, {result.student: result for result in results}, out)


def grade_in_less_time(settings: RunSettings, students: Iterable[Student]) -> Done:
    """Grade in this process; loops that never end are ended sooner, which no result says."""
    with closing(new_worker(settings)) as worker:
        course = worker.grader.environment.course
        limits = replace(course.limits, load_seconds=0.4, request_seconds=0.25)
        worker.grader.environment.course = replace(course, limits=limits)
        for student in students:
            yield student, worker.outcomes(student)


class Silence:
    """Watches a run and says nothing."""

    def begin(self, what: str, total: int, done: int) -> None:
        """Nothing."""

    def planned(self, sentences: Sequence[str]) -> None:
        """Nothing."""

    def done(self, *, is_undecided: bool) -> None:
        """Nothing."""


def isolation() -> str:
    """What `make demo` takes."""
    can_seal = all(layer.holds for layer in examine() if layer.is_required)
    return "sealed" if can_seal else "process"
