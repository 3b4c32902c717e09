"""What a student's page shows of an exercise, worked out from its result: no markup here."""

import base64
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from xml.etree import ElementTree

from grader.core.language import _
from grader.core.records import CheckResult, ExerciseResult, Outcome, Visibility
from grader.core.text import clean
from grader.course.course import Course
from grader.judging.outcomes import (
    WORDS,
    ExerciseStatus,
    checks_passed,
    ended_by,
    exercise_status,
    shown_checks,
    status_words,
)
from grader.judging.results import points
from grader.reports.html.heatmap import Figure, figure

MOST_LINES = 20
"""The lines of a message that are shown; the rest is folded."""

MOST_HINTS = 6
"""The lines below a picture that are shown."""


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
    def word(self) -> str:
        """How it ended, "" where the sign says it."""
        if self.check.raised:
            return ended_by(self.check)
        is_plain = self.check.outcome is Outcome.FAILED
        return "" if is_plain else _(WORDS[self.check.outcome])


@dataclass(frozen=True, slots=True)
class AssignmentPicture:
    """The picture of an assignment.

    Args:
        svg: the picture itself.
        words: what it shows, for readers who cannot see it.
        address: where it lies, for a page that links it; "" for one that holds it.
    """

    svg: str
    words: str
    address: str = ""

    @property
    def data(self) -> str:
        """The picture as a page holds it."""
        return base64.b64encode(self.svg.encode()).decode()


def assignment_pictures(course: Course, folder: str = "") -> dict[str, AssignmentPicture]:
    """The pictures that lie beside stubs, by assignment; those that nobody can read are left out.

    Args:
        course: the course.
        folder: where pages find them; "" for a page that holds them.
    """
    found = {}
    for assignment in course.assignments:
        with suppress(OSError, ValueError, ElementTree.ParseError):
            svg = course.paths(assignment).picture.read_text("utf-8")
            words = ElementTree.fromstring(svg).findtext("{http://www.w3.org/2000/svg}desc")
            address = f"{folder}/{assignment.id}.svg" if folder else ""
            found[assignment.id] = AssignmentPicture(svg, words or "", address)
    return found


WITH_REASON = (ExerciseStatus.WAITING, ExerciseStatus.PARTLY, ExerciseStatus.UNDECIDED)


@dataclass(frozen=True, slots=True)
class Card:
    """An exercise on a page.

    Args:
        exercise: as its student may see it.
        status: how far it is.
        first: the failure to begin with; None where nothing visible costs points.
        others: the other checks that say something.
        hidden: titles of the hidden checks that did not pass.
        hint: the command for a hint.
        read_from: the file.
    """

    exercise: ExerciseResult
    status: ExerciseStatus
    first: Wording | None
    others: tuple[Wording, ...]
    hidden: tuple[str, ...]
    hint: str
    read_from: str

    @property
    def word(self) -> str:
        """How far it is, in words; with what it waits for."""
        is_known = self.status in WITH_REASON
        word = status_words(self.exercise) if is_known else self.status.word
        return ", ".join(filter(None, (word, checks_passed(self.exercise))))

    @property
    def passed(self) -> tuple[str, ...]:
        """Titles of the checks that passed, without remarks: as many as the headline says."""
        checks = self.exercise.checks
        return tuple(c.title for c in checks if c.weight and c.outcome is Outcome.PASSED)


def card(exercise: ExerciseResult, course: Course, read_from: str) -> Card:
    """An exercise on a page; of its failures the first visible one comes first.

    Args:
        exercise: as its student may see it.
        course: the exercise's course.
        read_from: the file that was read for it.
    """
    notable = shown_checks(exercise)
    # Of a hidden check, all there is to say is that it did not pass, unless the grader failed.
    visible = [
        check
        for check in notable
        if check.visibility is Visibility.VISIBLE or check.outcome.is_undecided
    ]
    visible.sort(key=lambda check: check.outcome is Outcome.REMARK)
    costs = bool(visible) and visible[0].outcome is not Outcome.REMARK
    shown_parts = [wording(check, has_figure=costs and check is visible[0]) for check in visible]
    return Card(
        exercise=exercise,
        status=exercise_status(exercise),
        first=shown_parts[0] if costs else None,
        others=tuple(shown_parts[1:] if costs else shown_parts),
        hidden=tuple(check.title for check in notable if check not in visible),
        hint=f"grader hint {course.name_of(course.exercises[exercise.id])}",
        read_from=clean(read_from, 200),
    )


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


def moment_words(text: str) -> str:
    """A time in ISO's form as people read it, with its zone."""
    at = datetime.fromisoformat(text) if text else None
    return f"{at:%Y-%m-%d %H:%M} ({at.tzname()})" if at else "?"


def shown(score: Decimal | None) -> str:
    """A score as people read it."""
    return "?" if score is None else f"{points(score)}"


def percent(score: Decimal | None, most: float) -> int:
    """A score's share in whole percent, rounded down: only full marks are 100."""
    return int(Fraction(score) * 100 / Fraction(most)) if score is not None and most else 0
