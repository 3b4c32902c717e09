"""One score and what it is made of: as the run wrote it, and graded again."""

import difflib
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from msgspec import structs

from grader.classes.records import Records, open_records
from grader.classes.run_settings import RunSettings
from grader.classes.store import Store
from grader.core.errors import UsageError
from grader.core.language import listed, use
from grader.core.records import AssignmentResult, ExerciseResult, Result
from grader.course.course import Course, Exercise
from grader.intake.folders import Student
from grader.intake.read import read_submissions, who_handed_in
from grader.judging.results import points, to_json
from grader.submissions.digests import digests
from grader.submissions.faults import told
from grader.submissions.submission import Submission, read_submission


@dataclass(frozen=True, slots=True)
class Explained:
    """One score and what it is made of.

    Args:
        result: the student's, as the run wrote it.
        part: that of the assignment.
        exercise: that of the exercise.
        submission: what was handed in, where that was given.
        is_as_graded: whether it still is what was graded.
        again: the exercise graded again, where that was asked for.
    """

    result: Result
    part: AssignmentResult
    exercise: ExerciseResult
    submission: Submission | None = None
    is_as_graded: bool = True
    again: ExerciseResult | None = None

    @property
    def differences(self) -> tuple[str, ...]:
        """How the exercise, graded again, differs from what the run wrote, in sentences."""
        return () if self.again is None else tuple(_differences(self.exercise, self.again))

    @property
    def record(self) -> dict[str, object]:
        """The same as data: a result of that exercise alone, and what came out differently."""
        part = structs.replace(self.part, exercises=(self.exercise,))
        record: dict[str, object] = to_json(structs.replace(self.result, assignments=(part,)))
        if self.again is not None:
            score = None if self.again.score is None else points(self.again.score)
            record["again"] = {"score": score, "differences": [*self.differences]}
        return record


def explain(
    course: Course, run: Path, name: str, target: str, submissions: Path | None, *, again: bool
) -> Explained:
    """One score of a run.

    Args:
        course: the course.
        run: the folder that `grader grade --out` wrote.
        name: the student's.
        target: the exercise, as a command names it.
        submissions: what the class handed in, where the code is wanted.
        again: whether to grade it once more, with the run's own seed, isolation and language.

    Raises:
        UsageError: when there is no such run, student or exercise, or nothing to grade again.
    """
    named = course.select((target,))
    if len(named) != 1:
        raise UsageError(f"{target} names {len(named)} exercises; explain one at a time.")
    (exercise,) = named.values()
    records = open_records(run)
    explained = _as_written(run, records, name, exercise)
    if submissions is None:
        if again:
            raise UsageError("--again needs --submissions, what the class handed in.")
        return explained
    with read_submissions(course, submissions) as intake:
        student, path = who_handed_in(intake, explained.part.handed_in_by or name, submissions)
        path = _counting_path(student, explained, records) or path
        with told(student.id):
            submission = read_submission(course, path, student.id)
        digest = digests(course, path).by_assignment[exercise.assignment]
        is_as_graded = digest in _graded_digests(run, student.id, exercise.assignment)
        explained = replace(explained, submission=submission, is_as_graded=is_as_graded)
        if again:
            graded = _graded_again(course, run, replace(student, path=path), exercise)
            explained = replace(explained, again=graded)
    return explained


def _as_written(run: Path, records: Records, name: str, exercise: Exercise) -> Explained:
    """A student's score for an exercise, as the run wrote it."""
    known = records.texts
    if name not in known:
        meant = difflib.get_close_matches(name, known)
        tail = f"Did you mean {listed(meant)}?" if meant else f"It has {len(known)} students."
        raise UsageError(f"{run} has no result of {name!r}. {tail}")
    result = records.result(name)
    parts = [(p, e) for p in result.assignments for e in p.exercises if e.id == exercise.id]
    if not parts or parts[0][1].is_missing:
        has_gap = bool(parts) or not result.submitted
        why = "handed in nothing for it" if has_gap else "has no result for it in this run"
        raise UsageError(f"{name} {why}: there is nothing to explain of {exercise.id}.")
    return Explained(result, *parts[0])


def _counting_path(student: Student, explained: Explained, records: Records) -> Path | None:
    """Where the attempt lies that counts for the exercise; None where there is none of that time.

    Args:
        student: who handed in the work, which may be another one of a group.
        explained: what is explained.
        records: those of the run.
    """
    score, id_ = explained.exercise.score, explained.exercise.id
    parts: tuple[AssignmentResult, ...] = (explained.part,)
    if explained.part.handed_in_by:
        parts = records.result(student.id).assignments
    counting = [a for p in parts if p.id == explained.part.id for a in p.attempts if a.counts]
    times = {attempt.at for attempt in counting if attempt.exercises.get(id_) == score}
    times = times or {attempt.at for attempt in counting}
    paths = [a.path for a in student.attempts if a.moment.at.isoformat() in times]
    return paths[-1] if paths else None


def _graded_digests(run: Path, student: str, assignment: str) -> set[str]:
    """Hashes of the files that a student's results in an assignment were made of."""
    with Store.to_read(run) as store:
        return {use.work for use in store.uses().get(student, {}).get(assignment, ())}


def _graded_again(
    course: Course, run: Path, student: Student, exercise: Exercise
) -> ExerciseResult:
    from grader.classes.workers import new_worker  # imports torch

    with Store.to_read(run) as store:
        options = store.options()
    if options is None:
        raise UsageError(f"{run} holds no run that was finished.")
    use(options.language)
    decided = (options.seed, options.isolation, options.language)
    with closing(new_worker(RunSettings(course.root, course.hash, *decided))) as worker:
        result = worker.result(replace(student, only=(exercise.assignment,)))
    return next(graded for graded in result.exercises if graded.id == exercise.id)


def _differences(before: ExerciseResult, now: ExerciseResult) -> Iterator[str]:
    """What came out differently, a sentence each."""
    if before.score != now.score:
        yield f"The score was {before.score}, and is {now.score}."
    ended = {check.id: check for check in before.checks}
    for check in now.checks:
        earlier = ended.pop(check.id, None)
        if earlier is None:
            yield f"{check.id} is new: {check.outcome}."
        elif earlier.outcome is not check.outcome:
            yield f"{check.id} was {earlier.outcome}, and is {check.outcome}."
    yield from (f"{id_} is gone." for id_ in ended)
    if before.misconceptions != now.misconceptions:
        names = [", ".join(graded.misconceptions) or "none" for graded in (before, now)]
        yield f"The known mistakes were {names[0]}, and are {names[1]}."
