"""Reads notebooks in nbgrader's format: metadata says what each cell is, markers what is in it.

Written after the metadata's schema, version 3; the versions before it have the same keys.
"""

import re
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

from grader.authoring.importing.records import (
    Case,
    Imported,
    MarkedCode,
    Question,
    Reading,
    SourceCell,
)
from grader.core.errors import UsageError

SOLUTION = re.compile(r"(BEGIN|END) SOLUTION")
HIDDEN_TESTS = re.compile(r"(BEGIN|END) HIDDEN TESTS")
RELEASED = re.compile(r"#\s*YOUR CODE HERE")


def read_nbgrader(path: Path) -> Imported:
    """A source notebook of nbgrader.

    Raises:
        UsageError: when it is no such notebook, or its markers are not in pairs.
    """
    reading = _Reading(path)
    reading.read()
    if not reading.has_questions:
        raise UsageError(
            f"{path} has no autograded answer: a code cell that nbgrader's metadata marks as a "
            "solution, and not as graded by hand. Is it a notebook of nbgrader's `source` folder?"
        )
    return reading.found


@dataclass(slots=True)
class _Reading(Reading):
    """A notebook of nbgrader, as far as it is read.

    Args:
        latest: the latest answer's position among the parts; tests belong to it.
    """

    latest: int | None = None

    def take(self, cell: SourceCell) -> None:
        """Read the next cell."""
        marks = cell.marks
        name, points = marks.get("grade_id", ""), marks.get("points", 0)
        is_graded, is_solution = bool(marks.get("grade")), bool(marks.get("solution"))
        by_hand = "it is left out, with the text of its cell"
        if marks.get("task"):
            self.found.note(
                cell.number, f"the task {name} ({points} points) is graded by hand; {by_hand}"
            )
        elif is_solution and (is_graded or cell.kind != "code"):
            self.found.note(
                cell.number, f"the answer {name} ({points} points) is graded by hand; {by_hand}"
            )
        elif is_solution:
            self.latest = len(self.found.parts)
            self.found.parts.append(Question(cell.number, (self._marked(cell),)))
        elif is_graded and self.latest is None:
            self.found.note(
                cell.number, f"the tests {name} stand before any answer; they are left out"
            )
        elif is_graded:
            self._add_tests(cell)
        elif cell.kind == "raw":
            self.found.note(cell.number, "a raw cell is left out")
        else:
            self.found.add_text(cell)

    def _marked(self, cell: SourceCell) -> MarkedCode:
        """An answer's code without its markers; all of it where it has none."""
        kept: list[str] = []
        solution: set[int] = set()
        is_solution = is_marked = False
        text = self.found.without_magics(cell.number, cell.text.strip("\n"))
        for line in text.split("\n"):
            if found := SOLUTION.search(line):
                if is_solution == (found[1] == "BEGIN"):
                    raise self.fault(cell.number, "its solution's markers do not pair")
                is_marked, is_solution = True, not is_solution
                continue
            kept.append(line)
            if is_solution:
                solution.add(len(kept))
        if is_solution:
            raise self.fault(cell.number, "`BEGIN SOLUTION` has no `END SOLUTION`")
        if not is_marked:
            if any(map(RELEASED.search, kept)):
                sentence = "it holds no solution; import the notebook of the `source` folder"
                raise self.fault(cell.number, sentence)
            solution.update(range(1, len(kept) + 1))
        return MarkedCode(cell.number, "\n".join(kept), frozenset(solution))

    def _add_tests(self, cell: SourceCell) -> None:
        """The visible and the hidden part of a test cell; its points stand at the first of them."""
        points = self.points(cell.number, cell.marks.get("points", 0))
        parts: dict[bool, list[str]] = {False: [], True: []}
        is_hidden = False
        for line in self.found.without_magics(cell.number, cell.text).split("\n"):
            if found := HIDDEN_TESTS.search(line):
                if is_hidden == (found[1] == "BEGIN"):
                    raise self.fault(cell.number, "the markers of its hidden tests do not pair")
                is_hidden = not is_hidden
            else:
                parts[is_hidden].append(line)
        if is_hidden:
            raise self.fault(cell.number, "`BEGIN HIDDEN TESTS` has no `END HIDDEN TESTS`")
        texts = {hidden: "\n".join(lines).strip("\n") for hidden, lines in parts.items()}
        worth = [points, Fraction(0)]
        cases = [
            Case(cell.number, text, hidden, worth.pop(0))
            for hidden, text in texts.items()
            if text.strip()
        ]
        question = self.found.parts[self.latest or 0]
        if isinstance(question, Question):
            all_cases = (*question.cases, *cases)
            self.found.parts[self.latest or 0] = replace(question, cases=all_cases)
