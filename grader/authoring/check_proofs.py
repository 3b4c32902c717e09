"""Proofs that run checks on solutions, stubs and styles; and what a validation is made of."""

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from grader.authoring.file_proofs import docstrings, is_constant, secrets_in, wrong_examples
from grader.authoring.free_points import FreePoints
from grader.authoring.text_proofs import assignments_of
from grader.core.records import CheckResult, Mistake, Outcome, Visibility
from grader.course.course import CHECKS, VIEWS, Assignment, Course, Exercise
from grader.course.styles import read_styles
from grader.judging.diagnosis import INFINITE, Known
from grader.judging.known_mistakes import LiveMistakes
from grader.judging.run import Check, CheckRun
from grader.judging.scoring import earned_share
from grader.judging.submission_grader import Scope, SubmissionGrader, with_live_mistakes
from grader.judging.views import CodeAnswer, answered, load_predictions, load_views, run_views
from grader.release.solution_cells import read_solution
from grader.release.stubs import stale
from grader.release.students import student_files
from grader.sessions.in_process import InProcessSession
from grader.submissions.submission import Submission, read_submission
from grader.testing.lookup import SubmissionHandle
from grader.testing.predictions import Prediction
from grader.testing.student import StudentOutcome
from grader.testing.views import MOST_SHOWN

TEXTS = (None, "one", " ".join(f"word{number}" for number in range(MOST_SHOWN)))
"""What views are tried with: the course's own text, the shortest and the longest."""


Each = Callable[[str, Collection[Any]], Iterable[Any]]
"""Goes through what is proven, one after the other, and may show how far it is."""


@dataclass(frozen=True, slots=True)
class Left:
    """What a known mistake leaves of its exercise.

    Args:
        share: of the points, from 0 to 1.
        is_judged: whether values were judged. Behind an exception, or where a gate blocks the
            others, code may know nothing, so that less than its kind says may be left.
    """

    mistake: Mistake
    share: float
    is_judged: bool = True


@dataclass(slots=True)
class Row:
    """What is known of one exercise, for the table."""

    exercise: Exercise
    visible: int
    hidden: int
    misconceptions: int
    free_points: FreePoints
    kept: list[Left]
    recognised: int = 0
    recognised_visibly: int = 0
    separation: float = INFINITE


@dataclass(slots=True)
class Report:
    """The outcome of a validation: a row per exercise, faults and warnings."""

    rows: list[Row] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


@dataclass
class Validation:
    """A course that is validated, and what earlier proofs found for later ones.

    Args:
        chosen: the exercises to prove, by id.
        each: goes through what takes long.
        covered: the printed tensors that checks of solutions judged against, by id.
        breaking: the ids of checks that break on the solution.
        known: by exercise, how its checks go with each known mistake.
        run: of all checks on the solutions.
    """

    course: Course
    chosen: dict[str, Exercise]
    each: Each
    report: Report = field(default_factory=Report)
    covered: set[str] = field(default_factory=set)
    breaking: set[str] = field(default_factory=set)
    known: dict[str, list[Known]] = field(default_factory=dict)

    @cached_property
    def _live(self) -> tuple[SubmissionGrader, LiveMistakes]:
        return with_live_mistakes(self.course, "validate")

    @property
    def grader(self) -> SubmissionGrader:
        """Collects the checks, and has what they run with."""
        return self._live[0]

    @property
    def mistakes(self) -> LiveMistakes:
        """Runs the checks on each known mistake; has the solutions."""
        return self._live[1]

    @cached_property
    def run(self) -> CheckRun:
        """The run of the chosen exercises' checks on the solutions."""
        return self.run_on(self.mistakes.solutions, self.chosen)

    @property
    def has_solutions(self) -> bool:
        """Whether every assignment's solution is there."""
        return all(self.course.paths(a).solution.is_file() for a in self.course.assignments)

    def checks(self) -> tuple[Check, ...]:
        """The checks of the chosen exercises."""
        return self.grader.checks(Scope(self.chosen))

    def handle(self, submission: Submission) -> SubmissionHandle:
        """A submission that runs in this process."""
        course, session = self.course, InProcessSession(submission)
        return SubmissionHandle(submission, session, course.limits, course.assignments)

    def run_on(self, submission: Submission, exercises: dict[str, Exercise]) -> CheckRun:
        """A run of all checks of some exercises on a submission, in this process."""
        checks = self.grader.checks(Scope(exercises))
        return CheckRun(self.grader.environment, self.handle(submission), checks)

    def chosen_of(self, assignment: Assignment) -> dict[str, Exercise]:
        """The chosen exercises of an assignment, by id."""
        return {id_: e for id_, e in self.chosen.items() if e.assignment == assignment.id}

    def by_exercise(self) -> Iterator[tuple[Exercise, list[Check]]]:
        """The chosen exercises, each with its checks."""
        checks = self.checks()
        for exercise in self.chosen.values():
            yield exercise, [check for check in checks if check.exercise.id == exercise.id]

    def with_stub(self, assignment: Assignment, path: Path) -> Submission:
        """The solutions, with a stub in place of one: what it imports is there."""
        (stub,) = read_submission(self.course, path, "stub").sources.values()
        solutions = self.mistakes.solutions
        key = solutions.readings[assignment.id].sources[0]
        changed = replace(solutions.sources[key], cells=stub.cells)
        return replace(solutions, sources={**solutions.sources, key: changed})


