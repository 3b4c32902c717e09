"""The student handle: what a check holds instead of a student's function, class or tensor.

Its verbs send requests; what comes back is plain data, rebuilt on this side. A request that fails
raises a `StudentOutcome`, which is no `Exception`, so that no check swallows it by accident.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from inspect import getsource
from pathlib import PurePosixPath
from textwrap import dedent
from typing import Any, TypeVar

import pytest

from grader.core.errors import GraderFault
from grader.core.language import N_, _
from grader.course.course import Exercise
from grader.sandbox.torch_later import is_tensor, torch
from grader.sandbox.wire import Frame, NamedFunction, Packer, RemoteObject, WireFault
from grader.sessions.base import OwnFrame, is_busy
from grader.testing.lookup import Located, SubmissionHandle
from grader.testing.replies import (
    Answer,
    Failure,
    Gradients,
    Loaded,
    Observed,
    State,
    Write,
    read_answer,
    read_failure,
    read_loaded,
    read_observed,
    read_parameters,
    read_printed,
    read_state,
    read_values,
)
from grader.testing.roles import Roles, alike_in_place
from grader.testing.signatures import arranged, bound

T = TypeVar("T")

NO_ARGUMENT = (
    "a value of type {name} cannot be handed to student code; hand over what it is made of. What travels: numbers "
    "(Decimal, Fraction and complex ones, too), text, bytes, None, dates and times, ranges, tensors, numpy arrays of "
    "numbers, text and moments, pandas frames and series of these, and lists, tuples, dicts, sets and deques of all "
    "that; a function of the stub by `student.function(name)`"
)
"""An author's mistake: what arrives would be a description."""

NO_FOLDER = N_("This was not judged: on this computer your code may not write files.")

TIMES = 3
"""How often a call is made again, to see whether it gives the same."""

MOST_CONSTANTS = 8
"""How many of a file's constants are looked at, to call inputs by their names."""


@dataclass(frozen=True, slots=True)
class Helper:
    """A function of a check file that runs beside student code, and is no part of the student's file.

    Args:
        name: the function.
        text: the code that defines it.
    """

    name: str
    text: str


def beside_student(function: Callable[..., Any]) -> Helper:
    """Let a function of a check file run beside student code, as `student.call(helper, …)` calls it.

    It may use everything that is an object there, and returns what travels. It is sent by its own
    text, so that it imports what it needs, and knows no other name of the check file.
    """
    (node,) = ast.parse(dedent(getsource(function))).body
    if not isinstance(node, ast.FunctionDef):
        raise ValueError("a helper beside student code is a function")
    node.decorator_list = []
    return Helper(node.name, f"from __future__ import annotations\n{ast.unparse(node)}")


@dataclass(frozen=True, slots=True)
class Call:
    """One request a check made, for the message the check may end in.

    Args:
        target: the name, or the class of the instance, that was called.
        body: where nothing came back, what is known of the function's body.
        printed: where nothing came back, what the student's code printed.
        writes: the parameters that it changed in place.
        instance: the number of the instance that was made or run.
        given: to the instance that was made, afterwards: parameters by their full names.
        differentiates: whether gradients were asked for.
        method: of the instance that was run; "" for its `forward`, or the instance itself.
        is_unlike: whether a class was called just so, though its constructor is written otherwise, or
            takes fewer arguments.
        training: the mode that an instance was put into.
        reads: whether an attribute was read, the `method`.
        takes: how many values of an iterator were asked for.
    """

    target: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    is_forward: bool = False
    seed: int | None = None
    body: str = ""
    printed: str = ""
    writes: tuple[Write, ...] = ()
    instance: int = 0
    given: Mapping[str, torch.Tensor] = field(default_factory=dict)
    differentiates: bool = False
    is_unlike: bool = False
    method: str = ""
    training: bool | None = None
    reads: bool = False
    takes: int = 0

    @property
    def is_drawn(self) -> bool:
        """Whether it made an instance that keeps the numbers it drew from a seed."""
        return self.seed is not None and bool(self.instance) and not (self.is_forward or self.given)


