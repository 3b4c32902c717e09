"""What a class's results say together."""

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import made_results as made
import pytest
from msgspec.structs import replace

from grader.core.records import ExerciseResult, Finding, Mistake, Outcome, Result
from grader.course.course import Course, load_course
from grader.judging.outcomes import ExerciseStatus, exercise_status
from grader.reports.insights import Separation, alike, exercise_insights, misunderstood

MASK = Mistake("mask-discarded", "The mask has no effect.", "What does masked_fill answer?")
SCALE = Mistake("no-scaling", "Scores are not scaled.", "What is d_k for?")


@pytest.fixture(scope="module")
def course(root: Path) -> Course:
    """The example course: one assignment with a few exercises."""
    return load_course(root / "tests" / "example_course")


def exercise(
    course: Course,
    score: int | None,
    *findings: Finding,
    outcome: Outcome = Outcome.FAILED,
    number: int = 0,
) -> ExerciseResult:
    """One of the course's exercises with that score."""
    one = list(course.exercises.values())[number]
    return made.exercise(one.id, score, one.points, made.check("id", outcome), findings=findings)


def result(student: str, *exercises: ExerciseResult) -> Result:
    """A student's result."""
    return made.result(student, made.assignment("01_scores", *exercises, max_score=9))


ABSENT = made.result("eve", score=None, submitted=False)


def test_mistakes_are_ranked_by_how_many_made_them(course: Course) -> None:
    """Of those who handed in something; who may have made one is counted apart."""
    results = [
        result("ada", exercise(course, 1, Finding((MASK,)), Finding((SCALE,)))),
        result("bob", exercise(course, 1, Finding((MASK,)), Finding((MASK,)))),
        result("cem", exercise(course, 1, Finding((MASK, SCALE)))),
        result("dan", exercise(course, 2)),
        ABSENT,
    ]
    first, second = misunderstood(results)
    assert (first.mistake, first.students, first.perhaps) == (MASK, ("ada", "bob"), ("cem",))
    assert (first.share, first.teach_again) == (Fraction(2, 4), True)
    assert (second.mistake, second.students, second.perhaps) == (SCALE, ("ada",), ("cem",))
    assert (second.share, second.teach_again) == (Fraction(1, 4), False)
    assert first.exercise == next(iter(course.exercises))


def test_what_is_the_same_for_several_is_one_line(course: Course) -> None:
    """One exception in whatever exercise; what a known mistake explains, or two share, is none."""
    raised = "NameError: name 'nn' is not defined"

    def wrong(number: int, *findings: Finding) -> ExerciseResult:
        own = exercise(course, 0, *findings, number=number)
        return replace(own, checks=(replace(own.checks[0], raised=raised, message="It raised"),))

    explained = result("dan", wrong(0, Finding((MASK,))))
    two = [result("ada", wrong(0)), result("bob", wrong(1)), explained]
    assert alike(two) == []
    (group,) = alike([*two, result("cem", wrong(0))])
    assert (group.what, group.example) == (raised, "It raised")
    assert group.students == ("ada", "bob", "cem")
    assert group.exercises == ("01_scores/scores", "02_mixture/weights")


def test_a_class_without_submissions_has_no_mistakes(course: Course) -> None:
    """And nothing is said of its exercises."""
    assert misunderstood([ABSENT]) == []
    insight = exercise_insights([ABSENT], course)[0]
    assert (insight.tried, insight.solved, insight.mean) == (0, 0, None)
    assert insight.separation is Separation.UNTRIED


@pytest.mark.parametrize("outcome", [Outcome.MISSING, Outcome.NOT_ATTEMPTED])
def test_an_exercise_that_nobody_tried_is_not_called_hard(course: Course, outcome: Outcome) -> None:
    """As later assignments are, for most of a term; one attempt is enough to say that it failed."""
    results = [result(name, exercise(course, 0, outcome=outcome)) for name in ("ada", "bob")]
    insight = exercise_insights(results, course)[0]
    assert (insight.separation, insight.needs_a_look) == (Separation.UNTRIED, False)
    results.append(result("cem", exercise(course, 0)))
    insight = exercise_insights(results, course)[0]
    assert (insight.separation, insight.needs_a_look) == (Separation.NOBODY, True)


