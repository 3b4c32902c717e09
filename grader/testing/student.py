"""The student handle: what a check holds instead of a student's function, class or tensor.

Four verbs, and what comes back is plain data, rebuilt on this side. A request that fails raises
a `StudentOutcome`, which is no `Exception`, so that no check swallows it by accident.
"""

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, cast

import pytest
import torch

from grader.core.errors import GraderFault
from grader.core.language import _
from grader.core.records import Outcome
from grader.course.course import Assignment, Exercise, Limits
from grader.sandbox.wire import Frame, Packer, RemoteObject, Unpacker, WireFault
from grader.sessions.base import OwnFrame, Session
from grader.submissions.submission import Submission

OUTCOMES = {
    "missing": Outcome.MISSING,
    "not_attempted": Outcome.NOT_ATTEMPTED,
    "exception": Outcome.FAILED,
    "timeout": Outcome.TIMEOUT,
    "out_of_memory": Outcome.OUT_OF_MEMORY,
    "crashed": Outcome.CRASHED,
    "blocked": Outcome.BLOCKED,
    "no_instance": Outcome.FAILED,
}


REPORTED_BY_SERVANTS = ("missing", "not_attempted", "exception", "timeout", "out_of_memory")
"""What the student's own process can say of itself; of the others only the trusted side knows."""

EXERCISE_ID = re.compile(r"[0-9]{2}_[a-z0-9_]{1,60}/\w{1,80}")
MAX_NAMES = 5_000
MAX_NAME = 100


