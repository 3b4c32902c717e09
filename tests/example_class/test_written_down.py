"""What grading the example class writes down: records, feedback, scores and a summary."""

import csv
import json
from collections.abc import Iterator
from typing import Any

import pytest

from grader.results import from_json, points

pytestmark = pytest.mark.slow

HANDED_IN_NOTHING = ["empty_folder", "never_handed_in"]


@pytest.mark.parametrize("student", STUDENTS)
def test_the_record_gives_back_the_result(graded: Any, student: str) -> None:
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
    graded: Any, student: str
) -> None:
    """The record has both, the student's copy neither."""
    record, feedback = (graded.record(kind, student) for kind in ("results", "feedback"))
    assert (record["seed"], feedback["seed"]) == (str(SEED), "")
    told = {check["message"] for check in hidden_checks(feedback)}
    assert told <= {"This is a hidden check: its inputs are not shown."}


def test_feedback_does_not_tell_what_hidden_checks_asked_before(graded: Any) -> None:
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
    graded: Any,
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


def test_the_summary_counts_the_class(graded: Any) -> None:
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


