"""Judges a submission's exercises, each beside the mistakes that may have come along into it.

`carried` judges an exercise again that *calls* earlier ones which are wrong; here is what *repeats* them.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial

from grader.core.records import Finding
from grader.course.course import Exercise
from grader.judging.carried import Judgement, with_right_parts
from grader.judging.known_mistakes import KnownMistakes, findings
from grader.judging.run import Check, CheckRun
from grader.testing.earlier import Carried, judged
from grader.testing.lookup import StandIn


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
        if not judged(ended).is_right:
            with ExitStack() as stack:
                carried = self._stand_in(stack, sorted(submission.compared))
                if carried is not None:
                    ended = self.run.exercise(exercise.id)
            submission.stand_ins.clear()
        diagnose = partial(findings, self.mistakes, self.run.of(exercise.id))
        first = Judgement(ended, self.run.records, diagnose(self.run.records))
        parts = self.builds_on.get(exercise.id, ())
        made = with_right_parts(self.run, exercise, first, parts, diagnose)
        if not made.is_right:
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
