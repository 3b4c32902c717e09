"""Proves that the course keeps its promises: every fault found is a sentence with its place."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path

from grader.authoring.translations import TRANSLATIONS, translation_files
from grader.checks.run import Check, CheckRun
from grader.core.errors import CourseError, GraderError
from grader.core.records import CheckResult, Outcome, Visibility
from grader.course.course import CHECKS, SOLUTIONS, WORK, Assignment, Course, Exercise
from grader.course.hints import read_hints
from grader.course.printed_tensors import Printed
from grader.feedback.diagnosis import (
    ATOL,
    BROKEN,
    INFINITE,
    Known,
    Traces,
    diagnose,
    distance,
    fingerprint,
    value_separation,
)
from grader.grading.known_mistakes import LiveMistakes, traces
from grader.grading.scoring import exercise_score
from grader.grading.submission_grader import Scope, SubmissionGrader, full_grader
from grader.release.solution_cells import BEGIN, END, REGION
from grader.release.stubs import generate, stale
from grader.release.students import Released, student_files
from grader.sessions.in_process import InProcessSession
from grader.submissions.submission import Submission, read_submission
from grader.testing.student import StudentOutcome, SubmissionHandle

LEAST_SEPARATION = 100 * ATOL
"""Two mistakes closer than this could be taken for each other, or for the right answer."""

SHORT_LINE = 12
"""Lines of a solution shorter than this give nothing away."""

GENERATED = ("__pycache__", ".ipynb_checkpoints")


@dataclass(slots=True)
class Row:
    """What is known of one exercise, for the table."""

    exercise: Exercise
    visible: int = 0
    hidden: int = 0
    misconceptions: int = 0
    recognised: int = 0
    recognised_visibly: int = 0
    separation: float = INFINITE
    closest: str = ""


@dataclass(slots=True)
class Report:
    """The outcome of a validation: a row per exercise, and every fault."""

    rows: list[Row] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Validation:
    """One validation on its way."""

    course: Course
    grader: SubmissionGrader
    catalogue: LiveMistakes
    report: Report
    covered: set[str] = field(default_factory=set)
    known: dict[str, list[Known]] = field(default_factory=dict)

    def fault(self, place: str, sentence: str) -> None:
        self.report.faults.append(f"{place}: {sentence}")

    # Stubs and solutions.

    def stubs(self, form: str) -> None:
        """Every stub earns nothing and says that it is not attempted."""
        for assignment in self.course.assignments:
            paths = self.course.paths(assignment)
            path = paths.stub if form == "py" else paths.notebook
            if not path.is_file():
                continue  # which is told elsewhere
            own = {exercise.id: exercise for exercise in assignment.exercises}
            _, results = self.run(self._with_stub(assignment, path), own)
            for exercise in assignment.exercises:
                checks = results[exercise.id]
                passed = [c.id for c in checks if c.weight and c.outcome is Outcome.PASSED]
                if passed:
                    self.fault(exercise.id, f"the stub ({form}) passes {passed[0]}")
                elif not checks or checks[0].outcome is not Outcome.NOT_ATTEMPTED:
                    ended = checks[0].outcome if checks else "no check at all"
                    self.fault(
                        exercise.id, f"the stub ({form}) ends as {ended}, not as not_attempted"
                    )

    def _with_stub(self, assignment: Assignment, path: Path) -> Submission:
        """The solutions, but for one assignment: what it imports is there."""
        (stub,) = read_submission(self.course, path, "stub").sources.values()
        solutions = self.catalogue.solutions
        key = solutions.readings[assignment.id].sources[0]
        changed = replace(solutions.sources[key], cells=stub.cells)
        return replace(solutions, sources={**solutions.sources, key: changed})

    def run(
        self, submission: Submission, exercises: dict[str, Exercise]
    ) -> tuple[CheckRun, dict[str, tuple[CheckResult, ...]]]:
        """Run all checks of some exercises on a submission, in this process."""
        course = self.course
        session = InProcessSession(submission)
        handle = SubmissionHandle(submission, session, course.limits, course.assignments)
        run = CheckRun(self.grader.environment, handle, self.grader.checks(Scope(exercises)))
        return run, run.run(exercises)

    def solutions(self) -> CheckRun:
        """Every solution earns full marks; every check of weight 0 that remarks is told."""
        run, results = self.run(self.catalogue.solutions, self.course.exercises)
        for exercise in self.course.exercises.values():
            checks = results[exercise.id]
            if not any(check.weight for check in checks):
                self.fault(exercise.id, "its checks have no weight, so its points cannot be earned")
            elif exercise_score(exercise.points, checks) != exercise.points:
                wrong = [c for c in checks if c.outcome not in (Outcome.PASSED, Outcome.REMARK)]
                reason = _reason(run.records[wrong[0].id].raised)
                self.fault(exercise.id, f"the solution fails {wrong[0].id}: {reason}")
        self.covered = {
            id_
            for record in run.records.values()
            if record.check.weight and record.raised is None
            for id_ in record.covered
        }
        return run

    # Misconceptions.

    def misconceptions(self, run: CheckRun) -> None:
        """Every misconception loses points and is recognised by its own name."""
        for exercise in self.course.exercises.values():
            checks = tuple(c for c in run.checks if c.exercise.id == exercise.id)
            own = traces(run.records[check.id] for check in checks if check.id in run.records)
            known = self.catalogue.singles(exercise, checks)
            self.known[exercise.id] = known
            row = self._row(exercise, checks, own, known)
            self.report.rows.append(row)

    def _row(
        self, exercise: Exercise, checks: tuple[Check, ...], own: Traces, known: list[Known]
    ) -> Row:
        visible = {check.id for check in checks if check.visibility is Visibility.VISIBLE}
        row = Row(exercise, len(visible), len(checks) - len(visible), len(known))
        weights = {check.id: check.weight for check in checks}
        for entry in known:
            name = entry.mistakes[0].id
            ends = [trace.end for trace in entry.traces.values()]
            if BROKEN in ends:
                broken = list(entry.traces)[ends.index(BROKEN)]
                self.fault(exercise.id, f"the check {broken} breaks on the misconception {name!r}")
                continue
            if ends and ends[0].startswith("missing"):
                self.fault(
                    exercise.id, f"with the misconception {name!r}, {exercise.name} is not defined"
                )
                continue
            lost = [id_ for id_, trace in entry.traces.items() if trace.failed and weights[id_]]
            if not lost:
                self.fault(exercise.id, f"no check catches the misconception {name!r}")
                continue
            found = _named(entry.traces, known)
            if found == [name]:
                row.recognised += 1
            else:
                shown = " or ".join(found) if found else "nothing"
                self.fault(exercise.id, f"the misconception {name!r} is recognised as {shown}")
            seen = {id_: trace for id_, trace in entry.traces.items() if id_ in visible}
            row.recognised_visibly += _named(seen, known) == [name]
        self._separate(row, own, known)
        return row

    def _separate(self, row: Row, own: Traces, known: list[Known]) -> None:
        """The smallest separation between two mistakes, or of one from the solution."""
        named = [("the solution", own), *((e.mistakes[0].id, e.traces) for e in known)]
        for (one, left), (other, right) in combinations(named, 2):
            gap = value_separation(left, right)
            if gap < row.separation:
                row.separation, row.closest = gap, f"{one} and {other}"
            if gap <= ATOL:
                self.fault(row.exercise.id, f"{one} and {other} are the same to all checks")
            elif gap < LEAST_SEPARATION:
                self.fault(
                    row.exercise.id,
                    f"{one} and {other} are only {gap:.1e} apart; {LEAST_SEPARATION:g} is needed",
                )

    # The documents' ledger.

    def ledger(self) -> None:
        """Every printed tensor is covered the way the ledger says."""
        ledger = self.grader.environment.ledger
        for entry in ledger.entries.values():
            if entry.how.startswith("value"):
                is_covered, wanted = entry.id in self.covered, "judged against by a check"
            elif entry.how.startswith("misconception"):
                is_covered, wanted = self._is_mistaken(entry), "what a misconception answers"
            else:
                is_covered, wanted = entry.id in ledger.used, "used by a check"
            if not is_covered:
                self.fault(f"ledger {entry.id}", f"it is not {wanted} ({entry.meaning})")

    def _is_mistaken(self, entry: Printed) -> bool:
        wanted = fingerprint(entry.tensor)
        values = (
            value
            for known in self.known.values()
            for mistake in known
            for trace in mistake.traces.values()
            for value in trace.judged
        )
        # Printed operands carry their rounding into the result.
        return any(distance(value, wanted) < 1e-3 for value in values)


def validate(course: Course) -> Report:
    """Check every promise of the course; faults are collected, not raised."""
    report = Report()
    for check in (_points, _hints, _files, _drift, _translations):
        report.faults += check(course)
    if not all(course.paths(assignment).solution.is_file() for assignment in course.assignments):
        return report
    try:
        grader = full_grader(course, "validate")
        catalogue = LiveMistakes(grader.environment)
        validation = _Validation(course, replace(grader, catalogue=catalogue), catalogue, report)
        validation.stubs("py")
        validation.stubs("ipynb")
        run = validation.solutions()
        validation.misconceptions(run)
        validation.ledger()
        report.faults += _duplicates(validation.catalogue)
        if not report.faults:
            report.faults += _release(course)
    except CourseError as error:
        report.faults += error.problems
    except GraderError as error:
        report.faults.append(str(error))
    return report


def _reason(error: BaseException | None) -> str:
    """Why a check ended as it did, in a line."""
    if isinstance(error, StudentOutcome):
        failure = error.failure
        return f"{failure.type or failure.kind}: {failure.message}".rstrip(": ")
    name = "" if isinstance(error, AssertionError) else f"{type(error).__name__}: "
    return f"{name}{error}".partition("\n")[0]


def _named(student: Traces, known: Sequence[Known]) -> list[str]:
    """The names a student would read whose checks went like this."""
    found = diagnose(student, known, lambda: ())
    return [mistake.id for finding in found for mistake in finding.candidates]


def _points(course: Course) -> Iterator[str]:
    """The manifest's total and the notebooks' points agree with the exercises'."""
    if course.points_problem:
        yield course.points_problem
    for assignment in course.assignments:
        path = course.paths(assignment).notebook
        if not path.is_file():
            continue
        try:
            cells = json.loads(path.read_text("utf-8"))["cells"]
            marks = [cell["metadata"].get("nbgrader", {}) for cell in cells]
            found = sum(mark.get("points", 0) for mark in marks)
        except (ValueError, LookupError, TypeError, AttributeError):
            continue  # it differs from what the solution makes, which is told elsewhere
        if found != assignment.max_score:
            yield (
                f"{assignment.id}: the notebook's cells add up to {found} points, "
                f"course.toml's exercises to {assignment.max_score}"
            )


