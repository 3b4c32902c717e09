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


def test_a_file_that_does_not_run_is_kept_with_the_result():
    """Results of files that run, and older ones, have no word of it."""
    (assignment,) = RESULT.assignments
    told = replace(RESULT, assignments=(replace(assignment, file_failures=("a.py: no",)),))
    assert from_json(json.loads(json.dumps(to_json(told)))) == told
    assert "file_failures" not in to_json(RESULT)["assignments"][0]


def with_check(check):
    """The result with one check only."""
    (assignment,) = RESULT.assignments
    exercise = replace(assignment.exercises[0], checks=(check,))
    return replace(RESULT, assignments=(replace(assignment, exercises=(exercise,)),))


def only_check(result):
    """The one check of a result."""
    return result.assignments[0].exercises[0].checks[0]


def test_a_record_has_every_key_that_others_read():
    """The whole record of a result, as it is written to disk."""
    mask = {"id": MASK.id, "symptom": MASK.symptom, "question": MASK.question, "kind": "slip"}
    scale = {"id": SCALE.id, "symptom": SCALE.symptom, "question": SCALE.question, "kind": "slip"}
    assert to_json(RESULT) == {
        "format": "grader-kit/result/3",
        "student": "ada",
        "score": 2.33,
        "max_score": 7,
        "undecided": False,
        "submitted": True,
        "isolation": ["process", "landlock"],
        "seed": SEED,
        "versions": {"python": "3.11.0"},
        "course_hash": "c0ffee",
        "submission_hash": "beef",
        "assignments": [
            {
                "id": "01_a",
                "read_from": "01_a/a.py",
                "score": 2.33,
                "max_score": 7,
                "days_late": 2,
                "notes": ["a.py was read."],
                "exercises": [
                    {
                        "id": "01_a/f",
                        "score": 0.33,
                        "max_score": 5,
                        "misconceptions": ["mask-discarded"],
                        "findings": [{"one_of": [mask]}, {"one_of": [mask, scale]}],
                        "checks": [
                            {
                                "id": "01_a/f::visible::test_it",
                                "title": "It holds",
                                "visibility": "visible",
                                "weight": 1,
                                "outcome": "failed",
                                "message": "expected 1, received 2.",
                                "duration_s": 0.0125,
                            },
                            {
                                "id": "01_a/f::hidden::test_it",
                                "title": "It holds anywhere",
                                "visibility": "hidden",
                                "weight": 2,
                                "outcome": "failed",
                                "message": SECRET,
                                "duration_s": 0.5,
                            },
                        ],
                    },
                    {
                        "id": "01_a/g",
                        "score": 2,
                        "max_score": 2,
                        "misconceptions": [],
                        "findings": [],
                        "checks": [],
                    },
                ],
            }
        ],
    }


def test_a_result_comes_back_from_its_record():
    """Writing and reading a result loses nothing."""
    assert from_json(json.loads(json.dumps(to_json(RESULT)))) == RESULT


def test_no_submission_an_undecided_score_and_a_zero_stay_three_things():
    """None of them turns into another on the way through a file."""
    nothing = replace(RESULT, score=None, submitted=False, submission_hash="", assignments=())
    undecided = replace(RESULT, score=None, undecided=True)
    zero = replace(RESULT, score=Decimal(0))
    for result in (nothing, undecided, zero):
        assert from_json(json.loads(json.dumps(to_json(result)))) == result
    assert [to_json(r)["score"] for r in (nothing, undecided, zero)] == [None, None, 0]


@pytest.mark.parametrize("outcome", list(Outcome))
@pytest.mark.parametrize("visibility", list(Visibility))
def test_every_outcome_comes_back(outcome, visibility):
    """Each outcome of a visible or a hidden check survives the record."""
    result = with_check(replace(VISIBLE, outcome=outcome, visibility=visibility))
    assert from_json(json.loads(json.dumps(to_json(result)))) == result


@settings(max_examples=50)
@given(st.text(), st.decimals(0, 10_000, places=2), st.text())
def test_any_text_and_any_score_come_back(student, score, message):
    """Names, messages and hundredths survive the record, whatever they are."""
    result = replace(with_check(replace(VISIBLE, message=message)), student=student, score=score)
    assert from_json(json.loads(json.dumps(to_json(result)))) == result


@pytest.mark.parametrize(
    ("score", "number"), [(None, None), ("3", 3), ("3.00", 3), ("0", 0), ("2.5", 2.5)]
)
def test_a_score_is_an_integer_where_it_is_one(score, number):
    """A whole score is written without a decimal point."""
    found = points(None if score is None else Decimal(score))
    assert (found, type(found)) == (number, type(number))


