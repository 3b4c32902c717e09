"""A class whose students handed in several times: each attempt is graded once, and some count.

Outcomes of attempts are kept in `attempts/` of the output folder by what was handed in, and nothing
is overwritten there. Which attempt counts is decided anew each time, from outcomes.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from grader.core.records import Result
from grader.course.course import Course
from grader.feedback.outcomes import summary_line
from grader.grading.choices import FOLDER, Choice, choice_of, read_choices, write_choices
from grader.grading.class_files import row_of
from grader.grading.class_run import ClassRun, Done, Grade, Watcher, run_of
from grader.grading.journal import Journal, new_seed
from grader.grading.kept_outcomes import Kept, read_kept, write_kept
from grader.grading.policies import Policy, Try, counting
from grader.grading.run_settings import RunSettings
from grader.grading.scoring import scored
from grader.grading.student_run import StudentRun, heads_of
from grader.submissions.attempts import contents
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
    basis = run_of(run)
    run = replace(run, seed=basis.settings.seed)
    several = {
        s.id: hand_ins(run.course, s, basis.terms.graded) for s in run.students if s.attempts
    }

    def outcomes(student: str) -> Result:
        return _counting(run, basis, several[student], policy, student)

    with Journal(run.out, basis.identity, run.force):
        asked = {id_: _asked(run, basis, found, policy, id_) for id_, found in several.items()}
        before = {} if run.force else read_choices(run.out)
        same = {
            id_
            for id_, one in asked.items()
            if id_ in before and before[id_].is_of(run.out, id_, one)
        }
        new = {id_: found for id_, found in several.items() if id_ not in same}
        _grade_missing(run, basis, new, grade, watcher)
        undecided = list[str]()
        for id_ in new:
            now = outcomes(id_)
            before[id_] = choice_of(run.out, asked[id_], now)
            undecided += _undecided(id_, now)
        if new:
            write_choices(run.out, before)
    students = [_as_one(s, before[s.id]) if s.id in several else s for s in run.students]
    watcher.planned(undecided)

    def known(settings: RunSettings, todo: Sequence[Student]) -> Done:
        for one in todo:
            if one.id in several:
                yield one, _only(outcomes(one.id), one.only)
        others = [one for one in todo if one.id not in several]
        if others:
            yield from grade(settings, others)

    return replace(run, students=students), known


def _asked(run: ClassRun, basis: StudentRun, found: HandIns, policy: Policy, student: str) -> str:
    """A hash of what decides which attempts count, and what each earned, besides outcomes.

    Args:
        run: the class.
        basis: what is graded with.
        found: the student's attempts.
        policy: which of them counts.
        student: whose they are.
    """
    course = basis.terms.course
    dates = [(one.id, one.due) for one in course.assignments], course.late
    tries = [(id_, [(one.moment, one.content) for one in mine]) for id_, mine in found.items()]
    decides = (basis.terms.but_dates, dates, tries, str(policy), run.personal(student).digest)
    return hashlib.sha256(repr(decides).encode("utf-8", "replace")).hexdigest()


def _undecided(student: str, outcomes: Result) -> Iterator[str]:
    """Attempts that nobody could judge, which may be better than the one that counts."""
    for part in outcomes.assignments:
        times = [one.at for one in part.attempts if one.score is None and not one.counts]
        if times:
            yield (
                f"UNDECIDED, the grader failed on other attempts: {student}, {part.id}, "
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
    except OSError:
        return dict.fromkeys(course.by_id, f"unreadable {new_seed()}")


def _grade_missing(
    run: ClassRun,
    basis: StudentRun,
    several: Mapping[str, HandIns],
    grade: Grade,
    watcher: Watcher,
) -> None:
    """Grade what has no outcomes, one attempt at a time; each is kept as soon as it is there."""
    todo: dict[tuple[str, Path], dict[str, str]] = {}
    for student, found in several.items():
        kept, asked = read_kept(run.out / FOLDER, student), set()
        for id_, mine in found.items():
            for one in mine:
                is_known = not run.force and _find(basis, kept, id_, one) is not None
                if not is_known and (id_, one.content) not in asked:
                    asked.add((id_, one.content))
                    todo.setdefault((student, one.path), {})[id_] = one.content
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


def _find(basis: StudentRun, kept: Kept, id_: str, one: HandIn) -> int | None:
    return kept.find(id_, one.content, basis.terms.conditions[id_])


def _counting(
    run: ClassRun, basis: StudentRun, found: HandIns, policy: Policy, student: str
) -> Result:
    """The outcomes that count for a student, put together from attempts."""
    kept = read_kept(run.out / FOLDER, student)
    tries = {id_: [*_tries(basis, kept, id_, mine)] for id_, mine in found.items()}
    tries = {id_: mine for id_, mine in tries.items() if mine}
    course = basis.terms.course
    records = counting(course, tries, policy, run.personal(student))
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


def _tries(basis: StudentRun, kept: Kept, id_: str, mine: Sequence[HandIn]) -> Iterator[Try]:
    """The attempts at an assignment with their outcomes; also those that are undecided."""
    for one in mine:
        number = _find(basis, kept, id_, one)
        if number is None:  # undecided: the latest outcomes of the same files say so
            same = [n for n, h in enumerate(kept.heads) if h.assignment == id_]
            same = [n for n in same if kept.heads[n].handed_in == one.content]
            number = same[-1] if same else None
        record = None if number is None else basis.maker.outcomes(kept, number)
        if number is not None and record is not None:
            at, source = (one.moment.at, one.moment.source) if record.read_from else (None, "")
            yield Try(replace(record, submitted_at=at, time_source=source), kept.heads[number])


def _as_one(student: Student, choice: Choice) -> Student:
    """A student as one who handed in what counts."""
    return replace(student, attempts=(), times=choice.times, content=choice.content)


def _only(outcomes: Result, assignments: Sequence[str]) -> Result:
    """The same in some assignments; in all where none is named."""
    if not assignments:
        return outcomes
    return replace(
        outcomes, assignments=tuple(a for a in outcomes.assignments if a.id in assignments)
    )
