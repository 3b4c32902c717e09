"""Which attempt counts: by each policy, after lateness, and what all of them earned."""

from datetime import timedelta

import pytest

from grader.classes.deciding import Policy, counting, is_attempt
from grader.classes.decisions import NO_DECISIONS, LateDays, Override, Personal
from grader.core.records import Outcome
from grader.judging.results import from_json, to_json
from grader.judging.scoring import nothing_handed_in
from tests.grader.classes.conftest import student_of, work_of
from tests.grader.classes.test_decisions import COURSE, DUE, outcomes_of

F, G = "01_a/f", "01_a/g"


def attempt(right, days):
    """An attempt at the first assignment: what is right, and days late."""
    passed = {f"{id_}::{kind}::test_it" for id_ in right for kind in ("visible", "hidden")}
    return outcomes_of(passed, (days, 0, 0)).assignments[0]


def counted(policy, attempts, personal=NO_DECISIONS):
    """What counts of the first assignment."""
    (one,) = counting(COURSE, {"01_a": attempts}, Policy(policy), personal)
    return one


def chosen(policy, *attempts, personal=NO_DECISIONS):
    """Which attempts count, their scores, and what counts."""
    one = counted(policy, [attempt(*known) for known in attempts], personal)
    counts = [n for n, attempt in enumerate(one.attempts, 1) if attempt.counts]
    return counts, [float(a.score) for a in one.attempts], one


ROAD = (((F,), -2), ((F, G), 1), ((G,), 2), ((), 3))


@pytest.mark.parametrize(
    ("policy", "counts"),
    [("last", [4]), ("best", [2]), ("best-per-exercise", [2]), ("last-in-time", [1])],
)
def test_each_policy(policy, counts):
    """What each attempt earned is the same whichever counts."""
    found, scores, one = chosen(policy, *ROAD)
    assert found == counts
    assert scores == [3, 5.1, 2.1, 0]
    assert [a.days_late for a in one.attempts] == [0, 1, 2, 3]


def test_the_best_of_each_exercise_is_told():
    """Late by the latest attempt that is needed; a later one that adds nothing costs nothing."""
    found, _scores, one = chosen("best-per-exercise", ((F,), -2), ((G,), -1), ((), 4))
    assert found == [1, 2]
    assert one.notes == ("f: the attempt of 2027-01-30 00:00 (UTC) counts.",)
    assert one.submitted_at == DUE - timedelta(days=1)


@pytest.mark.parametrize("policy", Policy)
def test_more_time_and_late_days_decide_with_the_course_dates(policy):
    """An extension makes the second attempt one in time; late days pay for it as well."""
    later = Personal(due=(("01_a", DUE + timedelta(days=1)),))
    days = Personal(late_days=LateDays(1, 1))
    for personal in (later, days):
        found, scores, _one = chosen(policy, ((F,), 0), ((F, G), 1), personal=personal)
        is_first = policy is Policy.LAST_IN_TIME and personal is days
        assert found == ([1] if is_first else [2])
        assert scores == [3, 6]


def test_points_by_hand_stand_in_every_attempt():
    """And who left everything as it was has no attempt."""
    personal = Personal(overrides=(Override("ada", G, 3, "Shown."),))
    assert chosen("best", ((F,), 0), ((), 0), personal=personal)[:2] == ([1], [6, 3])
    untouched = work_of(COURSE.assignments[0], lambda _: Outcome.MISSING)
    assert counted("best", [untouched, untouched]).attempts == ()


def test_an_undecided_attempt_is_no_best_one():
    """It may have been better, and says so by having no score."""
    ends = {f"{F}::visible::test_it": Outcome.ERROR, f"{F}::hidden::test_it": Outcome.ERROR}
    undecided = work_of(COURSE.assignments[0], lambda id_: ends.get(id_, Outcome.PASSED))
    one = counted("best", [attempt((F,), 0), undecided])
    assert [(a.counts, a.score is None) for a in one.attempts] == [(True, False), (False, True)]


def test_nothing_is_no_attempt():
    """Whoever handed in other work only has made no attempt at this one."""
    assert not is_attempt(nothing_handed_in(COURSE.assignments[0]))


def test_a_record_has_its_attempts():
    """They are read back as they were."""
    _found, _scores, one = chosen("best", *ROAD)
    (read,) = from_json(to_json(student_of(one))).assignments
    assert read.attempts == one.attempts