@dataclass(frozen=True, slots=True)
class CodeLine:
    """A line of the student's own."""

    file: str
    cell: int | None
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a request did not end well. Its texts may be the student's and are never trusted.

    Args:
        kind: a key of `OUTCOMES`.
        type: the name of the exception's class, "" when there was none.
        bases: the names of its built-in base classes, nearest first.
        message: the exception's text, or ours.
        place: the student's own line, where there is one.
        own: whether that line raised the exception itself.
        loading: the first thing that went wrong when the file was loaded, for a missing name.
        similar: names the student defined that look like the missing one.
        is_told: whether the message is a sentence of ours that tells everything.
    """

    kind: str
    type: str = ""
    bases: tuple[str, ...] = ()
    message: str = ""
    place: CodeLine | None = None
    own: bool = False
    loading: "Failure | None" = None
    similar: tuple[str, ...] = ()
    is_told: bool = False

    @property
    def outcome(self) -> Outcome:
        """The outcome of a check that this failure ends."""
        return OUTCOMES[self.kind]


@dataclass(frozen=True, slots=True)
class Gradients:
    """Gradients through a cotangent; None where none arrives.

    Args:
        parameters: by name, each of its parameter's shape.
        arguments: by position ("0") or keyword, floating-point tensors only.
    """

    parameters: dict[str, torch.Tensor | None]
    arguments: dict[str, torch.Tensor | None]


@dataclass(frozen=True, slots=True)
class Answer:
    """What a call came to.

    Args:
        value: plain data, a tensor, or a `RemoteObject` to an instance.
        changed: the arguments (by position or keyword) that were changed in place.
        gradients: where a cotangent was given.
        printed: what the student's code printed meanwhile.
    """

    value: Any
    changed: tuple[str, ...] = ()
    gradients: Gradients | None = None
    printed: str = ""


@dataclass(frozen=True, slots=True)
class State:
    """What an instance holds.

    Args:
        parameters: by every name they have.
        buffers: by every name they have.
        loose: tensors and modules kept in plain attributes or lists, by name: what they are.
        aliases: groups of names of one and the same parameter or buffer.
        training: whether it is in training mode.
    """

    parameters: dict[str, torch.Tensor]
    buffers: dict[str, torch.Tensor]
    loose: dict[str, str]
    aliases: tuple[tuple[str, ...], ...]
    training: bool


@dataclass(frozen=True, slots=True)
class Loaded:
    """What came of giving an instance values.

    Args:
        report: per given name "loaded", "missing", "ambiguous" or "wrong shape (…)".
        not_given: names of parameters that got nothing.
    """

    report: dict[str, str]
    not_given: tuple[str, ...]

    @property
    def problems(self) -> dict[str, str]:
        """The names that were not loaded, and why."""
        return {name: what for name, what in self.report.items() if what != "loaded"}


@dataclass(frozen=True, slots=True)
class Call:
    """One request a check made, for the message it may end in."""

    target: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    is_forward: bool = False
    seed: int | None = None


class StudentOutcome(pytest.fail.Exception):  # type: ignore[name-defined, misc]
    """Ends a check because of what student code did. pytest reports it as a failure."""

    def __init__(self, failure: Failure, calls: tuple[Call, ...]) -> None:
        self.failure = failure
        self.calls = calls
        super().__init__(failure.message or failure.kind, pytrace=False)


@dataclass(frozen=True, slots=True)
class Located:
    """Where an exercise's name is looked up.

    Args:
        key: the file.
        loading: the first thing that went wrong when it was loaded, if anything did.
        names: what the file defines.
        readable: whether the file could be read at all.
        printed: what it printed while it was loaded.
    """

    key: str
    loading: Failure | None
    names: tuple[str, ...] = ()
    readable: bool = True
    printed: str = ""


@dataclass(slots=True)
class SubmissionHandle:
    """A submission in a session: which of its files are loaded, and what came of it."""

    submission: Submission
    session: Session
    limits: Limits
    assignments: tuple[Assignment, ...] = ()
    opened: dict[str, tuple[int, Frame]] = field(default_factory=dict)
    located: dict[str, tuple[int, Located]] = field(default_factory=dict)

    def siblings(self, exercise: Exercise) -> tuple[Exercise, ...]:
        """All exercises of an exercise's assignment."""
        own = (a.exercises for a in self.assignments if a.id == exercise.assignment)
        return next(own, (exercise,))

    def ask(self, header: dict[str, Any], payload: bytes = b"") -> Frame:
        """Send one request within the time for one."""
        return self.session.ask(Frame(header, payload), self.limits.request_seconds)

    def forget(self) -> None:
        """Let go of all instances made so far."""
        if self.opened:
            self.ask({"verb": "forget"})

    def locate(self, exercise: Exercise) -> "Located":
        """The file in which an exercise is looked up: the first that defines its name."""
        generation, located = self.located.get(exercise.id, (0, None))
        if located is None or generation != self._generation():
            located = self._locate(exercise)
            self.located[exercise.id] = (self._generation(), located)
        return located

    def _locate(self, exercise: Exercise) -> "Located":
        reading = self.submission.readings[exercise.assignment]
        first: Located | None = None
        for key in reading.sources:
            problem = self.submission.sources[key].problem
            if problem:
                sentence = _("{file} cannot be read: {problem}").format(file=key, problem=problem)
                failure = Failure("missing", message=sentence, is_told=True)
                first = first or Located(key, failure, readable=False)
                continue
            opened = self._open(key)
            header = opened.header
            failure_ = self._loading_failure(key, exercise.name, opened)
            named = header.get("names")
            names = _names(named)
            output = header.get("output")
            printed = output if isinstance(output, str) else ""
            located = Located(key, failure_, names=names, printed=printed)
            if exercise.name in names:
                return located
            first = first or located
        return first or Located("", Failure("missing"), readable=False)

    def _loading_failure(self, key: str, name: str, frame: Frame) -> Failure | None:
        """What went wrong in the cell that was to define a name; else the first that went wrong."""
        failures = _failures(frame)
        if not failures:
            ours = isinstance(frame, OwnFrame)
            told_of = frame.header.get("failure")
            return None if told_of is None else _failure(told_of, is_ours=ours)
        defines = re.compile(
            rf"^\s*(def|class)\s+{re.escape(name)}\b|^{re.escape(name)}\s*[:=]", re.M
        )
        cells = {c.number for c in self.submission.sources[key].cells if defines.search(c.text)}
        in_cell = [f for f in failures if f.place is not None and f.place.cell in cells]
        # What lacks another assignment's file fails further down for lack of what came with it.
        lacking = {f"No module named '{a.module}'" for a in self.assignments}
        lacks = [failure for failure in failures if failure.message in lacking]
        return (lacks or in_cell or failures)[0]

    def _open(self, key: str) -> Frame:
        """Load a file, once per process; one that killed its process is not run again."""
        generation, frame = self.opened.get(key, (0, None))
        if frame is not None and ("failure" in frame.header or generation == self._generation()):
            return frame
        request = Frame({"verb": "open", "source": key})
        frame = self.session.ask(request, self.limits.load_seconds)
        self.opened[key] = (self._generation(), frame)
        return frame

    def _generation(self) -> int:
        return self.session.generation

    def slow_files(self) -> dict[str, CodeLine | None]:
        """The files whose loading was stopped for taking too long, and the line that was running."""
        slow = {
            key: [failure for failure in _failures(frame) if failure.kind == "timeout"]
            for key, (_generation, frame) in self.opened.items()
        }
        return {key: failures[0].place for key, failures in slow.items() if failures}


