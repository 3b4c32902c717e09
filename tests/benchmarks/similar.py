"""How many planted copies `grader similar` finds among many who wrote by themselves, and how fast.

    python tests/benchmarks/similar.py [--honest 270] [--copies 30] [--seed 1] [--size 1000]

Makes a class, grades it, and looks among the first 40 pairs. Then compares a class of so many.
"""

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from grader.classes.records import open_records  # noqa: E402
from grader.course.course import load_course  # noqa: E402
from grader.extras.similarity.command import gather  # noqa: E402
from grader.extras.similarity.pairs import find_pairs  # noqa: E402
from tests.support.copied_class import ASSIGNMENTS, copied_class  # noqa: E402

FIRST = 40


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, default in (("honest", 270), ("copies", 30), ("seed", 1), ("size", 1000)):
        parser.add_argument(f"--{name}", type=int, default=default)
    given = parser.parse_args()
    course = load_course(ROOT)
    with tempfile.TemporaryDirectory() as folder:
        made = copied_class(course, Path(folder, "class"), given.honest, given.copies, given.seed)
        out = Path(folder, "out")
        only = [word for id_ in ASSIGNMENTS for word in ("--assignment", id_)]
        command = [sys.executable, "-m", "grader.cli", "grade", str(made.folder), "--out", str(out)]
        subprocess.run([*command, "--quiet", *only], cwd=ROOT, check=True)
        pairs = find_pairs(gather(course, made.folder, open_records(out))[0])
        shown = {frozenset((pair.one, pair.other)): pair for pair in pairs[:FIRST]}
        found = Counter(kind for two, kind in made.copied.items() if two in shown)
        for kind, count in Counter(made.copied.values()).items():
            print(f"{kind:26} {found[kind]:3} of {count}")
        print(f"{'planted, among the first 40':26} {found.total():3} of {len(made.copied)}")
        print(f"others among the first 40 {len(shown) - found.total():3}")
        for two, pair in shown.items():
            if two not in made.copied:
                told = "; ".join(f"{s.trace.kind}: {s.trace.text}" for s in pair.shared[:4])
                print(f"    {pair.score}  {told}")
    with tempfile.TemporaryDirectory() as folder:
        made = copied_class(course, Path(folder), given.size, 0, given.seed)
        start = time.perf_counter()
        pairs = find_pairs(gather(course, made.folder, None)[0])
        seconds = time.perf_counter() - start
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        print(f"{given.size} students: {seconds:.1f} s, {most} MiB at most, {len(pairs)} pairs")


if __name__ == "__main__":
    main()
