"""The rows of nbgrader's gradebook: the course's assignments and cells, a student's scores and comments.

Assignments and cells follow the course also after it changed. What concerns one student is written in
one transaction.
"""

import json
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction

from nbgrader.api import Comment, Grade, Gradebook, Notebook, SubmittedAssignment, SubmittedNotebook

from grader.core.records import AssignmentResult, CheckResult, ExerciseResult, Finding, Result
from grader.course.course import Assignment, Course
from grader.extras.nbgrader.store import transaction
from grader.intake.roster import Enrolled
from grader.judging.outcomes import SIGNS, check_head, reported_checks
from grader.judging.results import for_student, points
from grader.judging.scoring import days_late, late_factor, rounded
from grader.release.stubs import NOTEBOOK_METADATA, grade_id

TEST = "test_"


def write_structure(gradebook: Gradebook, course: Course) -> list[str]:
    """Write the assignments and their cells in one transaction.

    Cells of exercises that the course no longer has are removed with their grades and comments; cells
    that are new in the course are added to the submissions there are. Cells, notebooks
    and assignments that somebody else made are left alone.

    Returns:
        A sentence for each exercise that was removed.
    """
    with transaction(gradebook):
        return [note for a in course.assignments for note in _write_assignment(gradebook, a)]


def _write_assignment(gradebook: Gradebook, assignment: Assignment) -> list[str]:
    # A date that somebody set in nbgrader stays when course.toml has none.
    dates = {"duedate": assignment.due} if assignment.due else {}
    gradebook.update_or_create_assignment(assignment.id, **dates)
    notebook = gradebook.update_or_create_notebook(
        assignment.module, assignment.id, kernelspec=json.dumps(NOTEBOOK_METADATA["kernelspec"])
    )
    location = (assignment.module, assignment.id)
    for exercise in assignment.exercises:
        gradebook.update_or_create_grade_cell(
            grade_id(exercise, is_test=True), *location, max_score=exercise.points, cell_type="code"
        )
        gradebook.update_or_create_solution_cell(grade_id(exercise, is_test=False), *location)
    gradebook.db.flush()
    gradebook.db.refresh(notebook)
    notes = [_remove(gradebook, notebook, name) for name in _gone(notebook, assignment)]
    gradebook.db.refresh(notebook)
    for submission in gradebook.find_assignment(assignment.id).submissions:
        _complete(gradebook, submission, notebook)
    return notes


def _gone(notebook: Notebook, assignment: Assignment) -> list[str]:
    """The exercises that only the gradebook has: an answer cell with a test cell named after it."""
    answers = {cell.name for cell in notebook.solution_cells}
    tests = {cell.name.removeprefix(TEST) for cell in notebook.grade_cells if TEST in cell.name}
    return sorted((answers & tests) - {exercise.name for exercise in assignment.exercises})


def _remove(gradebook: Gradebook, notebook: Notebook, name: str) -> str:
    tests = [cell for cell in notebook.grade_cells if cell.name == TEST + name]
    answers = [cell for cell in notebook.solution_cells if cell.name == name]
    sources = [cell for cell in notebook.source_cells if cell.name in (name, TEST + name)]
    grades = [grade for cell in tests for grade in cell.grades]
    comments = [comment for cell in answers for comment in cell.comments]
    by_hand = sum(grade.manual_score is not None for grade in grades)
    _delete(gradebook, [*grades, *comments])
    _delete(gradebook, [*tests, *answers, *sources])
    what = f"{by_hand} {'score' if by_hand == 1 else 'scores'} given by hand"
    return (
        f"{notebook.assignment.name}/{name} is no longer in the course: its cells were removed "
        f"from the gradebook, with {what}."
    )


def _delete(gradebook: Gradebook, rows: Iterable[object]) -> None:
    for row in rows:
        gradebook.db.delete(row)
    gradebook.db.flush()


def _complete(gradebook: Gradebook, submission: SubmittedAssignment, notebook: Notebook) -> None:
    """Add to a submission what it lacks: it copied the notebook's cells when it was made."""
    found = [one for one in submission.notebooks if one.notebook_id == notebook.id]
    submitted = found[0] if found else SubmittedNotebook(notebook=notebook, assignment=submission)
    graded = {grade.cell_id for grade in submitted.grades}
    commented = {comment.cell_id for comment in submitted.comments}
    rows = [
        *(Grade(cell=c, notebook=submitted) for c in notebook.grade_cells if c.id not in graded),
        *(
            Comment(cell=c, notebook=submitted)
            for c in notebook.solution_cells
            if c.id not in commented
        ),
    ]
    gradebook.db.add_all([submitted, *rows])
    gradebook.db.flush()


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