class StudentOutcome(pytest.fail.Exception):  # type: ignore[name-defined, misc]
    """Ends a check because of what student code did; to pytest a failure."""

    def __init__(self, failure: Failure, calls: tuple[Call, ...]) -> None:
        self.failure = failure
        self.calls = calls
        super().__init__(failure.message or failure.kind, pytrace=False)


class NotJudged(pytest.fail.Exception):  # type: ignore[name-defined, misc]
    """Ends a check because student code got too little of the processor to be judged."""

    def __init__(self, why: str = "") -> None:
        busy = _(
            "This was not judged: the computer was busy, and your code got no turn. Run it again."
        )
        super().__init__(why or busy)


@dataclass(slots=True)
class StudentHandle:
    """What a check holds: the verbs `get`, `call`, `refusal`, `state` and `load`.

    Names are looked up in the file that counts for the exercise's assignment. Every verb raises a
    `StudentOutcome` when the name is missing, when student code raises, takes too long or ends its
    process, and when a stub is still there.

    Args:
        submission: where names are looked up.
        exercise: whose check asks.
        calls: the requests so far, for messages.
        outputs: what the student's code printed.
        held: the names of an instance's tensors, as it was last asked for.
        located: the file that counts.
        answers: what came back so far, by the position of the call.
        drew: the positions of calls that drew random numbers.
        not_taken: the names of parameters that took no value.
        renamed: by instance, its parameters' own names by the solution's.
        roles: what parameters stand for, by words in their names.
        given_tests: judges a given test.
    """

    submission: SubmissionHandle
    exercise: Exercise
    calls: list[Call] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)
    held: list[str] = field(default_factory=list)
    located: Located | None = None
    answers: dict[int, Answer] = field(default_factory=dict)
    drew: set[int] = field(default_factory=set)
    not_taken: set[str] = field(default_factory=set)
    renamed: dict[int, dict[str, str]] = field(default_factory=dict)
    roles: Roles = field(default_factory=Roles)
    given_tests: Callable[..., None] | None = None

    def get(self, name: str) -> Any:
        """A constant's value, or a `RemoteObject` that says what kind of thing a name is.

        Raises:
            StudentOutcome: when the request fails.
        """
        source = self._source()
        self.submission.settle()
        self.calls.append(Call(name, (), {}))
        frame = self._ask({"verb": "get", "source": source, **self._named(name)})
        (value,) = self._read(lambda reply: read_values(reply, "value"), frame)
        return value

    def aside(self, exercise: str = "") -> StudentHandle:
        """A handle on the same submission, for what an earlier exercise gives.

        No message shows what it is asked, and no known mistake is recognised by what it returns.

        Args:
            exercise: the full id of an exercise of another assignment, in whose file names are
                looked up. Where that assignment is not at hand, every name is missing.
        """
        other, located = self.exercise, None
        if exercise:
            assignment, _slash, name = exercise.partition("/")
            other = replace(other, assignment=assignment, name=name)
            if assignment not in self.submission.submission.readings:
                located = Located("", Failure("missing"), readable=False)
        return StudentHandle(self.submission, other, located=located, roles=self.roles)

    def step_before(self, exercise: str) -> StudentHandle | None:
        """A handle on the solution of an earlier exercise, with the student's mistakes in it.

        None where the student's is right, or its mistakes were not recognised. It may be one of an
        exercise before that, where a mistake has come along from there.

        Args:
            exercise: the full id of the exercise that the one at hand grows from.
        """
        self.submission.compared.add(exercise)
        found = self.submission.stand_ins.get(exercise)
        if found is None:
            return None
        return StudentHandle(found.submission, found.exercise, roles=self.roles)

    def parameters(self, name: str) -> list[str]:
        """The names of a function's parameters, or of those of a class's constructor.

        Raises:
            StudentOutcome: when the request fails.
        """
        source = self._source()
        return read_parameters(self._ask({"verb": "get", "source": source, **self._named(name)}))

    def call(
        self,
        target: str | RemoteObject | Helper,
        *args: Any,
        cotangent: torch.Tensor | None = None,
        meter: bool = False,
        **how: Any,
    ) -> Answer:
        """Call a function, make an instance of a class, or run an instance's `forward` or a method.

        Args:
            target: as `call_request` takes it.
            *args: the arguments.
            cotangent: of the result's shape; asks for the gradients of `(result * cotangent).sum()`
                for the parameters and the floating-point tensors among the arguments.
            meter: asks what the call costs, without gradients; the answer has it as its `cost`.
            **how: arguments by name, and the options of `call_request`.

        Raises:
            StudentOutcome: when the request fails.
        """
        self.submission.settle()
        call, frame = self.call_request(target, *args, cotangent=cotangent, meter=meter, **how)
        answer = self._answered(call, frame)
        if meter and answer.cost is None:
            raise self._outcome(Failure("crashed", message=_("its process left out the cost")))
        call = self.calls[-1]
        if cotangent is None:
            return answer
        if is_tensor(answer.value) and answer.value.shape != cotangent.shape:
            raise self._outcome(Failure("wrong_shape", message=_other_shape(answer, cotangent)))
        if answer.gradients is None:
            raise self._outcome(Failure("crashed", message=_("its process left out the gradients")))
        names = [*map(str, range(len(call.args))), *call.kwargs]
        complete = {name: answer.gradients.arguments.get(name) for name in names}
        found = answer.gradients.parameters
        own_names = self.renamed.get(call.instance, {})
        renamed = {name: found.get(own) for name, own in own_names.items()}
        return replace(answer, gradients=Gradients({**renamed, **found}, complete))

    def attribute(self, instance: RemoteObject, name: str) -> Answer:
        """What an attribute of an instance holds, or a property gives.

        Raises:
            StudentOutcome: when the request fails.
        """
        self.submission.settle()
        call, frame = self.call_request(instance, method=name)
        asked = Frame({**frame.header, "reads": True}, frame.payload)
        return self._answered(replace(call, reads=True), asked)

    def first(self, iterator: RemoteObject, count: int) -> Answer:
        """The next values of an iterator that came back, as a list; an endless one is asked for no more.

        Raises:
            StudentOutcome: when the request fails.
        """
        self.submission.settle()
        call, frame = self.call_request(iterator)
        asked = Frame({**frame.header, "take": count}, frame.payload)
        return self._answered(replace(call, takes=count), asked)

    def _answered(self, call: Call, frame: Frame) -> Answer:
        """Send a call, and note what came of it."""
        self.calls.append(call)
        answer = self._read(read_answer, self._ask(frame.header, frame.payload))
        position = len(self.calls) - 1
        self.answers[position] = answer
        if answer.has_drawn:
            self.drew.add(position)
        call = replace(call, writes=answer.writes)
        if answer.value is None:
            call = replace(call, body=answer.body, printed=answer.printed)
        if not call.is_forward and isinstance(answer.value, RemoteObject):
            call = replace(call, instance=answer.value.number)
        self.calls[-1] = call
        return answer

    def call_request(
        self,
        target: str | RemoteObject | Helper,
        *args: Any,
        seed: int | None = None,
        training: bool | None = None,
        cotangent: torch.Tensor | None = None,
        operations: bool = False,
        meter: bool = False,
        exact: bool = False,
        method: str = "",
        first: bool = False,
        files: Mapping[str, str | bytes] | None = None,
        **kwargs: Any,
    ) -> tuple[Call, Frame]:
        """What `call` sends for the same arguments, and what it notes of that.

        Arguments are copied: what student code does to them does not change them here. A class
        whose constructor takes them by other names, or in another order, gets them as it has them.

        Args:
            target: a name the student defined, one of torch's own modules ("nn.Linear"), an
                instance made before, or a function of the check's own (`beside_student`).
            *args: plain data (sets, bytes and numpy's arrays, too), tensors, instances, and
                functions by their names (`function("mse")`).
            seed: seeds the random numbers of Python, numpy and torch right before the call.
            training: puts an instance into training (True) or eval mode (False) before the call.
            cotangent: as `call` takes it.
            operations: asks how often the call calls each function of torch, by its name.
            meter: as `call` takes it.
            exact: gives a class its arguments just so, however its constructor is written.
            method: of an instance, the method to call, such as "push" or "__len__". What it returns
                and is no data, an iterator or another instance, stays and can be called in its turn.
            first: of a tuple or list that comes back, takes the first part alone.
            files: gives the call a working folder of its own, with these files in it; what is there
                afterwards the answer has as its `files`.
            **kwargs: as `args`.
        """
        if method and (not isinstance(target, RemoteObject) or not method.isidentifier()):
            raise ValueError(f"`method` names a method of an instance, not {method!r}")
        if meter and cotangent is not None:
            raise ValueError("a call is asked for gradients or for its cost, not for both")
        helper = target if isinstance(target, Helper) else None
        instance = None if helper or isinstance(target, str) else self._instance(target)
        name, number = (instance.type_name, instance.number) if instance else (str(target), 0)
        name = helper.name if helper else name
        source = self._source()
        own, lacks, differs, which = (args, kwargs), False, False, dict[str, Any](instance=number)
        if helper:
            which = {"helper": [helper.name, helper.text]}
        if isinstance(target, str):
            own, lacks, differs = self._arranged(target, args, kwargs)
            which = self._named(target)
        unlike, asked = lacks or (exact and differs), cotangent is not None
        args, kwargs = (args, kwargs) if exact else own
        call = Call(name, args, kwargs, bool(number), seed, instance=number, method=method)
        call = replace(call, is_unlike=unlike, differentiates=asked, training=training)
        flags = {"operations": operations, "meter": meter, "method": method, "first": first}
        flags["chance"] = self.submission.notes_chance
        packer = Packer()
        header = {
            "verb": "call",
            "source": source,
            **which,
            "args": [packer.pack(value) for value in args],
            "kwargs": {key: packer.pack(value) for key, value in kwargs.items()},
            "cotangent": None if cotangent is None else packer.pack(cotangent),
            "seed": seed,
            "training": training,
            **{name: value for name, value in flags.items() if value},
            **({} if files is None else {"files": packer.pack(_as_bytes(files))}),
        }
        if packer.stays:
            raise ValueError(NO_ARGUMENT.format(name=packer.stays[0]))
        return call, Frame(header, packer.payload())

    def function(self, name: str) -> NamedFunction:
        """A function of the file that is asked, to hand over as an argument.

        It is looked up where it is used: in the student's file, or in the solution. What the stub
        gives is in both of them, and so is an exercise.
        """
        if not name.isidentifier():
            raise ValueError(f"{name!r} is no function's name")
        return NamedFunction(name)

    def uses(self, name: str, *by: str) -> bool:
        """Whether the code of the exercise looks up another name of its file, as far as it shows.

        Args:
            name: the other name.
            *by: names whose code is looked at as well, because a check calls them.
        """
        return self.submission.uses(self.exercise, name, *by)

    def runs(self, test: str, *, given: Collection[str] = (), forgeable: bool = False) -> None:
        """Judge a given test, such as `assert f(3) == 4`, the way a notebook has it.

        It runs beside the student's code, which reports the values that its conditions are about:
        that of `f(3)`. What is expected, 4, stays with the checks, and so does the comparison. Names
        of the file are the student's; expected values may use those in `given`, for which the solution
        answers. Random numbers are seeded.

        Args:
            test: statements with conditions: `assert`, also of numpy.testing, unittest and nose,
                `if …: raise`, and what should raise an exception.
            given: names of the stub that students are given.
            forgeable: whether conditions may be decided beside the student's code, where they cannot
                be taken apart. That code can forge them: `grader validate` lists such points.

        Raises:
            Mismatch: when a condition does not hold.
            StudentOutcome: when the student's code raises, is missing or takes too long.
            ValueError: when a condition cannot be taken apart, and `forgeable` does not say so.
        """
        if self.given_tests is None:
            raise ValueError("no test can be given to this handle")
        self.given_tests(self, test, given, forgeable=forgeable)

    def names(self) -> tuple[str, ...]:
        """What the file defines.

        Raises:
            StudentOutcome: when it cannot be asked.
        """
        self._source()
        return self.located.names if self.located is not None else ()

    def observed(self, program: str) -> list[Observed]:
        """What the program of a given test reports.

        Raises:
            StudentOutcome: when the request fails.
        """
        source = self._source()
        self.submission.settle()
        header = {"verb": "observe", "source": source, "program": program, "seed": 0}
        return self._read(read_observed, self._ask({**header, **self._named(self.exercise.name)}))

    def refusal(
        self, target: str | RemoteObject | Helper, *args: Any, **kwargs: Any
    ) -> Failure | None:
        """The exception that a `call` with these arguments raises, or None when it returns.

        Raises:
            StudentOutcome: when the request fails in any other way.
        """
        self.submission.settle()
        return refusal_of(lambda: self.call(target, *args, **kwargs))

    def state(self, instance: RemoteObject, *, values: bool = True) -> State:
        """Parameters and buffers by every name, and what is kept where it should not be.

        Without `values`, tensors have shape and dtype only (on the device "meta"): enough to count
        a large layer's parameters, and nothing has to travel.

        Raises:
            StudentOutcome: when the request fails.
        """
        frame = self._ask(self.state_request(instance, values=values).header)
        state = self._read(lambda reply: read_state(reply, values=values), frame)
        self.held[:] = [*state.parameters, *state.buffers, *state.loose]
        return state

    def state_request(self, instance: RemoteObject, *, values: bool = True) -> Frame:
        """What `state` sends."""
        number = self._instance(instance).number
        source = self._source()
        return Frame({"verb": "state", "source": source, "instance": number, "values": values})

    def load(
        self,
        instance: RemoteObject,
        values: Mapping[str, torch.Tensor],
        by_place: Collection[str] = (),
        spare: Collection[str] = (),
    ) -> Loaded:
        """Give an instance's parameters values and dtype, by name or a unique suffix of one.

        What has another name takes them as well, where its name or that it is left says what it
        is: `Wq` for `W_query`.

        Args:
            instance: the instance.
            values: by name.
            by_place: of these names, those whose value a layer of another name may take as well that
                has the same shapes, and comes in the same order.
            spare: the names of values that nothing lacks where no parameter takes them.

        Raises:
            StudentOutcome: when the request fails; a value that does not fit is only reported.
        """
        number = self._instance(instance).number
        loaded = self._load(number, values)
        self.held[:] = loaded.not_given
        missing = [name for name, what in loaded.problems.items() if what == "missing"]
        others = self.roles.stand_ins(missing, loaded.not_given)
        wanted = [one for one in by_place if one in {*missing} - others.keys()]
        if wanted and loaded.not_given:
            own = self.state(instance, values=False).parameters
            for _round in range(2):  # what lies in a larger layer asks for no other
                given = {*others} | {one for one, what in loaded.report.items() if what == "loaded"}
                wanted = [one for one in wanted if one not in given]
                held = [values[one] for one in given]
                wanted = [one for one in wanted if not _is_in_larger(values[one], held)]
                taken = {loaded.names.get(one) for one in by_place} | {*others.values()}
                shapes = {one: own[one].shape for one in own if one not in taken}
                others |= alike_in_place({one: values[one].shape for one in wanted}, shapes)
            self.held[:] = loaded.not_given
        if others:
            again = self._load(number, {others[name]: values[name] for name in others})
            loaded = self._renamed(number, loaded, others, again)
        loaded_values = [values[name] for name, what in loaded.report.items() if what == "loaded"]
        # A bias of zeros changes nothing where it is missing.
        self.not_taken |= {
            name
            for name in loaded.problems.keys() - spare
            if bool(values[name].any()) and not _is_in(values[name], loaded_values)
        }
        self._note_given(number, loaded, values)
        return loaded

    def load_request(self, number: int, values: Mapping[str, torch.Tensor]) -> Frame:
        """What `load` sends first for an instance of this number."""
        packer = Packer()
        header = {"verb": "load", "instance": number, "values": packer.pack(dict(values))}
        return Frame(header, packer.payload())

    def _load(self, number: int, values: Mapping[str, torch.Tensor]) -> Loaded:
        frame = self.load_request(number, values)
        return self._read(read_loaded, self._ask(frame.header, frame.payload))

    def _renamed(
        self, number: int, loaded: Loaded, others: Mapping[str, str], again: Loaded
    ) -> Loaded:
        """What an instance took, with what it took under other names."""
        taken = {name: other for name, other in others.items() if other not in again.problems}
        self.renamed.setdefault(number, {}).update(taken)
        return Loaded(
            loaded.report | dict.fromkeys(taken, "loaded"),
            tuple(name for name in loaded.not_given if name not in taken.values()),
            loaded.names | taken,
            tuple(taken),
        )

    def _note_given(self, number: int, loaded: Loaded, values: Mapping[str, torch.Tensor]) -> None:
        """Keep what an instance was given with the call that made it, for messages."""
        given = {full: values[name] for name, full in loaded.names.items() if name in values}
        for position, call in enumerate(self.calls):
            if call.instance == number and not call.is_forward:
                self.calls[position] = replace(call, given={**call.given, **given})

    def _position_of(self, value: Any) -> int | None:
        """Which request gave this value last; None where none did."""
        found = (at for at, answer in self.answers.items() if answer.value is value is not None)
        return max(found, default=None)

    def calls_to(self, value: Any) -> tuple[Call, ...]:
        """The requests up to the one that gave this value; all of them where none did."""
        at = self._position_of(value)
        return tuple(self.calls if at is None else self.calls[: at + 1])

    def again(self, value: Any) -> list[Answer]:
        """What more calls return like the one that gave this value, of an instance made anew.

        Nothing where no call gave it, or where a seed, or training, lets it draw.
        """
        at = self._position_of(value)
        last = None if at is None else self.calls[at]
        if (
            last is None
            or last.method
            or last.takes
            or (last.seed is not None and last.training is not False)
        ):
            return []
        asked = replace(self.aside(), submission=replace(self.submission, notes_chance=True))
        with suppress(StudentOutcome, NotJudged):
            made = self._made(asked, RemoteObject(last.instance, "instance", ""))
            target, exact = (made, False) if last.is_forward else (last.target, True)
            # Each call has models of its own, as it may train them; made first, as that seeds.
            given = [
                (
                    [self._made(asked, value) for value in last.args],
                    {name: self._made(asked, value) for name, value in last.kwargs.items()},
                )
                for _time in range(TIMES)
            ]
            how = partial(asked.call, target, exact=exact, training=last.training)
            return [how(*args, **kwargs) for args, kwargs in given]
        return []

    def _made(self, asked: StudentHandle, value: Any) -> Any:
        """An instance that was made, made once more; anything else as it is."""
        if not isinstance(value, RemoteObject) or not value.number:
            return value
        maker = next(c for c in self.calls if c.instance == value.number and not c.is_forward)
        made = asked.call(
            maker.target, *maker.args, seed=maker.seed or 0, exact=True, **maker.kwargs
        )
        if maker.given:
            asked.load(made.value, maker.given)
        return made.value

    def blocked(self, reason: str, cause: Failure) -> StudentOutcome:
        """What a check raises when something that it needs, and does not judge, does not work.

        The reason says what is needed and wrong, without its full stop; the cause is the failure
        there.
        """
        failure = Failure("blocked", message=reason, location=cause.location, loading=cause)
        return self._outcome(failure)

    @property
    def printed(self) -> list[str]:
        """What the student's code printed; loading the file counts where it lacks the exercise."""
        if self.located is None or self.exercise.name in self.located.names:
            return self.outputs
        return [self.located.printed, *self.outputs]

    def constants(self) -> dict[str, torch.Tensor]:
        """The tensors that the student's file has under names in capitals, as they are now."""
        located, found = self.located, {}
        names = located.names if located is not None else ()
        for name in [name for name in names if name.isupper()][:MOST_CONSTANTS]:
            key = located.key if located is not None else ""
            frame = self.submission.ask({"verb": "get", "source": key, "name": name})
            with suppress(WireFault):
                (value,) = read_values(frame, "value") if "failure" not in frame.header else (None,)
                if is_tensor(value):
                    found[name] = value
        return found

    # How requests are made and replies read.

    def _instance(self, value: Any) -> RemoteObject:
        """An instance of the student's class; anything else ends the check."""
        if not isinstance(value, RemoteObject) or not value.number:
            raise self._outcome(Failure("no_instance", message=type(value).__name__))
        return value

    def _source(self) -> str:
        """The file to ask; one that cannot be asked ends the check."""
        self.located = self.located or self.submission.locate(self.exercise)
        obstacle = self.located.obstacle(self.exercise.name)
        if obstacle is not None and obstacle.kind == "busy":
            self.located = None
            raise NotJudged
        if obstacle is not None:
            raise self._outcome(obstacle)
        return self.located.key

    def _named(self, name: str) -> dict[str, Any]:
        """What a request says of a name; of several classes of the exercise's, which one."""
        several = self.located is not None and len(self.located.classes.get(name, ())) > 1
        if self.located is None or not several or name != self.exercise.name:
            return {"name": name}
        return {"name": name, "class": self.located.chosen}

    def _arranged(
        self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[tuple[Any, ...], dict[str, Any]], bool, bool]:
        """A call of a class as the student's constructor takes it.

        Also whether that takes too little, and whether it takes other values in the call as it is.
        """
        wanted = self.submission.declared.get(self.exercise.id, {}).get(name)
        place = -1
        if self.located is not None and name == self.exercise.name:
            place = self.located.chosen
        own = self.located.parameters(name, place) if self.located is not None else None
        if self.located is None or not wanted or not own:
            return (args, kwargs), False, False
        text = self.submission.submission.sources[self.located.key].text
        found = arranged(wanted, own, args, kwargs, self.roles.other_names, text)
        lacks = len(found[0]) + len(found[1]) > len(own)
        return found, lacks, bound(own, *found) != bound(own, args, kwargs)

    @property
    def called_otherwise(self) -> str:
        """What the student's file calls the exercise, where that is another name."""
        if self.located is None:
            return ""
        also = dict(self.submission.submission.sources[self.located.key].also)
        return also.get(self.exercise.name, "")

    def _ask(self, header: dict[str, Any], payload: bytes = b"") -> Frame:
        frame = self.submission.ask(header, payload)
        printed = read_printed(frame)
        if printed:
            self.outputs.append(printed)
        if "failure" in frame.header:
            if is_busy(frame):
                raise NotJudged
            if frame.header["failure"] == {"kind": "no_folder"}:
                raise NotJudged(_(NO_FOLDER))
            failure = read_failure(frame.header["failure"], is_ours=isinstance(frame, OwnFrame))
            raise self._outcome(self._explained(failure, self._lacking(header)))
        return frame

    def _lacking(self, header: dict[str, Any]) -> str:
        """The name that is missing, if one is: of a function handed over, or what was asked for."""
        names = self.located.names if self.located is not None else ()
        given = (*self.calls[-1].args, *self.calls[-1].kwargs.values()) if self.calls else ()
        handed = [one.name for one in given if isinstance(one, NamedFunction)]
        return next((one for one in handed if one not in names), str(header.get("name", "")))

    def _explained(self, failure: Failure, name: str) -> Failure:
        """A missing name with the reason for it; another exercise's stub as what blocks this one."""
        if failure.kind == "not_attempted" and failure.message != self.exercise.id:
            return Failure("blocked", message=failure.message, location=failure.location)
        if failure.kind != "missing":
            return self._not_imported(failure)
        if self.located is None:
            return replace(failure, message=name)
        return self.submission.why_missing(self.exercise, self.located, name)

    def _not_imported(self, failure: Failure) -> Failure:
        """A name that is not known and another assignment's, with the import that the stub has."""
        unknown = re.match(r"name '(\w+)' is not defined", failure.message)
        for assignment in self.submission.assignments if unknown and not failure.meant else ():
            is_other = assignment.id != self.exercise.assignment
            if unknown and is_other and any(e.name == unknown[1] for e in assignment.exercises):
                meant = f"from {assignment.module} import {unknown[1]}"
                return replace(failure, wrote=unknown[1], meant=meant)
        return failure

    def _read(self, reader: Callable[[Frame], T], frame: Frame) -> T:
        """What a reader makes of a reply; a malformed one ends the check."""
        try:
            return reader(frame)
        except WireFault as error:
            message = _("its process sent a malformed reply: {error}").format(error=error)
        raise self._outcome(Failure("crashed", message=message))

    def _outcome(self, failure: Failure) -> StudentOutcome:
        return StudentOutcome(failure, tuple(self.calls))


