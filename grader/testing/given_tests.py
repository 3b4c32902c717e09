"""`student.runs`: a given test is judged by what student code reports, where none of it runs."""

import ast
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from textwrap import dedent
from typing import Any, NoReturn

import numpy as np

from grader.core.errors import GraderFault
from grader.core.language import _
from grader.core.text import clean
from grader.sandbox.wire import RemoteObject, Unsupported
from grader.testing.compare import Difference, compare
from grader.testing.judge import Judge, Mismatch
from grader.testing.replies import Observed
from grader.testing.student import ReferenceHandle, StudentHandle
from grader.testing.taken_apart import Condition, TakenApart

MOST_ITEMS = 4_000
"""So much may be reported where the solution reports less, or of another shape."""

MOST_SHOWN = 120
"""Characters of a test, or of a value, that a message shows."""

FORGED = (
    "`{text}` is decided beside the student's code, which can forge that. Ask for a value and judge it, "
    "or say `forgeable=True`."
)
"""An author's mistake, unless the check says that it knows."""


@dataclass
class GivenTests:
    """Judges given tests for one run of one check.

    Args:
        reference: the handle on the solution, which answers for what is expected.
        judge: what keeps the values, by which mistakes are recognised.
    """

    reference: ReferenceHandle
    judge: Judge

    def run(
        self, student: StudentHandle, text: str, given: Collection[str], *, forgeable: bool
    ) -> None:
        """Judge a test.

        Raises:
            Mismatch: when a condition of it does not hold.
            StudentOutcome: when the student's code fails.
            ValueError: when one can be forged, and the check does not say so.
        """
        self.judge.settle()
        own = [name for name in self.reference.names() if name not in given]
        test = TakenApart(dedent(text), own)
        right, program = self._expected(test)
        used = {one.number for one in right}
        forged = [c for n, c in enumerate(test.conditions) if c.is_forgeable and n in used]
        self.judge.forgeable += [condition.text for condition in forged]
        if forged and not forgeable:
            raise ValueError(FORGED.format(text=forged[0].text))
        found = student.observed(program)
        for position, one in enumerate(right):
            condition = test.conditions[one.number]
            if position >= len(found) or found[position].number != one.number:
                self._fail(student, condition, ())
            asked = found[position].values[: len(one.values) - len(condition.kept)]
            self._judge(student, condition, one.values, [*asked, *one.values[len(asked) :]])

    def _expected(self, test: TakenApart) -> tuple[Sequence[Observed], str]:
        """What the solution reports, and the program for the student's code.

        What does not travel, or does not hold for the solution once it has travelled, is computed
        beside the code.

        Raises:
            GraderFault: when the solution does not pass the test.
        """
        while True:
            full, program = test.programs()
            try:
                right = self.reference.observed(full)
            except GraderFault:
                # Parts of it may stand for themselves only where others hold.
                if not [n for n in range(len(test.conditions)) if test.take_larger(n)]:
                    raise
                continue
            wrong = [
                one for one in right if not self._is_faithful(test.conditions[one.number], one)
            ]
            if not wrong:
                return right, program
            larger = [test.take_larger(one.number, [*_staying(one.values)]) for one in wrong]
            if not any(larger):
                text = test.conditions[wrong[0].number].text
                raise GraderFault(f"the solution does not pass its test: {text}")

    def _is_faithful(self, condition: Condition, reported: Observed) -> bool:
        """Whether the solution passes by what has travelled of its values."""
        if any(True for _ in _staying(reported.values)):
            return False
        try:
            return condition.holds(reported.values)
        except Exception:
            return False

    def _judge(
        self,
        student: StudentHandle,
        condition: Condition,
        right: Sequence[Any],
        values: Sequence[Any],
    ) -> None:
        count = len(condition.asked) if condition.judged is not None else 1
        self.judge.judged.append(tuple(values[:count]))
        pairs = zip(values[:count], right, strict=False)
        if any(isinstance(value, Unsupported) or _is_larger(value, one) for value, one in pairs):
            self._fail(student, condition, values)
        try:
            holds = condition.holds(values)
        except Exception:  # the values are of other kinds than the test is about
            holds = False
        if not holds:
            self._fail(student, condition, values)

    def _fail(
        self, student: StudentHandle, condition: Condition, values: Sequence[Any]
    ) -> NoReturn:
        raise Mismatch(_difference(condition, values), tuple(student.calls))


