"""A class run: what arrived, its outcomes, the scores that follow, and the files that differ.

arrive    each hand-in of each student becomes keys of outcomes       (`arrive`)
outcomes  what the store does not have is graded, and put there        (`store`)
score     results of everybody, a pure function                        (`score`)
write     records, feedback and the class's tables, where they differ  (`rows`)
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from secrets import randbits
from typing import Protocol

from grader.classes.arrive import Arrival, Reader, changed_conditions
from grader.classes.deciding import Policy
from grader.classes.decisions import NONE, Decisions, Personal
from grader.classes.outcomes import AssignmentOutcome, Words, failed, not_handed_in, outcomes_of
from grader.classes.records import Files, Records, feedback_path, record_path
from grader.classes.rows import ClassResult, Coverage, Row, row_of, write_class
from grader.classes.score import HandedIn, Scorer, StudentInputs
from grader.classes.store import RunOptions, RunSettings, Standing, Store, Use, Uses
from grader.classes.workers import new_worker
from grader.core.errors import CourseError
from grader.core.files import OutputFile
from grader.core.kit import KIT_NAME, grader_hash, versions
from grader.core.language import current, listed
from grader.core.processes import spread
from grader.core.records import Result
from grader.course.course import MANIFEST, Course
from grader.course.outcome_parts import outcome_parts
from grader.intake.folders import Student
from grader.intake.roster import Enrolled
from grader.judging.outcomes import summary_line
from grader.judging.results import record_texts
from grader.submissions.payload import Payload, read_payload

Done = Iterator[tuple[Student, Result | str]]
Grade = Callable[[RunSettings, Sequence[Student]], Done]
"""Grades students somewhere, in any order: outcomes without scores, or why there are none."""

Missing = dict[tuple[str, Path], dict[str, bytes]]
"""By student and folder, the keys of outcomes that are not there yet, by assignment."""

NEW_ASSIGNMENT = "a new assignment"
WORDS = {"torch": "torch", "python": "Python", KIT_NAME: "the grader's version"}
"""What decides outcomes, where its name is not the word for it."""


class Watcher(Protocol):
    """Shows the progress of a run."""

    def planned(self, sentences: Sequence[str]) -> None:
        """What is graded again and why, before the run begins."""

    def begin(self, what: str, total: int, done: int) -> None:
        """So many are in the class, and so many of them need no grading."""

    def prepares(self, exercise: str, number: int) -> None:
        """So many known mistakes of an exercise are run, once for all who get it wrong."""

    def done(self, *, is_undecided: bool) -> None:
        """One more is graded."""


@dataclass(frozen=True, slots=True)
class ClassRun:
    """What to grade and where to write it.

    Args:
        course: the course.
        students: all of them, in order.
        out: the output folder.
        isolation: "sealed" or "process".
        seed: of the hidden inputs; None for the one of the run that the folder holds, or a new one.
        force: whether to grade everything again.
        is_whole: whether these are all students: results of others are then moved aside. Otherwise
            they are added to.
        roster: what is known of students besides, by name.
        assignments: the ids of those to grade, of others earlier results stay; all unless given.
        decisions: what was decided about students.
        never_lower: the records of an earlier run, whose scores are not to fall.
        options: those of the command that decide what counts of what was handed in.
        jobs: how many processes of the grader's own read and score.
        policy: which of several attempts counts.
    """

    course: Course
    students: Sequence[Student]
    out: Path
    isolation: str = "sealed"
    seed: str | None = None
    force: bool = False
    is_whole: bool = True
    roster: Mapping[str, Enrolled] = field(default_factory=dict)
    assignments: tuple[str, ...] = ()
    decisions: Decisions = NONE
    never_lower: Records | None = None
    options: tuple[str, ...] = ()
    jobs: int = 1
    policy: Policy = Policy.LAST

    def carry_out(self, grade: Grade, watcher: Watcher) -> ClassResult:
        """Grade what the store has no outcome of, score everybody, and write what differs.

        However it ends, each outcome that was found is in the store, and whoever has all of theirs
        is scored and written.

        Raises:
            UsageError: in a released copy, when another command works in the folder, or when it
                cannot be written.
            CourseError: when an assignment has no solution.
        """
        self.require_solutions()
        with Store.to_write(self.out, force=self.force) as store:
            return _Run(self, store).carried_out(grade, watcher)

    def require_solutions(self) -> None:
        """Raise CourseError when an assignment has no solution, UsageError in a released copy."""
        self.course.require_solutions()
        paths = {a.id: self.course.paths(a).solution for a in self.course.assignments}
        problems = [
            f"{MANIFEST}: the assignment {id_!r} has no solution: there is no "
            f"{path.relative_to(self.course.root).as_posix()}"
            for id_, path in paths.items()
            if not path.is_file()
        ]
        if problems:
            raise CourseError(*problems)


def conditions_of(
    course: Course, assignments: Iterable[str], seed: str, isolation: str
) -> dict[str, dict[str, str]]:
    """By assignment, a hash of each thing besides files that decides outcomes, by what it is in words."""
    used = {**versions(), "grader": grader_hash()}
    shared = {**used, "seed": seed, "isolation": isolation, "language": current()}
    named = {WORDS.get(what, f"the {what}"): value for what, value in shared.items()}
    parts = outcome_parts(course)
    return {id_: {**parts[id_], **named} for id_ in assignments}


class _Run:
    """A class run with its store open. The store keeps the seed, so a run that was killed goes on with the same inputs.

    Args:
        wanted: what was asked for.
        store: of the output folder.
    """

    def __init__(self, wanted: ClassRun, store: Store) -> None:
        course = wanted.course
        self.wanted, self.store = wanted, store
        self.before = store.options()  # how the class was graded last
        self.earlier_uses, self.standings = store.uses(), store.standings()
        self.arrivals: dict[str, Arrival] = {}
        seed = wanted.seed or (self.before.seed if self.before else str(randbits(64)))
        self.settings = RunSettings(course.root, course.hash, seed, wanted.isolation, current())
        self.graded = wanted.assignments or tuple(course.by_id)
        known = (*self.graded, *(self.before.assignments if self.before else ()))
        covered = tuple(id_ for id_ in course.by_id if id_ in known)
        self.course = course.only(covered)  # with the assignments that results have
        self.conditions = conditions_of(course, covered, seed, wanted.isolation)
        self.words = Words.of(
            course, covered
        )  # before anybody is graded by checks that do not load
        with store.transaction():
            store.set_options(self.options)

    @property
    def options(self) -> RunOptions:
        """How the class is graded."""
        return RunOptions(
            self.settings.seed,
            self.wanted.course.hash,
            self.wanted.isolation,
            self.settings.language,
            tuple(self.course.by_id),
            self.wanted.options,
            self.conditions,
        )

    def carried_out(self, grade: Grade, watcher: Watcher) -> ClassResult:
        """The four steps."""
        self._arrive()
        missing = self._missing(set() if self.wanted.force else self.store.decided())
        watcher.planned(self._sentences(missing))
        try:
            self._grade(missing, grade, watcher)
        except BaseException:
            self._write()
            raise
        return self._write()

    # Arriving.

    def _arrive(self) -> None:
        """Read what everybody handed in."""
        reader = Reader(self.wanted.course, self.conditions)
        pieces = [(student, self._graded_of(student.id)) for student in self.wanted.students]
        with closing(spread(reader.arrival, pieces, self.wanted.jobs)) as found:
            ids = (student.id for student, _ids in pieces)
            self.arrivals = dict(zip(ids, found, strict=True))

    def _graded_of(self, student: str) -> tuple[str, ...]:
        """The assignments to grade of a student: of somebody new, all that the class was graded in."""
        return self.graded if student in self.standings else tuple(self.course.by_id)

    def _missing(self, decided: Collection[bytes]) -> Missing:
        """What is to be graded besides what is decided, each outcome once."""
        found: Missing = {}
        planned = {*decided}
        for student, arrival in self.arrivals.items():
            for key, (path, id_) in arrival.places.items():
                if key not in planned:
                    planned.add(key)
                    found.setdefault((student, path), {})[id_] = key
        return found

    def _sentences(self, missing: Missing) -> list[str]:
        """What is graded again and why, for people; nothing of a first run."""
        if self.before is None:
            return []
        changed = changed_conditions(self.before.conditions, self.conditions)
        again: dict[str, set[str]] = {}
        fresh = set()
        for (student, _path), keys in missing.items():
            earlier, now = self.earlier_uses.get(student, {}), self.arrivals[student].uses
            for id_, key in keys.items():
                work = next(use.work for use in now[id_] if use.key == key)
                if work in _works(earlier, id_):
                    again.setdefault(id_, set()).add(student)
                else:
                    fresh.add(student)
        groups: dict[tuple[tuple[str, ...], int], list[str]] = {}
        for id_, students in again.items():
            if id_ in changed:
                groups.setdefault((changed[id_], len(students)), []).append(id_)
        lines = [
            f"{'Everything' if len(ids) == len(self.conditions) else listed(ids)}: "
            f"{' and '.join(what)} changed; {_students(count)} graded again."
            for (what, count), ids in groups.items()
        ]
        lines += [
            f"{id_} is not graded now: its results are from before a change ({' and '.join(what)})."
            for id_, what in changed.items()
            if id_ not in self.graded
        ]
        if kept := [id_ for id_ in self.course.by_id if id_ not in {*self.graded, *changed}]:
            lines.append(
                f"Kept as graded before: {listed(kept)}. A run into another --out leaves them out."
            )
        if groups and fresh:
            lines.append(f"{_students(len(fresh))} graded who handed in something new.")
        return lines

    # Outcomes.

    def _grade(self, missing: Missing, grade: Grade, watcher: Watcher) -> None:
        """Grade what is missing, and put each outcome into the store as it comes."""
        known = {key: one for a in self.arrivals.values() for key, one in a.known.items()}
        if known:
            self.store.add(known)
        several = any(student.attempts for student in self.wanted.students)
        counted = {
            one.id: len(one.attempts) or 1
            for one in self.wanted.students
            if not several or one.path is not None or one.refused
        }
        total = sum(counted.values())
        new = [  # of whom nothing is graded
            one
            for student, one in self.arrivals.items()
            if student in counted
            and not one.places
            and (one.known or student not in self.standings)
        ]
        done = total - len(missing) - len(new)
        watcher.begin("attempts" if several else "students", total, done)
        for one in new:
            watcher.done(is_undecided=bool(one.known))
        order = self.wanted.course.by_id
        todo = [
            Student(student, path, tuple(id_ for id_ in order if id_ in parts))
            for (student, path), parts in missing.items()
        ]
        for work, found in grade(self.settings, todo) if todo else ():
            assert work.path is not None
            keys = missing[work.id, work.path]
            outcomes = self._outcomes(found, keys)
            self.store.add(outcomes)
            watcher.done(is_undecided=not all(one.is_decided for one in outcomes.values()))

    def _outcomes(
        self, found: Result | str, keys: Mapping[str, bytes]
    ) -> dict[bytes, AssignmentOutcome]:
        if isinstance(found, str):
            return {key: failed(id_, found) for id_, key in keys.items()}
        outcomes = outcomes_of(found)
        return {key: outcomes.get(id_) or not_handed_in(id_) for id_, key in keys.items()}

    # Scores, and what is written of them.

    def _write(self) -> ClassResult:
        """Score everybody whose outcomes are there, and write what differs."""
        wanted, store = self.wanted, self.store
        known = store.keys()
        uses = {student: self._uses(student, known) for student in self.arrivals}
        todo = [id_ for id_, found in uses.items() if found is None]
        now: dict[str, Uses] = {id_: found for id_, found in uses.items() if found is not None}
        others = {
            id_: self.earlier_uses.get(id_, {})
            for id_ in (*self.earlier_uses, *self.standings)
            if id_ not in now and (not wanted.is_whole or id_ in self.arrivals)
        }
        everybody = {**others, **now}
        files = Files(wanted.out)
        rows, standings = dict[str, Row](), dict[str, Standing]()
        open_attempts: list[str] = []
        scorer = Scorer(self.course, self.words, wanted.policy, self.settings.seed)
        unread = {id_: one.unread for id_, one in self.standings.items()}
        unread |= {id_: one.unread for id_, one in self.arrivals.items()}
        handed_in = ClassInputs(
            wanted.course, everybody, wanted.decisions, wanted.roster, unread, wanted.never_lower
        )
        pieces = [(handed_in.of(id_, self.store.outcome),) for id_ in sorted(everybody)]
        with closing(spread(Maker(scorer, wanted.out).made, pieces, wanted.jobs)) as found:
            for row, standing, left_open, changed_files in found:
                files.write(changed_files)
                rows[row.student], standings[row.student] = row, standing
                open_attempts += left_open
        left = sorted(self.standings.keys() - everybody.keys()) if rows or not todo else []
        files.move_away(left)
        store.end_run(everybody, standings, self.options)
        covers = Coverage(wanted.course.hash, frozenset(others), tuple(todo))
        result = ClassResult(
            self.course,
            [rows[id_] for id_ in sorted(rows)],
            covers,
            tuple(left),
            *self._changes(standings, everybody),
            gone=self._gone(standings),
            open_attempts=tuple(open_attempts),
            is_written=files.are_written,
        )
        if rows:
            write_class(result, wanted.out, wanted.roster)
        return result

    def _uses(self, student: str, known: Collection[bytes]) -> Uses | None:
        """What counts for a student now; None where an outcome is not among those known."""
        arrival = self.arrivals[student]
        if not all(key in known for key in (*arrival.places, *arrival.known)):
            return None
        earlier, graded = self.earlier_uses.get(student, {}), self._graded_of(student)
        kept = [id_ for id_ in self.course.by_id if id_ in earlier and id_ not in graded]
        return {**{id_: earlier[id_] for id_ in kept}, **arrival.uses}

    def _changes(
        self, standings: Mapping[str, Standing], everybody: Mapping[str, Uses]
    ) -> tuple[dict[str, tuple[float | None, float | None]], Counter[str]]:
        """Whose score is another one than before, and how often for what reason."""
        changed, why = {}, Counter[str]()
        has_other_options = self.before is not None and self.before.options != self.wanted.options
        for id_, now in sorted(standings.items()):
            before = self.standings.get(id_, now)
            if (before.score, before.is_undecided) == (now.score, now.is_undecided):
                continue
            changed[id_] = (before.score, now.score)
            earlier, uses = self.earlier_uses.get(id_, {}), everybody[id_]
            others = [a for a in self.course.by_id if _works(earlier, a) != _works(uses, a)]
            why[_reason(before, now, others, has_other_options=has_other_options)] += 1
        return changed, why

    def _gone(self, standings: Mapping[str, Standing]) -> tuple[tuple[str, str], ...]:
        """Work that was handed in before this run, and is not there any more."""
        return tuple(
            (student, id_)
            for student, before in sorted(self.standings.items())
            if student in self.arrivals and student in standings
            for id_ in before.handed_in
            if id_ in self.graded and id_ not in standings[student].handed_in
        )


Outcomes = Callable[[bytes], bytes | None]
"""An outcome as it is stored, by its key."""


@dataclass(frozen=True, slots=True)
class ClassInputs:
    """What decides the results of a class.

    Args:
        course: the whole course.
        uses: what everybody handed in.
        decisions: what was decided.
        roster: what is known of students besides, by name.
        unread: files of which none could be read as work, by student.
        never_lower: the records of an earlier run, whose scores are not to fall.
    """

    course: Course
    uses: Mapping[str, Uses]
    decisions: Decisions
    roster: Mapping[str, Enrolled]
    unread: Mapping[str, tuple[str, ...]]
    never_lower: Records | None = None

    def personal(self, student: str) -> Personal:
        """What was decided about a student."""
        enrolled = self.roster.get(student, Enrolled(student))
        return self.decisions.of(self.course, student, enrolled.labels)

    def of(self, student: str, outcome: Outcomes) -> StudentInputs:
        """What decides one student's result."""
        members = self.decisions.members(self.course, student)
        names = {name for group in members.values() for name in group} - {student}
        earlier = self.never_lower
        return StudentInputs(
            self._handed_in(student, outcome),
            {name: self._handed_in(name, outcome) for name in names if name in self.uses},
            members,
            self.unread.get(student, ()),
            earlier.text(student) if earlier is not None and student in earlier.texts else None,
        )

    def _handed_in(self, student: str, outcome: Outcomes) -> HandedIn:
        uses = self.uses[student]
        keys = {use.key for found in uses.values() for use in found}
        records = {key: record for key in keys if (record := outcome(key)) is not None}
        found = {id_: [use for use in own if use.key in records] for id_, own in uses.items()}
        return HandedIn(student, found, records, self.personal(student))


