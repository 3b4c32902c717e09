"""The sentences a student reads when a check does not pass. Pure: records in, text out."""

from dataclasses import dataclass
from typing import Any

import torch

from grader.core.language import FULL_WIDTH_STOPS, _
from grader.core.text import clean, location_words
from grader.sandbox.wire import RemoteObject
from grader.testing.judge import Difference
from grader.testing.student import Call, CodeLine, Failure

SMALL = 49
"""A tensor of up to so many values is shown in full."""

ENDS = (".", "?", "!", *FULL_WIDTH_STOPS)


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a value is not what was expected.

    Args:
        text: for a student, in lines.
        tensors: the lines that show tensors: the first, and the one after the last.
    """

    text: str
    tensors: tuple[int, int] = (0, 0)


def explain_difference(difference: Difference, calls: tuple[Call, ...]) -> Explanation:
    """What was called, what was expected, what came back, where they first differ."""
    before = [*call_lines(calls), _sentence(difference)]
    tensors = []
    if isinstance(difference.expected, torch.Tensor):
        tensors = "\n".join(_side_by_side(difference)).splitlines()
    lines = [*before, *tensors, *(clean(hint) for hint in difference.hints)]
    return Explanation("\n".join(lines), (len(before), len(before) + len(tensors)))


def _sentence(difference: Difference) -> str:
    sentence = difference.summary
    if difference.what:
        template = _("{what}: {difference}")
        sentence = template.format(what=difference.what, difference=difference.summary)
    end = "" if sentence.endswith(ENDS) else _(".")
    return f"{sentence[:1].upper()}{sentence[1:]}{end}"


def _side_by_side(difference: Difference) -> list[str]:
    expected, actual = difference.expected, difference.actual
    if not 1 < expected.numel() <= SMALL:
        return []
    head = _("expected")
    if difference.source:
        head = _("expected ({source})").format(source=difference.source)
    lines = [head, _indented(show(expected))]
    if isinstance(actual, torch.Tensor) and actual.numel() <= SMALL:
        lines += [_("received"), _indented(show(actual))]
    return lines


def show(tensor: torch.Tensor) -> str:
    """A tensor as torch prints it, without what belongs to gradients."""
    return str(tensor.detach().as_subclass(torch.Tensor))


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.splitlines())


def call_lines(calls: tuple[Call, ...]) -> list[str]:
    """The last request, after the ones that made what it needs; empty where nothing was called."""
    if not calls:
        return []
    last = calls[-1]
    lines = []
    if last.is_forward:
        makers = [call for call in calls[:-1] if call.target == last.target and not call.is_forward]
        lines += [*_seed(makers[-1]), f"model = {_call(makers[-1])}"] if makers else []
    return [*lines, *_seed(last), _call(last)]


def _seed(call: Call) -> list[str]:
    return [] if call.seed is None else [f"torch.manual_seed({call.seed})"]


def _call(call: Call) -> str:
    shown = [_argument(value) for value in call.args]
    shown += [f"{name}={_argument(value)}" for name, value in call.kwargs.items()]
    if not shown and not call.is_forward:
        return call.target
    return f"{'model' if call.is_forward else call.target}({', '.join(shown)})"


def _argument(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        if value.numel() <= 6:
            return " ".join(show(value).split())
        return f"<tensor {tuple(value.shape)}>"
    if isinstance(value, list | tuple) and any(isinstance(v, torch.Tensor) for v in value):
        return f"[{', '.join(_argument(item) for item in value[:6])}]"
    if isinstance(value, RemoteObject):
        return f"<{clean(value.type_name, 80)}>"
    return clean(repr(value), 60)


def explain_failure(failure: Failure, calls: tuple[Call, ...], name: str) -> str:
    """Why a request did not end well, in words and with the student's own line."""
    match failure.kind:
        case "not_attempted":
            sentence = _(
                "{name} is not attempted yet: the stub's NotImplementedError is still there."
            )
            return sentence.format(name=name)
        case "missing":
            return _missing(failure, name)
        case "blocked":
            return _blocked(failure)
        case "exception":
            lines = [*call_lines(calls), _raised(failure), *_place(failure.place)]
            return "\n".join([*lines, *_exception_hints(failure, name)])
        case "timeout":
            lines = [*call_lines(calls), _took_too_long(failure, is_loading=not calls)]
            question = _("Is there a loop that never ends?")
            return "\n".join([*lines, *_place(failure.place), question])
        case "no_instance":
            sentence = _("{name} does not make an instance of a class.").format(name=name)
            return "\n".join([*call_lines(calls), sentence])
        case "out_of_memory":
            sentence = _("It asked for more memory than a submission may use.")
            return "\n".join([*call_lines(calls), sentence, *_place(failure.place)])
        case _:
            return "\n".join([*call_lines(calls), _unfinished(failure), *_place(failure.place)])


