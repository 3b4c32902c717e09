"""Proves that the course keeps its promises: every fault found is a sentence with its location.

`validate` runs all proofs. Those that run checks are the methods of `_CheckProofs`, one each; those
that only read files are in `course_files`.
"""

from collections.abc import Collection, Container, Iterable
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path
from typing import Protocol, TypeVar

from grader.authoring import check_files, course_files, course_texts
from grader.authoring.before_and_after import (
    first_failure,
    unanswered_predictions,
    wrong_styles,
)
from grader.authoring.examples import wrong_examples
from grader.authoring.knowing_nothing import Unearned, earned_everywhere, unearned
from grader.authoring.proved_views import views_show_solutions
from grader.authoring.recognition import (
    Left,
    gate_that_blocks,
    id_of,
    left_of,
    named,
    syntax_faults,
    why_not_caught,
)
from grader.core.errors import CourseError, GraderError
from grader.core.records import CheckResult, Outcome, Visibility
from grader.course.course import Assignment, Course, Exercise
from grader.course.printed_tensors import Printed
from grader.judging.diagnosis import (
    ATOL,
    INFINITE,
    Known,
    Traces,
    distance,
    fingerprint,
    separation,
)
from grader.judging.known_mistakes import LiveMistakes, traces
from grader.judging.run import Check, CheckRun
from grader.judging.scoring import passed_share
from grader.judging.submission_grader import Scope, SubmissionGrader, with_live_mistakes
from grader.release.stubs import stale
from grader.sessions.in_process import InProcessSession
from grader.submissions.submission import Submission, read_submission
from grader.testing.lookup import SubmissionHandle

T = TypeVar("T")

LEAST_SEPARATION = 100 * ATOL
"""Two mistakes closer than this could be confused with each other, or with the right result."""


class Each(Protocol):
    """Goes through what is proven, one after the other, and may show how far it is."""

    def __call__(self, proof: str, items: Collection[T], /) -> Iterable[T]:
        """The same items.

        Args:
            proof: what is proven of each, in words.
            items: what it is proven of.
        """


def _silently(proof: str, items: Collection[T], /) -> Iterable[T]:
    return items


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
    unearned: Unearned = field(default_factory=Unearned)
    kept: list[Left] = field(default_factory=list)


@dataclass(slots=True)
class Report:
    """The outcome of a validation: a row per exercise, every fault, and what is only told."""

    rows: list[Row] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def validate(
    course: Course,
    targets: tuple[str, ...] = (),
    *,
    translations: bool = False,
    each: Each = _silently,
) -> Report:
    """Check every promise of the course; faults are collected, not raised.

    Args:
        course: the course.
        targets: assignments or exercises: only their checks are run, and whether the printed
            tensors are covered and the release keeps secrets is left to a run on all.
        translations: whether what is still to be translated is a fault, and no warning.
        each: goes through what takes long.

    Raises:
        UsageError: when a target names nothing.
    """
    chosen, report = course.select(targets), Report()
    report.faults += course_texts.solutions_are_python(course)
    if not report.faults:
        open_ = report.faults if translations else report.warnings
        _prove(course, chosen, report, open_, each, is_whole=not targets)
    report.faults = list(dict.fromkeys(report.faults))
    return report


def _prove(
    course: Course,
    chosen: dict[str, Exercise],
    report: Report,
    untranslated: list[str],
    each: Each,
    *,
    is_whole: bool,
) -> None:
    for proof in course_files.PROOFS:
        report.faults += proof(course)
    try:
        untranslated += course_files.open_translations(course)
    except CourseError as error:
        report.faults += error.problems
    if not all(course.paths(assignment).solution.is_file() for assignment in course.assignments):
        return
    _prove_texts(course, chosen, report, each)
    try:
        grader, mistakes = with_live_mistakes(course, "validate")
        proofs = _CheckProofs(course, grader, mistakes, report, chosen, each)
        proofs.checks_declare_what_they_should()
        proofs.hidden_checks_hold_to_what_is_said()
        run = proofs.solutions_earn_everything()
        old = {course.root / file.path for file in stale(course)}
        proofs.stubs_earn_nothing("py", old)
        proofs.stubs_earn_nothing("ipynb", old)
        report.faults += wrong_styles(course, chosen, mistakes, proofs.run)
        report.faults += unanswered_predictions(course, chosen, mistakes, proofs.with_stub)
        proofs.mistakes_are_recognised(run)
        report.faults += course_files.ids_are_unique(mistakes)
        report.faults += views_show_solutions(grader, mistakes.solutions, chosen)
        if is_whole:
            proofs.printed_tensors_are_covered()
        if not report.faults:
            proofs.points_mean_something()
        if is_whole and not report.faults:
            report.faults += course_files.release_keeps_secrets(course)
    except CourseError as error:
        report.faults += error.problems
    except GraderError as error:
        report.faults.append(str(error))


