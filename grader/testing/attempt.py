"""What most checks are written with: the student's code beside the solution's, called and judged.

A check asks for `attempt`. What the exercise is named after is called, and what comes back judged:

    attempt(scores).gives(printed("T05"), axes=("row",))    # a known value
    attempt(query, inputs).agrees(axes=("row",))            # the solution's value
    attempt(scores).has_shape(6, 6)
    attempt(scores).keeps_arguments()
    attempt(scores, cotangent=ones).gradients_agree(what="the gradient for the scores")

    attempt().first(8).agrees()                             # of a generator
    attempt(rows).prints()
    attempt("out.txt", files={}).writes("out.txt")
    attempt.raises(ValueError, -1)

Of a class, `attempt.instance(3, 2, given=values)` makes one of the student's and one of the
solution's, with the same parameters; it is called and judged in the same way.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from grader.core.language import N_, _, listed
from grader.core.text import clean
from grader.course.printed_tensors import Printed
from grader.sandbox.torch_later import is_tensor, torch
from grader.sandbox.wire import Frame, RemoteObject
from grader.testing.compare import describe
from grader.testing.judge import FLOAT32, Judge
from grader.testing.replies import Answer, Failure, Loaded, State
from grader.testing.student import (
    Helper,
    ReferenceHandle,
    StudentHandle,
    StudentOutcome,
    refusal_of,
)

T = TypeVar("T")

NOT_MADE = RemoteObject(-1, "instance", "")
"""Stands for an instance in a request that is sent together with the one that makes it."""

ONE_CHANGED = N_("It changed its argument in place")
SOME_CHANGED = N_("It changed one of its arguments in place")


class Called:
    """One call of the student's code, and the same of the solution's when it is needed.

    Args:
        attempt: whose function, or instance, was called.
        args: what it was called with; printed tensors stand for their values.
        how: what `student.call` takes besides (`seed`, `training`, `cotangent`, keywords).
    """

    def __init__(self, attempt: Attempt, args: Sequence[Any], how: Mapping[str, Any]) -> None:
        self.attempt = attempt
        self.judge = attempt.judge
        self.args = tuple(_plain(value) for value in args)
        self.how = {name: _plain(value) for name, value in how.items()}
        self.answer: Answer = attempt.asked(*self.args, **self.how)
        self.before = len(attempt.history)
        if "method" in how:
            attempt.history.append(self)

    def prints(self, expected: str | None = None) -> None:
        """Judge what the call printed; what is blank at the end of a line does not count.

        Args:
            expected: the text; what the solution prints unless given.
        """
        text = self.right.printed if expected is None else expected
        self.judge(_trimmed(self.answer.printed), _trimmed(text), what=_("what is printed"))

    def writes(self, name: str, expected: str | bytes | None = None) -> None:
        """Judge a file that the call wrote below its working folder; it was given one by `files={}`.

        Args:
            name: of the file, from the working folder.
            expected: what is in it; what the solution writes unless given. Of text, what is blank
                at the end of a line does not count.
        """
        content = self.right.files[name] if expected is None else expected
        if name not in self.answer.files:
            written = self.answer.files.keys() - self.how["files"].keys()
            others = [clean(other, 60) for other in sorted(written)[:4]]
            words = _("It should write the file {name}, and wrote {others}.")
            if not others:
                words = _("It should write the file {name}, and wrote none.")
            words = words.format(name=name, others=listed(others))
            self.judge.that(False, words, about=sorted(written))
        right, found = _text_of(content), _text_of(self.answer.files[name])
        self.judge(found, right, what=_("the file {name}").format(name=name))

    def first(self, count: int, *, any_type: bool = False) -> Called:
        """The next values of the iterator that came back, as a list; it may be an endless one.

        Args:
            count: how many; the values after them are never made.
            any_type: whether what has all its values at once, such as a list, may stand for it.
        """
        is_iterator = isinstance(self.value, RemoteObject)
        if not is_iterator and not any_type:
            words = _(
                "It should give one value after the other, as `yield` does, and returned {found}."
            ).format(found=describe(self.value))
            self.judge.that(False, words, about=describe(self.value, say=str))

        def ask(handle: StudentHandle, value: Any) -> Answer:
            if isinstance(value, RemoteObject):
                return handle.first(value, count)
            return Answer(list(value)[:count] if isinstance(value, Iterable) else value)

        return _Further(self, ask)

    def then(self, method: str, *args: Any, **how: Any) -> Called:
        """Call a method of the instance that came back; arguments as `student.call` takes them."""
        given = [_plain(value) for value in args]
        return _Further(self, lambda handle, made: handle.call(made, *given, method=method, **how))

    def attribute(self, name: str) -> Called:
        """What an attribute of the instance that came back holds, or a property gives."""
        return _Further(self, lambda handle, made: handle.attribute(made, name))

    @property
    def value(self) -> Any:
        """What the student's code returned."""
        return self.answer.value

    @cached_property
    def right(self) -> Answer:
        """What the solution answers, after all that was asked of its instance before."""
        self.attempt.catch_up(self)
        return self.asked_of_solution()

    def asked_of_solution(self) -> Answer:
        """Ask the solution the same."""
        return self.attempt.reference.call(self.attempt.solution, *self.args, **self.how)

    @property
    def expected(self) -> Any:
        """What the solution returns."""
        return self.right.value

    def gives(self, expected: Any, **judged: Any) -> None:
        """Judge the value by a known one.

        Args:
            expected: plain data, a tensor or a printed tensor.
            **judged: as `judge` takes it: `what`, `atol`, `axes`, `any_dtype`. Without `axes` they
                have the names that the class of checks says, the last ones where there are fewer.
        """
        axes, shape = self.judge.axes, getattr(_plain(expected), "shape", ())
        named = axes[len(axes) - len(shape) :] if len(shape) <= len(axes) else ()
        self.judge(self.value, expected, **{"axes": named, **judged})

    def agrees(self, **judged: Any) -> None:
        """Judge the value by the solution's; keywords as `gives` takes them."""
        self.gives(self.expected, **judged)

    def has_shape(self, *shape: int, dtype: Any = FLOAT32) -> Any:
        """Judge what kind of thing the value is, and return it.

        Args:
            *shape: of the expected tensor, or of the expected array where the solution returns one.
            dtype: the expected one, as `judge.shape` takes it; of an array the solution's.
        """
        if isinstance(self.value, np.ndarray) and isinstance(self.expected, np.ndarray):
            dtype = self.expected.dtype if dtype is FLOAT32 else dtype
        self.judge.shape(self.value, shape, dtype=dtype)
        return self.value

    def keeps_arguments(self) -> None:
        """Judge that no argument was changed in place."""
        given = [v for v in (*self.args, *self.how.values()) if is_tensor(v) or isinstance(v, list)]
        self.judge.that(not self.answer.changed, _(SOME_CHANGED if len(given) > 1 else ONE_CHANGED))

    def gradients_agree(self, *, what: str | Sequence[str], **judged: Any) -> None:
        """Judge the gradients for the first arguments by the solution's.

        Args:
            what: what the gradient for each of them is called in a message.
            **judged: as `judge` takes it.
        """
        for position, one in enumerate([what] if isinstance(what, str) else what):
            self._judge_gradients("arguments", str(position), what=one, **judged)

    def parameter_gradients_agree(self, *names: str, **judged: Any) -> None:
        """Judge the gradients for parameters of an instance by the solution's.

        Args:
            *names: of the parameters; the student's may stand further inside.
            **judged: as `judge` takes it.
        """
        for name in names:
            what = _("the gradient for {name}").format(name=name)
            self._judge_gradients("parameters", name, what=what, **judged)

    def _judge_gradients(self, of: str, name: str, **judged: Any) -> None:
        found, right = (
            by_name(getattr(answer.gradients, of), name) if answer.gradients else None
            for answer in (self.answer, self.right)
        )
        self.judge(found, right, **judged)