def class_of(course: Course, solved: Sequence[bool], rest: Sequence[int]) -> list[Result]:
    """Students who solved the first exercise or not, with so many points in the second."""
    points = next(iter(course.exercises.values())).points
    return [
        result(
            f"student{number}",
            exercise(course, points if right else 0),
            exercise(course, others, number=1),
        )
        for number, (right, others) in enumerate(zip(solved, rest, strict=True))
    ]


HALF = [True] * 6 + [False] * 6


@pytest.mark.parametrize(
    ("solved", "rest", "separation"),
    [
        (HALF, [2] * 6 + [0] * 6, Separation.WELL),
        (HALF, [2, 0] * 6, Separation.FEW),
        (HALF * 10, [2, 0] * 60, Separation.POORLY),
        ([True] * 38 + [False] * 3, [1, 2] * 18 + [1, 1] + [2, 2, 2], Separation.POORLY),
        (HALF, [0] * 6 + [2] * 6, Separation.BACKWARDS),
        (HALF, [2, 2, 2, 2, 0, 0, 2, 2, 2, 0, 0, 0], Separation.FEW),
        (HALF * 20, [2, 2, 2, 2, 0, 0, 2, 2, 2, 0, 0, 0] * 20, Separation.SOMEWHAT),
        ([True] * 12, [2, 0] * 6, Separation.EVERYBODY),
        ([False] * 12, [2, 0] * 6, Separation.NOBODY),
        (HALF, [1] * 12, Separation.FEW),
        ([True, False], [2, 0], Separation.FEW),
        ([True] + [False] * 11, [2] + [0] * 11, Separation.FEW),
        ([False] * 2 + [True] * 10, [2] * 2 + [0] * 10, Separation.FEW),
    ],
)
def test_an_exercise_separates_students(
    course: Course, solved: list[bool], rest: list[int], separation: Separation
) -> None:
    """By how solving it goes along with the rest of its assignment, as far as chance allows."""
    insight = exercise_insights(class_of(course, solved, rest), course)[0]
    assert insight.separation is separation
    flagged = (Separation.NOBODY, Separation.BACKWARDS)
    assert insight.needs_a_look is (separation in flagged)


def test_the_correlation_is_the_point_biserial_one(course: Course) -> None:
    """The difference of the means over the deviation, times the root of the shares."""
    solved, rest = [True, True, True, False], [2, 1, 2, 0]
    (insight, *_) = exercise_insights(class_of(course, solved, rest), course)
    # Means 5/3 and 0, standard deviation sqrt(11)/4, shares 3/4 and 1/4.
    by_hand = (5 / 3) / (11**0.5 / 4) * (3 / 16) ** 0.5
    assert insight.correlation == pytest.approx(by_hand)


def test_numbers_of_an_exercise(course: Course) -> None:
    """Who tried, who solved it, and the mean of all who handed in something."""
    points = next(iter(course.exercises.values())).points
    results = [
        result("ada", exercise(course, points, outcome=Outcome.PASSED)),
        result("bob", exercise(course, 0)),
        result("cem", exercise(course, 0, outcome=Outcome.NOT_ATTEMPTED)),
        result("dan", exercise(course, 0, outcome=Outcome.MISSING)),
        ABSENT,
    ]
    insight = exercise_insights(results, course)[0]
    assert (insight.tried, insight.solved, insight.mean) == (2, 1, points / 4)


@pytest.mark.parametrize(
    ("score", "outcome", "expected"),
    [
        (2, Outcome.PASSED, ExerciseStatus.SOLVED),
        (1, Outcome.FAILED, ExerciseStatus.PARTLY),
        (0, Outcome.FAILED, ExerciseStatus.WRONG),
        (0, Outcome.TIMEOUT, ExerciseStatus.WRONG),
        (0, Outcome.BLOCKED, ExerciseStatus.WAITING),
        (0, Outcome.NOT_ATTEMPTED, ExerciseStatus.UNTOUCHED),
        (0, Outcome.MISSING, ExerciseStatus.MISSING),
        (None, Outcome.ERROR, ExerciseStatus.UNDECIDED),
    ],
)
def test_how_an_exercise_stands(
    course: Course, score: int | None, outcome: Outcome, expected: ExerciseStatus
) -> None:
    """In one word, with a sign that no other has."""
    found = exercise_status(exercise(course, score, outcome=outcome))
    assert found is expected
    assert len({one.sign for one in ExerciseStatus}) == len(ExerciseStatus)
    assert len({one.word for one in ExerciseStatus}) == len(ExerciseStatus)
