"""What holds of scores whatever was handed in and decided."""

import random
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from grader.classes.deciding import Policy, counting, decided
from grader.classes.decisions import NO_DECISIONS, LateDays, Personal
from grader.classes.outcomes import Declared, Words, packed
from grader.classes.outcomes import outcomes_of as data_of
from grader.classes.rows import Coverage, due_summary, row_of, summary
from grader.classes.score import HandedIn, Scorer, StudentInputs
from grader.classes.store import Use
from tests.grader.classes.conftest import SOME, STUDENTS
from tests.grader.classes.test_decisions import (
    CHECKS,
    COURSE,
    DECISIONS,
    EXERCISES,
    EXTENSIONS,
    HANDED_IN,
    IDS,
    NOTHING,
)

pytestmark = pytest.mark.slow

ROADS = st.lists(HANDED_IN, min_size=1, max_size=4)


def personal(decisions):
    """What was decided about one student."""
    return decisions.of(COURSE, "ada", ["all"])


ALONE = DECISIONS.map(lambda one: replace(personal(one), overrides=(), late_days=None))
"""Without points by hand: in a group they are as late as the group's work."""


def score_of(road, policy, decisions):
    """What somebody has who handed in everything several times; nothing where all is exempt."""
    tries = {
        id_: sorted((one.assignments[number] for one in road), key=lambda a: a.submitted_at)
        for number, id_ in enumerate(IDS)
    }
    known = personal(decisions)
    parts = counting(COURSE, tries, policy, known)
    return decided(COURSE, structs.replace(road[0], assignments=parts), known).score or 0


@given(ROADS, st.sampled_from(Policy), DECISIONS, EXTENSIONS)
def test_more_time_never_costs_points(road, policy, decisions, extension):
    """One more extension: under no policy, whatever else was decided."""
    more = replace(decisions, extensions=(*decisions.extensions, extension))
    assert score_of(road, policy, more) >= score_of(road, policy, decisions)


@given(ROADS, st.sampled_from(Policy), DECISIONS, st.integers(1, 3))
def test_more_late_days_never_cost_points(road, policy, decisions, days):
    """A larger budget, or more of it for one assignment."""
    few = decisions.late_days or LateDays(0, 0)
    many = LateDays(few.budget + days, few.per_assignment + days)
    before, after = (replace(decisions, late_days=one) for one in (few, many))
    assert score_of(road, policy, after) >= score_of(road, policy, before)


# Groups.

WORDS = Words(
    COURSE,
    {id_: Declared({c: (1, False, "It holds") for c in CHECKS if c[:4] == id_}, {}) for id_ in IDS},
)
ON_DISK = replace(COURSE, root=Path(__file__).parents[2] / "example_course")  # it is hashed
SCORER = Scorer(ON_DISK, WORDS, Policy.LAST, "1")


def handed_in(student, outcomes, personal=NO_DECISIONS):
    """What a student handed in, as the store has it."""
    uses, records = {}, {}
    for part in outcomes.assignments:
        key = f"{student} {part.id}".encode()
        records[key] = packed(data_of(outcomes)[part.id])
        uses[part.id] = (Use(0, key, part.submitted_at.isoformat()),)
    return HandedIn(student, uses, records, personal)


@given(HANDED_IN | st.just(NOTHING), st.lists(HANDED_IN, min_size=1, max_size=3), ALONE)
def test_a_group_gives_no_member_less_than_their_own_work(own, others, personal):
    """In the assignment that they hand in together; others are as they were."""
    mine = handed_in("ada", own, personal)
    group = {f"bo-{n}": handed_in(f"bo-{n}", one) for n, one in enumerate(others)}
    members = {IDS[0]: ("ada", *group)}
    alone, shared = (
        {part.id: part for part in SCORER.result(inputs).assignments}
        for inputs in (StudentInputs(mine), StudentInputs(mine, group, members))
    )
    if alone:
        assert shared[IDS[0]].score >= (alone[IDS[0]].score or 0)
        assert [shared[id_] for id_ in IDS[1:]] == [alone[id_] for id_ in IDS[1:]]


@given(st.lists(HANDED_IN, min_size=2, max_size=4), st.randoms(use_true_random=False))
def test_a_groups_scores_are_the_same_in_whatever_order_its_work_is_known(works, rng):
    """And each member's total of the assignment is the same."""
    made = {f"s{n}": handed_in(f"s{n}", one) for n, one in enumerate(works)}
    shuffled = rng.sample([*made], len(made))

    def scores(order):
        members = {IDS[0]: tuple(sorted(made))}
        inputs = (
            StudentInputs(made[who], {name: made[name] for name in order if name != who}, members)
            for who in sorted(made)
        )
        return [SCORER.result(one) for one in inputs]

    assert scores(shuffled) == scores(sorted(made))
    assert len({one.assignments[0].score for one in scores(shuffled)}) == 1


# Means.


@given(st.lists(HANDED_IN, min_size=1, max_size=4), HANDED_IN, st.sampled_from(IDS))
def test_what_is_missing_or_exempt_changes_no_mean(works, other, id_):
    """Neither of the class, nor of what was due, nor of one assignment."""
    rows = [row_of(decided(COURSE, one, NO_DECISIONS), "") for one in works]
    exempt = Personal(exempt=EXERCISES)
    parts = [one for one in other.assignments if one.id != id_]
    without = structs.replace(other, assignments=tuple(parts))
    more = [
        row_of(decided(COURSE, NOTHING, NO_DECISIONS), ""),
        row_of(decided(COURSE, NOTHING, exempt), ""),
        row_of(decided(COURSE, other, exempt), ""),
    ]
    now = datetime(2027, 3, 1, tzinfo=UTC)
    means = ("mean_score", "median_score")
    before, after = (summary(some, Coverage(), now) for some in (rows, [*rows, *more]))
    assert [before[name] for name in means] == [after[name] for name in means]
    assert due_summary(rows, COURSE) == due_summary([*rows, *more], COURSE)
    only = COURSE.only((id_,))
    lacking = [*more, row_of(decided(COURSE, without, NO_DECISIONS), "")]
    assert due_summary(rows, only) == due_summary([*rows, *lacking], only)


# The class.


@pytest.mark.parametrize("seed", range(2))
def test_scores_do_not_depend_on_the_order_of_students_and_outcomes(make, seed):
    """With a group among them."""
    rng, ordered, mixed = random.Random(seed), make("ordered"), make("mixed")
    names = STUDENTS[:6]
    ordered.run(names=names, decisions=SOME[-1])

    def grade(run_settings, students):
        yield from mixed.grade(run_settings, rng.sample([*students], len(students)))

    mixed.run(grade, names=rng.sample(names, len(names)), decisions=SOME[-1])
    assert mixed.files() == ordered.files()
    assert mixed.store() == ordered.store()
