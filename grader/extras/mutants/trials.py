"""Tries the checks on mechanical wrong answers: each is caught, or does what the solution does."""

import itertools
import math
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cache, partial
from pathlib import Path

from grader.core.errors import CourseError
from grader.core.processes import spread
from grader.course.course import SOLUTIONS, Course, Exercise, load_course
from grader.course.toml_table import Text, TomlFile
from grader.extras.mutants.edits import Key, Mutant, mutants
from grader.extras.mutants.replay import (
    Exchange,
    HeardSession,
    allowed,
    are_same,
    by_check,
    differ_elsewhere,
)
from grader.judging.diagnosis import Known, diagnose
from grader.judging.known_mistakes import LiveMistakes, traces
from grader.judging.run import Check, CheckRecord, outcome_of
from grader.judging.submission_grader import Scope, SubmissionGrader, with_live_mistakes
from grader.sandbox.module_state import warm_up
from grader.submissions.submission import Submission

SEEDS = ("validate", "second", "third")
"""Seeds of the hidden checks' inputs; the first decides what is caught."""


class Fate(StrEnum):
    """What came of a mutant."""

    CAUGHT = "caught"
    REMARKED = "remarked"
    EQUIVALENT = "equivalent"
    SURVIVED = "survived"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class Trial:
    """How the checks went with a mutant.

    Args:
        fate: REMARKED where nothing but a remark says it; BROKEN where a check breaks.
        named: whether a known mistake was recognised in one that was caught.
        check: the first check that said it, or that broke.
    """

    mutant: Mutant
    fate: Fate
    named: bool = False
    check: str = ""

    @property
    def is_fault(self) -> bool:
        """Whether the checks have to do better."""
        return self.fate in (Fate.SURVIVED, Fate.BROKEN)


@dataclass(frozen=True, slots=True)
class Tried:
    """All mutants of an exercise, and the time that they took."""

    exercise: Exercise
    trials: tuple[Trial, ...]
    seconds: float

    @property
    def counts(self) -> Counter[str]:
        """How many mutants there are of each fate, and how many are named."""
        found = Counter(caught=0, named=sum(trial.named for trial in self.trials))
        found.update(trial.fate.value for trial in self.trials)
        return found

    @property
    def faults(self) -> list[Trial]:
        """Those with which the checks have to do better."""
        return [trial for trial in self.trials if trial.is_fault]


def mutate(
    course: Course,
    targets: tuple[str, ...],
    jobs: int,
    show: Callable[[int], None] = lambda mutants: None,
) -> Iterator[Tried]:
    """Try the mutants of each exercise; what is written down as equivalent is that.

    Args:
        targets: assignments or exercises; none for all.
        show: is given the number of mutants that were tried.

    Raises:
        UsageError: when a target names nothing.
        CourseError: when a file of the course is wrong.
    """
    ids = list(course.select(targets))
    known = {key for _place, key in written_down(course)}
    for tried in _tried(course.root, ids, jobs, show):
        trials = (
            replace(trial, fate=Fate.EQUIVALENT)
            if trial.fate is Fate.SURVIVED and trial.mutant.key in known
            else trial
            for trial in tried.trials
        )
        yield replace(tried, trials=tuple(trials))


@dataclass(frozen=True, slots=True)
class Equivalent:
    """A mutant that does what the solution does, as its author wrote it down."""

    reason: Text
    exercise: Text
    old: Text
    new: Text


def written_down(course: Course) -> list[tuple[str, Key]]:
    """The mutants that `equivalent.toml` of assignments lists, each after its file and key path.

    Raises:
        CourseError: with every problem found in such a file, each with its key path.
    """
    written: list[tuple[str, Key]] = []
    for assignment in course.assignments:
        path = course.paths(assignment).equivalent
        if not path.is_file():
            continue
        file = TomlFile(path, f"{SOLUTIONS}/{assignment.id}/")
        for number, entry in enumerate(file.read_tables("equivalent", Equivalent), 1):
            key, exercise = f"equivalent[{number}]", f"{assignment.id}/{entry.exercise}"
            written.append((f"{file.name}: {key}", (exercise, entry.old, entry.new)))
            if exercise not in course.exercises:
                file.note(key, f"there is no exercise {exercise}")
        file.finish()
    return written


def outdated(course: Course, all_tried: Sequence[Tried]) -> Iterator[str]:
    """A sentence for each mutant that is written down, and does not survive."""
    trials = {trial.mutant.key: trial for tried in all_tried for trial in tried.trials}
    chosen = {tried.exercise.id for tried in all_tried}
    for place, key in written_down(course):
        trial = trials.get(key)
        if key[0] in chosen and trial is None:
            yield f"{place}: there is no such mutant any more; take it out"
        elif trial is not None and trial.check:
            yield f"{place}: {trial.check} tells it from the solution; take it out"