def examples_are_true(validation: Validation) -> Iterator[str]:
    """What examples in docstrings show is so."""
    chosen = assignments_of(validation.course, validation.chosen)
    for assignment in validation.each("examples in docstrings", chosen):
        yield from wrong_examples(validation.course, assignment)


# What checks declare.


def exercises_have_a_gate(validation: Validation) -> Iterator[str]:
    """Where an exercise has more than one check, one of them blocks the others."""
    for exercise, checks in validation.by_exercise():
        judging = [check for check in checks if not check.is_remark]
        if len(judging) > 1 and not any(check.is_gate for check in judging):
            yield (
                f"{_place(judging[0])}: {exercise.id} has no gate: "
                "mark its first visible check with `@pytest.mark.gate`"
            )


def titles_differ(validation: Validation) -> Iterator[str]:
    """No two checks of an exercise have the same title, but for a hidden one and what it deepens."""
    for _exercise, checks in validation.by_exercise():
        first: dict[str, Check] = {}
        for check in checks:
            other = first.setdefault(check.title, check)
            if other is not check and check.deepens != other.function.__name__:
                yield f"{_place(check)}: its title is that of {other.id}, too: {check.title}"


def there_are_hidden_checks(validation: Validation) -> Iterator[str]:
    """Every exercise but a constant, which has no other inputs, has a check that is not seen."""
    for exercise, checks in validation.by_exercise():
        if not any(map(_is_hidden, checks)) and not is_constant(validation.course, exercise):
            yield f"{exercise.id}: it has no hidden check"


def hidden_checks_deepen(validation: Validation) -> Iterator[str]:
    """Each hidden check names the visible check, or the docstring's sentence, it deepens."""
    checks = validation.checks()
    visible = {(c.exercise.id, c.name) for c in checks if not _is_hidden(c)}
    for check in filter(_is_hidden, checks):
        sentences = docstrings(validation.course, check.exercise)
        is_sentence = check.deepens.endswith(".") and check.deepens in sentences
        if not is_sentence and (check.exercise.id, check.deepens) not in visible:
            what = f"{check.deepens!r} is neither" if check.deepens else "it names neither"
            rest = "a visible check nor a sentence of the docstring that it deepens"
            yield f"{check.id}: {what} {rest}"


def _place(check: Check) -> str:
    return f"{check.file}:{check.function.__code__.co_firstlineno}"


def _is_hidden(check: Check) -> bool:
    return check.visibility is Visibility.HIDDEN


# What solutions, stubs and styles earn.


def solutions_earn_everything(validation: Validation) -> Iterator[str]:
    """Every solution earns full marks, and every exercise has checks that carry weight."""
    run = validation.run
    for exercise in validation.each("solutions", validation.chosen.values()):
        checks = run.exercise(exercise.id)
        if not any(check.weight for check in checks):
            yield f"{exercise.id}: its checks have no weight, so its points cannot be earned"
        elif earned_share(checks) != 1:
            validation.breaking |= {c.id for c in checks if c.outcome.is_undecided}
            yield f"{exercise.id}: the solution fails {_first_failure(run, checks)}"
    for record in run.records.values():
        for names, shape in record.misnamed:
            yield (
                f"{_place(record.check)}: `axes` is {names}, and the expected tensor has the shape "
                f"{shape}: give one name for each axis"
            )
        if record.check.weight and record.raised is None:
            validation.covered.update(record.covered)


def points_cannot_be_forged(validation: Validation) -> Iterator[str]:
    """No points rest on what a given test decides beside the student's code."""
    run = validation.run
    for id_, exercise in validation.chosen.items():
        records = [r for c in run.of(id_) if (r := run.records.get(c.id)) and r.forgeable]
        forged = {record.check.id for record in records}
        results = [
            check.result(Outcome.PASSED if check.id in forged else Outcome.FAILED)
            for check in run.of(id_)
        ]
        points = float(earned_share(results)) * exercise.points
        for record in records[:1]:
            yield (
                f"{id_}: {points:g} of its {exercise.points:g} points rest on what student code can "
                f"forge, as in {record.check.name}: {record.forgeable[0]}"
            )


def stubs_earn_nothing(validation: Validation) -> Iterator[str]:
    """Every stub, as a script and as a notebook, earns 0 and ends as not attempted."""
    course = validation.course
    assignments = assignments_of(course, validation.chosen)
    old = {course.root / file.path for file in stale(course, [one.id for one in assignments])}
    for form in ("py", "ipynb"):
        for assignment in validation.each(f"stubs ({form})", assignments):
            paths = course.paths(assignment)
            path = paths.stub if form == "py" else paths.notebook
            if path.is_file() and path not in old:  # else a proof of files reports it
                stub = validation.with_stub(assignment, path)
                exercises = validation.chosen_of(assignment)
                results = validation.run_on(stub, exercises).run(exercises)
                for id_ in exercises:
                    yield from _earned_by_stub(
                        validation, f"{id_}: the stub ({form})", results[id_]
                    )


