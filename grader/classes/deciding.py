"""Scores with what instructors decided, and which of a student's attempts counts. Pure.

A layer over outcomes, which runs no student code; it begins with outcomes each time, so that nothing is
applied twice.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction

from msgspec.structs import replace

from grader.classes.decisions import NO_DECISIONS, DroppedCheck, LateDays, Personal
from grader.core.language import _, paragraph
from grader.core.records import (
    AssignmentResult,
    AttemptScore,
    Decision,
    DecisionKind,
    ExerciseResult,
    Outcome,
    Result,
    added,
)
from grader.course.course import Course, LateRule
from grader.judging.results import points
from grader.judging.scoring import (
    added_up,
    days_late,
    exercise_score,
    is_decided,
    is_undecided,
    late_factor,
    lateness,
    nothing_handed_in,
    possible,
    rounded,
    score_of,
    scored_alone,
    total,
    with_causes,
)


@dataclass(frozen=True, slots=True)
class LateWork:
    """An assignment: what its exercises add up to, and how many days late it was.

    Args:
        score: None where it is undecided: nothing is spent on it.
        days: days begun after the due date.
    """

    score: Decimal | None
    days: int


NO_LATE_DAYS = LateDays(0)
Choice = tuple[int, Decimal, int, tuple[tuple[int, int], ...]]
"""How many assignments are decided, their points, days late below zero, and what was taken of each."""


def best_of(
    alternatives: Sequence[Sequence[LateWork]], rule: LateRule, allowed: LateDays
) -> tuple[tuple[int, int], ...]:
    """Which work counts for each assignment, by its position, and the late days to spend on it.

    As many are decided as can be, with the most points; of equal choices those are taken that are less
    late, spend fewer days, and come later.

    Args:
        alternatives: what may count for each assignment, in the order of the course.
        rule: what a day late costs.
        allowed: how many late days there are.
    """
    best: dict[int, Choice] = {0: (0, Decimal(0), 0, ())}
    for works in alternatives:
        found: dict[int, Choice] = {}
        for used, (decided, earned, late, taken) in best.items():
            for number, work in enumerate(works):
                is_decided = work.score is not None
                for days, left in enumerate(_options(work, rule, allowed)):
                    if used + days <= allowed.budget:
                        counts = decided + is_decided, earned + left, late - work.days
                        choice = (*counts, (*taken, (number, days)))
                        found[used + days] = max(found.get(used + days, choice), choice)
        best = found
    return max((*choice[:3], -used, choice[3]) for used, choice in best.items())[-1]


def _options(work: LateWork, rule: LateRule, allowed: LateDays) -> list[Decimal]:
    """What is left of an assignment's score when 0, 1, 2, … late days are spent on it."""
    if not (work.score and work.days):
        return [work.score or Decimal(0)]
    most = min(work.days, allowed.per_assignment, allowed.budget)
    score = Fraction(work.score)
    return [rounded(score * late_factor(work.days - days, rule)) for days in range(most + 1)]


RESOLVED = "resolved"
"""Marks a student's request as dealt with, in the decisions of a result."""
NOT_RUN = "not run"
"""Marks a check that a decision is about and that was not run, in the decisions of a result."""


def decided(course: Course, outcomes: Result, personal: Personal) -> Result:
    """A result with scores, from one that has outcomes only.

    Args:
        course: whose points, due dates and rule for late work count.
        outcomes: how the checks of a submission ended.
        personal: what was decided about the student.
    """
    return Deciding(course, personal).result(outcomes)


