"""Judges an exercise again that builds on earlier ones which are wrong, with right ones in their place."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace

from grader.core.records import CheckResult, Finding, Outcome
from grader.course.builds_on import definitions_of
from grader.course.course import Exercise
from grader.judging.run import CheckRecord, CheckRun
from grader.judging.scoring import earned_share
from grader.sessions.answers import Answers

NOT_WRITTEN = (Outcome.NOT_ATTEMPTED, Outcome.MISSING)

Diagnose = Callable[[Mapping[str, CheckRecord]], tuple[Finding, ...]]
"""The mistakes recognised by how checks went."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """How an exercise was judged.

    Args:
        records: by check, how those that ran went.
        judged_with: the names of the exercises that were answered by the solution.
        to_judge_with: those that are where it is graded.
    """

    checks: tuple[CheckResult, ...]
    records: Mapping[str, CheckRecord]
    findings: tuple[Finding, ...]
    judged_with: tuple[str, ...] = ()
    to_judge_with: tuple[str, ...] = ()

    @property
    def is_right(self) -> bool:
        """Whether all checks that count have passed."""
        return all(check.outcome is Outcome.PASSED for check in self.checks if check.weight)


def with_right_parts(
    run: CheckRun,
    exercise: Exercise,
    first: Judgement,
    builds_on: Sequence[str],
    diagnose: Diagnose,
) -> Judgement:
    """The better of two judgements: as it is, and with right parts in place of those that are wrong.

    Only parts are answered that are judged, and were attempted.

    Args:
        run: of the submission.
        exercise: what is judged.
        first: the judgement as it is.
        builds_on: the ids of the earlier exercises that its solution calls.
        diagnose: recognises mistakes.
    """
    exercises, standing = run.environment.course.exercises, run.submission.judged
    parts = [exercises[id_] for id_ in builds_on if id_ in standing]
    wrong = [
        part for part in parts if standing[part.id].is_attempted and not standing[part.id].is_right
    ]
    is_written = any(check.outcome not in NOT_WRITTEN for check in first.checks)
    if not wrong or first.is_right or not is_written:
        return first
    answers = _answers(run, exercise, wrong)
    if answers is None:
        return replace(first, to_judge_with=tuple(_used_by(run, exercise, first, wrong)))
    with closing(answers):
        again = _again(run, exercise, first, answers, diagnose)
    was_waiting = any(check.waits_for in [part.id for part in wrong] for check in first.checks)
    is_better = earned_share(again.checks, again.findings) > earned_share(
        first.checks, first.findings
    )
    return again if is_better or was_waiting else first


def _answers(run: CheckRun, exercise: Exercise, wrong: Sequence[Exercise]) -> Answers | None:
    """What answers for parts that are wrong; None where there is no solution, or no process for it."""
    course, reference = run.environment.course, run.environment.reference
    if not course.has_solutions:
        return None
    solutions = run.submission.session.of(reference.submission)
    if solutions is None:
        return None
    files = {part.name: reference.locate(part).key for part in wrong}
    texts = {part.name: reference.submission.sources[files[part.name]].text for part in wrong}
    keys = {run.submission.locate(each).key for each in (exercise, *wrong)}
    taken = {name: definitions_of(text).parameters[name] for name, text in texts.items()}
    return Answers(solutions, files, dict.fromkeys(keys, taken), course.limits.request_seconds)


def _again(
    run: CheckRun, exercise: Exercise, first: Judgement, answers: Answers, diagnose: Diagnose
) -> Judgement:
    """The same checks with answers for its parts; what passed without them has passed."""
    handle = run.submission.apart(answers)
    own = CheckRun(run.environment, handle, run.of(exercise.id))
    with closing(handle.session), closing(own) as again:
        checks = again.exercise(exercise.id)
    merged, records = [], dict(again.records)
    for before, now in zip(first.checks, checks, strict=True):
        has_passed = before.outcome is Outcome.PASSED
        merged.append(before if has_passed else now)
        if has_passed:
            records[before.id] = first.records[before.id]
    names = tuple(name for name in answers.files if name in answers.asked)
    return Judgement(tuple(merged), records, diagnose(records), judged_with=names)


def _used_by(
    run: CheckRun, exercise: Exercise, first: Judgement, wrong: Sequence[Exercise]
) -> list[str]:
    """The names of these that the student's own code uses, or that it waits for."""
    awaited = {check.waits_for for check in first.checks}
    return [p.name for p in wrong if p.id in awaited or run.submission.uses(exercise, p.name)]


def imported_uses(run: CheckRun, exercise: Exercise) -> tuple[str, ...]:
    """The ids of exercises of earlier assignments that the student's code for this one uses."""
    course = run.environment.course
    imported = [course.by_id[id_] for id_ in course.by_id[exercise.assignment].imports]
    known = [e for a in imported if not a.lends for e in a.exercises]
    return tuple(e.id for e in known if run.submission.uses(exercise, e.name))
