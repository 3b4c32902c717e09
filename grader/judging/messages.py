"""The sentences a student reads when a check does not pass. Pure: records in, text out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from grader.core.language import FULL_WIDTH_STOPS, _
from grader.core.records import CodeLocation
from grader.core.text import clean, display_width, with_capital
from grader.judging.exception_hints import (
    IMPORT_ERRORS,
    exception_hints,
    place_words,
    proposal,
    syntax_hints,
)
from grader.judging.inputs import FEW, Inputs, tensors_in
from grader.sandbox.failures import CodeLine
from grader.sandbox.limits import MIB
from grader.sandbox.tables import is_table
from grader.sandbox.torch_later import is_tensor, torch
from grader.sandbox.wire import NamedFunction, RemoteObject
from grader.testing.compare import Difference
from grader.testing.costs import few_digits
from grader.testing.judge import THE_RESULT
from grader.testing.lookup import ENDED
from grader.testing.replies import Failure, Write
from grader.testing.student import Call

SMALL = 49
"""A tensor of at most this many values is shown in full."""

TINY = 9
"""The same where it is not compared with one of its shape: there the shapes say what is wrong."""

MAX_LINE = 200
"""Characters that are shown of a line of the student's."""

MOST_EARLIER = 2
"""The earlier calls of an instance that are shown."""
MOST_METHODS = 8
"""The same where methods are called, each of which may do something else."""
MOST_CELLS = 12
"""The cells of a table that is shown as code."""

NO_INPUTS = Inputs()

