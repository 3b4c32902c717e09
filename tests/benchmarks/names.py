"""How often a mistake that nobody wrote down is caught, named, described, and named falsely.

    python tests/benchmarks/names.py [--mutants 500] [--pairs 100] [--seed 1] [--list]

Takes random mechanical mutants of the solutions, and random pairs of edits of one exercise (two
mutants, or a mutant and a known mistake), runs all checks on each, and prints a table of all and
one with a row for each assignment. A name is false where the solution with the named mistake in it
behaves otherwise than the mutant on inputs that the naming has not seen, in the checks that the
name explains. What does all that the solution does, or is told by a remark alone, is left out.
Exits with 1 when a name is false.
"""

import argparse
import multiprocessing
import os
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import cache
from itertools import combinations
from pathlib import Path

from wrong_answers import Sample, samples

from grader.authoring.mistake_proofs import LEAST_SEPARATION
from grader.core.records import Finding, Outcome, Visibility
from grader.course.course import Course, Exercise, load_course
from grader.course.misconceptions import Misconception
from grader.extras.mutants.replay import Exchange, HeardSession, are_same, differ_elsewhere
from grader.extras.mutants.trials import SEEDS
from grader.judging.diagnosis import (
    ATOL,
    Fingerprint,
    Traces,
    distance,
    fingerprint,
    trace_distance,
)
from grader.judging.known_mistakes import LiveMistakes, findings, traces
from grader.judging.run import Check, CheckRecord, outcome_of
from grader.judging.submission_grader import Scope, SubmissionGrader, with_live_mistakes
from grader.sandbox.wire import Frame, Unpacker
from grader.submissions.submission import Submission
from grader.testing.judge import Mismatch
from grader.testing.lookup import SubmissionHandle
from grader.testing.student import StudentOutcome

ROOT = Path(__file__).parents[2]
FRESH = ("fresh", "fresher")
"""Seeds of inputs that no naming has seen."""

MOST_AT_ONCE = 3
"""How many of the named mistakes are made at once, to see whether they behave like the mutant."""

ONLY_NUMBERS = re.compile(
    r"expected (?:the shape )?(?:True|False|nan|-?inf|[-\d(\['].*), "
    r"received (?:True|False|nan|-?inf|[-\d(\['].*|a single number)$"
)
"""A difference in values or sizes; a list or another dtype where a tensor should be is told in words."""


@dataclass(frozen=True, slots=True)
class Trial:
    """What students would read of a wrong answer.

    Args:
        sample: the wrong answer.
        ended: "caught", "missed", or why it is left out.
        named: the ids of the mistakes that are named; candidates in one.
        false: those of them that are false.
        words: what feedback says in words about the values, by the title of the check.
        numbers: the first check that fails and what it says besides.
    """

    sample: Sample
    ended: str
    named: tuple[str, ...] = ()
    false: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    numbers: str = ""


# Trials.


