"""What pages show, worked out from results: no markup here, and no logic in the templates."""

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from grader.core.language import _
from grader.core.records import (
    AssignmentResult,
    CheckResult,
    ExerciseResult,
    Finding,
    Outcome,
    Result,
    Visibility,
)
from grader.core.text import clean
from grader.course.course import Course
from grader.feedback.outcomes import SIGNS, WORDS, ExerciseStatus, exercise_status, shown_checks
from grader.grading.results import for_student, points
from grader.reports.html.heatmap import Figure, figure

MOST_LINES = 20
"""The lines of a message that are shown; the rest is folded."""

MOST_HINTS = 6
"""The lines below a picture that are shown."""

DONE = (ExerciseStatus.SOLVED, ExerciseStatus.UNDECIDED)
"""Exercises with such a status leave their student nothing to do."""


@dataclass(frozen=True, slots=True)
class Wording:
    """A check that has something to say.

    Args:
        check: the check.
        code: what was called.
        text: what it returned, in words.
        after: what may lie behind it.
        more: the lines of a long message that are folded.
        numbers: the tensors as text, for who wants to copy them.
        figure: the same as a picture.
    """

    check: CheckResult
    code: str = ""
    text: str = ""
    after: tuple[str, ...] = ()
    more: str = ""
    numbers: str = ""
    figure: Figure | None = None

    @property
    def sign(self) -> str:
        """What comes before its title."""
        return SIGNS[self.check.outcome]

    @property
    def word(self) -> str:
        """How it ended, "" where the sign says it."""
        is_plain = self.check.outcome is Outcome.FAILED
        return "" if is_plain else _(WORDS[self.check.outcome])


@dataclass(frozen=True, slots=True)
class Card:
    """An exercise on a page.

    Args:
        name: what the student writes.
        anchor: its address on the page.
        status: how far it is.
        score: the points earned, as shown.
        max_score: the points there are.
        findings: the mistakes that were recognised.
        first: the failure to begin with; None where nothing visible costs points.
        others: the other checks that say something.
        hidden: titles of the hidden checks that did not pass.
        passed: titles of the checks that did.
        is_unknown: whether it is wrong in a way that is none of the known mistakes.
        hint: the command for a hint.
        read_from: the file.
    """

    name: str
    anchor: str
    status: ExerciseStatus
    score: str
    max_score: int
    findings: tuple[Finding, ...]
    first: Wording | None
    others: tuple[Wording, ...]
    hidden: tuple[str, ...]
    passed: tuple[str, ...]
    is_unknown: bool
    hint: str
    read_from: str

    @property
    def is_open(self) -> bool:
        """Whether there is something to mend."""
        return self.status is not ExerciseStatus.SOLVED and bool(self.first or self.hidden)


@dataclass(frozen=True, slots=True)
class Section:
    """An assignment on a page."""

    id: str
    title: str
    read_from: str
    score: str
    max_score: int
    share: int
    notes: tuple[str, ...]
    cards: tuple[Card, ...]

    @property
    def is_empty(self) -> bool:
        """Whether nothing was handed in for it."""
        return not self.read_from


@dataclass(frozen=True, slots=True)
class StudentView:
    """A student's page."""

    course: str
    student: str
    submitted: bool
    undecided: bool
    score: str
    max_score: int
    share: int
    counts: tuple[tuple[ExerciseStatus, int], ...]
    next: Card | None
    sections: tuple[Section, ...]
    versions: str
    is_hidden_too: bool


