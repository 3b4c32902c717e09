"""What instructors decide about students in the course of a term, and what that means for each.

The records are those of `decisions.toml`: their fields are its keys, and hold ids once it is read.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Annotated, ClassVar, TypeVar

from msgspec import Meta

from grader.course.course import Course
from grader.course.toml_table import MOST, Moment, Text, whole

MOST_DAYS = 366
Entry = TypeVar("Entry", "Extension", "Exemption", "Override")
Hundredths = Annotated[
    float,
    Meta(
        ge=0,
        le=MOST,
        description=f"a number from 0 to {MOST} with at most two decimals, like 2.25,",
    ),
]
Some = Annotated[
    tuple[Text, ...], Meta(min_length=1, description="at least one exercise or assignment")
]
Several = Annotated[
    tuple[Text, ...], Meta(min_length=2, description="a list of two students or more")
]


@dataclass(frozen=True, slots=True)
class Override:
    """An exercise's points as a person gave them, and why, for the student to read."""

    student: Text
    exercise: Text
    points: Hundredths
    reason: Text

    def __post_init__(self) -> None:
        """Raise ValueError where the points have more decimals than are counted."""
        if round(self.points, 2) != self.points:
            raise ValueError(f"points: found {self.points}; at most two decimals are counted")


@dataclass(frozen=True)
class DroppedCheck:
    """A check that counts for nobody.

    Args:
        check: its id.
        reason: why, for students to read; "" for none.
    """

    check: Text
    reason: Text = ""
    is_given: ClassVar[bool] = False


class GivenCheck(DroppedCheck):
    """A check that counts as passed for everybody."""

    is_given = True


@dataclass(frozen=True, slots=True)
class LateDays:
    """Days that cost a student nothing.

    Args:
        budget: how many each student has in all.
        per_assignment: how many may be spent on one assignment.
    """

    budget: Annotated[int, whole(0, MOST_DAYS)]
    per_assignment: Annotated[int, whole(0, MOST_DAYS)] = MOST_DAYS


@dataclass(frozen=True, slots=True)
class Personal:
    """What holds for one student besides the course; each list is in order of its ids.

    Args:
        due: the due dates that are later than the course's, by assignment.
        exempt: the ids of exercises that do not count.
        overrides: points that a person gave.
        checks: what was decided about checks.
        late_days: what each student has of them; None where there are none.
    """

    due: tuple[tuple[str, datetime], ...] = ()
    exempt: tuple[str, ...] = ()
    overrides: tuple[Override, ...] = ()
    checks: tuple[DroppedCheck, ...] = ()
    late_days: LateDays | None = None


NO_DECISIONS = Personal()
"""Nothing was decided about a student."""


@dataclass(frozen=True, slots=True)
class _ForSome:
    """An entry about one student, or about everybody with a label of the roster."""

    student: Text = ""
    label: Text = ""
    reason: Text = ""

    def __post_init__(self) -> None:
        """Raise ValueError where not one of the two is named."""
        if bool(self.student) == bool(self.label):
            raise ValueError("student or label is needed, one of them")

    def includes(self, student: str, labels: Collection[str]) -> bool:
        """Whether a student is meant."""
        return self.student == student if self.student else self.label in labels


@dataclass(frozen=True, slots=True)
class Extension(_ForSome):
    """More time.

    Args:
        assignment: the one that it is for; "" for all.
        until: a due date; None where there is none.
        days: that are added to a due date.
    """

    assignment: Text = ""
    until: Moment | None = None
    days: Annotated[int, whole(1, MOST_DAYS)] = 0

    def __post_init__(self) -> None:
        """Raise ValueError where it does not give time in one of two ways."""
        _ForSome.__post_init__(self)
        if (self.until is None) == (self.days == 0):
            raise ValueError("until or days is needed, one of them")


@dataclass(frozen=True, slots=True)
class Exemption(_ForSome):
    """Exercises that do not count for somebody, or a whole assignment."""

    exercises: tuple[Text, ...] = ()
    assignment: Text = ""

    def __post_init__(self) -> None:
        """Raise ValueError where not one of the two is named."""
        _ForSome.__post_init__(self)
        if bool(self.exercises) == bool(self.assignment):
            raise ValueError("assignment or exercises is needed, one of them")


