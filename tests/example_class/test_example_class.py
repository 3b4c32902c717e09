"""The example class, graded as `make demo` grades it, gets what its golden results say."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from golden_results import golden_exercise

from grader.core.records import AssignmentResult, ExerciseResult, Outcome, Result
from grader.intake.folders import read_class
from grader.intake.roster import read_roster
from tests.example_class.conftest import DEAR, WHOLE

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("example class")]

HERE = Path(__file__).parent
STUDENTS = [
    student.id
    for student in read_class(HERE / "submissions", roster=read_roster(HERE / "roster.csv"))
]

ASSIGNMENTS = ("01_simple_attention", "02_all_tokens", "03_trainable_weights", "04_self_attention")
"""What golden results are about: they stay as they are when the course grows."""

HOSTILE = {
    "endless_loop": {"attention_scores"},
    "endless_loop_at_import": {
        *("normalize_scores", "softmax_naive", "softmax_stable", "context_vector"),
    },
    "exits_the_process": {
        *("attention_scores", "softmax_naive", "attention_scores_loop"),
        *("attention_weights", "context_vectors"),
    },
    "memory_eater": {"attention_scores", "softmax_naive"},
    "prints_megabytes": {"attention_scores_loop", "attention_weights", "context_vectors"},
    "remembers_inputs": {
        *("attention_scores", "normalize_scores", "softmax_naive", "softmax_stable"),
        "context_vector",
    },
}
"""Who harms the process, and the exercises that this costs them (or that they did not write)."""


# Golden results.


def golden(result: Result) -> dict[str, Any]:
    """What is the same on every machine and in every run."""
    chosen = [a for a in result.assignments if a.id in ASSIGNMENTS]
    return {
        "student": result.student,
        "submitted": result.submitted,
        "assignments": {assignment.id: golden_assignment(assignment) for assignment in chosen},
    }


def golden_assignment(assignment: AssignmentResult) -> dict[str, Any]:
    """An assignment; where nothing was handed in, there is nothing to list."""
    exercises = {
        exercise.id.partition("/")[2]: golden_exercise(exercise)
        for exercise in assignment.exercises
        if assignment.read_from
    }
    return {
        "read_from": assignment.read_from,
        "notes": list(assignment.notes),
        "exercises": exercises,
    }


PROOF, LONG = [pytest.mark.proof], [pytest.mark.proof, pytest.mark.long]


@pytest.mark.parametrize(
    ("part", "student"),
    [
        pytest.param("graded_dear", student, marks=LONG)
        if student in DEAR
        else pytest.param("graded_whole", student, marks=PROOF)
        if student in WHOLE
        else ("graded", student)
        for student in STUDENTS
    ],
)
def test_the_result_is_the_golden_one(
    part: str, student: str, request: pytest.FixtureRequest
) -> None:
    """Scores, outcomes, misconceptions, messages and notes are as written down."""
    path = HERE / "golden" / f"{student}.json"
    found = golden(request.getfixturevalue(part).results[student])
    if request.config.getoption("--update-golden"):
        text = json.dumps(found, indent=1, ensure_ascii=False) + "\n"
        path.write_text(text, "utf-8", newline="\n")
    assert found == json.loads(path.read_text("utf-8"))


# What holds for the whole class.


def exercises_of(result: Result, *, handed_in: bool = True) -> Iterator[ExerciseResult]:
    """The exercises of the assignments for which something was, or was not, read."""
    for assignment in result.assignments:
        if bool(assignment.read_from) == handed_in:
            yield from assignment.exercises


@pytest.mark.parametrize(
    ("part", "student"),
    [
        ("graded", "perfect_notebook"),
        pytest.param("graded_whole", "perfect_py", marks=pytest.mark.proof),
    ],
)
def test_honest_students_have_full_marks(
    part: str, student: str, request: pytest.FixtureRequest
) -> None:
    """Nobody pays for what others hand in; right code passes however it is written."""
    result = request.getfixturevalue(part).results[student]
    read = {assignment.id for assignment in result.assignments if assignment.read_from}
    lost = [
        exercise.id for exercise in exercises_of(result) if exercise.score != exercise.max_score
    ]
    assert (read >= set(ASSIGNMENTS), lost) == (True, [])


@pytest.mark.parametrize("student", HOSTILE)
def test_hostile_code_costs_only_the_exercises_it_stands_in(graded: Any, student: str) -> None:
    """Every other exercise of the student has full marks."""
    exercises = exercises_of(graded.results[student])
    lost = {e.id.partition("/")[2] for e in exercises if e.score != e.max_score}
    assert lost == HOSTILE[student]


def test_no_score_is_undecided(graded: Any) -> None:
    """Whatever students hand in, the grader itself does not fail."""
    assert [r.student for r in graded.results.values() if r.undecided] == []


def test_every_outcome_that_students_can_cause_occurs(graded: Any) -> None:
    """All but the grader's own fault, and that of a busy machine."""
    exercises = [e for result in graded.results.values() for e in exercises_of(result)]
    found = {check.outcome for exercise in exercises for check in exercise.checks}
    assert found == {outcome for outcome in Outcome if not outcome.is_undecided}


def test_what_was_not_handed_in_has_no_score(graded: Any) -> None:
    """It is no zero, and lists no checks."""
    missing = [e for r in graded.results.values() for e in exercises_of(r, handed_in=False)]
    assert missing
    assert {(exercise.score, exercise.checks) for exercise in missing} == {(None, ())}


def test_a_known_mistake_is_named(graded: Any) -> None:
    """By its name."""
    assert named_of(graded, "scale_forgotten") == {"SelfAttention_v2": {"v2-scale-missing"}}


@pytest.mark.proof
@pytest.mark.long
def test_two_known_mistakes_at_once_are_named(graded_dear: Any) -> None:
    """By both of their names."""
    assert named_of(graded_dear, "two_mistakes") == {
        "SelfAttention_v1": {"v1-root-forgotten", "v1-plain-tensors"},
        "SelfAttention_v2": {"v2-softmax-over-queries", "v2-always-biased"},
    }


def named_of(part: Any, student: str) -> dict[str, set[str]]:
    """The names of a student's mistakes, by exercise."""
    return {
        exercise.id.partition("/")[2]: set(exercise.misconceptions)
        for exercise in exercises_of(part.results[student])
        if exercise.misconceptions
    }
