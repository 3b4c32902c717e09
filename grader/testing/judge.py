"""What checks call: it compares what student code returned with what is expected."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from grader.core.language import N_, _, listed, paragraph
from grader.core.text import clean
from grader.course.printed_tensors import Printed
from grader.sandbox.failures import renamed, shortened
from grader.sandbox.torch_later import has_torch, is_tensor, torch
from grader.testing.compare import Difference, Say, compare, describe, letter_case, tolerances
from grader.testing.costs import GROWN, grown, grown_too_much, uncounted
from grader.testing.replies import Answer
from grader.testing.roles import Roles
from grader.testing.student import Call

THE_RESULT = N_("the result")
FLOAT32: Any = "torch.float32"
"""The usual dtype, by a name for which nobody has to import torch."""
NO_RETURN = N_("Does your function end in a `return`?")

NO_GRADIENT = N_(
    "None comes where the result does not depend on it, where it is a plain tensor or has "
    "`requires_grad=False`, and where its module does not know it, as in a plain list. Gradients also stop at `.detach()`, `.item()`, "
    "`torch.no_grad()`, NumPy, and where numbers are copied into a new tensor or `nn.Parameter`."
)

WRONG_SHAPE = "wrong shape "
NOT_TAKEN = {
    "missing": N_("There is no parameter {name}."),
    "ambiguous": N_("There is more than one parameter {name}."),
    "cannot be set": N_("The parameter {name} does not take a value."),
}
"""What students read of a parameter that was to get a value, by what `Loaded` says of it."""

ABOUT_A_TENSOR = re.compile(r"(?:dtype|device|grad_fn|size)=[^,)]*")
NUMBER = re.compile(r"-?\d+\.?\d*(?:e[+-]?\d+)?|nan|-?inf")


class Mismatch(AssertionError):
    """A judged value is not what was expected."""

    def __init__(self, difference: Difference, calls: tuple[Call, ...]) -> None:
        self.difference = difference
        self.calls = calls
        super().__init__(difference.summary)


@dataclass(slots=True)
class Judge:
    """What checks hand their values to: `judge(…)`, `judge.shape(…)` and `judge.that(…)`.

    Args:
        calls: the handle's list of requests, for messages.
        judged: every value so far: a misconception is recognised by the values it leads to.
        covered: the ids of the printed tensors that were judged against.
        misnamed: names of axes that were more than the expected tensor has, or fewer, and its shape.
        held: the handle's list of an instance's names, as it was last asked for.
        roles: what parameters stand for, by words in their names.
        renamed: the handle's, by instance: the parameters that took values under other names.
        axes: what the axes of a call's result are called, where its class of checks says so.
        say: puts the course's own words into the language of the run. What is judged is never
            translated: mistakes are recognised by it.
        settle: is called before anything is judged.
        forgeable: the conditions of given tests that were decided beside the student's code.
    """

    calls: list[Call] = field(default_factory=list)
    judged: list[Any] = field(default_factory=list)
    covered: list[str] = field(default_factory=list)
    misnamed: list[tuple[tuple[str, ...], tuple[int, ...]]] = field(default_factory=list)
    say: Say = str
    held: list[str] = field(default_factory=list)
    roles: Roles = field(default_factory=Roles)
    renamed: Mapping[int, Mapping[str, str]] = field(default_factory=dict)
    axes: Sequence[str] = ()
    settle: Callable[[], None] = lambda: None
    forgeable: list[str] = field(default_factory=list)

    def words(self, template: str, **names: Any) -> str:
        """A check's own sentence in the language of the run, with a `{placeholder}` for each name.

        What stands there is translated, too, when it is a word of the course ("query"); several
        words, in a list, stand side by side.
        """
        said = {name: self._said(value) for name, value in names.items()}
        return self.say(template).format(**said)

    def _said(self, value: Any) -> Any:
        if isinstance(value, list):
            return listed(map(self.say, value))
        return self.say(value) if isinstance(value, str) else value

    def __call__(
        self,
        actual: Any,
        expected: Any,
        *,
        what: str = THE_RESULT,
        atol: float | None = None,
        rtol: float | None = None,
        axes: Sequence[str] = (),
        any_dtype: bool = False,
        any_type: bool = False,
        equal_nan: bool = False,
    ) -> None:
        """Compare a value with the expected one: kind, shape, dtype and values.

        Args:
            actual: what came from the student.
            expected: plain data, a tensor, or a printed tensor (which brings its tolerance).
            what: what is compared, in plain words or in `words(…)`.
            atol: the absolute tolerance, in the values' own unit; its origin stands beside the
                call. Without one it is the printed tensor's.
            rtol: the relative tolerance, as a share of the expected value; the larger of the two
                counts. Where only `atol` is given, there is none. Without both a value may be off by
                1e-5 of its own size (`grader.testing.compare.tolerances`).
            axes: names of the tensor's axes, for the position of the first difference.
            any_dtype: whether only values count, not the dtype.
            any_type: whether 1 may stand for 1.0, `[1, 2]` for `(1, 2)` or the other way round, and a
                tensor of one number for that number. A float never stands for a whole number.
            equal_nan: whether NaN is equal to NaN.

        Raises:
            Mismatch: when they differ.
        """
        self.settle()
        self.judged.append(actual)
        source = ""
        if isinstance(expected, Printed):
            self.covered.append(expected.id)
            source = self.say(expected.source) or _("the printed ones")
            atol = expected.atol if atol is None and rtol is None else atol
            expected = expected.tensor
        if axes and is_tensor(expected) and len(axes) != expected.dim():
            # It may be the student's own value: what is wrong is told where the solution is judged.
            self.misnamed.append((tuple(axes), tuple(expected.shape)))
        named = tuple(self.say(axis) for axis in axes)
        if found := compare(
            actual,
            expected,
            atol,
            named,
            any_dtype,
            rtol=rtol,
            any_type=any_type,
            equal_nan=equal_nan,
        ):
            summary, hints = found
            is_number = is_tensor(expected) or isinstance(expected, float)
            atol, rtol = tolerances(expected if is_number else 1.0, atol, rtol)
            if renamed := self._renamed(actual, expected) or not_taken(actual):
                what, summary, hints = "", renamed, ()
            if actual is None and what == THE_RESULT:
                hints += self._nothing_returned(expected, atol)
            elif actual is None and self.calls and self.calls[-1].differentiates:
                hints = (*hints, _(NO_GRADIENT))
            words = _(THE_RESULT) if what == THE_RESULT else what and self.say(what)
            difference = Difference(
                words,
                expected,
                actual,
                summary,
                hints,
                source,
                named,
                atol,
                tuple(axes),
                rtol,
                equal_nan,
            )
            raise Mismatch(difference, tuple(self.calls))

    def shape(
        self,
        actual: Any,
        shape: Sequence[int],
        *,
        dtype: Any = FLOAT32,
        what: str = "",
    ) -> None:
        """Judge what kind of thing a value is; its numbers do not count.

        Args:
            actual: what came from the student.
            shape: of the expected tensor.
            dtype: the expected one; None for any. One of numpy's asks for an array, and may be a kind:
                `np.float64`, `np.integer`, `np.generic` for any.
            what: what has it, in plain words or in `words(…)`, where that is not the result.

        Raises:
            Mismatch: when it is something else.
        """
        expected: Any
        dtype = torch.float32 if dtype is FLOAT32 else dtype
        if dtype is None or (has_torch() and isinstance(dtype, torch.dtype)):
            expected = torch.zeros(tuple(shape), dtype=dtype or torch.float32)
        else:
            is_kind = isinstance(actual, np.ndarray) and np.issubdtype(actual.dtype, dtype)
            is_concrete = isinstance(dtype, np.dtype | str) or not dtype.__subclasses__()
            kind = actual.dtype if is_kind else dtype if is_concrete else np.float64
            expected = np.zeros(tuple(shape), kind)
        self.settle()
        self.judged.append(describe(actual, say=str))
        if found := compare(actual, expected, math.inf, any_dtype=dtype is None):
            summary, hints = found
            if actual is None and not what:
                hints += self._nothing_returned(expected, math.inf)
            words = what and self.say(what)
            difference = Difference(words, None, actual, summary, hints, asked=tuple(shape))
            raise Mismatch(difference, tuple(self.calls))

    def that(self, holds: bool, sentence: str, *, about: Any = None) -> None:
        """Judge a property.

        Args:
            holds: whether it holds.
            sentence: what is wrong when it does not.
            about: the value that has it or lacks it, by which mistakes are recognised.

        Raises:
            Mismatch: when it does not hold.
        """
        self.settle()
        self.judged.append((bool(holds), about))
        if not holds:
            sentence = self._renamed(about) or self.say(sentence)
            raise Mismatch(Difference("", None, about, sentence), tuple(self.calls))

    def grows(
        self,
        answers: Mapping[int, Answer],
        *,
        at_most: float,
        step: str,
        of: str = "multiplications",
    ) -> None:
        """Judge that no call cost much more than the first that cost something.

        Args:
            answers: by number, in order, what the calls returned, asked with `meter=True`.
            at_most: how many times as much the dearest may cost.
            step: what a call is called, with its `{number}`: "the step for row {number}".
            of: what counts: "multiplications", "largest", "saved" or "operations".

        Raises:
            Mismatch: when one cost more, or what it cost is not known.
        """
        if of not in GROWN:
            raise ValueError(f"`of` is one of {', '.join(GROWN)}, not {of!r}")
        costs = {number: answer.cost for number, answer in answers.items() if answer.cost}
        if len(costs) < len(answers):
            raise ValueError("a call whose cost is judged is asked with `meter=True`")
        if of == "multiplications" and (sentence := uncounted(costs)):
            self.that(False, sentence, about="unknown")
        first, _last, times = grown(costs, of)
        base = max(getattr(costs[first], of), 1)
        growth = [round(getattr(cost, of) / base) for cost in costs.values()]
        names = {number: self.words(step, number=number) for number in costs}
        sentence = "" if times <= at_most else grown_too_much(costs, of, at_most, names)
        self.that(not sentence, sentence, about=growth)

    def _nothing_returned(self, expected: Any, atol: float) -> tuple[str, ...]:
        """Why a function returned nothing; nothing of a class that made an instance.

        Args:
            expected: what it should have returned.
            atol: how far off its numbers may be; infinite where only their count is known.
        """
        call = self.calls[-1] if self.calls else Call("", (), {})
        if call.instance and not call.is_forward:
            return ()
        if call.body == "unindented":
            return (_("Is your code indented below `def`?"),)
        if call.body == "empty":
            return (_("Nothing is written in {name} yet.").format(name=clean(call.target, 80)),)
        values = expected.flatten().tolist() if is_tensor(expected) else [expected]
        numbers = NUMBER.findall(ABOUT_A_TENSOR.sub("", call.printed))
        printed = [float(number) for number in numbers]
        if len(printed) != len(values) or not all(isinstance(v, int | float) for v in values):
            return (_(NO_RETURN),)
        if math.isinf(atol):
            return (_("It printed a value: return it instead."),)
        # torch prints 4 decimals.
        if all(abs(a - b) <= max(atol, 1e-4) for a, b in zip(printed, values, strict=True)):
            return (_("It printed the right value: return it."),)
        return (_(NO_RETURN),)

    def _renamed(self, found: Any, expected: Any = None) -> str:
        """A sentence on the first parameter that an instance has by another name or of another kind.

        Args:
            found: by name, what was found: None or "missing" where there is nothing.
            expected: the same as it should be, where that is known.
        """
        if not isinstance(found, Mapping) or not isinstance(expected, Mapping | None):
            return ""
        names = [str(name) for name in {**(expected or {}), **found}]
        missing = [name for name in names if found.get(name) in (None, "missing")]
        roles = self.roles.stand_ins(missing, [name for name in self.held if name not in names])
        roles |= {name: own for found in self.renamed.values() for name, own in found.items()}
        own = {name.removesuffix(".weight").removesuffix(".bias") for name in self.held}
        own -= {name.removesuffix(".weight").removesuffix(".bias") for name in names}
        for name in names:
            wanted = name.removesuffix(".weight").removesuffix(".bias")
            if found.get(name) not in (None, "missing"):
                continue
            if sentence := self._of_another_kind(name, found):
                return sentence
            stand_in = roles.get(name, "")
            role = stand_in.removesuffix(".weight").removesuffix(".bias")
            if role and role == stand_in:  # a number of its own, not that of a layer
                wanted = name
            if similar := role or renamed(wanted, own, shortened):
                words = _("You have {similar}; the exercise calls it {name}.")
                sentence = words.format(similar=clean(similar, 80), name=wanted)
                return paragraph((sentence, *letter_case(wanted, similar)))
        return ""

    def _of_another_kind(self, name: str, found: Mapping[Any, Any]) -> str:
        """A sentence where a layer has the name of a parameter, or the other way round, or is in a list."""
        layer = name.removesuffix(".weight")
        words = ""
        lists = (one for one in self.held if one.rpartition(".")[2].isdigit())
        if holder := next((one for one in lists if name.startswith(f"{one}.")), ""):
            words = _(
                "What {name} holds is in a plain Python list, where a module does not find it; in an "
                "`nn.ModuleList` it does."
            )
            layer = holder.rpartition(".")[0]
        elif name in self.held and name not in found:
            layer = name
            words = _(
                "`{name}` is a tensor and no parameter; the exercise asks for an nn.Parameter, which a "
                "module finds."
            )
        elif f"{name}.weight" in self.held:
            words = _("{name} is a layer; the exercise asks for a parameter, an nn.Parameter.")
        elif layer != name and layer in self.held:
            words = _("{name} is a tensor; the exercise asks for a layer, such as nn.Linear.")
        return words.format(name=clean(layer, 80))


def not_taken(report: Any) -> str:
    """A sentence on the first parameter that took no value; "" where nothing is such a report.

    Args:
        report: by name, "loaded" or what `Loaded` has instead.
    """
    if not isinstance(report, Mapping):
        return ""
    for name, what in report.items():
        if not isinstance(what, str):
            return ""
        shape = what.removeprefix(WRONG_SHAPE)
        if shape != what:
            words = _("The parameter {name} has another shape: {shape}.")
            return words.format(name=clean(str(name), 80), shape=clean(shape, 80))
        if what in NOT_TAKEN:
            return _(NOT_TAKEN[what]).format(name=clean(str(name), 80))
    return ""