ENDS = (".", "?", "!", *FULL_WIDTH_STOPS)


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a value is not what was expected, in lines for a student.

    Args:
        tensors: the lines that show tensors: the first, and the one after the last.
        reason: the first line after the request, which says what is wrong.
    """

    text: str
    tensors: tuple[int, int] = (0, 0)
    reason: int = 0


def explain_difference(
    difference: Difference,
    calls: tuple[Call, ...],
    where: CodeLocation | None = None,
    inputs: Inputs = NO_INPUTS,
) -> Explanation:
    """What was called, what was expected, what it returned, where they first differ.

    Args:
        difference: what is wrong.
        calls: the requests so far.
        where: the line that it is about as it was handed in, where it is known to be there.
        inputs: what tensors are called.
    """
    request = call_lines(calls, inputs)
    before = [*request, _about(difference.what, difference.summary)]
    tensors = _side_by_side(difference)
    writes = calls[-1].writes if calls and difference.expected is None else ()
    after = [*(clean(hint) for hint in difference.hints), *_written_lines(writes, where)]
    shown = len(before), len(before) + len(tensors)
    return Explanation("\n".join([*before, *tensors, *after]), shown, len(request))


def _about(what: str, difference: str) -> str:
    """A difference as a sentence that says what it is about; names stay as they are written."""
    sentence = difference
    if what:
        sentence = _("{what}: {difference}").format(what=what, difference=difference)
    first = sentence.partition(" ")[0]
    if not what.isidentifier() and "_" not in first:
        sentence = with_capital(sentence)
    return sentence if sentence.endswith(ENDS) else sentence + _(".")


def _written_lines(writes: tuple[Write, ...], where: CodeLocation | None) -> list[str]:
    """Which arguments were changed in place, and where, as far as that is known."""
    lines = []
    for name, at in writes:
        template = _("What changed is `{name}`.") if at is None else _("What changed is `{name}`:")
        lines += [template.format(name=clean(name, 80)), *_location_lines(at, where)]
    return lines


def _side_by_side(difference: Difference) -> list[str]:
    expected, actual = difference.expected, difference.actual
    most = SMALL if is_tensor(actual) and actual.shape == getattr(expected, "shape", ()) else TINY
    if not difference.what or not is_tensor(expected) or not 1 < expected.numel() <= most:
        return []
    head = _("expected ({source})") if difference.source else _("expected")
    lines = [head.format(source=difference.source), *_indented(expected)]
    if is_tensor(actual) and actual.numel() <= most:
        lines += [_("received"), *_indented(actual)]
    return lines


def show(tensor: torch.Tensor) -> str:
    """A tensor as torch prints it, without `requires_grad` and `grad_fn`."""
    return str(tensor.detach().as_subclass(torch.Tensor))


def _indented(tensor: torch.Tensor) -> list[str]:
    return [f"    {line}" for line in show(tensor).splitlines()]


def call_lines(calls: tuple[Call, ...], inputs: Inputs = NO_INPUTS) -> list[str]:
    """The last request, after those that made and ran its instance; empty where nothing was called.

    Args:
        calls: the requests so far.
        inputs: what their tensors are called.
    """
    if not calls:
        return []
    *before, last = calls
    makers = [call for call in before if _makes(call, last)] if last.is_forward else []
    earlier = [call for call in before if _runs_the_same(call, last)]
    has_methods = any(call.method for call in (*earlier, last))
    ran = earlier[: MOST_METHODS if has_methods else MOST_EARLIER]
    given = {name: v for call in makers[-1:] for name, v in call.given.items()}
    shown = [v for call in (*makers[-1:], *ran, last) for v in (*call.args, *call.kwargs.values())]
    drawing = inputs.drawing(tensors_in([*shown, *given.values()]))
    writing, inputs = inputs.written_out(tensors_in(shown))
    made = [line for call in makers[-1:] for line in _request(call, inputs, "model = ")]
    again = [line for call in ran for line in _request(call, inputs)]
    more = _("# and more calls: {count}") if has_methods else _("# and again, {count} ×")
    again += [more.format(count=n)] if (n := len(earlier) - len(ran)) else []
    return [*drawing, *writing, *made, *inputs.giving(given), *again, *_request(last, inputs)]


def _makes(call: Call, forward: Call) -> bool:
    """Whether a request made the instance that another one ran."""
    is_same = (call.target, call.instance) == (forward.target, forward.instance)
    return (is_same or 0 < call.instance == forward.instance) and not call.is_forward


def _runs_the_same(call: Call, last: Call) -> bool:
    """Whether a request ran the instance that the last one runs."""
    is_forward = call.is_forward and last.is_forward
    return is_forward and 0 < call.instance == last.instance


def _request(call: Call, inputs: Inputs, start: str = "") -> list[str]:
    """A request as code, after its seed where it has one."""
    seed = [] if call.seed is None else [f"torch.manual_seed({call.seed})"]
    shown = [_argument(value, inputs) for value in call.args]
    shown += [f"{name}={_argument(value, inputs)}" for name, value in call.kwargs.items()]
    if not shown and not call.is_forward and not call.instance:
        return [*seed, f"{start}{call.target}"]
    target = "model" if call.is_forward else call.target
    target += f".{call.method}" if call.method else ""
    if call.reads:
        return [*seed, f"{start}{target}"]
    if call.takes:
        return [*seed, f"{start}list(islice({target}, {call.takes}))"]
    return [*seed, f"{start}{target}({', '.join(shown)})"]


def _argument(value: Any, inputs: Inputs) -> str:
    if is_tensor(value):
        if name := inputs.name(value):
            return name
        short = " ".join(show(value).split()) if value.numel() <= FEW else ""
        return short or f"<tensor {tuple(value.shape)}>"
    if isinstance(value, list | tuple) and any(is_tensor(v) for v in value):
        items = ", ".join(_argument(item, inputs) for item in value[:6])
        return f"({items}{',' * (len(value) == 1)})" if isinstance(value, tuple) else f"[{items}]"
    if isinstance(value, RemoteObject):
        return f"<{clean(value.type_name, 80)}>"
    if isinstance(value, NamedFunction):
        return value.name
    if isinstance(value, np.ndarray):
        short = " ".join(repr(value).split()) if value.size <= FEW else ""
        return short or f"<array {value.shape}>"
    if is_table(value):
        return _table(value)
    return clean(repr(value), 60)


def _table(table: Any) -> str:
    """A small table as the code that makes it."""
    kind = type(table).__name__
    if not hasattr(table, "index") or table.size > MOST_CELLS:
        return f"<{kind} {table.shape}>"
    rows = "" if type(table.index).__name__ == "RangeIndex" else f", index={table.index.tolist()!r}"
    values = table.to_dict("list") if kind == "DataFrame" else table.tolist()
    return clean(f"pd.{kind}({values!r}{rows})", 200)


def explain_failure(
    failure: Failure,
    calls: tuple[Call, ...],
    name: str,
    where: CodeLocation | None = None,
    inputs: Inputs = NO_INPUTS,
) -> str:
    """Why a request failed, in words and with the student's own line.

    Args:
        failure: what went wrong.
        calls: the requests so far, the last one failed; none while a file is loaded.
        name: the exercise's short name.
        where: the failing line as it was handed in, where it is known to be there.
        inputs: what tensors are called.
    """
    hints: list[str] = []
    match failure.kind:
        case "not_attempted":
            words = _("{name} is not attempted yet: the stub's NotImplementedError is still there.")
            return words.format(name=name)
        case "missing":
            return _missing(failure, name, where)
        case "blocked":
            return _blocked(failure, where)
        case "exception":
            sentence, hints = _raised(failure), exception_hints(failure, name)
            if "NoneType" in failure.message and _gives_none(calls):
                hints = [_("None is among the arguments of this call: what should happen then?")]
        case "timeout":
            sentence = _took_too_long(failure, is_loading=not calls)
            hints = [_("Is there a loop that never ends?")]
        case "no_instance":
            sentence = _("{name} does not make an instance of a class.").format(name=name)
        case "wrong_shape":
            sentence = _about(_(THE_RESULT), clean(failure.message, 200))
        case "out_of_memory":
            sentence = _("It asked for more memory than a submission may use.")
            sentence = failure.message if failure.is_sentence else sentence
        case _:
            sentence = _("The check could not finish.")
            if reason := _reason(failure):
                sentence = _("The check could not finish: {reason}.").format(reason=reason)
    place = failure.location and _in_folder(failure.location, where)
    places = _location_lines(place, where)
    if failure.called is not None and failure.kind == "exception":
        places += [
            _("It was called from here:"),
            *_location_lines(_in_folder(failure.called, where)),
        ]
    return "\n".join([*call_lines(calls, inputs), sentence, *places, *hints])


def _gives_none(calls: tuple[Call, ...]) -> bool:
    """Whether the call that a check made last has None among its arguments."""
    given = [value for call in calls[-1:] for value in (*call.args, *call.kwargs.values())]
    return any(value is None for value in given)


def _in_folder(line: CodeLine, where: CodeLocation | None) -> CodeLine:
    """A line with its file's path, where that file is the one that a check is about."""
    is_there = where is not None and where.file.rpartition("/")[2] == line.file
    return replace(line, file=where.file) if where is not None and is_there else line


