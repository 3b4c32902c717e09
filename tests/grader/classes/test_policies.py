"""Which attempt counts: by each policy, after lateness, and what all of them earned."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from grader.classes.deciding import Policy, counting, is_attempt
from grader.classes.decisions import NO_DECISIONS, LateDays, Override, Personal
from grader.core.records import Outcome
from grader.judging.results import from_json, to_json
from grader.judging.scoring import nothing_handed_in
from tests.grader.classes.test_decisions import COURSE, DUE, outcomes_of

F, G = "01_a/f", "01_a/g"


def tries(*attempts):
    """Attempts at the first assignment: what is right, and days late."""
    return [_try({f"{id_}::{k}::test_it" for id_ in right for k in ("visible", "hidden")}, days)
            for right, days in attempts]  # fmt: skip


def _try(passed, days):
    return outcomes_of(passed, (days, 0, 0)).assignments[0]


def chosen(policy, *attempts, personal=NO_DECISIONS):
    """The score, which attempts count, and the days late."""
    found = counting(COURSE, {"01_a": tries(*attempts)}, Policy(policy), personal)
    (one,) = found
    counts = [n for n, attempt in enumerate(one.attempts, 1) if attempt.counts]
    return counts, [float(a.score) for a in one.attempts], one


ROAD = (((F,), -2), ((F, G), 1), ((G,), 2), ((), 3))


@pytest.mark.parametrize(
    ("policy", "counts"),
    [("last", [4]), ("best", [2]), ("best-per-exercise", [1, 2]), ("last-in-time", [1])],
)
def test_each_policy(policy, counts):
    """What each attempt earned is the same whichever counts."""
    found, scores, one = chosen(policy, *ROAD)
    assert found == ([2] if policy == "best-per-exercise" else counts)
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
    (one,) = tries(((), 0))
    exercises = tuple(
        replace(e, checks=tuple(replace(c, outcome=Outcome.MISSING) for c in e.checks))
        for e in one.exercises
    )
    untouched = replace(one, exercises=exercises)
    (found,) = counting(COURSE, {"01_a": [untouched, untouched]}, Policy.BEST, NO_DECISIONS)
    assert found.attempts == ()


def test_an_undecided_attempt_is_no_best_one():
    """It may have been better, and says so by having no score."""
    failed = tries(((F, G), 0))[0]
    checks = tuple(replace(c, outcome=Outcome.ERROR) for c in failed.exercises[0].checks)
    exercise = replace(failed.exercises[0], checks=checks)
    record = replace(failed, exercises=(exercise, *failed.exercises[1:]))
    mine = {"01_a": [*tries(((F,), 0)), record]}
    (one,) = counting(COURSE, mine, Policy.BEST, NO_DECISIONS)
    assert [(a.counts, a.score is None) for a in one.attempts] == [(True, False), (False, True)]


def test_nothing_is_no_attempt():
    """Whoever handed in other work only has made no attempt at this one."""
    assert not is_attempt(nothing_handed_in(COURSE.assignments[0]))


def test_a_record_has_its_attempts():
    """They are read back as they were."""
    _found, _scores, one = chosen("best", *ROAD)
    result = replace(outcomes_of(set(), (0, 0, 0)), assignments=(one,))
    read = from_json(to_json(result))
    assert read.assignments[0].attempts == one.attempts
