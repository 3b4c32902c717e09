"""Reads notebooks in the format of Otter Assign, version 1 and later.

Raw cells enclose questions and their parts (`# BEGIN QUESTION`, `# BEGIN SOLUTION`, `# BEGIN TESTS`)
and hold settings in YAML; comments in the code mark its solution. Written after its authors' page
("Notebook format").
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from grader.core.errors import UsageError
from grader.extras.importing.nbgrader import (
    Case,
    MarkedCode,
    Question,
    Reading,
    SourceCell,
)

BOUNDARY = re.compile(r"#\s+(begin|end)\s+(question|prompt|solution|tests)\b", re.IGNORECASE)
SETTINGS = re.compile(r"#\s+assignment\s+config\b", re.IGNORECASE)
FENCED = re.compile(r"\s*```otter\n(?P<body>.*?)\n```\s*", re.DOTALL)
IGNORED = re.compile(r"#+\s*ignore\b", re.IGNORECASE)
HIDDEN = re.compile(r"#+.*\bhidden\b", re.IGNORECASE)
OWN_CALLS = re.compile(r"^\s*(import otter\b|\w+\s*=\s*otter\.|grader\.(check|export))")

BEGIN = re.compile(r"#\s*BEGIN SOLUTION( NO PROMPT)?\s*$")
END = re.compile(r"#\s*END SOLUTION\s*$")
LINE = re.compile(r"(?P<code>.*?)\s*#\s*SOLUTION( NO PROMPT)?\s*$")
SEED = re.compile(r"#\s*SEED\s*$")
IGNORED_LINE = re.compile(r"#\s*IGNORE\s*$")
BEGIN_PROMPT = re.compile(r"^\s*(\"\"\"|''')\s*#\s*BEGIN PROMPT\s*$")
END_PROMPT = re.compile(r"(\"\"\"|'''|);?\s*#\s*END PROMPT\s*$")
TEST_SETTINGS = re.compile(
    r"\s*(?:\w+\s*=\s*)?(\"\"\"|''')\s*#\s*BEGIN\s+TEST\s+CONFIG[^\n]*\n(?P<body>.*?)\1;?\s*#\s*END\s+TEST\s+CONFIG[^\n]*",
    re.DOTALL | re.IGNORECASE,
)

KEYS = {
    "files": "files beside the notebook that its code names are taken along",
    "student_files": "these are taken along",
    "autograder_files": "copy the files into the course yourself, beside the checks",
    "requirements": "list what students may import under `packages` in course.toml",
    "environment": "list what students may import under `packages` in course.toml",
    "seed": "checks seed each call: `student.call(…, seed=0)`",
    "export_cell": "students hand in what `grader pack` writes",
    "generate": "`grader release --to gradescope` makes the autograder's zip",
    "tests": "checks are files of the course",
}
"""What to do in place of a setting of the assignment."""


@dataclass(slots=True)
class _Open:
    """A question that has begun."""

    cell: int
    settings: Mapping[str, Any]
    block: str = ""
    code: list[MarkedCode] = field(default_factory=list)
    cases: list[Case] = field(default_factory=list)

    @property
    def name(self) -> str:
        return str(self.settings.get("name", ""))


def read_otter(path: Path) -> Reading:
    """A notebook written for Otter Assign.

    Raises:
        UsageError: when it is no such notebook, or its markers are not in pairs.
    """
    reading = _Reading(path)
    reading.read()
    if reading.question is not None:
        raise reading.fault(reading.question.cell, "the question has no `# END QUESTION`")
    if not reading.has_questions:
        raise UsageError(
            f"{path} has no question between raw cells `# BEGIN QUESTION` and `# END QUESTION` "
            "that has a solution in code. Is it the notebook that `otter assign` is given, in "
            "version 1 of its format or later?"
        )
    return reading


@dataclass(slots=True)
class _Reading(Reading):
    """A notebook of otter, as far as it is read."""

    question: _Open | None = None

    def take(self, cell: SourceCell) -> None:
        """Read the next cell."""
        fenced = FENCED.fullmatch(cell.text) if cell.kind == "markdown" else None
        if fenced:
            cell = replace(cell, kind="raw", text=fenced["body"])
        boundary = BOUNDARY.match(cell.text) if cell.kind == "raw" else None
        if boundary:
            self._cross(cell, boundary[1].lower() == "begin", boundary[2].lower())
        elif cell.kind == "raw" and SETTINGS.match(cell.text):
            settings = self._yaml(cell.number, cell.text)
            self.files += map(str, settings.get("student_files") or settings.get("files") or ())
            for key in settings:
                advice = KEYS.get(str(key), "the kit has no such setting")
                self.notes.add(cell.number, f"the setting `{key}`: {advice}")
        elif cell.kind == "raw":
            self.notes.add(cell.number, "a raw cell is left out")
        elif cell.kind == "code" and IGNORED.match(cell.text):
            self.notes.add(cell.number, "the cell is marked to be ignored, and is left out")
        elif self.question is None:
            self._given(cell)
        else:
            self._in_question(self.question, cell)

    def _given(self, cell: SourceCell) -> None:
        lines = cell.text.split("\n")
        kept = [line for line in lines if cell.kind != "code" or not OWN_CALLS.match(line)]
        if len(kept) < len(lines):
            self.notes.add(cell.number, "lines that call otter itself are left out")
        self.add_text(cell, "\n".join(kept))

    def _cross(self, cell: SourceCell, is_begin: bool, block: str) -> None:
        """Enter or leave a question, or one of its parts."""
        question = self.question
        if block == "question":
            if is_begin and question is not None:
                raise self.fault(cell.number, "a question begins within another one")
            if not is_begin and question is None:
                raise self.fault(cell.number, "a question ends without a `# BEGIN QUESTION`")
            if question is None:
                self.question = _Open(cell.number, self._yaml(cell.number, cell.text))
            else:
                self._close(question)
            return
        if question is None or question.block != ("" if is_begin else block):
            which = "BEGIN" if is_begin else "END"
            raise self.fault(cell.number, f"`# {which} {block.upper()}` stands in the wrong place")
        question.block = block if is_begin else ""

    def _in_question(self, question: _Open, cell: SourceCell) -> None:
        block, number = question.block, cell.number
        if block == "tests" and cell.kind == "code":
            question.cases.append(self._case(question, cell))
        elif block == "solution" and cell.kind == "code":
            question.code.append(self._marked(cell))
        elif block == "prompt" and not question.settings.get("manual"):
            self.notes.add(number, "the prompt is left out: a stub has its own gap")
        elif not block and not question.settings.get("manual"):
            self._given(cell)
        elif block == "solution" and not question.settings.get("manual"):
            self.notes.add(number, "a solution in words is left out")

    def _close(self, question: _Open) -> None:
        self.question = None
        cases, total = question.cases, question.settings.get("points")
        if question.settings.get("manual"):
            worth = "" if total is None else f" ({total} points)"
            by_hand = f"the question {question.name}{worth} is graded by hand; it is left out"
            self.notes.add(question.cell, by_hand)
            return
        if not question.code:
            no_code = f"the question {question.name} has no solution in code; it is left out"
            self.notes.add(question.cell, no_code)
            return
        if isinstance(total, dict):
            total = total.get("each", 1) * len(cases)
        cases = [
            replace(case, points=share)
            for case, share in zip(cases, self._points(question, total), strict=True)
        ]
        whole = Fraction(0) if isinstance(total, list) else self._number(question.cell, total, 1)
        self.parts.append(Question(question.cell, tuple(question.code), tuple(cases), points=whole))

    def _points(self, question: _Open, total: Any) -> list[Fraction]:
        """What each test is worth: its own points, else an equal part of what is left."""
        count = len(question.cases)
        if isinstance(total, list):
            if len(total) != count:
                sentence = f"`points` has {len(total)} entries, and there are {count} tests"
                raise self.fault(question.cell, sentence)
            return [self._number(question.cell, points, 0) for points in total]
        points = [case.points for case in question.cases]
        known = sum((number for number in points if number >= 0), Fraction(0))
        total = 0 if total is None and known else total
        left = max(self._number(question.cell, total, 1) - known, Fraction(0))
        return [left / points.count(Fraction(-1)) if n < 0 else n for n in points]

    def _case(self, question: _Open, cell: SourceCell) -> Case:
        """A test; points of -1 stand for none of its own."""
        settings: Mapping[str, Any] = {}
        text = cell.text
        if match := TEST_SETTINGS.match(text):
            settings = self._yaml(cell.number, match["body"])
            text = text[match.end() :].lstrip("\n")
        is_hidden = bool(HIDDEN.match(cell.text.lstrip().partition("\n")[0]))
        for key in ("success_message", "failure_message"):
            if settings.get(key):
                sentence = f"the {key} {str(settings[key])!r}: write it into the check's title"
                self.notes.add(cell.number, sentence)
        lines = [line for line in text.split("\n") if not IGNORED_LINE.search(line)]
        text = "\n".join(line for line in lines if not HIDDEN.fullmatch(line.strip()))
        return Case(
            cell.number,
            text.strip("\n"),
            bool(settings.get("hidden", is_hidden)),
            self._number(cell.number, settings.get("points"), -1),
            cell.output,
        )

    def _marked(self, cell: SourceCell) -> MarkedCode:
        """A solution's code without its markers."""
        kept: list[str] = []
        solution: set[int] = set()
        is_solution = is_prompt = False
        text = self.without_magics(cell.number, cell.text.strip("\n"))
        for line in text.split("\n"):
            if BEGIN.search(line) or END.search(line):
                if is_solution == bool(BEGIN.search(line)):
                    unpaired = "`# BEGIN SOLUTION` and `# END SOLUTION` do not pair"
                    raise self.fault(cell.number, unpaired)
                is_solution = not is_solution
            elif is_prompt or BEGIN_PROMPT.match(line):
                is_prompt = not END_PROMPT.search(line)
                if line.lstrip().startswith("#"):
                    _put_above(line, kept, solution)
            elif SEED.search(line):
                kept.append(SEED.sub("", line).rstrip())
                self.notes.add(cell.number, f"students are given `{kept[-1].strip()}`")
            elif not IGNORED_LINE.search(line):
                single = LINE.match(line)
                kept.append(single["code"] if single else line)
                if single or is_solution:
                    solution.add(len(kept))
        if is_solution:
            raise self.fault(cell.number, "`# BEGIN SOLUTION` has no `# END SOLUTION`")
        if not solution:
            sentence = "no line is marked as the solution; all of the cell is taken for it"
            self.notes.add(cell.number, sentence)
            solution.update(range(1, len(kept) + 1))
        return MarkedCode(cell.number, "\n".join(kept), frozenset(solution))

    def _yaml(self, cell: int, text: str) -> Mapping[str, Any]:
        # PyYAML comes with jupytext, which belongs to the authors' extra.
        import yaml

        try:
            settings = yaml.safe_load(text)
        except yaml.YAMLError as error:
            reason = " ".join(str(error).split())
            raise self.fault(cell, f"the settings are not YAML: {reason}") from error
        if not isinstance(settings, dict | None):
            raise self.fault(cell, "the settings are not `key: value` lines")
        return settings or {}

    def _number(self, cell: int, value: Any, default: int) -> Fraction:
        return Fraction(default) if value is None else self.points(cell, value)


def _put_above(line: str, kept: list[str], solution: set[int]) -> None:
    """Add a comment above the solution that ends here, where one does."""
    first = len(kept) + 1
    while first - 1 in solution:
        first -= 1
    kept.insert(first - 1, line)
    moved = {number for number in solution if number >= first}
    solution -= moved
    solution |= {number + 1 for number in moved}
