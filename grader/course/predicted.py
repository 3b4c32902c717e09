"""Which exercises have predictions: their files are read for that, and nothing in them is run."""

import ast

from grader.course.course import CHECKS, PREDICTIONS, Assignment, Course


def predicted(course: Course, assignment: Assignment) -> tuple[str, ...]:
    """The exercises of an assignment, by short name, that a prediction is declared for."""
    path = course.root / CHECKS / assignment.id / PREDICTIONS
    try:
        tree = ast.parse(path.read_text("utf-8")) if path.is_file() else ast.Module([], [])
    except (SyntaxError, ValueError):  # told where the file is loaded
        return ()
    marks = (mark for node in tree.body for mark in getattr(node, "decorator_list", ()))
    calls = (mark for mark in marks if isinstance(mark, ast.Call) and mark.args)
    named = {getattr(c.args[0], "value", "") for c in calls if ast.unparse(c.func) == "prediction"}
    return tuple(exercise.name for exercise in assignment.exercises if exercise.name in named)


def predicted_ids(course: Course) -> tuple[str, ...]:
    """The ids of all exercises that a prediction is declared for, in the order of the course."""
    return tuple(f"{a.id}/{name}" for a in course.assignments for name in predicted(course, a))