@dataclass(slots=True)
class Trials:
    """What wrong answers are tried with; known mistakes are run once per exercise."""

    course: Course
    mistakes: LiveMistakes = field(init=False)
    grader: SubmissionGrader = field(init=False)

    def __post_init__(self) -> None:
        """Read the solutions."""
        self.grader, self.mistakes = with_live_mistakes(self.course, SEEDS[0])

    def of(self, sample: Sample) -> Trial:
        """Run all checks on a wrong answer, and see what its student would read."""
        exercise = self.course.exercises[sample.exercise]
        checks = self.grader.checks(Scope({exercise.id: exercise}))
        submission = self.mistakes.with_text(exercise, sample.text)
        records = self._run(submission, exercise, checks)
        failed = [r for r in records if r.raised is not None and r.check.weight]
        if any(outcome_of(r.check, r.raised) is Outcome.ERROR for r in failed):
            return Trial(sample, "broken")
        if not failed:
            return Trial(sample, self._uncaught(submission, exercise, checks, records))
        found = findings(self.mistakes, checks, {r.check.id: r for r in records})
        false = [f for f in found if not self._is_true(f, found, submission, exercise, records)]
        words = tuple(w for r in failed for w in _words(r))
        numbers = f"{failed[0].check.title} {failed[0].raised}"
        return Trial(sample, "caught", _ids(found), _ids(false), words, numbers)

    def _run(
        self, submission: Submission, exercise: Exercise, checks: Sequence[Check]
    ) -> list[CheckRecord]:
        self.mistakes.environment.seed = SEEDS[0]
        return self.mistakes.run(submission, exercise, tuple(checks), HeardSession(submission))

    def _uncaught(
        self,
        submission: Submission,
        exercise: Exercise,
        checks: Sequence[Check],
        records: Sequence[CheckRecord],
    ) -> str:
        """What to call an answer that passes: a remark may tell it, or nothing that is asked for."""
        solution = self.mistakes.solutions
        if any(record.raised is not None for record in records):
            return "remarked"
        for seed in (*SEEDS, *FRESH):
            right, other = (self._said(s, exercise, checks, seed) for s in (solution, submission))
            if not all(are_same(right[id_], other[id_]) for id_ in right):
                return "missed"
        first, second = (HeardSession(s, keeps=False) for s in (solution, submission))
        is_other = any(differ_elsewhere(first, second, said) for said in right.values())
        return "missed" if is_other else "equivalent"

    def _said(
        self, submission: Submission, exercise: Exercise, checks: Sequence[Check], seed: str
    ) -> dict[str, list[Exchange]]:
        """What checks ask of a submission and what it replies, with all inputs drawn from a seed."""
        environment = self.mistakes.environment
        environment.seed = seed
        session = HeardSession(submission)
        handle = SubmissionHandle(submission, session, self.course.limits)
        handle.declared[exercise.id] = environment.declared(exercise)
        said = {}
        for check in checks:
            fixtures = environment.fixtures(handle, exercise, check.id, Visibility.HIDDEN)
            session.exchanges = []
            check.run(fixtures, environment)
            said[check.id] = session.exchanges
        environment.overdue.clear()
        return said

    def _is_true(
        self,
        finding: Finding,
        found: Sequence[Finding],
        submission: Submission,
        exercise: Exercise,
        records: Sequence[CheckRecord],
    ) -> bool:
        """Whether the mutant goes on behaving like a candidate, alone or with others that are named.

        Args:
            finding: what is named.
            found: all that is named.
            submission: the wrong answer.
            exercise: which it is an answer to.
            records: how its checks went.
        """
        ids = {mistake.id for other in found for mistake in other.candidates}
        named = [m for m in self.mistakes.of(exercise) if m.id in ids]
        candidates = {mistake.id for mistake in finding.candidates}
        failing = {id_: trace for id_, trace in traces(records).items() if trace.failed}
        checks = [record.check for record in records if record.check.id in failing]
        for size in range(1, min(len(named), MOST_AT_ONCE) + 1):
            for group in combinations(named, size):
                for one in (m for m in group if m.id in candidates):
                    others = tuple(m for m in group if m is not one)
                    part = self._explained(group, failing, exercise, records)
                    part -= self._explained(others, failing, exercise, records)
                    own = [check for check in checks if check.id in part]
                    if own and self._is_like(submission, group, exercise, own):
                        return True
        return False

    def _explained(
        self,
        group: tuple[Misconception, ...],
        failing: Traces,
        exercise: Exercise,
        records: Sequence[CheckRecord],
    ) -> set[str]:
        """The failing checks that go in the same way with these mistakes."""
        made = self.mistakes.with_mistakes(exercise, *group)
        if made is None or not group:
            return set()
        own = traces(self._run(made, exercise, [record.check for record in records]))
        return {i for i, t in failing.items() if i in own and trace_distance(t, own[i]) <= ATOL}

    def _is_like(
        self,
        submission: Submission,
        group: tuple[Misconception, ...],
        exercise: Exercise,
        checks: Sequence[Check],
    ) -> bool:
        """Whether a submission replies as the solution with these mistakes, on fresh inputs."""
        made = self.mistakes.with_mistakes(exercise, *group)
        assert made is not None
        for seed in FRESH:
            one, other = (self._said(s, exercise, checks, seed) for s in (made, submission))
            if not all(_are_alike(one[check.id], other[check.id]) for check in checks):
                return False
        return True


def _are_alike(one: Sequence[Exchange], other: Sequence[Exchange]) -> bool:
    """Whether calls gave the same values and gradients; where nothing was called, all is compared.

    What is dropped by chance is left out.
    """
    said, also = ([e for e in exchanges if _is_telling(e)] for exchanges in (one, other))
    if not said or not also:
        return are_same(one, other)
    pairs = zip(said, also, strict=False)
    return len(said) == len(also) and all(
        distance(_values(reply), _values(another)) <= LEAST_SEPARATION
        for (_, reply), (_, another) in pairs
    )


