"""Runs student code and replies to requests about it with data, never with objects.

It runs beside student code: it holds no secret and gives no verdict.
"""

import random
import types
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn

from grader.sandbox.failures import Failure, describe_failure, stub_exercise
from grader.sandbox.loader import Loader
from grader.sandbox.wire import Frame, Packer, RemoteObject, Unpacker, WireFault, type_name


class Missing(Exception):
    """A name the student was to define is not there."""


class NotAttempted(Exception):
    """A constant's stub is still there."""

    def __init__(self, failure: Failure) -> None:
        self.failure = failure
        super().__init__(failure.message)


@dataclass(slots=True)
class Servant:
    """One submission, loaded, and the instances made from it.

    Args:
        loader: the files of the submission, each loaded when it is first needed.
        drain: returns what student code has printed since the last call.
        first: instances are numbered from here, again after each `forget`.
        interactive: let Ctrl-C through, where a person sits in front of this process.
        instances: the student's objects that the trusted side can refer to, by number.
    """

    loader: Loader = field(default_factory=Loader)
    drain: Callable[[], str] = str
    first: int = 0
    interactive: bool = False
    instances: dict[int, object] = field(default_factory=dict)

    def answer(self, frame: Frame) -> Frame:
        """Reply to one request; whatever student code raises becomes part of the reply."""
        packer = Packer(self._refer)
        if frame.header.get("fresh"):
            self.instances.clear()
        try:
            header = self._dispatch(frame, packer)
        except Missing as error:
            header = {"failure": {"kind": "missing", "message": str(error)}}
        except NotAttempted as error:
            header = {"failure": error.failure.as_stub().header()}
        except BaseException as error:
            if self.interactive and isinstance(error, KeyboardInterrupt):
                raise
            packer = Packer()
            header = {"failure": self._failure(error).header()}
        header["output"] = self.drain()
        return Frame(header, packer.payload())

    def _dispatch(self, frame: Frame, packer: Packer) -> dict[str, Any]:
        request = frame.header
        match request.get("verb"):
            case "sources":
                self.loader.add(request["sources"])
                return {}
            case "open":
                return self.loader.open(request["source"]).header()
            case "get":
                return {"value": packer.pack(self._named(request))}
            case "call":
                return self._call(request, Unpacker(frame.payload, self._resolve), packer)
            case "state":
                packer.shapes_only = not request.get("values", True)
                return _state(self._instance(request["instance"]), packer)
            case "load":
                values = Unpacker(frame.payload).unpack(request["values"])
                return _load(self._instance(request["instance"]), values)
            case "forget":
                self.instances.clear()
                return {}
            case verb:
                raise WireFault(f"no such verb: {verb}")

    # What a request names.

    def _named(self, request: Mapping[str, Any]) -> object:
        opened = self.loader.open(request["source"])
        try:
            return opened.namespace[request["name"]]
        except KeyError:
            # A constant's stub raises where the constant would be: at the top of the file.
            for failure in opened.failures:
                if (stub_exercise(failure.message) or "").endswith(f"/{request['name']}"):
                    raise NotAttempted(failure) from None
            raise Missing(request["name"]) from None

    def _instance(self, number: int) -> object:
        try:
            return self.instances[number]
        except KeyError:
            raise WireFault(f"no instance {number}") from None

    def _resolve(self, reference: RemoteObject) -> object:
        return self._instance(reference.number)

    def _refer(self, value: object) -> RemoteObject | None:
        if isinstance(value, type):
            return RemoteObject(0, "class", value.__name__)
        if isinstance(value, types.FunctionType | types.BuiltinFunctionType | types.MethodType):
            return RemoteObject(0, "function", value.__name__)
        for number, known in self.instances.items():
            if known is value:
                return _reference(number, value)
        if isinstance(value, nn.Module):
            return _reference(self._keep(value), value)
        return None

    def _keep(self, instance: object) -> int:
        number = self.first + len(self.instances) + 1
        self.instances[number] = instance
        return number

    # The verb `call`.

    def _call(
        self, request: Mapping[str, Any], unpacker: Unpacker, packer: Packer
    ) -> dict[str, Any]:
        instance = request.get("instance")
        target = self._named(request) if instance is None else self._instance(instance)
        arguments = {
            str(name): unpacker.unpack(node)
            for name, node in [*enumerate(request["args"]), *request["kwargs"].items()]
        }
        has_cotangent = request.get("cotangent") is not None
        cotangent = unpacker.unpack(request["cotangent"]) if has_cotangent else None
        leaves = {name: _leaf(value, has_cotangent) for name, value in arguments.items()}
        given = {name: _argument(leaf, arguments[name]) for name, leaf in leaves.items()}
        if request.get("training") is not None and isinstance(target, nn.Module):
            target.train(request["training"])
        if request.get("seed") is not None:
            random.seed(request["seed"])
            # `torch.manual_seed` also formats a stack for CUDA, 1 ms a call.
            torch.default_generator.manual_seed(request["seed"])
        value = self._invoke(target, given, len(request["args"]))
        header: dict[str, Any] = {"value": packer.pack(value)}
        header["changed"] = [
            name for name, leaf in leaves.items() if _changed(arguments[name], given[name])
        ]
        if has_cotangent:
            gradients = _gradients(value, cotangent, target, leaves)
            header["gradients"] = packer.pack(gradients)
        return header

    def _invoke(self, target: object, given: dict[str, Any], positional: int) -> object:
        args = [given[str(index)] for index in range(positional)]
        kwargs = {name: value for name, value in given.items() if not name.isdigit()}
        if isinstance(target, type):
            made = target(*args, **kwargs)
            return _reference(self._keep(made), made)
        if not callable(target) and hasattr(target, "forward"):
            return target.forward(*args, **kwargs)
        return target(*args, **kwargs)  # type: ignore[operator]

    def _failure(self, error: BaseException) -> Failure:
        failure = describe_failure(error, self.loader.find_cell)
        may_be_stub = isinstance(error, NotImplementedError) and failure.own
        return failure.as_stub() if may_be_stub else failure


