"""Results as JSON and back, and the student's copy of them."""

import json
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from grader.classes.rows import row_of
from grader.core.records import (
    RESULT_FORMAT,
    AssignmentResult,
    Axis,
    CheckResult,
    ExerciseResult,
    Finding,
    Mistake,
    Outcome,
    Picture,
    Result,
    Visibility,
)
from grader.judging.results import for_student, from_json, points, to_json

SECRET = "expected 0.1234 for the secret input"
SEED = "4815162342"
MASK = Mistake("mask-discarded", "The mask has no effect.", "What does masked_fill answer?")
SCALE = Mistake("no-scaling", "Scores are not scaled.", "What is d_k for?")

VISIBLE = CheckResult(
    *("01_a/f::visible::test_it", "It holds", Visibility.VISIBLE, 1),
    *(Outcome.FAILED, "expected 1, received 2.", 0.0125),
)
HIDDEN = CheckResult(
    *("01_a/f::hidden::test_it", "It holds anywhere", Visibility.HIDDEN, 2),
    *(Outcome.FAILED, SECRET, 0.5),
)
RESULT = Result(
    student="ada",
    score=Decimal("2.33"),
    max_score=7,
    undecided=False,
    submitted=True,
    isolation=("process", "landlock"),
    seed=SEED,
    versions={"python": "3.11.0"},
    course_hash="c0ffee",
    submission_hash="beef",
    assignments=(
        AssignmentResult(
            id="01_a",
            read_from="01_a/a.py",
            score=Decimal("2.33"),
            max_score=7,
            exercises=(
                ExerciseResult(
                    *("01_a/f", Decimal("0.33"), 5),
                    checks=(VISIBLE, HIDDEN),
                    findings=(Finding((MASK,)), Finding((MASK, SCALE))),
                ),
                ExerciseResult("01_a/g", Decimal(2), 2),
            ),
            notes=("a.py was read.",),
            days_late=2,
        ),
    ),
)


def with_checks(*checks, **known):
    """The result with these checks only, and what else is known of their exercise."""
    (assignment,) = RESULT.assignments
    exercise = replace(assignment.exercises[0], checks=checks, **known)
    return replace(RESULT, assignments=(replace(assignment, exercises=(exercise,)),))


def with_notes(**known):
    """The result with what is said of its assignment."""
    return replace(RESULT, assignments=(replace(RESULT.assignments[0], **known),))


def through_json(result):
    """The result as it comes back from its record, in JSON that every reader takes."""
    return from_json(json.loads(json.dumps(to_json(result), allow_nan=False)))


def entries(result):
    """The record of the first assignment, exercise, and of its checks."""
    (assignment,) = to_json(result)["assignments"]
    exercise = assignment["exercises"][0]
    return assignment, exercise, exercise["checks"]


RECORD = """{
  "format": "grader-kit/result/3", "student": "ada", "score": 2.33, "max_score": 7,
  "undecided": false, "submitted": true, "isolation": ["process", "landlock"],
  "seed": "4815162342", "versions": {"python": "3.11.0"},
  "course_hash": "c0ffee", "submission_hash": "beef",
  "assignments": [{
    "id": "01_a", "read_from": "01_a/a.py", "score": 2.33, "max_score": 7, "days_late": 2,
    "notes": ["a.py was read."],
    "exercises": [
      {
        "id": "01_a/f", "score": 0.33, "max_score": 5, "misconceptions": ["mask-discarded"],
        "findings": [{"one_of": [MASK]}, {"one_of": [MASK, SCALE]}],
        "checks": [
          {
            "id": "01_a/f::visible::test_it", "title": "It holds", "visibility": "visible",
            "weight": 1, "outcome": "failed", "message": "expected 1, received 2.",
            "duration_s": 0.0125
          },
          {
            "id": "01_a/f::hidden::test_it", "title": "It holds anywhere", "visibility": "hidden",
            "weight": 2, "outcome": "failed", "message": "expected 0.1234 for the secret input",
            "duration_s": 0.5
          }
        ]
      },
      {
        "id": "01_a/g", "score": 2, "max_score": 2,
        "misconceptions": [], "findings": [], "checks": []
      }
    ]
  }]
}"""


def test_a_record_has_every_key_that_others_read():
    """The whole record of a result, as it is written to disk."""
    text = RECORD
    for name, mistake in (("MASK", MASK), ("SCALE", SCALE)):
        words = {"symptom": mistake.symptom, "question": mistake.question, "kind": "slip"}
        text = text.replace(name, json.dumps({"id": mistake.id, **words}))
    assert to_json(RESULT) == json.loads(text)


PICTURE = Picture(
    what="the weights",
    expected=((1.0, 0.0), (0.25, 0.75)),
    received=(("nan", "inf"), ("-inf", 0.75)),
    differs=((True, True), (True, False)),
    first=(0, 0),
    rows=Axis("query", 44, 100),
    columns=Axis("key", 0, 2, ("Your", "journey")),
    slice=(("batch entry", 1),),
    source="printed in document 000, cell 51",
    lines=(2, 8),
)
PICTURED = with_checks(*(replace(one, picture=PICTURE) for one in (VISIBLE, HIDDEN)))


