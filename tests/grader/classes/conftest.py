"""A class run over a small course, whose students are graded by a formula, in no time."""

import hashlib
import re
import sys
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import ClassVar

import pytest

from grader.classes.decisions import Decisions, Exemption, Extension, Group, LateDays, Override
from grader.classes.records import open_records
from grader.classes.run import ClassRun
from grader.classes.store import STORE, Store
from grader.core.records import (
    AssignmentResult,
    CheckResult,
    ExerciseResult,
    Outcome,
    Result,
    Visibility,
)
from grader.course.course import CHECKS, MANIFEST, load_course
from grader.course.outcome_parts import outcome_parts
from grader.intake.folders import Student
from grader.intake.read import read_submissions
from grader.judging.collect import collect

STUDENTS = [f"student-{number:02}" for number in range(20)]
IDS = ("01_scores", "02_mixture")
HIDDEN = "tests/checks/{}/test_hidden.py"
HIDDEN_CHECK = "01_scores/scores::hidden::test_other_queries_and_keys"


LATE = '[late]\npercent_per_day = {}\n[[assignments]]\nid = "01_scores"\n'
DUE = "due = 2027-02-01T00:00:00Z\n"


SOME = (
    Decisions(overrides=(Override(STUDENTS[0], "01_scores/scores", 1.75, "So."),)),
    Decisions(extensions=(Extension(STUDENTS[0], assignment="01_scores", days=2),)),
    Decisions(exemptions=(Exemption(STUDENTS[0], exercises=("02_mixture/weights",)),)),
    Decisions(late_days=LateDays(2, 1)),
    Decisions(groups=(Group(tuple(STUDENTS[:2]), "01_scores"),)),
)
"""Decisions of each kind that moves scores."""


class Killed(BaseException):
    """Stands for the end of the process."""


# Results, made by hand.


def checked(id_, outcome=Outcome.PASSED, weight=1):
    """A check's result, which has its id's visibility."""
    kind = Visibility(id_.split("::")[1])
    return CheckResult(id_, "It holds", kind, weight, outcome, "", 0.0)


def work_of(assignment, ends, weight=1, **others):
    """What was handed in for an assignment: each exercise has two checks, which end as `ends` says."""
    exercises = (
        ExerciseResult(
            one.id, None, 0, checks=tuple(checked(id_, ends(id_), weight) for id_ in ids)
        )
        for one in assignment.exercises
        for ids in [[f"{one.id}::{kind}::test_it" for kind in Visibility]]
    )
    rest = (assignment.id, "a.py", None, 0)
    return AssignmentResult(*rest, exercises=tuple(exercises), **others)


def student_of(*parts, max_score=0, **others):
    """What a student handed in, before it has scores."""
    rest = ((), "1", {}, "c0", "be" if parts else "", parts)
    return Result("ada", None, max_score, False, bool(parts), *rest, **others)


# A class.


class Formula:
    """Grades by a formula over what was handed in and over what decides outcomes.

    Attributes:
        collected: the checks by what the files say: they are collected once.
    """

    collected: ClassVar = {}

    def __init__(self, course):
        for name in [name for name in sys.modules if name.startswith("tests.checks.")]:
            del sys.modules[name]  # another process would read the files as they are now
        self.course, self.parts = course, outcome_parts(course)

    @cached_property
    def checks(self):
        """All checks, in order."""
        root = self.course.root
        files = (root / MANIFEST, *sorted((root / CHECKS).rglob("*.py")))
        said = tuple(file.read_bytes() for file in files)
        if said not in self.collected:
            found = collect(self.course, self.course.exercises, tuple(Visibility))
            self.collected[said] = found
        return self.collected[said]

    def outcomes(self, student, seed):
        """How a student's checks end."""
        text = (student.path / "scores.py").read_text("utf-8")
        assignments = tuple(
            AssignmentResult(
                *(one.id, "scores.py", None, 0),
                exercises=self._exercises(one, text, seed),
            )
            for one in self.course.assignments
            if one.id in (student.only or self.course.by_id)
        )
        print_of = hashlib.sha256(text.encode()).hexdigest()
        rest = (("sealed",), seed, {}, "", print_of, assignments)
        return Result(student.id, None, 0, False, True, *rest)

    def _exercises(self, assignment, text, seed):
        return tuple(
            ExerciseResult(one.id, None, 0, checks=tuple(self._checks(one, text, seed)))
            for one in assignment.exercises
        )

    def _checks(self, exercise, text, seed):
        for check in [check for check in self.checks if check.exercise.id == exercise.id]:
            decides = repr((check.id, text, self.parts[exercise.assignment], seed))
            is_right = hashlib.sha256(decides.encode()).digest()[0] % 2
            outcome = Outcome.PASSED if is_right else Outcome.FAILED
            shown = (check.title, check.visibility, check.weight)
            message = "" if is_right else check.title
            conduct = check.is_conduct
            yield CheckResult(check.id, *shown, outcome, message, 0.1, is_conduct=conduct)


