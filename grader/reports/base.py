"""What all reports are made from, what they return, and what they share. Pure."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from fractions import Fraction
from math import floor

from grader.core.entry_points import entries, load
from grader.core.files import OutputFile, file_name
from grader.core.language import N_, _
from grader.core.records import AssignmentResult, Result
from grader.core.views import ViewResult
from grader.course.course import Course
from grader.intake.roster import Enrolled
from grader.judging.outcomes import score_words
from grader.judging.results import for_student, points
from grader.submissions.protected_files import Protection

UNDECIDED = N_("Undecided: a part could not be judged. This is not a zero.")
NOT_SUBMITTED = N_("Nothing was handed in. This is not a zero.")
NOTHING_COUNTS = N_("Nothing of it counts for you. This is not a zero.")


@dataclass(frozen=True, slots=True)
class Checked:
    """What a report of `grader check` returns: files, and lines for standard output."""

    files: tuple[OutputFile, ...] = ()
    lines: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CheckedWork:
    """One student's own run.

    Args:
        course: the course.
        result: of the visible checks.
        folder: the submission's folder as the repository has it, with `/`; "" for its root.
        environment: the platform's variables.
        now: when, with its zone.
        protection: how the repository compares with its list of protected files.
        views: makes those of what is solved, for a page.
    """

    course: Course
    result: Result
    folder: str
    environment: Mapping[str, str]
    now: datetime
    protection: Protection | None = None
    views: Callable[[], tuple[ViewResult, ...]] = tuple


@dataclass(frozen=True, slots=True)
class GradedClass:
    """One class after grading.

    Args:
        course: the course.
        results: per student, in order; the instructor's records.
        environment: the platform's variables.
        now: when, with its zone.
        roster: who is enrolled, where there is a roster.
        covers: how many of the results are of this run, as a sentence.
    """

    course: Course
    results: Sequence[Result]
    environment: Mapping[str, str]
    now: datetime
    roster: Mapping[str, Enrolled] = field(default_factory=dict)
    covers: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """One way to render results.

    Args:
        check: for a student's own run.
        grade: for a class; paths are relative to the report's own folder.
    """

    check: Callable[[CheckedWork], Checked]
    grade: Callable[[GradedClass], Iterable[OutputFile]]


OF_CHECK, OF_GRADE = "grader.reports.check", "grader.reports.grade"
"""The entry points of reports: functions of a student's own run, and of a class."""


def checked(names: Sequence[str], run: CheckedWork) -> Checked:
    """The reports asked for, of a student's own run."""
    parts = [load(entries(OF_CHECK)[name])(run) for name in dict.fromkeys(names)]
    files = tuple(file for part in parts for file in part.files)
    return Checked(files, tuple(line for part in parts for line in part.lines))


def graded(names: Sequence[str], run: GradedClass) -> Iterator[OutputFile]:
    """The reports asked for, of a class; each report's files in a folder of its name."""
    for name in dict.fromkeys(names):
        for file in load(entries(OF_GRADE)[name])(run):
            yield OutputFile(f"{name}/{file.path}", file.content, file.append)


def one_file(file: str, render: Callable[[CheckedWork], str | None]) -> Report:
    """A report that is one file, and one for each student of a class, fit to be shown to them.

    Args:
        file: its name, where the command is run.
        render: its text; None for no file, and no old one, where there is no score.
    """

    def grade(run: GradedClass) -> Iterator[OutputFile]:
        for result in run.results:
            environment = {"OWNER": result.student, **run.environment}
            work = CheckedWork(run.course, for_student(result), "", environment, run.now)
            path = f"{file_name(result.student)}.{file.rpartition('.')[2]}"
            yield OutputFile(path, render(work))

    return Report(lambda run: Checked((OutputFile(file, render(run)),)), grade)


def json_text(record: object) -> str:
    """A record as a file that people may read, too."""
    return json.dumps(record, indent=2, ensure_ascii=False) + "\n"


def shown(score: object) -> str:
    """A score for people: a dash where there is none."""
    return "–" if score is None else str(score)


def score_line(result: Result) -> str:
    """The total in a sentence."""
    if result.undecided:
        return _(UNDECIDED)
    if result.score is None:
        return _(NOTHING_COUNTS if result.submitted or result.is_exempt else NOT_SUBMITTED)
    return score_words(points(result.score), result.max_score)


def whole_exercises(assignment: AssignmentResult) -> dict[str, int]:
    """Each exercise's points as integers, for platforms that know no others; halves up.

    The late penalty lowers each exercise by the same share, before it is rounded. An exercise
    without a score has no entry.
    """
    scores = {e.id: Fraction(e.score) for e in assignment.exercises if e.score is not None}
    full = sum(scores.values(), Fraction(0))
    kept = Fraction(assignment.score) / full if full and assignment.score is not None else 1
    return {id_: floor(score * kept + Fraction(1, 2)) for id_, score in scores.items()}


def whole_points(points: float) -> int:
    """Points as an integer, halves up."""
    return floor(points + 0.5)


def whole_score(result: Result) -> int | None:
    """The sum of all whole points; None when the score is undecided or nothing was handed in."""
    if result.score is None or result.undecided:
        return None
    return sum(sum(whole_exercises(assignment).values()) for assignment in result.assignments)