@dataclass(slots=True)
class Deciding:
    """Makes one student's results of several outcomes; an assignment that these share is scored once.

    Args:
        course: whose points, due dates and rule for late work count.
        personal: what was decided about the student.
        known: what is scored, by the identity of the outcomes.
    """

    course: Course
    personal: Personal
    known: dict[int, tuple[AssignmentResult, ...]] = field(default_factory=dict)

    def result(self, outcomes: Result) -> Result:
        """A result with scores, from one that has outcomes only."""
        course, personal = self.course, self.personal
        scored = [self._ready(one)[1] for one in outcomes.assignments]
        automatic = added_up(course, outcomes, scored)
        if personal == NO_DECISIONS:
            return automatic
        if not (outcomes.assignments or personal.overrides or personal.exempt or personal.comments):
            return automatic
        if not outcomes.assignments:
            missing = tuple(map(nothing_handed_in, course.assignments))
            submitted = outcomes.submitted or bool(personal.overrides)
            outcomes = replace(outcomes, submitted=submitted, assignments=missing)
        dated = self.assignments(outcomes.assignments)
        about = tuple(_about(dated, personal))
        parts = with_causes(dated)
        return replace(
            outcomes,
            score=score_of(parts),
            max_score=possible(course, parts),
            undecided=is_undecided(parts),
            assignments=parts,
            decided=about,
            automatic=automatic.score if about else None,
        )

    def assignments(self, outcomes: Sequence[AssignmentResult]) -> list[AssignmentResult]:
        """Assignments with their final scores, from outcomes in each."""
        if self.personal == NO_DECISIONS:
            return [self._ready(one)[1] for one in outcomes]
        parts = [self._ready(one)[-1] for one in outcomes]
        return _with_lateness(self.course, parts, self.personal)

    def late_work(self, outcomes: AssignmentResult) -> LateWork:
        """What outcomes have with decisions, and how late they are."""
        return late_work(self.course, self._ready(outcomes)[-1], self.personal)

    def _ready(self, outcomes: AssignmentResult) -> tuple[AssignmentResult, ...]:
        """Outcomes, the same with the checks' scores, and with decisions, without lateness."""
        if id(outcomes) not in self.known:
            scored = scored_alone(self.course, outcomes)
            made = _with_decisions(replace(scored, notes=outcomes.notes), self.personal)
            self.known[id(outcomes)] = (outcomes, scored, made)
        return self.known[id(outcomes)]


# Exercises.


def _with_decisions(scored_one: AssignmentResult, personal: Personal) -> AssignmentResult:
    """An assignment whose exercises have their final scores; without lateness."""
    exercises = tuple(_exercise(one, personal) for one in scored_one.exercises)
    if not exercises:  # the grader failed before any check
        return scored_one
    is_given = any(e.decision and e.decision.kind is DecisionKind.OVERRIDE for e in exercises)
    scores = [Decimal(0) if e.is_missing and is_given else e.score for e in exercises]
    done = replace(
        scored_one,
        score=total(scores),
        max_score=added(e.max_score for e in exercises),
        exercises=exercises,
    )
    if done.is_exempt:
        return replace(done, notes=(*done.notes, _("This assignment does not count for you.")))
    words = (
        paragraph(filter(None, sentences))
        for one in exercises
        if one.decision is not None
        for sentences in _words(one, one.decision, personal)
    )
    return replace(done, notes=(*done.notes, *words))


def _exercise(one: ExerciseResult, personal: Personal) -> ExerciseResult:
    automatic = one.score
    if one.id in personal.exempt:
        decision = Decision(DecisionKind.EXEMPTION, automatic)
        return replace(one, score=Decimal(0), max_score=0, decision=decision)
    given = next((o.points for o in personal.overrides if o.exercise == one.id), None)
    if given is not None:
        score = min(Decimal(str(given)), Decimal(str(one.max_score)))
        return replace(one, score=score, decision=Decision(DecisionKind.OVERRIDE, automatic))
    score_now = _with_other_checks(one, personal.checks)
    if score_now == automatic:
        return one
    own = {check.id for check in one.checks}
    decision = Decision(
        DecisionKind.CHECK,
        automatic,
        dropped=tuple(c.check for c in personal.checks if c.check in own and not c.is_given),
        given=tuple(c.check for c in personal.checks if c.check in own and c.is_given),
    )
    return replace(one, score=score_now, decision=decision)


