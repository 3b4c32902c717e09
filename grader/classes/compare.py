"""Two runs side by side: whose score is another one, by how much, and what it comes from."""

from collections import Counter
from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Any

from msgspec.structs import replace

from grader.classes.records import Records, read_two
from grader.core.kit import KIT_NAME
from grader.core.records import AssignmentResult, ExerciseResult, Record, Result
from grader.judging.results import as_json, points
from grader.judging.scoring import total

CONDITIONS = {
    "course_hash": "the course",
    "seed": "the seed",
    "versions": "the versions",
    "isolation": "the isolation",
}
"""What else decides how a check ends, by the field of a result that has it."""


class EndedOtherwise(Record, frozen=True):
    """A check that did not end as before, and for whose work."""

    id: str
    students: tuple[str, ...]


class SameWork(Record, frozen=True):
    """What two runs say of work that is the same in both.

    Args:
        students: how many handed in the same.
        other_conditions: what else is not the same in the two runs for any of them.
        checks: those that ended otherwise.
    """

    students: int
    other_conditions: tuple[str, ...] = ()
    checks: tuple[EndedOtherwise, ...] = ()

    @property
    def lines(self) -> tuple[str, ...]:
        """For people: whether the checks are stable, and where they are not, which."""
        if not self.students:
            return ("Nobody's work is known to be the same in both runs.",)
        who = "1 student has" if self.students == 1 else f"{self.students} students have"
        head = f"{who} the same work in both"
        if not self.checks:
            return (f"{head}: every check ended as before.",)
        count = len(self.checks)
        ended = f"{head}: {count} {'check' if count == 1 else 'checks'} ended otherwise"
        if self.other_conditions:
            return (f"{ended}; {' and '.join(self.other_conditions)} changed.",)
        named = (f"  {one.id}: {', '.join(one.students)}" for one in self.checks)
        return (
            f"{ended}, although course, seed and versions are the same:",
            *named,
            "Look for what is random without a seed, or close to a limit of time or memory.",
        )


EMPTY = SameWork(0)


def of_same_work(pairs: Iterable[tuple[Result, Result]]) -> SameWork:
    """What two runs say of the students who handed in the same.

    Args:
        pairs: the results of each student in both runs; where these are the same but for versions
            and the like, their assignments may be left out.
    """
    same = [pair for pair in pairs if is_same_work(*pair)]
    others = (
        words
        for field, words in CONDITIONS.items()
        if any(getattr(one, field) != getattr(other, field) for one, other in same)
    )
    found: dict[str, list[str]] = {}
    for before, after in same:
        for id_ in ended_otherwise(before, after):
            found.setdefault(id_, []).append(before.student)
    checks = (EndedOtherwise(id_, tuple(students)) for id_, students in sorted(found.items()))
    return SameWork(len(same), tuple(others), tuple(checks))


def is_same_work(before: Result, after: Result) -> bool:
    """Whether a student's code is the same in two results, in every assignment that both have.

    Of several attempts those that count are compared. Of what others of a group handed in nothing is
    known.
    """
    is_same = bool(after.submission_hash) and before.submission_hash == after.submission_hash
    old = {part.id: part for part in before.assignments if part.read_from}
    pairs = [(old[p.id], p) for p in after.assignments if p.id in old and p.read_from]
    if any(part.handed_in_by for pair in pairs for part in pair):
        return False
    attempts = [(_counting(one), _counting(other)) for one, other in pairs]
    if pairs and all(one and other for one, other in attempts):
        return all(one == other for one, other in attempts)
    return is_same and all(one == other for one, other in attempts)


def _counting(assignment: AssignmentResult) -> list[str]:
    """When the attempts were made that count; nothing where there are none."""
    return [one.at for one in assignment.attempts if one.counts]


def ended_otherwise(before: Result, after: Result) -> list[str]:
    """The ids of the checks that are in both results of a student and did not end the same way."""
    old = {check.id: check.outcome for check in before.checks}
    return [check.id for check in after.checks if old.get(check.id, check.outcome) != check.outcome]


FORMAT = f"{KIT_NAME}/comparison/1"
NONE, UNDECIDED, NOT_THERE = "nothing handed in", "undecided", "not there"
EXEMPT = "does not count"
RUNS = ("earlier", "later")
LACKING = tuple(f"not in the {run} run" for run in RUNS)
MISSING = tuple(f"{NONE} in the {run} run" for run in RUNS)
EXEMPTED = tuple(f"{EXEMPT} in the {run} run" for run in RUNS)
NOT_COUNTED = {
    "by an assignment that one of the runs lacks": LACKING,
    "by an assignment that was handed in since": MISSING[:1],
    "by what does not count in one of the runs": EXEMPTED,
}
"""What no student gains or loses by, and the reasons for it."""


