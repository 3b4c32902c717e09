"""How fast a class is graded, against what else one could do, in one run on one machine.

    python tests/benchmarks/throughput.py                      # everything: an hour, or more
    python tests/benchmarks/throughput.py --only student,check # some parts
    python tests/benchmarks/throughput.py --students 100,1000  # a smaller class
    python tests/benchmarks/throughput.py --course tests/example_course --rounds 1

Prints tables in Markdown. What is compared is measured in turn, so that a change of the machine's
speed meets all alike; ratios are of medians. Parts: student (one student, whole course: sealed
against the floor and a fresh pytest), optional (the same with and without optional assignments),
nbgrader (against nbgrader autograde), workers (one against two), class (classes of several sizes,
memory, a second run), check (`grader check 01` cold).
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
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path

import psutil
from classes import KINDS, make_class
from heard import Heard, heard
from processor_time import seconds_of

from grader.classes.process_pool import grade_locally
from grader.classes.records import feedback_path, record_path
from grader.classes.store import RunSettings
from grader.classes.worker import Worker
from grader.classes.workers import new_worker
from grader.core.errors import GraderFault
from grader.core.files import write_whole
from grader.course.course import MANIFEST, Course, load_course
from grader.intake.folders import Student
from grader.judging.answer_cache import AnswerCacheSession
from grader.judging.results import record_texts
from grader.judging.submission_grader import VISIBLE_CHECKS, Scope, grade
from grader.sessions.child import ChildSession
from grader.submissions.submission import Submission, read_submission

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
GRADER = (sys.executable, "-c", "from grader.cli import main; main()")
WARM_UP = 5
"""Students after whom a worker has loaded everything."""


def median(values: Sequence[float]) -> float:
    """The median."""
    return statistics.median(values)


def table(head: str, rows: Sequence[Sequence[str]]) -> None:
    """Print a table in Markdown."""
    columns = head.split("|")
    print(f"\n| {' | '.join(columns)} |\n|{'|'.join(['---', *['---:'] * (len(columns) - 1)])}|")
    for row in rows:
        print(f"| {' | '.join(row)} |")
    sys.stdout.flush()


def verdict(value: float, target: float, *, at_most: bool = False) -> str:
    """A ratio beside what it should be."""
    good = value <= target if at_most else value >= target
    return (
        f"{value:.2f} (target {'≤' if at_most else '≥'} {target:g}: {'met' if good else 'MISSED'})"
    )


def students_in(folder: Path) -> list[Student]:
    """The students of a class."""
    return [Student(path.name, path) for path in sorted(folder.iterdir())]


# One student, the whole course.


class Counting(AnswerCacheSession):
    """Counts the checks whose replies were not known."""

    unknown = 0

    def begin(self, check: str, file: str = "") -> object:
        """A check begins."""
        known = super().begin(check, file)
        self.unknown += bool(file) and known is None
        return known


def count(worker: Worker, course: Course, student: Student) -> tuple[Heard, float]:
    """What a student's code is asked, and the share of checks whose replies were known."""
    child = ChildSession(worker.launcher, read(course, student), course.limits)
    session = Counting(child, worker.grader.answers)
    with heard() as found, closing(session):
        result = grade(worker.grader, child.submission, session, Scope(course.exercises))
    checks = sum(len(e.checks) for a in result.assignments for e in a.exercises)
    return found, 1 - session.unknown / checks


def read(course: Course, student: Student) -> Submission:
    """A student's submission."""
    if student.path is None:
        raise GraderFault("nothing was handed in")
    return read_submission(course, student.path, student.id)


def by_visible_checks(worker: Worker, course: Course, student: Student) -> None:
    """Grade a student by what nbgrader's notebooks hold: the visible checks."""
    session = ChildSession(worker.launcher, read(course, student), course.limits)
    try:
        grade(worker.grader, session.submission, session, Scope(course.exercises, VISIBLE_CHECKS))
    finally:
        session.close()


def serve(worker: Worker, course: Course, student: Student, requests: list[bytes]) -> None:
    """The floor: a sealed child serves the same requests, and nobody judges."""
    session = ChildSession(worker.launcher, read(course, student), course.limits)
    for request in requests:
        session.exchange(request, course.limits.load_seconds)
    session.close()