def _with_other_checks(one: ExerciseResult, decisions: Sequence[DroppedCheck]) -> Decimal | None:
    """An exercise's score where some checks do not count, or count as passed."""
    if not decisions:
        return one.score
    is_given = {decision.check: decision.is_given for decision in decisions}
    checks = [
        replace(check, outcome=Outcome.PASSED) if is_given.get(check.id) else check
        for check in one.checks
        if is_given.get(check.id, True)
    ]
    if checks == [*one.checks] or not any(check.weight for check in checks):
        return one.score
    return exercise_score(one.max_score, checks, one.findings)


def _words(
    one: ExerciseResult, decision: Decision, personal: Personal
) -> Iterator[tuple[str, ...]]:
    """What the student reads about an exercise: paragraphs, each in sentences."""
    before = points(decision.automatic)
    if decision.kind is DecisionKind.EXEMPTION:
        yield (_("{exercise} does not count for you.").format(exercise=one.name),)
        return
    if decision.kind is DecisionKind.OVERRIDE:
        sentence = (
            _("{exercise}: points from your instructor: {points}; the checks gave no score.")
            if before is None
            else _("{exercise}: points from your instructor: {points}; by the checks: {before}.")
        )
        reason = next(o.reason for o in personal.overrides if o.exercise == one.id)
        yield sentence.format(exercise=one.name, points=points(one.score), before=before), reason
        return
    titles = {check.id: check.title for check in one.checks}
    for about in personal.checks:
        if about.check in titles:
            sentence = (
                _("This check of {exercise} counts as passed for everybody: {title}")
                if about.is_given
                else _("This check of {exercise} counts for nobody: {title}")
            )
            yield sentence.format(exercise=one.name, title=titles[about.check]), about.reason
    sentence = _("{exercise}: points now: {points}; before that: {before}.")
    shown = ("?" if score is None else points(score) for score in (one.score, decision.automatic))
    now, earlier = shown
    yield (sentence.format(exercise=one.name, points=now, before=earlier),)


# Dates.


def late_work(course: Course, part: AssignmentResult, personal: Personal) -> LateWork:
    """How late an assignment was by the student's dates, and what it has without that."""
    due = dict(personal.due).get(part.id, course.by_id[part.id].due)
    is_late = not part.is_exempt
    return LateWork(part.score, days_late(due, part.submitted_at, course.late) if is_late else 0)


def _with_lateness(
    course: Course, parts: Sequence[AssignmentResult], personal: Personal
) -> list[AssignmentResult]:
    """Assignments after what lateness takes off: with more time, and late days."""
    later, allowed = dict(personal.due), personal.late_days or NO_LATE_DAYS
    works = [late_work(course, part, personal) for part in parts]
    late = [work.days for work in works]
    used = [days for _, days in best_of([[work] for work in works], course.late, allowed)]
    left = allowed.budget - sum(used)
    done = []
    for one, days, paid in zip(parts, late, used, strict=True):
        after = lateness(course.late, days, one.score, paid, one.time_source)
        notes = [*_date_words(later.get(one.id)), *after.notes]
        if paid:
            sentence = _("Late days used here: {used}. Left of your {budget}: {left}.")
            notes.append(sentence.format(used=paid, budget=allowed.budget, left=left))
        done.append(
            replace(
                one,
                score=after.score,
                days_late=days,
                late_days_used=paid,
                notes=(*one.notes, *notes),
            )
        )
    return done


def _date_words(due: datetime | None) -> Iterator[str]:
    if due is not None:
        date = f"{due:%Y-%m-%d %H:%M} ({due.tzname()})"
        yield _("Your due date for this assignment: {date}.").format(date=date)


