"""A class whose students handed in several times: each attempt is graded once, and some count.

Outcomes of attempts are kept in `attempts/` of the output folder by what was handed in, and nothing
is overwritten there. Which attempt counts is decided from outcomes, anew where it may be another one.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path

from msgspec import structs

from grader.core.processes import FEW, spread
from grader.core.records import Result
from grader.core.text import hash_of
from grader.course.course import Course
from grader.feedback.outcomes import summary_line
from grader.grading.choices import FOLDER, Choice, hash_of_kept, read_choices, write_choices
from grader.grading.class_files import row_of
from grader.grading.class_run import ClassRun, Done, Grade, Watcher, run_of
from grader.grading.journal import Journal, new_seed
from grader.grading.kept_outcomes import Kept, as_text, read_kept, write_kept
from grader.grading.policies import Policy, Try, counting
from grader.grading.run_settings import RunSettings
from grader.grading.scoring import scored
from grader.grading.student_run import StudentRun, heads_of
from grader.submissions.attempts import contents
from grader.submissions.faults import FAULTS
from grader.submissions.moments import Moment
from grader.submissions.student_folders import Student


@dataclass(frozen=True, slots=True)
class HandIn:
    """What one attempt is for one assignment: when, where it lies, and a fingerprint of it."""

    moment: Moment
    path: Path
    content: str


HandIns = Mapping[str, Sequence[HandIn]]
"""The attempts at each assignment, the first one first."""


@dataclass(frozen=True, slots=True)
class Planned:
    """What is to be done for one student.

    Args:
        found: their attempts.
        missing: what is to be graded: by where an attempt lies, a fingerprint of each assignment.
        before: what counted in the run before, where something else may count now.
        chosen: what counts; None before everything is graded.
        undecided: sentences about attempts that nobody could judge.
    """

    found: HandIns
    missing: Mapping[Path, Mapping[str, str]] = field(default_factory=dict)
    before: Choice | None = None
    chosen: Choice | None = None
    undecided: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ClassAttempts:
    """Which attempts count, student by student.

    Args:
        run: the class.
        basis: what is graded with.
        policy: which attempts count.
    """

    run: ClassRun
    basis: StudentRun
    policy: Policy

    def planned(self, student: Student, before: Choice | None) -> Planned:
        """What is to be done for a student; what counts, where nothing is to be graded.

        Args:
            student: who.
            before: what counted in the run before.
        """
        id_, out, missing = student.id, self.run.out, dict[Path, dict[str, str]]()
        found = hand_ins(self.run.course, student, self.basis.terms.graded)
        if before is not None:
            asked = self._asked(id_, found, before.open_)
            if before.is_of(out, id_, asked):
                return Planned(found, chosen=before)
        kept, seen = read_kept(out / FOLDER, id_), set[tuple[str, str]]()
        for assignment, mine in found.items():
            for one in mine:
                is_known = not self.run.force and self._find(kept, assignment, one) is not None
                if not is_known and (assignment, one.content) not in seen:
                    seen.add((assignment, one.content))
                    missing.setdefault(one.path, {})[assignment] = one.content
        planned = Planned(found, missing, before)
        return planned if missing else self.chosen(id_, planned, kept)

    def _asked(self, student: str, found: HandIns, open_: Collection[str]) -> dict[str, str]:
        """By assignment, a hash of what decides which attempts count, and what each earned.

        Args:
            student: whose attempts they are.
            found: the attempts.
            open_: what a decision may change; of others it is left out.
        """
        terms, personal = self.basis.terms, self.run.personal(student)
        personal = replace(personal, due=tuple(one for one in personal.due if one[0] in open_))
        personal = personal.mattering(open_, is_late=not found.keys().isdisjoint(open_))
        own: dict[str, object] = {
            id_: (
                terms.course.by_id[id_].due,
                [(one.moment, one.content) for one in mine],
                personal.about(id_),
            )
            for id_, mine in found.items()
        }
        if personal.late_days is not None:  # they are spent where they are best over all
            own = dict.fromkeys(own, own.copy())
        shared = (terms.but_dates, terms.course.late, str(self.policy))
        return {id_: hash_of(repr((shared, one)))[:16] for id_, one in own.items()}

    def chosen(self, student: str, planned: Planned, kept: Kept | None = None) -> Planned:
        """The same with what counts for the student, whose outcomes are kept as theirs.

        Args:
            student: whose attempts they are.
            planned: with all attempts graded.
            kept: the outcomes of attempts, where they are read already.
        """
        out, terms, before = self.run.out, self.basis.terms, planned.before
        own = read_kept(out, student)
        counting_still = self._counting_still(student, planned, own)
        todo = {id_: mine for id_, mine in planned.found.items() if id_ not in counting_still}
        now = self.outcomes(student, todo, kept)
        open_, times = self._open(student, now), _times(now)
        parts = {
            head.assignment: (head, as_text(record))
            for head, record in heads_of(terms, dict.fromkeys(terms.conditions, ""), now)
            if head.assignment in todo
        }
        if before is not None and counting_still:
            parts |= {id_: (own.heads[n], own.records[n]) for id_, n in counting_still.items()}
            open_ |= {id_ for id_ in before.open_ if id_.partition("/")[0] in counting_still}
            times |= {id_: one for id_, one in before.times if id_ in counting_still}
        parts = {id_: parts[id_] for id_ in planned.found if id_ in parts}
        content = hash_of(
            repr([(id_, head.submitted_at, text) for id_, (head, text) in parts.items()])
        )
        new = own
        for id_, (head, text) in parts.items():
            if own.find(id_, content, terms.conditions[id_]) is None:
                new = new.with_more(structs.replace(head, handed_in=content), text)
        if new != own:
            write_kept(out, student, new)
        is_decided = all(one.score is not None for a in now.assignments for one in a.attempts)
        choice = Choice(
            self._asked(student, planned.found, open_),
            hash_of_kept(out, student) if is_decided else "",
            content,
            tuple((id_, times[id_]) for id_ in planned.found if id_ in times),
            tuple(sorted(open_)),
        )
        return replace(planned, chosen=choice, undecided=tuple(_undecided(student, now)))

    def _counting_still(self, student: str, planned: Planned, own: Kept) -> dict[str, int]:
        """Where in a student's outcomes those are that count as before, by assignment."""
        before = planned.before
        if before is None or self.run.force or not before.has_all(self.run.out, student):
            return {}
        asked = self._asked(student, planned.found, before.open_)
        found = {
            id_: own.find(id_, before.content, self.basis.terms.conditions[id_])
            for id_, one in asked.items()
            if one == before.asked.get(id_)
        }
        return {
            id_: number
            for id_, number in found.items()
            if number is not None and own.heads[number].has_record
        }

    def _open(self, student: str, now: Result) -> set[str]:
        """The exercises and assignments whose attempts a decision changes or may change."""
        points, personal = self.basis.points, self.run.personal(student)
        open_ = {c.check.partition("::")[0] for c in personal.checks} | {*dict(personal.due)}
        for part in now.assignments:
            for one in part.attempts:
                open_ |= {id_ for id_, score in one.exercises.items() if score != points[id_]}
                open_ |= {part.id} if one.days_late else set()
        return open_

    def outcomes(self, student: str, found: HandIns, kept: Kept | None = None) -> Result:
        """The outcomes that count for a student, put together from attempts.

        Args:
            student: whose attempts they are.
            found: the attempts.
            kept: their outcomes, where they are read already.
        """
        basis, read = self.basis, kept or read_kept(self.run.out / FOLDER, student)
        tries = {id_: [*self._tries(read, id_, mine)] for id_, mine in found.items()}
        tries = {id_: mine for id_, mine in tries.items() if mine}
        course = basis.terms.course
        records = counting(course, tries, self.policy, self.run.personal(student))
        heads = [mine[-1].head for mine in tries.values()]
        return Result(
            student=student,
            score=None,
            max_score=0,
            undecided=False,
            submitted=any(one.head.submitted for mine in tries.values() for one in mine),
            isolation=next((head.isolation for head in heads if head.isolation), ()),
            seed=basis.settings.seed,
            versions={},
            course_hash=course.hash,
            submission_hash=heads[-1].submission_hash if heads else "",
            assignments=records,
        )

    def _tries(self, kept: Kept, id_: str, mine: Sequence[HandIn]) -> Iterator[Try]:
        """The attempts at an assignment with their outcomes; also those that are undecided."""
        for one in mine:
            number = self._find(kept, id_, one)
            if number is None:  # undecided: the latest outcomes of the same files say so
                same = [n for n, h in enumerate(kept.heads) if h.assignment == id_]
                same = [n for n in same if kept.heads[n].handed_in == one.content]
                number = same[-1] if same else None
            record = None if number is None else self.basis.maker.outcomes(kept, number)
            if number is not None and record is not None:
                at, source = (one.moment.at, one.moment.source) if record.read_from else (None, "")
                yield Try(
                    structs.replace(record, submitted_at=at, time_source=source), kept.heads[number]
                )

    def _find(self, kept: Kept, id_: str, one: HandIn) -> int | None:
        return kept.find(id_, one.content, self.basis.terms.conditions[id_])


