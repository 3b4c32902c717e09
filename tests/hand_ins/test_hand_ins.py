"""Files as students really hand them in: nothing that stands in them is lost, and what is right counts."""

import json
import re
import shutil
import tomllib
import zipfile
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from golden_results import golden_exercise

from grader.classes.worker import grade_student
from grader.core.records import ExerciseResult, Outcome, Result
from grader.course.course import load_course
from grader.intake.folders import Student
from grader.intake.read import read_submissions
from grader.judging.known_mistakes import RecordedMistakes
from grader.judging.seal_probe import launcher_as_graded
from grader.judging.submission_grader import full_grader
from grader.sessions.launchers import default_launcher

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("hand-ins")]

HERE = Path(__file__).parent
SUBMISSIONS, GOLDEN = HERE / "submissions", HERE / "golden.json"
SEED = "1"


@dataclass(frozen=True, slots=True)
class HandIn:
    """What a student handed in, and what should come of it.

    Args:
        shows: what is special about it.
        form: "folder", "file" (the only one in its folder, by itself) or "zip".
        full: the exercises that should have full marks.
        less: those that should lose points, each with the reason.
        unreached: those that stand where Python itself cannot read them.
    """

    shows: str
    form: str = "folder"
    full: list[str] = field(default_factory=list)
    less: dict[str, str] = field(default_factory=dict)
    unreached: list[str] = field(default_factory=list)

    @property
    def named(self) -> set[str]:
        """Every exercise that is declared, by assignment's number and name."""
        return {*self.full, *self.less, *self.unreached}


EXPECTED = {
    name: HandIn(**entry)
    for name, entry in tomllib.loads((HERE / "expected.toml").read_text("utf-8")).items()
}
TRIED = list(EXPECTED)[::12]
"""What `make test` grades; the proof grades all."""

QUICK, AS_A_CLASS = "quickly", "as a class"
"""Ways of grading: in child processes, without the names of mistakes, or sealed and with them."""

EACH = pytest.mark.parametrize("name", EXPECTED)
EACH_GRADED = pytest.mark.parametrize(
    ("way", "name"),
    [
        *(pytest.param(QUICK, name) for name in TRIED),
        *(
            pytest.param(AS_A_CLASS, name, marks=[pytest.mark.proof, pytest.mark.long])
            for name in EXPECTED
        ),
    ],
)


Graded = Callable[[str], dict[str, Result]]