# The student's copy.


def test_the_students_copy_has_no_seed_and_no_hidden_message():
    """Nothing else is missing from it."""
    copy = for_student(RESULT)
    (assignment,) = RESULT.assignments
    first, second = assignment.exercises
    told = replace(HIDDEN, message="This is a hidden check: its inputs are not shown.")
    public = replace(assignment, exercises=(replace(first, checks=(VISIBLE, told)), second))
    assert copy == replace(RESULT, seed="", assignments=(public,))


def test_what_nbgrader_would_stumble_over_is_for_instructors():
    """A student reads the other notes alone."""
    note = "a.ipynb: the cell f is missing: nbgrader would show no comment there"
    (assignment,) = RESULT.assignments
    told = replace(RESULT, assignments=(replace(assignment, notes=("Late.", note)),))
    assert for_student(told).assignments[0].notes == ("Late.",)


@pytest.mark.parametrize("outcome", [o for o in Outcome if o is not Outcome.PASSED])
def test_no_hidden_message_is_in_the_students_copy(outcome):
    """However a hidden check ended, its values stay with the instructor."""
    copy = for_student(with_check(replace(HIDDEN, outcome=outcome, raised=SECRET)))
    assert only_check(copy).outcome is outcome
    text = json.dumps(to_json(copy))
    assert SECRET not in text
    assert SEED not in text


def test_a_visible_message_is_the_students():
    """What a visible check says is left as it is, and so is a hidden one that passed."""
    passed = replace(HIDDEN, outcome=Outcome.PASSED, message="")
    assert only_check(for_student(with_check(VISIBLE))) == VISIBLE
    assert only_check(for_student(with_check(passed))) == passed


def test_a_copy_of_a_copy_is_the_same():
    """Taking secrets away twice takes nothing more."""
    assert for_student(for_student(RESULT)) == for_student(RESULT)


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


# Pictures.

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


def with_pictures(visible: Picture | None, hidden: Picture | None) -> Result:
    """The result, its two checks with these pictures."""
    checks = (replace(VISIBLE, picture=visible), replace(HIDDEN, picture=hidden))
    exercise = replace(RESULT.assignments[0].exercises[0], checks=checks)
    return replace(RESULT, assignments=(replace(RESULT.assignments[0], exercises=(exercise,)),))


def test_a_picture_survives_json() -> None:
    """Also with NaN and infinities, in JSON that every reader takes."""
    result = with_pictures(PICTURE, PICTURE)
    record = json.loads(json.dumps(to_json(result), allow_nan=False))
    assert from_json(record) == result


def test_only_a_check_with_a_picture_has_one_in_its_record() -> None:
    """Records stay small."""
    checks = to_json(with_pictures(PICTURE, None))["assignments"][0]["exercises"][0]["checks"]
    assert ["picture" in check for check in checks] == [True, False]


def test_a_student_never_sees_the_picture_of_a_hidden_check() -> None:
    """Its numbers would tell the hidden inputs."""
    checks = for_student(with_pictures(PICTURE, PICTURE)).assignments[0].exercises[0].checks
    assert [check.picture for check in checks] == [PICTURE, None]


def test_a_defect_is_known_by_its_field_not_by_its_words() -> None:
    """A file may have any name; and the record holds a defect as one of the notes."""
    note, defect = "nbgrader would.py was read.", "a.ipynb: nbgrader would stop here."
    (one,) = RESULT.assignments
    result = replace(RESULT, assignments=(replace(one, notes=(note, defect), defects=(defect,)),))
    assert row_of(result, "").defects == (defect,)
    assert to_json(result)["assignments"][0]["notes"] == [note, defect]
    assert "defects" not in to_json(result)["assignments"][0]


@pytest.mark.parametrize("name", ["judged_with", "to_judge_with", "may_come_from"])
def test_what_an_exercise_was_judged_with_is_in_its_record_where_there_is_any(name):
    """It comes back from there; records of before have no such key."""
    (exercise, *others) = RESULT.assignments[0].exercises
    changed = replace(exercise, **{name: ("one",)})
    result = replace(
        RESULT, assignments=(replace(RESULT.assignments[0], exercises=(changed, *others)),)
    )
    record = to_json(result)
    entries = [entry.get(name) for entry in record["assignments"][0]["exercises"]]
    assert entries == [["one"], *[None] * len(others)]
    assert from_json(record).assignments == result.assignments
