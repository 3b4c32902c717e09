"""Gives nbgrader's gradebook the course's assignments and cells, also after the course changed."""

import json
from collections.abc import Iterable

from nbgrader.api import Comment, Gradebook, Notebook, SubmittedAssignment, SubmittedNotebook
from nbgrader.api import Grade as GradeRow

from grader.course.course import Assignment, Course
from grader.gradebook.store import transaction
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
        assignment.module,
        assignment.id,
        kernelspec=json.dumps(NOTEBOOK_METADATA["kernelspec"]),
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
        *(GradeRow(cell=c, notebook=submitted) for c in notebook.grade_cells if c.id not in graded),
        *(
            Comment(cell=c, notebook=submitted)
            for c in notebook.solution_cells
            if c.id not in commented
        ),
    ]
    gradebook.db.add_all([submitted, *rows])
    gradebook.db.flush()
