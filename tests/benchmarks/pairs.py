"""What this checkout costs and what an earlier one does, in turn, in CPU time.

    git worktree add ../old COMMIT && make -C ../old setup
    python tests/benchmarks/pairs.py --old ../old                  # everything
    python tests/benchmarks/pairs.py --old ../old --only grade     # some parts

Each checkout runs with its own interpreter, in `.venv`, and with a cache of its own, empty at first.
Parts: students (one student after the other by one worker, of the assignments without the optional
ones and of all; with how many requests, frames, bytes and processes), floor (the same requests without
checks), grade (the command, for one student), class (the command, a class less one student), check,
release, notebooks (the tests of released notebooks in a kernel).
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

import processor_time
from heard import heard

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
SLIPS = ("04", "07")
IN_CLASS = 8
COUNTED = ("frames", "sent", "received", "processes")


@dataclass
class Checkout:
    """One of the two: its folder, its interpreter, and a cache of its own."""

    name: str
    root: Path
    work: Path
    cache: str = "cache"
    core: Path = field(init=False)

    def __post_init__(self) -> None:
        """Copy its course, without the optional assignments and with them."""
        self.core = self.work / self.name / "core"
        for folder, optional in ((self.core, False), (self.all, True)):
            ignored = shutil.ignore_patterns(
                ".*", "build", "example_class", "attacks", "*.egg-info"
            )
            shutil.copytree(self.root, folder, ignore=ignored)
            if not optional:
                manifest = folder / "course.toml"
                text = manifest.read_text("utf-8")
                line = "[course]\noptional = false\n"
                manifest.write_text(text.replace("[course]\n", line, 1), "utf-8")

    @property
    def all(self) -> Path:
        """Its course with all assignments."""
        return self.work / self.name / "all"

    @property
    def python(self) -> Path:
        """Its interpreter."""
        inside = self.root / ".venv" / "bin" / "python"
        return inside if inside.exists() else Path(sys.executable)

    @property
    def environment(self) -> dict[str, str]:
        """Where it keeps what it keeps."""
        cache = str(self.work / self.name / self.cache)
        return {"GRADER_CACHE": cache, "PYTHONPATH": str(self.root)}

    def seconds(self, *command: object, cwd: Path) -> float:
        """What a command of its grader takes."""
        grader = (self.python, "-c", "from grader.cli import main; main()")
        return processor_time.of_command((*grader, *command), cwd, self.environment)

    def written(self, course: Path, folder: Path, kind: str, size: int) -> Path:
        """A class of its own course."""
        command = (self.python, HERE / "pairs.py", "--write", course, folder, kind, size)
        processor_time.of_command(command, HERE, self.environment)
        return folder


Pair = tuple[Checkout, Checkout]


def table(head: str, rows: Sequence[Sequence[str]]) -> None:
    """Print a table in Markdown."""
    columns = head.split("|")
    print(f"\n| {' | '.join(columns)} |\n|{'|'.join(['---', *['---:'] * (len(columns) - 1)])}|")
    for row in rows:
        print(f"| {' | '.join(row)} |")
    sys.stdout.flush()


def median(values: Sequence[float]) -> float:
    """The median."""
    return statistics.median(values)


def import_torch(checkout: Checkout) -> float:
    """What importing torch takes."""
    return processor_time.of_command((checkout.python, "-c", "import torch"), HERE)


# One student after the other.


@contextmanager
def serving(checkout: Checkout, course: Path) -> Iterator["subprocess.Popen[str]"]:
    """A worker of a checkout, which grades whom it is told."""
    process = subprocess.Popen(
        [checkout.python, HERE / "pairs.py", "--serve", course],
        env={**os.environ, **checkout.environment},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.stdin.close()  # type: ignore[union-attr]
        process.wait()


def asked(process: "subprocess.Popen[str]", *words: object) -> dict[str, float]:
    """What a worker replies."""
    process.stdin.write(" ".join(map(str, words)) + "\n")  # type: ignore[union-attr]
    process.stdin.flush()  # type: ignore[union-attr]
    reply: dict[str, float] = json.loads(process.stdout.readline())  # type: ignore[union-attr]
    return reply


def students(
    pair: Pair, rounds: int, warm_up: int, sizes: Sequence[str], kinds: Sequence[str]
) -> None:
    """Right students, those with other last bits, and those with mistakes: new ones, then known ones."""
    folders = {"11": lambda one: one.core, "16": lambda one: one.all}
    for size in sizes:
        with ExitStack() as stack:
            workers = {
                checkout.name: stack.enter_context(serving(checkout, folders[size](checkout)))
                for checkout in pair
            }
            one_size(pair, workers, size, rounds, warm_up, kinds)


def one_size(
    pair: Pair,
    workers: dict[str, "subprocess.Popen[str]"],
    size: str,
    rounds: int,
    warm_up: int,
    kinds: Sequence[str],
) -> None:
    """The same with so many assignments."""
    names = [checkout.name for checkout in pair]
    head = f"one more student of {size} assignments, s|old|new|new : old|old : torch|new : torch"
    rows = []
    for kind in kinds:
        taken: dict[str, list[float]] = {name: [] for name in names}
        torch: dict[str, list[float]] = {name: [] for name in names}
        for number in range(warm_up + rounds):
            for checkout in pair:
                cost = asked(workers[checkout.name], "grade", kind, number)["seconds"]
                if number >= warm_up:
                    taken[checkout.name].append(cost)
                    torch[checkout.name].append(import_torch(checkout))
        old, new = taken["old"], taken["new"]
        rows.append(
            (
                kind,
                f"{median(old):.3f}",
                f"{median(new):.3f}",
                f"{ratio(new, old):.2f}",
                f"{ratio(old, torch['old']):.2f}",
                f"{ratio(new, torch['new']):.2f}",
            )
        )
        print(f"{size}: {' | '.join(rows[-1])}", file=sys.stderr, flush=True)
    table(head, rows)
    counts = {name: asked(workers[name], "count") for name in names}
    floors: dict[str, list[float]] = {name: [] for name in names}
    for _ in range(rounds):
        for name in names:
            floors[name].append(asked(workers[name], "floor")["seconds"])
    costs = [1000 * median(floors[name]) / counts[name]["requests"] for name in names]
    table(
        f"a right student of {size} assignments|old|new",
        [
            ("ms of a request, served without checks", *(f"{one:.3f}" for one in costs)),
            *(
                (what, *(f"{counts[name][what]:.0f}" for name in names))
                for what in ("requests", *COUNTED)
            ),
        ],
    )


def ratio(costs: Sequence[float], others: Sequence[float]) -> float:
    """The median of ratios of what was measured next to each other."""
    return median([one / other for one, other in zip(costs, others, strict=True)])


def _anywhere(name: str, *modules: str) -> Any:
    """What is called so in the package, which lies elsewhere in an earlier commit."""
    for module in modules:
        with suppress(ModuleNotFoundError):
            return getattr(import_module(f"grader.{module}"), name)
    raise ImportError(name)


def serve(course_folder: Path) -> None:
    """Grade who is asked for on standard input, and print what that took, until it ends."""
    from classes import KINDS

    from grader.course.course import load_course
    from grader.sessions.child import ChildSession
    from grader.submissions.submission import read_submission

    settings, new_worker, student_class = (
        _anywhere("RunSettings", "classes.store", "grading.run_settings"),
        _anywhere("new_worker", "classes.workers", "grading.workers"),
        _anywhere("Student", "intake.folders", "submissions.student_folders"),
    )
    texts = dict(zip(("words", "bits", "mistaken"), KINDS.values(), strict=True))
    course = load_course(course_folder)
    worker = new_worker(settings(course.root, course.hash, "1", "sealed"))
    requests: list[bytes] = []
    with tempfile.TemporaryDirectory() as name:

        def student(kind: str, number: int) -> Any:
            """Write a student's files."""
            for assignment in course.assignments:
                path = Path(name) / kind / assignment.id / f"{assignment.module}.py"
                path.parent.mkdir(parents=True, exist_ok=True)
                text = texts[kind.removesuffix(" again")](course, assignment, number)
                path.write_text(f"{text}\n# {kind}\n", "utf-8")
            return student_class(f"student-{number}", Path(name) / kind)

        def served() -> None:
            """Ask one after the other, and judge nothing."""
            student("words", 20_000)
            submission = read_submission(course, Path(name) / "words", "student")
            session = ChildSession(worker.launcher, submission, course.limits)
            for request in requests:
                session.exchange(request, course.limits.load_seconds)
            session.close()

        for line in sys.stdin:
            word, *rest = line.split(maxsplit=1)
            reply: dict[str, float] = {}
            if word == "grade":
                kind, _, number = rest[0].strip().rpartition(" ")
                who = student(kind, int(number))
                started = time.perf_counter()
                reply["seconds"] = processor_time.seconds_of(lambda: worker.result(who))  # noqa: B023
                reply["wall"] = time.perf_counter() - started
            elif word == "count":
                with heard() as costs:
                    worker.result(student("words", 10_000))
                requests = costs.requests
                reply = {name: getattr(costs, name) for name in COUNTED}
                reply["requests"] = len(requests)
            else:
                started = time.perf_counter()
                reply["seconds"] = processor_time.seconds_of(served)
                reply["wall"] = time.perf_counter() - started
            print(json.dumps(reply), flush=True)
    worker.close()


