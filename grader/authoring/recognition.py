"""How a known mistake goes when a course is validated: whether it is caught and named, what it leaves."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from grader.authoring.course_texts import parsed
from grader.core.records import Finding, Mistake, Outcome
from grader.course.course import Course, Exercise
from grader.course.misconceptions import Misconception, edited
from grader.judging.diagnosis import BROKEN, Known, Traces, diagnose
from grader.judging.run import Check
from grader.judging.scoring import earned_share, is_judged


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


def id_of(mistake: Known) -> str:
    """The id of a mistake that is by itself."""
    return mistake.mistakes[0].id


def left_of(mistake: Known, checks: tuple[Check, ...]) -> Left:
    """What is left of the points when a mistake is recognised."""
    results = []
    for check in checks:
        trace = mistake.traces.get(check.id)
        outcome = Outcome.FAILED if trace and trace.failed else Outcome.PASSED
        raised = trace.end if trace and trace.end not in ("passed", "mismatch") else ""
        has_run = trace is not None or check.is_remark
        results.append(check.result(outcome if has_run else Outcome.BLOCKED, raised=raised))
    share = earned_share(results, [Finding(mistake.mistakes)])
    return Left(mistake.mistakes[0], float(share), is_judged(results))


def why_not_caught(
    mistake: Known, checks: tuple[Check, ...], exercise: Exercise, told: Collection[str] = ()
) -> str:
    """Why a mistake loses no points, in a sentence; "" when it loses some.

    Args:
        mistake: how the checks go with it.
        checks: those of the exercise.
        exercise: whose mistake it is.
        told: the ids of checks that break on the solution, too, and were told for that.
    """
    name, ends = id_of(mistake), [trace.end for trace in mistake.traces.values()]
    if BROKEN in ends:
        broken = list(mistake.traces)[ends.index(BROKEN)]
        if broken in told:
            return ""
        return f"the check {broken} breaks on the misconception {name!r}"
    if ends and ends[0].startswith("missing"):
        return f"with the misconception {name!r}, {exercise.name} is not defined"
    weights = {check.id: check.weight for check in checks}
    if not any(trace.failed and weights[id_] for id_, trace in mistake.traces.items()):
        return f"no check catches the misconception {name!r}"
    return ""


def named(student: Traces, known: Sequence[Known]) -> list[str]:
    """The names a student would read whose checks went like this."""
    found = diagnose(student, known, lambda: ())
    return [mistake.id for finding in found for mistake in finding.candidates]


def gate_that_blocks(checks: Iterable[Check], *compared: Traces) -> str:
    """The gate that blocks what would tell mistakes apart, in a sentence; "" where none does."""
    for gate in (check for check in checks if check.is_gate):
        if all(gate.id in traces and traces[gate.id].failed for traces in compared):
            return f"; the gate {gate.id} fails, and blocks the checks behind it"
    return ""


def syntax_faults(
    course: Course, misconceptions: Mapping[str, Sequence[Misconception]]
) -> dict[str, str]:
    """By the id of a misconception whose `replace` makes no Python, that in a sentence.

    Args:
        course: the course.
        misconceptions: by assignment.
    """
    found = {}
    for assignment in course.assignments:
        paths = course.paths(assignment)
        text = paths.solution.read_text("utf-8")
        for one in misconceptions[assignment.id]:
            error = parsed(edited(text, one) or "")
            if isinstance(error, SyntaxError):
                within = (error.lineno or 1) - 1 - text[: text.index(one.find)].count("\n")
                written = paths.misconceptions.read_text("utf-8")
                line = _line_of(written, one) + max(0, min(within, one.replace.count("\n")))
                place = f"{course.inner(paths.misconceptions)}:{line}"
                found[one.id] = f"{place}: the `replace` of {one.id!r} is no Python: {error.msg}"
    return found


def _line_of(written: str, misconception: Misconception) -> int:
    """The line of its file in which the text of a `replace` begins."""
    entry = written.partition(f'"{misconception.id}"')[0]
    start = written.find("replace", len(entry))
    text = written.find(misconception.replace, start)
    return written[: max(start, text)].count("\n") + 1