def _reference(number: int, value: object) -> RemoteObject:
    kind = "module" if isinstance(value, nn.Module) else "instance"
    return RemoteObject(number, kind, type(value).__name__)


def _leaf(value: object, differentiate: bool) -> object:
    if isinstance(value, nn.Parameter):
        return nn.Parameter(value.detach().clone(), requires_grad=value.requires_grad)
    if differentiate and isinstance(value, torch.Tensor) and value.is_floating_point():
        return value.detach().requires_grad_(True)
    return value


def _argument(leaf: object, value: object) -> Any:
    """What the student's code receives: a copy, so that a change in place is noticed."""
    if not isinstance(leaf, torch.Tensor):
        return leaf
    if isinstance(value, nn.Parameter):
        return leaf
    copy = leaf.clone()
    return copy if leaf.grad_fn is None and leaf.requires_grad else copy.detach()


def _changed(before: object, after: object) -> bool:
    if not isinstance(before, torch.Tensor) or not isinstance(after, torch.Tensor):
        return False
    before, after = before.detach(), after.detach()
    if before.shape != after.shape or before.dtype != after.dtype:
        return True
    if torch.equal(before, after):
        return False
    same = before == after
    if before.is_floating_point():
        same |= before.isnan() & after.isnan()
    return not bool(same.all())


def _gradients(
    value: object, cotangent: Any, target: object, leaves: Mapping[str, Any]
) -> dict[str, dict[str, torch.Tensor | None]]:
    parameters = dict(_named_parameters(target)) if isinstance(target, nn.Module) else {}
    for parameter in parameters.values():
        parameter.grad = None
    if isinstance(value, torch.Tensor) and value.requires_grad:
        torch.autograd.backward(value, cotangent)
    tensors = {
        name: leaf
        for name, leaf in leaves.items()
        if isinstance(leaf, torch.Tensor) and leaf.is_floating_point()
    }
    return {
        "parameters": {name: parameter.grad for name, parameter in parameters.items()},
        "arguments": {name: leaf.grad for name, leaf in tensors.items()},
    }


# The verbs `state` and `load`.


def _named_parameters(module: nn.Module) -> Iterator[tuple[str, nn.Parameter]]:
    return module.named_parameters(remove_duplicate=False)


def _state(instance: object, packer: Packer) -> dict[str, Any]:
    parameters: dict[str, torch.Tensor] = {}
    buffers: dict[str, torch.Tensor] = {}
    loose = [(name, value) for name, value, _ in _loose(instance, "")]
    if isinstance(instance, nn.Module):
        parameters = dict(_named_parameters(instance))
        buffers = dict(instance.named_buffers(remove_duplicate=False))
        registered = {id(part) for part in (*instance.modules(), *parameters.values())}
        loose = [
            (name, value)
            for prefix, module in instance.named_modules()
            for name, value, _ in _loose(module, f"{prefix}." if prefix else "")
            if not _is_single_number(value) and id(value) not in registered
        ]
    by_identity: dict[int, list[str]] = {}
    for name, tensor in [*parameters.items(), *buffers.items()]:
        by_identity.setdefault(id(tensor), []).append(name)
    return {
        "parameters": packer.pack(parameters),
        "buffers": packer.pack(buffers),
        "loose": {
            name: "tensor" if isinstance(value, torch.Tensor) else type_name(value)
            for name, value in loose
        },
        "aliases": [names for names in by_identity.values() if len(names) > 1],
        "training": isinstance(instance, nn.Module) and instance.training,
    }