def commented(result: Result, personal: Personal) -> Result:
    """A result with what instructors wrote to the student, among the notes of each assignment."""
    words: dict[str, list[str]] = {}
    about = [f"{RESOLVED} {one.exercise}" for one in personal.resolved]
    about += [f"comment {one.about}" for one in personal.comments]
    for one in personal.resolved:
        sentence = _("{exercise}: your request was looked at.").format(exercise=_name(one.exercise))
        words.setdefault(_assignment(one.exercise), []).append(
            paragraph(filter(None, (sentence, one.reason)))
        )
    for comment in personal.comments:
        sentence = (
            _("From your instructor, on {exercise}: {text}")
            if comment.exercise
            else _("From your instructor: {text}")
        )
        note = sentence.format(exercise=_name(comment.exercise), text=comment.text)
        words.setdefault(_assignment(comment.about), []).append(note)
    if not words:
        return result
    parts = (
        replace(part, notes=tuple(dict.fromkeys((*part.notes, *words.get(part.id, ())))))
        for part in result.assignments
    )
    return replace(result, assignments=tuple(parts), decided=(*result.decided, *about))


def _assignment(id_: str) -> str:
    return id_.partition("/")[0]


def _name(id_: str) -> str:
    return id_.partition("/")[2]


def _about(assignments: Sequence[AssignmentResult], personal: Personal) -> Iterator[str]:
    """What was decided about a student, for instructors: the kind, and what it is about."""
    extended = dict(personal.due)
    for one in assignments:
        if one.id in extended:
            yield f"extension {one.id}"
        if one.late_days_used:
            yield f"late days {one.id}"
        if one.is_exempt:
            yield f"exemption {one.id}"
            continue
        for exercise in one.exercises:
            if exercise.decision is not None:
                yield f"{exercise.decision.kind} {exercise.id}"
            if _lacks_checks(exercise, personal):
                yield f"{NOT_RUN} {exercise.id}"


def _lacks_checks(exercise: ExerciseResult, personal: Personal) -> bool:
    """Whether checks were not run because one failed that was decided about since."""
    about = {decision.check for decision in personal.checks}
    did_not_fail = (Outcome.PASSED, Outcome.BLOCKED)
    has_failed = any(c.id in about and c.outcome not in did_not_fail for c in exercise.checks)
    blocked = (check for check in exercise.checks if check.outcome is Outcome.BLOCKED)
    return has_failed and any(c.weight and not c.waits_for and c.id not in about for c in blocked)


class Policy(StrEnum):
    """Which attempt at an assignment counts.

    - last: the last one.
    - best: the one with the most points after the deduction for lateness.
    - best-per-exercise: of each exercise, the attempt with the most points.
    - last-in-time: the last one before the due date; without one, the last of those that are least late.
      The due date is the course's, or the student's own where that earns more.
    """

    LAST = "last"
    BEST = "best"
    BEST_PER_EXERCISE = "best-per-exercise"
    LAST_IN_TIME = "last-in-time"


def is_attempt(record: AssignmentResult) -> bool:
    """Whether anything was handed in for an assignment that is not as it was released."""
    is_touched = not all(exercise.is_untouched for exercise in record.exercises)
    is_there = not is_decided(record) or (bool(record.read_from) and is_touched)
    return is_there and not record.is_missing


@dataclass(frozen=True, slots=True)
class Option:
    """What may count for an assignment.

    Args:
        record: its outcomes.
        used: the positions of the attempts that it is made of.
    """

    record: AssignmentResult
    used: tuple[int, ...]


