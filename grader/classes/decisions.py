"""What instructors decide about students in the course of a term, and what that means for each."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from grader.course.course import Course


@dataclass(frozen=True, slots=True)
class Override:
    """An exercise's points as a person gave them, and why, for the student to read."""

    exercise: str
    points: float
    reason: str


@dataclass(frozen=True, slots=True)
class CheckDecision:
    """A check that does not count, or counts as passed, for everybody.

    Args:
        check: its id.
        is_given: whether it counts as passed; else it does not count at all.
        reason: why, for students to read; "" for none.
    """

    check: str
    is_given: bool
    reason: str = ""


@dataclass(frozen=True, slots=True)
class LateDays:
    """Days that cost a student nothing.

    Args:
        budget: how many each student has in all.
        per_assignment: how many may be spent on one assignment.
    """

    budget: int
    per_assignment: int


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
    checks: tuple[CheckDecision, ...] = ()
    late_days: LateDays | None = None

    def about(self, assignment: str) -> "Personal":
        """The same without what is about other assignments."""

        def is_of(id_: str) -> bool:
            return id_.startswith(f"{assignment}/")

        return replace(
            self,
            due=tuple(one for one in self.due if one[0] == assignment),
            exempt=tuple(filter(is_of, self.exempt)),
            overrides=tuple(one for one in self.overrides if is_of(one.exercise)),
            checks=tuple(one for one in self.checks if is_of(one.check)),
        )


NO_DECISIONS = Personal()
"""Nothing was decided about a student."""


@dataclass(frozen=True, slots=True)
class Whom:
    """Whom an entry is about: one student, or everybody with a label of the roster."""

    student: str = ""
    label: str = ""

    def includes(self, student: str, labels: Collection[str]) -> bool:
        """Whether a student is meant."""
        return self.student == student if self.student else self.label in labels


@dataclass(frozen=True, slots=True)
class Extension:
    """More time.

    Args:
        whom: who has it.
        assignments: the ids of those it is for.
        until: a due date; None where there is none.
        days: that are added to a due date.
    """

    whom: Whom
    assignments: tuple[str, ...]
    until: datetime | None = None
    days: int = 0


@dataclass(frozen=True, slots=True)
class Exemption:
    """Exercises that do not count for somebody, by id."""

    whom: Whom
    exercises: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ExerciseSet:
    """The exercises that count for who has a label, by id; all others do not."""

    label: str
    exercises: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """Students who hand in together, and the ids of the assignments in which they do."""

    students: tuple[str, ...]
    assignments: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Decisions:
    """All of them. The order of entries does not matter.

    Args:
        extensions: more time for some.
        exemptions: exercises that do not count for some.
        sets: the exercises that count, by label.
        overrides: points that a person gave, each with its student.
        checks: what was decided about checks, for everybody.
        late_days: days that cost nothing, the same for everybody; None where there are none.
        groups: who hands in together.
    """

    extensions: tuple[Extension, ...] = ()
    exemptions: tuple[Exemption, ...] = ()
    sets: tuple[ExerciseSet, ...] = ()
    overrides: tuple[tuple[str, Override], ...] = ()
    checks: tuple[CheckDecision, ...] = ()
    late_days: LateDays | None = None
    groups: tuple[Group, ...] = ()

    def members(self, student: str) -> dict[str, tuple[str, ...]]:
        """By assignment, everybody of a student's group in it, by name; without groups, nothing."""
        own = [group for group in self.groups if student in group.students]
        return {id_: group.students for group in own for id_ in group.assignments}

    def of(self, course: Course, student: str, labels: Collection[str]) -> Personal:
        """What they mean for one student.

        Args:
            course: with the course's own due dates.
            student: the student's id.
            labels: what the roster calls them.
        """
        given = (override for whom, override in self.overrides if whom == student)
        return Personal(
            due=self._due(course, student, labels),
            exempt=self._exempt(course, student, labels),
            overrides=tuple(sorted(given, key=lambda one: one.exercise)),
            checks=tuple(sorted(self.checks, key=lambda one: one.check)),
            late_days=self.late_days,
        )

    def renamed(self, names: Mapping[str, str]) -> "Decisions":
        """The same about students with other names; who has none there keeps theirs."""

        def new(whom: Whom) -> Whom:
            return replace(whom, student=names.get(whom.student, whom.student))

        return replace(
            self,
            extensions=tuple(replace(one, whom=new(one.whom)) for one in self.extensions),
            exemptions=tuple(replace(one, whom=new(one.whom)) for one in self.exemptions),
            overrides=tuple((names.get(who, who), one) for who, one in self.overrides),
            groups=tuple(
                replace(one, students=tuple(sorted(names.get(who, who) for who in one.students)))
                for one in self.groups
            ),
        )

    def _due(
        self, course: Course, student: str, labels: Collection[str]
    ) -> tuple[tuple[str, datetime], ...]:
        own = [one for one in self.extensions if one.whom.includes(student, labels)]
        dates = (
            (a.id, a.due, _extended(a.due, (e for e in own if a.id in e.assignments)))
            for a in course.assignments
            if a.due is not None
        )
        return tuple(sorted((id_, now) for id_, before, now in dates if now > before))

    def _exempt(self, course: Course, student: str, labels: Collection[str]) -> tuple[str, ...]:
        exempt = {
            id_
            for one in self.exemptions
            if one.whom.includes(student, labels)
            for id_ in one.exercises
        }
        counting = [one.exercises for one in self.sets if one.label in labels]
        if counting:
            exempt |= course.exercises.keys() - set().union(*counting)
        return tuple(sorted(exempt & course.exercises.keys()))


def _extended(due: datetime, extensions: Iterable[Extension]) -> datetime:
    """A due date with more time: the latest of all dates, and all days added to it."""
    own = list(extensions)
    latest = max([due, *(one.until for one in own if one.until is not None)])
    return latest + timedelta(days=sum(one.days for one in own))


NONE = Decisions()