def _is_telling(exchange: Exchange) -> bool:
    """Whether values came back from a call, or a failure."""
    request, reply = exchange
    value = reply.header.get("value")
    is_instance = isinstance(value, dict) and "reference" in value
    return request.header["verb"] == "call" and not (request.header["training"] or is_instance)


def _values(reply: Frame) -> Fingerprint:
    failure, unpacker = reply.header.get("failure", {}), Unpacker(reply.payload)
    nodes = [reply.header[key] for key in ("value", "gradients") if key in reply.header]
    return fingerprint([failure.get("type"), *map(unpacker.unpack, nodes)])


def _ids(found: Sequence[Finding]) -> tuple[str, ...]:
    return tuple(" or ".join(mistake.id for mistake in f.candidates) for f in found)


def _words(record: CheckRecord) -> Iterator[str]:
    """What is said about a failure in words, besides what was expected and what was received."""
    error = record.raised
    if isinstance(error, StudentOutcome):
        yield f"{error.failure.kind} {error.failure.type}: {error.failure.message}"
    elif isinstance(error, Mismatch):
        yield from error.difference.hints
        if not ONLY_NUMBERS.search(error.difference.summary):
            yield error.difference.summary


@cache
def _trials(root: Path) -> Trials:
    return Trials(load_course(root))


def _try(root: Path, of_exercise: list[Sample]) -> list[Trial]:
    """Try samples of one exercise, in a process that keeps what it tries them with."""
    return [_trials(root).of(sample) for sample in of_exercise]


def tried(root: Path, all_samples: Sequence[Sample], jobs: int) -> list[Trial]:
    """Try samples in this many processes."""
    by_exercise: dict[str, list[Sample]] = {}
    for sample in all_samples:
        by_exercise.setdefault(sample.exercise, []).append(sample)
    groups = sorted(by_exercise.values(), key=len, reverse=True)
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, spawn) as processes:
        return [t for trials in processes.map(_try, [root] * len(groups), groups) for t in trials]


# The table.


def print_table(rows: Mapping[str, Sequence[Trial]]) -> None:
    """Print how many were caught, named, described and named falsely."""
    print("| | tried | left out | caught | named | else in words | neither | named falsely |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    for name, trials in rows.items():
        caught = [t for t in trials if t.ended == "caught"]
        missed = sum(t.ended in ("missed", "broken") for t in trials)
        count = Counter("named" if t.named else "words" if t.words else "neither" for t in caught)
        false = sum(bool(t.false) for t in caught)
        tried_ = len(caught) + missed
        shares = [len(caught), count["named"], count["words"], count["neither"], false]
        told = " | ".join(f"{n} ({n / max(1, tried_):.1%})" for n in shares)
        print(f"| {name} | {tried_} | {len(trials) - tried_} | {told} |")


def by_assignment(trials: Sequence[Trial]) -> dict[str, list[Trial]]:
    """The trials of each assignment, in order."""
    grouped: dict[str, list[Trial]] = {}
    for trial in sorted(trials, key=lambda trial: trial.sample.exercise):
        grouped.setdefault(trial.sample.exercise.partition("/")[0], []).append(trial)
    return grouped


def print_list(trials: Sequence[Trial]) -> None:
    """Print each false name, and what is neither caught nor named nor described."""
    for trial in trials:
        is_silent = trial.ended == "caught" and not trial.named and not trial.words
        if trial.false or is_silent or trial.ended in ("missed", "broken"):
            what = f"FALSE {trial.false} of {trial.named}" if trial.false else trial.ended
            print(f"\n{trial.sample.exercise}: {what}: {trial.numbers}")
            print("\n".join(f"    {edit}" for edit in trial.sample.edits))


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--mutants", type=int, default=500)
    parser.add_argument("--pairs", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--course", type=Path, default=ROOT)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    given = parser.parse_args()
    started = time.monotonic()
    root = given.course.resolve()
    single, both = samples(load_course(root), given.mutants, given.pairs, given.seed)
    trials = tried(root, [*single, *both], given.jobs)
    is_pair = {id(t): len(t.sample.edits) > 1 for t in trials}
    rows = {
        "mutants": [t for t in trials if not is_pair[id(t)]],
        "pairs": [t for t in trials if is_pair[id(t)]],
        "all": trials,
    }
    print_table(rows)
    print()
    print_table(by_assignment(trials))
    if given.list:
        print_list(trials)
    print(f"\n{time.monotonic() - started:.0f} seconds.", file=sys.stderr)
    return 1 if any(trial.false for trial in trials) else 0


if __name__ == "__main__":
    sys.exit(main())
