"""A student's progress: the last results that still hold, and what comes next. Runs nothing."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from itertools import groupby

from msgspec import structs

from grader.core.records import AssignmentResult, ExerciseResult, Result, added
from grader.course.course import WORK, Assignment, Course, Exercise
from grader.progress.store import Memory, Remembered
from grader.submissions.source_file import SourceFile
from grader.submissions.submission import Submission, read_submission

STUDENT = "me"


@dataclass(frozen=True, slots=True)
class Progress:
    """A student's work as it is now, and what is known about it.

    Args:
        results: by exercise, the results that hold for the work as it is.
        file_failures: by assignment, sentences about a file that does not run.
    """

    course: Course
    submission: Submission
    results: Mapping[str, ExerciseResult]
    file_failures: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def unknown(self, exercises: Iterable[Exercise]) -> list[Exercise]:
        """Those of these exercises whose result is not known."""
        return [exercise for exercise in exercises if exercise.id not in self.results]

    def differing(self, other: "Progress") -> list[Assignment]:
        """The assignments whose own files are not the same as in another progress."""
        return [a for a in self.course.assignments if self.files(a) != other.files(a)]

    def files(self, assignment: Assignment) -> tuple[SourceFile, ...]:
        """What was read for an assignment."""
        keys = self.submission.files_for(assignment.id)
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
        read = self.submission.readings[assignment.id].read_from
        return f"{WORK}/{read or f'{assignment.id}/{assignment.module}.py'}"

    def shown(self, exercises: Iterable[Exercise]) -> tuple[AssignmentResult, ...]:
        """The known results of these exercises (in the course's order), by assignment."""
        known = [exercise for exercise in exercises if exercise.id in self.results]
        found = []
        for id_, group in groupby(known, lambda exercise: exercise.assignment):
            results = tuple(self.results[exercise.id] for exercise in group)
            reading = self.submission.readings[id_]
            most = added(result.max_score for result in results)
            failures = self.file_failures.get(id_, ())
            read, notes = reading.read_from, reading.notes
            shown = AssignmentResult(id_, read, None, most, notes=notes, exercises=results)
            found.append(structs.replace(shown, file_failures=failures))
        return tuple(found)

    def adding(self, result: Result) -> "Progress":
        """The same with the exercises of a result; undecided ones are left to be checked again."""
        added = {e.id: e for e in result.exercises if not e.undecided}
        failures = {part.id: part.file_failures for part in result.assignments}
        return replace(
            self,
            results={**self.results, **added},
            file_failures={**self.file_failures, **failures},
        )


def read_progress(course: Course, memory: Memory) -> Progress:
    """What is known of the work in the copy's own folder.

    Raises:
        UsageError: when there is no such folder.
    """
    submission = read_submission(course, course.work_folder, STUDENT)
    keys = work_keys(course, submission)
    holding = {
        id_: last
        for id_, last in memory.results().items()
        if (exercise := course.exercises.get(id_)) is not None
        and last.key == keys[exercise.assignment]
        and last.exercise.max_score == exercise.points
    }
    results = {id_: last.exercise for id_, last in holding.items()}
    failures = {course.exercises[i].assignment: last.file_failures for i, last in holding.items()}
    return Progress(course, submission, results, failures)


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
            exercise.id: Remembered(keys[assignment.id], exercise, assignment.file_failures)
            for assignment in result.assignments
            for exercise in assignment.exercises
            if not exercise.undecided
        }
    )


def work_keys(course: Course, submission: Submission) -> dict[str, str]:
    """By assignment, a hash of what decides its results: the course, the files that count."""
    return {a.id: _key(course, submission, a) for a in course.assignments}


def _key(course: Course, submission: Submission, assignment: Assignment) -> str:
    digest = hashlib.sha256(course.hash.encode())
    for id_ in sorted(course.with_imports(assignment) | set(assignment.compares)):
        for key in submission.files_for(id_):
            source = submission.sources[key]
            digest.update(repr((id_, key, source)).encode("utf-8", "replace"))
    return digest.hexdigest()
