"""A term of a class of 300, from the first assignment to the last grade, as a transcript.

    python tests/benchmarks/term.py --keep /tmp/term      # a quarter of an hour
    python tests/benchmarks/term.py --honest 27 --copies 5

Three assignments, handed in once or several times, with every known mistake of theirs, late, by groups,
by students with extensions, and by some who copied, in six ways. Everything is decided, published,
compared, mended and searched for pairs. Then it says how many planted pairs are among the first 40,
and whether those concerned by a corrected check are those who differ when everybody is graded again.
"""

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from grader.classes.records import open_records  # noqa: E402
from grader.course.course import Course, load_course  # noqa: E402
from grader.course.misconceptions import read_misconceptions  # noqa: E402
from tests.support.copied_class import ASSIGNMENTS, CopiedClass, copied_class  # noqa: E402
from tests.support.copied_words import Style  # noqa: E402

DUE = {
    id_: datetime(2026, 2, 2, tzinfo=UTC) + timedelta(weeks=number)
    for number, id_ in enumerate(ASSIGNMENTS)
}
FIRST, SECOND, THIRD = ASSIGNMENTS
PUBLISHED = "../graded/published"
"""What was published last, as commands are given it."""
GROUPS = 5
SHOWN_FIRST, SHOWN_LAST = 16, 7
"""How many lines of what a command says the transcript has."""
AMONG = 40
MENDED = f"tests/checks/{SECOND}/test_visible.py"
WRONG_CHECK = (
    '''
    @pytest.mark.conduct
    def test_the_weights_are_left_as_they_are(self, attempt, draw):
        """The weights should stay as they are."""
        attempt(*self.inputs(draw)).keeps_arguments()
''',
    "",
)
"""The check that turns out wrong, and what stands there afterwards."""


@dataclass(frozen=True, slots=True)
class Term:
    """What the class does.

    Args:
        course: a copy of the course, with due dates.
        made: what everybody hands in last, and who copied.
        names: everybody.
        alone: who has copied from nobody, and was copied by nobody: they hand in several times.
        groups: pairs, of whom the second hands in nothing for the first assignment.
        late: how many days late somebody is with the third one.
    """

    course: Course
    made: CopiedClass
    names: list[str]
    alone: list[str]
    groups: list[tuple[str, str]]
    late: dict[str, int]


def main() -> None:
    """Play and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, default in (("honest", 270), ("copies", 30), ("seed", 1)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--keep", type=Path, help="Work in this folder, and leave it.")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = (given.keep or Path(scratch)).resolve()
        course = copy_of_course(folder / "course")
        made = copied_class(course, folder / "last", given.honest, given.copies, given.seed)
        play(prepared(course, made, given.seed), folder)


# The class.


def copy_of_course(folder: Path) -> Course:
    """The course with due dates, in a folder of its own."""
    names = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout
    for name in filter(None, names.split("\0")):
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, target)
    manifest = folder / "course.toml"
    text = manifest.read_text("utf-8")
    for id_, due in DUE.items():
        line = f'id = "{id_}"\n'
        text = text.replace(line, f"{line}due = {due.isoformat()}\n")
    manifest.write_text(text, "utf-8")
    return load_course(folder)


def prepared(course: Course, made: CopiedClass, seed: int) -> Term:
    """Who does what."""
    draw = random.Random(f"term {seed}")
    names = sorted(path.name for path in made.folder.iterdir())
    alone = [name for name in names if not any(name in pair for pair in made.copied)]
    chosen = draw.sample(alone, 2 * min(GROUPS, len(alone) // 4))
    late = {name: draw.randrange(1, 5) for name in draw.sample(names, len(names) // 8)}
    groups = list(zip(chosen[::2], chosen[1::2], strict=True))
    return Term(course, made, names, alone, groups, late)


def hand_in(term: Term, handed_in: Path, id_: str) -> Counter[str]:
    """Everybody's attempts at an assignment; how many there are of which kind."""
    assignment, count = term.course.by_id[id_], Counter[str]()
    solution = term.course.paths(assignment).solution.read_text("utf-8")
    known = read_misconceptions(term.course, assignment)
    members = {other for _one, other in term.groups} if id_ == FIRST else set()
    for name in term.names:
        if name in members or (name in term.alone[7::50]):
            count["nothing"] += 1
            continue
        for early in known[term.alone.index(name) :: len(term.alone)] if name in term.alone else ():
            style = Style(random.Random(f"early {id_} {name} {early.id}"))
            text = style.rewritten(solution.replace(early.find, early.replace))
            before = timedelta(days=5, minutes=known.index(early))
            put(term, handed_in, name, id_, DUE[id_] - before, text=text)
            count["with a known mistake, early"] += 1
        late = term.late.get(name, 0) if id_ == THIRD else 0
        put(term, handed_in, name, id_, DUE[id_] + timedelta(days=late, hours=-2))
        count["late" if late > 0 else "in time"] += 1
    return count


