"""`decisions.toml`: read once, so that every mistake in it is reported with its place.

What it names has to be there: students, labels of the roster, assignments, exercises, checks.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from grader.classes.decisions import (
    NONE,
    CheckDecision,
    Decisions,
    Exemption,
    ExerciseSet,
    Extension,
    Group,
    LateDays,
    Override,
    Whom,
)
from grader.classes.records import FORMER, records_in
from grader.core.errors import CourseError, UsageError
from grader.core.records import Visibility
from grader.course.course import Course
from grader.course.toml_table import Table, did_you_mean, read_toml
from grader.intake.read import IntakeResult

DECISIONS = "decisions.toml"
MOST_DAYS = 366

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
    problems: list[str] = []
    top = read_toml(path, problems)
    reader = _Reader(course, known)
    decisions = Decisions(
        extensions=tuple(map(reader.extension, _entries(top, "extensions"))),
        exemptions=tuple(map(reader.exemption, _entries(top, "exemptions"))),
        sets=tuple(map(reader.exercise_set, _entries(top, "exercise_sets"))),
        overrides=tuple(map(reader.override, _entries(top, "overrides"))),
        checks=tuple(
            reader.check(entry, is_given=key == "full_marks")
            for key in ("drop", "full_marks")
            for entry in _entries(top, key)
        ),
        late_days=_late_days(top),
        groups=tuple(map(reader.group, _entries(top, "groups"))),
    )
    top.forbid_unknown_keys()
    _forbid_repetitions(top, problems)
    problems += _in_two_groups(decisions.groups)
    if not problems:
        problems += _without_checks(decisions.checks, known.weights)
    if problems:
        raise CourseError(*problems)
    return decisions


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

    known = Known(
        {*before, *former, *intake.roster, *(student.id for student in intake.students)},
        {label for one in intake.roster.values() for label in one.labels} if has_roster else None,
        intake.is_whole or has_roster,
        weights,
    )
    return read_decisions(path, course, known)


def _entries(top: Table, key: str) -> list[Table]:
    top.known.add(key)
    return top.tables(key) if key in top.content else []


def _late_days(top: Table) -> LateDays | None:
    table = top.table("late_days", required=False)
    if "late_days" not in top.content:
        return None
    budget = table.whole("budget", least=0, most=MOST_DAYS)
    most = table.whole("per_assignment", default=budget, least=0, most=MOST_DAYS)
    return LateDays(budget, most)


def _forbid_repetitions(top: Table, problems: list[str]) -> None:
    """Note entries that say the same twice, and two that decide about the same."""
    for key, what in (
        ("extensions", ()),
        ("exemptions", ()),
        ("overrides", ("student", "exercise")),
        ("drop", ("check",)),
        ("full_marks", ("check",)),
    ):
        seen: dict[str, int] = {}
        entries = top.content.get(key)
        for number, entry in enumerate(entries if isinstance(entries, list) else (), 1):
            if isinstance(entry, dict):
                about = repr([entry.get(name) for name in what] if what else sorted(entry.items()))
                first = seen.setdefault(about, number)
                if first < number:
                    same = "decides about the same as" if what else "is the same as"
                    problems.append(f"{top.file}: {key}[{number}] {same} {key}[{first}]; keep one")
    both = {*_checks_in(top, "drop")} & {*_checks_in(top, "full_marks")}
    problems += [f"{top.file}: drop and full_marks both name {id_}; keep one" for id_ in both]


def _checks_in(top: Table, key: str) -> Iterable[str]:
    entries = top.content.get(key)
    found = (e.get("check") for e in entries or () if isinstance(e, dict))
    return [id_ for id_ in found if isinstance(id_, str)]


def _in_two_groups(groups: Collection[Group]) -> list[str]:
    """Students who would hand in an assignment with two groups."""
    pairs = Counter((name, id_) for g in groups for name in g.students for id_ in g.assignments)
    return [
        f"{DECISIONS}: groups: {name} is in {count} groups for {id_}; keep one"
        for (name, id_), count in pairs.items()
        if count > 1
    ]


def _without_checks(checks: Collection[CheckDecision], weights: Weights) -> list[str]:
    """Exercises of which no check would count any more."""
    dropped = {one.check for one in checks if not one.is_given}
    exercises = sorted({id_.partition("::")[0] for id_ in dropped})
    return [
        f"{DECISIONS}: drop: no check of {id_} would count any more; use [[full_marks]] or "
        "[[exemptions]]"
        for id_ in exercises
        if not any(weight for check, weight in weights(id_).items() if check not in dropped)
    ]


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads entries, and notes in each what it names that is not there."""

    course: Course
    known: Known

    def extension(self, entry: Table) -> Extension:
        """An entry of `[[extensions]]`."""
        assignments = self._assignments(entry)
        until = entry.moment("until")
        days = entry.whole("days", default=0, least=1, most=MOST_DAYS)
        entry.optional_text("reason")
        if ("until" in entry.content) == ("days" in entry.content):
            entry.note("", "until or days is needed, one of them")
        if "assignment" in entry.content and assignments:
            one = self.course.by_id[assignments[0]]
            if one.due is None:
                entry.note("assignment", f"{one.id} has no due date; there is nothing to extend")
            elif until is not None and until <= one.due:
                entry.note("until", f"{until} is not after the due date of {one.id}, {one.due}")
        return Extension(self._whom(entry), assignments, until, days)

    def exemption(self, entry: Table) -> Exemption:
        """An entry of `[[exemptions]]`."""
        entry.optional_text("reason")
        targets = entry.texts("exercises", pattern=r"(?s:.+)", like="01/first")
        whole = entry.optional_text("assignment")
        if bool(targets) == bool(whole):
            entry.note("", "assignment or exercises is needed, one of them")
        key = "assignment" if whole else "exercises"
        return Exemption(self._whom(entry), self._exercises(entry, key, targets or (whole,)))

    def exercise_set(self, entry: Table) -> ExerciseSet:
        """An entry of `[[exercise_sets]]`."""
        targets = entry.texts("exercises", pattern=r"(?s:.+)", like="01/first")
        if not targets:
            entry.note("exercises", "missing; at least one exercise or assignment is needed")
        label = entry.text("label")
        self._find_label(entry, label)
        return ExerciseSet(label, self._exercises(entry, "exercises", targets))

    def override(self, entry: Table) -> tuple[str, Override]:
        """An entry of `[[overrides]]`, with its student."""
        student, target = entry.text("student"), entry.text("exercise")
        self._find_student(entry, student)
        found = self._exercises(entry, "exercise", (target,) if target else ())
        id_, points = (found[0] if found else ""), entry.number("points")
        if len(found) > 1:
            entry.note("exercise", f"{target!r} names {len(found)} exercises; one is needed")
        elif found and points > self.course.exercises[id_].points:
            most = self.course.exercises[id_].points
            entry.note("points", f"found {points}; {id_} is worth {most}")
        return student, Override(id_, points, entry.text("reason"))

    def group(self, entry: Table) -> Group:
        """An entry of `[[groups]]`."""
        students = entry.texts("students", pattern=r"(?s:.+)", like="ada")
        entry.forbid_duplicates("students", "student", list(students))
        if len(students) < 2:
            entry.note("students", f"found {len(students)}; two students or more are needed")
        for student in students:
            self._find_student(entry, student, "students")
        return Group(tuple(sorted({*students})), self._assignments(entry))

    def check(self, entry: Table, *, is_given: bool) -> CheckDecision:
        """An entry of `[[drop]]` or `[[full_marks]]`."""
        id_, reason = entry.text("check"), entry.optional_text("reason")
        exercise = id_.partition("::")[0]
        if id_ and exercise not in self.course.exercises:
            near = did_you_mean(exercise, self.course.exercises)
            entry.note(
                "check",
                f"there is no exercise {exercise!r}; {near}a check is EXERCISE::hidden::test_…",
            )
        elif id_:
            checks = self.known.weights(exercise)
            if id_ not in checks:
                near = did_you_mean(id_, checks) or f"{exercise} has: {', '.join(checks)}"
                entry.note("check", f"there is no check {id_!r}; {near}".rstrip())
        return CheckDecision(id_, is_given, reason)

    def _whom(self, entry: Table) -> Whom:
        student, label = entry.optional_text("student"), entry.optional_text("label")
        if bool(student) == bool(label):
            entry.note("", "student or label is needed, one of them")
        if student:
            self._find_student(entry, student)
        if label:
            self._find_label(entry, label)
        return Whom(student, label)

    def _find_student(self, entry: Table, student: str, key: str = "student") -> None:
        if student and self.known.is_everybody and student not in self.known.students:
            near = did_you_mean(student, self.known.students)
            entry.note(key, f"nobody in the class is called {student!r}; {near}".rstrip("; "))

    def _find_label(self, entry: Table, label: str) -> None:
        labels = self.known.labels
        if label and labels is None:
            entry.note("label", "labels stand in the roster; give it with --roster")
        elif label and labels is not None and label not in labels:
            near = did_you_mean(label, labels)
            allowed = ", ".join(sorted(labels)) or "none"
            entry.note("label", f"the roster has no label {label!r}; {near}it has: {allowed}")

    def _assignments(self, entry: Table) -> tuple[str, ...]:
        target = entry.optional_text("assignment")
        if not target:
            return tuple(self.course.by_id)
        try:
            return (self.course.assignment(target).id,)
        except UsageError as error:
            entry.note("assignment", str(error))
            return ()

    def _exercises(self, entry: Table, key: str, targets: Iterable[str]) -> tuple[str, ...]:
        found: list[str] = []
        for target in filter(None, targets):
            try:
                found += self.course.select((target,))
            except UsageError as error:
                entry.note(key, str(error))
        return tuple(dict.fromkeys(found))