@dataclass(frozen=True, slots=True)
class ExerciseSet:
    """The exercises that count for who has a label; all others do not."""

    label: Text
    exercises: Some


@dataclass(frozen=True, slots=True)
class Group:
    """Students who hand in together, in one assignment or, where it is "", in all."""

    students: Several
    assignment: Text = ""

    def of(self, course: Course) -> tuple[str, ...]:
        """The ids of the assignments in which they do."""
        return (self.assignment,) if self.assignment else tuple(course.by_id)


@dataclass(frozen=True, slots=True)
class Decisions:
    """All of them. The order of entries does not matter."""

    extensions: tuple[Extension, ...] = ()
    exemptions: tuple[Exemption, ...] = ()
    exercise_sets: tuple[ExerciseSet, ...] = ()
    overrides: tuple[Override, ...] = ()
    drop: tuple[DroppedCheck, ...] = ()
    full_marks: tuple[GivenCheck, ...] = ()
    late_days: LateDays | None = None
    groups: tuple[Group, ...] = ()

    def members(self, course: Course, student: str) -> dict[str, tuple[str, ...]]:
        """By assignment, everybody of a student's group in it, by name; without groups, nothing."""
        own = [group for group in self.groups if student in group.students]
        return {id_: group.students for group in own for id_ in group.of(course)}

    def of(self, course: Course, student: str, labels: Collection[str]) -> Personal:
        """What they mean for one student.

        Args:
            course: with the course's own due dates.
            student: the student's id.
            labels: what the roster calls them.
        """
        given = (override for override in self.overrides if override.student == student)
        return Personal(
            due=self._due(course, student, labels),
            exempt=self._exempt(course, student, labels),
            overrides=tuple(sorted(given, key=lambda one: one.exercise)),
            checks=tuple(sorted((*self.drop, *self.full_marks), key=lambda one: one.check)),
            late_days=self.late_days,
        )

    def renamed(self, names: Mapping[str, str]) -> "Decisions":
        """The same about students with other names; who has none there keeps theirs."""

        def new(entry: Entry) -> Entry:
            return replace(entry, student=names.get(entry.student, entry.student))

        return replace(
            self,
            extensions=tuple(map(new, self.extensions)),
            exemptions=tuple(map(new, self.exemptions)),
            overrides=tuple(map(new, self.overrides)),
            groups=tuple(
                replace(one, students=tuple(sorted(names.get(who, who) for who in one.students)))
                for one in self.groups
            ),
        )

    def _due(
        self, course: Course, student: str, labels: Collection[str]
    ) -> tuple[tuple[str, datetime], ...]:
        own = [one for one in self.extensions if one.includes(student, labels)]
        dates = (
            (a.id, a.due, _extended(a.due, (e for e in own if e.assignment in ("", a.id))))
            for a in course.assignments
            if a.due is not None
        )
        return tuple(sorted((id_, now) for id_, before, now in dates if now > before))

    def _exempt(self, course: Course, student: str, labels: Collection[str]) -> tuple[str, ...]:
        own = [one for one in self.exemptions if one.includes(student, labels)]
        named = {id_ for one in own for id_ in one.exercises}
        whole = {one.assignment for one in own}
        found = course.exercises.values()
        exempt = {e.id for e in found if e.id in named or e.assignment in whole}
        counting = [one.exercises for one in self.exercise_sets if one.label in labels]
        if counting:
            exempt |= course.exercises.keys() - set().union(*counting)
        return tuple(sorted(exempt))


def _extended(due: datetime, extensions: Iterable[Extension]) -> datetime:
    """A due date with more time: the latest of all dates, and all days added to it."""
    own = list(extensions)
    latest = max([due, *(one.until for one in own if one.until is not None)])
    return latest + timedelta(days=sum(one.days for one in own))


NONE = Decisions()
