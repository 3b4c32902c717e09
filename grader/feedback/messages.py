"""The sentences a student reads when a check does not pass. Pure: records in, text out."""

from dataclasses import dataclass
from typing import Any

import torch

from grader.core.language import FULL_WIDTH_STOPS, _
from grader.core.text import clean, location_words
from grader.sandbox.failures import CodeLine
from grader.sandbox.wire import RemoteObject
from grader.testing.compare import Difference
from grader.testing.replies import Failure
from grader.testing.student import Call

SMALL = 49
"""A tensor of at most this many values is shown in full."""

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
    """What was called, what was expected, what it returned, where they first differ."""
    before = [*call_lines(calls), _sentence(difference)]
    tensors = _side_by_side(difference)
    lines = [*before, *tensors, *(clean(hint) for hint in difference.hints)]
    return Explanation("\n".join(lines), (len(before), len(before) + len(tensors)))


def _sentence(difference: Difference) -> str:
    what, sentence = difference.what, difference.summary
    if what:
        sentence = _("{what}: {difference}").format(what=what, difference=sentence)
    end = "" if sentence.endswith(ENDS) else _(".")
    return f"{sentence[:1].upper()}{sentence[1:]}{end}"


def _side_by_side(difference: Difference) -> list[str]:
    expected, actual = difference.expected, difference.actual
    if not isinstance(expected, torch.Tensor) or not 1 < expected.numel() <= SMALL:
        return []
    head = _("expected")
    if difference.source:
        head = _("expected ({source})").format(source=difference.source)
    lines = [head, *_indented(expected)]
    if isinstance(actual, torch.Tensor) and actual.numel() <= SMALL:
        lines += [_("received"), *_indented(actual)]
    return lines


def show(tensor: torch.Tensor) -> str:
    """A tensor as torch prints it, without `requires_grad` and `grad_fn`."""
    return str(tensor.detach().as_subclass(torch.Tensor))


def _indented(tensor: torch.Tensor) -> list[str]:
    return [f"    {line}" for line in show(tensor).splitlines()]


def call_lines(calls: tuple[Call, ...]) -> list[str]:
    """The last request, after the one that made its instance; empty where nothing was called."""
    if not calls:
        return []
    last = calls[-1]
    lines = []
    if last.is_forward:
        makers = [call for call in calls[:-1] if call.target == last.target and not call.is_forward]
        lines += _request(makers[-1], "model = ") if makers else []
    return [*lines, *_request(last)]


def _request(call: Call, start: str = "") -> list[str]:
    """A request as code, after its seed where it has one."""
    seed = [] if call.seed is None else [f"torch.manual_seed({call.seed})"]
    shown = [_argument(value) for value in call.args]
    shown += [f"{name}={_argument(value)}" for name, value in call.kwargs.items()]
    if not shown and not call.is_forward:
        return [*seed, f"{start}{call.target}"]
    target = "model" if call.is_forward else call.target
    return [*seed, f"{start}{target}({', '.join(shown)})"]


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
    """Why a request failed, in words and with the student's own line.

    Args:
        failure: what went wrong.
        calls: the requests so far, the last one failed; none while a file is loaded.
        name: the exercise's short name.
    """
    hints: list[str] = []
    match failure.kind:
        case "not_attempted":
            template = _(
                "{name} is not attempted yet: the stub's NotImplementedError is still there."
            )
            return template.format(name=name)
        case "missing":
            return _missing(failure, name)
        case "blocked":
            return _blocked(failure)
        case "exception":
            sentence, hints = _raised(failure), _exception_hints(failure, name)
        case "timeout":
            sentence = _took_too_long(failure, is_loading=not calls)
            hints = [_("Is there a loop that never ends?")]
        case "no_instance":
            sentence = _("{name} does not make an instance of a class.").format(name=name)
        case "out_of_memory":
            sentence = _("It asked for more memory than a submission may use.")
        case _:
            sentence = _unfinished(failure)
    return "\n".join([*call_lines(calls), sentence, *_location_lines(failure.location), *hints])


def _blocked(failure: Failure) -> str:
    if failure.loading is None:
        sentence = _("It needs {name}, which is not written yet.")
        return sentence.format(name=clean(failure.message, 100))
    lines = [_ended(failure.message)]
    if failure.loading.type:
        lines.append(_raised(failure.loading))
    return "\n".join([*lines, *_location_lines(failure.location)])


def _ended(sentence: str) -> str:
    return _("{sentence}.").format(sentence=clean(sentence))


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


def slow_loading(file: str, line: CodeLine | None, seconds: float) -> str:
    """A note on a file that took too long to load, for a student who may have scored all the same.

    Args:
        file: its name, as it was handed in.
        line: the one that was running, where it is known.
        seconds: how long loading may take in this course.
    """
    template = _(
        "{place}: loading took longer than {seconds} seconds and was stopped there. What stands "
        "before it counts. Is there a loop that never ends?"
    )
    where = clean(file, 120)
    if line is not None:
        where = location_words(where, line.cell, line.line)
    return template.format(place=where, seconds=f"{seconds:g}")


def _unfinished(failure: Failure) -> str:
    if failure.message in ("", "out of time"):
        return _("The check could not finish.")
    reason = clean(failure.message, 200)
    return _("The check could not finish: {reason}.").format(reason=reason)


def _exception(failure: Failure) -> str:
    message = clean(failure.message)
    return f"{clean(failure.type, 80)}: {message}" if message else clean(failure.type, 80)


def _location_lines(location: CodeLine | None) -> list[str]:
    if location is None:
        return []
    template = _("at {file}, line {line}:")
    if location.cell is not None:
        template = _("at {file}, cell {cell}, line {line}:")
    file = clean(location.file, 120)
    where = template.format(file=file, cell=location.cell, line=location.line)
    return [f"  {where}", f"    {clean(location.text, 200)}"]


def _missing(failure: Failure, name: str) -> str:
    if not failure.message:
        return _("Nothing was handed in for {name}.").format(name=name)
    if failure.is_sentence:  # the file itself could not be read
        return _ended(failure.message)
    name = clean(failure.message, 80)
    lines = [_("{name} is not defined.").format(name=name)]
    if failure.similar:
        question = _("Did you mean {name} when you wrote {similar}?")
        lines.append(question.format(name=name, similar=clean(failure.similar[0], 80)))
    if failure.loading is not None:
        location = failure.loading.location
        template = _("Loading the file stopped early: {exception}")
        if location is not None and location.cell is not None:
            template = _("A cell failed: {exception}")
        lines.append(template.format(exception=_exception(failure.loading)))
        lines += _location_lines(location)
    return "\n".join(lines)


def _exception_hints(failure: Failure, name: str) -> list[str]:
    """Questions for exceptions that a misspelt special method or a wrong signature leads to."""
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
