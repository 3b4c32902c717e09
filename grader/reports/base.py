"""What every report is made from and comes to, and the words they share. Pure."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from fractions import Fraction
from math import floor

from grader.core.files import OutputFile
from grader.core.language import N_, _
from grader.core.records import AssignmentResult, CheckResult, ExerciseResult, Outcome, Result
from grader.course.course import Course
from grader.grading.class_files import headline
from grader.grading.results import points
from grader.submissions.protected_files import Protection
from grader.submissions.roster import Enrolled

WORDS = {
    Outcome.PASSED: N_("passed"),
    Outcome.FAILED: N_("not right yet"),
    Outcome.NOT_ATTEMPTED: N_("not attempted yet"),
    Outcome.MISSING: N_("missing"),
    Outcome.BLOCKED: N_("not run"),
    Outcome.TIMEOUT: N_("took too long"),
    Outcome.OUT_OF_MEMORY: N_("out of memory"),
    Outcome.CRASHED: N_("crashed"),
    Outcome.REMARK: N_("a remark, which costs nothing"),
    Outcome.ERROR: N_("undecided: the grader failed"),
}
UNDECIDED = N_("Undecided: the grader itself failed. This is no zero.")
NOT_SUBMITTED = N_("Nothing was handed in. This is no zero.")


@dataclass(frozen=True, slots=True)
class Checked:
    """What a report of `grader check` comes to: files, and lines for standard output."""

    files: tuple[OutputFile, ...] = ()
    lines: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CheckedWork:
    """One student's own run.

    Args:
        course: the course.
        result: what came of it; visible checks only.
        folder: the submission's folder as the repository has it, with `/`; "" for its root.
        environment: the platform's variables.
        now: when, with its zone.
        protection: how the repository compares with its list of protected files.
    """

    course: Course
    result: Result
    folder: str
    environment: Mapping[str, str]
    now: datetime
    protection: Protection | None = None


@dataclass(frozen=True, slots=True)
class GradedClass:
    """One class after grading.

    Args:
        course: the course.
        results: per student, in order; the instructor's records.
        environment: the platform's variables.
        now: when, with its zone.
        roster: who is enrolled, as far as a roster told.
    """

    course: Course
    results: Sequence[Result]
    environment: Mapping[str, str]
    now: datetime
    roster: Mapping[str, Enrolled] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Report:
    """One way to render results.

    Args:
        check: for a student's own run; None where that makes no sense.
        grade: for a class; paths are relative to the report's own folder.
    """

    check: Callable[[CheckedWork], Checked] | None
    grade: Callable[[GradedClass], Iterable[OutputFile]] | None


def exercise_name(exercise: ExerciseResult) -> str:
    """The name a student writes, without the assignment."""
    return exercise.id.partition("/")[2]


def all_exercises(result: Result) -> list[ExerciseResult]:
    """All exercises of a result, in order."""
    return [exercise for assignment in result.assignments for exercise in assignment.exercises]


def is_solved(exercise: ExerciseResult) -> bool:
    """Whether it has its full score."""
    return not exercise.undecided and exercise.score == exercise.max_score


def is_untouched(exercise: ExerciseResult) -> bool:
    """Whether it was left as it was handed out, or not handed in at all."""
    silent = (Outcome.NOT_ATTEMPTED, Outcome.MISSING)
    return bool(exercise.checks) and exercise.checks[0].outcome in silent


def status_words(exercise: ExerciseResult, say: Callable[[str], str] = _) -> str:
    """An exercise in a few words, in the language of the run unless `say` is another."""
    return say(WORDS[Outcome.ERROR] if exercise.undecided else headline(exercise))


def telling(exercise: ExerciseResult) -> list[CheckResult]:
    """The checks that have something to say, those that cost points first."""
    silent = (Outcome.PASSED, Outcome.BLOCKED)
    found = [check for check in exercise.checks if check.outcome not in silent]
    if not found:  # then the first that was not run says for want of what
        found = [check for check in exercise.checks if check.outcome is Outcome.BLOCKED][:1]
    return sorted(found, key=lambda check: check.outcome is Outcome.REMARK)


def mistakes(exercise: ExerciseResult) -> list[str]:
    """The named mistakes, each with the question that leads out of it."""
    lines = []
    for finding in exercise.findings:
        several = len(finding.candidates) > 1
        for number, mistake in enumerate(finding.candidates):
            told = f"{mistake.symptom} ({mistake.id}) {mistake.question}"
            if several and not number:
                told = _("One of these mistakes: {mistake}").format(mistake=told)
            lines.append(told)
    return lines


def details(exercise: ExerciseResult) -> str:
    """What a student reads of an exercise: named mistakes, then each check's own message."""
    parts = mistakes(exercise)
    for check in telling(exercise):
        parts.append(f"{check.title}  ({_(WORDS[check.outcome])})")
        parts += [f"    {line}" for line in check.message.splitlines()]
    return "\n".join(parts)


def shown(score: object) -> str:
    """A score for people: a dash where there is none."""
    return "–" if score is None else str(score)


def score_line(result: Result) -> str:
    """The total in a sentence."""
    if result.undecided:
        return _(UNDECIDED)
    if result.score is None:
        return _(NOT_SUBMITTED)
    earned = _("{score} of {max_score} points")
    return earned.format(score=points(result.score), max_score=result.max_score)


def whole_exercises(assignment: AssignmentResult) -> dict[str, int]:
    """Each exercise's points as integers, for platforms that know no others; halves up.

    What late work costs is taken off each exercise alike, before it is rounded. An exercise
    without a score has no entry.
    """
    scores = {e.id: Fraction(e.score) for e in assignment.exercises if e.score is not None}
    full = sum(scores.values(), Fraction(0))
    kept = Fraction(assignment.score) / full if full and assignment.score is not None else 1
    return {id_: floor(score * kept + Fraction(1, 2)) for id_, score in scores.items()}


def whole_score(result: Result) -> int | None:
    """The sum of all whole points; None when the score is undecided or nothing was handed in."""
    if result.score is None or result.undecided:
        return None
    return sum(sum(whole_exercises(assignment).values()) for assignment in result.assignments)