def _tried(
    root: Path, ids: Sequence[str], jobs: int, show: Callable[[int], None]
) -> Iterator[Tried]:
    if jobs == 1 or len(ids) == 1:
        numbers = itertools.count(1)
        yield from map(_Trials(load_course(root), lambda: show(next(numbers))).all_of, ids)
        return
    mutants = 0
    for tried in spread(partial(_try, root), [(id_,) for id_ in ids], jobs, few=1):
        mutants += len(tried.trials)
        show(mutants)
        yield tried


def _try(root: Path, exercise: str) -> Tried:
    """Try all mutants of an exercise, in a process that keeps what it tries them with."""
    return _trials(root).all_of(exercise)


@cache
def _trials(root: Path) -> "_Trials":
    return _Trials(load_course(root), lambda: None)


@dataclass(slots=True)
class _Trials:
    """What mutants are tried with: the checks, and the known mistakes.

    Args:
        course: the course.
        one_more: is called after each mutant.
    """

    course: Course
    one_more: Callable[[], None]
    grader: SubmissionGrader = field(init=False)
    mistakes: LiveMistakes = field(init=False)

    def __post_init__(self) -> None:
        """Read the solutions.

        What torch imports at its first backward is imported now: a mutant that is stopped meanwhile
        would leave half of it, and what comes after would fail.
        """
        warm_up()
        self.grader, self.mistakes = with_live_mistakes(self.course, SEEDS[0])

    def all_of(self, id_: str) -> Tried:
        """Try all mutants of an exercise."""
        started, exercise = time.monotonic(), self.course.exercises[id_]
        checks = self.grader.checks(Scope({id_: exercise}))
        prepared, trials = _Exercise(self.mistakes, exercise, checks), []
        for mutant in mutants(self.course, exercise):
            trials.append(prepared.trial(mutant))
            self.one_more()
        return Tried(exercise, tuple(trials), time.monotonic() - started)


@dataclass(slots=True)
class _Exercise:
    """An exercise whose mutants are tried: how its checks go with the solution.

    Args:
        remarks: the remarks that are made on the solution itself.
        right: by seed, what the checks ask of the solution, and what it replies.
        most: the seconds that a request may take.
    """

    mistakes: LiveMistakes
    exercise: Exercise
    checks: tuple[Check, ...]
    known: list[Known] = field(init=False)
    remarks: set[str] = field(default_factory=set)
    right: dict[str, list[Exchange]] = field(default_factory=dict)
    most: float = math.inf

    def __post_init__(self) -> None:
        """Run the checks on the solution, and on its known mistakes.

        Raises:
            CourseError: when the solution does not pass one.
        """
        for seed in SEEDS:
            session = HeardSession(self.mistakes.solutions)
            told = [r.check for r in self._run(session, seed) if r.raised is not None]
            self.right[seed] = session.exchanges
            # The least of the seeds: what torch imports meanwhile is no part of it.
            self.most = min(self.most, allowed(max(session.took)))
            self.remarks |= {check.id for check in told}
            if failed := [check.id for check in told if check.weight]:
                raise CourseError(f"{failed[0]}: the solution does not pass it")
        self.mistakes.environment.seed = SEEDS[0]
        self.known = self.mistakes.known(self.exercise, self.checks, 1)

    def trial(self, mutant: Mutant) -> Trial:
        """Run the checks on a mutant."""
        submission = self.mistakes.with_text(self.exercise, mutant.text)
        session = HeardSession(submission, most=self.most)
        records = self._run(session, SEEDS[0])
        told = [r for r in records if r.raised is not None and r.check.id not in self.remarks]
        failed = [record for record in told if record.check.weight]
        for record in failed:
            is_endless = isinstance(record.raised, TimeoutError)
            if outcome_of(record.check, record.raised).is_undecided and not is_endless:
                return Trial(mutant, Fate.BROKEN, check=record.check.id)
        if failed:
            found = diagnose(traces(records), self.known, lambda: ())
            return Trial(mutant, Fate.CAUGHT, bool(found), failed[0].check.id)
        if told:
            return Trial(mutant, Fate.REMARKED, check=told[0].check.id)
        is_same = are_same(session.exchanges, self.right[SEEDS[0]]) and self._is_same(submission)
        return Trial(mutant, Fate.EQUIVALENT if is_same else Fate.SURVIVED)

    def _is_same(self, submission: Submission) -> bool:
        """Whether a mutant does what the solution does, with other seeds and other inputs."""
        for seed in SEEDS[1:]:
            session = HeardSession(submission, most=self.most)
            self._run(session, seed)
            if not are_same(session.exchanges, self.right[seed]):
                return False
        solution = HeardSession(self.mistakes.solutions, keeps=False)
        mutant = HeardSession(submission, keeps=False)
        said = by_check(self.right[SEEDS[0]])
        return not any(differ_elsewhere(solution, mutant, exchanges) for exchanges in said)

    def _run(self, session: HeardSession, seed: str) -> list[CheckRecord]:
        environment = self.mistakes.environment
        environment.seed = seed
        records = self.mistakes.run(session.submission, self.exercise, self.checks, session)
        environment.overdue.clear()
        return records
