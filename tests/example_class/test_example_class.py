"""The example class, graded as `make demo` grades it, gets what its golden results say."""

import csv
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from grader.classroom import grade_class, read_class, write_outputs
from grader.course import Course, load_course
from grader.model import AssignmentResult, CheckResult, ExerciseResult, Outcome, Result, Visibility
from grader.results import from_json, points
from grader.sessions.child import Launcher, default_launcher
from grader.sessions.sealed import CannotSealError, sealed_launcher

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent
SUBMISSIONS, GOLDEN, ROSTER = HERE / "submissions", HERE / "golden", HERE / "roster.csv"
STUDENTS = [student.id for student in read_class(SUBMISSIONS, ROSTER)]
SEED = 1

ASSIGNMENTS = ("01_simple_attention", "02_all_tokens", "03_trainable_weights", "04_self_attention")
"""What golden results are about: they stay as they are when the course grows."""

HANDED_IN_NOTHING = ("empty_folder", "never_handed_in")

HOSTILE = {
    "endless_loop": {"attention_scores"},
    "endless_loop_at_import": {
        *("normalize_scores", "softmax_naive", "softmax_stable", "context_vector"),
    },
    "exits_the_process": {
        *("attention_scores", "softmax_naive", "attention_scores_loop"),
        *("attention_scores_matmul", "attention_weights", "context_vectors"),
    },
    "memory_eater": {"attention_scores", "softmax_naive"},
    "prints_megabytes": {"attention_scores_loop", "attention_weights", "context_vectors"},
    "remembers_inputs": {
        *("attention_scores", "normalize_scores", "softmax_naive", "softmax_stable"),
        "context_vector",
    },
}
"""Who harms the process, and the exercises that this costs them (or that they did not write)."""

STUBS = (
    "one_form_filled/01_simple_attention/simple_attention.py",
    "one_form_filled/02_all_tokens/all_tokens.ipynb",
    "untouched_stubs/01_simple_attention/simple_attention.py",
    "untouched_stubs/02_all_tokens/all_tokens.py",
    "untouched_stubs/03_trainable_weights/trainable_weights.ipynb",
    "untouched_stubs/04_self_attention/self_attention.ipynb",
    "untouched_stubs/04_self_attention/self_attention.py",
)
"""Files that are in the class as the course hands them out."""


@dataclass(frozen=True, slots=True)
class Graded:
    """The class after grading.

    Args:
        course: the course.
        results: per student.
        out: the folder with what was written down.
    """

    course: Course
    results: dict[str, Result]
    out: Path

    def record(self, kind: str, student: str) -> dict[str, Any]:
        """A student's file in `results` or `feedback`."""
        record: dict[str, Any] = json.loads(
            (self.out / kind / f"{student}.json").read_text("utf-8")
        )
        return record