@pytest.fixture(scope="module")
def graded(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Graded:
    """The results of a way of grading, by hand-in; each way is gone once."""
    course, zips = load_course(root), packed(tmp_path_factory.mktemp("zips"))

    @cache
    def results(way: str) -> dict[str, Result]:
        names, launcher, grader = TRIED, default_launcher, full_grader(course, SEED)
        if way == AS_A_CLASS:
            names, launcher = list(EXPECTED), launcher_as_graded
        else:
            grader = replace(grader, mistakes=RecordedMistakes({}))
        with (
            closing(grader),
            closing(launcher()) as children,
            read_submissions(course, zips) as intake,
        ):
            own = {student.id: student for student in intake.students}
            students = [own.get(name) or Student(name, path_of(name)) for name in names]
            return {one.id: grade_student(grader, children, one) for one in students}

    return results


def path_of(name: str) -> Path:
    """What is graded: the folder, or the file in it."""
    folder = SUBMISSIONS / name
    return next(folder.iterdir()) if EXPECTED[name].form == "file" else folder


def packed(folder: Path) -> Path:
    """One zip with a zip of each student who hands in that way."""
    names = [name for name, hand_in in EXPECTED.items() if hand_in.form == "zip"]
    with zipfile.ZipFile(folder / "class.zip", "w") as whole:
        for name in names:
            own = shutil.make_archive(str(folder / name), "zip", SUBMISSIONS / name)
            whole.write(own, f"{name}.zip")
    return folder / "class.zip"


def exercises(result: Result) -> dict[str, ExerciseResult]:
    """The exercises of a result, by assignment's number and name."""
    found = (exercise for assignment in result.assignments for exercise in assignment.exercises)
    return {short(exercise.id): exercise for exercise in found}


def short(id_: str) -> str:
    """An exercise's id with the assignment's number alone."""
    return f"{id_[:2]}/{id_.partition('/')[2]}"


@EACH_GRADED
def test_no_definition_is_lost(way: str, name: str, graded: Graded) -> None:
    """Every exercise that stands in the files is judged."""
    found, hand_in = exercises(graded(way)[name]), EXPECTED[name]
    judged = {id_ for id_, e in found.items() if e.checks[0].outcome is not Outcome.MISSING}
    assert sorted({*hand_in.full, *hand_in.less} - judged) == []


@EACH_GRADED
def test_what_is_right_has_full_marks_and_nothing_else(way: str, name: str, graded: Graded) -> None:
    """Points are lost exactly where the code is wrong."""
    found = exercises(graded(way)[name])
    full = {id_ for id_, exercise in found.items() if exercise.is_solved}
    assert sorted(full) == sorted(EXPECTED[name].full)


@EACH_GRADED
def test_the_result_is_the_golden_one(
    way: str, name: str, graded: Graded, request: pytest.FixtureRequest
) -> None:
    """Scores, outcomes, mistakes, first messages and notes are as written down."""
    whole = json.loads(GOLDEN.read_text("utf-8")) if GOLDEN.exists() else {}
    found = golden(graded(way)[name], EXPECTED[name].named)
    if request.config.getoption("--update-golden") and way == AS_A_CLASS:
        whole = {key: value for key, value in {**whole, name: found}.items() if key in EXPECTED}
        GOLDEN.write_text(by_lines(whole), "utf-8", newline="\n")
    expected = whole.get(name)
    if way == AS_A_CLASS:
        assert found == expected
    else:
        assert without_names(found, expected) == without_names(expected, expected)


def by_lines(whole: dict[str, dict[str, Any]]) -> str:
    """Golden results as JSON with a line for each exercise."""
    blocks = []
    for name, found in sorted(whole.items()):
        lines = [
            f' "{key}": {json.dumps(value, ensure_ascii=False)}' for key, value in found.items()
        ]
        blocks.append(f'"{name}": {{\n' + ",\n".join(lines) + "\n}")
    return "{\n" + ",\n".join(blocks) + "\n}\n"


def without_names(found: dict[str, Any], named: dict[str, Any]) -> dict[str, Any]:
    """A golden result without the names of mistakes, and without scores where there are any.

    Args:
        found: the result.
        named: the result with names.
    """
    decided = {
        id_ for id_, one in named.items() if isinstance(one, dict) and "misconceptions" in one
    }
    left_out = {id_: {"misconceptions", *({"score"} if id_ in decided else ())} for id_ in found}
    return {
        id_: {key: one[key] for key in one if key not in left_out[id_]}
        if isinstance(one, dict)
        else one
        for id_, one in found.items()
    }


def golden(result: Result, named: set[str]) -> dict[str, Any]:
    """What was read, with its notes, and every exercise that stands in the files."""
    found = exercises(result)
    notes = {a.id: [a.read_from, *a.notes] for a in result.assignments if a.read_from or a.notes}
    told = {
        id_: int(e.max_score) if is_plain(e) else golden_exercise(e)
        for id_, e in found.items()
        if id_ in named or e.checks[0].outcome is not Outcome.MISSING
    }
    return {"read": notes, **told}


def is_plain(exercise: ExerciseResult) -> bool:
    """Whether every check passed, remarks included."""
    return all(check.outcome is Outcome.PASSED for check in exercise.checks)


# The table.


DEFINED = re.compile(r'^(?: *")?(?:(?:class|def) +(?=\w+ *[(:])|(?=\w+ *=[^=]))(\w+)', re.MULTILINE)
"""A name that is set at the left margin, in a script or in a notebook's lines."""


def test_the_table_lists_every_hand_in() -> None:
    """Each has a folder, and each folder an entry."""
    assert sorted(EXPECTED) == sorted(path.name for path in SUBMISSIONS.iterdir())


def test_there_are_many_hand_ins_of_every_assignment(root: Path) -> None:
    """At least sixty, with both right and wrong answers in every assignment with points of its own."""
    course = load_course(root)
    required = (one for one in course.assignments if not one.optional)
    numbers = {assignment.id[:2] for assignment in required if assignment.max_score}
    right = {id_[:2] for hand_in in EXPECTED.values() for id_ in hand_in.full}
    wrong = {id_[:2] for hand_in in EXPECTED.values() for id_ in hand_in.less}
    assert (len(EXPECTED) >= 60, right, wrong) == (True, numbers, numbers)


@EACH
def test_the_table_lists_what_stands_in_the_files(name: str, root: Path) -> None:
    """Each exercise whose name is set in one of the files, under one assignment or another."""
    texts = map(text_of, (path for path in (SUBMISSIONS / name).rglob("*") if path.is_file()))
    names = {found for text in texts for found in DEFINED.findall(text)}
    known = {exercise.name for exercise in load_course(root).exercises.values()}
    listed = EXPECTED[name].named
    assert {id_.partition("/")[2] for id_ in listed} >= names & known
    assert listed <= {short(id_) for id_ in load_course(root).exercises}


def text_of(path: Path) -> str:
    """A file's text, as far as names go; in a notebook each line begins with a quote."""
    data = path.read_bytes()
    is_wide = data.startswith((b"\xff\xfe", b"\xfe\xff"))
    return data.decode("utf-16" if is_wide else "latin-1")