def counting(
    course: Course,
    tries: Mapping[str, Sequence[AssignmentResult]],
    policy: Policy,
    personal: Personal,
) -> tuple[AssignmentResult, ...]:
    """The outcomes that count, each with what all attempts earned.

    Args:
        course: the course, with these assignments.
        tries: the attempts at each assignment, the first one first; at least one each.
        policy: which of them counts.
        personal: what was decided about the student.
    """
    own = {id_: [one for one in tries[id_] if is_attempt(one)] for id_ in tries}
    real = {id_: own[id_] or tries[id_][-1:] for id_ in course.by_id if id_ in tries}
    deciding = Deciding(course, personal)
    options = {id_: _choices(real[id_], policy) for id_ in real}
    works = {id_: [deciding.late_work(o.record) for o in found] for id_, found in options.items()}
    left = {id_: [len(found) - 1] for id_, found in options.items()}
    if policy is Policy.LAST_IN_TIME:
        left = {id_: _in_time(course, id_, real[id_], works[id_]) for id_ in options}
    elif policy is not Policy.LAST:
        left = {id_: [*range(len(found))] for id_, found in options.items()}
    allowed = personal.late_days or NO_LATE_DAYS
    best = best_of([[works[i][n] for n in left[i]] for i in options], course.late, allowed)
    chosen = {id_: options[id_][left[id_][n]] for id_, (n, _) in zip(options, best, strict=True)}

    def result(record: AssignmentResult) -> AssignmentResult:
        records = {id_: one.record for id_, one in chosen.items()} | {record.id: record}
        if personal.late_days is None:  # what one assignment earns is nothing to the others
            records = {record.id: record}
        found = deciding.assignments([*records.values()])
        return next(part for part in found if part.id == record.id)

    done = []
    for id_, option in chosen.items():
        scores = tuple(
            _score(one, result(one), counts=number in option.used)
            for number, one in enumerate(own[id_])
        )
        done.append(replace(option.record, attempts=scores))
    return tuple(done)


def _in_time(
    course: Course, id_: str, tries: Sequence[AssignmentResult], works: Sequence[LateWork]
) -> list[int]:
    """The positions of the attempts of which one counts under `LAST_IN_TIME`.

    The last one that is least late by the course's date, and those after it that the student's own
    date makes less late: more time only adds to what may count.

    Args:
        course: the course.
        id_: the assignment.
        tries: the attempts.
        works: the same by the student's own dates.
    """
    due = course.by_id[id_].due
    late = [days_late(due, one.submitted_at, course.late) for one in tries]
    last = max(range(len(tries)), key=lambda n: (-late[n], n))
    return [last, *(n for n in range(last + 1, len(tries)) if works[n].days < late[n])]


def _score(one: AssignmentResult, part: AssignmentResult, *, counts: bool) -> AttemptScore:
    at = one.submitted_at
    return AttemptScore(
        at=at.isoformat() if at else "",
        score=part.score,
        days_late=part.days_late,
        counts=counts,
        exercises={exercise.id: exercise.score for exercise in part.exercises},
        tried=tuple(e.id for e in one.exercises if not e.is_untouched),
    )


def _choices(tries: Sequence[AssignmentResult], policy: Policy) -> list[Option]:
    """Each attempt; or, exercise by exercise, the best of the first ones, for each number of them."""
    if policy is not Policy.BEST_PER_EXERCISE:
        return [Option(one, (number,)) for number, one in enumerate(tries)]
    return [_merged(tries[:count]) for count in range(1, len(tries) + 1)]


def _merged(tries: Sequence[AssignmentResult]) -> Option:
    """The best of each exercise, as part of the last attempt; of equal ones the latest."""
    last = len(tries) - 1
    taken = []
    for exercise in tries[last].exercises:
        same = [(n, e) for n, one in enumerate(tries) for e in one.exercises if e.id == exercise.id]
        taken.append(max(same, key=lambda pair: (_share(pair[1]), pair[0])))
    used = tuple(dict.fromkeys(sorted(number for number, _one in taken))) or (last,)
    base = tries[used[-1]]
    notes = [
        _("{exercise}: the attempt of {date} counts.").format(exercise=e.name, date=_date(tries[n]))
        for n, e in taken
        if n != used[-1]
    ]
    exercises = tuple(exercise for _n, exercise in taken)
    record = replace(base, exercises=exercises, notes=(*base.notes, *notes))
    return Option(record if exercises else tries[last], used)


def _share(exercise: ExerciseResult) -> Decimal:
    """How much of an exercise was earned, in thousandths; less than nothing where undecided."""
    score = exercise_score(1000, exercise.checks, exercise.findings)
    return Decimal(-1) if score is None else score


def _date(one: AssignmentResult) -> str:
    at = one.submitted_at
    return f"{at:%Y-%m-%d %H:%M} ({at.tzname()})" if at else "?"