def put(
    term: Term, handed_in: Path, name: str, id_: str, at: datetime, text: str | None = None
) -> None:
    """Write an attempt: a text, or what the student hands in last."""
    target = handed_in / name / f"{at:%Y-%m-%dT%H-%M-%SZ}" / id_
    if text is None:
        shutil.copytree(term.made.folder / name / id_, target)
    else:
        target.mkdir(parents=True)
        (target / f"{term.course.by_id[id_].module}.py").write_text(text, "utf-8")


def again(term: Term, handed_in: Path) -> int:
    """Some hand in the first assignment again, right, in a week when late work still counts."""
    path = term.course.paths(term.course.by_id[FIRST]).solution
    some = [name for name in term.alone[::10] if (handed_in / name).is_dir()]
    for name in some:
        text = Style(random.Random(f"again {name}")).rewritten(path.read_text("utf-8"))
        put(term, handed_in, name, FIRST, DUE[FIRST] + timedelta(days=2), text=text)
    return len(some)


def roster(term: Term) -> str:
    """Who is enrolled: two sections, three tutors, ten who do less."""
    rows = (
        f"{name},{name.title()},{name}@school.example,{'AB'[number % 2]},tutor {number % 3},"
        f"{'short' if number % 30 == 3 else ''}"
        for number, name in enumerate(term.names)
    )
    return "\n".join(("student,name,email,section,tutor,labels", *rows)) + "\n"


def decisions(term: Term) -> str:
    """Late days, more time, groups, what does not count, points by hand."""
    more_time = [*term.late][:6]
    ill = next(name for name in term.names if name not in term.late)
    parts = ["[late_days]\nbudget = 2\nper_assignment = 1\n"]
    parts += [
        f'[[extensions]]\nstudent = "{n}"\nassignment = "{THIRD}"\ndays = 3\n' for n in more_time
    ]
    parts += [
        f'[[groups]]\nstudents = ["{one}", "{other}"]\nassignment = "{FIRST}"\n'
        for one, other in term.groups
    ]
    last = term.course.by_id[SECOND].exercises[-1].id
    parts.append(f'[[exemptions]]\nstudent = "{ill}"\nexercises = ["{last}"]\n')
    short = f'["{FIRST}", "{SECOND}"]'
    parts.append(f'[[exercise_sets]]\nlabel = "short"\nexercises = {short}\n')
    points = f'exercise = "{last}"\npoints = 1.5\nreason = "Right but for a name."\n'
    parts.append(f'[[overrides]]\nstudent = "{term.names[-1]}"\n{points}')
    return "\n".join(parts)


# The term.