def pytest_in_the_open(course: Course, student: Student) -> None:
    """A fresh pytest process runs the same checks on the student's code, unsealed."""
    options = ("-q", "-c", os.devnull, "--rootdir", course.root, "--import-mode=importlib")
    plugins = ("-p", "no:cacheprovider", "-p", "no:randomly", "-p", "in_the_open")
    command = (sys.executable, "-m", "pytest", *options, *plugins)
    given = ("--course", course.root, "--submission", student.path)
    arguments = (*given, course.root / "tests" / "checks")
    done = subprocess.run(
        [str(part) for part in (*command, *arguments)],
        cwd=HERE,
        env={**os.environ, "PYTHONPATH": str(HERE), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    if " passed" not in done.stdout:
        raise SystemExit(done.stdout + done.stderr)


def one_student(course: Course, work: Path, rounds: int) -> None:
    """One worker, sealed, against the floor and a fresh pytest on the same student, all in turn."""
    size = WARM_UP + rounds
    classes: dict[str, list[Student]] = {}
    worker = new_worker(RunSettings(course.root, course.hash, "1", "sealed"))
    taken: dict[str, list[float]] = {name: [] for name in (*KINDS, "floor")}
    in_the_open: dict[str, list[float]] = {kind: [] for kind in KINDS}
    shares: dict[str, list[float]] = {kind: [] for kind in KINDS}
    for position, kind in enumerate(KINDS):
        folder = make_class(course, work / f"class-{position}", kind, size)
        classes[kind] = students_in(folder)
        for student in classes[kind][:WARM_UP]:
            shares[kind].append(count(worker, course, student)[1])
    costs, _ = count(worker, course, classes["right, in other words"][0])
    requests = costs.requests
    for number in range(WARM_UP, size):
        for kind in KINDS:
            student = classes[kind][number]

            def graded(student: Student = student) -> None:
                record, feedback = record_texts(worker.result(student))
                write_whole(record_path(work / "out", student.id), record)
                write_whole(feedback_path(work / "out", student.id), feedback)

            taken[kind].append(seconds_of(graded))
        right = classes["right, in other words"][number]
        taken["floor"].append(seconds_of(partial(serve, worker, course, right, requests)))
        kind = tuple(KINDS)[number % len(KINDS)]
        student = classes[kind][number]
        in_the_open[kind].append(seconds_of(partial(pytest_in_the_open, course, student)))
    for kind in KINDS:  # after all, so that it counts what is known by then
        student = students_in(make_class(course, work / "late", kind, size + 1))[-1]
        shares[kind] = [count(worker, course, student)[1]]
    worker.close()
    mine = median(taken["right, in other words"])
    table(
        "one student, the whole course, sealed, one worker|ms (median)|times the floor|"
        "checks whose answers another student gave",
        [
            *(
                (
                    kind,
                    f"{1000 * median(taken[kind]):.0f}",
                    verdict(median(taken[kind]) / median(taken["floor"]), 4, at_most=True),
                    f"{median(shares[kind]):.0%}",
                )
                for kind in KINDS
            ),
            (
                f"the floor: a sealed child answers the same {len(requests)} requests",
                f"{1000 * median(taken['floor']):.0f}",
                "1",
                "",
            ),
        ],
    )
    table(
        "a fresh pytest process, same student and checks, unsealed|ms (median)|times as long",
        [
            (
                kind,
                f"{1000 * median(in_the_open[kind]):.0f}",
                verdict(median(in_the_open[kind]) / median(taken[kind]), 12),
            )
            for kind in KINDS
        ],
    )
    print(
        f"\nA right student costs {costs}.\n"
        f"The fastest of {rounds}: {1000 * min(taken['right, in other words']):.0f} ms; median {1000 * mine:.0f} ms."
    )


# With optional assignments, and without.


def without_optional(course: Course, work: Path) -> Course:
    """A copy of the course with the one line that leaves optional assignments out."""
    ignored = shutil.ignore_patterns(".*", "build", "example_class", "attacks", "*.egg-info")
    shutil.copytree(course.root, work, ignore=ignored)
    text = (work / MANIFEST).read_text("utf-8")
    changed = text.replace("[course]\n", "[course]\noptional = false\n", 1)
    (work / MANIFEST).write_text(changed, "utf-8")
    return load_course(work)


def with_and_without(course: Course, work: Path, rounds: int) -> None:
    """One student's whole course, sealed, with optional assignments and without, in turn."""
    courses = {"with": course, "without": without_optional(course, work / "course")}
    workers = {
        name: new_worker(RunSettings(one.root, one.hash, "1", "sealed"))
        for name, one in courses.items()
    }
    rows = []
    for position, kind in enumerate(KINDS):
        taken: dict[str, list[float]] = {name: [] for name in courses}
        folder = make_class(course, work / f"both-{position}", kind, WARM_UP + rounds)
        for number, student in enumerate(students_in(folder)):
            for name, worker in workers.items():
                seconds = seconds_of(partial(worker.result, student))
                taken[name] += [seconds] if number >= WARM_UP else []
        ms = {name: 1000 * median(times) for name, times in taken.items()}
        times_as_long = f"{ms['with'] / ms['without']:.2f}"
        rows.append((kind, f"{ms['with']:.0f}", f"{ms['without']:.0f}", times_as_long))
    for worker in workers.values():
        worker.close()
    counts = [f"{len(one.assignments)} assignments (ms, median)" for one in courses.values()]
    table(f"one student, sealed, one worker|{'|'.join(counts)}|times as long", rows)


# nbgrader.


def run(*command: object, cwd: Path) -> str:
    """Run a command; its output."""
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # for nbgrader's
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env={**os.environ, "PATH": programs},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"{command}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def against_nbgrader(course: Course, work: Path, rounds: int) -> None:
    """Autograde the generated notebooks of full solutions, assignment by assignment."""
    folder = work / "nbgrader"
    run(*GRADER, "release", folder, "--to", "nbgrader", cwd=course.root)
    nbgrader = Path(sys.executable).with_name("nbgrader")
    names = ("one", "two")
    worker = new_worker(RunSettings(course.root, course.hash, "1", "sealed"))
    own = students_in(make_class(course, work / "class", "right, in other words", WARM_UP + 400))
    for student in own[:WARM_UP]:
        worker.result(student)
    following = iter(own[WARM_UP:])
    mine: list[float] = []
    visible: list[float] = []
    theirs: list[float] = []
    for assignment in course.assignments:
        run(nbgrader, "generate_assignment", assignment.id, "--force", cwd=folder)
        for name in names:
            handed = folder / "submitted" / name / assignment.id
            shutil.copytree(folder / "source" / assignment.id, handed)
        theirs.append(
            seconds_of(partial(run, nbgrader, "autograde", assignment.id, "--force", cwd=folder))
            / len(names)
        )
        mine += [seconds_of(lambda: worker.result(next(following))) for _ in range(rounds)]
        visible += [
            seconds_of(lambda: by_visible_checks(worker, course, next(following)))
            for _ in range(rounds)
        ]
    worker.close()
    run(nbgrader, "export", cwd=folder)
    scores = (folder / "grades.csv").read_text("utf-8").splitlines()
    total = sum(theirs)
    table(
        "the whole course for one student|seconds|nbgrader takes so many times as long",
        [
            (
                f"nbgrader autograde, visible checks, unsealed ({len(names)} students per command)",
                f"{total:.1f}",
                "",
            ),
            (
                "the same work: visible checks, sealed, one worker",
                f"{median(visible):.3f}",
                verdict(total / median(visible), 300),
            ),
            (
                "all checks, sealed, one worker",
                f"{median(mine):.3f}",
                verdict(total / median(mine), 300),
            ),
        ],
    )
    print(f"\nnbgrader's export has {len(scores) - 1} graded submissions.")


# Workers.


def rate(order: RunSettings, students: Sequence[Student], jobs: int) -> float:
    """Students per second once all workers are warm, up to the last one that keeps all busy."""
    moments = [time.perf_counter() for _ in grade_locally(order, students, jobs)]
    first, last = WARM_UP * jobs * 2, len(moments) - jobs
    return (last - first) / (moments[last] - moments[first])


def one_against_two(course: Course, work: Path, rounds: int) -> None:
    """The same students by one worker process and by two, in turn."""
    students = students_in(make_class(course, work / "class", "right, in other words", 120))
    order = RunSettings(course.root, course.hash, "1", "sealed")
    rates: dict[int, list[float]] = {1: [], 2: []}
    loads = []
    for _ in range(max(2, rounds // 3)):
        for jobs in rates:
            rates[jobs].append(rate(order, students, jobs))
            loads.append(os.getloadavg()[0])
    ratios = [two / one for one, two in zip(rates[1], rates[2], strict=True)]
    table(
        "worker processes|students a second (median)|times one",
        [
            ("1", f"{median(rates[1]):.2f}", "1"),
            ("2", f"{median(rates[2]):.2f}", verdict(median(ratios), 1.8)),
        ],
    )
    print(
        f"\nOf each round: {', '.join(f'{ratio:.2f}' for ratio in ratios)}. The machine has "
        f"{os.cpu_count()} cores; its load was {min(loads):.1f} to {max(loads):.1f}, and where that "
        "is above 2, others took part of them."
    )


# Classes.


def peaks(process: psutil.Popen) -> Iterator[dict[int, int]]:
    """The peak memory of a process and all below it, by process id, until it ends."""
    seen: dict[int, int] = {}
    while process.poll() is None:
        for one in (process, *_below(process)):
            try:
                text = Path(f"/proc/{one.pid}/status").read_text("ascii")
                seen[one.pid] = int(text.partition("VmHWM:")[2].split()[0]) // 1024
            except (OSError, IndexError, ValueError):
                continue
        yield seen
        time.sleep(0.25)


def _below(process: psutil.Popen) -> list[psutil.Process]:
    try:
        return process.children()
    except psutil.Error:
        return []


def grading(folder: Path, out: Path) -> list[str]:
    """The command that grades a class."""
    command = (*GRADER, "grade", folder, "--out", out, "--seed", "1", "--quiet")
    return [str(part) for part in command]


def a_class(course: Course, folder: Path, out: Path) -> tuple[float, int, int]:
    """Grade a class by the command: seconds, and peak MiB of the main process and of a worker."""
    started = time.perf_counter()
    process = psutil.Popen(grading(folder, out), cwd=course.root)
    seen: dict[int, int] = {}
    for found in peaks(process):
        seen = found
    seconds = time.perf_counter() - started
    if process.returncode:
        raise SystemExit("grader grade failed")
    main = seen.pop(process.pid, 0)
    return seconds, main, max(seen.values(), default=0)


def classes_of(course: Course, work: Path, sizes: Sequence[int]) -> None:
    """Classes of several sizes, once and a second time with nothing changed."""
    rows = []
    for size in sizes:
        out = work / f"out-{size}"
        folder = make_class(course, work / f"class-{size}", "right, in other words", size)
        seconds, main, worker = a_class(course, folder, out)
        command = grading(folder, out)
        again = seconds_of(partial(run, *command, cwd=course.root))
        summary = json.loads((out / "summary.json").read_text("utf-8"))
        if summary["submitted"] != size or summary["undecided"]:
            raise SystemExit(f"{summary['submitted']} of {size}, undecided {summary['undecided']}")
        per = 1000 * seconds / size
        rows.append(
            (
                str(size),
                f"{seconds:.0f}",
                f"{per:.0f}",
                f"{main}",
                f"{worker}",
                verdict(size / again, 1000),
            )
        )
        shutil.rmtree(folder)
        shutil.rmtree(out)
        table(
            "students|seconds, start included|ms per student|MiB, main process (peak)|"
            "MiB, largest worker (peak)|students a second, nothing changed, start included",
            rows,
        )


# A student's own run.


def cold_check(course: Course, work: Path, rounds: int) -> None:
    """`grader check 01` in a new process against importing torch in a new process."""
    released = work / "released"
    run(*GRADER, "release", released, "--to", "students", cwd=course.root)
    for assignment in course.assignments:
        shutil.copy(
            course.paths(assignment).solution,
            released / "assignments" / assignment.id / f"{assignment.module}.py",
        )
    command = Path(sys.executable).with_name("grader")

    def check(folder: Path, *options: object) -> Callable[[], object]:
        return lambda: run(command, "check", "01", *options, cwd=folder)

    torch_alone = (sys.executable, "-c", "import torch")
    actions: dict[str, Callable[[], object]] = {
        'python -c "import torch"': lambda: run(*torch_alone, cwd=work),
        "grader check 01, a student's copy": check(released),
        "grader check 01, the course": check(
            course.root, "--submission", course.root / "solutions"
        ),
    }
    taken: dict[str, list[float]] = {name: [] for name in actions}
    for _ in range(rounds):
        for name, action in actions.items():
            taken[name].append(seconds_of(action))
    first = taken['python -c "import torch"']
    table(
        "in a new process|ms (median)|ms (fastest)|times import torch",
        [
            (
                name,
                f"{1000 * median(times):.0f}",
                f"{1000 * min(times):.0f}",
                "1"
                if times is first
                else verdict(median(times) / median(first), 1.35, at_most=True),
            )
            for name, times in taken.items()
        ],
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="How fast a class is graded, against what.")
    parts = ("student", "optional", "nbgrader", "workers", "check", "class")
    parser.add_argument("--only", default=",".join(parts), help="parts, with commas between")
    parser.add_argument("--students", default="100,1000,5000", help="sizes of classes")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--course", type=Path, default=ROOT)
    options = parser.parse_args()
    wanted = options.only.split(",")
    course = load_course(options.course.resolve())
    print(f"Load of the machine at the start: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores.")
    with tempfile.TemporaryDirectory(prefix="benchmark-") as name:
        work = Path(name)
        if "student" in wanted:
            one_student(course, work, options.rounds)
        if "optional" in wanted:
            with_and_without(course, work / "optional", options.rounds)
        if "check" in wanted:
            cold_check(course, work, options.rounds)
        if "workers" in wanted:
            one_against_two(course, work, options.rounds)
        if "nbgrader" in wanted:
            against_nbgrader(course, work, 2)
        if "class" in wanted:
            classes_of(course, work, [int(size) for size in options.students.split(",")])


if __name__ == "__main__":
    main()