def _blocked(failure: Failure, where: CodeLocation | None) -> str:
    if failure.loading is None:
        words = _("It needs {name}, which is not written yet.")
        return words.format(name=clean(failure.message, 100))
    cause = failure.loading
    raised = [_raised(cause)] if cause.type else []
    hints = exception_hints(cause, "") if cause.type in IMPORT_ERRORS else []
    places = _location_lines(failure.location, where)
    return "\n".join([_ended(failure.message), *raised, *places, *hints])


def _ended(sentence: str) -> str:
    return _("{sentence}.").format(sentence=clean(sentence))


def _raised(failure: Failure) -> str:
    return _("It raised {exception}").format(exception=exception_words(failure))


def _took_too_long(failure: Failure, *, is_loading: bool) -> str:
    reason = _reason(failure)
    template = _("It took too long: {reason}.") if reason else _("It took too long.")
    if is_loading:
        template = _("Loading your file took too long.")
        if reason:
            template = _("Loading your file took too long: {reason}.")
    return template.format(reason=reason)


def _ended_loading(failure: Failure) -> str:
    """How the loading of a file ended its process."""
    if failure.kind == "timeout":
        return _took_too_long(failure, is_loading=True)
    if failure.kind == "out_of_memory":
        return _("Loading your file asked for more memory than a submission may use.")
    return _("Loading your file ended its process: {reason}.").format(reason=_reason(failure))


def too_large(failure: Failure, memory_mib: int) -> str:
    """Why a check that limits memory has failed: what was asked for, where that is known.

    Args:
        failure: that of a request which lacked memory.
        memory_mib: the check's limit.
    """
    if failure.asked_bytes:
        words = _("It asked for {asked} MiB more; this check allows {limit} MiB in all.")
        return words.format(asked=few_digits(failure.asked_bytes / MIB), limit=memory_mib)
    words = _("It asked for more memory than the {limit} MiB that this check allows.")
    return words.format(limit=memory_mib)


def _reason(failure: Failure) -> str:
    return "" if failure.message == "out of time" else clean(failure.message, 200)