def _blocked(failure: Failure) -> str:
    if failure.loading is None:
        sentence = _("It needs {name}, which is not written yet.")
        return sentence.format(name=clean(failure.message, 100))
    lines = [_ended(clean(failure.message))]
    if failure.loading.type:
        lines.append(_raised(failure.loading))
    return "\n".join([*lines, *_place(failure.place)])


def _ended(sentence: str) -> str:
    return _("{sentence}.").format(sentence=sentence)


def _raised(failure: Failure) -> str:
    return _("It raised {exception}").format(exception=_exception(failure))


def _took_too_long(failure: Failure, *, is_loading: bool) -> str:
    reason = "" if failure.message == "out of time" else clean(failure.message, 200)
    if not reason:
        return _("Loading your file took too long.") if is_loading else _("It took too long.")
    template = _("It took too long: {reason}.")
    if is_loading:
        template = _("Loading your file took too long: {reason}.")
    return template.format(reason=reason)


def slow_loading(file: str, place: CodeLine | None, seconds: float) -> str:
    """What a student should know of a file that took too long to load, for all that it scored.

    Args:
        file: its name, as it was handed in.
        place: the line that was running, where it is known.
        seconds: what the course grants.
    """
    template = _(
        "{place}: loading took longer than {seconds} seconds and was stopped there. What stands "
        "before it counts. Is there a loop that never ends?"
    )
    where = clean(file, 120)
    if place is not None:
        where = location_words(where, place.cell, place.line)
    return template.format(place=where, seconds=f"{seconds:g}")


def _unfinished(failure: Failure) -> str:
    if failure.message in ("", "out of time"):
        return _("The check could not finish.")
    reason = clean(failure.message, 200)
    return _("The check could not finish: {reason}.").format(reason=reason)


def _exception(failure: Failure) -> str:
    message = clean(failure.message)
    return f"{clean(failure.type, 80)}: {message}" if message else clean(failure.type, 80)


def _place(place: CodeLine | None) -> list[str]:
    if place is None:
        return []
    template = _("at {file}, line {line}:")
    if place.cell is not None:
        template = _("at {file}, cell {cell}, line {line}:")
    where = template.format(file=clean(place.file, 120), cell=place.cell, line=place.line)
    return [f"  {where}", f"    {clean(place.text, 200)}"]


def _missing(failure: Failure, name: str) -> str:
    if not failure.message:
        return _("Nothing was handed in for {name}.").format(name=name)
    if failure.is_told:  # the file itself could not be read
        return _ended(clean(failure.message))
    name = clean(failure.message, 80)
    lines = [_("{name} is not defined.").format(name=name)]
    if failure.similar:
        question = _("Did you mean {name} when you wrote {similar}?")
        lines.append(question.format(name=name, similar=clean(failure.similar[0], 80)))
    if failure.loading is not None:
        place = failure.loading.place
        template = _("Loading the file stopped early: {exception}")
        if place is not None and place.cell is not None:
            template = _("A cell failed: {exception}")
        lines += [template.format(exception=_exception(failure.loading)), *_place(place)]
    return "\n".join(lines)


def _exception_hints(failure: Failure, name: str) -> list[str]:
    """What a misspelt special method or a wrong signature looks like from outside."""
    message = failure.message
    if failure.type == "NotImplementedError" and "forward" in message:
        return [_("Its `forward` was not found. Is the method's name spelt exactly `forward`?")]
    if "cannot assign" in message and "before Module.__init__" in message:
        return [_("`super().__init__()` has to come first in `__init__`.")]
    if failure.type == "TypeError" and not failure.own and "argument" in message:
        hints = [_("Are the parameters of {name} the same as in the stub?").format(name=name)]
        if "takes no arguments" in message or "__init__() takes 1 positional" in message:
            hints.append(_("Is `__init__` spelt exactly so, with two underscores on each side?"))
        return hints
    if failure.type == "AttributeError" and "object has no attribute" in message:
        return [_("Is the attribute set in `__init__`, and `__init__` spelt exactly so?")]
    return []