@dataclass(slots=True)
class StudentHandle:
    """What a check holds: four verbs on one exercise's names.

    A name is looked up in the file that counts for the exercise's assignment.
    """

    submission: SubmissionHandle
    exercise: Exercise
    calls: list[Call] = field(default_factory=list)
    printed: list[str] = field(default_factory=list)
    located: Located | None = None
    just_printed: str = ""

    def get(self, name: str) -> Any:
        """A constant's value, or a `RemoteObject` that tells what kind of thing a name is.

        Raises:
            StudentOutcome: when the name is missing.
        """
        source = self._source()
        self.calls.append(Call(name, (), {}))
        frame = self._ask({"verb": "get", "source": source, "name": name}, b"")
        return self._unpack(frame, "value")

    def call(
        self,
        target: "str | RemoteObject",
        *args: Any,
        seed: int | None = None,
        training: bool | None = None,
        cotangent: torch.Tensor | None = None,
        **kwargs: Any,
    ) -> Answer:
        """Call a function, make an instance of a class, or run an instance's `forward`.

        Args:
            target: a name the student defined, or an instance made before.
            *args: plain data, tensors and instances.
            seed: seeds torch's generator right before the call.
            training: puts an instance into training or eval mode before.
            cotangent: of the result's shape; asks for gradients through it.
            **kwargs: as `args`.

        Raises:
            StudentOutcome: when it does not end well.
        """
        if not isinstance(target, str):
            self._require_instance(target)
        source = self._source()
        name = target if isinstance(target, str) else target.type_name
        is_forward = not isinstance(target, str)
        self.calls.append(Call(name, args, kwargs, is_forward=is_forward, seed=seed))
        packer = Packer()
        header = {
            "verb": "call",
            "source": source,
            **({"name": target} if isinstance(target, str) else {"instance": target.number}),
            "args": [packer.pack(value) for value in args],
            "kwargs": {key: packer.pack(value) for key, value in kwargs.items()},
            "cotangent": None if cotangent is None else packer.pack(cotangent),
            "seed": seed,
            "training": training,
        }
        frame = self._ask(header, packer.payload())
        answer = self._answer(frame)
        if cotangent is None:
            return answer
        if answer.gradients is None:
            raise self._outcome(Failure("crashed", message=_("its process left out the gradients")))
        names = [*map(str, range(len(args))), *kwargs]
        complete = {name: answer.gradients.arguments.get(name) for name in names}
        gradients = Gradients(answer.gradients.parameters, complete)
        return replace(answer, gradients=gradients)

    def refusal(self, target: "str | RemoteObject", *args: Any, **kwargs: Any) -> Failure | None:
        """The exception a call ends in, or None when it returns; everything else raises.

        Raises:
            StudentOutcome: when the call ends in something that is not an exception.
        """
        try:
            self.call(target, *args, **kwargs)
        except StudentOutcome as outcome:
            if outcome.failure.kind == "exception":
                return outcome.failure
            raise
        return None

    def state(self, instance: RemoteObject, *, values: bool = True) -> State:
        """Parameters and buffers by every name, and what is kept where it should not be.

        Args:
            instance: the instance to ask.
            values: without values, tensors have shape and dtype only (on the device "meta"):
                enough to count a large layer, and nothing has to travel.

        Raises:
            StudentOutcome: when it does not end well.
        """
        self._require_instance(instance)
        frame = self._ask({"verb": "state", "instance": instance.number, "values": values}, b"")
        try:
            unpacker = Unpacker(frame.payload, takes_shapes=not values)
            parameters = unpacker.unpack(frame.header.get("parameters"))
            buffers = unpacker.unpack(frame.header.get("buffers"))
            unpacker.finish()
        except WireFault as error:
            raise self._outcome(Failure("crashed", message=_no_answer(error))) from None
        loose, aliases = frame.header.get("loose"), frame.header.get("aliases")
        if not _is_texts(loose) or not _is_lists(aliases):
            raise self._outcome(Failure("crashed", message=_("its state is no state")))
        return State(
            parameters=_tensors(parameters),
            buffers=_tensors(buffers),
            loose=cast(dict[str, str], loose),
            aliases=tuple(tuple(str(name) for name in group) for group in cast(Any, aliases)),
            training=frame.header.get("training") is True,
        )

    def load(self, instance: RemoteObject, values: Mapping[str, torch.Tensor]) -> Loaded:
        """Give parameters values and dtype; a unique suffix of a name is enough."""
        self._require_instance(instance)
        packer = Packer()
        header = {
            "verb": "load",
            "instance": instance.number,
            "values": packer.pack(dict(values)),
        }
        frame = self._ask(header, packer.payload())
        report, not_given = frame.header.get("report"), frame.header.get("not_given")
        if not _is_texts(report) or not isinstance(not_given, list):
            sentence = _("its report on loading is no report")
            raise self._outcome(Failure("crashed", message=sentence))
        return Loaded(cast(dict[str, str], report), tuple(str(name) for name in not_given))

    # How requests are made and answers read.

    def blocked(self, sentence: str, because: Failure) -> StudentOutcome:
        """The outcome of a check that cannot be run for want of something else, to be raised.

        Args:
            sentence: what is needed and why it is not to be had.
            because: what went wrong there.
        """
        failure = Failure("blocked", message=sentence, place=because.place, loading=because)
        return self._outcome(failure)

    def _require_instance(self, value: object) -> None:
        """End the check when what should be an instance of the student's class is none."""
        if not isinstance(value, RemoteObject) or not value.number:
            raise self._outcome(Failure("no_instance", message=type(value).__name__))

    def _source(self) -> str:
        if self.located is None:
            self.located = self.submission.locate(self.exercise)
        loading = self.located.loading
        if not self.located.readable:
            raise self._outcome(loading or Failure("missing"))
        if self.exercise.name not in self.located.names:
            self.printed.append(self.located.printed)
        ended = loading is not None and loading.kind in ("timeout", "crashed", "out_of_memory")
        if ended and loading and self.exercise.name not in self.located.names:
            raise self._outcome(loading)
        return self.located.key

    def _ask(self, header: dict[str, Any], payload: bytes) -> Frame:
        frame = self.submission.ask(header, payload)
        printed = frame.header.get("output")
        self.just_printed = printed if isinstance(printed, str) else ""
        if isinstance(printed, str) and printed:
            self.printed.append(printed)
        if "failure" in frame.header:
            failure = _failure(frame.header["failure"], is_ours=isinstance(frame, OwnFrame))
            if failure.kind == "missing":
                failure = replace(failure, message=str(header.get("name", "")))
            raise self._outcome(self._explained(failure))
        return frame

    def _explained(self, failure: Failure) -> Failure:
        """A missing name with the reason it may be missing; a foreign sentinel as a block."""
        if failure.kind == "not_attempted" and failure.message != self.exercise.id:
            return Failure("blocked", message=failure.message, place=failure.place)
        if failure.kind != "missing" or self.located is None:
            return failure
        own = self.exercise.name
        if failure.message != own and self._is_anothers(failure.message):
            if own in self.located.names:
                return Failure("blocked", message=failure.message)
            failure = Failure("missing", message=own)
        exercises = {one.name for one in self.submission.siblings(self.exercise)}
        lowered = {n.lower(): n for n in self.located.names if n not in exercises}
        close = difflib.get_close_matches(failure.message.lower(), lowered, n=2, cutoff=0.75)
        return Failure(
            "missing",
            message=failure.message,
            loading=self.located.loading,
            similar=tuple(lowered[name] for name in close),
        )

    def _is_anothers(self, name: str) -> bool:
        """Whether a name is another exercise of the same assignment."""
        return any(one.name == name for one in self.submission.siblings(self.exercise))

    def _outcome(self, failure: Failure) -> StudentOutcome:
        return StudentOutcome(failure, tuple(self.calls))

    def _unpack(self, frame: Frame, key: str) -> Any:
        try:
            unpacker = Unpacker(frame.payload)
            value = unpacker.unpack(frame.header.get(key))
            unpacker.finish()
        except WireFault as error:
            raise self._outcome(Failure("crashed", message=_no_answer(error))) from None
        return value

    def _answer(self, frame: Frame) -> Answer:
        try:
            unpacker = Unpacker(frame.payload)
            value = unpacker.unpack(frame.header.get("value"))
            gradients = unpacker.unpack(frame.header.get("gradients"))
            unpacker.finish()
        except WireFault as error:
            raise self._outcome(Failure("crashed", message=_no_answer(error))) from None
        changed = frame.header.get("changed")
        return Answer(
            value=value,
            changed=tuple(str(name) for name in changed) if isinstance(changed, list) else (),
            gradients=_gradients(gradients),
            printed=self.just_printed,
        )


