"""Writes one student's results into nbgrader's gradebook, in one transaction: scores and comments."""

import textwrap
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction

from nbgrader.api import Grade, Gradebook, SubmittedAssignment, SubmittedNotebook

from grader.core.records import AssignmentResult, CheckResult, ExerciseResult, Finding, Result
from grader.course.course import Assignment, Course
from grader.gradebook.store import transaction
from grader.intake.roster import Enrolled
from grader.judging.outcomes import SIGNS, check_head, reported_checks
from grader.judging.results import for_student, points
from grader.judging.scoring import days_late, late_factor, rounded
from grader.release.stubs import grade_id


def write_student(
    gradebook: Gradebook,
    course: Course,
    result: Result,
    handed_in: Mapping[str, datetime],
    enrolled: Enrolled | None = None,
) -> None:
    """Write a student, and a submission for each assignment that was handed in.

    What was not handed in, or does not count for the student, gets no submission, and a submission
    that the gradebook has already is left as it is: it may be of an earlier run over other folders.

    Args:
        gradebook: with the course's structure.
        course: what was graded.
        result: the student's.
        handed_in: when, by assignment, where that is known.
        enrolled: what the roster knows of the student.
    """
    with transaction(gradebook):
        gradebook.update_or_create_student(result.student, **_known(enrolled))
        for graded in for_student(result).assignments:
            if graded.counts:
                assignment = course.by_id[graded.id]
                moment = handed_in.get(graded.id)
                times = {"timestamp": moment} if moment else {}
                submission = gradebook.update_or_create_submission(
                    assignment.id, result.student, **times
                )
                _write_submission(course, assignment, graded, submission)


def _known(enrolled: Enrolled | None) -> dict[str, str]:
    """A student's names and address as nbgrader keeps them; "Last, First" and "First Last"."""
    if enrolled is None or not enrolled.name:
        return {}
    last, comma, first = enrolled.name.partition(",")
    if not comma:
        first, _, last = enrolled.name.rpartition(" ")
    names = {"first_name": first.strip(), "last_name": last.strip(), "email": enrolled.email}
    return {key: text for key, text in names.items() if text}


def _write_submission(
    course: Course,
    assignment: Assignment,
    graded: AssignmentResult,
    submission: SubmittedAssignment,
) -> None:
    (notebook,) = (one for one in submission.notebooks if one.name == assignment.module)
    grades = {grade.name: grade for grade in notebook.grades}
    comments = {row.name: row for row in notebook.comments}
    found = {exercise.id: exercise for exercise in graded.exercises}
    notes = graded.notes
    for exercise in assignment.exercises:
        result = found.get(exercise.id, ExerciseResult(exercise.id, None, exercise.points))
        _write_score(grades[grade_id(exercise, is_test=True)], result.score)
        comments[grade_id(exercise, is_test=False)].auto_comment = comment(result, notes)
        notes = ()
    days = _days_late(course, assignment, graded, submission)
    notebook.late_submission_penalty = float(_penalty(course, notebook, days)) if days else None


def _write_score(grade: Grade, score: Decimal | None) -> None:
    """Write the grader's score; what a person gave stays.

    Undecided is no score: a person has to look, also where a person gave a score and the grader's
    has changed since.
    """
    before, after = grade.auto_score, None if score is None else float(score)
    grade.auto_score = after
    if grade.manual_score is None:
        grade.needs_manual_grade = after is None
    elif after != before:
        grade.needs_manual_grade = True


def _days_late(
    course: Course,
    assignment: Assignment,
    graded: AssignmentResult,
    submission: SubmittedAssignment,
) -> int:
    """The days that cost points; counted again where somebody granted an extension in nbgrader."""
    days = graded.days_late - graded.late_days_used
    if not submission.extension or not assignment.due or not submission.timestamp:
        return days
    moment = submission.timestamp.replace(tzinfo=UTC)
    return min(days, days_late(assignment.due + submission.extension, moment, course.late))


def _penalty(course: Course, notebook: SubmittedNotebook, days: int) -> Decimal:
    """What late work costs, in points of the score that counts in nbgrader.

    Cells hold their scores in full; nbgrader takes this off once, when it exports or gives feedback.
    """
    score = sum((_counted(grade) for grade in notebook.grades), Decimal(0))
    return score - rounded(Fraction(score) * late_factor(days, course.late))


def _counted(grade: Grade) -> Decimal:
    """A cell's score as nbgrader counts it: a person's before the grader's, and extra credit."""
    given = grade.auto_score if grade.manual_score is None else grade.manual_score
    return Decimal(str(given or 0)) + Decimal(str(grade.extra_credit or 0))


MAX_CHARACTERS = 20_000


def comment(exercise: ExerciseResult, notes: Sequence[str] = ()) -> str | None:
    """The comment on an exercise; None where there is nothing to say.

    Args:
        exercise: as the student may see it, without what hidden checks asked.
        notes: sentences on the whole assignment.
    """
    checks = [_check(check) for check in reported_checks(exercise)]
    parts = [*notes, *(_finding(finding) for finding in exercise.findings), *checks]
    if exercise.undecided:
        parts.insert(0, "This could not be judged: the score is undecided.")
    if not parts:
        return None
    if exercise.score is not None and exercise.max_score:
        parts.insert(0, f"{points(exercise.score)} of {exercise.max_score} points.")
    return storable("\n\n".join(parts))


def _check(check: CheckResult) -> str:
    message = textwrap.indent(check.message, "    ", lambda line: True)
    head = f"{SIGNS[check.outcome]} {check_head(check)}"
    return head + (f"\n\n{message}" if check.message else "")


def _finding(finding: Finding) -> str:
    lines = [f"{m.id}: {m.symptom} {m.question}" for m in finding.candidates]
    if len(lines) == 1:
        return f"→ A known mistake, {lines[0]}"
    return "\n".join(["→ One of these mistakes:", "", *(f"- {one}" for one in lines)])


def storable(text: str) -> str:
    """A text that every database accepts: no NUL, no half of a pair, of limited length."""
    short = text if len(text) <= MAX_CHARACTERS else f"{text[:MAX_CHARACTERS]}\n(shortened)"
    return short.replace("\0", "\N{REPLACEMENT CHARACTER}").encode("utf-8", "replace").decode()