Made = tuple[Row, Standing, tuple[str, ...], tuple[OutputFile, ...]]
"""A student's line, what is remembered, attempts that are open, and the files to be written."""


@dataclass(frozen=True, slots=True)
class Maker:
    """Makes what a student has in an output folder."""

    scorer: Scorer
    out: Path

    def made(self, inputs: StudentInputs) -> Made:
        """What is written of one student."""
        return self.made_of(self.scorer.result(inputs), inputs)

    def made_of(self, result: Result, inputs: StudentInputs) -> Made:
        """The same of a result that is there."""
        row = row_of(result, summary_line(result))
        standing = Standing(
            row.score,
            row.undecided,
            {id_: score for id_, score in row.assignments.items() if score is not None},
            {id_: tuple(use.key for use in found) for id_, found in inputs.own.uses.items()},
            result.decided,
            result.unread,
            tuple(part.id for part in result.assignments if part.read_from),
        )
        texts = record_texts(result)
        files = [
            OutputFile(path(Path(), result.student).as_posix(), text)
            for path, text in zip((record_path, feedback_path), texts, strict=True)
        ]
        differing = tuple(file for file in files if not file.is_current(self.out))
        return row, standing, tuple(_open_attempts(result)), differing


def _works(uses: Mapping[str, Sequence[Use]], assignment: str) -> list[str]:
    """Hashes of what was handed in for an assignment each time."""
    return [use.work for use in uses.get(assignment, ())]


