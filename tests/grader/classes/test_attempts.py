"""A class of which some handed in several times: what is graded, and what another run does."""

import shutil
from collections import Counter
from datetime import UTC, datetime
from functools import partial
from itertools import chain

import pytest
from msgspec.structs import replace

from grader.classes.deciding import Policy
from grader.classes.decisions import (
    Decisions,
    DroppedCheck,
    Exemption,
    Extension,
    GivenCheck,
    Group,
    LateDays,
    Override,
)
from grader.classes.records import open_records
from grader.classes.run import ClassRun
from grader.core import processes
from grader.core.records import Outcome
from grader.course.course import load_course
from grader.intake.folders import Student
from grader.intake.read import read_submissions
from grader.submissions.moments import BY_FOLDER, BY_MOODLE, Moment
from tests.grader.classes.conftest import STUDENTS, Formula, Killed

ADA, BO, *_OTHERS = STUDENTS
GROUP = Decisions(groups=(Group((ADA, BO), "01_scores"),))
STAMPS = ("2027-01-30T10-00-00", "2027-01-31T10-00-00", "2027-02-03T10-00-00")
EXERCISE = "01_scores/scores"
DUE = '[[assignments]]\nid = "01_scores"\ntitle = "Scores"\n'


@pytest.fixture
def several(make):
    """A class of two; one has three attempts, of which the second changes nothing."""
    run = make("out")
    for name in STUDENTS[2:]:
        shutil.rmtree(run.folder / name)
    for path in (run.folder / ADA).iterdir():
        path.unlink()
    for stamp, text in zip(STAMPS, ("a", "a", "b"), strict=True):
        (run.folder / ADA / stamp).mkdir()
        (run.folder / ADA / stamp / "scores.py").write_text(f"# {text}\n", "utf-8")

    def grade(policy="last", grade=None, **options):
        run.graded.clear()
        course = load_course(run.course)
        run.formula = Formula(course)
        with read_submissions(course, run.folder) as intake:
            options = {"seed": "11", "policy": Policy(policy), **options}
            wanted = ClassRun(course, intake.students, run.out, **options)
            run.result = wanted.carry_out(grade or run.grade, run)
        return run.result.rows, run.results()

    run.again = grade
    return run


def test_each_attempt_is_graded_once(several):
    """By what was handed in; another policy runs nothing."""
    said = []
    several.planned = said.extend
    rows, (ada, other) = several.again()
    assert several.graded == Counter({ADA: 2, STUDENTS[1]: 1})
    assert said == []
    assert other.assignments[0].attempts == ()
    (first, second) = ada.assignments[0].attempts
    assert [one.at[:10] for one in (first, second)] == ["2027-01-30", "2027-02-03"]
    assert (first.counts, second.counts) == (False, True)
    assert rows[0].attempts["01_scores"] == "2 of 2"
    best = max(range(2), key=lambda n: ada.assignments[0].attempts[n].score)
    assert ada.assignments[0].score == second.score
    rows, (again, _other) = several.again("best")
    assert several.graded == Counter()
    assert again.assignments[0].score == ada.assignments[0].attempts[best].score
    table = (several.out / "scores.csv").read_text("utf-8")
    assert ",attempts,handed_in,graded\n" in table
    assert "by the folder's name" in table
    several.again("best", decisions=Decisions(exemptions=(Exemption(ADA, exercises=(EXERCISE,)),)))
    assert said == []


def test_dates_decide_anew_and_run_nothing(several):
    """A due date makes the last attempt late, which its note says with the source."""
    several.again()
    late = "due = 2027-02-01T00:00:00Z\n"
    several.edit("course.toml", DUE, f"[late]\npercent_per_day = 10\n{DUE}{late}")
    _rows, (ada, _other) = several.again()
    assert several.graded == Counter()
    (part, *_others) = ada.assignments
    assert part.notes == ("3 days late by the folder's name: 30 percent taken off.",)
    assert part.score == part.attempts[-1].score
    _rows, (ada, _other) = several.again("last-in-time")
    assert ada.assignments[0].attempts[0].counts
    assert ada.assignments[0].notes == ()


def test_students_are_counted_where_it_says_students(several):
    """However many attempts they have made."""
    several.again()
    said = []
    several.planned = said.extend
    several.harder()
    several.again()
    assert several.graded == Counter({ADA: 2, BO: 1})
    assert [line.rpartition("; ")[2] for line in said] == ["2 students are graded again."]


