"""A class of which some handed in several times: what is graded, and what another run does."""

import shutil
from collections import Counter
from datetime import UTC, datetime
from functools import partial
from itertools import pairwise, product

import pytest
from msgspec.structs import replace

from grader.classes.deciding import Policy
from grader.classes.decisions import Decisions, DroppedCheck, GivenCheck, LateDays
from grader.classes.records import open_records
from grader.core import processes
from grader.core.records import Outcome
from grader.intake.folders import Student
from grader.submissions.moments import BY_FOLDER, BY_MOODLE, Moment
from tests.grader.classes.conftest import SOME, STUDENTS, Killed

ADA, BO, *OTHERS = STUDENTS
OVERRIDE, EXTENSION, EXEMPTION, _late_days, GROUP = SOME
STAMPS = ("2027-01-30T10-00-00", "2027-01-31T10-00-00", "2027-02-03T10-00-00")


def hand_in(folder, stamp, text):
    """Another attempt."""
    (folder / ADA / stamp).mkdir()
    (folder / ADA / stamp / "scores.py").write_text(f"# {text}\n", "utf-8")


@pytest.fixture
def several(make):
    """A class of two; one has three attempts, of which the second changes nothing."""
    run = make("out")
    for name in OTHERS:
        shutil.rmtree(run.folder / name)
    for path in (run.folder / ADA).iterdir():
        path.unlink()
    for stamp, text in zip(STAMPS, "aab", strict=True):
        hand_in(run.folder, stamp, text)

    def again(policy="last", grade=None, **options):
        run.graded.clear()
        rows = run.run_folder(grade, policy=Policy(policy), **options)
        return rows, run.results()

    run.again = again
    return run


def ending(run, is_right):
    """Grades so that every check of a submission passes, fails or, for None, cannot be decided."""
    ends = {True: Outcome.PASSED, False: Outcome.FAILED, None: Outcome.ERROR}

    def grade(settings, students):
        for student, found in run.grade(settings, students):
            yield student, _ended(found, ends[is_right(student)])

    return grade


def _ended(outcomes, outcome):
    def ended(exercise):
        checks = tuple(replace(check, outcome=outcome) for check in exercise.checks)
        return replace(exercise, checks=checks)

    parts = (replace(p, exercises=tuple(map(ended, p.exercises))) for p in outcomes.assignments)
    return replace(outcomes, assignments=tuple(parts))


def test_each_attempt_is_graded_once(several):
    """By what was handed in; another policy runs nothing."""
    rows, (ada, other) = several.again()
    assert several.graded == Counter({ADA: 2, BO: 1})
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
    several.again("best", decisions=EXEMPTION)
    assert several.told == []


def test_a_new_attempt_is_graded_alone(several):
    """What was graded before is there, also after a kill."""
    with pytest.raises(Killed):
        several.again(grade=partial(several.grade, until=1))
    several.again()
    assert several.graded == Counter({ADA: 1, BO: 1})
    hand_in(several.folder, "2027-02-05T10-00-00", "c")
    rows, _results = several.again()
    assert several.graded == Counter([ADA])
    assert rows[0].attempts["01_scores"] == "3 of 3"


def test_students_are_counted_where_it_says_students(several):
    """However many attempts they have made; each attempt is graded again."""
    several.again()
    several.harder()
    several.again()
    assert several.graded == Counter({ADA: 2, BO: 1})
    assert [line.rpartition("; ")[2] for line in several.told] == ["2 students are graded again."]


def test_policies_and_decisions_come_out_as_if_what_counts_were_found_anew(several):
    """One after the other; outcomes of other assignments are left as they are, and no code is run."""
    several.make_late()
    _rows, (ada, _other) = several.again()
    checks, files, store = ada.assignments[0].checks, several.files(), several.store()
    failed = next(c.id for c in checks if c.outcome is Outcome.FAILED)
    passed = next(c.id for c in checks if c.outcome is Outcome.PASSED)
    of_checks = (
        Decisions(full_marks=(GivenCheck(failed),)),
        Decisions(drop=(DroppedCheck(passed),)),
    )
    seen, out = [], several.out
    for policy, step in product(Policy, (*of_checks, Decisions(), *SOME)):
        several.again(policy, decisions=step)
        assert several.graded == Counter()
        seen.append(_results_in(several))
        several.out = out.with_name(f"fresh-{len(seen)}")
        several.again(policy, decisions=step)
        assert _results_in(several) == seen[-1]
        several.out = out
    assert sum(one != other for one, other in pairwise(seen)) > len(seen) // 2
    several.again()
    assert (several.files(), several.store()) == (files, store)