def with_attempts(
    run: ClassRun, policy: Policy, grade: Grade, watcher: Watcher
) -> tuple[ClassRun, Grade]:
    """Grade each attempt that was not graded; what is then left to do, without student code.

    Args:
        run: the class; of its students some have attempts.
        policy: which of these counts.
        grade: grades students somewhere.
        watcher: shows the progress.

    Raises:
        UsageError, CourseError: as `ClassRun.carry_out` does.
    """
    run.require_solutions()
    basis, several = run_of(run), [student for student in run.students if student.attempts]
    run = replace(run, seed=basis.settings.seed)
    attempts = ClassAttempts(replace(run, students=()), basis, policy)
    with Journal(run.out, basis.identity, run.force):
        before = {} if run.force else read_choices(run.out)
        if len(several) > FEW:
            watcher.planned([f"Looking at the attempts of {len(several)} students."])
            basis.maker.ask_for(read_kept(run.out / FOLDER, several[0].id))
        pieces = [(student, before.get(student.id)) for student in several]
        with closing(spread(attempts.planned, pieces, run.jobs)) as found:
            planned = {student.id: one for student, one in zip(several, found, strict=True)}
        todo = [(id_, one) for id_, one in planned.items() if one.missing]
        _grade_missing(run, basis, todo, grade, watcher)
        with closing(spread(attempts.chosen, todo, run.jobs)) as done:
            planned |= {id_: one for (id_, _), one in zip(todo, done, strict=True)}
        now = {id_: one.chosen for id_, one in planned.items() if one.chosen is not None}
        choices = before | now
        if choices != before:
            write_choices(run.out, choices)
    students = [_as_one(s, choices[s.id]) if s.id in planned else s for s in run.students]
    watcher.planned([sentence for one in planned.values() for sentence in one.undecided])

    def known(settings: RunSettings, todo: Sequence[Student]) -> Done:
        for one in todo:
            if one.id in planned:
                yield one, _only(attempts.outcomes(one.id, planned[one.id].found), one.only)
        others = [one for one in todo if one.id not in planned]
        if others:
            yield from grade(settings, others)

    graded = frozenset(id_ for id_, one in planned.items() if one.missing)
    return replace(run, students=students, basis=basis, graded=graded), known


