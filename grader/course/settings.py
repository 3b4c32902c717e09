"""`course.toml` as it is written: what its tables may hold."""

import ast
from dataclasses import dataclass
from typing import Annotated, Literal

from grader.core.language import CODE
from grader.course.toml_table import Moment, Name, Points, Text, like, needed, whole

ENCODINGS = ("cp1252",)
"""What files are tried in that are not in UTF-8 and do not name their encoding: western Windows'."""
MOST_DECIMALS = 7
"""What a float32 has."""
ASSIGNMENT_ID = r"[0-9][0-9]_([a-z][a-z0-9]*(?:_[a-z0-9]+)*)"

Language = Annotated[str, like(CODE, "zh_CN")]
RoleWord = Annotated[str, like("[a-z]+", "out")]
OtherName = Annotated[str, like(r"\w+", "Name")]
Plain = Annotated[bool | int | float, needed("a number, true or false")]
RoleWords = tuple[tuple[str, tuple[str, ...]], ...]
"""By what parameters stand for, the words that say it in their names."""


@dataclass(frozen=True, slots=True)
class OtherNames:
    """What the world calls things that a course names; they count where its own name is not there.

    Args:
        exercises: by an exercise's name, what else it is called.
        arguments: by the name of a constructor's argument, what else it is called; by "settings",
            what an argument is called that holds all the others; by "absent", what these are asked
            for and do not have.
        unasked: arguments that no solution takes, each with the value that changes nothing.
    """

    exercises: RoleWords = ()
    arguments: RoleWords = ()
    unasked: tuple[tuple[str, object], ...] = ()

    def of(self, argument: str) -> tuple[str, ...]:
        """All names of an argument."""
        return argument, *dict(self.arguments).get(argument, ())


NO_OTHER_NAMES = OtherNames()


@dataclass(frozen=True, slots=True)
class LedgerSettings:
    """How the printed tensors of a course are kept and shown.

    Args:
        file: their list, as a path from the course's folder.
        decimals: how many digits after the point are printed.
        source: whose values they are, in words that fit "The expected values are …"; "" for none.
        labels: what the positions of a text's tensors are called in pictures.
        axes: the names of the axes whose positions have these labels.
    """

    file: Annotated[str, like(r"(?:\w[\w.-]*/)*\w[\w.-]*\.json", "tests/printed_tensors.json")]
    decimals: Annotated[int, whole(0, MOST_DECIMALS)] = 4
    source: Text = ""
    labels: tuple[str, ...] = ()
    axes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Raise ValueError where only one of labels and axes is there."""
        if bool(self.labels) != bool(self.axes):
            raise ValueError("labels and axes belong together; found one of them")


@dataclass(frozen=True)
class About:
    """The table `[course]`; its fields are those of a `Course`, but for `optional`."""

    title: Text
    prefer: Literal["py", "ipynb"] = "py"
    points: Points | None = None
    language: str = ""
    agents_file: bool = True
    languages: tuple[Language, ...] | None = None
    about: Text = ""
    notes: tuple[str, ...] = ()
    guide: Text = ""
    optional: bool = True
    encodings: tuple[str, ...] = ENCODINGS


@dataclass(frozen=True, slots=True)
class GradeSettings:
    """The table `[grade]`: what commands take where their options say nothing.

    Files and folders are seen from the course's folder. Nothing of it decides what a check finds.

    Args:
        submissions: what the class handed in.
        out: the folder for results.
        never_lower: an earlier run's folder, or "published" for what `out` published last.
        reports: the names of those to make.
        assignments: those to grade; all for none.
        requests: what students ask to be looked at again.
        mail_server: what sends pages, as `host:port`.
        mail_from: the instructor's own address.
        repository: where students' repositories are, with `{login}`; pages are pushed there, not mailed.
    """

    submissions: Text = ""
    out: Text = ""
    roster: Text = ""
    times: Text = ""
    policy: Literal["last", "best", "best-per-exercise", "last-in-time"] = "last"
    history: bool = False
    never_lower: Text = ""
    reports: tuple[str, ...] = ()
    assignments: tuple[str, ...] = ()
    requests: Text = ""
    mail_server: Text = ""
    mail_from: Text = ""
    repository: Text = ""


NO_SETTINGS = GradeSettings()

EXERCISES = needed("at least one exercise with its points", min_length=1)


@dataclass(frozen=True, slots=True)
class AssignmentEntry:
    """An entry of `[[assignments]]`."""

    id: Annotated[str, like(ASSIGNMENT_ID, "01_first_steps")]
    title: Text
    exercises: Annotated[dict[Name, Points], EXERCISES]
    imports: tuple[str, ...] = ()
    compares: tuple[str, ...] = ()
    lends: str = ""
    due: Moment | None = None
    optional: bool = False

    def __post_init__(self) -> None:
        """Raise ValueError where it lends anything but exercises of its own."""
        if self.lends and not self._lends_exercises():
            raise ValueError(
                "lends: Python code that defines exercises of this assignment is needed"
            )

    def _lends_exercises(self) -> bool:
        try:
            nodes = ast.parse(self.lends).body
        except (SyntaxError, ValueError, RecursionError):
            return False
        names = {n.name for n in nodes if isinstance(n, ast.FunctionDef | ast.ClassDef)}
        return bool(names) and names <= self.exercises.keys()
