"""Whether a busy machine takes points from right answers, or names from wrong ones.

    python tests/benchmarks/busy.py                       # all solutions, then the example class
    python tests/benchmarks/busy.py --assignment 14 --assignment 15 --times 2 --no-class

Runs `grader check` and `grader grade` of the solutions with busy loops beside them, and exits with 1
when a point is lost, or when a name of the example class is not the one in its golden results. Each
loop has a session of its own, because Linux shares a processor out by session. What is printed as
`times` is how much longer the command took on the wall than of CPU time.
"""

import argparse
import contextlib
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
GRADER = Path(sys.executable).parent / "grader"
CLASS = ROOT / "tests" / "example_class"
SOURCES = ("*.py", "*.ipynb")


@contextlib.contextmanager
def busy(loops: int) -> Iterator[None]:
    """Keep the machine busy with so many loops a core."""
    command = [sys.executable, "-c", "while True: pass"]
    count = loops * len(os.sched_getaffinity(0))
    running = [subprocess.Popen(command, start_new_session=True) for _ in range(count)]
    try:
        yield
    finally:
        for process in running:
            process.kill()
            process.wait()


def as_class(folder: Path) -> Path:
    """A class of one student, who handed in the solutions."""
    for source in (path for kind in SOURCES for path in (ROOT / "solutions").rglob(kind)):
        if source.name != "picture.py":
            copy = folder / "solution" / source.relative_to(ROOT / "solutions")
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, copy)
    return folder


def run(*arguments: str | Path) -> tuple[str, float]:
    """What a command prints, and how many times its processor's time it took on the wall."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run([GRADER, *arguments], cwd=ROOT, capture_output=True, text=True)
    wall, after = time.monotonic() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    own = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if not done.stdout:
        print(done.stderr)
    return done.stdout, wall / own


def lost(result: dict[str, Any]) -> list[str]:
    """The exercises of a result that have less than their points, and why."""
    found = []
    for exercise in (e for part in result["assignments"] for e in part["exercises"]):
        if exercise["score"] != exercise["max_score"]:
            why = [c for c in exercise["checks"] if c["outcome"] not in ("passed", "blocked")]
            found.append(f"{exercise['id']}: {exercise['score']} of {exercise['max_score']}")
            found += [f"    {check['id']}: {check['message']}" for check in why]
    return found


def report(command: str, result: dict[str, Any], times: float) -> bool:
    """Print a score, and what was lost; return whether nothing was."""
    print(f"{command}: {result['score']} of {result['max_score']}, {times:.1f} times", flush=True)
    for line in lost(result):
        print(f"  {line}")
    return not lost(result)


def by_check(assignments: list[str]) -> bool:
    """Check the solutions as a student does."""
    told, times = run("check", *assignments, "--submission", "solutions", "--format", "json")
    return report("check", json.loads(told), times)


def by_grade(assignments: list[str]) -> bool:
    """Grade the solutions as an instructor does."""
    chosen = [part for name in assignments for part in ("--assignment", name)]
    with tempfile.TemporaryDirectory() as name:
        folder = as_class(Path(name) / "class")
        _told, times = run("grade", folder, "--out", Path(name) / "out", *chosen)
        return report(
            "grade", json.loads((Path(name) / "out/results/solution.json").read_text()), times
        )


def by_class() -> bool:
    """Grade the example class, and compare it with its golden results."""
    found = []
    with tempfile.TemporaryDirectory() as name:
        roster = "--roster", CLASS / "roster.csv"
        _told, times = run("grade", CLASS / "submissions", "--out", name, "--seed", "1", *roster)
        for golden in sorted((CLASS / "golden").glob("*.json")):
            result = json.loads((Path(name) / "results" / golden.name).read_text("utf-8"))
            found += unlike(json.loads(golden.read_text("utf-8")), result)
    print(f"example class: {len(found)} exercises otherwise, {times:.1f} times", flush=True)
    print("".join(f"  {line}\n" for line in found), end="")
    return not found


def unlike(golden: dict[str, Any], result: dict[str, Any]) -> list[str]:
    """The exercises whose score, or whose names of mistakes, are not those of the golden result."""
    found, graded = [], {e["id"]: e for part in result["assignments"] for e in part["exercises"]}
    for assignment, part in golden["assignments"].items():
        for name, exercise in part["exercises"].items():
            names = [id_ for ids in exercise.get("misconceptions", []) for id_ in ids.split(" or ")]
            record = graded[f"{assignment}/{name}"]
            was, now = (exercise["score"], names), (record["score"], record["misconceptions"])
            if was != now:
                found.append(f"{golden['student']} {record['id']}: {now}, and it was {was}")
    return found


def main() -> None:
    """Run all of it, and exit with 1 when something was lost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--loops", type=int, default=5, help="busy loops a core")
    parser.add_argument(
        "--times", type=int, default=1, help="of the solutions; the class is graded once"
    )
    parser.add_argument("--assignment", action="append", default=[])
    parser.add_argument("--no-class", action="store_true", help="leave the example class out")
    options = parser.parse_args()
    with busy(options.loops):
        well = [
            part(options.assignment) for _ in range(options.times) for part in (by_check, by_grade)
        ]
        if not options.no_class:
            well.append(by_class())
    sys.exit(not all(well))


if __name__ == "__main__":
    main()
