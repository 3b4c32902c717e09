"""A class run and its store, with students graded in no time: whatever cuts it short."""

import random
import shutil
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

import pytest

from grader.classes.decisions import (
    NONE,
    Decisions,
    Exemption,
    Extension,
    Group,
    LateDays,
    Override,
)
from grader.classes.run import ClassRun
from grader.classes.store import Store
from grader.core.errors import UsageError
from grader.course.course import load_course
from grader.intake.read import read_submissions
from tests.grader.classes.conftest import HIDDEN, IDS, STUDENTS, Class, Formula, Killed, write_work

pytestmark = pytest.mark.slow


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


@pytest.mark.parametrize("kind", ["results", "feedback"])
def test_files_that_were_lost_are_written_again(make, undisturbed, kind):
    """Whoever deleted them gets them again."""
    cut = make("cut")
    cut.run()
    (cut.out / kind / f"{STUDENTS[2]}.json").unlink()
    cut.run()
    assert cut.graded == Counter(STUDENTS)
    assert cut.files() == undisturbed


def test_who_handed_in_something_new_is_graded_again(make):
    """And nobody else."""
    run = make("out")
    run.run()
    write_work(run.folder / STUDENTS[7], "better")
    run.run()
    assert run.graded == Counter([*STUDENTS, STUDENTS[7]])


# What is graded again when the course changes.


def test_a_run_of_fewer_assignments_says_what_it_keeps(make):
    """Scores are out of all that was graded in the folder."""
    run = make("out")
    run.run()
    run.run(assignments=("02_mixture",))
    assert run.told == [
        "Kept as graded before: 01_scores. A run into another --out leaves them out."
    ]


def test_other_checks_grade_their_assignment_again_and_force_everything(make):
    """And what builds on its solution only where that changed; the reason is told before."""
    run = make("out")
    run.run()
    assert run.told == []
    run.harder("02_mixture")
    run.run()
    assert run.parts == {"everything": 20, "02_mixture": 20}
    assert run.told == ["02_mixture: its checks changed; 20 students are graded again."]
    run.edit("solutions/01_scores/scores.py", "products = q", "products = 1 * q")
    run.run()
    assert run.parts == {"everything": 40, "02_mixture": 20}
    run.run(force=True)
    run.run()
    assert run.parts == {"everything": 60, "02_mixture": 20}
    assert [unchanged for _, unchanged in run.begun] == [0, 0, 0, 0, 20]


def test_a_change_that_is_undone_grades_nobody(make, undisturbed):
    """Its outcomes are in the store."""
    run = make("out")
    run.run()
    for text in ("HARDER = 2\n", "HARDER = 3\n"):
        path = run.course / HIDDEN.format("01_scores")
        before = path.read_text("utf-8")
        path.write_text(before + text, "utf-8")
        run.run()
        path.write_text(before, "utf-8")
    run.run()
    assert run.graded == Counter(STUDENTS * 3)
    assert run.told == []
    assert run.files() == undisturbed


MIXTURE = '[[assignments]]\nid = "02_mixture"\n'
DUE = "due = 2027-02-01T23:59:00+01:00\n"
SCORE_CHANGES = {
    "points": ("course.toml", "scores = 2", "scores = 2.5"),
    "no points": ("course.toml", "Mixture = 3", "Mixture = 0"),
    "due": ("course.toml", '"Scores"\n', f'"Scores"\n{DUE}'),
    "title": ("course.toml", '"Mixtures, ', '"Blends, '),
    "late": ("course.toml", MIXTURE, f"[late]\npercent_per_day = 10\n{MIXTURE}{DUE}"),
    "weight": ("tests/checks/01_scores/test_visible.py", "weight(2)", "weight(3)"),
    "sentence": ("tests/checks/01_scores/test_visible.py", "The scores are the", "Scores are the"),
    "question": ("solutions/01_scores/misconceptions.toml", 'question = "', 'question = "So: '),
    "docstring": ("solutions/01_scores/scores.py", '"""The', '"""All the'),
}


@pytest.mark.parametrize("change", SCORE_CHANGES.values(), ids=SCORE_CHANGES)
def test_what_decides_scores_grades_nobody(make, undisturbed, change):
    """The files are those of a run that graded everybody after the change; so after its undoing."""
    run, other = make("out"), make("other")
    run.run()
    run.edit(*change)
    run.run()
    assert run.graded == Counter(STUDENTS)
    other.run()
    assert run.files() == other.files()
    run.edit(change[0], *change[:0:-1])
    run.run()
    assert run.files() == undisturbed