def _staying(values: Sequence[Any]) -> Iterator[int]:
    """The positions of values that did not travel."""
    for position, value in enumerate(values):
        is_huge = isinstance(value, range) and len(value) > MOST_ITEMS
        if is_huge or _holds(value, Unsupported | RemoteObject):
            yield position


def _holds(value: Any, kind: Any) -> bool:
    """Whether a value is of a kind, or has a part that is."""
    if isinstance(value, dict):
        return any(_holds(part, kind) for part in value.values())
    if isinstance(value, list | tuple):
        return any(_holds(part, kind) for part in value)
    return isinstance(value, kind)


def _size(value: Any) -> tuple[int, ...]:
    shape = getattr(value, "shape", None)
    if shape is not None:
        return tuple(shape)
    return (len(value),) if hasattr(value, "__len__") else ()


def _is_larger(value: Any, right: Any) -> bool:
    """Whether a value has so many items more than the solution's that nothing is computed with it."""
    size = _size(value)
    is_huge = int(np.prod(size, dtype=object)) > MOST_ITEMS
    return is_huge and (size != _size(right) or type(value) is not type(right))


def _difference(condition: Condition, values: Sequence[Any]) -> Difference:
    """What a student reads of a condition that does not hold."""
    says = (clean(condition.says),) if condition.says else ()
    test = clean(condition.text, MOST_SHOWN)
    if condition.judged is None:
        raised = next(iter(values[0]), "") if values and values[0] else ""
        names = " / ".join(condition.exceptions)
        words = _("It should raise {name}, and raised nothing.")
        if raised:
            words = _("It should raise {name}, and raised {found}.")
        summary = words.format(name=names, found=clean(str(raised), MOST_SHOWN))
        return Difference(f"`{test}`", None, raised, summary, says)
    asked = [clean(ast.unparse(node), MOST_SHOWN) for node in condition.asked]
    if pair := _pair(condition, values):
        what, actual, expected = pair
        if found := compare(actual, expected):
            return Difference(
                f"`{clean(what, MOST_SHOWN)}`", expected, actual, found[0], (*found[1], *says)
            )
    summary = _("This does not hold: `{test}`.").format(test=test)
    template = _("`{expression}` is {value}.")
    shown = [
        template.format(expression=text, value=clean(repr(value), MOST_SHOWN))
        for text, value in zip(asked, values, strict=False)
        if text != test
    ]
    about = tuple(values[: len(asked)])
    return Difference("", None, about, summary, (*says, *shown))


def _pair(condition: Condition, values: Sequence[Any]) -> tuple[str, Any, Any] | None:
    """Of a condition that two values are equal: the student's as the test has it, both values."""
    judged, written = condition.judged, ast.parse(condition.text, mode="eval").body
    match judged, written:
        case ast.Compare(ops=[ast.Eq() | ast.Is()]), ast.Compare():
            sides = [judged.left, *judged.comparators]
            texts = [written.left, *written.comparators]
        case ast.Call(args=[_, _, *_]), ast.Call():
            sides, texts = judged.args[:2], written.args[:2]
        case _:
            return None
    slots = {f"_v{number}" for number in range(len(condition.asked))}
    parts = [{n.id for n in ast.walk(side) if isinstance(n, ast.Name)} & slots for side in sides]
    if all(parts) or not any(parts):
        return None
    own = 0 if parts[0] else 1
    try:
        actual, expected = (condition.value_of(sides[at], values) for at in (own, 1 - own))
    except Exception:  # the value is of another kind than the test is about
        return None
    return ast.unparse(texts[own]), actual, expected