class _Further(Called):
    """What is asked of what a call returned, the student's and the solution's alike.

    Args:
        called: the call.
        ask: asks it of a handle.
    """

    def __init__(self, called: Called, ask: Callable[[StudentHandle, Any], Answer]) -> None:
        self.attempt, self.judge = called.attempt, called.judge
        self.args, self.how = (), {}
        self.called, self.ask = called, ask
        self.answer = ask(called.attempt.student, called.value)
        self.before = len(self.attempt.history)
        self.attempt.history.append(self)

    def asked_of_solution(self) -> Answer:
        return self.ask(self.attempt.reference, self.called.expected)


@dataclass
class Attempt:
    """The student's function or class that an exercise is named after, beside the solution's.

    Args:
        student: the handle on the submission.
        reference: the handle on the solution.
        judge: what judges.
        name: what is called.
    """

    student: StudentHandle
    reference: ReferenceHandle
    judge: Judge
    name: str
    # The calls of methods, and what was asked of what came back: an instance remembers them.
    history: list[Called] = field(default_factory=list, init=False)

    def catch_up(self, called: Called) -> None:
        """Ask the solution for all that was asked of the student's instance before a call."""
        for earlier in self.history[: called.before]:
            _ = earlier.right

    def of(self, name: str) -> Attempt:
        """The same of another name that an assignment defines."""
        return Attempt(self.student, self.reference, self.judge, name)

    def beside(self, name: str, exercise: str = "") -> Attempt:
        """The same of another name, tried beside what is judged: no message shows these calls.

        Args:
            name: what is tried.
            exercise: the full id of an exercise of another assignment, in whose file the name is
                looked up; "" for the file at hand.
        """
        return replace(self.of(name), student=self.student.aside(exercise))

    def step_before(self, name: str, assignment: str = "") -> Attempt | None:
        """An earlier exercise as the student's known mistakes make it; None where nothing is known.

        Whoever has made a mistake there makes it here as well, and has paid for it: what comes back
        is to be judged by this, where it is not right. It is the solution with these mistakes in
        it, in a process of its own; nothing of the student's stands for anything.

        Args:
            name: of the exercise that the one at hand grows from. The attempt may have the name of
                one before that, where the mistake has come along from there.
            assignment: the id of another assignment that it is in; "" for the one at hand.
        """
        id_ = f"{assignment or self.student.exercise.assignment}/{name}"
        student = self.student.step_before(id_)
        if student is None:
            return None
        return Attempt(student, self.reference, self.judge, student.exercise.name)

    def through(self, helper: Helper) -> Attempt:
        """The same, called by a function of the check's own: that gets it, and the arguments after it.

        Args:
            helper: runs beside the student's code, and beside the solution (`beside_student`).
        """
        return _Through(self.student, self.reference, self.judge, self.name, helper)

    @property
    def own(self) -> str | RemoteObject | Helper:
        """What of the student's is called."""
        return self.name

    @property
    def solution(self) -> str | RemoteObject | Helper:
        """What of the solution's is called."""
        return self.name

    def asked(self, *args: Any, **how: Any) -> Answer:
        """What the student's code answers."""
        return self.student.call(self.own, *args, **how)

    def refusal(self, *args: Any, **how: Any) -> Failure | None:
        """The exception that this call raises, or None when it returns; as `student.refusal`."""
        return refusal_of(lambda: self.asked(*args, **how))

    def raises(
        self, exception: type[BaseException] | str, *args: Any, match: str = "", **how: Any
    ) -> Failure | None:
        """Judge that this call raises an exception, and return it.

        Args:
            exception: its class, or one that it is derived from; by its name where the stub defines it.
            *args: of the call.
            match: a regular expression that is found in its text.
            **how: what `student.call` takes besides.
        """
        failure = self.refusal(*map(_plain, args), **how)
        name = exception if isinstance(exception, str) else exception.__name__
        words, found = _("It should raise {name}, and raised nothing."), ""
        holds = failure is not None and name in (failure.type, *failure.bases)
        if failure and not holds:
            words, found = _("It should raise {name}, and raised {found}."), failure.type
        elif failure:
            words, found = (
                _("What {name} says should have {match} in it, and is: {text}"),
                failure.message,
            )
            holds = re.search(match, found) is not None
        said = {"found": clean(found[:80]), "text": clean(found[:200])}
        self.judge.that(holds, words.format(name=name, match=match, **said), about=found)
        return failure

    def __call__(self, *args: Any, **how: Any) -> Called:
        """Call it; arguments as `student.call` takes them, printed tensors as well."""
        return Called(self, args, how)

    def instance(
        self,
        *args: Any,
        given: Mapping[str, Any] | None = None,
        spare: Mapping[str, torch.Tensor] | None = None,
        on_made: Callable[[Mapping[str, str]], None] | None = None,
        by_place: Collection[str] = (),
        **how: Any,
    ) -> Instance:
        """An instance of the student's class, and one of the solution's when it is needed.

        The student's is made in one request with what is asked of it first, and before anything
        else is asked or judged.

        Args:
            *args: of the constructor.
            given: the values of parameters, by name; printed tensors as well.
            spare: values for parameters that need not be there, such as zeros for a bias.
            on_made: judges the `problems` of the instance as soon as it is made.
            by_place: of these names, layers of other names may take the values, by shape and order.
            **how: what `student.call` takes besides.
        """
        values = {name: _plain(value) for name, value in (given or {}).items()}
        parts = (self.student, self.reference, self.judge, self.name)
        return Instance(*parts, (args, how), values, spare or {}, on_made, by_place)