def _prove_texts(course: Course, chosen: dict[str, Exercise], report: Report, each: Each) -> None:
    """What needs no check to be run: what chosen assignments say to students, and show them."""
    report.faults += course_texts.stubs_say_what_to_do(course, chosen)
    report.faults += course_texts.no_todo_is_left(course, chosen)
    report.faults += check_files.checks_judge_instead_of_asserting(course, chosen)
    report.faults += check_files.checks_draw_from_seeds(course, chosen)
    report.warnings += check_files.checks_are_named_so(course, chosen)
    report.warnings += course_texts.hints_are_no_code(course, chosen)
    report.warnings += course_texts.questions_ask(course, chosen)
    for assignment in each("examples in docstrings", course_texts.assignments_of(course, chosen)):
        report.faults += wrong_examples(course, assignment)


@dataclass(slots=True)
class _CheckProofs:
    """The proofs that run checks, in order: a later one uses what an earlier one found.

    Args:
        course: the course.
        grader: collects the checks, and has what they run with.
        mistakes: runs the checks on each known mistake.
        report: receives rows and faults.
        chosen: the exercises to prove, by id.
        each: goes through what takes long.
        covered: the printed tensors that checks of solutions judged against, by id.
        breaking: the ids of checks that break on the solution.
        known: by exercise, how its checks go with each known mistake.
    """

    course: Course
    grader: SubmissionGrader
    mistakes: LiveMistakes
    report: Report
    chosen: dict[str, Exercise]
    each: Each
    covered: set[str] = field(default_factory=set)
    breaking: set[str] = field(default_factory=set)
    known: dict[str, list[Known]] = field(default_factory=dict)

    def fault(self, location: str, sentence: str) -> None:
        self.report.faults.append(f"{location}: {sentence}")

    def run(
        self, submission: Submission, exercises: dict[str, Exercise]
    ) -> tuple[CheckRun, dict[str, tuple[CheckResult, ...]]]:
        """Run all checks of some exercises on a submission, in this process."""
        run = self._run_of(submission, exercises)
        return run, run.run(exercises)

    def _run_of(self, submission: Submission, exercises: dict[str, Exercise]) -> CheckRun:
        session, course = InProcessSession(submission), self.course
        handle = SubmissionHandle(submission, session, course.limits, course.assignments)
        return CheckRun(self.grader.environment, handle, self.grader.checks(Scope(exercises)))

    def checks_declare_what_they_should(self) -> None:
        """Gates, titles and hidden checks, and a known mistake for each exercise."""
        checks, exercises = self.grader.checks(Scope(self.chosen)), self.chosen.values()
        self.report.faults += check_files.exercises_have_a_gate(exercises, checks)
        self.report.warnings += check_files.titles_differ(exercises, checks)
        self.report.warnings += check_files.there_are_hidden_checks(self.course, exercises, checks)
        lonely = (exercise.id for exercise in exercises if not self.mistakes.of(exercise))
        self.report.warnings += [f"{id_}: it has no misconception" for id_ in lonely]

    def hidden_checks_hold_to_what_is_said(self) -> None:
        """Each hidden check names the visible check, or the docstring's sentence, it deepens."""
        checks = self.grader.checks(Scope(self.chosen))
        said = {(c.exercise.id, c.name) for c in checks if not _is_hidden(c)}
        for check in filter(_is_hidden, checks):
            told = course_files.docstrings(self.course, check.exercise)
            is_sentence = check.deepens.endswith(".") and check.deepens in told
            if not is_sentence and (check.exercise.id, check.deepens) not in said:
                what = f"{check.deepens!r} is neither" if check.deepens else "it names neither"
                sentence = f"{what} a visible check nor a sentence of the docstring that it deepens"
                self.fault(check.id, sentence)

    def stubs_earn_nothing(self, form: str, old: Container[Path]) -> None:
        """Every stub, in one of its forms ("py", "ipynb"), earns 0 and ends as not attempted.

        Args:
            form: which one.
            old: the stubs that are no longer what the solutions make.
        """
        for assignment in self.each(f"stubs ({form})", self.course.assignments):
            paths = self.course.paths(assignment)
            path = paths.stub if form == "py" else paths.notebook
            if not path.is_file() or path in old:
                continue  # which `course_files` reports
            own = {id_: e for id_, e in self.chosen.items() if e in assignment.exercises}
            _, results = self.run(self.with_stub(assignment, path), own)
            for id_ in own:
                checks = results[id_]
                passed = [c.id for c in checks if c.weight and c.outcome is Outcome.PASSED]
                if passed:
                    self.fault(id_, f"the stub ({form}) passes {passed[0]}")
                elif checks and checks[0].id in self.breaking:
                    continue  # which the solution has told
                elif not checks or checks[0].outcome is not Outcome.NOT_ATTEMPTED:
                    ended = checks[0].outcome if checks else "no check at all"
                    self.fault(id_, f"the stub ({form}) ends as {ended}, not as not_attempted")

    def with_stub(self, assignment: Assignment, path: Path) -> Submission:
        """The solutions, with a stub in place of one: what it imports is there."""
        (stub,) = read_submission(self.course, path, "stub").sources.values()
        solutions = self.mistakes.solutions
        key = solutions.readings[assignment.id].sources[0]
        changed = replace(solutions.sources[key], cells=stub.cells)
        return replace(solutions, sources={**solutions.sources, key: changed})

    def solutions_earn_everything(self) -> CheckRun:
        """Every solution earns full marks, and every exercise has checks that carry weight."""
        run = self._run_of(self.mistakes.solutions, self.chosen)
        for exercise in self.each("solutions", self.chosen.values()):
            checks = run.exercise(exercise.id)
            if not any(check.weight for check in checks):
                self.fault(exercise.id, "its checks have no weight, so its points cannot be earned")
            elif passed_share(checks) != 1:
                self.breaking |= {c.id for c in checks if c.outcome.is_undecided}
                self.fault(exercise.id, f"the solution fails {first_failure(run, checks)}")
        for record in run.records.values():
            self.report.faults += check_files.axes_that_are_none(record)
        self.covered = {
            id_
            for record in run.records.values()
            if record.check.weight and record.raised is None
            for id_ in record.covered
        }
        return run

    def mistakes_are_recognised(self, run: CheckRun) -> None:
        """Every misconception loses points and is recognised by its own name.

        Args:
            run: of the solutions, from which each mistake must differ.
        """
        unreadable = syntax_faults(self.course, self.mistakes.misconceptions)
        for exercise in self.each("known mistakes", self.chosen.values()):
            own = (one.id for one in self.mistakes.of(exercise))
            self.report.faults += [unreadable[id_] for id_ in own if id_ in unreadable]
            checks = run.of(exercise.id)
            right = traces(run.records[check.id] for check in checks if check.id in run.records)
            known = self.mistakes.known(exercise, checks, 1)
            known = self.known[exercise.id] = [m for m in known if id_of(m) not in unreadable]
            visible = {check.id for check in checks if check.visibility is Visibility.VISIBLE}
            row = Row(exercise, len(visible), len(checks) - len(visible), len(known))
            self.report.rows.append(row)
            row.unearned = unearned(self.mistakes, exercise, checks)
            row.kept = [left_of(mistake, checks) for mistake in known]
            if gate_that_blocks(checks, right):
                continue  # which the solution has told
            for mistake in known:
                self._recognise(row, mistake, checks, visible)
            compared = [("the solution", right), *((id_of(m), m.traces) for m in known)]
            self._separate(row, compared, checks)

    def _recognise(
        self, row: Row, mistake: Known, checks: tuple[Check, ...], visible: set[str]
    ) -> None:
        """Count a mistake in its row if it is recognised, by all checks and by the visible ones."""
        exercise, known = row.exercise, self.known[row.exercise.id]
        problem = why_not_caught(mistake, checks, exercise, self.breaking)
        if problem:
            self.fault(exercise.id, problem)
            return
        found = named(mistake.traces, known)
        if found == [id_of(mistake)]:
            row.recognised += 1
        else:
            shown = " or ".join(found) if found else "nothing"
            alike = [one.traces for one in known if id_of(one) in found]
            why = gate_that_blocks(checks, mistake.traces, *alike)
            sentence = f"the misconception {id_of(mistake)!r} is recognised as {shown}{why}"
            self.fault(exercise.id, sentence)
        seen = {id_: trace for id_, trace in mistake.traces.items() if id_ in visible}
        row.recognised_visibly += named(seen, known) == [id_of(mistake)]

    def _separate(
        self, row: Row, compared: list[tuple[str, Traces]], checks: tuple[Check, ...]
    ) -> None:
        """The smallest separation between two mistakes, or of one from the solution."""
        for (one, left), (other, right) in combinations(compared, 2):
            gap = separation(left, right)
            if gap < row.separation:
                row.separation, row.closest = gap, f"{one} and {other}"
            if gap <= ATOL:
                why = gate_that_blocks(checks, left, right)
                self.fault(row.exercise.id, f"{one} and {other} are the same to all checks{why}")
            elif gap < LEAST_SEPARATION:
                self.fault(
                    row.exercise.id,
                    f"{one} and {other} are only {gap:.1e} apart; {LEAST_SEPARATION:g} is needed",
                )

    def points_mean_something(self) -> None:
        """Code that knows nothing earns next to nothing, and so does what is learnt by heart."""
        assignments = course_texts.assignments_of(self.course, self.chosen)
        for assignment in self.each("what knowing nothing earns", assignments):
            own = {e.id: e for e in assignment.exercises if e.id in self.chosen}
            found = earned_everywhere(self.grader, self.mistakes, assignment, own)
            for row in self.report.rows:
                if row.exercise.id in own:
                    row.unearned = replace(row.unearned, everywhere=found[row.exercise.id])
        for row in self.report.rows:
            for problem in row.unearned.problems:
                self.fault(row.exercise.id, problem)

    def printed_tensors_are_covered(self) -> None:
        """Every printed tensor of the ledger is covered the way its entry says."""
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
        """Whether a check judged this value with a known mistake."""
        wanted = fingerprint(entry.tensor)
        found = (
            trace for known in self.known.values() for m in known for trace in m.traces.values()
        )
        # Printed operands carry their rounding into the result.
        return any(distance(value, wanted) < 1e-3 for trace in found for value in trace.judged)


def _is_hidden(check: Check) -> bool:
    return check.visibility is Visibility.HIDDEN