def write(course_folder: Path, folder: Path, kind: str, size: int) -> None:
    """Write students: "words" who are right, or "slips" with a known mistake in two assignments."""
    from classes import mistaken, other_words

    from grader.course.course import load_course

    course = load_course(course_folder)
    for number in range(size):
        for assignment in course.assignments:
            path = folder / f"student-{number}" / assignment.id / f"{assignment.module}.py"
            path.parent.mkdir(parents=True)
            slips = kind == "slips" and assignment.id[:2] in SLIPS
            text = (mistaken if slips else other_words)(course, assignment, number)
            path.write_text(text, "utf-8")


def run_notebook(course_folder: Path, number: str) -> None:
    """Run the notebook of an assignment in a kernel, with the solutions in its cells."""
    sys.path.append(str(ROOT / "tests" / "support"))
    import pytest
    from kernels import run_assignment  # type: ignore[import-not-found]

    from grader.course.course import load_course

    course = load_course(course_folder)
    id_ = next(id_ for id_ in course.by_id if id_.startswith(number))
    with tempfile.TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        run_assignment(course, id_, Path(name), patch)


# Commands.


def grade(pair: Pair, rounds: int) -> None:
    """`grader grade` of one student: with nothing kept, in a new class, and in the same class again."""
    rows = []
    for kind in ("words", "slips"):
        taken: dict[tuple[str, str], list[float]] = {}
        torch: dict[str, list[float]] = {checkout.name: [] for checkout in pair}
        for number in range(rounds):
            for checkout in pair:
                folder = checkout.work / checkout.name / f"grade-{kind}-{number}"
                work = checkout.written(checkout.all, folder / "class", kind, 1)
                checkout.cache = f"cache-{kind}-{number}"
                torch[checkout.name].append(import_torch(checkout))
                for state, seed in (
                    ("first", number),
                    ("another class", 1_000),
                    ("compiled", 1_000),
                ):
                    out = folder / f"out-{seed}-{state}"
                    words = ("grade", work, "--out", out, "--seed", str(seed), "--quiet")
                    cost = checkout.seconds(*words, cwd=checkout.all)
                    taken.setdefault((checkout.name, state), []).append(cost)
        for state in ("first", "another class", "compiled"):
            costs = [taken[checkout.name, state] for checkout in pair]
            rows.append(
                (
                    f"{kind}, {state}",
                    *(f"{median(values):.2f}" for values in costs),
                    *(
                        f"{median([a / b for a, b in zip(values, torch[checkout.name], strict=True)]):.2f}"
                        for checkout, values in zip(pair, costs, strict=True)
                    ),
                )
            )
    old, new = (checkout.name for checkout in pair)
    table(f"grade of one student, s|{old}|{new}|{old} : import torch|{new} : import torch", rows)