def _is_single_number(value: object) -> bool:
    """A scale kept as a tensor works on every device; it need not move with the module."""
    return isinstance(value, torch.Tensor) and value.dim() == 0


MODULES_OWN = frozenset(vars(nn.Module()))
"""What torch keeps in a module's attributes."""
HOLDERS = (torch.Tensor, nn.Module, list, tuple, dict)


def _loose(instance: object, prefix: str) -> Iterator[tuple[str, object, Callable[[Any], None]]]:
    """Tensors and modules in plain attributes, or in lists and mappings there."""
    own = MODULES_OWN if isinstance(instance, nn.Module) else ()
    for name, value in list(getattr(instance, "__dict__", {}).items()):
        if name not in own and isinstance(value, HOLDERS):
            yield from _loose_in(f"{prefix}{name}", value, _setter(instance, name))


def _loose_in(
    name: str, value: object, put: Callable[[Any], None], depth: int = 0
) -> Iterator[tuple[str, object, Callable[[Any], None]]]:
    if isinstance(value, torch.Tensor | nn.Module):
        yield name, value, put
    elif isinstance(value, list | tuple | dict) and depth < 4:
        for key, item in list(value.items() if isinstance(value, dict) else enumerate(value)):
            if not isinstance(item, HOLDERS):
                continue
            yield from _loose_in(f"{name}.{key}", item, _setter(value, key), depth + 1)


def _setter(owner: Any, key: Any) -> Callable[[Any], None]:
    def put(value: Any) -> None:
        if isinstance(owner, list | dict):
            owner[key] = value
        elif isinstance(owner, tuple):  # cannot be changed, what it holds can
            owner[key].data = value
        else:
            owner.__dict__[key] = value

    return put


def _load(instance: object, values: Mapping[str, torch.Tensor]) -> dict[str, Any]:
    """Set parameters (or tensors kept as plain attributes) to these values and their dtype."""
    owned = dict(_named_parameters(instance)) if isinstance(instance, nn.Module) else {}
    if isinstance(instance, nn.Module) and _convert(instance, owned, values):
        owned = dict(_named_parameters(instance))
    parameters: dict[str, torch.Tensor] = dict(owned)
    setters: dict[str, Callable[[Any], None]] = {}
    if not values.keys() <= owned.keys():
        _add_loose(instance, parameters, setters)
    report: dict[str, str] = {}
    given = set()
    for name, value in values.items():
        matches = _matches(name, parameters)
        if len(matches) != 1:
            report[name] = "missing" if not matches else "ambiguous"
            continue
        given.add(matches[0])
        report[name] = _give(parameters[matches[0]], value, setters.get(matches[0]))
    identities = {id(parameters[name]) for name in given}
    not_given = [name for name, tensor in owned.items() if id(tensor) not in identities]
    return {"report": report, "not_given": not_given}


def _add_loose(
    instance: object,
    parameters: dict[str, torch.Tensor],
    setters: dict[str, Callable[[Any], None]],
) -> None:
    """Add the tensors, and the parameters of modules, that are kept as plain attributes."""
    owners: list[tuple[str, object]] = [("", instance)]
    if isinstance(instance, nn.Module):
        owners = [(f"{name}." if name else "", m) for name, m in instance.named_modules()]
    for prefix, owner in owners:
        for name, value, put in _loose(owner, prefix):
            if isinstance(value, torch.Tensor):
                setters[name] = put
                parameters.setdefault(name, value)
            elif isinstance(value, nn.Module):
                for inner, parameter in _named_parameters(value):
                    parameters.setdefault(f"{name}.{inner}", parameter)


def _convert(
    module: nn.Module, owned: Mapping[str, torch.Tensor], values: Mapping[str, torch.Tensor]
) -> bool:
    """Give a module's floating-point buffers the dtype that its parameters are about to have."""
    given = {value.dtype for value in values.values() if value.is_floating_point()}
    held = {p.dtype for p in owned.values() if p.is_floating_point()}
    if len(given) != 1 or not held or given == held:
        return False
    module.to(given.pop())
    return True


def _matches(name: str, parameters: Mapping[str, torch.Tensor]) -> list[str]:
    if name in parameters:
        return [name]
    found = {id(t): known for known, t in parameters.items() if known.endswith(f".{name}")}
    return list(found.values())


def _give(tensor: torch.Tensor, value: torch.Tensor, put: Callable[[Any], None] | None) -> str:
    if tensor.shape != value.shape:
        return f"wrong shape {tuple(tensor.shape)}"
    fresh = value.detach().clone()
    if put is not None and not isinstance(tensor, nn.Parameter):
        put(fresh.requires_grad_(tensor.requires_grad))
    else:
        try:
            tensor.data = fresh
        except RuntimeError:
            return "cannot be set"
    return "loaded"