def signed(difference: Decimal | None) -> str:
    """A difference for people, with its sign; "" where there is none."""
    return f"{points(difference):+}" if difference else ""


class CheckChange(Record, frozen=True):
    """A check that ended otherwise, weighs another share, or is in one of the runs only."""

    id: str
    title: str
    before: str
    after: str


class Part(Record, frozen=True):
    """What a score is made of where it differs: an exercise, or what lateness took off an assignment.

    An assignment that only one of the runs has is one part.

    Args:
        about: the id of the exercise or the assignment.
        before: its points in the earlier run; None where there are none.
        after: the same in the later run.
        checks: which checks differ.
        why: what else differs, in words.
    """

    about: str
    before: Decimal | None
    after: Decimal | None
    checks: tuple[CheckChange, ...] = ()
    why: tuple[str, ...] = ()

    @property
    def difference(self) -> Decimal:
        """The points that are gained."""
        return (self.after or Decimal(0)) - (self.before or Decimal(0))

    @property
    def is_other(self) -> bool:
        """Whether anything differs."""
        return self.before != self.after or bool(self.checks or self.why)

    @property
    def not_counted(self) -> str:
        """Why nobody gains or loses by it; "" where somebody may."""
        is_exercise = "/" in self.about
        for kind, reasons in NOT_COUNTED.items():
            if {*reasons} & {*self.why} and (reasons is EXEMPTED or not is_exercise):
                return kind
        return ""

    @property
    def lines(self) -> tuple[str, ...]:
        """What differs, for people: the points, then each check."""
        is_exempt = {*EXEMPTED} & {*self.why}
        moved = "" if is_exempt else signed(self.difference)
        head = " ".join(filter(None, (self.about, moved)))
        checks = (f"  {c.id.partition('::')[2]}: {c.before} → {c.after}" for c in self.checks)
        return (head, *checks, *(f"  {reason}" for reason in self.why))


class Change(Record, frozen=True):
    """A student whose result is another one.

    Args:
        before: the score in the earlier run; None with `was` where there is none.
        after: the same in the later run.
        was: what it was instead of a score, "" for a score.
        now: what it is.
        parts: what it comes from.
    """

    student: str
    before: Decimal | None
    after: Decimal | None
    was: str
    now: str
    parts: tuple[Part, ...]

    @property
    def difference(self) -> Decimal | None:
        """The points that are gained; None where one of the runs has no score."""
        if self.before is None or self.after is None:
            return None
        return self.after - self.before

    @property
    def shown_before(self) -> str:
        """The score in the earlier run, or what there was instead."""
        return self.was or str(points(self.before))

    @property
    def shown_after(self) -> str:
        """The score in the later run, or what there is instead."""
        return self.now or str(points(self.after))

    @property
    def is_of_score(self) -> bool:
        """Whether the score is another one, not its parts alone."""
        return (self.before, self.was) != (self.after, self.now)

    @property
    def is_of_other_checks(self) -> bool:
        """Whether checks are there in one of the runs alone, and nothing else differs."""
        checks = [check for part in self.parts for check in part.checks]
        is_alone = all(part.checks and not part.why for part in self.parts)
        return is_alone and all(NOT_THERE in (one.before, one.after) for one in checks)

    @property
    def counted(self) -> Decimal | None:
        """The points that are gained where both runs have work that counts; None without a score."""
        whole = (part.difference for part in self.parts if part.not_counted)
        return None if self.difference is None else self.difference - sum(whole, Decimal(0))

    @property
    def not_counted(self) -> str:
        """Why the student neither gains nor loses, although the score is another one; or ""."""
        kinds = {part.not_counted for part in self.parts}
        if "" in kinds:
            return ""
        return next((kind for kind in NOT_COUNTED if kind in kinds), "")