def _earned_by_stub(
    validation: Validation, stub: str, checks: tuple[CheckResult, ...]
) -> Iterator[str]:
    passed = [c.id for c in checks if c.weight and c.outcome is Outcome.PASSED]
    if passed:
        yield f"{stub} passes {passed[0]}"
    elif checks and checks[0].id in validation.breaking:
        return  # which the solution has reported
    elif checks and checks[0].waits_for:
        return  # for another exercise, which the check calls first
    elif not checks or checks[0].outcome is not Outcome.NOT_ATTEMPTED:
        ended = checks[0].outcome if checks else "no check at all"
        yield f"{stub} ends as {ended}, not as not_attempted"


def styles_earn_everything(validation: Validation) -> Iterator[str]:
    """Every style earns full marks in place of the solution's own way."""
    course = validation.course
    for assignment in assignments_of(course, validation.chosen):
        solution = read_solution(assignment, course.paths(assignment).solution)
        cells = {cell.exercise: cell.text for cell in solution.cells}
        styles = read_styles(course, assignment)
        for id_, exercise in validation.chosen_of(assignment).items():
            for style in styles.get(exercise.name, ()):
                text = solution.text.replace(cells[exercise.name], style.code)
                submission = validation.mistakes.with_text(exercise, text)
                run = validation.run_on(submission, {id_: exercise})
                if wrong := _first_failure(run, run.run([id_])[id_]):
                    yield f"{id_}: the style {style.name!r} fails {wrong}"


def _first_failure(run: CheckRun, checks: Iterable[CheckResult]) -> str:
    """The first check that did not pass, and why; "" where all did."""
    for check in checks:
        if check.outcome not in (Outcome.PASSED, Outcome.REMARK):
            record = run.records[check.id]
            return f"{check.id}: {record.check.line_of(record.raised)}{_reason(record.raised)}"
    return ""


def _reason(error: BaseException | None) -> str:
    """Why a check ended as it did, in a line."""
    if isinstance(error, StudentOutcome):
        failure = error.failure
        return f"{failure.type or failure.kind}: {failure.message}".rstrip(": ")
    name = "" if isinstance(error, AssertionError) else f"{type(error).__name__}: "
    return f"{name}{error}".partition("\n")[0]


# What students see beside the checks.


def predictions_are_answered(validation: Validation) -> Iterator[str]:
    """The solution's code answers every prediction; that of a stub says why it cannot.

    Raises:
        CourseError: when a file of predictions has a problem.
    """

    def answer(submission: Submission, id_: str, prediction: Prediction) -> CodeAnswer | str:
        environment, handle = validation.mistakes.environment, validation.handle(submission)
        return answered(environment, handle, validation.chosen[id_], prediction)

    course, solutions = validation.course, validation.mistakes.solutions
    for id_, prediction in load_predictions(course, validation.chosen).items():
        right = answer(solutions, id_, prediction)
        if isinstance(right, str):
            yield f"{id_}: the solution does not answer its prediction: {right}"
        elif right.number != prediction.right:
            both = f"the solution answers {right.number}, and `right` says {prediction.right}"
            yield f"{id_}: to its prediction {both}"
        assignment = course.by_id[validation.chosen[id_].assignment]
        stub = course.paths(assignment).stub
        if stub.is_file():
            unwritten = answer(validation.with_stub(assignment, stub), id_, prediction)
            if not isinstance(unwritten, str):
                yield f"{id_}: its prediction is answered although the exercise is not written"


def views_show_solutions(validation: Validation) -> Iterator[str]:
    """Every view shows the solution, whatever text it is about, and its question asks.

    Raises:
        CourseError: when a file of views declares something wrong.
    """

    def place(id_: str) -> str:
        assignment, _slash, name = id_.partition("/")
        return f"{CHECKS}/{assignment}/{VIEWS}: {name}"

    grader, solutions = validation.grader, validation.mistakes.solutions
    views, session = load_views(validation.course, validation.chosen), InProcessSession(solutions)
    for view in views.views:
        if not view.view.ask.endswith(("?", "？")):
            yield f"{place(view.exercise.id)}: its question has no question mark"
    for words in TEXTS if views.example is not None else (None,):
        text = views.example.text(words) if views.example is not None else None
        about = f" about {words!r}" if words else ""
        shown = [view for view in views.views if not words or view.is_about_text]
        for result in run_views(grader, solutions, session, shown, text):
            if result.problem:
                problem = f"the solution shows nothing{about}: {result.problem}"
                yield f"{place(result.exercise)}: {problem}"


def releases_keep_secrets(validation: Validation) -> Iterator[str]:
    """No solution's text, no hidden check and no edit is in a release."""
    yield from secrets_in(validation.course, student_files(validation.course))
