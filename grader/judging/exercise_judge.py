"""Judges a submission's exercises, each beside the mistakes that may have come along into it.

`carried` judges an exercise again that *calls* earlier ones which are wrong; here is what *repeats* them.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from functools import partial

from grader.core.records import CheckResult, Finding, Outcome
from grader.course.builds_on import definitions_of
from grader.course.course import Exercise
from grader.judging.known_mistakes import KnownMistakes, RecordedMistakes, findings
from grader.judging.run import Check, CheckRecord, CheckRun
from grader.judging.scoring import earned_share
from grader.sessions.answers import Answers
from grader.testing.earlier import Carried, is_right, judged
from grader.testing.lookup import StandIn

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
    if not wrong or is_right(first.checks) or not is_written:
        return first
    answers = _answers(run, exercise, wrong)
    if answers is None:
        used = tuple(_used_by(run, exercise, first, wrong))
        # Its values are those of the wrong parts, too: a name for them may be false.
        return replace(first, findings=() if used else first.findings, to_judge_with=used)
    with closing(answers):
        again = _again(run, exercise, first, answers, diagnose)
    # What waits for a part that is right beside right ones waited for one of the wrong.
    was_waiting = any(check.waits_for in [part.id for part in parts] for check in first.checks)
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


@dataclass(frozen=True, slots=True)
class ExerciseJudge:
    """Judges exercises of one submission in their order.

    An exercise may grow from an earlier one, and a mistake come along. Where it is not right, it is
    judged once more, beside the solution of the earlier one with the mistakes that were recognised
    there. A mistake without a name stands for nothing.

    Args:
        run: runs the checks.
        mistakes: the known ones.
        builds_on: by exercise, the ids of the earlier ones that its solution calls.
        checks_of: collects the checks of an exercise that is not in `run` yet.
    """

    run: CheckRun
    mistakes: KnownMistakes
    builds_on: Mapping[str, tuple[str, ...]]
    checks_of: Callable[[Exercise], tuple[Check, ...]]

    def judge(self, exercise: Exercise) -> Judgement:
        """Run an exercise's checks, and note how it stands for later ones."""
        submission = self.run.submission
        submission.compared.clear()
        ended, carried = self.run.exercise(exercise.id), None
        if not is_right(ended):
            with ExitStack() as stack:
                carried = self._stand_in(stack, sorted(submission.compared))
                if carried is not None:
                    ended = self.run.exercise(exercise.id)
            submission.stand_ins.clear()
        # A name would be of code that takes one value for another.
        mistakes = RecordedMistakes({}) if submission.reordered(exercise) else self.mistakes
        diagnose = partial(findings, mistakes, self.run.of(exercise.id))
        first = Judgement(ended, self.run.records, diagnose(self.run.records))
        parts = self.builds_on.get(exercise.id, ())
        made = with_right_parts(self.run, exercise, first, parts, diagnose)
        if not is_right(made.checks):
            carried = _carried(exercise, made.findings)
        standing = judged(made.checks, made.findings)
        submission.judged[exercise.id] = replace(standing, comes_along=carried)
        return made

    def _stand_in(self, stack: ExitStack, compared: Sequence[str]) -> Carried | None:
        """Let the mistakes of earlier exercises stand for them; return the first ones, if any."""
        submission, first = self.run.submission, None
        sources = {id_: self._source(id_) for id_ in compared}
        for id_, carried in sources.items():
            if carried is None:
                continue
            origin = self.run.environment.course.exercises[carried.exercise]
            made = self.mistakes.stand_in(origin, carried.mistakes, submission)
            if (handle := stack.enter_context(made)) is not None:
                submission.stand_ins[id_] = StandIn(origin, handle)
                first = first or carried
        return first

    def _source(self, id_: str) -> Carried | None:
        """The mistakes that may come along from an earlier exercise; it is judged where it was not."""
        submission, environment = self.run.submission, self.run.environment
        exercise = environment.course.exercises[id_]
        handed_in, recorded = (
            submission.submission.readings,
            environment.reference.submission.readings,
        )
        if id_ not in submission.judged:
            if exercise.assignment not in handed_in or exercise.assignment not in recorded:
                return None
            self.run.add(self.checks_of(exercise))
            self.judge(exercise)
        return submission.judged[id_].comes_along


def _carried(exercise: Exercise, found: Sequence[Finding]) -> Carried | None:
    """The mistakes that explain all that is wrong in an exercise, if some do.

    Of several that look the same to all checks, the first.
    """
    if not found or any(finding.is_partial for finding in found):
        return None
    return Carried(exercise.id, tuple(finding.candidates[0].id for finding in found))