class Comparison(Record, frozen=True):
    """Two runs.

    Args:
        students: how many are in both.
        changes: whose result is another one, by name.
        only_before: who is in the earlier run only.
        only_after: who is in the later run only.
        same_work: what the runs say of work that is the same in both.
    """

    students: int
    changes: tuple[Change, ...]
    only_before: tuple[str, ...] = ()
    only_after: tuple[str, ...] = ()
    same_work: SameWork = EMPTY

    @property
    def of_scores(self) -> tuple[Change, ...]:
        """Whose score is another one; last those who neither gain nor lose."""
        changes = (change for change in self.changes if change.is_of_score)
        return tuple(sorted(changes, key=lambda change: bool(change.not_counted)))

    @property
    def sentence(self) -> str:
        """How many gain, lose, and are as they were."""
        apart = Counter(one.not_counted for one in self.of_scores)
        known = [one.counted for one in self.of_scores if not one.not_counted]
        gain = sum(one is not None and one > 0 for one in known)
        lose = sum(one is not None and one < 0 for one in known)
        others = known.count(None)
        text = f"{self.students} students are in both: {gain} gain, {lose} lose"
        if others:
            text += f", {others} without a score in one of them"
        same = [change for change in self.changes if not change.is_of_score]
        lacking = sum(change.is_of_other_checks for change in same)
        text += f"; {len(same) - lacking} have other outcomes and the same score."
        only = [f"{apart[kind]} differ only {kind}" for kind in NOT_COUNTED if apart[kind]]
        only += [f"{lacking} differ only by a check that one of the runs lacks"] * bool(lacking)
        return f"{text} {', '.join(only)}." if only else text


def compare_runs(before: Records, after: Records) -> Comparison:
    """Compare two runs.

    Raises:
        UsageError: when a record cannot be read.
    """
    both = sorted(before.texts.keys() & after.texts.keys())
    pairs = [read_two(before, after, student) for student in both]
    return Comparison(
        len(both),
        tuple(change for pair in pairs if (change := compare_results(*pair))),
        tuple(sorted(before.texts.keys() - after.texts.keys())),
        tuple(sorted(after.texts.keys() - before.texts.keys())),
        of_same_work(pairs),
    )


def compare_results(before: Result, after: Result) -> Change | None:
    """What differs between two results of a student; None where nothing does that counts."""
    old = {one.id: one for one in before.assignments}
    new = {one.id: one for one in after.assignments}
    parts = tuple(
        part
        for id_ in dict.fromkeys((*old, *new))
        for part in (
            _assignment(id_, old[id_], new[id_])
            if id_ in old and id_ in new
            else _whole(old.get(id_), new.get(id_), before if id_ in new else after)
        )
    )
    change = Change(
        *(before.student, before.score, after.score, _instead(before), _instead(after), parts)
    )
    return change if parts or change.is_of_score else None


def _instead(result: Result) -> str:
    if result.undecided:
        return UNDECIDED
    if result.score is not None:
        return ""
    return EXEMPT if result.submitted or result.is_exempt else NONE


def _whole(
    before: AssignmentResult | None, after: AssignmentResult | None, lacking: Result
) -> Iterator[Part]:
    """An assignment that only one of the runs has, without its exercises: all of them differ."""
    there = before or after
    if there is not None and not there.is_missing:
        number = 1 if before else 0
        why = _of_a_group(there) or (LACKING if lacking.submitted else MISSING)[number]
        yield Part(there.id, _score(before), _score(after), why=(why,))


def _score(part: AssignmentResult | None) -> Decimal | None:
    """An assignment's points; None where there are none, which is no zero."""
    return part.score if part is not None and part.counts else None


def _assignment(id_: str, before: AssignmentResult, after: AssignmentResult) -> Iterator[Part]:
    if gap := tuple(_gap(before, after)):
        yield Part(id_, _score(before), _score(after), why=gap)
        return
    old = {one.id: one for one in before.exercises}
    new = {one.id: one for one in after.exercises}
    for exercise in dict.fromkeys((*old, *new)):
        part = compare_exercise(exercise, old.get(exercise), new.get(exercise))
        if part.is_other:
            yield replace(part, why=(*part.why, *_another_hand(before, after)))
    taken, taken_now = _taken_off(before), _taken_off(after)
    if taken is not None and taken_now is not None and taken != taken_now:
        old_days, days = _late(before), _late(after)
        is_same = old_days == days
        why = f"{days}, of another score" if is_same else f"{old_days} → {days}"
        yield Part(id_, taken, taken_now, why=(f"days late: {why}",))


def _gap(before: AssignmentResult, after: AssignmentResult) -> Iterator[str]:
    """Why one of the runs has no points in an assignment where the other one may have some."""
    for number, (one, other) in enumerate(((before, after), (after, before))):
        if one.is_exempt and not other.is_exempt:
            yield EXEMPTED[number]
        elif one.is_missing and other.counts:
            yield _of_a_group(other) or MISSING[number]