def _names(value: object) -> tuple[str, ...]:
    """The names a file defines, as told by the student's process: few enough and short enough."""
    listed = value[:MAX_NAMES] if isinstance(value, list) else []
    return tuple(name for name in listed if isinstance(name, str) and len(name) <= MAX_NAME)


def _no_answer(error: WireFault) -> str:
    template = _("its process answered with something that is no answer: {error}")
    return template.format(error=error)


def _gradients(value: object) -> Gradients | None:
    if not isinstance(value, dict):
        return None
    parts = [value.get("parameters"), value.get("arguments")]
    parameters, arguments = (
        {
            str(name): tensor if isinstance(tensor, torch.Tensor) else None
            for name, tensor in (part.items() if isinstance(part, dict) else ())
        }
        for part in parts
    )
    return Gradients(parameters, arguments)


def _tensors(value: object) -> dict[str, torch.Tensor]:
    items = value.items() if isinstance(value, dict) else ()
    return {str(name): tensor for name, tensor in items if isinstance(tensor, torch.Tensor)}


def _is_texts(value: object) -> bool:
    return isinstance(value, dict) and all(isinstance(item, str) for item in value.values())


def _is_lists(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, list) for item in value)


def _failures(frame: Frame) -> list[Failure]:
    """What went wrong while a file was loaded, as its process tells it, in order."""
    told = frame.header.get("failures")
    return [_failure(entry) for entry in told] if isinstance(told, list) else []