def _hints(course: Course) -> Iterator[str]:
    for assignment in course.assignments:
        try:
            read_hints(assignment, course.paths(assignment).hints)
        except CourseError as error:
            yield from error.problems


def _files(course: Course) -> Iterator[str]:
    """Nothing undeclared lies among the course's files, and nothing declared is missing."""
    declared = set()
    for assignment in course.assignments:
        paths = course.paths(assignment)
        needed = [paths.stub, paths.notebook, paths.solution, paths.misconceptions, paths.hints]
        needed += [paths.visible_checks, paths.hidden_checks]
        declared.update(needed)
        for path in needed:
            if not path.is_file():
                yield f"{path.relative_to(course.root).as_posix()}: it is missing"
    for folder in (SOLUTIONS, WORK, CHECKS):
        for path in sorted((course.root / folder).rglob("*")):
            ours = path.is_dir() or any(part in GENERATED for part in path.parts)
            if not ours and path not in declared:
                yield f"{path.relative_to(course.root).as_posix()}: course.toml does not declare it"


def _drift(course: Course) -> Iterator[str]:
    try:
        for file in stale(generate(course)):
            name = file.path.relative_to(course.root).as_posix()
            yield f"{name}: it differs from what the solution makes; run `grader generate`"
    except CourseError as error:
        yield from error.problems