def play(term: Term, folder: Path) -> None:
    """Each step, with its commands."""
    course, handed_in = folder / "course", folder / "handed_in"

    def run(*words: str) -> str:
        return said(course, *words)

    (folder / "roster.csv").write_text(roster(term), "utf-8")
    grade = ["grade", "../handed_in", "--out", "../graded", "--roster", "../roster.csv"]
    grade += ["--policy", "best", "--report", "html"]
    heading(f"Week 1: {FIRST} is due")
    print(dict(hand_in(term, handed_in, FIRST)))
    run(*grade, "--assignment", FIRST)
    run("publish", "../graded")
    heading(f"Week 2: {SECOND} is due; some hand in {FIRST} again; groups, extensions, late days")
    print(dict(hand_in(term, handed_in, SECOND)), again(term, handed_in), "again")
    (course / "decisions.toml").write_text(decisions(term), "utf-8")
    run(*grade, "--assignment", FIRST, "--assignment", SECOND)
    run("compare", PUBLISHED, "../graded")
    run("publish", "../graded")
    heading(f"Week 3: {THIRD} is due; some are late")
    print(dict(hand_in(term, handed_in, THIRD)))
    everything = [word for id_ in ASSIGNMENTS for word in ("--assignment", id_)]
    run(*grade, *everything, "--report", "canvas", "--report", "items")
    run("publish", "../graded")
    heading("A student asks")
    failed = somebody_with_a_mistake(folder / "graded")
    run("explain", *failed, "--run", "../graded", "--submissions", "../handed_in", "--again")
    heading("A check turns out wrong: it is taken out, first in a copy of the course")
    shutil.copytree(course, folder / "mended")
    checks = folder / "mended" / MENDED
    text = checks.read_text("utf-8")
    assert text.count(WRONG_CHECK[0]) == 1
    checks.write_text(text.replace(*WRONG_CHECK), "utf-8")
    tried = ("../mended", "--submissions", "../handed_in", "--roster", "../roster.csv")
    named = concerned(run("compare", "../graded", *tried, "--format", "json"))
    before = scores(folder / "graded")
    shutil.copy(checks, course / MENDED)
    run(*grade, *everything, "--never-lower", PUBLISHED)
    after = scores(folder / "graded")
    anew = ("grade", "../handed_in", "--out", "../anew", *grade[4:8], *everything, "--quiet")
    run(*anew, "--seed", seed_of(folder / "graded"))
    all_again = scores(folder / "anew")
    moved = {name for name in before if before[name] != after[name]}
    differ = {name for name in before if before[name] != all_again[name]}
    heading("What the class shows")
    similar = ("similar", "../graded", "--submissions", "../handed_in")
    run(*similar, "--html", "../similar.html")
    pairs = json.loads(run(*similar, "--format", "json"))["pairs"][:AMONG]
    run("publish", "../graded")
    heading("Counted")
    print(f"compare named {len(named)} whose score changes; {len(differ)} differ when everybody is")
    print(
        f"graded again, the same: {named == differ}; in the run that took it over {len(moved)} moved,"
    )
    print(
        f"all of them named: {moved <= named}, the others kept a better score: {len(named - moved)}"
    )
    shown = {frozenset(pair["students"]): pair for pair in pairs}
    found = Counter(kind for two, kind in term.made.copied.items() if two in shown)
    for kind, count in Counter(term.made.copied.values()).items():
        print(f"{kind}: {found[kind]} of {count}")
    print(f"planted, among the first {AMONG}: {found.total()} of {len(term.made.copied)}")
    for two, pair in shown.items():
        if two not in term.made.copied:
            what = "; ".join(f"{one['kind']}: {one['what']}" for one in pair["shared"][:3])
            print(f"not planted: {pair['score']} {what}")


def heading(text: str) -> None:
    """A line between the steps."""
    print(f"\n# {text}\n", flush=True)


def said(course: Path, *words: str) -> str:
    """What a command prints, which is shown in part."""
    print("$ grader " + " ".join(words), flush=True)
    started = time.perf_counter()
    command = [sys.executable, "-m", "grader.cli", *words]
    environment = {**os.environ, "COLUMNS": "100"}
    ran = subprocess.run(
        command, cwd=course, env=environment, capture_output=True, text=True, check=False
    )
    lines = (ran.stdout + ran.stderr).splitlines()
    if len(lines) > SHOWN_FIRST + SHOWN_LAST:
        left_out = f"   … {len(lines) - SHOWN_FIRST - SHOWN_LAST} lines left out …"
        lines = [*lines[:SHOWN_FIRST], left_out, *lines[-SHOWN_LAST:]]
    print("\n".join(line[:160] for line in lines))
    print(f"[exit {ran.returncode}, {time.perf_counter() - started:.1f} s]\n", flush=True)
    if ran.returncode:
        raise SystemExit(ran.returncode)
    return ran.stdout


def summary(out: Path) -> dict[str, Any]:
    """A run in numbers."""
    found: dict[str, Any] = json.loads((out / "summary.json").read_text("utf-8"))
    return found


def scores(out: Path) -> dict[str, float]:
    """Everybody's score."""
    found: dict[str, float] = summary(out)["scores"]
    return found


def seed_of(out: Path) -> str:
    """What hidden inputs were drawn with."""
    return str(summary(out)["seed"])


def concerned(text: str) -> set[str]:
    """Whose score a comparison says changes."""
    return {row["student"] for row in json.loads(text)["changes"] if row["before"] != row["after"]}


def somebody_with_a_mistake(out: Path) -> tuple[str, str]:
    """A student and an exercise in which a known mistake was recognised."""
    for result in open_records(out).results():
        for exercise in result.exercises:
            if exercise.misconceptions:
                return result.student, exercise.id
    raise SystemExit("nobody has a known mistake")


if __name__ == "__main__":
    main()
