"""What checks ask of a solution, asked of another one as well, and with other inputs.

Checks judge a part of what comes back. Here all of it is compared: two solutions are the same as
far as these requests tell.
"""

import json
import math
import random
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import torch
from torch import nn

from grader.judging.diagnosis import ATOL, distance, fingerprint
from grader.sandbox.failures import OutOfTime
from grader.sandbox.together import TOGETHER, in_turn
from grader.sandbox.wire import Frame, NamedFunction, Packer, Unpacker
from grader.sessions.base import Session
from grader.sessions.in_process import InProcessSession
from grader.submissions.submission import Submission

ASIDE = ("output", "operations", "cost", "writes", "body", "failure", "drew")
"""What of a reply is no part of what a solution does; of a failure its type alone is."""
PACKED = ("value", "gradients", "parameters", "buffers")
"""What of a reply is packed, in order."""

CHANCE = (random.Random(0).getstate(), torch.Generator().manual_seed(0).get_state())
"""Where random numbers begin with each check."""

TIMES = 20
"""A mutant is stopped when a request takes this many times what the solution takes for it."""
LEAST_SECONDS = 1.0
"""What a mutant may take in any case."""
SOLUTION_SECONDS = 5.0
"""What the solution may take for a request with other inputs; torch may import more for it."""

Exchange = tuple[Frame, Frame]
"""A request and its reply."""
Change = Callable[[Any], Any]
"""Makes another tensor, or another whole number, of one."""


@dataclass(slots=True)
class HeardSession(Session):
    """Runs a submission in this process, within limits, and keeps what was said.

    What a check draws without a seed is the same each time.

    Args:
        submission: what runs.
        keeps: whether anything is kept.
        most: the seconds of the processor that a request may take at most.
        took: those that each request has taken.
        exchanges: what was said.
        chance: where the random numbers of Python and of torch stand.
    """

    submission: Submission
    keeps: bool = True
    most: float = math.inf
    took: list[float] = field(default_factory=lambda: [0.0])
    exchanges: list[Exchange] = field(default_factory=list)
    chance: tuple[Any, torch.Tensor] = CHANCE
    inner: InProcessSession = field(init=False)

    def __post_init__(self) -> None:
        """Load nothing yet."""
        self.inner = InProcessSession(self.submission)

    def ask(self, frame: Frame, seconds: float) -> Frame:
        """Reply within these seconds of CPU time; to what came together, one by one."""
        if frame.header["verb"] == TOGETHER:
            return in_turn(frame, partial(self.ask, seconds=seconds))
        if frame.header["verb"] == "forget":
            self.chance = CHANCE
        random.setstate(self.chance[0])
        torch.set_rng_state(self.chance[1])
        started = time.process_time()
        with _limited(min(seconds, self.most)):
            reply = self.inner.ask(frame, seconds)
        self.took.append(time.process_time() - started)
        self.chance = random.getstate(), torch.get_rng_state()
        if self.keeps and frame.header["verb"] != "open":
            self.exchanges.append((frame, reply))
        return reply


def allowed(solution: float) -> float:
    """The seconds that a mutant may take for what takes a solution so many of the processor's."""
    return max(LEAST_SECONDS, TIMES * solution)


@contextmanager
def _limited(seconds: float) -> Iterator[None]:
    """Raise `OutOfTime` in what runs inside, after this much of CPU time.

    A check's own limit ends it where the system has no such timer.
    """
    if not hasattr(signal, "setitimer"):
        yield
        return
    before = signal.signal(signal.SIGPROF, _end)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def _end(number: int, frame: object) -> None:
    raise OutOfTime("out of time")


def are_same(first: Sequence[Exchange], second: Sequence[Exchange]) -> bool:
    """Whether the same was asked, and all that came back is the same."""
    return len(first) == len(second) and all(
        asked == also and _are_same_replies(reply, another)
        for (asked, reply), (also, another) in zip(first, second, strict=True)
    )


def by_check(exchanges: Sequence[Exchange]) -> list[list[Exchange]]:
    """The exchanges of each check; of checks that ask the same with other numbers, of one."""
    groups: dict[str, list[Exchange]] = {}
    current: list[Exchange] = []
    for exchange in (*exchanges, (Frame({"verb": "forget"}), Frame({}))):
        if exchange[0].header["verb"] == "forget":
            asked = json.dumps([_without_floats(request.header) for request, _reply in current])
            groups.setdefault(asked, current)
            current = []
        else:
            current.append(exchange)
    return list(groups.values())


def differ_elsewhere(
    solution: HeardSession, other: HeardSession, exchanges: Sequence[Exchange]
) -> bool:
    """Whether another solution replies otherwise to a check's requests with other inputs.

    Args:
        solution: replies as it should be, or with a failure where an input makes no sense.
        other: the other solution.
        exchanges: the check's requests, and what the solution replied.
    """
    return any(_differ(solution, other, requests) for requests in _variants(exchanges))


def _differ(solution: HeardSession, other: HeardSession, requests: Sequence[Frame]) -> bool:
    for session in (solution, other):
        session.ask(Frame({"verb": "forget"}), LEAST_SECONDS)
    for request in requests:
        reply = solution.ask(request, SOLUTION_SECONDS)
        if "failure" in reply.header:
            return False
        if not _are_same_replies(reply, other.ask(request, allowed(solution.took[-1]))):
            return True
    return False