def _duplicates(catalogue: LiveMistakes) -> Iterator[str]:
    first: dict[str, str] = {}
    for misconceptions in catalogue.misconceptions.values():
        for misconception in misconceptions:
            if misconception.id in first:
                place = first[misconception.id]
                yield f"{misconception.exercise}: the id {misconception.id!r} is {place}'s already"
            first.setdefault(misconception.id, misconception.exercise)


def _translations(course: Course) -> Iterator[str]:
    """Where there are catalogues, all is translated, and stubs do the same in every language."""
    if not course.translations.is_dir():
        return
    try:
        for file in translation_files(course):
            name = file.path.relative_to(course.root).as_posix()
            if not file.is_current:
                yield f"{name}: it is not up to date; run `grader catalogues`"
            if file.open:
                yield f"{name}: {file.open} texts are still to be translated"
        for code in TRANSLATIONS:
            generate(course, code)
    except CourseError as error:
        yield from error.problems


def _release(course: Course) -> Iterator[str]:
    """No solution's text, no hidden check and no edit is in a release."""
    secrets = dict(secret_lines(course))
    for file in student_files(course):
        if file.path.startswith("grader/"):
            continue
        if "solutions/" in file.path or Path(file.path).name in (
            "test_hidden.py",
            "misconceptions.toml",
        ):
            yield f"release: {file.path} must not be in it"
        lines = {line.strip().removeprefix("# ") for line in _released_lines(file)}
        for line in sorted(lines & secrets.keys()):
            yield f"release: {file.path} contains a line of {secrets[line]}: {line}"


def _released_lines(file: Released) -> Iterator[str]:
    """The lines of a released file; those of a notebook without JSON's signs."""
    text = file.content.decode("utf-8", "replace").replace("\0", "\n")
    if file.path.endswith(".ipynb"):
        for cell in json.loads(text)["cells"]:
            yield from "".join(cell["source"]).splitlines()
    else:
        yield from text.splitlines()


def secret_lines(course: Course) -> Iterator[tuple[str, str]]:
    """Lines of solutions that no release may contain, with where they are from."""
    for assignment in course.assignments:
        text = course.paths(assignment).solution.read_text("utf-8")
        outside = {line.strip() for line in REGION.sub("", text).splitlines()}
        for match in REGION.finditer(text):
            for raw in match["body"].splitlines():
                line = raw.strip()
                if len(line) > SHORT_LINE and line not in outside and line not in (BEGIN, END):
                    yield line, f"the solution of {assignment.id}"
