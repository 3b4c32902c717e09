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
from tests.example_class.conftest import DEAR

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


@pytest.mark.parametrize(
    "student",
    [
        pytest.param(one, marks=[pytest.mark.proof, pytest.mark.long] if one in DEAR else ())
        for one in STUDENTS
    ],
)
def test_the_result_is_the_golden_one(student: str, request: pytest.FixtureRequest) -> None:
    """Scores, outcomes, misconceptions, messages and notes are as written down."""
    path = HERE / "golden" / f"{student}.json"
    part = request.getfixturevalue("graded_dear" if student in DEAR else "graded")
    found = golden(part.results[student])
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


@pytest.mark.parametrize("student", ["perfect_notebook", "perfect_py"])
def test_honest_students_beside_hostile_ones_have_full_marks(graded: Any, student: str) -> None:
    """Nobody pays for what others hand in; right code passes however it is written."""
    result = graded.results[student]
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


def test_known_mistakes_are_named(graded: Any) -> None:
    """One mistake by its name, two at once by both of theirs."""
    named = {
        (student, exercise.id.partition("/")[2]): set(exercise.misconceptions)
        for student in ("scale_forgotten", "two_mistakes")
        for exercise in exercises_of(graded.results[student])
        if exercise.misconceptions
    }
    assert named == {
        ("scale_forgotten", "SelfAttention_v2"): {"v2-scale-missing"},
        ("two_mistakes", "SelfAttention_v1"): {"v1-root-forgotten", "v1-plain-tensors"},
        ("two_mistakes", "SelfAttention_v2"): {"v2-softmax-over-queries", "v2-always-biased"},
    }