@dataclass
class _Through(Attempt):
    """What a helper calls.

    Args:
        helper: gets the function and the arguments.
    """

    helper: Helper

    @property
    def own(self) -> Helper:
        return self.helper

    solution = own

    def refusal(self, *args: Any, **how: Any) -> Failure | None:
        return super().refusal(self.student.function(self.name), *args, **how)

    def __call__(self, *args: Any, **how: Any) -> Called:
        return super().__call__(self.student.function(self.name), *args, **how)


@dataclass
class Instance(Attempt):
    """An instance of the student's class, beside one of the solution's with the same parameters.

    Args:
        by: the arguments and the keywords that made it.
        given: the values of its parameters.
        spare: values for parameters that need not be there.
        on_made: judges which values it did not take.
        by_place: whose values layers of other names may take, by shape and order.
    """

    by: tuple[tuple[Any, ...], Mapping[str, Any]]
    given: Mapping[str, torch.Tensor]
    spare: Mapping[str, torch.Tensor]
    on_made: Callable[[Mapping[str, str]], None] | None
    by_place: Collection[str] = ()
    made: Answer | None = field(default=None, init=False)
    outcome: StudentOutcome | None = field(default=None, init=False)
    taken: Loaded = field(default=Loaded({}, ()), init=False)
    requests: list[Frame] = field(init=False)

    def __post_init__(self) -> None:
        """Wait for what is asked of it first."""
        student, (args, how) = self.student, self.by
        student.submission.settle()
        self.requests = [student.call_request(self.name, *args, **how)[1]]
        if self.given:
            values = {**self.spare, **self.given}
            self.requests.append(student.load_request(NOT_MADE.number, values))
        student.submission.waiting = lambda: self.own

    def _ask(
        self,
        ask: Callable[[RemoteObject], T],
        request: Callable[[RemoteObject], Frame] | None = None,
    ) -> T:
        """Ask something of the student's, which is made with it where it is not made yet.

        Args:
            ask: asks it.
            request: what that sends.
        """
        if self.outcome is not None:
            raise self.outcome
        if self.made is not None:
            return ask(self.made.value)
        first = [] if request is None else [request(NOT_MADE)]
        with self.student.submission.together([*self.requests, *first]):
            try:
                made = self._make()
            except StudentOutcome as outcome:
                self.outcome = outcome
                raise
            if self.on_made is not None:
                self.on_made(self.problems)
            return ask(made.value)

    def _make(self) -> Answer:
        args, how = self.by
        self.made = self.student.call(self.name, *args, **how)
        if self.given:
            values = {**self.spare, **self.given}
            self.taken = self.student.load(self.made.value, values, self.by_place, self.spare)
        return self.made

    @property
    def own(self) -> RemoteObject:
        """The student's."""
        return self._ask(lambda made: made)

    @property
    def loaded(self) -> Loaded:
        """What became of the values, also of those that need not be taken."""
        return self._ask(lambda _made: self.taken)

    @property
    def problems(self) -> dict[str, str]:
        """Which of the values that were given it did not take, and why."""
        return {name: what for name, what in self.loaded.problems.items() if name in self.given}

    @cached_property
    def solution(self) -> RemoteObject:
        """The solution's."""
        args, how = self.by
        made: RemoteObject = self.reference.call(self.name, *args, **how).value
        if self.given:
            self.reference.load(made, self.given)
        return made

    @property
    def state(self) -> State:
        """The parameters and buffers of the student's, as they are now."""
        return self._ask(self.student.state, self.student.state_request)

    def asked(self, *args: Any, **how: Any) -> Answer:
        """What the student's code answers."""
        student = self.student
        return self._ask(
            lambda made: student.call(made, *args, **how),
            lambda made: student.call_request(made, *args, **how)[1],
        )

    def attribute(self, name: str) -> Called:
        """What an attribute of the instance holds, or a property gives."""
        return _Made(self).attribute(name)

    def refusal(self, *args: Any, **how: Any) -> Failure | None:
        """The same of the instance; that it cannot be made is another failure."""
        failure = super().refusal(*args, **how)
        if self.outcome is not None:
            raise self.outcome
        return failure


class _Made(Called):
    """The two instances, as if a call had returned them."""

    def __init__(self, made: Instance) -> None:
        self.attempt, self.judge = made, made.judge
        self.answer, self.right = Answer(made.own), Answer(made.solution)


def by_name(found: Mapping[str, Any], name: str) -> Any:
    """The entry of that name, wherever in a module it is kept; None where there is none."""
    return next((item for key, item in found.items() if f".{key}".endswith(f".{name}")), None)


def _trimmed(text: str) -> str:
    """A text without what is blank at the end of its lines."""
    return "\n".join(map(str.rstrip, text.rstrip().split("\n")))


def _text_of(content: str | bytes) -> str | bytes:
    """What a file holds: text where it is some."""
    try:
        text = content if isinstance(content, str) else content.decode()
    except UnicodeDecodeError:
        return content
    return _trimmed(text)


def _plain(value: Any) -> Any:
    """A printed tensor's values; anything else as it is."""
    return value.tensor if isinstance(value, Printed) else value