def _are_same_replies(first: Frame, second: Frame) -> bool:
    if _told(first) != _told(second):
        return False
    return distance(_values(first), _values(second)) <= ATOL


def _told(reply: Frame) -> str:
    """What a reply says besides its numbers: types, shapes, names."""
    failure = reply.header.get("failure", {})
    told = {key: value for key, value in reply.header.items() if key not in ASIDE}
    return json.dumps([_without_floats(told), failure.get("kind"), failure.get("type")])


def _without_floats(node: Any) -> Any:
    if isinstance(node, dict):
        return {key: _without_floats(value) for key, value in node.items()}
    if isinstance(node, list):
        return [_without_floats(value) for value in node]
    return "float" if isinstance(node, float) else node


def _values(reply: Frame) -> Any:
    unpacker = Unpacker(reply.payload)
    keys = PACKED if reply.payload else PACKED[:1]  # parameters without values have none
    nodes = [reply.header[key] for key in keys if key in reply.header]
    return fingerprint([unpacker.unpack(n) for n in nodes if not isinstance(n, list)])


# Other inputs.


def _variants(exchanges: Sequence[Exchange]) -> Iterator[list[Frame]]:
    """Other numbers, large ones, twice the precision; gradients; a size that is one more or less."""
    requests = [request for request, _reply in exchanges]
    for change in (_drawn, _drawn_large, _doubled):
        yield [_changed(request, change) for request in requests]
    yield [_with_gradients(request, reply) for request, reply in exchanges]
    for number, request in enumerate(requests):
        for size, by, also_sizes in product(sorted(_sizes(request)), (1, -1), (True, False)):
            one = _changed(request, partial(_resized, size=size, by=by, also_sizes=also_sizes))
            yield [*requests[:number], one, *requests[number + 1 :]]


def _with_gradients(request: Frame, reply: Frame) -> Frame:
    """A call that asks for gradients, where its result can have some."""
    if request.header["verb"] != "call" or request.header["cotangent"] is not None:
        return request
    value = Unpacker(reply.payload).unpack(reply.header.get("value"))
    if not isinstance(value, torch.Tensor) or not value.is_floating_point():
        return request
    cotangent = torch.linspace(1, 2, value.numel(), dtype=value.dtype).reshape(value.shape)
    packer = Packer()
    header = {**request.header, "cotangent": packer.pack(cotangent)}
    return Frame(header, request.payload + packer.payload())


def _changed(request: Frame, change: Change) -> Frame:
    """A request with other tensors and numbers; as it is where it carries none."""
    header, packer = dict(request.header), Packer()
    unpacker = Unpacker(request.payload, find=NamedFunction)

    def again(node: Any) -> Any:
        return packer.pack(_mapped(unpacker.unpack(node), change))

    if header["verb"] == "call":
        header["args"] = [again(node) for node in header["args"]]
        header["kwargs"] = {name: again(node) for name, node in header["kwargs"].items()}
        header["cotangent"] = again(header["cotangent"])
    elif header["verb"] == "load":
        header["values"] = again(header["values"])
    return Frame(header, packer.payload())


def _mapped(value: Any, change: Change) -> Any:
    if isinstance(value, list | tuple):
        return type(value)(_mapped(item, change) for item in value)
    if isinstance(value, dict):
        return {key: _mapped(item, change) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return np.asarray(change(torch.from_numpy(value)))
    if isinstance(value, nn.Parameter):
        return nn.Parameter(change(value.detach()), value.requires_grad)
    return change(value) if type(value) in (int, torch.Tensor) else value


def _drawn(value: Any) -> Any:
    """Another tensor of numbers of the same shape; a mask stays as it is."""
    if not isinstance(value, torch.Tensor) or not value.is_floating_point():
        return value
    if bool(((value == 0) | (value == 1)).all()):
        return value
    generator = torch.Generator().manual_seed(value.numel())
    return torch.randn(value.shape, generator=generator).to(value.dtype)


def _drawn_large(value: Any) -> Any:
    return _drawn(value) * 30 if isinstance(value, torch.Tensor) else value


def _doubled(value: Any) -> Any:
    is_real = isinstance(value, torch.Tensor) and value.is_floating_point()
    return value.double() if is_real else value


def _sizes(request: Frame) -> set[int]:
    """The lengths of axes, and the whole numbers, that a call is given."""
    sizes: set[int] = set()

    def note(value: Any) -> Any:
        sizes.update(value.shape if isinstance(value, torch.Tensor) else [value])
        return value

    if request.header["verb"] == "call":
        _changed(request, note)
    return sizes


def _resized(value: Any, size: int, by: int, also_sizes: bool) -> Any:
    """A tensor whose axes of a length are longer or shorter, and a number of that value likewise.

    Args:
        value: a tensor or a number.
        size: the length.
        by: 1 or -1.
        also_sizes: whether numbers are changed as well.
    """
    if isinstance(value, int):
        return value + by if also_sizes and value == size else value
    for axis, length in enumerate(value.shape):
        if length == size:
            more = (value.narrow(axis, 0, 1),) if by > 0 and length else ()
            value = torch.cat((value.narrow(axis, 0, length + min(by, 0)), *more), axis)
    return value
