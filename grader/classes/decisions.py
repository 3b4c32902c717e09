"""`decisions.toml`: what instructors decide about students in the course of a term, and what it means.

The records are those of the file: their fields are its keys, and hold ids once it is read. It is read
once, so that every mistake in it is reported with its place.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Annotated, Any, ClassVar, TypeVar

from grader.classes.records import FORMER, records_in
from grader.core.errors import UsageError
from grader.core.records import Visibility
from grader.course.course import Course
from grader.course.toml_table import MOST, Moment, Text, TomlFile, did_you_mean, needed, whole
from grader.intake.read import IntakeResult
from grader.intake.roster import Enrolled

MOST_DAYS = 366
Entry = TypeVar("Entry", "Extension", "Exemption", "Override", "Comment", "Resolved", "Label")
POINTS = f"a number from 0 to {MOST} with at most two decimals, like 2.25,"
Hundredths = Annotated[float, needed(POINTS, ge=0, le=MOST)]
Some = Annotated[tuple[Text, ...], needed("at least one exercise or assignment", min_length=1)]
Several = Annotated[tuple[Text, ...], needed("a list of two students or more", min_length=2)]


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


@dataclass(frozen=True, slots=True)
class Comment:
    """What an instructor writes to a student, about an exercise or a whole assignment."""

    student: Text
    text: Text
    exercise: Text = ""
    assignment: Text = ""

    def __post_init__(self) -> None:
        """Raise ValueError where not one of the two is named."""
        if bool(self.exercise) == bool(self.assignment):
            raise ValueError("assignment or exercise is needed, one of them")

    @property
    def about(self) -> str:
        """The id of what it is about."""
        return self.exercise or self.assignment


@dataclass(frozen=True, slots=True)
class Resolved:
    """A regrade request that was looked at, and leaves the points as they are."""

    student: Text
    exercise: Text
    reason: Text = ""


@dataclass(frozen=True, slots=True)
class Label:
    """A label that a student has besides those of the roster."""

    student: Text
    label: Text


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
        comments: what was written to the student.
        resolved: the student's requests that were looked at.
    """

    due: tuple[tuple[str, datetime], ...] = ()
    exempt: tuple[str, ...] = ()
    overrides: tuple[Override, ...] = ()
    checks: tuple[DroppedCheck, ...] = ()
    late_days: LateDays | None = None
    comments: tuple[Comment, ...] = ()
    resolved: tuple[Resolved, ...] = ()


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
    comments: tuple[Comment, ...] = ()
    resolved: tuple[Resolved, ...] = ()
    labels: tuple[Label, ...] = ()

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
        return Personal(
            due=self._due(course, student, labels),
            exempt=self._exempt(course, student, labels),
            overrides=tuple(sorted(_about(student, self.overrides), key=lambda one: one.exercise)),
            checks=tuple(sorted((*self.drop, *self.full_marks), key=lambda one: one.check)),
            late_days=self.late_days,
            comments=tuple(sorted(_about(student, self.comments), key=lambda one: one.about)),
            resolved=tuple(sorted(_about(student, self.resolved), key=lambda one: one.exercise)),
        )

    def labelled(self, roster: Mapping[str, Enrolled]) -> dict[str, Enrolled]:
        """A roster with the labels that were given to students besides."""
        found = dict(roster)
        for given in self.labels:
            one = found.get(given.student, Enrolled(given.student))
            if given.label not in one.labels:
                found[given.student] = replace(one, tags=(*one.tags, given.label))
        return found

    def renamed(self, names: Mapping[str, str]) -> "Decisions":
        """The same about students with other names; who has none there keeps theirs."""

        def new(entry: Entry) -> Entry:
            return replace(entry, student=names.get(entry.student, entry.student))

        return replace(
            self,
            extensions=tuple(map(new, self.extensions)),
            exemptions=tuple(map(new, self.exemptions)),
            overrides=tuple(map(new, self.overrides)),
            comments=tuple(map(new, self.comments)),
            resolved=tuple(map(new, self.resolved)),
            labels=tuple(map(new, self.labels)),
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


def _about(student: str, entries: Iterable[Entry]) -> Iterable[Entry]:
    return (entry for entry in entries if entry.student == student)


def _extended(due: datetime, extensions: Iterable[Extension]) -> datetime:
    """A due date with more time: the latest of all dates, and all days added to it."""
    own = list(extensions)
    latest = max([due, *(one.until for one in own if one.until is not None)])
    return latest + timedelta(days=sum(one.days for one in own))


NONE = Decisions()


DECISIONS = "decisions.toml"

Weights = Callable[[str], dict[str, int]]
"""The weights of an exercise's checks, by id."""


@dataclass(frozen=True, slots=True)
class Known:
    """What decisions may name besides the course.

    Args:
        students: everybody who was ever in the class.
        labels: those of the roster; None where there is no roster.
        is_everybody: whether other students cannot be meant.
        weights: of an exercise's checks.
    """

    students: Collection[str]
    labels: Collection[str] | None
    is_everybody: bool
    weights: Weights


def read_decisions(path: Path, course: Course, known: Known) -> Decisions:
    """What a file says.

    Args:
        path: the file.
        course: whose assignments and exercises it names.
        known: what else it may name.

    Raises:
        CourseError: with every problem found, each with its key path.
    """
    file = TomlFile(path)
    written = file.read(Decisions)
    given_labels = {one.label for one in written.labels}
    decisions = _Resolver(course, known, file, given_labels).resolved(written)
    for key, what in (
        ("extensions", ()),
        ("exemptions", ()),
        ("overrides", ("student", "exercise")),
        ("comments", ("student", "exercise", "assignment")),
        ("resolved", ("student", "exercise")),
        ("labels", ()),
        ("drop", ("check",)),
        ("full_marks", ("check",)),
    ):
        _forbid_repetitions(file, key, [*map(asdict, getattr(decisions, key))], what)
    both = {one.check for one in decisions.drop} & {one.check for one in decisions.full_marks}
    for id_ in sorted(both):
        file.note("", f"drop and full_marks both name {id_}; keep one")
    pairs = Counter(
        (name, id_) for g in decisions.groups for name in g.students for id_ in g.of(course)
    )
    for (name, id_), count in pairs.items():
        if count > 1:
            file.note("groups", f"{name} is in {count} groups for {id_}; keep one")
    if not file.problems:
        _forbid_exercises_without_checks(file, {one.check for one in decisions.drop}, known.weights)
    file.finish()
    return decisions


def _forbid_repetitions(
    file: TomlFile, key: str, entries: Sequence[Mapping[str, object]], what: Collection[str]
) -> None:
    """Note entries that say the same twice, or decide about the same."""
    about = [[entry[name] for name in what or entry] for entry in entries]
    same = "decides about the same as" if what else "is the same as"
    for number, one in enumerate(about, 1):
        first = about.index(one) + 1
        if first < number:
            file.note("", f"{key}[{number}] {same} {key}[{first}]; keep one")


def _forbid_exercises_without_checks(file: TomlFile, dropped: set[str], weights: Weights) -> None:
    """Note exercises of which no check would count any more."""
    for id_ in sorted({check.partition("::")[0] for check in dropped}):
        if not any(weight for check, weight in weights(id_).items() if check not in dropped):
            sentence = (
                f"no check of {id_} would count any more; use [[full_marks]] or [[exemptions]]"
            )
            file.note("drop", sentence)


def class_decisions(
    course: Course,
    given: Path | None,
    intake: IntakeResult,
    *,
    has_roster: bool,
    out: Path,
    former: Iterable[str] = (),
) -> Decisions:
    """What was decided about a class: in the file given, or in the one beside the course.

    Args:
        course: whose assignments and exercises it names.
        given: the file; None for the one beside the course, if there is one.
        intake: the class.
        has_roster: whether the class came with a roster.
        out: the folder of the run, where students stand who were in the class before.
        former: who else was.

    Raises:
        CourseError: when something is wrong in it.
    """
    path = given or course.root / DECISIONS
    if given is None and not path.is_file():
        return NONE
    before = (name for where in (out, out / FORMER) for name in records_in(where))

    @cache
    def weights(exercise: str) -> dict[str, int]:
        from grader.judging.collect import collect  # imports torch

        return {c.id: c.weight for c in collect(course, [exercise], tuple(Visibility))}

    known = known_of(intake, {*before, *former}, weights, has_roster=has_roster)
    return read_decisions(path, course, known)


def known_of(
    intake: IntakeResult, former: Iterable[str], weights: Weights, *, has_roster: bool
) -> Known:
    """What decisions about a class may name.

    Args:
        intake: the class.
        former: who else was ever in it.
        weights: of an exercise's checks.
        has_roster: whether the class came with a roster.
    """
    return Known(
        {*former, *intake.roster, *(student.id for student in intake.students)},
        {label for one in intake.roster.values() for label in one.labels} if has_roster else None,
        intake.is_whole or has_roster,
        weights,
    )


KINDS = (
    *("labels", "extensions", "exemptions", "exercise_sets", "overrides", "drop", "full_marks"),
    *("groups", "comments", "resolved"),
)


@dataclass(frozen=True, slots=True)
class _Resolver:
    """Puts ids in place of what entries name, and notes what is not there."""

    course: Course
    known: Known
    file: TomlFile
    given_labels: Collection[str] = ()

    def resolved(self, decisions: Decisions) -> Decisions:
        """The same with ids."""
        found: dict[str, Any] = {
            kind: tuple(self._entry(f"{kind}[{n}]", e) for n, e in enumerate(entries, 1))
            for kind, entries in ((kind, getattr(decisions, kind)) for kind in KINDS)
        }
        return replace(decisions, **found)

    def _entry(self, place: str, entry: Any) -> Any:
        """An entry with ids; its fields are looked up by what they are called."""
        finders: dict[str, Callable[[Any], object]] = {
            "student": self._student,
            "students": lambda students: tuple(sorted({*map(self._student, students)})),
            "label": self._label,
            "assignment": lambda target: self.course.assignment(target).id,
            "exercise": self._exercise,
            "exercises": lambda targets: tuple(self.course.select(targets)),
            "check": self._check,
        }
        if isinstance(entry, Label):  # gives the label, which nobody may have had before
            finders.pop("label")
        ids = {}
        for name, find in finders.items():
            if value := getattr(entry, name, None):
                try:
                    ids[name] = find(value)
                except UsageError as error:
                    self.file.note(f"{place}.{name}", str(error))
        entry = replace(entry, **ids)
        if isinstance(entry, Extension) and "assignment" in ids:
            self._check_extension(place, entry, self.course.by_id[entry.assignment].due)
        if isinstance(entry, Override) and "exercise" in ids:
            most = self.course.exercises[entry.exercise].points
            if entry.points > most:
                sentence = f"found {entry.points}; {entry.exercise} is worth {most}"
                self.file.note(f"{place}.points", sentence)
        return entry

    def _check_extension(self, place: str, entry: Extension, due: datetime | None) -> None:
        id_, until = entry.assignment, entry.until
        if due is None:
            sentence = f"{id_} has no due date; there is nothing to extend"
            self.file.note(f"{place}.assignment", sentence)
        elif until is not None and until <= due:
            sentence = f"{until} is not after the due date of {id_}, {due}"
            self.file.note(f"{place}.until", sentence)

    def _student(self, student: str) -> str:
        if self.known.is_everybody and student not in self.known.students:
            letters = re.sub(r"\d", "", student)  # of numbered students none is nearest
            others = [one for one in self.known.students if re.sub(r"\d", "", one) != letters]
            near = did_you_mean(student, others)
            raise UsageError(f"nobody in the class is called {student!r}; {near}".rstrip("; "))
        return student

    def _label(self, label: str) -> str:
        if self.known.labels is None and not self.given_labels:
            raise UsageError("labels stand in the roster; give it with --roster")
        labels = {*(self.known.labels or ()), *self.given_labels}
        if label not in labels:
            allowed = f"{did_you_mean(label, labels)}it has: {', '.join(sorted(labels)) or 'none'}"
            raise UsageError(f"the roster has no label {label!r}; {allowed}")
        return label

    def _exercise(self, target: str) -> str:
        found = [*self.course.select((target,))]
        if len(found) > 1:
            raise UsageError(f"{target!r} names {len(found)} exercises; one is needed")
        return found[0]

    def _check(self, id_: str) -> str:
        exercise = id_.partition("::")[0]
        if exercise not in self.course.exercises:
            near = did_you_mean(exercise, self.course.exercises)
            sentence = (
                f"there is no exercise {exercise!r}; {near}a check is EXERCISE::hidden::test_…"
            )
            raise UsageError(sentence)
        checks = self.known.weights(exercise)
        if id_ not in checks:
            near = did_you_mean(id_, checks) or f"{exercise} has: {', '.join(checks)}"
            raise UsageError(f"there is no check {id_!r}; {near}".rstrip())
        return id_