def _open_attempts(result: Result) -> Iterator[str]:
    """Attempts that nobody could judge, which may be better than the one that counts."""
    for part in result.assignments:
        times = [one.at for one in part.attempts if one.score is None and not one.counts]
        if times:
            yield f"{result.student}, {part.id}, {', '.join(times)}"


def _reason(
    before: Standing, now: Standing, other_work: Collection[str], *, has_other_options: bool
) -> str:
    """What another score comes from, in a few words.

    Args:
        before: what the student had in the run before.
        now: what the student has in this one.
        other_work: the ids of the assignments for which something else was handed in.
        has_other_options: whether the command has others.
    """
    if before.is_undecided != now.is_undecided:
        return "undecided now" if now.is_undecided else "undecided before"
    moved = {id_ for id_, score in before.assignments.items() if now.assignments.get(id_) != score}
    new = now.assignments.keys() - before.assignments.keys()
    if new and not moved and new <= {*now.handed_in} - {*before.handed_in}:
        return NEW_ASSIGNMENT
    if not moved.isdisjoint(other_work):
        return "other work"
    if before.decided != now.decided:
        return "decisions"
    if any(before.keys.get(id_) != now.keys.get(id_) for id_ in moved):
        return "graded again"
    return "other options" if has_other_options else "points or dates"


def grade_here(
    settings: RunSettings,
    students: Iterable[Student],
    says: Callable[[str, int], None] | None = None,
) -> Done:
    """Grade in this process, one student after the other."""
    with closing(new_worker(settings, says=says)) as worker:
        for student in students:
            yield student, worker.outcomes(student)


def handed_in_as_data(student: Student) -> Payload | Student:
    """A submission as data, for a machine that cannot read it.

    Raises:
        OSError: when a file cannot be read.
    """
    if student.path is None or student.refused:
        return student
    return read_payload(student.path, student.id)


def _students(count: int) -> str:
    return "1 student is" if count == 1 else f"{count} students are"