@pytest.mark.parametrize("kind", ["hint", "comment", "translation"])
def test_hints_comments_and_translations_change_nothing(make, kind):
    """Everybody is unchanged."""
    run = make("out")
    run.run()
    name = {"hint": "hints.toml", "comment": "scores.py", "translation": "words.po"}[kind]
    path = run.course / "solutions" / "01_scores" / name
    if kind == "hint":
        run.edit("solutions/01_scores/hints.toml", "?", "??")
    else:
        with path.open("a") as file:
            file.write("# Nobody is graded for this.\n")
    run.run()
    assert run.begun == [(20, 0), (20, 20)]


def test_whose_score_changed_is_told(make):
    """The scores before and after, of this run alone."""
    run = make("out")
    before = {row.student: row.score for row in run.run()}
    assert run.result.changed == {}
    run.edit("course.toml", "scores = 2", "scores = 0")
    after = {row.student: row.score for row in run.run()}
    wanted = {name: (before[name], after[name]) for name in before if before[name] != after[name]}
    assert run.result.changed == wanted != {}
    run.run()
    assert run.result.changed == {}


@pytest.mark.parametrize("size", [100, pytest.param(500, marks=pytest.mark.proof)])
def test_a_large_class_is_scored_again_without_grading(make, size):
    """A due date is moved: seconds, and no student code is run."""
    run = make("out")
    names = [f"s{number:04}" for number in range(size)]
    for name in names:
        (run.folder / name).mkdir()
        write_work(run.folder / name, name)
    run.run(names=names)
    before = {row.student: row.score for row in run.result.rows}
    run.edit(*SCORE_CHANGES["late"])
    run.run(names=names)
    assert run.graded == Counter(names)
    after = {row.student: row.score for row in run.result.rows}
    assert (
        run.result.changed == {n: (s, after[n]) for n, s in before.items() if s != after[n]} != {}
    )
    assert run.told == []
    run.harder("02_mixture")
    run.run(names=names)
    assert run.parts == {"everything": size, "02_mixture": size}


# One assignment at a time.


def test_an_assignment_is_graded_out_of_its_own_points(make):
    """What is graded later is added; what was graded before stays as it was."""
    run = make("out")
    rows = run.run(assignments=("01_scores",))
    assert {row.max_score for row in rows} == {2}
    assert "02_mixture" not in (run.out / "scores.csv").read_text("utf-8")
    first = {row.student: row.score for row in rows}
    run.harder("01_scores")
    rows = run.run(assignments=("02_mixture",))
    assert {row.max_score for row in rows} == {6}
    assert {row.student: row.assignments["01_scores"] for row in rows} == first
    assert run.told == [
        "01_scores is not graded now: its results are from before a change (its checks)."
    ]
    assert run.parts == {"01_scores": 20, "02_mixture": 20}


def test_who_comes_later_is_graded_in_everything_that_the_class_was(make):
    """All are out of the same points."""
    run = make("out")
    run.run(assignments=("01_scores",), names=STUDENTS[1:])
    rows = run.run(assignments=("02_mixture",))
    assert {row.max_score for row in rows} == {6}
    assert run.parts == {"01_scores": 19, "02_mixture": 19, "everything": 1}


def test_what_is_not_due_yet_is_told_apart(make):
    """Scores of what was due stand beside, and are not there where everything was."""
    run = make("out")
    run.run()
    assert "due_score" not in (run.out / "scores.csv").read_text("utf-8")
    run.edit("course.toml", "imports =", "due = 2999-02-01T23:59:00+01:00\nimports =")
    rows = run.run()
    head, *lines = [line.split(",") for line in (run.out / "scores.csv").read_text().splitlines()]
    column = head.index("due_score")
    assert [float(line[column]) for line in lines] == [r.assignments["01_scores"] for r in rows]
    assert {line[column + 1] for line in lines} == {"2"}


# What may happen besides.


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
        for student, outcomes in run.grade(settings, students):
            yield student, "its worker was lost" if student.id == STUDENTS[3] else outcomes

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

    with pytest.raises(UsageError, match="Another grader command is working"):
        run.run(begin_another)
    assert run.graded == Counter()


# Any sequence of runs.

SCORES = "01_scores/scores"


class Ended(KeyboardInterrupt):
    """Ctrl-C."""


TOGGLES = (
    *((HIDDEN.format(id_), "import pytest\n", "import pytest\n\nHARDER = 1\n") for id_ in IDS),
    ("solutions/01_scores/scores.py", "products = q", "products = 1 * q"),
    *SCORE_CHANGES.values(),
)
"""Changes of the course, of both kinds, each as its undoing turned round."""


