"""Proofs on known mistakes, and on code that knows nothing: what is caught, named and earned."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from itertools import combinations

from grader.authoring.check_proofs import Left, Row, Validation
from grader.authoring.free_points import earned_everywhere, free_points
from grader.authoring.text_proofs import assignments_of, parsed
from grader.core.records import CheckResult, Finding, Outcome, Visibility
from grader.course.misconceptions import Misconception, edited
from grader.course.printed_tensors import Printed
from grader.judging.diagnosis import (
    ATOL,
    BROKEN,
    Known,
    Traces,
    diagnose,
    distance,
    fingerprint,
    separation,
)
from grader.judging.known_mistakes import traces
from grader.judging.run import Check
from grader.judging.scoring import earned_share, is_judged

LEAST_SEPARATION = 100 * ATOL
"""Two mistakes closer than this could be confused with each other, or with the right result."""


def mistakes_are_declared(validation: Validation) -> Iterator[str]:
    """Every exercise has a known mistake."""
    for id_, exercise in validation.chosen.items():
        if not validation.mistakes.of(exercise):
            yield f"{id_}: it has no misconception"


def ids_are_unique(validation: Validation) -> Iterator[str]:
    """No two misconceptions of the course have the same id."""
    first: dict[str, str] = {}
    for misconceptions in validation.mistakes.misconceptions.values():
        for mistake in misconceptions:
            if mistake.id in first:
                yield f"{mistake.exercise}: the id {mistake.id!r} is {first[mistake.id]}'s already"
            first.setdefault(mistake.id, mistake.exercise)


def mistakes_are_recognised(validation: Validation) -> Iterator[str]:
    """Every misconception loses points and is recognised by its own name."""
    unreadable, run = _syntax_faults(validation), validation.run
    for exercise in validation.each("known mistakes", validation.chosen.values()):
        ids = (mistake.id for mistake in validation.mistakes.of(exercise))
        yield from (unreadable[id_] for id_ in ids if id_ in unreadable)
        checks = run.of(exercise.id)
        right = traces(run.records[check.id] for check in checks if check.id in run.records)
        known = validation.mistakes.known(exercise, checks, 1)
        known = validation.known[exercise.id] = [m for m in known if _id(m) not in unreadable]
        visible = {check.id for check in checks if check.visibility is Visibility.VISIBLE}
        row = Row(
            exercise,
            len(visible),
            len(checks) - len(visible),
            len(known),
            free_points(validation.mistakes, exercise, checks),
            [_left(mistake, checks) for mistake in known],
        )
        validation.report.rows.append(row)
        if _blocking_gate(checks, right):
            continue  # which the solution has reported
        for mistake in known:
            problem = _recognise(validation, row, mistake, checks, visible)
            if problem:
                yield f"{exercise.id}: {problem}"
        compared = [("the solution", right), *((_id(m), m.traces) for m in known)]
        yield from _separate(row, compared, checks)


def _recognise(
    validation: Validation,
    row: Row,
    mistake: Known,
    checks: tuple[Check, ...],
    visible: Collection[str],
) -> str:
    """Count a mistake in its row if it is recognised; what is wrong with it, or ""."""
    known = validation.known[row.exercise.id]
    problem = _why_not_caught(mistake, checks, row, validation.breaking)
    if problem:
        return problem
    seen = {id_: trace for id_, trace in mistake.traces.items() if id_ in visible}
    row.recognised_visibly += _named(seen, known) == [_id(mistake)]
    names = _named(mistake.traces, known)
    if names == [_id(mistake)]:
        row.recognised += 1
        return ""
    shown = " or ".join(names) if names else "nothing"
    alike = [other.traces for other in known if _id(other) in names]
    why = _blocking_gate(checks, mistake.traces, *alike)
    return f"the misconception {_id(mistake)!r} is recognised as {shown}{why}"


def _why_not_caught(
    mistake: Known, checks: tuple[Check, ...], row: Row, breaking: Collection[str]
) -> str:
    """Why a mistake loses no points; "" when it loses some, or the solution's check breaks as well."""
    name, ends = _id(mistake), [trace.end for trace in mistake.traces.values()]
    if BROKEN in ends:
        broken = list(mistake.traces)[ends.index(BROKEN)]
        return (
            "" if broken in breaking else f"the check {broken} breaks on the misconception {name!r}"
        )
    if ends and ends[0].startswith("missing"):
        return f"with the misconception {name!r}, {row.exercise.name} is not defined"
    weights = {check.id: check.weight for check in checks}
    if not any(trace.failed and weights[id_] for id_, trace in mistake.traces.items()):
        return f"no check catches the misconception {name!r}"
    return ""


