"""What holds of scores whatever was handed in and decided."""

import random
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from grader.classes.deciding import Policy, counting, decided
from grader.classes.decisions import (
    NO_DECISIONS,
    Decisions,
    DroppedCheck,
    Exemption,
    Extension,
    GivenCheck,
    Group,
    LateDays,
    Override,
    Personal,
)
from grader.classes.outcomes import Declared, Words, packed
from grader.classes.outcomes import outcomes_of as data_of
from grader.classes.rows import Coverage, due_summary, row_of, summary
from grader.classes.score import HandedIn, Scorer, StudentInputs
from grader.classes.store import Use
from tests.grader.classes.conftest import STUDENTS
from tests.grader.classes.test_decisions import (
    CHECKS,
    COURSE,
    DUE,
    EXERCISES,
    HANDED_IN,
    IDS,
    NOTHING,
)

pytestmark = pytest.mark.slow

DAYS = st.integers(0, 6)
ROADS = st.lists(HANDED_IN, min_size=1, max_size=4)
PERSONAL = st.builds(
    Personal,
    due=st.lists(st.tuples(st.sampled_from(IDS), DAYS), max_size=2, unique_by=lambda p: p[0]).map(
        lambda found: tuple(sorted((id_, DUE + timedelta(days)) for id_, days in found))
    ),
    exempt=st.sets(st.sampled_from(EXERCISES), max_size=2).map(lambda ids: tuple(sorted(ids))),
    checks=st.lists(
        st.builds(DroppedCheck, st.sampled_from(CHECKS))
        | st.builds(GivenCheck, st.sampled_from(CHECKS)),
        max_size=2,
        unique_by=lambda one: one.check,
    ).map(tuple),
)


def score_of(course, road, policy, personal):
    """What somebody has who handed in everything several times; nothing where all is exempt."""
    tries = {}
    for number, id_ in enumerate(IDS):
        times = sorted((one.assignments[number] for one in road), key=lambda a: a.submitted_at)
        tries[id_] = times
    parts = counting(course, tries, policy, personal)
    return decided(course, structs.replace(road[0], assignments=parts), personal).score or 0


def later(personal, days, id_):
    """The same with more time for an assignment."""
    due = dict(personal.due)
    due[id_] = due.get(id_, DUE) + timedelta(days)
    return replace(personal, due=tuple(sorted(due.items())))


@given(ROADS, st.sampled_from(Policy), PERSONAL, st.integers(1, 5), st.sampled_from(IDS))
def test_a_longer_extension_never_costs_points(road, policy, personal, days, id_):
    """Under no policy, whatever else was decided."""
    more = later(personal, days, id_)
    assert score_of(COURSE, road, policy, more) >= score_of(COURSE, road, policy, personal)


@given(
    ROADS,
    # By the last attempt in time a later date lets a later attempt count, which may be worse.
    st.sampled_from([p for p in Policy if p is not Policy.LAST_IN_TIME]),
    PERSONAL,
    st.integers(1, 5),
)
def test_a_later_due_date_never_costs_points(road, policy, personal, days):
    """For everybody; who has an extension keeps it where it is longer."""
    due = DUE + timedelta(days)
    assignments = tuple(replace(one, due=due) for one in COURSE.assignments)
    course = replace(COURSE, assignments=assignments)
    still = tuple(one for one in personal.due if one[1] > due)
    before = score_of(COURSE, road, policy, personal)
    assert score_of(course, road, policy, replace(personal, due=still)) >= before


@given(ROADS, st.sampled_from(Policy), st.integers(0, 4), st.integers(1, 3))
def test_more_late_days_never_cost_points(road, policy, budget, more):
    """Under no policy."""
    few, many = (Personal(late_days=LateDays(n, n)) for n in (budget, budget + more))
    assert score_of(COURSE, road, policy, many) >= score_of(COURSE, road, policy, few)


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


@given(HANDED_IN | st.just(NOTHING), st.lists(HANDED_IN, min_size=1, max_size=3), PERSONAL)
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

SOME = (
    Decisions(groups=(Group(tuple(STUDENTS[:3]), "01_scores"),)),
    Decisions(extensions=(Extension(STUDENTS[0], assignment="01_scores", days=1),)),
    Decisions(exemptions=(Exemption(STUDENTS[1], exercises=("02_mixture/weights",)),)),
    Decisions(overrides=(Override(STUDENTS[2], "01_scores/scores", 1.5, "Seen."),)),
    Decisions(late_days=LateDays(2, 1)),
)


@pytest.mark.parametrize("seed", range(2))
def test_scores_do_not_depend_on_the_order_of_students_and_outcomes(make, seed):
    """With a group among them."""
    rng, ordered, mixed = random.Random(seed), make("ordered"), make("mixed")
    names = STUDENTS[:6]
    ordered.run(names=names, decisions=SOME[0])

    def grade(run_settings, students):
        yield from mixed.grade(run_settings, rng.sample([*students], len(students)))

    mixed.run(grade, names=rng.sample(names, len(names)), decisions=SOME[0])
    assert mixed.files() == ordered.files()
    assert mixed.store() == ordered.store()


def test_decisions_that_are_taken_back_leave_everything_as_it_was(make):
    """The files and the store, whichever were made in between."""
    run = make("out")
    run.run(names=STUDENTS[:6])
    files, store = run.files(), run.store()
    for decisions in SOME:
        run.run(names=STUDENTS[:6], decisions=decisions)
        run.run(names=STUDENTS[:6])
        assert run.files() == files
        assert run.store() == store