def test_a_new_attempt_is_graded_alone(several):
    """What was graded before is there, also after a kill."""
    with pytest.raises(Killed):
        several.again(grade=partial(several.grade, until=1))
    several.again()
    assert several.graded == Counter({ADA: 1, STUDENTS[1]: 1})
    new = several.folder / ADA / "2027-02-05T10-00-00"
    new.mkdir()
    (new / "scores.py").write_text("# c\n", "utf-8")
    rows, _results = several.again()
    assert several.graded == Counter([ADA])
    assert rows[0].attempts["01_scores"] == "3 of 3"
    several.harder()
    several.again(force=False)
    assert several.graded == Counter({ADA: 3, STUDENTS[1]: 1})


def test_another_policy_and_back_leaves_everything_as_it_was(several):
    """No code is run for it."""
    several.again()
    files, store = several.files(), several.store()
    for policy in Policy:
        several.again(policy)
        several.again()
        assert several.graded == Counter()
        assert several.files() == files
    assert several.store() == store


@pytest.mark.parametrize("policy", Policy)
def test_decisions_come_out_as_if_what_counts_were_found_anew(several, policy):
    """One after the other, each taken back; outcomes of other assignments are left as they are."""
    late = "due = 2027-02-01T00:00:00Z\n"
    several.edit("course.toml", DUE, f"[late]\npercent_per_day = 10\n{DUE}{late}")
    _rows, (ada, _other) = several.again(policy)
    failed = [c.id for c in ada.assignments[0].checks if c.outcome is Outcome.FAILED]
    passed = [c.id for c in ada.assignments[0].checks if c.outcome is Outcome.PASSED]
    exercise = ada.assignments[1].exercises[0].id
    steps = [
        Decisions(full_marks=(GivenCheck(failed[0]),)),
        Decisions(drop=(DroppedCheck(passed[0]),)),
        Decisions(extensions=(Extension(ADA, assignment="01_scores", days=2),)),
        Decisions(late_days=LateDays(2, 1)),
        Decisions(exemptions=(Exemption(ADA, exercises=(exercise,)),)),
        Decisions(overrides=(Override(ADA, exercise, 0.5, "seen"),)),
    ]
    changed, out = 0, several.out
    for number, step in enumerate(chain.from_iterable((one, Decisions()) for one in steps)):
        before = _results_in(several)
        several.again(policy, decisions=step)
        found = _results_in(several)
        changed += found != before
        several.out = out.with_name(f"fresh-{number}")
        several.again(policy, decisions=step)
        assert _results_in(several) == found
        several.out = out
    assert changed > len(steps)


@pytest.mark.slow
def test_several_processes_write_the_same(several, monkeypatch):
    """As for many students; here two are many."""
    _rows, (ada, _other) = several.again("best")
    check = next(c.id for c in ada.assignments[0].checks if c.outcome is Outcome.FAILED)
    step = Decisions(full_marks=(GivenCheck(check),))
    before = _results_in(several)
    several.again("best", decisions=step)
    found = _results_in(several)
    several.again("best")
    monkeypatch.setattr(processes, "FEW", 0)
    several.again("best", decisions=step, jobs=2)
    assert several.graded == Counter()
    assert before != _results_in(several) == found


def _results_in(run):
    return {
        name: text
        for name, text in run.files().items()
        if name.startswith(("results", "feedback", "scores"))
    }


def test_times_of_a_platform_decide_what_is_late(make):
    """Over what the files say; another time runs no code, and holds for what is kept."""
    run = make("out")
    run.edit("course.toml", DUE, f"[late]\npercent_per_day = 10\n{DUE}due = 2027-02-01T00:00:00Z\n")

    def notes(day, **options):
        run.graded.clear()
        course = load_course(run.course)
        run.formula = Formula(course)
        moment = Moment(datetime(2027, 2, max(1, day), tzinfo=UTC), BY_MOODLE)
        times = (("", moment),) if day else ()
        students = [Student(ADA, run.folder / ADA, times=times)]
        wanted = ClassRun(course, students, run.out, seed="11", is_whole=False, **options)
        wanted.carry_out(run.grade, run)
        (part, *_others) = run.results()[0].assignments
        return part.notes, part.time_source, run.graded[ADA]

    said = "{} days late by Moodle's worksheet: {}0 percent taken off."
    assert notes(3) == ((said.format(2, 2),), BY_MOODLE, 1)
    assert notes(4) == ((said.format(3, 3),), BY_MOODLE, 0)
    assert notes(0, assignments=("02_mixture",)) == ((said.format(3, 3),), BY_MOODLE, 0)
    assert notes(0)[1:] == ("", 0)
    later = Decisions(extensions=(Extension(ADA, assignment="01_scores", days=2),))
    found = notes(4, decisions=later)[0]
    assert found[-1] == "1 day late by Moodle's worksheet: 10 percent taken off."


