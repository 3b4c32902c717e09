"""What known mistakes earn without their entries in the catalogue, and what nonsense earns.

    python tests/benchmarks/leave_one_out.py [--exercises 05] [--mistakes 3] [--jobs 2] [--list]

Scores the solution with each known mistake twice: as it is recognised with all entries, and with its
own left out; pairs of mistakes are not tried. Prints how much more is earned without it, as a share of
the exercise. Exits with 1 when nonsense earns more than it may, or a name takes more than `NEAR`.
"""

import argparse
import multiprocessing
import os
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from grader.authoring.free_points import MOST_FOR_NOTHING, free_points
from grader.authoring.mistake_proofs import results_with
from grader.core.records import Mistake, MistakeKind
from grader.course.course import load_course
from grader.judging.diagnosis import diagnose
from grader.judging.known_mistakes import LiveMistakes
from grader.judging.scoring import earned_share
from grader.judging.submission_grader import Scope, SubmissionGrader, with_live_mistakes

ROOT = Path(__file__).parents[2]
SEED = "1"
NEAR = 0.15
"""How far apart the two scores of a mistake should be at most."""

QUANTILES = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)


@dataclass(frozen=True, slots=True)
class Trial:
    """What a mistake earns of its exercise: recognised by its name, and with its entry left out."""

    mistake: Mistake
    named: float
    unnamed: float

    @property
    def gap(self) -> float:
        """How much more is earned without the entry."""
        return round(self.unnamed - self.named, 4)


@dataclass(frozen=True, slots=True)
class Trials:
    """An exercise's mistakes, and the most that nonsense earns of it where nothing can be guessed."""

    exercise: str
    trials: tuple[Trial, ...]
    nonsense: float


@cache
def _bench(root: Path) -> tuple[SubmissionGrader, LiveMistakes]:
    return with_live_mistakes(load_course(root), SEED)


def trials(root: Path, id_: str, most: int | None) -> Trials:
    """Score the mistakes of an exercise, at most so many of them, and nonsense."""
    grader, mistakes = _bench(root)
    exercise = grader.environment.course.exercises[id_]
    checks = grader.checks(Scope({id_: exercise}))
    known = mistakes.known(exercise, checks, 1)

    def shares() -> Iterator[Trial]:
        for left_out in known[:most]:
            others = [entry for entry in known if entry is not left_out]
            results = results_with(left_out, checks)
            earned = (
                float(earned_share(results, diagnose(left_out.traces, entries, lambda: ())))
                for entries in (known, others)
            )
            yield Trial(left_out.mistakes[0], *earned)

    free = free_points(mistakes, exercise, checks)
    return Trials(id_, tuple(shares()), 0.0 if free.guessable else free.most)


def tried(root: Path, ids: Sequence[str], most: int | None, jobs: int) -> Iterator[Trials]:
    """Try the mistakes of exercises in so many processes."""
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, spawn) as processes:
        yield from processes.map(trials, [root] * len(ids), ids, [most] * len(ids))


def row(name: str, gaps: Iterable[float], nonsense: float | None = None) -> str:
    """A line of a table: how many there are, how many are outside, and quantiles."""
    ordered = sorted(gaps)
    at = (round(share * (len(ordered) - 1)) for share in QUANTILES)
    quantiles = [f"{ordered[place]:+.2f}" for place in at] if ordered else ["-"] * len(QUANTILES)
    less, more = sum(gap < -NEAR for gap in ordered), sum(gap > NEAR for gap in ordered)
    free = "" if nonsense is None else f"{nonsense:.0%}"
    return f"| {name} | {len(ordered)} | {less} | {more} | {' | '.join(quantiles)} | {free} |"


HEAD = f"| | mistakes | less | more | {' | '.join(f'{q:.0%}' for q in QUANTILES)} | nonsense |"


def by_kind(found: Iterable[Trials]) -> Mapping[MistakeKind, list[float]]:
    """The gaps of all exercises, by the kind of the mistake."""
    gaps = defaultdict[MistakeKind, list[float]](list)
    for each in found:
        for trial in each.trials:
            gaps[trial.mistake.kind].append(trial.gap)
    return gaps


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--exercises", default="", help="those whose id begins so")
    parser.add_argument("--mistakes", type=int, help="at most so many of each exercise")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--list", action="store_true", help="those further apart, too")
    parser.add_argument("--course", type=Path, default=ROOT)
    given = parser.parse_args()
    root = given.course.resolve()
    ids = [id_ for id_ in load_course(root).exercises if id_.startswith(given.exercises)]
    print(HEAD, "|---|" + "---:|" * (HEAD.count("|") - 2), sep="\n")
    found = []
    for each in tried(root, ids, given.mistakes, given.jobs):
        found.append(each)
        print(row(each.exercise, [t.gap for t in each.trials], each.nonsense), flush=True)
    gaps = by_kind(found)
    for kind in MistakeKind:
        print(row(f"every {kind}", gaps[kind]))
    for trial in (t for each in found for t in each.trials if given.list):
        if abs(trial.gap) > NEAR:
            print(f"{trial.mistake.id}: {trial.named:.2f} named, {trial.unnamed:.2f} without")
    is_free = any(each.nonsense > MOST_FOR_NOTHING for each in found)
    is_dear = max(gaps[MistakeKind.SLIP] + gaps[MistakeKind.STEP], default=0) > NEAR
    return 1 if is_free or is_dear else 0


if __name__ == "__main__":
    sys.exit(main())
