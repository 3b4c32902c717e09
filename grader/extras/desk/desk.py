"""A graded class at the desk: what a run would write of it now, and one more decision at a time."""

import json
import os
import tempfile
from collections.abc import Collection, Mapping, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from grader.classes.deciding import Policy
from grader.classes.decisions import NONE, Decisions, Personal, known_of, read_decisions
from grader.classes.explain import Request, named_exercise, read_requests
from grader.classes.outcomes import Words, declared_by
from grader.classes.records import (
    FORMER,
    PUBLISHED,
    REPORTS,
    SUMMARY,
    Files,
    Records,
    last_published,
    open_records,
    records_in,
)
from grader.classes.rows import ClassResult, Coverage, write_class
from grader.classes.run import ClassInputs, Maker
from grader.classes.score import Scorer
from grader.classes.store import RunOptions, Store
from grader.cli.class_output import row_results
from grader.cli.publish import published
from grader.core.entry_points import entries
from grader.core.errors import CourseError, GraderError, UsageError
from grader.core.files import OutputFile, file_name, write_whole
from grader.core.language import _, listed
from grader.core.processes import spread
from grader.core.records import Result
from grader.core.text import hash_of
from grader.course.course import Course
from grader.extras.desk.edits import (
    Entry,
    Fields,
    edited,
    entries_about,
    position_of,
    said_in_a_form,
    values_of,
)
from grader.extras.desk.lines import Line, Liner
from grader.intake.folders import STORE
from grader.intake.read import IntakeResult
from grader.intake.roster import Enrolled
from grader.reports.base import OF_GRADE, GradedClass, graded
from grader.reports.html.pages import PICTURES, STUDENTS, student_page
from grader.reports.html.views import assignment_pictures

HTML = "html"
MOST_NAMED = 5
FEW_PARTS = 1500
"""Below so many assignments of students, starting processes takes longer than scoring them here."""


class ConflictError(GraderError):
    """What a form was made from does not hold any more."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A regrade request: of whom, for which exercise, in which words, and whether it is open."""

    student: str
    exercise: str
    why: str
    is_open: bool