def _times(outcomes: Result) -> dict[str, Moment]:
    """When what counts was handed in, by assignment."""
    return {
        one.id: Moment(one.submitted_at, one.time_source)
        for one in outcomes.assignments
        if one.submitted_at
    }


def _undecided(student: str, outcomes: Result) -> Iterator[str]:
    """Attempts that nobody could judge, which may be better than the one that counts."""
    for part in outcomes.assignments:
        times = [one.at for one in part.attempts if one.score is None and not one.counts]
        if times:
            yield (
                f"UNDECIDED, other attempts could not be judged: {student}, {part.id}, "
                f"{', '.join(times)}. The same command grades them again."
            )


def hand_ins(course: Course, student: Student, assignments: Sequence[str]) -> HandIns:
    """A student's attempts at each assignment; one that changes nothing of it is none.

    Args:
        course: the course.
        student: who.
        assignments: those that are asked for.
    """
    found: dict[str, list[HandIn]] = {id_: [] for id_ in assignments}
    for attempt in student.attempts:
        prints = _contents(course, attempt.path)
        for id_, mine in found.items():
            is_new = not mine or mine[-1].content != prints[id_]
            if is_new and id_ in (attempt.only or found):
                mine.append(HandIn(attempt.moment, attempt.path, prints[id_]))
    last = student.attempts[-1]
    for id_, mine in found.items():
        if not mine:  # nothing of it was handed in, which is an outcome as well
            mine.append(HandIn(last.moment, last.path, _contents(course, last.path)[id_]))
    return found


def _contents(course: Course, path: Path) -> dict[str, str]:
    """Fingerprints by assignment; never the same where something is unreadable."""
    try:
        return contents(course, path)
    except FAULTS:
        return dict.fromkeys(course.by_id, f"unreadable {new_seed()}")


def _grade_missing(
    run: ClassRun,
    basis: StudentRun,
    planned: Sequence[tuple[str, Planned]],
    grade: Grade,
    watcher: Watcher,
) -> None:
    """Grade what has no outcomes, one attempt at a time; each is kept as soon as it is there."""
    todo = {
        (student, path): parts for student, one in planned for path, parts in one.missing.items()
    }
    if not todo:
        return
    watcher.begin(len(todo), 0)
    items = [Student(id_, path, tuple(parts)) for (id_, path), parts in todo.items()]
    for item, outcomes in grade(basis.settings, items):
        if isinstance(outcomes, str):
            from grader.grading.worker import undecided_result  # imports torch

            outcomes = undecided_result(basis.settings, item, outcomes)
        assert item.path is not None
        kept = read_kept(run.out / FOLDER, item.id)
        for head, record in heads_of(basis.terms, todo[item.id, item.path], outcomes):
            kept = kept.with_attempt(head, record)
        write_kept(run.out / FOLDER, item.id, kept)
        shown = scored(run.course, outcomes)
        watcher.done(row_of(shown, summary_line(shown)))


def _as_one(student: Student, choice: Choice) -> Student:
    """A student as one who handed in what counts."""
    return replace(student, attempts=(), times=choice.times, content=choice.content)


def _only(outcomes: Result, assignments: Sequence[str]) -> Result:
    """The same in some assignments; in all where none is named."""
    if not assignments:
        return outcomes
    return structs.replace(
        outcomes, assignments=tuple(a for a in outcomes.assignments if a.id in assignments)
    )