def test_a_groups_time_is_of_what_counts(make):
    """Another time of it is everybody's, and runs no code."""
    run = make("out")
    run.edit("course.toml", DUE, f"[late]\npercent_per_day = 10\n{DUE}due = 2027-02-01T00:00:00Z\n")

    def grade(settings, students):
        for student, found in run.grade(settings, students):
            yield student, _ended(found, Outcome.PASSED if student.id == ADA else Outcome.FAILED)

    def late_days_of_bo(day):
        run.graded.clear()
        course = load_course(run.course)
        run.formula = Formula(course)
        times = (("", Moment(datetime(2027, 2, day, tzinfo=UTC), BY_MOODLE)),)
        students = [Student(ADA, run.folder / ADA, times=times), Student(BO, run.folder / BO)]
        ClassRun(course, students, run.out, decisions=GROUP).carry_out(grade, run)
        part = run.results()[1].assignments[0]
        return part.handed_in_by, part.days_late, part.time_source, run.graded.total()

    assert late_days_of_bo(3) == (ADA, 2, BY_MOODLE, 2)
    assert late_days_of_bo(4) == (ADA, 3, BY_MOODLE, 0)


def test_an_undecided_attempt_is_told_and_graded_again(several):
    """Where another one counts, nobody would see it."""

    def failing(settings, students):
        for student, found in several.grade(settings, students):
            if STAMPS[0] in str(student.path):
                found = _ended(found, Outcome.ERROR)
            yield student, found

    several.again(grade=failing)
    moment = "2027-01-30T10:00:00+00:00"
    assert several.result.open_attempts == (
        *(f"{ADA}, 01_scores, {moment}", f"{ADA}, 02_mixture, {moment}"),
    )
    _rows, (ada, _other) = several.again()
    assert several.graded == Counter([ADA])
    assert several.result.open_attempts == ()
    assert all(one.score is not None for one in ada.assignments[0].attempts)


def _ended(outcomes, outcome):
    """The same where every check ended so."""
    return replace(
        outcomes,
        assignments=tuple(
            replace(
                part,
                exercises=tuple(
                    replace(e, checks=tuple(replace(c, outcome=outcome) for c in e.checks))
                    for e in part.exercises
                ),
            )
            for part in outcomes.assignments
        ),
    )


@pytest.fixture
def first_is_right(several):
    """The same class, where the first attempt is right, and nothing else."""

    def graded(settings, students):
        for student, found in several.grade(settings, students):
            is_right = STAMPS[0] in str(student.path)
            yield student, _ended(found, Outcome.PASSED if is_right else Outcome.FAILED)

    several.is_right = partial(several.again, grade=graded)
    return several


def test_without_decisions_another_attempt_would_count(several):
    """`automatic` is what the class has without decisions, not what the attempt has that counts now."""

    def last_is_right(settings, students):
        for student, found in several.grade(settings, students):
            is_right = STAMPS[-1] in str(student.path)
            yield student, _ended(found, Outcome.PASSED) if is_right else found

    late = "due = 2027-02-01T00:00:00Z\n"
    several.edit("course.toml", DUE, f"[late]\npercent_per_day = 33\n{DUE}{late}")
    (plain, _other), _results = several.again("best", grade=last_is_right)
    days = Decisions(late_days=LateDays(3, 3))
    (row, _other), _results = several.again("best", grade=last_is_right, decisions=days)
    assert (plain.attempts["01_scores"], row.attempts["01_scores"]) == ("1 of 2", "2 of 2")
    assert row.automatic == plain.score < row.score


def test_an_attempt_counts_for_a_group(first_is_right):
    """What each attempt earned is said to who made it, by whose dates it is."""
    rows, results = first_is_right.is_right("best", decisions=GROUP)
    ada, bo = (one.assignments[0] for one in results)
    assert ada.score == bo.score == ada.max_score
    assert (len(ada.attempts), bo.attempts, bo.handed_in_by) == (2, (), ADA)
    assert (ada.time_source, bo.time_source) == (BY_FOLDER, BY_FOLDER)
    assert [[*row.attempts] for row in rows] == [["01_scores", "02_mixture"], []]
    _rows, results = first_is_right.is_right("last", decisions=GROUP)
    assert first_is_right.graded == Counter()
    assert [one.assignments[0].handed_in_by for one in results] == ["", ""]
    assert {one.assignments[0].score for one in results} == {0}


def test_no_score_falls_by_another_attempt(first_is_right):
    """The earlier assignment stays, with the attempt that counted."""
    first_is_right.is_right("best")
    earlier = open_records(first_is_right.out)
    (row, _other), (ada, _bo) = first_is_right.is_right("last", never_lower=earlier)
    assert first_is_right.graded == Counter()
    assert row.decided == ("kept 01_scores", "kept 02_mixture")
    assert (row.score, row.automatic) == (ada.max_score, 0)
    assert row.attempts["01_scores"] == "1 of 2"
    (row, _other), _results = first_is_right.is_right("last")
    assert (row.score, row.decided) == (0, ())