SOME_DECISIONS = (
    NONE,
    Decisions(groups=(Group(tuple(STUDENTS[:3]), IDS[0]),)),
    Decisions(extensions=(Extension(STUDENTS[1], assignment=IDS[0], days=2),)),
    Decisions(late_days=LateDays(2, 1), overrides=(Override(STUDENTS[0], SCORES, 1, "So."),)),
    Decisions(exemptions=(Exemption(STUDENTS[2], exercises=(SCORES,)),)),
)


@dataclass
class Term(Class):
    """A class over a term: work and course change, students leave, runs are cut short."""

    rng: random.Random = None
    number: int = 0
    until: int | None = None
    error: BaseException | None = None
    decisions: Decisions = NONE

    def term_run(self, names=None, **options):
        """A run over some students or all; it may be ended after a few."""
        course = load_course(self.course)
        self.formula, self.told = Formula(course), []
        with read_submissions(course, self.folder) as intake:
            students = [one for one in intake.students if one.id in (names or [one.id])]
            options = {"seed": "11", "decisions": self.decisions, **options}
            run = ClassRun(course, students, self.out, is_whole=names is None, **options)
            self.result = run.carry_out(self.grade, self)

    def grade(self, settings, students):
        """Grade, and end when it is time; meanwhile no other command may begin."""
        with pytest.raises(UsageError, match="Another grader command is working"):
            Store.to_write(self.out)
        for number, student in enumerate(students):
            if number == self.until:
                raise self.error
            yield student, self.formula.outcomes(student, settings.seed)

    def step(self):
        """Whatever may happen."""
        names = sorted(path.name for path in self.folder.iterdir())
        one = self.rng.choice(names)
        match self.rng.randrange(12):
            case 0:
                self.term_run()
            case 1:
                self.term_run([one])
            case 2:
                self.term_run(assignments=(self.rng.choice(IDS),))
            case 3:
                self.until, self.error = self.rng.randrange(4), self.rng.choice((Killed, Ended))
                with suppress(Killed, Ended):
                    self.term_run()
                self.until = None
            case 4:
                self.hand_in(self.folder / one)
            case 5 if len(names) > 3:
                shutil.rmtree(self.folder / one)
            case 6 | 7:
                self.decisions = self.rng.choice(SOME_DECISIONS)
            case 8:
                stamps = [path for path in (self.folder / one).iterdir() if path.is_dir()]
                if len(stamps) > 1:
                    shutil.rmtree(self.rng.choice(stamps))
            case _:
                self.toggle(*self.rng.choice(TOGGLES))

    def hand_in(self, folder):
        """Hand something in instead of what is there, or beside it as another attempt."""
        self.number += 1
        is_attempt = self.rng.random() < 0.5 or any(path.is_dir() for path in folder.iterdir())
        if not is_attempt:
            write_work(folder, f"{self.number}")
            return
        for path in folder.iterdir():
            if path.is_file():
                path.unlink()
        stamped = folder / f"2027-02-{self.rng.randrange(1, 6):02}T10-{self.number:02}-00"
        stamped.mkdir()
        (stamped / "scores.py").write_text(f"# {self.number}\n", "utf-8")

    def toggle(self, name, old, new):
        """Change a file of the course, or change it back."""
        is_changed = new in (self.course / name).read_text("utf-8")
        self.edit(name, *((new, old) if is_changed else (old, new)))


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(n, marks=pytest.mark.proof) for n in range(1, 16))]
)
def test_any_sequence_of_runs_ends_as_one_undisturbed_run(make, seed):
    """Cut short, for one student, after changes and changes back: the last run has it all."""
    run = make("out")
    term = Term(run.course, run.folder, run.out, rng=random.Random(seed))
    for name in STUDENTS[8:]:
        shutil.rmtree(run.folder / name)
    for _ in range(16):
        term.step()
        table = run.out / "scores.csv"
        if table.is_file():
            there = {line.split(",")[0] for line in table.read_text("utf-8").splitlines()[1:]}
            assert there == {path.stem for path in (run.out / "results").iterdir()}
    term.term_run()
    undisturbed = Term(run.course, run.folder, run.out.with_name("undisturbed"))
    undisturbed.decisions = term.decisions
    undisturbed.term_run()
    assert term.files() == undisturbed.files()
    *used, keys = term.store()
    *used_by_one, keys_of_one = undisturbed.store()
    assert used == used_by_one
    assert {*keys_of_one} <= {*keys}
    term.until, term.error = 0, AssertionError("nothing has changed")
    term.term_run()
    term.toggle(*random.Random(seed).choice([*SCORE_CHANGES.values()]))
    term.term_run()
