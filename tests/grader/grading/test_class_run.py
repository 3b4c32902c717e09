"""A class run and its journal, with students graded in no time: whatever cuts it short."""

import hashlib
import random
import re
import shutil
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pytest

from grader.core.errors import UsageError
from grader.course.course import load_course
from grader.grading.class_files import Row, Written
from grader.grading.class_run import ClassRun
from grader.submissions.student_folders import JOURNAL, Student

STUDENTS = [f"student-{number:02}" for number in range(20)]


class Killed(BaseException):
    """Stands for the end of the process."""


@dataclass
class Class:
    """A class whose students are graded by a formula, and how often each was."""

    course: Path
    folder: Path
    out: Path
    graded: Counter = field(default_factory=Counter)
    begun: list = field(default_factory=list)

    def run(self, grade=None, **options):
        """Grade who is not done; the class's rows."""
        students = [Student(name, self.folder / name) for name in STUDENTS]
        run = ClassRun(load_course(self.course), students, self.out, seed="11", **options)
        return run.carry_out(grade or self.grade, self).rows

    def begin(self, students, unchanged):
        """Remember who was to be graded."""
        self.begun.append((students, unchanged))

    def done(self, row):
        """Remember nothing."""

    def grade(self, settings, students, until=None):
        """Grade some, and then be killed."""
        for number, student in enumerate(students):
            if number == until:
                raise Killed
            self.graded[student.id] += 1
            yield student, result(student.id, settings.seed)

    def files(self):
        """What is written, by name; the journal aside."""
        return {
            path.relative_to(self.out).as_posix(): undated(path.read_text("utf-8"))
            for path in self.out.rglob("*")
            if path.is_file() and path.name != JOURNAL
        }

    def lines(self):
        """The journal's lines."""
        return (self.out / JOURNAL).read_text("utf-8").splitlines()


def undated(text):
    """A file's text without the moment it was written."""
    return re.sub(r'"written_at": ".*?"', "", text)


def result(student, seed):
    """A student's result, which depends on nothing but who it is."""
    score = int(student[-2:]) / 2
    row = Row(student, score, 10, False, True, {"01_scores/scores": score}, "", ("sealed",), seed)
    return Written(row, f'{{"student": "{student}"}}\n', f'{{"feedback": "{student}"}}\n')


@pytest.fixture
def make(course_copy, tmp_path):
    """Makes a class that writes to a folder of some name."""
    for name in STUDENTS:
        (tmp_path / "class" / name).mkdir(parents=True)
        (tmp_path / "class" / name / "scores.py").write_text(f"# {name}\n", "utf-8")
    return lambda name: Class(course_copy, tmp_path / "class", tmp_path / name)


@pytest.fixture
def undisturbed(make):
    """What a run writes that nobody disturbs."""
    run = make("undisturbed")
    run.run()
    assert run.graded == Counter(STUDENTS)
    return run.files()


def test_runs_cut_short_end_as_an_undisturbed_one(make, undisturbed):
    """After any number of kills: the same bytes, and nobody is graded twice."""
    cut = make("cut")
    for until in (0, 3, 1, 0, 7):
        with pytest.raises(Killed):
            cut.run(partial(cut.grade, until=until))
    rows = cut.run()
    assert [row.student for row in rows] == STUDENTS
    assert cut.graded == Counter(STUDENTS)
    assert [unchanged for _, unchanged in cut.begun] == [0, 0, 3, 4, 4, 11]
    assert cut.files() == undisturbed


def test_a_kill_at_any_byte_of_a_line_costs_that_student_alone(make, undisturbed):
    """The journal ends wherever the process did; the next run grades the one whose line it was."""
    cut = make("cut")
    cut.run()
    whole = (cut.out / JOURNAL).read_bytes()
    start = whole.rindex(b"\n", 0, -1) + 1
    for length in range(start, len(whole) - 1, 9):
        (cut.out / JOURNAL).write_bytes(whole[:length])
        cut.graded.clear()
        cut.run()
        assert cut.graded == Counter(STUDENTS[-1:])
        assert cut.files() == undisturbed


@pytest.mark.parametrize("left", ["results", "feedback", "neither"])
def test_a_kill_before_the_line_grades_that_student_again(make, undisturbed, left):
    """Files come first and the line after them, so a line never tells of files that are not there."""
    cut = make("cut")
    with pytest.raises(Killed):
        cut.run(partial(cut.grade, until=5))
    lines = (cut.out / JOURNAL).read_text("utf-8").splitlines(keepends=True)
    (cut.out / JOURNAL).write_text("".join(lines[:-1]), "utf-8")
    for kind in {"results", "feedback"} - {left}:
        (cut.out / kind / f"{STUDENTS[4]}.json").unlink()
    cut.run()
    assert cut.graded == Counter([*STUDENTS, STUDENTS[4]])
    assert cut.files() == undisturbed


@pytest.mark.parametrize("kind", ["results", "feedback"])
def test_a_line_whose_files_were_lost_does_not_count(make, undisturbed, kind):
    """Whoever deleted them gets them again."""
    cut = make("cut")
    cut.run()
    (cut.out / kind / f"{STUDENTS[2]}.json").unlink()
    cut.run()
    assert cut.graded == Counter([*STUDENTS, STUDENTS[2]])
    assert cut.files() == undisturbed


