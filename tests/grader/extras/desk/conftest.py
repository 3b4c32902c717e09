"""A graded class of twenty with its desk, and a browser for it."""

import shutil
import tomllib
from pathlib import Path

import pytest
from browser import chromium, visit
from desk_server import served

from grader.classes.decisions import Known, read_decisions
from grader.classes.records import earlier_options, open_records
from grader.course.course import load_course
from grader.extras.desk.desk import Desk
from grader.intake.folders import Student
from grader.intake.read import IntakeResult
from grader.intake.roster import Enrolled
from tests.grader.classes.conftest import STUDENTS, Class, write_work

__all__ = ["chromium", "visit"]

DUE = '"Scores"\ndue = 2027-02-01T00:00:00Z\n'
SCORES = "01_scores/scores"
HOSTILE = "<script>document.title = 'live'</script></pre>"
IMAGE = '"><img src=x onerror=alert(1)>'
FILE = f"""\
# Decided by us two.
[[groups]]    # they told us
students = ["{STUDENTS[0]}", "{STUDENTS[1]}"]
assignment = "01"

# Ill.
[[extensions]]
student = "{STUDENTS[2]}"   # a letter came
assignment = "scores"
days = 2
"""


class Room:
    """A graded class with its desk, which all tests of this file share: each has students of its own."""

    def __init__(self, folder: Path, course: Path) -> None:
        path = course / "course.toml"
        path.write_text(path.read_text("utf-8").replace('"Scores"\n', DUE), "utf-8")
        self.folder, self.names = folder, (*STUDENTS, IMAGE)
        for name in self.names:
            (folder / "class" / name).mkdir(parents=True)
            write_work(folder / "class" / name, name)
        write_work(folder / "class" / IMAGE, HOSTILE)
        self.path = course / "decisions.toml"
        self.path.write_text(FILE, "utf-8")
        requests = folder / "requests.csv"
        requests.write_text(f"student,exercise,why\n{STUDENTS[9]},scores,<i>Look</i>\n", "utf-8")
        self.run = Class(course, folder / "class", folder / "out")
        self.grade()
        students = [Student(name, folder / "class" / name) for name in self.names]
        roster = {name: Enrolled(name, section="AB"[n % 2]) for n, name in enumerate(self.names)}
        intake, options = IntakeResult(students, roster), earlier_options(self.run.out)
        assert options is not None
        self.desk = Desk(
            load_course(course), self.run.out, options, intake, self.path, requests=requests
        )

    def grade(self) -> dict[str, str]:
        """What a run writes with the decisions of the file."""
        course = load_course(self.run.course)
        known = Known(self.names, None, True, lambda _exercise: {})
        decisions = read_decisions(self.path, course, known)
        roster = {name: Enrolled(name, section="AB"[n % 2]) for n, name in enumerate(self.names)}
        self.run.run(names=self.names, decisions=decisions, roster=decisions.labelled(roster))
        return self.run.files()

    def decided(self, kind: str, student: str) -> list[dict[str, object]]:
        """What the file says of a student."""
        entries = tomllib.loads(self.path.read_text("utf-8")).get(kind, [])
        return [entry for entry in entries if entry["student"] == student]

    def feedback(self, student: str) -> str:
        """What a student receives."""
        return (self.run.out / "feedback" / f"{student}.json").read_text("utf-8")

    def result(self, student: str):
        """A student's record."""
        return open_records(self.run.out).result(student)


@pytest.fixture(scope="module")
def room(example_course, tmp_path_factory):
    """The class."""
    folder = tmp_path_factory.mktemp("desk")
    shutil.copytree(example_course, folder / "course")
    return Room(folder, folder / "course")


@pytest.fixture(scope="module")
def addresses(room):
    """Where its desk is: the address that is printed, and the one for a browser that is started."""
    with served(room.desk) as where:
        yield where


@pytest.fixture
def address(addresses):
    """The first of them."""
    return addresses[0]