def _separate(
    row: Row, compared: list[tuple[str, Traces]], checks: tuple[Check, ...]
) -> Iterator[str]:
    """The smallest separation between two mistakes, or of one from the solution."""
    for (name, left), (other, right) in combinations(compared, 2):
        gap = separation(left, right)
        row.separation = min(row.separation, gap)
        both = f"{row.exercise.id}: {name} and {other} are"
        if gap <= ATOL:
            yield f"{both} the same to all checks{_blocking_gate(checks, left, right)}"
        elif gap < LEAST_SEPARATION:
            yield f"{both} only {gap:.1e} apart; {LEAST_SEPARATION:g} is needed"


def _id(mistake: Known) -> str:
    """The id of a mistake that is by itself."""
    return mistake.mistakes[0].id


def results_with(mistake: Known, checks: Iterable[Check]) -> list[CheckResult]:
    """How the checks of an exercise end with a known mistake in its solution."""
    results = []
    for check in checks:
        trace = mistake.traces.get(check.id)
        outcome = Outcome.FAILED if trace and trace.failed else Outcome.PASSED
        raised = trace.end if trace and trace.end not in ("passed", "mismatch") else ""
        has_run = trace is not None or check.is_remark
        results.append(check.result(outcome if has_run else Outcome.BLOCKED, raised=raised))
    return results


def _left(mistake: Known, checks: tuple[Check, ...]) -> Left:
    """What is left of the points when a mistake is recognised."""
    results = results_with(mistake, checks)
    share = earned_share(results, [Finding(mistake.mistakes)])
    return Left(mistake.mistakes[0], float(share), is_judged(results))


def _named(student: Traces, known: list[Known]) -> list[str]:
    """The names a student would read whose checks went like this."""
    findings = diagnose(student, known, lambda: ())
    return [mistake.id for finding in findings for mistake in finding.candidates]


def _blocking_gate(checks: Iterable[Check], *compared: Traces) -> str:
    """The gate that blocks what would tell mistakes apart, in a sentence; "" where none does."""
    for gate in (check for check in checks if check.is_gate):
        if all(gate.id in traces and traces[gate.id].failed for traces in compared):
            return f"; the gate {gate.id} fails, and blocks the checks behind it"
    return ""


def _syntax_faults(validation: Validation) -> dict[str, str]:
    """By the id of a misconception whose `replace` makes no Python, that in a sentence."""
    course, faults = validation.course, {}
    for assignment in assignments_of(course, validation.chosen):
        paths = course.paths(assignment)
        text = paths.solution.read_text("utf-8")
        for mistake in validation.mistakes.misconceptions[assignment.id]:
            error = parsed(edited(text, mistake) or "")
            if isinstance(error, SyntaxError):
                within = (error.lineno or 1) - 1 - text[: text.index(mistake.find)].count("\n")
                written = paths.misconceptions.read_text("utf-8")
                line = _line_of(written, mistake) + max(0, min(within, mistake.replace.count("\n")))
                place = f"{course.inner(paths.misconceptions)}:{line}"
                problem = f"the `replace` of {mistake.id!r} is no Python: {error.msg}"
                faults[mistake.id] = f"{place}: {problem}"
    return faults


def _line_of(written: str, misconception: Misconception) -> int:
    """The line of its file in which the text of a `replace` begins."""
    entry = written.partition(f'"{misconception.id}"')[0]
    start = written.find("replace", len(entry))
    text = written.find(misconception.replace, start)
    return written[: max(start, text)].count("\n") + 1


def tensors_are_covered(validation: Validation) -> Iterator[str]:
    """Every printed tensor of the ledger is covered the way its entry says."""
    ledger = validation.grader.environment.ledger
    for entry in ledger.entries.values():
        if entry.how.startswith("value"):
            is_covered, wanted = entry.id in validation.covered, "judged against by a check"
        elif entry.how.startswith("misconception"):
            is_covered, wanted = _is_mistaken(validation, entry), "what a misconception answers"
        else:
            is_covered, wanted = entry.id in ledger.used, "used by a check"
        if not is_covered:
            yield f"ledger {entry.id}: it is not {wanted} ({entry.meaning})"


def _is_mistaken(validation: Validation, entry: Printed) -> bool:
    """Whether a check judged this value with a known mistake."""
    wanted = fingerprint(entry.tensor)
    known = (mistake for mistakes in validation.known.values() for mistake in mistakes)
    judged = (value for m in known for trace in m.traces.values() for value in trace.judged)
    # Printed operands carry their rounding into the result.
    return any(distance(value, wanted) < 1e-3 for value in judged)


def points_mean_something(validation: Validation) -> Iterator[str]:
    """Code that knows nothing earns next to nothing, and so does what is memorised."""
    assignments = assignments_of(validation.course, validation.chosen)
    for assignment in validation.each("what knowing nothing earns", assignments):
        exercises = validation.chosen_of(assignment)
        earned = earned_everywhere(validation.grader, validation.mistakes, assignment, exercises)
        for row in validation.report.rows:
            if row.exercise.id in exercises:
                row.free_points = replace(row.free_points, everywhere=earned[row.exercise.id])
    for row in validation.report.rows:
        yield from (f"{row.exercise.id}: {problem}" for problem in row.free_points.problems)