@pytest.mark.parametrize(
    "result",
    [
        RESULT,
        replace(RESULT, score=None, submitted=False, submission_hash="", assignments=()),
        replace(RESULT, score=None, undecided=True),
        replace(RESULT, score=Decimal(0)),
        with_notes(file_failures=("a.py: no",)),
        PICTURED,
    ],
    ids=["whole", "no submission", "undecided", "zero", "does not run", "pictures"],
)
def test_a_result_comes_back_from_its_record(result):
    """No submission, an undecided score and a zero stay three things."""
    assert through_json(result) == result
    assert to_json(result)["score"] == points(result.score)


@settings(max_examples=50)
@given(
    *(st.text(), st.decimals(0, 10_000, places=2), st.text()),
    *(st.sampled_from(Outcome), st.sampled_from(Visibility)),
)
def test_any_text_score_and_outcome_come_back(student, score, message, outcome, visibility):
    """Names, messages and hundredths survive the record, whatever they are."""
    check = replace(VISIBLE, message=message, outcome=outcome, visibility=visibility)
    result = replace(with_checks(check), student=student, score=score)
    assert through_json(result) == result


@pytest.mark.parametrize(
    ("score", "number"), [(None, None), ("3", 3), ("3.00", 3), ("0", 0), ("2.5", 2.5)]
)
def test_a_score_is_an_integer_where_it_is_one(score, number):
    """A whole score is written without a decimal point."""
    found = points(None if score is None else Decimal(score))
    assert (found, type(found)) == (number, type(number))


def test_a_record_says_only_what_there_is():
    """Records stay small; and older ones have no such keys."""
    assignment, exercise, checks = entries(RESULT)
    assert not {"file_failures", "defects"} & {*assignment}
    assert not {"judged_with", "to_judge_with", "may_come_from"} & {*exercise}
    assert ["picture" in check for check in checks] == [False, False]


@pytest.mark.parametrize("name", ["judged_with", "to_judge_with", "may_come_from"])
def test_what_an_exercise_was_judged_with_is_in_its_record(name):
    """And comes back from there."""
    result = with_checks(VISIBLE, **{name: ("one",)})
    assert entries(result)[1][name] == ["one"]
    assert through_json(result).assignments == result.assignments


def test_a_defect_is_known_by_its_field_not_by_its_words() -> None:
    """A file may have any name; and the record holds a defect as one of the notes."""
    note, defect = "nbgrader would.py was read.", "a.ipynb: nbgrader would stop here."
    result = with_notes(notes=(note, defect), defects=(defect,))
    assert row_of(result, "").defects == (defect,)
    assert entries(result)[0]["notes"] == [note, defect]
    assert "defects" not in entries(result)[0]


# The student's copy.


def test_the_students_copy_has_no_seed_and_no_hidden_message():
    """Nothing else is missing from it, and a copy of a copy is the same."""
    copy = for_student(RESULT)
    (assignment,) = RESULT.assignments
    first, second = assignment.exercises
    told = replace(HIDDEN, message="This is a hidden check: its inputs are not shown.")
    public = replace(assignment, exercises=(replace(first, checks=(VISIBLE, told)), second))
    assert copy == replace(RESULT, seed="", assignments=(public,))
    assert for_student(copy) == copy
    passed = with_checks(replace(HIDDEN, outcome=Outcome.PASSED, message=""))
    assert for_student(passed) == replace(passed, seed="")


def test_what_nbgrader_would_stumble_over_is_for_instructors():
    """A student reads the other notes alone."""
    note = "a.ipynb: the cell f is missing: nbgrader would show no comment there"
    told = with_notes(notes=("Late.", note))
    assert for_student(told).assignments[0].notes == ("Late.",)


@pytest.mark.parametrize("outcome", [o for o in Outcome if o is not Outcome.PASSED])
def test_no_hidden_message_is_in_the_students_copy(outcome):
    """However a hidden check ended, its values stay with the instructor."""
    hidden = replace(HIDDEN, outcome=outcome, raised=SECRET, picture=PICTURE)
    copy = for_student(with_checks(replace(VISIBLE, picture=PICTURE), hidden))
    seen, unseen = copy.assignments[0].exercises[0].checks
    assert seen == replace(VISIBLE, picture=PICTURE)
    assert (unseen.outcome, unseen.picture) == (outcome, None)
    text = json.dumps(to_json(copy))
    assert SECRET not in text
    assert SEED not in text


# Records that are none.


def test_a_record_of_another_format_is_refused():
    """Another format is told with both names."""
    with pytest.raises(ValueError, match="other/2") as caught:
        from_json({**to_json(RESULT), "format": "other/2"})
    assert str(caught.value) == f"the format is 'other/2', not {RESULT_FORMAT!r}"


@pytest.mark.parametrize("key", list(to_json(RESULT)))
def test_a_record_without_one_of_its_keys_is_refused(key):
    """Every key is needed."""
    record = to_json(RESULT)
    del record[key]
    with pytest.raises((KeyError, ValueError), match=key):
        from_json(record)


@pytest.mark.parametrize(("key", "value"), [("outcome", "great"), ("visibility", "half")])
def test_a_record_with_an_unknown_word_is_refused(key, value):
    """Outcomes and visibilities are the known ones."""
    record = to_json(RESULT)
    record["assignments"][0]["exercises"][0]["checks"][0][key] = value
    with pytest.raises(ValueError, match=value):
        from_json(record)


def test_a_record_whose_score_is_no_number_is_refused():
    """A score is a number or nothing."""
    with pytest.raises(ValueError, match="score"):
        from_json({**to_json(RESULT), "score": "many"})