def test_who_handed_in_something_new_is_graded_again(make):
    """And nobody else."""
    run = make("out")
    run.run()
    (run.folder / STUDENTS[7] / "scores.py").write_text("# better\n", "utf-8")
    run.run()
    assert run.graded == Counter([*STUDENTS, STUDENTS[7]])


def test_another_course_or_force_grades_everybody_again(make):
    """A changed check may change every score."""
    run = make("out")
    run.run()
    with (run.course / "tests/checks/01_scores/test_hidden.py").open("a") as file:
        file.write("HARDER = 1\n")
    run.run()
    run.run(force=True)
    run.run()
    assert set(run.graded.values()) == {3}
    assert [unchanged for _, unchanged in run.begun] == [0, 0, 0, 20]


def test_results_that_come_in_another_order_are_written_in_order(make, undisturbed):
    """Workers end when they end; the class's files are by name."""
    run = make("out")
    assert [
        row.student for row in run.run(lambda settings, some: run.grade(settings, some[::-1]))
    ] == (STUDENTS)
    assert run.files() == undisturbed


def test_a_student_who_could_not_be_graded_is_undecided_and_tried_again(make, undisturbed):
    """A reason instead of a result costs nobody else anything."""
    run = make("out")

    def lose_one(settings, students):
        for student, written in run.grade(settings, students):
            yield student, "its worker was lost" if student.id == STUDENTS[3] else written

    rows = run.run(lose_one)
    assert [row.student for row in rows if row.undecided] == STUDENTS[3:4]
    run.run()
    assert run.graded == Counter([*STUDENTS, STUDENTS[3]])
    assert run.files() == undisturbed


def test_a_second_run_waits_for_its_folder(make):
    """Two at a time would write over each other."""
    run = make("out")

    def begin_another(settings, students):
        run.run()
        yield from ()

    with pytest.raises(UsageError, match="Another `grader grade` is writing"):
        run.run(begin_another)
    assert run.graded == Counter()


# Any sequence of runs.


class Ended(KeyboardInterrupt):
    """Ctrl-C."""


def judged(course, folder, seed):
    """A result that depends on what was handed in and on the course."""
    text = (folder / "scores.py").read_text("utf-8") + course.hash
    score = int.from_bytes(hashlib.sha256(text.encode()).digest()[:1]) / 2
    row = Row(folder.name, score, 200, False, True, {}, course.hash, ("sealed",), seed)
    return Written(row, f'{{"score": {score}}}\n', f'{{"feedback": {score}}}\n')


@dataclass
class Term:
    """A class over a term: work and course change, students leave, runs are cut short."""

    course: Path
    folder: Path
    out: Path
    rng: random.Random
    number: int = 0

    def run(self, out, names=None, until=None, error=None):
        """A run over some students or all; it may be ended after a few."""
        course = load_course(self.course)
        everybody = sorted(path.name for path in self.folder.iterdir())
        students = [Student(name, self.folder / name) for name in names or everybody]

        def grade(settings, some):
            for number, student in enumerate(some):
                if number == until:
                    raise error
                yield student, judged(course, student.path, settings.seed)

        run = ClassRun(course, students, out, seed="11", is_whole=names is None)
        return run.carry_out(grade, self)

    def step(self):
        """Whatever may happen."""
        names = sorted(path.name for path in self.folder.iterdir())
        one = self.rng.choice(names)
        match self.rng.randrange(6):
            case 0:
                self.run(self.out)
            case 1:
                self.run(self.out, [one])
            case 2:
                error = self.rng.choice((Killed, Ended))
                with suppress(Killed, Ended):
                    self.run(self.out, until=self.rng.randrange(4), error=error)
            case 3:
                self.number += 1
                (self.folder / one / "scores.py").write_text(f"# {self.number}\n", "utf-8")
            case 4 if len(names) > 3:
                shutil.rmtree(self.folder / one)
            case _:
                checks = self.course / "tests" / "checks" / "01_scores" / "test_hidden.py"
                text = checks.read_text("utf-8")
                plain = text.removesuffix("HARDER = 1\n")
                checks.write_text(plain if plain != text else f"{text}HARDER = 1\n", "utf-8")

    def files(self, out):
        """What a run wrote, without the journal and without former students."""
        return {
            path.relative_to(out).as_posix(): undated(path.read_text("utf-8"))
            for path in out.rglob("*")
            if path.is_file() and path.name != JOURNAL and "left" not in path.parts
        }

    def begin(self, students, unchanged):
        """Nothing."""

    def done(self, row):
        """Nothing."""


@pytest.mark.parametrize("seed", range(12))
def test_any_sequence_of_runs_ends_as_one_undisturbed_run(make, seed):
    """Cut short, for one student, after changes and changes back: the last run has it all."""
    run = make("out")
    term = Term(run.course, run.folder, run.out, random.Random(seed))
    for name in STUDENTS[8:]:
        shutil.rmtree(run.folder / name)
    for _ in range(12):
        term.step()
        table = run.out / "scores.csv"
        if table.is_file():
            there = {line.split(",")[0] for line in table.read_text("utf-8").splitlines()[1:]}
            assert there == {path.stem for path in (run.out / "results").iterdir()}
    term.run(run.out)
    undisturbed = run.out.with_name("undisturbed")
    term.run(undisturbed)
    assert term.files(run.out) == term.files(undisturbed)
