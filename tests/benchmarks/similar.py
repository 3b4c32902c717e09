"""Where `grader similar` lists planted copies among many who wrote by themselves, and how fast it is.

    python tests/benchmarks/similar.py                        # on two classes that it was developed with
    python tests/benchmarks/similar.py --held-out             # on the five that nobody develops with
    python tests/benchmarks/similar.py --seed 7 --seed 8 --pairs
    python tests/benchmarks/similar.py --size 1000            # how long a class of so many takes

A class has 160 students, of whom six copied, each in another way. What they do wrong is graded once,
in the solution's words, and stands for all who do the same in theirs.
"""

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from grader.classes.records import Records, open_records  # noqa: E402
from grader.core.records import AssignmentResult, Result  # noqa: E402
from grader.course.course import Course, load_course  # noqa: E402
from grader.extras.similarity.command import gather  # noqa: E402
from grader.extras.similarity.pairs import find_pairs  # noqa: E402
from grader.judging.results import record_texts  # noqa: E402
from tests.support.copied_class import (  # noqa: E402
    ASSIGNMENTS,
    KINDS,
    CopiedClass,
    behaviours,
    copied_class,
    plain_text,
)

HELD_OUT = (7351, 1894, 4402, 9067, 2718)
"""Seeds of classes that are looked at when a change is finished, and never while it is made."""
DEVELOPED_WITH = (1, 2)
HONEST, COPIES = 154, len(KINDS)
FIRST = 12
"""Among so many pairs a planted one counts as listed."""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, action="append", help="The class of this seed.")
    parser.add_argument("--held-out", action="store_true", help="The five that nobody looks at.")
    parser.add_argument("--pairs", action="store_true", help="Print the pairs and what they share.")
    parser.add_argument("--size", type=int, default=0, help="Measure the time for so many instead.")
    parser.add_argument("--graded", type=Path, help="Keep what was graded here.")
    given = parser.parse_args()
    course = load_course(ROOT)
    seeds = HELD_OUT if given.held_out else given.seed or DEVELOPED_WITH
    with tempfile.TemporaryDirectory() as scratch:
        if given.size:
            return measure(course, Path(scratch), given.size, seeds[0])
        outcomes = graded(course, given.graded or Path(scratch, "graded"))
        for seed in seeds:
            made = copied_class(course, Path(scratch, str(seed)), HONEST, COPIES, seed)
            listed(course, made, outcomes, seed, is_told=given.pairs)
    return None


Outcomes = dict[tuple[str, str], AssignmentResult]
"""How each assignment ends with each behaviour."""


def graded(course: Course, place: Path) -> Outcomes:
    """Grade every behaviour of every assignment once; a folder that has it is read."""
    everything = [[(id_, key) for key in behaviours(course, id_)] for id_ in ASSIGNMENTS]
    for number, row in enumerate(zip_longest(*everything)):
        for id_, key in filter(None, row):
            folder = place / "work" / f"behaviour{number:03}" / id_
            folder.mkdir(parents=True, exist_ok=True)
            text = plain_text(course, id_, key)
            (folder / f"{course.by_id[id_].module}.py").write_text(text, "utf-8")
    only = [word for id_ in ASSIGNMENTS for word in ("--assignment", id_)]
    command = [sys.executable, "-m", "grader.cli", "grade", str(place / "work")]
    command += ["--out", str(place / "out"), "--quiet", "--no-settings", *only]
    subprocess.run(command, cwd=ROOT, check=True)
    outcomes: Outcomes = {}
    for number, result in enumerate(open_records(place / "out").results()):
        parts = {part.id: part for part in result.assignments}
        for keys in everything:
            if number < len(keys):
                outcomes[keys[number]] = parts[keys[number][0]]
    return outcomes


@dataclass(frozen=True, slots=True)
class Row:
    """Where a planted pair stands, counted from 1; None where it is not listed."""

    kind: str
    rank: int | None


def listed(
    course: Course, made: CopiedClass, outcomes: Outcomes, seed: int, *, is_told: bool
) -> None:
    """Print where the planted pairs of a class stand."""
    texts = {}
    for name, keys in made.behaviours.items():
        parts = tuple(outcomes[id_, key] for id_, key in keys.items())
        result = Result(name, None, 1, False, True, (), "1", {}, course.hash, "", parts)
        texts[name] = partial(bytes, record_texts(result)[0])
    start = time.process_time()
    works, _left_out = gather(course, made.folder, Records(made.folder, texts))
    telling, near = find_pairs(works)
    pairs = (*telling, *near)
    seconds = time.process_time() - start
    ranks = {frozenset((pair.one, pair.other)): n for n, pair in enumerate(pairs, 1)}
    rows = [Row(kind, ranks.get(two)) for two, kind in made.copied.items()]
    inside = [row.rank for row in rows if row.rank is not None and row.rank <= FIRST]
    above = max(inside, default=0) - len(inside)
    where = ", ".join(f"{row.kind} {row.rank or '-'}" for row in rows)
    print(
        f"seed {seed}: {len(inside)} of {len(rows)} among the first {FIRST}, {above} others above the "
        f"last of them; {len(telling)} pairs, {len(near)} near misses, {seconds:.1f} s\n    {where}",
        flush=True,
    )
    for number, pair in enumerate(pairs if is_told else (), 1):
        kind = made.copied.get(frozenset((pair.one, pair.other)), "")
        print(f"  {number:3} {pair.score:5} {kind or '.'}")
        for shared in pair.shared[:6]:
            trace = shared.trace
            print(f"        {shared.weight:4.1f} {trace.kind} {trace.where}: {trace.text[:80]!r}")


def measure(course: Course, scratch: Path, size: int, seed: int) -> None:
    """Print how long a class without results takes."""
    made = copied_class(course, scratch / "class", size, 0, seed)
    start = time.process_time()
    pairs, _near = find_pairs(gather(course, made.folder, None)[0])
    seconds = time.process_time() - start
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(f"{size} students: {seconds:.1f} s, {most} MiB at most, {len(pairs)} pairs")


if __name__ == "__main__":
    main()