def in_a_class(pair: Pair, rounds: int) -> None:
    """`grader grade` of a class less that of one student, by one worker, as the command costs."""
    taken: dict[str, list[float]] = {checkout.name: [] for checkout in pair}
    torch: dict[str, list[float]] = {checkout.name: [] for checkout in pair}
    for number in range(rounds):
        for checkout in pair:
            costs: list[float] = []
            for size in (1, 1, 1 + IN_CLASS):  # the first compiles
                folder = checkout.work / checkout.name / f"class-{number}-{size}-{len(costs)}"
                work = checkout.written(checkout.core, folder / "class", "words", size)
                words = ("grade", work, "--out", folder / "out", "--seed", "1", "--quiet")
                costs.append(checkout.seconds(*words, "--jobs", "1", cwd=checkout.core))
            taken[checkout.name].append((costs[2] - costs[1]) / IN_CLASS)
            torch[checkout.name].append(import_torch(checkout))
    table(
        "each further right student of a class, the command|s|: import torch",
        [
            (name, f"{median(taken[name]):.3f}", f"{median(taken[name]) / median(torch[name]):.2f}")
            for name in taken
        ],
    )


def check(pair: Pair, rounds: int) -> None:
    """`grader check 01` in the course and in a student's copy."""
    taken: dict[tuple[str, str], list[float]] = {}
    for checkout in pair:
        released = checkout.work / checkout.name / "released"
        checkout.seconds("release", released, "--to", "students", cwd=checkout.core)
        for source in (checkout.core / "solutions").iterdir():
            for file in source.glob(f"{source.name[3:]}.py"):
                if (released / "assignments" / source.name).is_dir():
                    shutil.copy(file, released / "assignments" / source.name / file.name)
    for number in range(rounds + 1):
        for checkout in pair:
            released = checkout.work / checkout.name / "released"
            costs = {
                "import torch": import_torch(checkout),
                "a student's copy": checkout.seconds("check", "01", cwd=released),
                "the course": checkout.seconds(
                    "check", "01", "--submission", checkout.core / "solutions", cwd=checkout.core
                ),
            }
            for name, cost in costs.items():
                if number:
                    taken.setdefault((name, checkout.name), []).append(cost)
    old, new = (checkout.name for checkout in pair)
    table(
        f"grader check 01, s|{old}|{new}|{old} : import torch|{new} : import torch",
        [
            (
                name,
                *(f"{median(taken[name, side]):.2f}" for side in (old, new)),
                *(
                    f"{median([a / b for a, b in zip(taken[name, side], taken['import torch', side], strict=True)]):.2f}"
                    for side in (old, new)
                ),
            )
            for name in ("import torch", "a student's copy", "the course")
        ],
    )


