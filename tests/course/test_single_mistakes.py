"""Tests that a single known mistake costs once: each is graded as one student."""

import re
from contextlib import closing
from pathlib import Path

import pytest
from single_mistakes import BEGIN, END, HEAD, costs, faults, row

from grader.course.builds_on import builds_on
from grader.course.course import load_course
from grader.judging.submission_grader import full_grader

COURSE = load_course(Path(__file__).parents[2])
IDS = [assignment.id for assignment in COURSE.assignments]
PAGE = COURSE.root / "docs" / "fair_checks.md"
SEED = "1"
"""As in other tests: what known mistakes do is worked out once for all of them."""

IN_EACH_RUN = "05_causal_mask"
"""What `make test` grades: its masks are used by others, and it is small."""

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def bench(launcher):
    """What the course is graded with."""
    with closing(full_grader(COURSE, SEED, launcher=launcher)) as made:
        yield made


def table():
    """The lines of the table by exercise."""
    text = PAGE.read_text("utf-8")
    lines = text.partition(BEGIN)[2].partition(END)[0].removeprefix(HEAD).splitlines(keepends=True)
    return {re.findall(r"`(.+?)`", line)[0]: line for line in lines}


def write(lines):
    """Put these lines in place of those of their exercises."""
    text = PAGE.read_text("utf-8")
    before, _begin, rest = text.partition(BEGIN)
    found = {**table(), **lines}
    ordered = [found[id_] for id_ in COURSE.exercises if id_ in found]
    PAGE.write_text(
        f"{before}{BEGIN}{HEAD}{''.join(ordered)}{END}{rest.partition(END)[2]}", "utf-8"
    )


@pytest.mark.parametrize(
    "id_",
    [
        IN_EACH_RUN,
        *(pytest.param(id_, marks=pytest.mark.proof) for id_ in IDS[::3]),
    ],
)
def test_one_mistake_of_an_assignment_costs_once(bench, launcher, id_):
    """One of a part that others build on, where there are such parts; below are all of them."""
    assignment = COURSE.by_id[id_]
    used = {part for e in assignment.exercises for part in builds_on(COURSE, e)}
    every = bench.mistakes.misconceptions[id_]
    chosen = next((m for m in every if m.exercise in used), every[0])
    (cost,) = costs(bench, launcher, assignment, [chosen])
    assert faults(cost) == []


@pytest.mark.proof
@pytest.mark.long
@pytest.mark.parametrize("id_", IDS)
def test_each_mistake_costs_once_and_the_table_says_what(bench, launcher, id_, request):
    """None costs anything elsewhere without a sentence, or more in its file than in its exercise."""
    assignment = COURSE.by_id[id_]
    found = list(costs(bench, launcher, assignment, bench.mistakes.misconceptions[id_]))
    assert not [fault for cost in found for fault in faults(cost)]
    by_exercise = {e.id: [c for c in found if c.exercise == e.id] for e in assignment.exercises}
    lines = {exercise: row(exercise, some) for exercise, some in by_exercise.items() if some}
    if request.config.getoption("--update-golden"):
        write(lines)
    assert {exercise: table()[exercise] for exercise in lines} == lines
