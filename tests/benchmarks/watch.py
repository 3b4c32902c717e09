"""From saving a file to the verdict in `grader watch`, as a ratio to `import torch` in one run.

    python tests/benchmarks/watch.py [--rounds 5]

Drives the real command in a pseudo-terminal, in a copy of this course: a wrong answer, an
exception, a right answer, each saved several times. Exits with 1 when the median save takes more than
a quarter of the time of `python -c "import torch"`.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pexpect

from grader.course.course import load_course

ROOT = Path(__file__).parents[2]
MOST = 0.25
EXERCISES = {
    "02_all_tokens/attention_scores_matmul": {
        "an unknown mistake": "return inputs @ inputs.T * 7",
        "an exception": "return inputs @ inputs.nothing",
        "a right answer": "return inputs @ inputs.T",
    },
    "09_multi_head_attention/merge_heads": {
        "an unknown mistake": "return x * 7",
        "an exception": "return x.nothing",
        "a right answer": "return x.transpose(1, 2).flatten(2)",
    },
}


def import_torch() -> float:
    """Seconds that a fresh interpreter takes to import torch."""
    started = time.perf_counter()
    subprocess.run([sys.executable, "-c", "import torch"], check=True)
    return time.perf_counter() - started


def save(path: Path, text: str) -> None:
    """Save as editors do: beside it, then over it."""
    beside = path.with_suffix(".new")
    beside.write_text(text, "utf-8")
    beside.replace(path)


def measured(folder: Path, exercise_id: str, rounds: int) -> dict[str, list[float]]:
    """Seconds from each save of an exercise to its verdict, by what was saved."""
    course = load_course(folder)
    exercise = course.exercises[exercise_id]
    stub = course.paths(course.by_id[exercise.assignment]).stub
    text = stub.read_text("utf-8")
    gap = f'raise NotImplementedError("{exercise_id}: not attempted yet")'
    assert gap in text
    environment = {**os.environ, "XDG_STATE_HOME": str(folder / "state"), "TERM": "dumb"}
    child = pexpect.spawn(
        str(Path(sys.executable).with_name("grader")),
        ["watch", exercise_id],
        cwd=str(folder),
        env=environment,
        encoding="utf-8",
        dimensions=(50, 100),
        timeout=120,
    )
    child.delaybeforesend = None
    child.expect("Write it where it says TODO")
    taken: dict[str, list[float]] = {name: [] for name in EXERCISES[exercise_id]}
    for number in range(rounds):
        for name, line in EXERCISES[exercise_id].items():
            started = time.perf_counter()
            save(stub, text.replace(gap, f"{line}  # {number}"))
            child.expect(rf"Saved at .*\s[✗✓] {exercise.name}")
            taken[name].append(time.perf_counter() - started)
            child.expect("quit" if name != "a right answer" else "Congratulations")
    child.send("q")
    child.expect(pexpect.EOF)
    child.close()
    return taken


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made) / "course"
        ignored = shutil.ignore_patterns(".*", "build", "example_class", "attacks", "*.egg-info")
        shutil.copytree(ROOT, folder, ignore=ignored)
        imports = [import_torch() for _ in range(rounds)]
        taken = {id_: measured(folder, id_, rounds) for id_ in EXERCISES}
        imports += [import_torch() for _ in range(rounds)]
    torch = statistics.median(imports)
    print(f'`python -c "import torch"`: {torch * 1000:.0f} ms (median of {len(imports)}).\n')
    print("| exercise | what was saved | ms to the verdict (median) | share of `import torch` |")
    print("|---|---|---:|---:|")
    for id_, by_name in taken.items():
        for name, times in by_name.items():
            median = statistics.median(times)
            print(f"| {id_} | {name} | {median * 1000:.0f} | {median / torch:.3f} |")
    everything = [t for by_name in taken.values() for times in by_name.values() for t in times]
    share = statistics.median(everything) / torch
    print(f"\nAll saves: {share:.3f} of `import torch`; at most {MOST} is allowed.")
    return 0 if share <= MOST else 1


if __name__ == "__main__":
    sys.exit(main())