@dataclass
class Class:
    """A class whose students are graded by a formula, and how often each was, and in what."""

    course: Path
    folder: Path
    out: Path
    graded: Counter = field(default_factory=Counter)
    parts: Counter = field(default_factory=Counter)
    begun: list = field(default_factory=list)
    told: list = field(default_factory=list)
    result: object = None

    def run(self, grade=None, names=STUDENTS, **options):
        """Grade who is not done; the class's rows."""
        return self.run_students(
            [Student(name, self.folder / name) for name in names], grade, **options
        )

    def run_folder(self, grade=None, names=None, **options):
        """The same with everybody in the folder, or some, with their attempts."""
        with read_submissions(load_course(self.course), self.folder) as intake:
            students = [one for one in intake.students if one.id in (names or [one.id])]
            return self.run_students(students, grade, is_whole=names is None, **options)

    def run_students(self, students, grade=None, **options):
        """The same with these students."""
        course = load_course(self.course)
        self.formula, self.told = Formula(course), []
        run = ClassRun(course, students, self.out, **{"seed": "11", **options})
        self.result = run.carry_out(grade or self.grade, self)
        return self.result.rows

    def begin(self, what, total, done):
        """Remember how many were to be graded."""
        self.begun.append((total, done))

    def planned(self, sentences):
        """Remember what was said."""
        self.told = list(sentences)

    def done(self, *, is_undecided):
        """Remember nothing."""

    def grade(self, settings, students, until=None):
        """Grade some, and then be killed."""
        for number, student in enumerate(students):
            if number == until:
                raise Killed
            self.graded[student.id] += 1
            self.parts.update(["everything"] if set(student.only) == set(IDS) else student.only)
            yield student, self.formula.outcomes(student, settings.seed)

    def edit(self, name, old, new):
        """Change a file of the course."""
        path = self.course / name
        text = path.read_text("utf-8")
        assert old in text
        path.write_text(text.replace(old, new), "utf-8")

    def make_late(self, percent=10):
        """Give the first assignment a due date, after which days cost something."""
        self.edit("course.toml", '[[assignments]]\nid = "01_scores"\n', LATE.format(percent) + DUE)

    def harder(self, assignment="01_scores"):
        """Change an assignment's checks."""
        with (self.course / HIDDEN.format(assignment)).open("a") as file:
            file.write("HARDER = 1\n")

    def results(self):
        """Everybody's results, as they are written."""
        return [*open_records(self.out).results()]

    def files(self):
        """What is written, by name; the store aside."""
        return files_in(self.out)

    def store(self):
        """What the store holds of the class."""
        with Store.to_read(self.out) as store:
            return store.uses(), store.standings(), sorted(store.keys())


def files_in(out):
    """What a run wrote, without the store and former students."""
    return {
        path.relative_to(out).as_posix(): undated(path.read_text("utf-8"))
        for path in out.rglob("*")
        if path.is_file()
        and not path.name.startswith(STORE)
        and "former" not in path.relative_to(out).parts
    }


def texts(place):
    """Everybody's record, to the byte."""
    records = open_records(place)
    return {student: records.text(student) for student in records.texts}


def undated(text):
    """A file's text without the moment it was written, and without whose score changed then."""
    text = re.sub(r'"written_at": ".*?"', "", text)
    return re.sub(r'(?s)"changed": \{.*?\}', "", text)


def write_work(folder, text):
    """Hand something in, some days of February."""
    (folder / "scores.py").write_text(f"# {text}\n", "utf-8")
    day = 1 + len(folder.name + text) % 4
    (folder / "timestamp.txt").write_text(f"2027-02-0{day} 00:00:00 UTC", "utf-8")


@pytest.fixture
def make(course_copy, tmp_path):
    """Makes a class that writes to a folder of some name."""
    for name in STUDENTS:
        (tmp_path / "class" / name).mkdir(parents=True)
        write_work(tmp_path / "class" / name, name)
    return lambda name: Class(course_copy, tmp_path / "class", tmp_path / name)


@pytest.fixture
def run(make):
    """A class that was graded."""
    made = make("out")
    made.run()
    return made


@pytest.fixture
def undisturbed(make):
    """What a run writes that nobody disturbs."""
    run = make("undisturbed")
    run.run()
    assert run.graded == Counter(STUDENTS)
    return run.files()
