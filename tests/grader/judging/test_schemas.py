"""The schemas of files that others read: our own files fit, and what is changed in them does not."""

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from grader.classes.compare import Comparison, compare_results, to_record
from grader.classes.rows import Coverage, due_summary, row_of, summary
from grader.classes.schemas import SCHEMAS, schema
from grader.cli.shared import ExitCode
from grader.core.records import (
    AssignmentResult,
    Axis,
    CheckResult,
    CodeLocation,
    Decision,
    DecisionKind,
    ExerciseResult,
    Finding,
    Mistake,
    Outcome,
    Picture,
    Result,
    Visibility,
)
from grader.judging.results import for_student, to_json

PICTURE = Picture(
    *("the result", ((1.0, 0.0),), (("nan", 0.0),), ((True, False),), (0, 0)),
    *(Axis("row", 0, 1), Axis("column", 0, 2, ("a", "b")), (("batch entry", 1),), "", (2, 3)),
)
CHECK = CheckResult(
    *("01_a/f::visible::test_it", "It holds", Visibility.VISIBLE, 1, Outcome.FAILED, "no", 0.5),
    picture=PICTURE,
    where=CodeLocation("a.ipynb", 3, 2),
    waits_for="01_a/g",
    raised="ValueError: no",
    may_follow=True,
    is_conduct=True,
)
MISTAKE = Mistake("wrong-axis", "The axis is wrong.", "Which axis is it?")
EXERCISE = ExerciseResult(
    *(
        "01_a/f",
        Decimal("0.5"),
        2,
    ),
    checks=(CHECK,),
    findings=(Finding((MISTAKE,), is_partial=True),),
    defined=CodeLocation("a.py", 1),
    decision=Decision(DecisionKind.OVERRIDE, None),
)
ASSIGNMENT = AssignmentResult(
    *("01_a", "a.py", Decimal("0.5"), 2, 1),
    exercises=(EXERCISE,),
    notes=("A note.",),
    file_failures=("a.py: it does not run",),
    ignored=("b.py was not read",),
    late_days_used=1,
    handed_in_by="bo",
)
RESULT = Result(
    *("ada", Decimal("0.5"), 2, False, True, ("process",), "7", {"python": "3.11"}, "c0", "be"),
    *((ASSIGNMENT,), ("c.docx",), ("override 01_a/f",), Decimal("0.25")),
)
NOTHING = Result("bob", None, 2, False, False, (), "7", {}, "c0", "", ())


def problems(name: str, record: Any) -> list[str]:
    """What is wrong with a record by a schema."""
    import jsonschema

    validator = jsonschema.Draft202012Validator(schema(name))
    return [error.message for error in validator.iter_errors(json.loads(json.dumps(record)))]


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_schema_is_one(name: str) -> None:
    """By the rules of its own dialect."""
    import jsonschema

    jsonschema.Draft202012Validator.check_schema(schema(name))


@pytest.mark.parametrize("result", [RESULT, NOTHING, for_student(RESULT)])
def test_a_result_fits(result: Result) -> None:
    """Also one of a student who handed in nothing, and the student's copy."""
    assert problems("result", to_json(result)) == []


def broken(record: dict[str, Any] | list[Any]) -> Iterator[Any]:
    """The record with one key renamed, or one value of another kind, wherever there is one."""
    entries = record.items() if isinstance(record, dict) else enumerate(record)
    for key, value in list(entries):
        is_open = isinstance(value, dict | list)
        for inner in (*(broken(value) if is_open else ()), 7 if is_open else {}):
            yield {**record, key: inner} if isinstance(record, dict) else [inner]
        if isinstance(record, dict):
            yield {("other" if name == key else name): one for name, one in record.items()}


def test_a_result_in_which_anything_is_another_does_not_fit() -> None:
    """Each key, renamed, and each value, of another kind."""
    record = {**json.loads(json.dumps(to_json(RESULT))), "versions": {}}
    every = list(broken(record))
    assert len(every) > 100
    assert [one for one in every if not problems("result", one)] == []


def test_a_summary_fits(example_course: Path) -> None:
    """With what a run adds."""
    from grader.course.course import load_course

    rows = [row_of(RESULT, ""), row_of(NOTHING, "")]
    course = load_course(example_course)
    record = {
        **summary(rows, Coverage("c0", frozenset({"bob"}), ("eve",)), datetime.now(UTC)),
        "changed": {"ada": (None, 0.5)},
        "due": due_summary(rows, course),
    }
    assert problems("summary", record) == []
    assert problems("summary", {**record, "mean_score": "half"})
    for key in set(record) - {"changed", "due"}:
        assert problems("summary", {name: one for name, one in record.items() if name != key})


def test_a_comparison_fits() -> None:
    """Of somebody who had no score, with what the checks mean for the class."""
    found = compare_results(NOTHING, replace(RESULT, student="bob"))
    other = compare_results(RESULT, replace(RESULT, assignments=(replace(ASSIGNMENT, score=None),)))
    assert found is not None
    assert other is None
    record = to_record(Comparison(1, (found,), ("eve",)))
    assert problems("comparison", record) == []
    assert problems("comparison", {**record, "students": "one"})
    for key in record:
        assert problems("comparison", {name: one for name, one in record.items() if name != key})


def test_the_page_on_formats_lists_every_exit_code(root: Path) -> None:
    """And every schema."""
    text = (root / "docs" / "formats.md").read_text("utf-8")
    codes = [int(code) for code in re.findall(r"(?m)^\| (\d+) \|", text)]
    assert codes == [int(code) for code in ExitCode]
    assert all(f"grader schema {name}" in text for name in SCHEMAS)
