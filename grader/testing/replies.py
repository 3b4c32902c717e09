"""What the student's process replies, as records. Nothing in a reply is trusted before it is read.

A reply that cannot be read raises `WireFault`; parts that do not matter are dropped.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, cast

from grader.core.language import _
from grader.core.records import Outcome
from grader.sandbox.failures import IMPORTS, CodeLine
from grader.sandbox.torch_later import is_tensor, torch
from grader.sandbox.wire import Frame, Unpacker, WireFault
from grader.sessions.base import death
from grader.testing.costs import Cost, read_cost

OUTCOMES = {
    "missing": Outcome.MISSING,
    "not_attempted": Outcome.NOT_ATTEMPTED,
    "exception": Outcome.FAILED,
    "timeout": Outcome.TIMEOUT,
    "out_of_memory": Outcome.OUT_OF_MEMORY,
    "crashed": Outcome.CRASHED,
    "busy": Outcome.NO_TURN,
    "blocked": Outcome.BLOCKED,
    "no_instance": Outcome.FAILED,
    "wrong_shape": Outcome.FAILED,
}
"""The kinds of failure, and the outcome of a check that ends in one."""

REPORTED_BY_SERVANTS = ("missing", "not_attempted", "exception", "timeout", "out_of_memory")
"""The kinds of failure that the student's own process can report; the others only the trusted side knows.

A process also reports how an earlier one died while it loaded a file: the trusted side told it so.
"""

EXIT_STATUS = re.compile(r"-?[0-9]{1,3}|None")
EXERCISE_ID = re.compile(r"[0-9]{2}_[a-z0-9_]{1,60}/\w{1,80}")
FULL_NAME = re.compile(r"\w{1,100}(\.\w{1,100}){0,9}")
PROPOSED = re.compile(r"(self\.)?\w{1,100}")
ASKED_BYTES = re.compile(r"tried to allocate (\d{1,18}) bytes")
"""In torch's words, how much memory it did not get."""
MAX_NAMES = 5_000
MAX_NAME = 100
MAX_TEXT = 2_000

Write = tuple[str, CodeLine | None]
"""A parameter that was changed in place, and the line that did it."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a request failed. Its texts may be the student's and are never trusted.

    Args:
        kind: what went wrong: "missing", "not_attempted", "exception", "timeout", … (`OUTCOMES`).
        type: the name of the exception's class, "" when there was none.
        bases: the names of its built-in base classes, nearest first.
        message: the exception's text, or ours; for a missing name the name.
        location: the student's own line, where there is one.
        own: whether that line raised the exception itself.
        loading: the first failure when the file was loaded, for a missing name.
        similar: names the student defined that look like the missing one.
        stopped: the file that stops before it defines the missing name.
        wrote: an unknown name or attribute, where something is proposed instead.
        meant: that: another name, `self.name`, or an import.
        set_at: where that is set, if it is known.
        in_text: which of the two the exercise's text names, if one alone.
        called: the student's own line that led there, where that is another one.
        is_sentence: whether the message is a whole sentence of ours, shown as it is.
        asked_bytes: what it lacked memory for, as its process says; 0 where that is not known.
    """

    kind: str
    type: str = ""
    bases: tuple[str, ...] = ()
    message: str = ""
    location: CodeLine | None = None
    own: bool = False
    loading: Failure | None = None
    similar: tuple[str, ...] = ()
    is_sentence: bool = False
    stopped: str = ""
    wrote: str = ""
    meant: str = ""
    set_at: CodeLine | None = None
    in_text: str = ""
    called: CodeLine | None = None
    asked_bytes: int = 0

    @property
    def text(self) -> str:
        """The student's own line, as it is written; "" where there is none."""
        return self.location.text if self.location else ""

    @property
    def outcome(self) -> Outcome:
        """The outcome of a check that this failure ends."""
        return OUTCOMES[self.kind]


@dataclass(frozen=True, slots=True)
class Gradients:
    """Gradients through a cotangent, of parameters by name and of floating-point arguments.

    Arguments are named by position ("0") or keyword. A gradient has the shape of what it is for;
    None where none arrives.
    """

    parameters: dict[str, torch.Tensor | None]
    arguments: dict[str, torch.Tensor | None]