@pytest.fixture(scope="module")
def graded(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Graded:
    """The class, graded once, sealed where this machine can."""
    course = load_course(root)
    students = read_class(SUBMISSIONS, ROSTER)
    results = list(grade_class(course, students, launcher(), SEED))
    out = tmp_path_factory.mktemp("graded")
    write_outputs(course, results, out)
    return Graded(course, {result.student: result for result in results}, out)


def launcher() -> Launcher:
    """What `make demo` takes."""
    try:
        return sealed_launcher()
    except CannotSealError:
        return default_launcher()


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


def golden_exercise(exercise: ExerciseResult) -> dict[str, Any]:
    """An exercise with its checks' outcomes, and the first visible check that did not pass."""
    prefix = f"{exercise.id}::"
    shown = [check for check in not_passed(exercise) if check.visibility is Visibility.VISIBLE]
    return {
        "score": points(exercise.score),
        "misconceptions": [
            " or ".join(mistake.id for mistake in finding.candidates)
            for finding in exercise.findings
        ],
        "outcomes": {c.id.removeprefix(prefix): str(c.outcome) for c in exercise.checks},
        "message": shown[0].message.split("\n") if shown else [],
    }


def not_passed(exercise: ExerciseResult) -> list[CheckResult]:
    """The checks that did not pass; those that say something against the code come first."""
    found = [check for check in exercise.checks if check.outcome is not Outcome.PASSED]
    return sorted(found, key=lambda check: check.outcome is Outcome.REMARK)


@pytest.mark.parametrize("student", STUDENTS)
def test_the_result_is_the_golden_one(
    graded: Graded, student: str, request: pytest.FixtureRequest
) -> None:
    """Scores, outcomes, misconceptions, messages and notes are as written down."""
    path = GOLDEN / f"{student}.json"
    found = golden(graded.results[student])
    if request.config.getoption("--update-golden"):
        text = json.dumps(found, indent=1, ensure_ascii=False) + "\n"
        path.write_text(text, "utf-8", newline="\n")
    assert found == json.loads(path.read_text("utf-8"))


def test_every_golden_result_is_of_a_student() -> None:
    """Nobody who left the class is still in `golden/`."""
    assert sorted(path.stem for path in GOLDEN.iterdir()) == STUDENTS


def test_the_readme_lists_every_student() -> None:
    """The table has a row for each student, by name."""
    lines = (HERE / "README.md").read_text("utf-8").splitlines()
    assert [line.split("`")[1] for line in lines if line.startswith("| `")] == STUDENTS


@pytest.mark.parametrize("name", STUBS)
def test_an_untouched_file_is_the_course_s_own(
    root: Path, name: str, request: pytest.FixtureRequest
) -> None:
    """Students who left a file as it was have the one that the course hands out."""
    path = SUBMISSIONS / name
    handed_out = (root / "assignments" / name.partition("/")[2]).read_bytes()
    if request.config.getoption("--update-golden"):
        path.write_bytes(handed_out)
    assert path.read_bytes() == handed_out


# What holds for the whole class.


def exercises_of(result: Result, *, handed_in: bool = True) -> Iterator[ExerciseResult]:
    """The exercises of the assignments for which something was, or was not, read."""
    for assignment in result.assignments:
        if bool(assignment.read_from) == handed_in:
            yield from assignment.exercises


@pytest.mark.parametrize("student", ["perfect_notebook", "perfect_py"])
def test_honest_students_beside_hostile_ones_have_full_marks(graded: Graded, student: str) -> None:
    """Nobody pays for what others hand in; right code passes however it is written."""
    result = graded.results[student]
    read = {assignment.id for assignment in result.assignments if assignment.read_from}
    lost = [
        exercise.id for exercise in exercises_of(result) if exercise.score != exercise.max_score
    ]
    assert (read >= set(ASSIGNMENTS), lost) == (True, [])


@pytest.mark.parametrize("student", HOSTILE)
def test_hostile_code_costs_only_the_exercises_it_stands_in(graded: Graded, student: str) -> None:
    """Every other exercise of the student has full marks."""
    exercises = exercises_of(graded.results[student])
    lost = {e.id.partition("/")[2] for e in exercises if e.score != e.max_score}
    assert lost == HOSTILE[student]


def test_no_score_is_undecided(graded: Graded) -> None:
    """Whatever students hand in, the grader itself does not fail."""
    assert [r.student for r in graded.results.values() if r.undecided] == []


def test_every_outcome_that_students_can_cause_occurs(graded: Graded) -> None:
    """All but the grader's own fault."""
    exercises = [e for result in graded.results.values() for e in exercises_of(result)]
    found = {check.outcome for exercise in exercises for check in exercise.checks}
    assert found == set(Outcome) - {Outcome.ERROR}


def test_what_was_not_handed_in_is_missing_and_earns_nothing(graded: Graded) -> None:
    """The first check says so, the others wait for it."""
    for result in graded.results.values():
        for exercise in exercises_of(result, handed_in=False):
            name = exercise.id.partition("/")[2]
            first, *others = exercise.checks
            said = (exercise.score, first.outcome, first.message)
            assert said == (0, Outcome.MISSING, f"Nothing was handed in for {name}.")
            assert {check.outcome for check in others} == {Outcome.BLOCKED}


# What is written down.


@pytest.mark.parametrize("student", STUDENTS)
def test_the_record_gives_back_the_result(graded: Graded, student: str) -> None:
    """A result file is JSON of the format, and nothing is lost in it."""
    assert from_json(graded.record("results", student)) == graded.results[student]


def hidden_checks(record: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The hidden checks of a record that did not pass."""
    for assignment in record["assignments"]:
        for exercise in assignment["exercises"]:
            for check in exercise["checks"]:
                if check["visibility"] == "hidden" and check["outcome"] != "passed":
                    yield check


@pytest.mark.parametrize("student", STUDENTS)
def test_feedback_has_no_seed_and_no_message_of_a_hidden_check(
    graded: Graded, student: str
) -> None:
    """The record has both, the student's copy neither."""
    record, feedback = (graded.record(kind, student) for kind in ("results", "feedback"))
    assert (record["seed"], feedback["seed"]) == (str(SEED), "")
    told = {check["message"] for check in hidden_checks(feedback)}
    assert told <= {"This is a hidden check: its inputs are not shown."}


def test_feedback_does_not_tell_what_hidden_checks_asked_before(graded: Graded) -> None:
    """Code that remembers its arguments cannot carry hidden ones into a visible check's message.

    Vectors of the visible checks have 2, 3 or 4 entries, those of the hidden ones 7.
    """
    told = [
        line
        for assignment in graded.record("feedback", "remembers_inputs")["assignments"]
        for exercise in assignment["exercises"]
        for check in exercise["checks"]
        for line in check["message"].split("\n")
        if "sizes so far" in line
    ]
    assert told != []
    assert [line for line in told if "7" in line] == []


def test_the_scores_are_blank_for_nothing_handed_in_and_numbers_for_everyone_else(
    graded: Graded,
) -> None:
    """One row per student, one column per exercise."""
    with (graded.out / "scores.csv").open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    assert header == ["student", "score", "max_score", *graded.course.exercises]
    assert [row[0] for row in rows] == STUDENTS
    most = str(sum(assignment.max_score for assignment in graded.course.assignments))
    for student, score, max_score, *cells in rows:
        assert max_score == most
        if student in HANDED_IN_NOTHING:
            assert {score, *cells} == {""}
        else:
            assert float(score) == pytest.approx(sum(map(float, cells)))
            assert float(score) == float(graded.results[student].score or 0)


def test_the_summary_counts_the_class(graded: Graded) -> None:
    """How many there are, who handed in nothing, and what the others got."""
    summary = json.loads((graded.out / "summary.json").read_text("utf-8"))
    scored = {s: points(r.score) for s, r in graded.results.items() if s not in HANDED_IN_NOTHING}
    numbers = sorted(float(score or 0) for score in scored.values())
    assert summary == {
        "format": "attention-course/summary/1",
        "students": len(STUDENTS),
        "submitted": len(scored),
        "undecided": [],
        "not_submitted": list(HANDED_IN_NOTHING),
        "max_score": sum(assignment.max_score for assignment in graded.course.assignments),
        "mean_score": pytest.approx(sum(numbers) / len(numbers), abs=0.005),
        "median_score": pytest.approx(
            (numbers[(len(numbers) - 1) // 2] + numbers[len(numbers) // 2]) / 2
        ),
        "scores": scored,
        "seed": str(SEED),
    }


def test_known_mistakes_are_named(graded: Graded) -> None:
    """One mistake by its name, two at once by both of theirs."""
    named = {
        exercise.id: set(exercise.misconceptions)
        for student in ("scale_forgotten", "two_mistakes")
        for exercise in exercises_of(graded.results[student])
        if exercise.misconceptions
    }
    one = next(
        exercise.misconceptions
        for exercise in exercises_of(graded.results["scale_forgotten"])
        if exercise.id == "04_self_attention/SelfAttention_v2"
    )
    assert one == ("v2-scale-missing",)
    assert named == {
        "04_self_attention/SelfAttention_v1": {"v1-root-forgotten", "v1-plain-tensors"},
        "04_self_attention/SelfAttention_v2": {"v2-softmax-over-queries", "v2-always-biased"},
    }
