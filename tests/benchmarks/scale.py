"""What a term costs with many students who hand in five times each: seconds and memory by command.

    python tests/benchmarks/scale.py                 # 250 and 1,000 students: half an hour
    python tests/benchmarks/scale.py --sizes 20,80   # small classes
    python tests/benchmarks/scale.py --first 4       # four assignments, not all of the course

Student code runs for a few versions of each assignment only, before; the class hands in these, each
in words of its own, and has their outcomes. What is measured is everything else. Grades after each
attempt, and counts what was graded each time. Then nothing changes, a check is dropped for everybody,
an exercise does not count for everybody (so that each result is another one), pages are made, what was published before the last attempt is compared with the run, it is published
again, and searched for pairs. Prints a table in Markdown: seconds, those of the processor, the peak of
all processes together in MiB (memory that several share counted once), the processor's milliseconds
per student, and these against the smaller class: 1 is flat.
"""

import argparse
import json
import random
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import psutil
from msgspec.structs import replace

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from grader.classes.process_pool import grade_locally  # noqa: E402
from grader.classes.records import open_records  # noqa: E402
from grader.classes.run import Done  # noqa: E402
from grader.classes.store import RunSettings  # noqa: E402
from grader.cli import cli  # noqa: E402
from grader.cli import grade as grade_command  # noqa: E402
from grader.core.records import Outcome, Result  # noqa: E402
from grader.course.course import Assignment, Course, load_course  # noqa: E402
from grader.course.misconceptions import read_misconceptions  # noqa: E402
from grader.intake.folders import Student  # noqa: E402
from grader.judging.results import parsed, to_json  # noqa: E402
from tests.support.copied_class import Style  # noqa: E402

ATTEMPTS = 5
MISTAKES = 5
"""Versions of each assignment with a mistake; version 0 has none."""
AS_KNOWN = "--as-known"
GRADED = re.compile(r"Grading: .* of (\d+) attempts")
VERSION = "\n\n# version "
SECONDS_BETWEEN_LOOKS = 0.1
MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Cost:
    """What one command cost.

    Args:
        cpu: seconds of all its processes; other work on the machine changes them less.
        graded: how many attempts it graded.
    """

    name: str
    seconds: float
    cpu: float
    mib: float
    graded: int


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", default="250,1000")
    parser.add_argument("--keep", type=Path, help="Work in this folder, and leave it.")
    parser.add_argument(
        "--first", type=int, help="So many assignments are handed in; all unless given."
    )
    given = parser.parse_args()
    course = load_course(ROOT)
    course = course.only([a.id for a in course.assignments][: given.first])
    with tempfile.TemporaryDirectory() as scratch:
        folder = given.keep or Path(scratch)
        known = folder / "known.json"
        if not known.is_file():
            known.write_text(json.dumps(outcomes_of_versions(course, folder / "versions")), "utf-8")
        costs: dict[int, list[Cost]] = {}
        for size in map(int, given.sizes.split(",")):
            (folder / f"class-of-{size}").mkdir()
            costs[size] = [*a_term(course, folder / f"class-of-{size}", size, known)]
    columns = ["command", "students", "attempts graded", "s", "s of CPU", "MiB"]
    columns += ["ms of CPU per student", "against the class before"]
    print(f"| {' | '.join(columns)} |\n|---{'|---:' * (len(columns) - 1)}|")
    for line in lines(costs):
        print(line)


# What is handed in.


