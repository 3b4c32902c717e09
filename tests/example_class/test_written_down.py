"""What grading the example class writes down: records, feedback, scores and a summary."""

import csv
import json
import statistics
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import pytest

from grader.classes.records import SUMMARY
from grader.classes.schemas import schema
from grader.judging.results import from_json, points

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("example class")]

HANDED_IN_NOTHING = ["empty_folder", "never_handed_in"]


def checks_of(record: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """All checks of a record that did not pass."""
    for assignment in record["assignments"]:
        for exercise in assignment["exercises"]:
            yield from (check for check in exercise["checks"] if check["outcome"] != "passed")


def messages(record: dict[str, Any], visibility: str) -> set[str]:
    """What the visible, or the hidden, checks of a record say."""
    return {c["message"] for c in checks_of(record) if c["visibility"] == visibility}


def test_every_student_has_a_record_and_feedback(graded: Any) -> None:
    """Also who handed in nothing."""
    expected = sorted(f"{student}.json" for student in graded.results)
    for kind in ("results", "feedback"):
        assert sorted(path.name for path in (graded.out / kind).iterdir()) == expected


def test_a_record_gives_back_the_result(graded: Any) -> None:
    """A result file is JSON of the format, and nothing is lost in it."""
    read = {student: from_json(graded.record("results", student)) for student in graded.results}
    assert read == graded.results


def test_every_file_fits_its_schema(graded: Any) -> None:
    """Records, feedback and the summary, as `grader schema` prints them."""
    import jsonschema

    files = {"result": [], "summary": []}
    for kind in ("results", "feedback"):
        files["result"] += [graded.record(kind, student) for student in graded.results]
    files["summary"] = [json.loads((graded.out / SUMMARY).read_text("utf-8"))]
    for name, records in files.items():
        validator = jsonschema.Draft202012Validator(schema(name))
        assert [e.message for record in records for e in validator.iter_errors(record)] == []


def test_the_seed_is_in_the_record_only(graded: Any) -> None:
    """With it, hidden inputs could be drawn again."""
    records = {graded.record("results", student)["seed"] for student in graded.results}
    feedback = {graded.record("feedback", student)["seed"] for student in graded.results}
    assert (records, feedback) == ({"1"}, {""})


def test_feedback_has_no_message_of_a_hidden_check(graded: Any) -> None:
    """Nowhere in the student's copy, unless a visible check says the same."""
    for student in graded.results:
        record, feedback = (graded.record(kind, student) for kind in ("results", "feedback"))
        assert messages(feedback, "visible") == messages(record, "visible")
        assert messages(feedback, "hidden") <= {"This is a hidden check: its inputs are not shown."}
        text = json.dumps(feedback, ensure_ascii=False)
        secret = messages(record, "hidden") - messages(record, "visible")
        assert [m for m in secret if json.dumps(m, ensure_ascii=False)[1:-1] in text] == []


def test_feedback_does_not_tell_what_hidden_checks_asked_before(graded: Any) -> None:
    """Code that remembers its arguments cannot carry hidden ones into a visible check's message.

    Vectors of the visible checks have 2, 3 or 4 entries, those of the hidden ones 7.
    """
    told = messages(graded.record("feedback", "remembers_inputs"), "visible")
    told = {line for text in told for line in text.split("\n") if "sizes so far: [" in line}
    assert len(told) == 2
    assert {line for line in told if "7" in line} == set()


def test_scores_are_blank_for_nothing_handed_in(graded: Any) -> None:
    """One row per student, a column per exercise and assignment; everyone else has numbers."""
    with (graded.out / "scores.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    exercises, assignments = list(graded.course.exercises), list(graded.course.by_id)
    assert [row["student"] for row in rows] == list(graded.results)
    assert {row["max_score"] for row in rows} == {str(graded.course.max_score)}
    blank = [row for row in rows if {row["score"], *(row[id_] for id_ in exercises)} == {""}]
    assert [row["student"] for row in blank] == HANDED_IN_NOTHING
    for row in (row for row in rows if row not in blank):
        score = float(row["score"])
        assert score == float(graded.results[row["student"]].score)
        assert score == pytest.approx(sum(float(row[id_] or 0) for id_ in exercises))
        assert score == pytest.approx(sum(float(row[id_] or 0) for id_ in assignments))
        blanks = {id_ for id_ in assignments if not row[id_]}
        parts = graded.results[row["student"]].assignments
        assert blanks == {part.id for part in parts if part.is_missing}


def test_the_summary_counts_the_class(graded: Any) -> None:
    """How many there are, who handed in nothing, and what the others got."""
    scored = {s: points(r.score) for s, r in graded.results.items() if s not in HANDED_IN_NOTHING}
    summary = json.loads((graded.out / "summary.json").read_text("utf-8"))
    assert datetime.fromisoformat(summary.pop("written_at")).tzinfo is not None
    assert summary == {
        "format": "grader-kit/summary/2",
        "changed": {},
        "course": graded.course.hash,
        "covers": f"{len(graded.results)} students graded as of this run.",
        "earlier": [],
        "to_do": [],
        "students": len(graded.results),
        "submitted": len(scored),
        "undecided": [],
        "not_submitted": HANDED_IN_NOTHING,
        "max_score": graded.course.max_score,
        "mean_score": pytest.approx(statistics.mean(scored.values()), abs=0.005),
        "median_score": pytest.approx(statistics.median(scored.values())),
        "scores": scored,
        "seed": "1",
    }
