"""What several attempts tell: tries until solved, who is stuck, and a student's road."""

import re
from decimal import Decimal

import pytest
from msgspec.structs import replace

from grader.core.records import AttemptScore
from grader.reports.html.class_views import first_to_look_at
from grader.reports.html.pages import class_report, student_page
from grader.reports.insights import Stuck, Tries, stuck, tries_until_solved
from tests.grader.classes.test_decisions import COURSE, outcomes_of

F, G = "01_a/f", "01_a/g"


def student(name, *points, tried=(F, G)):
    """A student with attempts at the first assignment: the points of its two exercises in each."""
    attempts = tuple(
        AttemptScore(
            f"2027-01-{day:02}T10:00:00+00:00",
            Decimal(str(f + g)),
            int(day == 3),
            day == len(points),
            {F: Decimal(str(f)), G: Decimal(str(g))},
            tried,
        )
        for day, (f, g) in enumerate(points, 1)
    )
    result = replace(outcomes_of(set(), (0, 0, 0)), student=name, score=Decimal(0))
    first, *others = result.assignments
    return replace(result, assignments=(replace(first, attempts=attempts, max_score=6), *others))


CLASS = (
    student("ada", (0, 0), (3, 0), (3, 3)),
    student("bo", (3, 1), (3, 1), (2, 1)),
    student("cem", (1, 0), tried=(F,)),
    student("dee"),
)


def test_tries_until_solved():
    """Only attempts in which an exercise was tried, and exercises that anybody tried."""
    assert tries_until_solved(CLASS, COURSE) == [
        Tries(F, (1, 1, 0, 0), 1.5, 1),
        Tries(G, (0, 0, 1, 0), 3, 1),
    ]


@pytest.mark.parametrize(
    ("points", "count"),
    [
        ([(0, 1), (0, 1), (0, 1)], 2),
        ([(1, 1), (0, 1), (0, 1), (1, 1)], 3),
        ([(0, 1), (0, 1), (0, 2)], None),
        ([(0, 1), (0, 1)], None),
        ([(3, 3), (3, 3), (3, 3)], None),
    ],
)
def test_who_is_stuck(points, count):
    """Whose last attempts brought nothing more, while something that they tried is not solved."""
    found = stuck([student("ada", *points)], COURSE)
    assert [one.count for one in found] == ([] if count is None else [count])


def test_the_class_report_says_so():
    """Who is stuck stands among those to look at first."""
    assert stuck(CLASS, COURSE) == [Stuck("bo", "01_a", 2, ("f", "g"))]
    groups = {group.title: group.students for group in first_to_look_at(CLASS, COURSE)}
    assert groups["Stuck"] == (("bo", "01_a: 2 attempts, f, g"),)
    said = " ".join(re.sub(r"<[^>]*>", " ", class_report(CLASS, COURSE)).split())
    assert "Attempts until solved" in said
    assert "01 f 1 1 · · 1.5 1 01 g · · 1 · 3 1" in said
    assert "Attempts until solved" not in class_report(CLASS[3:], COURSE)


def test_a_students_road():
    """Points over attempts, when each was, and which counts; one attempt, or no points, is no road."""
    page = student_page(CLASS[0], COURSE)
    said = " ".join(re.sub(r"<[^>]*>", " ", page).split())
    assert "3 attempts: 0 → 3 → 6" in said
    assert "2027-01-03 10:00 (UTC): 6 of 6 points, 1 day late. This one counts." in said
    assert page.count("<circle") == 3
    assert "<circle" not in student_page(CLASS[2], COURSE)
    unscored = [replace(one, max_score=0) for one in CLASS[0].assignments]
    assert "<circle" not in student_page(replace(CLASS[0], assignments=tuple(unscored)), COURSE)
