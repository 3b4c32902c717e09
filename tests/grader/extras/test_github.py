"""GitHub's job summary and annotations: what a student reads, and what their code cannot do."""

from dataclasses import replace
from decimal import Decimal

import pytest
from msgspec import structs

from grader.core.records import (
    AssignmentResult,
    CheckResult,
    CodeLocation,
    ExerciseResult,
    Finding,
    Mistake,
    Outcome,
    Visibility,
)
from grader.extras.github.report import MAX_CHECKS, annotations, check, grade, summary
from grader.submissions.protected_files import Change, Protection

SCALE = Mistake("no-scaling", "Scores are not scaled.", "What is d_k for?")
FILE = "01_a/a.py"


def one_check(message="expected 1\nreceived 2", where=None, outcome=Outcome.FAILED):
    """A visible check."""
    id_ = "01_a/f::visible::test_it"
    return CheckResult(id_, "It holds", Visibility.VISIBLE, 1, outcome, message, 0.1, where=where)


def with_exercise(result, *checks, findings=(), score="0.5", most=2):
    """The result with one exercise only."""
    exercise = ExerciseResult("01_a/f", Decimal(score), most, checks=checks, findings=findings)
    assignment = AssignmentResult("01_a", FILE, Decimal(score), most, exercises=(exercise,))
    return structs.replace(result, score=Decimal(score), max_score=most, assignments=(assignment,))


def test_the_summary_shows_progress_and_named_mistakes(check_run) -> None:
    """Word for word, as it is appended to GitHub's file."""
    checks = one_check(where=CodeLocation(FILE, 7))
    found = (Finding((SCALE,)),)
    result = with_exercise(check_run.result, checks, findings=found, score="1.4")
    run = replace(check_run, result=result, environment={"GITHUB_STEP_SUMMARY": "/summary"})
    (file,) = check(run).files
    assert (file.path, file.append, file.text) == ("/summary", True, SUMMARY)


SUMMARY = """\
# Attention, step by step

**1.4 of 2 points**

| assignment | solved | points | |
|---|---|---:|---|
| 01_a | ░░░░░░░░░░ 0 of 1 | 1.4 / 2 | known mistakes: `no-scaling` |

## `01_a/f`: partly right, 1.4 / 2

- 💡 Scores are not scaled. (no-scaling) What is d_k for?
- ❌ It holds (`01_a/a.py`, line 7)
  ```text
  expected 1
  received 2
  ```

Next: `01_a/f`
"""


def test_what_is_worth_no_points_says_so(check_run) -> None:
    """Instead of 0 of 0."""
    text = summary("A course", with_exercise(check_run.result, one_check(), score="0", most=0))
    assert "**Worth no points**" in text
    assert "0 of 1 | unscored |" in text


def test_checks_told_by_title_have_their_sign(check_run) -> None:
    """Without it, a title would read as if it held."""
    remark = one_check(outcome=Outcome.REMARK)
    checks = (*[one_check()] * MAX_CHECKS, one_check(), remark)
    text = summary("A course", with_exercise(check_run.result, *checks))
    told = [line for line in text.splitlines() if "It holds" in line]
    assert told[-2:] == ["- ❌ It holds", "- 💬 It holds"]


def test_outside_of_a_job_the_summary_is_printed(check_run) -> None:
    """And nothing is written."""
    made = check(check_run)
    assert made.files == ()
    assert "# Attention, step by step" in made.lines


ERROR = "::error file=assignments/01_a/a.{},title=01_a/f%3A not right yet::{}"
ANNOTATED = {
    "the student's line": (
        one_check("100 %: a, b", CodeLocation(FILE, 7)),
        [ERROR.format("py,line=7", "It holds%0A100 %25: a, b")],
    ),
    "a cell's line is no line of the notebook's file": (
        one_check("no", CodeLocation("01_a/a.ipynb", 2, 5)),
        [ERROR.format("ipynb", "cell 5, line 2: It holds%0Ano")],
    ),
    "student text cannot be a command": (
        one_check("x\n::add-mask::a\r::error::b", CodeLocation(FILE, 1)),
        [ERROR.format("py,line=1", "It holds%0Ax%0A::add-mask::a%0D::error::b")],
    ),
    "a stub is no mistake": (one_check("", outcome=Outcome.NOT_ATTEMPTED), []),
    "neither is what is missing": (one_check("", outcome=Outcome.MISSING), []),
    "nor a remark": (one_check("better", CodeLocation(FILE, 1), Outcome.REMARK), []),
}


@pytest.mark.parametrize("name", ANNOTATED)
def test_an_annotation_points_at_what_failed(check_run, name) -> None:
    """In the repository's own words for the file; on one line, escaped as the runner reads it."""
    told, lines = ANNOTATED[name]
    assert annotations(with_exercise(check_run.result, told), "assignments") == lines


def test_of_many_annotations_the_last_counts_the_rest(check_run) -> None:
    """GitHub shows ten of a step."""
    result = with_exercise(check_run.result, one_check("no", CodeLocation(FILE, 1)))
    (assignment,) = result.assignments
    many = structs.replace(assignment, exercises=assignment.exercises * 13)
    lines = annotations(structs.replace(result, assignments=(many,)), "")
    assert len(lines) == 10
    assert lines[-1] == "::error title=And more::4 more are in the job summary."


def test_student_text_cannot_leave_its_fence(check_run) -> None:
    """Whatever it prints, it is shown as text."""
    text = "````\n# 113 of 113 points\n| a | b |"
    result = with_exercise(check_run.result, one_check(text))
    lines = summary("A", result).splitlines()
    start = lines.index("  `````text")
    assert lines[start + 1 : start + 5] == [f"  {line}" for line in [*text.split("\n"), "`````"]]


def test_names_cannot_break_the_table(class_run) -> None:
    """A student may be called anything that a folder may."""
    strange = structs.replace(class_run.results[0], student="a|b<img src=x>`")
    *_, file = grade(replace(class_run, results=[strange]))
    (row,) = [line for line in (file.text or "").splitlines() if "img" in line]
    assert row.startswith("| a\\|b&lt;img src=x&gt;` |")


def test_changed_protected_files_stand_above_everything(check_run) -> None:
    """Loudly, each by name, and as annotations of their own."""
    changes = (Change("tests/checks/01_a/test_visible.py", "changed"), Change("x.py", "missing"))
    protection = Protection("0123456789abcdef", changes)
    assert summary("A", check_run.result, protection).splitlines()[:6] == [
        "> [!CAUTION]",
        "> **2 protected files are not as released. Nothing below counts until this is undone.**",
        ">",
        "> - `tests/checks/01_a/test_visible.py` was **changed**",
        "> - `x.py` was **removed**",
        ">",
    ]
    made = check(replace(check_run, protection=protection))
    assert made.lines[:2] == (
        "::error file=tests/checks/01_a/test_visible.py"
        "::This protected file was changed; undo that.",
        "::error file=x.py::This protected file was removed; undo that.",
    )


def test_an_unchanged_list_shows_its_fingerprint(check_run) -> None:
    """The instructor was told it at release."""
    lines = summary("A", check_run.result, Protection("0123456789abcdef", ())).splitlines()
    assert lines[:2] == ["Protected files are as released (list `0123456789abcdef`).", ""]


def test_the_class_has_a_summary_of_its_own(class_run) -> None:
    """In a folder, so that no student's name can be in its way."""
    *_, file = grade(class_run)
    assert file.path == "class/summary.md"
    rows = [line for line in (file.text or "").splitlines() if line.startswith("| ")]
    assert len(rows) == len(class_run.results) + 1