def student_view(result: Result, course: Course) -> StudentView:
    """What a student may see of their result: hidden checks keep their secrets."""
    result = for_student(result)
    titles = {assignment.id: course.text(assignment.title) for assignment in course.assignments}
    sections = tuple(
        _section(assignment, titles.get(assignment.id, assignment.id), course)
        for assignment in result.assignments
    )
    cards = [card for section in sections if not section.is_empty for card in section.cards]
    statuses = [card.status for section in sections for card in section.cards]
    return StudentView(
        course=course.text(course.title),
        student=clean(result.student, 120),
        submitted=result.submitted,
        undecided=result.undecided,
        score=shown(result.score),
        max_score=result.max_score,
        share=percent(result.score, result.max_score),
        counts=tuple((one, statuses.count(one)) for one in ExerciseStatus if one in statuses),
        next=next((card for card in cards if card.status not in DONE), None),
        sections=sections,
        versions=", ".join(f"{name} {number}" for name, number in result.versions.items()),
        is_hidden_too=any(check.visibility is Visibility.HIDDEN for check in result.checks),
    )


def _section(assignment: AssignmentResult, title: str, course: Course) -> Section:
    return Section(
        id=assignment.id,
        title=title,
        read_from=clean(assignment.read_from, 200),
        score=shown(assignment.score),
        max_score=assignment.max_score,
        share=percent(assignment.score, assignment.max_score),
        notes=tuple(clean(note) for note in assignment.notes),
        cards=tuple(card(e, course, assignment.read_from) for e in assignment.exercises),
    )


def card(exercise: ExerciseResult, course: Course, read_from: str) -> Card:
    """An exercise on a page; of its failures the first visible one comes first.

    Args:
        exercise: as its student may see it.
        course: the exercise's course.
        read_from: the file that was read for it.
    """
    name = exercise.name
    is_unique = sum(other.name == name for other in course.exercises.values()) == 1
    notable = shown_checks(exercise)
    visible = [c for c in notable if c.visibility is Visibility.VISIBLE or not _is_secret(c)]
    visible.sort(key=lambda check: check.outcome is Outcome.REMARK)
    costs = bool(visible) and visible[0].outcome is not Outcome.REMARK
    shown_parts = [wording(check, has_figure=costs and check is visible[0]) for check in visible]
    return Card(
        name=name,
        anchor=exercise.id.replace("/", "-"),
        status=exercise_status(exercise),
        score=shown(exercise.score),
        max_score=exercise.max_score,
        findings=exercise.findings,
        first=shown_parts[0] if costs else None,
        others=tuple(shown_parts[1:] if costs else shown_parts),
        hidden=tuple(check.title for check in notable if check not in visible),
        passed=tuple(c.title for c in exercise.checks if c.outcome is Outcome.PASSED),
        is_unknown=not exercise.findings and any(c.outcome is Outcome.FAILED for c in notable),
        hint=f"grader hint {name if is_unique else exercise.id}",
        read_from=clean(read_from, 200),
    )


def _is_secret(check: CheckResult) -> bool:
    """Whether all there is to say of a hidden check is that it did not pass."""
    return check.visibility is Visibility.HIDDEN and check.outcome is not Outcome.ERROR


def wording(check: CheckResult, *, has_figure: bool) -> Wording:
    """A check's message, in the parts a page separates; its picture where it is asked for."""
    lines = check.message.splitlines()
    picture = check.picture
    if picture is None:
        code, more = "\n".join(lines[:MOST_LINES]), "\n".join(lines[MOST_LINES:])
        return Wording(check, code=code, more=more)
    first, after = picture.lines
    return Wording(
        check,
        code="\n".join(lines[: first - 1]),
        text="\n".join(lines[first - 1 : first]),
        after=tuple(lines[after:][:MOST_HINTS]),
        more="\n".join(lines[after:][MOST_HINTS:]),
        numbers="\n".join(lines[first:after]),
        figure=figure(picture) if has_figure else None,
    )


def shown(score: Decimal | None) -> str:
    """A score as people read it."""
    return "?" if score is None else f"{points(score)}"


def percent(score: Decimal | None, most: int) -> int:
    """A score's share in whole percent, rounded down: only full marks are 100."""
    return int(Fraction(score) * 100 / most) if score is not None and most else 0