def _other_shape(answer: Answer, cotangent: torch.Tensor) -> str:
    template = _(
        "expected the shape {expected}, received {actual}, so that its gradients are not judged"
    )
    return template.format(expected=tuple(cotangent.shape), actual=tuple(answer.value.shape))


def refusal_of(request: Callable[[], object]) -> Failure | None:
    """The exception of student code that a request ends in, or None when it returns.

    Raises:
        StudentOutcome: when the request fails in any other way.
    """
    try:
        request()
    except StudentOutcome as outcome:
        if outcome.failure.kind == "exception":
            return outcome.failure
        raise
    return None


class ReferenceHandle(StudentHandle):
    """The same verbs on the hidden solution. That it fails is the grader's own fault."""

    def _outcome(self, failure: Failure) -> StudentOutcome:
        reason = f"{failure.type or failure.kind}: {failure.message}".rstrip(": ")
        raise GraderFault(f"the reference solution of {self.exercise.id} failed: {reason}")


def _as_bytes(files: Mapping[str, str | bytes]) -> dict[str, bytes]:
    """Files as they are handed over."""
    for name in files:
        path = PurePosixPath(name)
        if path.is_absolute() or ".." in path.parts or not path.name:
            raise ValueError(f"{name!r} is no file below a working folder")
    return {n: text.encode() if isinstance(text, str) else text for n, text in files.items()}


def _is_in_larger(value: torch.Tensor, others: Sequence[torch.Tensor]) -> bool:
    """Whether numbers lie in a larger tensor, as those of queries in a layer for all three."""
    larger = [other for other in others if other.numel() > value.numel()]
    return bool(value.any()) and _is_in(value, larger)


def _is_in(value: torch.Tensor, others: Sequence[torch.Tensor]) -> bool:
    """Whether a value is one of these, or a piece of one: queries, keys and values in one layer."""
    size = max(value.numel(), 1)
    pieces = (piece for other in others for piece in other.flatten().split(size))
    return any(torch.equal(value.flatten(), piece) for piece in pieces)