def _failure(content: Any, *, is_ours: bool = False) -> Failure:
    """A failure as it is told; what the student's process may not say is dropped.

    Its words count for an exception, and are marked as such; every other reason is ours.
    """
    kinds = OUTCOMES if is_ours else REPORTED_BY_SERVANTS
    if not isinstance(content, dict) or _text(content.get("kind")) not in kinds:
        return Failure("crashed", message=_("its process told of a failure in no known way"))
    bases = content.get("bases")
    return Failure(
        kind=content["kind"],
        type=_text(content.get("type")),
        bases=tuple(_text(base) for base in bases) if isinstance(bases, list) else (),
        message=_text(content.get("message")) if is_ours or _may_say(content) else "",
        place=_place(content.get("where")),
        own=content.get("own") is True,
    )


def _may_say(content: dict[str, Any]) -> bool:
    if content["kind"] == "not_attempted":
        return EXERCISE_ID.fullmatch(_text(content.get("message"))) is not None
    return bool(content["kind"] == "exception")


def _place(content: Any) -> CodeLine | None:
    if not isinstance(content, dict) or type(content.get("line")) is not int:
        return None
    cell = content.get("cell")
    return CodeLine(
        file=_text(content.get("file")),
        cell=cell if type(cell) is int else None,
        line=content["line"],
        text=_text(content.get("text")),
    )


def _text(value: object) -> str:
    return value[:2_000] if isinstance(value, str) else ""


class ReferenceHandle(StudentHandle):
    """The same four verbs on the hidden solution. That it fails is the grader's own fault."""

    def _outcome(self, failure: Failure) -> StudentOutcome:
        reason = f"{failure.type or failure.kind}: {failure.message}".rstrip(": ")
        raise GraderFault(f"the reference solution of {self.exercise.id} failed: {reason}")
