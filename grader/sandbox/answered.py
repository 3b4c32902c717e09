"""What stands in a student's process for code of theirs that is answered from outside, and the answers.

A function or a class that is wrong, and was judged, is replaced where another one calls it: what
stands there sends its arguments out and returns what comes back, numbers and no code. The answers are
made in a process of the solutions, by `answer`. It runs beside student code and beside solutions. It
imports torch: others reach it through `torch_later`.
"""

import builtins
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn

from grader.sandbox.failures import OutOfTime
from grader.sandbox.tensors import DTYPE_NAMES, without_values
from grader.sandbox.wire import BACK, Frame, Packer, Unpacker

Ask = Callable[[Frame], Frame]
"""Sends a question out, and returns the answer."""

PARTS = ("value", "tensors", "kept", "gradients", "random")
"""What an answer may hold, in the order in which it is packed."""

NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


def stand_in(
    name: str,
    parameters: Sequence[str],
    original: Any,
    ask: Ask,
    is_loading: Callable[[], bool] = lambda: False,
) -> Any:
    """What stands for a function or a class of the student's.

    Args:
        name: what it is called.
        parameters: what the solution's takes, by name.
        original: the student's own, which says how it is called.
        ask: sends a question out.
        is_loading: whether a file is being loaded: what is called meanwhile is the student's own.
    """
    try:
        signature = inspect.signature(original)
    except (TypeError, ValueError):
        signature = inspect.Signature([inspect.Parameter("_", inspect.Parameter.VAR_POSITIONAL)])

    def given(args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        return as_declared(signature, parameters, args, kwargs)

    if isinstance(original, type):
        return _class(name, signature, given, ask, lambda: original if is_loading() else None)

    def answered(*args: Any, **kwargs: Any) -> Any:
        if is_loading():
            return original(*args, **kwargs)
        return _Question(ask, {"name": name}, *given(args, kwargs)).asked()

    answered.__name__ = answered.__qualname__ = name
    return answered


def as_declared(
    own: inspect.Signature, wanted: Sequence[str], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[list[Any], dict[str, Any]]:
    """A call of the student's own as the solution takes it.

    A value goes to the parameter of its name; what is left goes to what is left, in order.

    Raises:
        TypeError: when the student's own could not be called so.
    """
    values = own.bind(*args, **kwargs).arguments
    if any(own.parameters[name].kind not in NAMED for name in values):
        return list(args), dict(kwargs)
    rest = iter([name for name in wanted if name not in own.parameters])
    places = {name: name if name in wanted else next(rest, "") for name in own.parameters}
    return [], {places[name]: value for name, value in values.items() if places[name]}


def _class(
    name: str,
    signature: inspect.Signature,
    given: Callable[..., tuple[list[Any], dict[str, Any]]],
    ask: Ask,
    instead: Callable[[], type | None],
) -> type:
    """A module of this name, whose parameters are as the solution's begin and can be given others."""

    def new(cls: type, *args: Any, **kwargs: Any) -> Any:
        own = instead() if cls is made else None
        return own(*args, **kwargs) if own else nn.Module.__new__(cls)

    def start(self: Any, *args: Any, **kwargs: Any) -> None:
        nn.Module.__init__(self)
        taken = given(args, kwargs)
        object.__setattr__(self, "_made", taken)
        header = _Question(ask, {"name": name, "made": True}, *taken).reply()
        for full, held in header["tensors"].items():
            _put(self, full, _held(held), is_kept=full in header["kept"])

    def forward(self: Any, *args: Any, **kwargs: Any) -> Any:
        state = {**dict(self.named_parameters()), **dict(self.named_buffers())}
        asked = {"name": name, "training": self.training, "of": self._made}
        return _Question(ask, asked, list(args), dict(kwargs), state).asked()

    members = {"__new__": new, "__init__": start, "forward": forward, "__signature__": signature}
    made = type(name, (nn.Module,), members)
    return made


def _held(held: Any) -> torch.Tensor:
    """A tensor; of a shape without numbers one on the device "meta"."""
    if isinstance(held, torch.Tensor):
        return held
    dtype, shape, is_parameter = held
    tensor = without_values(dtype, shape, "meta")
    return nn.Parameter(tensor) if is_parameter else tensor


def _put(module: nn.Module, full: str, tensor: torch.Tensor, *, is_kept: bool) -> None:
    """Give a module a parameter or a buffer by its full name, in parts of its own."""
    *parts, name = full.split(".")
    for part in parts:
        if part not in module._modules:
            module.add_module(part, nn.Module())
        module = module.get_submodule(part)
    if isinstance(tensor, nn.Parameter):
        module.register_parameter(name, tensor)
    else:
        module.register_buffer(name, tensor, persistent=is_kept)


@dataclass
class _Question:
    """A call that is answered from outside.

    Args:
        asked: what is called.
        state: of a module, its parameters and buffers as they are.
        payload: what was sent, so that gradients are of the same numbers.
    """

    ask: Ask
    asked_of: dict[str, Any]
    args: list[Any]
    kwargs: dict[str, Any]
    state: dict[str, Any] = field(default_factory=dict)
    header: dict[str, Any] = field(default_factory=dict)
    payload: bytes = b""
    value: Any = None

    def asked(self) -> Any:
        """What comes back, with gradients that are asked for in the same way."""
        leaves = list(_leaves((self.args, self.kwargs, self.state)))
        if leaves and torch.is_grad_enabled():
            through: tuple[torch.Tensor, ...] = _Answer.apply(self, *leaves)  # type: ignore[no-untyped-call]
            return _rebuilt(self.value_of, iter(through))
        return _rebuilt(self.value_of, (tensor.detach() for tensor in self.tensors()))

    @property
    def value_of(self) -> Any:
        """The value as it came."""
        if not self.header:
            self.value = self.reply()["value"]
        return self.value

    def tensors(self) -> list[torch.Tensor]:
        """The tensors of the value."""
        return list(_tensors(self.value_of))

    def reply(self) -> dict[str, Any]:
        """Ask, and return what came back."""
        packer = Packer()
        packed = {
            "args": [packer.pack(value) for value in self.args],
            "kwargs": {name: packer.pack(value) for name, value in self.kwargs.items()},
            "state": packer.pack(self.state),
            "of": packer.pack(self.asked_of.pop("of", None)),
            "random": packer.pack(torch.get_rng_state()),
        }
        on_meta = torch.empty(0).is_meta  # tensors have a shape there, and no numbers
        self.header = {"verb": BACK, **self.asked_of, **packed, "on_meta": on_meta}
        self.payload = packer.payload()
        found = _read(self.ask(Frame(self.header, self.payload)))
        torch.set_rng_state(found.pop("random"))
        return found

    def gradients(self, cotangents: Sequence[torch.Tensor]) -> list[torch.Tensor | None]:
        """The gradients of what was handed in."""
        packer = Packer()
        node = packer.pack([tensor.contiguous() for tensor in cotangents])
        payload = self.payload + packer.payload()
        found = _read(self.ask(Frame({**self.header, "cotangents": node}, payload)))
        return list(found["gradients"])


class _Answer(torch.autograd.Function):
    """Values from outside, and their gradients."""

    @staticmethod
    def forward(ctx: Any, question: _Question, *leaves: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """The tensors of the answer."""
        del leaves
        ctx.question = question
        found = question.tensors()
        ctx.mark_non_differentiable(*(tensor for tensor in found if not tensor.requires_grad))
        ctx.flags = [tensor.requires_grad for tensor in found]
        return tuple(tensor.detach() for tensor in found)

    @staticmethod
    def backward(ctx: Any, *cotangents: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        """The gradients for what was handed in."""
        wanted = [c for c, is_wanted in zip(cotangents, ctx.flags, strict=True) if is_wanted]
        return None, *ctx.question.gradients(wanted)


def _read(reply: Frame) -> dict[str, Any]:
    """What an answer holds; an exception of the solution's is raised here."""
    if failure := reply.header.get("failure"):
        message = str(failure.get("message"))
        if failure.get("type") == OutOfTime.__name__:
            raise OutOfTime(message)
        kind = getattr(builtins, str(failure.get("type")), RuntimeError)
        is_error = isinstance(kind, type) and issubclass(kind, Exception)
        raise (kind if is_error else RuntimeError)(message)
    unpacker = Unpacker(reply.payload)
    names = (name for name in PARTS if name in reply.header)
    return {name: unpacker.unpack(reply.header[name]) for name in names}


# The other end, in a process of the solutions.


def answer(
    target: Any, header: Mapping[str, Any], payload: bytes, packer: Packer
) -> dict[str, Any]:
    """The answer to a question, by the solution's own function or class.

    Args:
        target: the function or class.
        header: of the question.
        payload: its tensors.
        packer: takes what is sent back.
    """
    unpacker = Unpacker(payload)
    args = [unpacker.unpack(node) for node in header["args"]]
    kwargs = {name: unpacker.unpack(node) for name, node in header["kwargs"].items()}
    state = unpacker.unpack(header["state"])
    made = unpacker.unpack(header["of"])
    random = unpacker.unpack(header["random"])
    if header.get("made"):
        torch.set_rng_state(random)
        with torch.device("meta" if header["on_meta"] is True else "cpu"):
            instance = target(*args, **kwargs)
        return _made(instance, packer)
    called = target if made is None else _restored(target(*made[0], **made[1]), state, header)
    torch.set_rng_state(random)
    with torch.enable_grad():
        value = called(*args, **kwargs)
    if "cotangents" not in header:
        return {"value": packer.pack(value), "random": packer.pack(torch.get_rng_state())}
    cotangents = unpacker.unpack(header["cotangents"])
    results = [tensor for tensor in _tensors(value) if tensor.requires_grad]
    leaves = list(_leaves((args, kwargs, state)))
    found = torch.autograd.grad(results, leaves, cotangents, allow_unused=True)
    return {"gradients": packer.pack(list(found))}


def _made(instance: Any, packer: Packer) -> dict[str, Any]:
    """What a new instance holds."""
    held = {**dict(instance.named_parameters()), **dict(instance.named_buffers())}
    shapes = {
        name: [DTYPE_NAMES[tensor.dtype], list(tensor.shape), isinstance(tensor, nn.Parameter)]
        for name, tensor in held.items()
        if tensor.is_meta
    }
    return {
        "tensors": packer.pack(shapes or held),
        "kept": packer.pack(list(instance.state_dict())),
        "random": packer.pack(torch.get_rng_state()),
    }


def _restored(
    instance: nn.Module, state: Mapping[str, torch.Tensor], header: Mapping[str, Any]
) -> nn.Module:
    """An instance with these parameters and buffers, so that gradients reach them."""
    for full, tensor in state.items():
        owner, _dot, name = full.rpartition(".")
        module = instance.get_submodule(owner)
        kept: dict[str, Any] = module._parameters
        (kept if name in kept else module._buffers)[name] = tensor
    return instance.train(header["training"] is True)


# Values within values.


def _tensors(value: Any) -> Iterator[torch.Tensor]:
    """The tensors of a value, in order."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _tensors(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _tensors(item)


def _leaves(value: Any) -> Iterator[torch.Tensor]:
    """The tensors of a value that gradients are wanted for."""
    return (tensor for tensor in _tensors(value) if tensor.requires_grad)


def _rebuilt(value: Any, tensors: Iterator[torch.Tensor]) -> Any:
    """The same value with other tensors."""
    if isinstance(value, torch.Tensor):
        return next(tensors)
    if isinstance(value, Mapping):
        return {name: _rebuilt(item, tensors) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_rebuilt(item, tensors) for item in value)
    return value