def _of_a_group(part: AssignmentResult) -> str:
    """Whose work it is, where somebody else of a group handed it in; or ""."""
    return part.handed_in_by and f"the group's work, handed in by {part.handed_in_by}"


def _another_hand(before: AssignmentResult, after: AssignmentResult) -> Iterator[str]:
    """Whose work it is now, where somebody else's counted before."""
    if before.handed_in_by != after.handed_in_by:
        yield _of_a_group(after) or f"no longer {_of_a_group(before)}"


def _taken_off(assignment: AssignmentResult) -> Decimal | None:
    """What lateness takes off, as a negative number; None where the score is undecided."""
    earned = total(exercise.score for exercise in assignment.counting)
    if assignment.score is None or earned is None:
        return None
    return assignment.score - earned


def _late(assignment: AssignmentResult) -> str:
    used = assignment.late_days_used
    paid = f" ({used} paid with late days)" if used else ""
    return f"{assignment.days_late}{paid}"


def compare_exercise(id_: str, before: ExerciseResult | None, after: ExerciseResult | None) -> Part:
    """What an exercise has in two runs, and what of it differs."""
    old, new = _endings(before), _endings(after)
    titles = {check.id: check.title for one in (before, after) if one for check in one.checks}
    checks = tuple(
        CheckChange(check, titles[check], old.get(check, NOT_THERE), new.get(check, NOT_THERE))
        for check in dict.fromkeys((*new, *old))
        if old and new and old.get(check) != new.get(check)
    )
    return Part(
        id_,
        before.score if before and before.counts else None,
        after.score if after and after.counts else None,
        checks,
        tuple(_why(before, after)),
    )


def _why(before: ExerciseResult | None, after: ExerciseResult | None) -> Iterator[str]:
    """What differs of an exercise besides its checks."""
    if before is None or after is None:
        yield LACKING[after is None]
        return
    if before.is_exempt != after.is_exempt:
        yield EXEMPTED[after.is_exempt]
        return
    if before.max_score != after.max_score:
        yield f"points: {before.max_score} → {after.max_score}"
    kinds = [one.decision.kind if one.decision else "no decision" for one in (before, after)]
    if kinds[0] != kinds[1]:
        yield f"decided: {kinds[0]} → {kinds[1]}"
    elif before.score != after.score and after.decision is not None:
        yield f"decided: {kinds[1]}"
    known = [", ".join(one.misconceptions) or "none" for one in (before, after)]
    if known[0] != known[1]:
        yield f"known mistakes: {known[0]} → {known[1]}"


def _endings(exercise: ExerciseResult | None) -> dict[str, str]:
    """How each check ended or what was decided about it, and what it weighs where that is not 1."""
    if exercise is None:
        return {}
    decision = exercise.decision
    found = {}
    for check in exercise.checks:
        weight = "" if check.weight == 1 else f", weight {check.weight}"
        found[check.id] = f"{check.outcome.replace('_', ' ')}{weight}"
        if decision is not None and check.id in decision.dropped:
            found[check.id] = "counts for nobody"
        if decision is not None and check.id in decision.given:
            found[check.id] = "counts as passed for everybody"
    return found


# By check.


class CheckEffect(Record, frozen=True):
    """What a check that differs means for the class.

    Args:
        students: for whom it differs.
        gaining: who has more points for its exercise.
        losing: who has fewer.
    """

    id: str
    title: str
    students: tuple[str, ...]
    gaining: tuple[str, ...]
    losing: tuple[str, ...]


def by_check(comparison: Comparison) -> tuple[CheckEffect, ...]:
    """The checks that differ for anybody, those first that move most scores."""
    titles: dict[str, str] = {}
    found: dict[str, list[tuple[str, Decimal]]] = {}
    for change in comparison.changes:
        for part in change.parts:
            for check in part.checks:
                titles[check.id] = check.title
                found.setdefault(check.id, []).append((change.student, part.difference))
    effects = (
        CheckEffect(
            id_,
            titles[id_],
            tuple(student for student, _ in entries),
            tuple(student for student, by in entries if by > 0),
            tuple(student for student, by in entries if by < 0),
        )
        for id_, entries in found.items()
    )
    return tuple(sorted(effects, key=lambda one: -len(one.gaining) - len(one.losing)))


def to_record(comparison: Comparison) -> dict[str, Any]:
    """A comparison as JSON."""
    return {"format": FORMAT, **as_json(comparison), "checks": as_json(by_check(comparison))}
