"""A class run and its store, with students graded in no time: whatever cuts it short."""

import random
import shutil
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

import pytest

from grader.classes.decisions import NONE
from grader.classes.store import Store
from grader.core.errors import UsageError
from tests.grader.classes.conftest import HIDDEN, IDS, SOME, STUDENTS, Class, Killed, write_work

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
def test_files_that_were_lost_are_written_again(run, undisturbed, kind):
    """Whoever deleted them gets them again."""
    (run.out / kind / f"{STUDENTS[2]}.json").unlink()
    run.run()
    assert run.graded == Counter(STUDENTS)
    assert run.files() == undisturbed


def test_a_run_of_fewer_assignments_says_what_it_keeps(run):
    """Scores are out of all that was graded in the folder."""
    run.run(assignments=("02_mixture",))
    assert run.told == [
        "Kept as graded before: 01_scores. A run into another --out leaves them out."
    ]


def test_other_checks_grade_their_assignment_again_and_force_everything(run):
    """And what builds on its solution only where that changed; the reason is told before."""
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


def test_a_change_that_is_undone_grades_nobody(run, undisturbed):
    """Its outcomes are in the store."""
    hidden = HIDDEN.format("01_scores")
    for text in ("pytest\n\nHARDER = 2\n", "pytest\n\nHARDER = 3\n"):
        run.edit(hidden, "pytest\n", text)
        run.run()
        run.edit(hidden, text, "pytest\n")
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
def test_what_decides_scores_grades_nobody(run, make, undisturbed, change):
    """The files are those of a run that graded everybody after the change; so after its undoing."""
    run.edit(*change)
    run.run()
    assert run.graded == Counter(STUDENTS)
    other = make("other")
    other.run()
    assert run.files() == other.files()
    run.edit(change[0], *change[:0:-1])
    run.run()
    assert run.files() == undisturbed


@pytest.mark.parametrize("name", ["hints.toml", "scores.py", "words.po"])
def test_hints_comments_and_translations_change_nothing(run, name):
    """Everybody is unchanged."""
    run.edit("solutions/01_scores/hints.toml", "?", "??")
    with (run.course / "solutions" / "01_scores" / name).open("a") as file:
        file.write("# Nobody is graded for this.\n")
    run.run()
    assert run.begun == [(20, 0), (20, 20)]


@pytest.mark.parametrize("size", [100, pytest.param(500, marks=pytest.mark.proof)])
def test_a_large_class_is_scored_again_without_grading(make, size):
    """A due date is moved: no student code is run; whose score changed is told, of this run alone."""
    run = make("out")
    names = [f"s{number:04}" for number in range(size)]
    for name in names:
        (run.folder / name).mkdir()
        write_work(run.folder / name, name)
    before = {row.student: row.score for row in run.run(names=names)}
    assert run.result.changed == {}
    run.edit(*SCORE_CHANGES["late"])
    after = {row.student: row.score for row in run.run(names=names)}
    assert run.graded == Counter(names)
    wanted = {name: (before[name], after[name]) for name in names if before[name] != after[name]}
    assert run.result.changed == wanted != {}
    assert run.told == []
    run.harder("02_mixture")
    run.run(names=names)
    assert run.parts == {"everything": size, "02_mixture": size}
    run.run(names=names)
    assert run.result.changed == {}


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


def test_what_is_not_due_yet_is_told_apart(run):
    """Scores of what was due stand beside, and are not there where everything was."""
    assert "due_score" not in (run.out / "scores.csv").read_text("utf-8")
    run.edit("course.toml", "imports =", "due = 2999-02-01T23:59:00+01:00\nimports =")
    rows = run.run()
    head, *lines = [line.split(",") for line in (run.out / "scores.csv").read_text().splitlines()]
    column = head.index("due_score")
    assert [float(line[column]) for line in lines] == [r.assignments["01_scores"] for r in rows]
    assert {line[column + 1] for line in lines} == {"2"}


def test_a_student_who_could_not_be_graded_is_undecided_and_tried_again(make, undisturbed):
    """A reason instead of a result costs nobody else anything."""
    run = make("out")

    def lose_one(settings, students):
        for student, outcomes in run.grade(settings, students):
            yield student, "its worker was lost" if student.id == STUDENTS[3] else outcomes

    rows = run.run(lose_one)
    assert [row.student for row in rows if row.undecided] == STUDENTS[3:4]
    run.run()
    assert run.result.why == {"undecided before": 1}
    assert run.graded == Counter([*STUDENTS, STUDENTS[3]])
    assert run.files() == undisturbed


# Any sequence of runs.


class Ended(KeyboardInterrupt):
    """Ctrl-C."""


TOGGLES = (
    *((HIDDEN.format(id_), "import pytest\n", "import pytest\n\nHARDER = 1\n") for id_ in IDS),
    ("solutions/01_scores/scores.py", "products = q", "products = 1 * q"),
    *SCORE_CHANGES.values(),
)
"""Changes of the course, of both kinds, each as its undoing turned round."""


@dataclass
class Term(Class):
    """A class over a term: work and course change, students leave, runs are cut short."""

    rng: random.Random = None
    number: int = 0
    until: int | None = None
    error: BaseException | None = None
    decisions: object = NONE

    def term_run(self, names=None, **options):
        """A run over some students or all; it may be ended after a few."""
        self.run_folder(names=names, **{"decisions": self.decisions, **options})

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
                self.decisions = self.rng.choice((NONE, *SOME))
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