def version(course: Course, assignment: Assignment, number: int) -> str:
    """An assignment's solution: as it is, or with one of its known mistakes."""
    text = course.paths(assignment).solution.read_text("utf-8")
    known = read_misconceptions(course, assignment)
    if number and known:
        mistake = known[number * len(known) // (MISTAKES + 1)]
        text = text.replace(mistake.find, mistake.replace)
    return f"{text}{VERSION}{number}\n"


def versions(course: Course) -> dict[str, list[str]]:
    """The versions of each assignment."""
    return {
        assignment.id: [version(course, assignment, number) for number in range(MISTAKES + 1)]
        for assignment in course.assignments
    }


def outcomes_of_versions(course: Course, folder: Path) -> list[dict[str, Any]]:
    """The outcomes of each version of the whole course, as JSON."""
    for id_, texts in versions(course).items():
        for number, text in enumerate(texts):
            write(folder / str(number), course.by_id[id_], text)
    students = [Student(str(number), folder / str(number)) for number in range(MISTAKES + 1)]
    settings = RunSettings(ROOT, course.hash, "1", "process")
    found = {student.id: result for student, result in grade_locally(settings, students, jobs=2)}
    graded = [one for student in students if not isinstance(one := found[student.id], str)]
    return [to_json(one) for one in graded]


def hand_in(course: Course, folder: Path, size: int, attempt: int) -> None:
    """Everybody's attempt of this number: all assignments, with fewer mistakes each time."""
    texts = versions(course)
    for number in range(size):
        target = folder / f"student-{number:05}" / f"2027-02-{attempt:02}T10-00-00Z"
        for place, assignment in enumerate(course.assignments):
            is_wrong = attempt <= (number + place) % (ATTEMPTS + 1)
            text = texts[assignment.id][1 + number % MISTAKES if is_wrong else 0]
            style = Style(random.Random(f"{number} {assignment.id}"))
            write(target, assignment, style.written(text))


def write(folder: Path, assignment: Assignment, text: str) -> None:
    """Write an assignment's file."""
    path = folder / assignment.id / f"{assignment.module}.py"
    path.parent.mkdir(parents=True)
    path.write_text(text, "utf-8")


def as_known(known: Path, arguments: Sequence[str]) -> None:
    """A command that takes outcomes from what is known, by the version that a file is."""
    course, results = load_course(ROOT), [*map(as_result, json.loads(known.read_text("utf-8")))]

    def grade(_settings: RunSettings, students: Sequence[Student]) -> Done:
        for student in students:
            yield student, outcomes(course, results, student)

    vars(grade_command)["_scheduler"] = lambda *_: grade
    cli(arguments)


def as_result(record: Any) -> Result:
    """A result from its JSON."""
    return parsed(json.dumps(record))


def outcomes(course: Course, results: Sequence[Result], student: Student) -> Result:
    """What is known of what a student handed in."""
    parts = []
    for position, assignment in enumerate(course.assignments):
        if student.path is not None and assignment.id in (student.only or course.by_id):
            path = student.path / assignment.id / f"{assignment.module}.py"
            number = path.read_text("utf-8").rpartition(VERSION)[2]
            parts.append(results[int(number)].assignments[position])
    return replace(results[0], student=student.id, assignments=tuple(parts))


# Commands.


def a_term(course: Course, folder: Path, size: int, known: Path) -> Iterator[Cost]:
    """Each command of a term, with what it cost."""
    students, out = folder / "class", folder / "out"
    grade: list[object] = [AS_KNOWN, known, "grade", students, "--out", out, "--seed", "1"]
    grade += ["--isolation", "process", "--roster", folder / "roster.csv"]
    grade += [word for id_ in course.by_id for word in ("--assignment", id_)]
    names = (f"student-{number:05},everybody\n" for number in range(size))
    (folder / "roster.csv").write_text("student,labels\n" + "".join(names), "utf-8")
    for attempt in range(1, ATTEMPTS):
        hand_in(course, students, size, attempt)
        yield measured(f"grade, attempt {attempt}", *grade)
    yield measured("publish", "publish", out)
    hand_in(course, students, size, ATTEMPTS)
    yield measured(f"grade, attempt {ATTEMPTS}", *grade)
    yield measured("grade, nothing new", *grade)
    published = out / "published"
    page = folder / "page.html"
    yield measured("compare", "compare", published, out)
    json_ = ("--format", "json", "--html", page)
    yield measured("compare, JSON and a page", "compare", published, out, *json_)
    decisions = folder / "decisions.toml"
    decisions.write_text(f'[[drop]]\ncheck = "{most_failed(out)}"\n', "utf-8")
    decided = (*grade, "--decisions", decisions)
    yield measured("grade, a check dropped for all", *decided)
    exempt = next(iter(course.exercises))
    decisions.write_text(
        f'[[exemptions]]\nlabel = "everybody"\nexercises = ["{exempt}"]\n', "utf-8"
    )
    yield measured("grade, an exercise exempt for all", *decided)
    yield measured("grade, pages", *decided, "--report", "html")
    yield measured("publish again", "publish", out)
    yield measured("similar, a page", "similar", out, "--submissions", students, "--html", page)
    yield measured("grade, best attempt", *decided, "--policy", "best")


def most_failed(out: Path) -> str:
    """The check that most students fail."""
    failed = Counter[str]()
    for result in open_records(out).results():
        for exercise in result.exercises:
            failed.update(c.id for c in exercise.checks if c.outcome is Outcome.FAILED)
    return failed.most_common(1)[0][0]


def measured(name: str, *arguments: object) -> Cost:
    """Run a command, and look at its memory until it ends."""
    started, used, most = time.perf_counter(), cpu_of_children(), 0
    with tempfile.TemporaryFile("w+") as said:
        program = [__file__] if AS_KNOWN in arguments else ["-m", "grader.cli"]
        command = [sys.executable, *program, *map(str, arguments)]
        process = psutil.Popen(command, cwd=ROOT, stdout=said, stderr=subprocess.STDOUT)
        while process.poll() is None:
            most = max(most, memory(process))
            time.sleep(SECONDS_BETWEEN_LOOKS)
        seconds = time.perf_counter() - started
        said.seek(0)
        text = said.read()
    if process.returncode:
        raise SystemExit(f"{name} ended with {process.returncode}: {text}")
    found = GRADED.search(text)
    count = int(found[1]) if found else 0
    cost = Cost(name, seconds, cpu_of_children() - used, most / MIB, count)
    print(f"{name}: {seconds:.1f} s, {cost.cpu:.1f} of CPU, {cost.mib:.0f} MiB", file=sys.stderr)
    return cost


def cpu_of_children() -> float:
    """The processor's seconds of all children that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def memory(process: psutil.Popen) -> int:
    """The bytes that a process and all below it have now; what several share counts once."""
    total = 0
    try:
        family = [process, *process.children(recursive=True)]
    except psutil.Error:
        return 0
    for one in family:
        try:
            text = Path(f"/proc/{one.pid}/smaps_rollup").read_text("ascii")
            total += int(text.partition("\nPss:")[2].split()[0]) * 1024
        except (OSError, IndexError, ValueError):
            continue
    return total


def lines(costs: Mapping[int, Sequence[Cost]]) -> Iterator[str]:
    """The rows of the table: each command for each class, the smallest first."""
    for position, first in enumerate(next(iter(costs.values()))):
        sizes = [(size, found[position]) for size, found in costs.items()]
        per = [1000 * cost.cpu / size for size, cost in sizes]
        ratios = ["", *(f"{after / before:.2f}" for before, after in pairwise(per))]
        for (size, cost), each, ratio in zip(sizes, per, ratios, strict=True):
            yield (
                f"| {first.name} | {size} | {cost.graded} | {cost.seconds:.1f} | {cost.cpu:.1f} | {cost.mib:.0f} | "
                f"{each:.0f} | {ratio} |"
            )


if __name__ == "__main__":
    if sys.argv[1:2] == [AS_KNOWN]:
        as_known(Path(sys.argv[2]), sys.argv[3:])
    else:
        main()