@dataclass(frozen=True, slots=True)
class Answer:
    """What a call returned.

    Args:
        value: plain data, a tensor, or a `RemoteObject` that stands for an instance.
        changed: the arguments (by position or keyword) that were changed in place.
        gradients: where a cotangent was given.
        printed: by the student's code, during the call.
        operations: how often each function of torch was called, where that was asked for.
        cost: what the call cost, where that was asked for.
        body: where nothing came back, "empty" or "unindented" for a function that does nothing.
        writes: the parameters that were changed in place, with the line that did it, if known.
        has_drawn: whether random numbers were drawn, where that was asked for.
        files: what was in the working folder afterwards, where it had one of its own.
    """

    value: Any
    changed: tuple[str, ...] = ()
    gradients: Gradients | None = None
    printed: str = ""
    operations: dict[str, int] = field(default_factory=dict)
    body: str = ""
    writes: tuple[Write, ...] = ()
    cost: Cost | None = None
    has_drawn: bool = False
    files: dict[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class State:
    """What an instance holds.

    Args:
        parameters: by every name they have.
        buffers: the same.
        loose: tensors and modules kept in plain attributes or lists: by name, what they are.
        aliases: groups of names of one and the same parameter or buffer.
        training: whether it is in training mode.
        modules: its submodules, by every name they have: the names of their classes.
        classes: of these, and of loose modules, the name that the class has in the file.
        shared: parameters whose numbers another instance has as well.
        anew: of what is loose, what the last call set anew.
    """

    parameters: dict[str, torch.Tensor]
    buffers: dict[str, torch.Tensor]
    loose: dict[str, str]
    aliases: tuple[tuple[str, ...], ...]
    training: bool
    modules: dict[str, str] = field(default_factory=dict)
    classes: dict[str, str] = field(default_factory=dict)
    shared: tuple[str, ...] = ()
    anew: tuple[str, ...] = ()

    @property
    def kept(self) -> dict[str, str]:
        """What is loose and stays from one call to the next, where the last two were alike."""
        return {name: what for name, what in self.loose.items() if name not in self.anew}


@dataclass(frozen=True, slots=True)
class Loaded:
    """Which values an instance took.

    Args:
        report: per given name "loaded", "missing", "ambiguous" or "wrong shape (…)".
        not_given: names of parameters that got nothing.
        names: per given name that a parameter of the instance took, that one's full name.
        renamed: of these, those whose parameter has another name than the solution's.
    """

    report: dict[str, str]
    not_given: tuple[str, ...]
    names: dict[str, str] = field(default_factory=dict)
    renamed: tuple[str, ...] = ()

    @property
    def by_name(self) -> dict[str, str]:
        """The report, with those missing whose parameter has another name."""
        return self.report | dict.fromkeys(self.renamed, "missing")

    @property
    def problems(self) -> dict[str, str]:
        """The names that were not loaded, and why."""
        return {name: what for name, what in self.report.items() if what != "loaded"}


def read_values(frame: Frame, *keys: str, takes_shapes: bool = False) -> list[Any]:
    """The values of a reply.

    Args:
        frame: the reply.
        *keys: where they stand in its header.
        takes_shapes: whether tensors may come as shape and dtype only.

    Raises:
        WireFault: when they are malformed.
    """
    unpacker = Unpacker(frame.payload, takes_shapes=takes_shapes)
    values = [unpacker.unpack(frame.header.get(key)) for key in keys]
    unpacker.finish()
    return values


def read_answer(frame: Frame) -> Answer:
    """What a call returned."""
    value, content, files = read_values(frame, "value", "gradients", "files")
    gradients = None
    if isinstance(content, dict):
        gradients = Gradients(*(_tensors(content.get(key)) for key in ("parameters", "arguments")))
    said = frame.header.get
    counted = _dict(said("operations")).items()
    return Answer(
        value,
        tuple(map(str, _list(said("changed")))),
        gradients,
        read_printed(frame),
        {_text(name): count for name, count in counted if type(count) is int},
        _text(said("body")),
        _writes(said("writes")),
        read_cost(said("cost")),
        said("drew") is True,
        {_text(name): text for name, text in _dict(files).items() if isinstance(text, bytes)},
    )


def _list(value: object) -> list[Any]:
    """A list; an empty one for anything else."""
    return value if isinstance(value, list) else []


def _dict(value: object) -> dict[Any, Any]:
    """The same of a dict."""
    return value if isinstance(value, dict) else {}


def _writes(content: object) -> tuple[Write, ...]:
    listed = [pair for pair in _list(content) if isinstance(pair, list) and len(pair) == 2]
    named = [(_text(name), _code_line(line)) for name, line in listed]
    return tuple((name, line) for name, line in named if name.isidentifier())


def read_parameters(frame: Frame) -> list[str]:
    """The names of the parameters of what was asked for; none where it has none."""
    return [_text(name) for name in _list(frame.header.get("parameters"))[:MAX_NAMES]]


def read_state(frame: Frame, *, values: bool) -> State:
    """What an instance holds, with or without the tensors' values."""
    parameters, buffers = (
        {name: tensor for name, tensor in _tensors(value).items() if tensor is not None}
        for value in read_values(frame, "parameters", "buffers", takes_shapes=not values)
    )
    loose, aliases = frame.header.get("loose"), frame.header.get("aliases")
    is_listed = isinstance(aliases, list) and all(isinstance(names, list) for names in aliases)
    if not _is_texts(loose) or not is_listed:
        raise WireFault("the state has the wrong form")
    groups = tuple(tuple(map(str, names)) for names in cast(list[list[Any]], aliases))
    training = frame.header.get("training") is True
    modules, classes = (_texts_of(frame.header.get(key)) for key in ("modules", "classes"))
    marked = (tuple(map(_text, _list(frame.header.get(key)))) for key in ("shared", "anew"))
    kept = cast(dict[str, str], loose)
    return State(parameters, buffers, kept, groups, training, modules, classes, *marked)


def _texts_of(value: object) -> dict[str, str]:
    return cast(dict[str, str], value) if _is_texts(value) else {}


def _tensors(value: object) -> dict[str, torch.Tensor | None]:
    """By name, and None for what is no tensor."""
    items = _dict(value).items()
    return {str(name): item if is_tensor(item) else None for name, item in items}


def _is_texts(value: object) -> bool:
    return isinstance(value, dict) and all(isinstance(item, str) for item in value.values())


def read_loaded(frame: Frame) -> Loaded:
    """Which values an instance took."""
    report, not_given = frame.header.get("report"), frame.header.get("not_given")
    if not _is_texts(report) or not isinstance(not_given, list):
        raise WireFault("the report on loading has the wrong form")
    full = _texts_of(frame.header.get("names")).items()
    known = {name: text for name, text in full if FULL_NAME.fullmatch(text)}
    return Loaded(cast(dict[str, str], report), tuple(str(name) for name in not_given), known)


@dataclass(frozen=True, slots=True)
class Observed:
    """What a given test has reported: the number of a condition, and the values that it asks for."""

    number: int
    values: tuple[Any, ...]


def read_observed(frame: Frame) -> list[Observed]:
    """What the program of a given test has reported, in order.

    Raises:
        WireFault: when the reply is malformed.
    """
    unpacker, found = Unpacker(frame.payload), []
    for entry in _list(frame.header.get("observed")):
        match entry:
            case [int(number), list(nodes)]:
                found.append(Observed(number, tuple(unpacker.unpack(node) for node in nodes)))
            case _:
                raise WireFault("what a test reports is not a number and values")
    unpacker.finish()
    return found


def read_printed(frame: Frame) -> str:
    """What the student's code printed during a request."""
    printed = frame.header.get("output")
    return printed if isinstance(printed, str) else ""


def read_names(frame: Frame) -> tuple[str, ...]:
    """The names that a loaded file defines: no more than `MAX_NAMES`, none too long."""
    listed = _list(frame.header.get("names"))[:MAX_NAMES]
    return tuple(name for name in listed if isinstance(name, str) and len(name) <= MAX_NAME)


def read_failures(frame: Frame, what: str = "failures") -> list[Failure]:
    """What failed while a file was loaded, or what was not imported, as its process reports it."""
    return [read_failure(entry) for entry in _list(frame.header.get(what))[:20]]


def read_failure(content: Any, *, is_ours: bool = False) -> Failure:
    """A failure as it is reported; what the student's process may not say is dropped.

    Of its messages only an exception's is kept, and shown as such, unless the reply is ours.
    """
    kinds = OUTCOMES if is_ours else REPORTED_BY_SERVANTS
    if not is_ours and (ended := _read_end(content)) is not None:
        return ended
    if not isinstance(content, dict) or _text(content.get("kind")) not in kinds:
        return Failure("crashed", message=_("its process reported a failure in an unknown form"))
    kind, message = content["kind"], _text(content.get("message"))
    wrote, meant = _text(content.get("wrote")), _text(content.get("meant"))
    is_proposal = wrote.isidentifier() and (PROPOSED.fullmatch(meant) or meant in IMPORTS.values())
    in_text = _text(content.get("in_text"))
    asked = ASKED_BYTES.search(message) if kind == "out_of_memory" else None
    is_sentinel = kind == "not_attempted" and EXERCISE_ID.fullmatch(message) is not None
    return Failure(
        kind=kind,
        type=_text(content.get("type")),
        bases=tuple(map(_text, _list(content.get("bases")))),
        message=message if is_ours or kind == "exception" or is_sentinel else "",
        location=_code_line(content.get("where")),
        own=content.get("own") is True,
        called=_code_line(content.get("called")),
        wrote=wrote if is_proposal else "",
        meant=meant if is_proposal else "",
        set_at=_code_line(content.get("set_at")) if is_proposal else None,
        in_text=in_text if is_proposal and in_text in (wrote, meant) else "",
        asked_bytes=int(asked[1]) if asked is not None else 0,
    )


def _read_end(content: Any) -> Failure | None:
    """How a statement ended an earlier process, in our words; None for any other failure."""
    if not isinstance(content, dict) or content.get("kind") != "crashed":
        return None
    status, where = _text(content.get("message")), _code_line(content.get("where"))
    if not EXIT_STATUS.fullmatch(status) or where is None:
        return None
    words = death(None if status == "None" else int(status))
    return Failure("crashed", message=words, location=where, own=True)


def _code_line(content: Any) -> CodeLine | None:
    if not isinstance(content, dict) or type(content.get("line")) is not int:
        return None
    cell = content.get("cell")
    number = cell if type(cell) is int else None
    file, text = _text(content.get("file")), _text(content.get("text"))
    column = content.get("column")
    return CodeLine(file, number, content["line"], text, column if type(column) is int else None)


def _text(value: object) -> str:
    return value[:MAX_TEXT] if isinstance(value, str) else ""
