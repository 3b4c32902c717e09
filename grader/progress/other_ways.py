"""Other right ways to write what a student has solved."""

from grader.course.course import Course, Exercise
from grader.course.styles import Style, read_styles
from grader.progress.progress import read_progress
from grader.progress.store import Memory


def styles_of(course: Course, exercise: Exercise) -> tuple[Style, ...]:
    """The styles of an exercise: from the author's file, or from the recording.

    Raises:
        CourseError: when the file has a problem.
    """
    assignment = course.by_id[exercise.assignment]
    if course.has_solutions:
        found = read_styles(course, assignment)
    else:
        from grader.judging.recordings import read_recording

        found = read_recording(course.paths(assignment).recording).styles
    return found.get(exercise.name, ())


def is_solved_now(course: Course, exercise: Exercise) -> bool:
    """Whether an exercise is solved in the work as it is; it is checked where that is not known.

    Raises:
        UsageError: when there is no folder of work.
        GraderFault: when the grader itself fails.
    """
    now = read_progress(course, Memory(course.root))
    if now.unknown([exercise]) and not now.submission.is_empty:
        from grader.progress.live_checks import checked  # imports torch

        now = checked(now, [exercise])
    return now.is_solved(exercise)