def ended_loading(file: str, failure: Failure, seconds: float) -> str:
    """A note on a file that took too long to load, or ended its process, whatever was scored.

    Args:
        file: its name, as it was handed in.
        failure: why, and at which line, where it is known.
        seconds: how long loading may take in this course.
    """
    template = _(
        "{place}: loading took longer than {seconds} seconds and was stopped there. What stands "
        "before it counts. Is there a loop that never ends?"
    )
    if failure.kind == "crashed":
        template = _("{place}: {reason}. What stands before it counts.")
    place = place_words(failure.location, file)
    return template.format(place=place, seconds=f"{seconds:g}", reason=_reason(failure))


def stops_there(file: str, failure: Failure) -> str:
    """A note on a file, or a cell of a notebook, that ends in an exception.

    Args:
        file: its path, as it was handed in.
        failure: the exception.
    """
    at = failure.location
    template = _("{place}: {exception}. The file stops there: nothing below is run.")
    if at is not None and at.cell is not None:
        template = _("{place}: {exception}. The cell stops there: nothing below in it is run.")
    exception = exception_words(failure).rstrip(".")
    return template.format(place=place_words(at, file), exception=exception)


def does_not_run(file: str, failure: Failure) -> str:
    """Why a file, or a cell of a notebook, does not run: the line as it is, a caret below it.

    Args:
        file: its path, as it was handed in.
        failure: what stopped it.
    """
    at, name = failure.location, _file_name(file)
    template = _("{file} does not run: {exception}")
    if at is not None and at.cell is None:
        template = _("{file} does not run: line {line}: {exception}")
    elif at is not None:
        template = _("{file} does not run: cell {cell}, line {line}: {exception}")
    line, cell = (at.line, at.cell) if at else (0, None)
    lines = [template.format(file=name, cell=cell, line=line, exception=exception_words(failure))]
    if at is not None and at.text:
        text = clean(at.text, MAX_LINE)
        lines.append(f"    {text}")
        if at.column is not None and 1 <= at.column <= len(text) + 1:
            before = text[: at.column - 1]
            gap = "".join(c if c == "\t" else " " * display_width(c) for c in before)
            lines.append(f"    {gap}^")
    if failure.meant:
        lines.append(proposal(failure))
    return "\n".join([*lines, *syntax_hints(failure)])


def _file_name(path: str) -> str:
    return clean(path.rpartition("/")[2], 120)


def exception_words(failure: Failure) -> str:
    """The type of an exception, and its message where it has one."""
    name, message = clean(failure.type, 80), clean(failure.message)
    return f"{name}: {message}" if message else name


def _location_lines(location: CodeLine | None, where: CodeLocation | None = None) -> list[str]:
    """The student's line below its place, which editors open where it is a script's."""
    if location is None:
        return []
    file = location.file
    if where is not None and (where.line, where.cell) == (location.line, location.cell):
        file = where.file
    template = _("at {file}:{line}") if file.endswith(".py") else _("at {file}, line {line}:")
    if location.cell is not None:
        template = _("at {file}, cell {cell}, line {line}:")
    place = template.format(file=clean(file, 120), cell=location.cell, line=location.line)
    return [f"  {place}", f"    {clean(location.text.strip(), MAX_LINE)}"]


def _missing(failure: Failure, name: str, where: CodeLocation | None) -> str:
    if not failure.message:
        return _("Nothing was handed in for {name}.").format(name=name)
    if failure.is_sentence:  # the file itself could not be read
        return _ended(failure.message)
    name = clean(failure.message, 80)
    if failure.stopped:
        cell = failure.loading and failure.loading.location and failure.loading.location.cell
        template = _("{file} stops before {name} is defined: see above.")
        if cell is not None:
            template = _("Cell {cell} of {file} stops before {name} is defined: see above.")
        return template.format(file=_file_name(failure.stopped), cell=cell, name=name)
    lines = [_("{name} is not defined.").format(name=name)]
    if failure.similar:
        question = _("Did you mean {name} when you wrote {similar}?")
        lines.append(question.format(name=name, similar=clean(failure.similar[0], 80)))
    location = failure.loading.location if failure.loading else None
    if failure.loading and failure.loading.kind in ENDED:
        lines += [_ended_loading(failure.loading), *_location_lines(location, where)]
    elif failure.loading and location and location.cell is not None:  # a script says it once, above
        template = _("A cell failed: {exception}")
        lines.append(template.format(exception=exception_words(failure.loading)))
        lines += _location_lines(location, where)
    return "\n".join(lines)
