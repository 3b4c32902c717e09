"""A student's progress: the last results that still hold, and what comes next. Runs nothing."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal

from grader.core.records import AssignmentResult, ExerciseResult, Result
from grader.course.course import WORK, Assignment, Course, Exercise
from grader.progress.store import Memory, Remembered
from grader.submissions.submission import Reading, SourceFile, Submission, read_submission

STUDENT = "me"


@dataclass(frozen=True, slots=True)
class Progress:
    """A student's work as it is now, and what is known about it.

    Args:
        course: the course.
        submission: the work.
        keys: by assignment, a hash of everything that decides its results.
        results: by exercise, the results that hold for the work as it is.
    """

    course: Course
    submission: Submission
    keys: Mapping[str, str]
    results: Mapping[str, ExerciseResult]

    def unknown(self, exercises: Iterable[Exercise]) -> list[Exercise]:
        """Those of these exercises whose result is not known."""
        return [exercise for exercise in exercises if exercise.id not in self.results]

    def differing(self, other: "Progress") -> list[Assignment]:
        """The assignments whose own files are not the same as in another progress."""
        return [a for a in self.course.assignments if self.files(a) != other.files(a)]

    def files(self, assignment: Assignment) -> tuple[SourceFile, ...]:
        """What was read for an assignment."""
        keys = self.submission.readings.get(assignment.id, Reading()).sources
        return tuple(self.submission.sources[key] for key in keys)

    def is_solved(self, exercise: Exercise) -> bool:
        """Whether an exercise is known to have its full score."""
        result = self.results.get(exercise.id)
        return result is not None and result.is_solved

    def unfinished(self, exercises: Iterable[Exercise]) -> list[Exercise]:
        """Those of these exercises that are not known to have their full score."""
        return [exercise for exercise in exercises if not self.is_solved(exercise)]

    def score(self, exercises: Iterable[Exercise]) -> Decimal:
        """The points of these exercises that are known."""
        found = (self.results.get(exercise.id) for exercise in exercises)
        return sum((r.score for r in found if r is not None and r.score is not None), Decimal(0))

    def file(self, exercise: Exercise) -> str:
        """Where an exercise is written or to be written, as a path in the course's folder."""
        assignment = self.course.by_id[exercise.assignment]
        read = self.submission.readings.get(assignment.id, Reading()).read_from
        name = read or f"{assignment.id}/{assignment.module}.py"
        return f"{WORK}/{name}"

    def shown(self, exercises: Iterable[Exercise]) -> tuple[AssignmentResult, ...]:
        """The known results of these exercises, by assignment, as they are shown."""
        wanted = {exercise.id for exercise in exercises}
        found = []
        for assignment in self.course.assignments:
            ids = [e.id for e in assignment.exercises if e.id in wanted & self.results.keys()]
            results = tuple(self.results[id_] for id_ in ids)
            if results:
                reading = self.submission.readings.get(assignment.id, Reading())
                most = sum(result.max_score for result in results)
                found.append(
                    AssignmentResult(
                        assignment.id, reading.read_from, None, most, results, reading.notes
                    )
                )
        return tuple(found)

    def adding(self, result: Result) -> "Progress":
        """The same with the exercises of a result; undecided ones are left to be checked again."""
        added = {e.id: e for e in result.exercises if not e.undecided}
        return Progress(self.course, self.submission, self.keys, {**self.results, **added})


def read_progress(course: Course, memory: Memory) -> Progress:
    """What is known of the work in the copy's own folder.

    Raises:
        UsageError: when there is no such folder.
    """
    submission = read_submission(course, course.work_folder, STUDENT)
    keys = work_keys(course, submission)
    return Progress(course, submission, keys, _holding(course, keys, memory.results()))


def _holding(
    course: Course, keys: Mapping[str, str], remembered: Mapping[str, Remembered]
) -> dict[str, ExerciseResult]:
    """The remembered results of what has not changed since."""
    return {
        exercise.id: remembered[exercise.id].result
        for exercise in course.exercises.values()
        if exercise.id in remembered
        and remembered[exercise.id].key == keys[exercise.assignment]
        and remembered[exercise.id].result.max_score == exercise.points
    }


def remember(course: Course, submission: Submission, result: Result) -> None:
    """Keep the results of the visible checks; what cannot be kept is checked again later.

    Args:
        course: the course.
        submission: the work that was checked.
        result: of the checks.
    """
    keys = work_keys(course, submission)
    Memory(course.root).remember_results(
        {
            exercise.id: Remembered(keys[assignment.id], exercise)
            for assignment in result.assignments
            for exercise in assignment.exercises
            if not exercise.undecided
        }
    )


def work_keys(course: Course, submission: Submission) -> dict[str, str]:
    """By assignment, a hash of what decides its results: the course, its files, what they import."""
    return {a.id: _key(course, submission, a) for a in course.assignments}


def _key(course: Course, submission: Submission, assignment: Assignment) -> str:
    digest = hashlib.sha256(course.hash.encode())
    for id_ in sorted(course.with_imports(assignment)):
        for key in submission.readings[id_].sources:
            source = submission.sources[key]
            digest.update(repr((id_, key, source)).encode("utf-8", "replace"))
    return digest.hexdigest()