def release(pair: Pair) -> None:
    """`grader release --to students`: all anew, unchanged, and after a change of one assignment."""
    rows = []
    for checkout in pair:
        checkout.cache = "cache-release"
        folder = checkout.work / checkout.name
        for number, what in enumerate(("all anew", "unchanged", "one assignment changed")):
            if number == 2:
                for path in sorted(
                    (checkout.all / "tests" / "checks").glob("05_*/test_visible.py")
                ):
                    path.write_text(f"{path.read_text('utf-8')}\n# Changed.\n", "utf-8")
            started = time.perf_counter()
            out = folder / f"release-{number}"
            cost = checkout.seconds("release", out, "--to", "students", cwd=checkout.all)
            wall = time.perf_counter() - started
            rows.append((checkout.name, what, f"{cost:.1f}", f"{wall:.1f}"))
    table("release|what|s of the processor|s on the wall", rows)


def notebooks(pair: Pair, rounds: int) -> None:
    """The solution's cells and the locked test cells of released notebooks, run in a kernel."""
    rows = []
    for name in ("13", "15"):
        taken: dict[str, list[float]] = {}
        for _ in range(rounds):
            for checkout in pair:
                command = (checkout.python, HERE / "pairs.py", "--run", checkout.all, name)
                cost = processor_time.of_command(command, HERE, checkout.environment)
                taken.setdefault(checkout.name, []).append(cost)
        old, new = (median(values) for values in taken.values())
        rows.append((name, f"{old:.1f}", f"{new:.1f}", f"{new / old:.2f}"))
    names = "|".join(checkout.name for checkout in pair)
    table(f"a released notebook's own run, s|{names}|ratio", rows)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parts = ("students", "class", "check", "grade", "notebooks", "release")
    parser.add_argument("--old", type=Path, help="the earlier checkout, with its .venv")
    parser.add_argument("--new", type=Path, default=ROOT)
    parser.add_argument("--only", default=",".join(parts))
    parser.add_argument("--rounds", type=int, default=5)
    kinds = "words,bits,mistaken,mistaken again"
    parser.add_argument("--kinds", default=kinds, help="of students")
    parser.add_argument("--sizes", default="11,16", help="how many assignments students hand in")
    parser.add_argument("--warm-up", type=int, default=3)
    parser.add_argument("--serve", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--run", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--write", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        return serve(options.serve)
    if options.write:
        course, folder, kind, size = options.write
        return write(Path(course), Path(folder), kind, int(size))
    if options.run:
        return run_notebook(Path(options.run[0]), options.run[1])
    wanted = options.only.split(",")
    print(f"Load at the start: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores.")
    with tempfile.TemporaryDirectory(prefix="pairs-") as name:
        pair = (
            Checkout("old", options.old.resolve(), Path(name)),
            Checkout("new", options.new.resolve(), Path(name)),
        )
        if "students" in wanted:
            students(
                pair,
                options.rounds,
                options.warm_up,
                options.sizes.split(","),
                options.kinds.split(","),
            )
        if "class" in wanted:
            in_a_class(pair, options.rounds)
        if "check" in wanted:
            check(pair, options.rounds)
        if "grade" in wanted:
            grade(pair, options.rounds)
        if "notebooks" in wanted:
            notebooks(pair, options.rounds)
        if "release" in wanted:
            release(pair)
    return None


if __name__ == "__main__":
    main()