@pytest.mark.slow
def test_several_processes_write_the_same(several, monkeypatch):
    """As for many students; here two are many."""
    several.again("best")
    before = _results_in(several)
    several.again("best", decisions=OVERRIDE)
    found = _results_in(several)
    several.again("best")
    monkeypatch.setattr(processes, "FEW", 0)
    several.again("best", decisions=OVERRIDE, jobs=2)
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
    run.make_late()

    def notes(day, **options):
        run.graded.clear()
        moment = Moment(datetime(2027, 2, max(1, day), tzinfo=UTC), BY_MOODLE)
        times = (("", moment),) if day else ()
        run.run_students([Student(ADA, run.folder / ADA, times=times)], is_whole=False, **options)
        (part, *_others) = run.results()[0].assignments
        return part.notes, part.time_source, run.graded[ADA]

    said = "{} days late by Moodle's worksheet: {}0 percent taken off."
    assert notes(3) == ((said.format(2, 2),), BY_MOODLE, 1)
    assert notes(4) == ((said.format(3, 3),), BY_MOODLE, 0)
    assert notes(0, assignments=("02_mixture",)) == ((said.format(3, 3),), BY_MOODLE, 0)
    assert notes(0)[1:] == ("", 0)
    found = notes(4, decisions=EXTENSION)[0]
    assert found[-1] == "1 day late by Moodle's worksheet: 10 percent taken off."


def test_a_groups_time_is_of_what_counts(make):
    """Another time of it is everybody's, and runs no code."""
    run = make("out")
    run.make_late()

    def late_days_of_bo(day):
        run.graded.clear()
        times = (("", Moment(datetime(2027, 2, day, tzinfo=UTC), BY_MOODLE)),)
        students = [Student(ADA, run.folder / ADA, times=times), Student(BO, run.folder / BO)]
        run.run_students(students, ending(run, lambda student: student.id == ADA), decisions=GROUP)
        part = run.results()[1].assignments[0]
        return part.handed_in_by, part.days_late, part.time_source, run.graded.total()

    assert late_days_of_bo(3) == (ADA, 2, BY_MOODLE, 2)
    assert late_days_of_bo(4) == (ADA, 3, BY_MOODLE, 0)


def test_an_undecided_attempt_is_told_and_graded_again(several):
    """Where another one counts, nobody would see it."""
    several.again(grade=ending(several, lambda s: None if STAMPS[0] in str(s.path) else True))
    moment = "2027-01-30T10:00:00+00:00"
    assert several.result.open_attempts == (
        *(f"{ADA}, 01_scores, {moment}", f"{ADA}, 02_mixture, {moment}"),
    )
    _rows, (ada, _other) = several.again()
    assert several.graded == Counter([ADA])
    assert several.result.open_attempts == ()
    assert all(one.score is not None for one in ada.assignments[0].attempts)


def test_without_decisions_another_attempt_would_count(several):
    """`automatic` is what the class has without decisions, not what the attempt has that counts now."""
    several.make_late(33)

    def last_is_right(settings, students):
        for student, found in several.grade(settings, students):
            is_right = STAMPS[-1] in str(student.path)
            yield student, _ended(found, Outcome.PASSED) if is_right else found

    (plain, _other), _results = several.again("best", grade=last_is_right)
    days = Decisions(late_days=LateDays(3, 3))
    (row, _other), _results = several.again("best", grade=last_is_right, decisions=days)
    assert (plain.attempts["01_scores"], row.attempts["01_scores"]) == ("1 of 2", "2 of 2")
    assert row.automatic == plain.score < row.score


@pytest.fixture
def first_is_right(several):
    """Grades the same class, where the first attempt is right, and nothing else."""
    return partial(several.again, grade=ending(several, lambda s: STAMPS[0] in str(s.path)))


def test_an_attempt_counts_for_a_group(several, first_is_right):
    """What each attempt earned is said to who made it, by whose dates it is."""
    rows, results = first_is_right("best", decisions=GROUP)
    ada, bo = (one.assignments[0] for one in results)
    assert ada.score == bo.score == ada.max_score
    assert (len(ada.attempts), bo.attempts, bo.handed_in_by) == (2, (), ADA)
    assert (ada.time_source, bo.time_source) == (BY_FOLDER, BY_FOLDER)
    assert [[*row.attempts] for row in rows] == [["01_scores", "02_mixture"], []]
    _rows, results = first_is_right("last", decisions=GROUP)
    assert several.graded == Counter()
    assert [one.assignments[0].handed_in_by for one in results] == ["", ""]
    assert {one.assignments[0].score for one in results} == {0}


def test_no_score_falls_by_another_attempt(several, first_is_right):
    """The earlier assignment stays, with the attempt that counted."""
    first_is_right("best")
    earlier = open_records(several.out)
    (row, _other), (ada, _bo) = first_is_right("last", never_lower=earlier)
    assert several.graded == Counter()
    assert row.decided == ("kept 01_scores", "kept 02_mixture")
    assert (row.score, row.automatic) == (ada.max_score, 0)
    assert row.attempts["01_scores"] == "1 of 2"
    (row, _other), _results = first_is_right("last")
    assert (row.score, row.decided) == (0, ())