class Desk:
    """The class of one output folder.

    Args:
        course: the course.
        out: the folder of the run.
        options: how the class was graded last.
        intake: what it handed in, and its roster.
        path: the file of decisions, which may not be there yet.
        requests: what students ask to be looked at again, once that file is there; None for none.
        jobs: how many processes may score the class.
    """

    def __init__(
        self,
        course: Course,
        out: Path,
        options: RunOptions,
        intake: IntakeResult,
        path: Path,
        *,
        requests: Path | None = None,
        jobs: int = 1,
    ) -> None:
        self.whole, self.course, self.out = course, course.only(options.assignments), out
        self.intake, self.path, self.requests, self.jobs = intake, path, requests, jobs
        self.options = options
        self.given = dict(zip(options.options, options.options[1:], strict=False))
        policy = Policy(self.given.get("--policy", Policy.LAST))
        words = Words.of(course, options.assignments)
        self.maker = Maker(Scorer(self.course, words, policy, options.seed), out)
        self.lines: dict[str, Line] = {}
        self.reports: set[str] = set()
        self.are_reports_old = False
        self.former = {*records_in(out), *records_in(out / FORMER)}
        self._read: tuple[object, bytes] | None = None
        self.refresh()

    # What holds now.

    def refresh(self, store: Store | None = None) -> None:
        """Read anew what changed on disk: the run, or the file of decisions.

        Raises:
            UsageError: when another command works in the folder, or requests cannot be read.
            CourseError: when something is wrong in the decisions.
        """
        self._requested = []
        if self.requests is not None and self.requests.exists():
            self._requested = read_requests(self.requests)
        text, stamp = self._text(), _stamp(self.out / STORE)
        if self._read == (stamp, text):
            return
        is_same_run = self._read is not None and self._read[0] == stamp
        decisions = self._decisions(text)
        with nullcontext(store) if store else Store.to_read(self.out) as opened:
            if is_same_run:
                self._apply(decisions, opened)
            else:
                self._load(decisions, opened)
        self._read = stamp, text

    def _text(self) -> bytes:
        return self.path.read_bytes() if self.path.is_file() else b""

    def _decisions(self, text: bytes) -> Decisions:
        """What a text of the file says.

        Raises:
            CourseError: when something is wrong in it.
        """
        if not text.strip():
            return NONE
        roster = "--roster" in self.given
        known = known_of(self.intake, self.former, self._weights, has_roster=roster)
        with tempfile.TemporaryDirectory() as folder:  # read before it stands in its place
            path = Path(folder) / self.path.name
            path.write_bytes(text)
            return read_decisions(path, self.whole, known)

    def _weights(self, exercise: str) -> dict[str, int]:
        assignment = self.whole.by_id[exercise.partition("/")[0]]
        checks = declared_by(self.whole, [assignment])[assignment.id].checks
        return {id_: one[0] for id_, one in checks.items() if id_.startswith(f"{exercise}::")}

    def _load(self, decisions: Decisions, store: Store) -> None:
        """Score everybody."""
        if store.options() != self.options:
            sentence = _(
                "Nothing was written: the class was graded in another way meanwhile. Stop `grader desk`, "
                "and start it again."
            )
            raise UsageError(sentence)
        uses, standings = store.uses(), store.standings()
        everybody = {student: uses.get(student, {}) for student in sorted({*uses, *standings})}
        unread = {student: one.unread for student, one in standings.items()}
        roster = decisions.labelled(self.intake.roster)
        self.inputs = ClassInputs(
            self.whole, everybody, decisions, roster, unread, self._never_lower()
        )
        self.personal = {student: self._personal(student) for student in everybody}
        pieces = [(self.inputs.of(student, store.outcome),) for student in everybody]
        few, line = FEW_PARTS // len(self.course.assignments), Liner(self.maker, self.course).line
        with closing(spread(line, pieces, self.jobs, few=few)) as found:
            self.lines = dict(zip(everybody, found, strict=True))
        known = entries(OF_GRADE)
        self.reports |= {path.name for path in (self.out / REPORTS).glob("*") if path.name in known}

    def _never_lower(self) -> Records | None:
        """The records of which no score is to fall."""
        given = self.given.get("--never-lower", "")
        if PUBLISHED in (self.course.grade.never_lower, Path(given).parent.name):
            given = str(last_published(self.out) or "")
        return open_records(Path(given)) if given else None

    def _personal(self, student: str) -> tuple[Personal, Mapping[str, Sequence[str]]]:
        """All that was decided that concerns one student's result."""
        members = self.inputs.decisions.members(self.whole, student)
        return self.inputs.personal(student), members

    def _apply(self, decisions: Decisions, store: Store) -> None:
        """Score those whom other decisions may concern."""
        roster = decisions.labelled(self.intake.roster)
        self.inputs = replace(self.inputs, decisions=decisions, roster=roster)
        now = {student: self._personal(student) for student in self.lines}
        others = {student for student, one in now.items() if one != self.personal[student]}
        both = (*now.items(), *self.personal.items())
        concerned = {
            student
            for student, (_personal, members) in both
            if student in others or any(others & {*names} for names in members.values())
        }
        self.personal = now
        liner = Liner(self.maker, self.course)
        for student in concerned:
            self.lines[student] = liner.line(self.inputs.of(student, store.outcome))

    @property
    def order(self) -> list[str]:
        """Everybody as on the map of the class: undecided students first, then late ones."""
        rows = {student: line.row for student, line in self.lines.items()}
        return sorted(rows, key=lambda one: (not rows[one].undecided, not rows[one].days_late))

    # One student.

    @property
    def roster(self) -> Mapping[str, Enrolled]:
        """What is known of students, with the labels that they were given."""
        return self.inputs.roster

    def result(self, student: str) -> Result:
        """A student's whole result."""
        try:
            with Store.to_read(self.out) as store:
                return self.maker.scorer.result(self.inputs.of(student, store.outcome))
        except UsageError:  # while another command writes there
            return open_records(self.out).result(student)

    def entries(self, student: str) -> list[Entry]:
        """What was decided about a student by name."""
        return entries_about(self.inputs.decisions, student)

    def basis(self, student: str) -> str:
        """A hash of what a form about a student is made from."""
        said = [(one.kind, one.decision) for one in self.entries(student)]
        return hash_of(repr((self.personal[student], said, self.inputs.uses[student])))

    def asked(self) -> list[Asked]:
        """The regrade requests of students here, in the order of their file."""
        logins = {one.login: student for student, one in self.roster.items() if one.login}
        return [self._asked(one, logins.get(one.student, one.student)) for one in self._requested]

    def _asked(self, request: Request, student: str) -> Asked:
        exercise = named_exercise(self.whole, request.exercise)
        kinds = ("overrides", "resolved", "exemptions")
        answered = {one.about for one in self.entries(student) if one.kind in kinds}
        is_open = student in self.lines and not answered & {exercise, exercise.partition("/")[0]}
        return Asked(student, exercise or request.exercise, request.why, is_open)

    # Deciding.

    def decide(self, kind: str, fields: Fields, basis: str) -> None:
        """Write one decision, and score whom it concerns.

        Args:
            kind: one of `OF_STUDENTS`, of which an entry is written or, with a field `remove`, taken away.
            fields: what the form sent; `student` says about whom.
            basis: what the form was made from.

        Raises:
            ConflictError: when that does not hold any more; nothing is written.
            UsageError: when another command works in the folder, or a value is none.
            CourseError: when something is wrong in the decisions; nothing is written.
        """
        student = fields["student"]
        with Store.to_write(self.out, is_run=False) as store:  # keeps everybody else out
            self.refresh(store)
            if basis != self.basis(student):
                raise ConflictError(
                    _(
                        "This changed since you opened it. Nothing of yours was written: look at what holds now, and send it again."
                    )
                )
            own = self.entries(student)
            position: int | None
            if "remove" in fields:
                values, position = dict[str, object](), own[int(fields["remove"])].position
                kind = own[int(fields["remove"])].kind
            else:
                values = values_of(kind, fields, self.whole)
                position = position_of(kind, values or _about(fields), own)
                if values and "students" not in values:
                    values = {"student": student, **values}
            if position is None and not values:
                return
            before = self._text()
            text = edited(before.decode("utf-8-sig"), kind, position, values).encode()
            known = len(getattr(self.inputs.decisions, kind))
            number = known + 1 if position is None else position + 1
            try:
                decisions = self._decisions(text)
            except CourseError as error:
                said = said_in_a_form(error.problems, kind, number)
                raise CourseError(*said) from None
            if self._text() != before:
                raise ConflictError(_("The file of decisions was just changed. Send it again."))
            write_whole(self.path, text)
            earlier = {student: line.row.score for student, line in self.lines.items()}
            self._apply(decisions, store)
            changed = self._write(store, earlier)
        self._read = _stamp(self.out / STORE), text
        self._write_pages(changed)

    def _write(self, store: Store, earlier: Mapping[str, float | None]) -> Collection[str]:
        """Write what differs of anybody, as a run does; of whom anything did."""
        changed = {student: line for student, line in self.lines.items() if line.files}
        files = Files(self.out, are_written=self.are_reports_old)  # moves them away once
        for student, line in changed.items():
            files.write(line.files)
            self.lines[student] = replace(line, files=())
        self.are_reports_old |= files.are_written
        store.set_standings({student: line.standing for student, line in changed.items()})
        rows = [line.row for line in self.lines.values()]
        scores = {row.student: (earlier[row.student], row.score) for row in rows}
        other = {student: two for student, two in scores.items() if two[0] != two[1]}
        write_class(
            ClassResult(self.course, rows, self._covers, changed=other), self.out, self.roster
        )
        return changed

    @property
    def _covers(self) -> Coverage:
        """Whose results are of which run."""
        summary = json.loads((self.out / SUMMARY).read_text("utf-8"))
        return Coverage(summary["course"], frozenset(summary["earlier"]), tuple(summary["to_do"]))

    # What is made of results.

    def _write_pages(self, students: Collection[str]) -> None:
        """Write the pages of some students anew, where a run made pages."""
        if HTML not in self.reports:
            return
        pictures = assignment_pictures(self.course, PICTURES)
        for student in students:
            name = self.roster.get(student, Enrolled(student)).name
            page = student_page(self.result(student), self.course, name, pictures)
            path = f"{HTML}/{STUDENTS}/{file_name(student)}.html"
            OutputFile(path, page).write(self.out / REPORTS)

    def write_reports(self) -> None:
        """Make the reports of the run again, where decisions made them old."""
        if self.are_reports_old:
            rows = [line.row for line in self.lines.values()]
            results, now = row_results(self.out, rows), datetime.now(UTC)
            covers = self._covers.sentence(rows)
            whole = GradedClass(self.course, results, dict(os.environ), now, self.roster, covers)
            for file in graded(sorted(self.reports), whole):
                file.write(self.out / REPORTS)
            self.are_reports_old = False

    def publish(self) -> list[str]:
        """Publish the class unless a score is undecided; what there is to say.

        Raises:
            UsageError: when another command works in the folder, or a score is undecided.
        """
        with Store.to_write(self.out, is_run=False) as store:
            self.refresh(store)
            if any(line.files for line in self.lines.values()):
                self._write(store, {s: line.row.score for s, line in self.lines.items()})
        undecided = [line.row.student for line in self.lines.values() if line.row.undecided]
        if undecided:
            names = listed(undecided[:MOST_NAMED])
            sentence = _("Not published: the score of {count} is undecided, first {names}.")
            raise UsageError(sentence.format(count=len(undecided), names=names))
        self.write_reports()
        lines = [*published(self.out)]
        if self.inputs.never_lower is None:  # else it decides scores from now on
            self._read = _stamp(self.out / STORE), self._text()
        return lines


def _about(fields: Fields) -> dict[str, object]:
    about = fields.get("about", "")
    return {"exercise" if "/" in about else "assignment": about}


def _stamp(path: Path) -> object:
    """What tells whether a file was written since."""
    found = path.stat()
    return found.st_mtime_ns, found.st_size, found.st_ino
