"""JUnit XML in the common schema of Jenkins: one suite per assignment, one case per check."""

import re
from xml.etree import ElementTree as Xml

from grader.core.language import _
from grader.core.records import AssignmentResult, CheckResult, ExerciseResult, Outcome
from grader.core.text import location_words
from grader.judging.outcomes import WORDS, judged_with, mistake_lines, status_words
from grader.judging.results import points
from grader.reports.base import CheckedWork, one_file, shown

NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
KINDS = {
    Outcome.PASSED: "",
    Outcome.REMARK: "",
    Outcome.BLOCKED: "skipped",
    Outcome.ERROR: "error",
    Outcome.NO_TURN: "error",
}
"""The element of an outcome; every other one is a failure, also what was not attempted."""


def junit(run: CheckedWork) -> str:
    """A result as JUnit XML."""
    result = run.result
    suites = [_suite(assignment) for assignment in result.assignments]
    root = Xml.Element("testsuites", {"name": _text(result.student)})
    for count in ("tests", "failures", "errors"):
        root.set(count, str(sum(int(suite.get(count, "0")) for suite in suites)))
    root.extend(suites)
    Xml.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{Xml.tostring(root, "unicode")}\n'


def _suite(assignment: AssignmentResult) -> Xml.Element:
    cases = [_case(e, check) for e in assignment.exercises for check in e.checks]
    if not assignment.counts:
        cases = [_skipped(e) for e in assignment.exercises]
    cases = cases or [_nothing(assignment)]
    seconds = sum(check.duration_s for check in assignment.checks)
    suite = Xml.Element("testsuite", {"name": assignment.id, **_counts(cases)})
    suite.set("time", f"{seconds:.4f}")
    properties = Xml.SubElement(suite, "properties")
    for name, value in _facts(assignment).items():
        Xml.SubElement(properties, "property", {"name": name, "value": _text(value)})
    suite.extend(cases)
    return suite


def _counts(cases: list[Xml.Element]) -> dict[str, str]:
    kinds = [part.tag for case in cases for part in case]
    names = {"failures": "failure", "errors": "error", "skipped": "skipped"}
    counts = {name: str(kinds.count(kind)) for name, kind in names.items()}
    return {"tests": str(len(cases)), **counts}


def _facts(assignment: AssignmentResult) -> dict[str, str]:
    """What JUnit itself does not hold: scores, named mistakes, notes."""
    is_scored = assignment.score is not None and assignment.counts
    facts = {
        "score": str(points(assignment.score)) if is_scored else "",
        "max_score": str(assignment.max_score),
        "read_from": assignment.read_from,
        **{f"note {number}": note for number, note in enumerate(assignment.notes, 1)},
    }
    for exercise in assignment.exercises:
        facts[f"score of {exercise.id}"] = shown(points(exercise.score))
        if said := judged_with(exercise):
            facts[f"parts of {exercise.id}"] = said
        for number, line in enumerate(mistake_lines(exercise), 1):
            facts[f"mistake {number} in {exercise.id}"] = line
    return facts


def _case(exercise: ExerciseResult, check: CheckResult) -> Xml.Element:
    case = Xml.Element("testcase", {"name": _text(check.title), "classname": exercise.id})
    case.set("time", f"{check.duration_s:.4f}")
    kind = KINDS.get(check.outcome, "failure")
    if kind:
        found = Xml.SubElement(case, kind, {"type": str(check.outcome)})
        found.set("message", _(WORDS[check.outcome]))
        at = check.where
        place = f"{location_words(at.file, at.cell, at.line)}\n" if at is not None else ""
        found.text = _text(place + check.message)
    elif check.message:
        Xml.SubElement(case, "system-out").text = _text(check.message)
    return case


def _skipped(exercise: ExerciseResult) -> Xml.Element:
    """An exercise that has no score, which is not a zero."""
    case = Xml.Element("testcase", {"name": status_words(exercise), "classname": exercise.id})
    Xml.SubElement(case, "skipped", {"message": status_words(exercise)})
    return case


def _nothing(assignment: AssignmentResult) -> Xml.Element:
    """An assignment without a single outcome is the grader's fault, never a green suite."""
    case = Xml.Element("testcase", {"name": "The grader", "classname": assignment.id})
    error = Xml.SubElement(case, "error", {"type": "error", "message": _(WORDS[Outcome.ERROR])})
    error.text = _text("\n".join(assignment.notes))
    return case


def _text(text: str) -> str:
    """Text without the characters that XML cannot hold."""
    return NOT_XML.sub("\ufffd", text)


report = one_file("junit.xml", junit)
