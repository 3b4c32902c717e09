"""Runs student code and replies to requests about it with data, never with objects.

It runs beside student code: it holds no secret and gives no verdict.
"""

import random
import types
from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext, suppress
from dataclasses import asdict, dataclass, field
from typing import Any

import torch
from torch import nn

from grader.sandbox.arguments import argument_of, is_changed, leaf_of
from grader.sandbox.failures import describe_failure, stub_exercise
from grader.sandbox.loader import Loader
from grader.sandbox.placeholders import NotImported
from grader.sandbox.statements import empty_body, hides_code
from grader.sandbox.watching import (
    Operations,
    parameter_names,
    shared_parameters,
    written_into,
)
from grader.sandbox.wire import Frame, Packer, RemoteObject, Unpacker, WireFault, type_name


class Missing(Exception):
    """A name the student was to define is not there."""


class NotAttempted(Exception):
    """A constant's stub is still there; the one argument is its `Failure`."""


@dataclass(slots=True)
class Servant:
    """One submission, loaded, and the instances made from it.

    Args:
        loader: the files of the submission, each loaded when it is first needed.
        drain: returns what student code has printed since the last call.
        first: instances are numbered from here, again after each `forget`.
        interactive: let Ctrl-C through, where a person sits in front of this process.
        instances: the student's objects that the trusted side can refer to, by number.
        anew: for each, what its last call has set among its plain attributes.
    """

    loader: Loader = field(default_factory=Loader)
    drain: Callable[[], str] = str
    first: int = 0
    interactive: bool = False
    instances: dict[int, object] = field(default_factory=dict)
    anew: dict[int, list[str]] = field(default_factory=dict)

    def reply(self, frame: Frame) -> Frame:
        """Reply to one request; whatever student code raises becomes part of the reply."""
        packer = Packer(self._refer)
        if frame.header.get("fresh"):
            self.instances.clear()
        try:
            header = self._dispatch(frame, packer)
        except Missing as error:
            header = {"failure": {"kind": "missing", "message": str(error)}}
        except NotAttempted as error:
            header = {"failure": error.args[0].as_stub().header()}
        except BaseException as error:
            if self.interactive and isinstance(error, KeyboardInterrupt):
                raise
            packer = Packer()
            failure = describe_failure(error, self.loader.find_cell)
            if isinstance(error, NotImplementedError) and failure.own and not hides_code(error):
                failure = failure.as_stub()
            header = {"failure": failure.header()}
        header["output"] = self.drain()
        return Frame(header, packer.payload())

    def _dispatch(self, frame: Frame, packer: Packer) -> dict[str, Any]:
        request = frame.header
        match request.get("verb"):
            case "sources":
                lent = request.get("lent", ())
                self.loader.add(request["sources"], request.get("awaited", ()), lent)
                return {}
            case "open":
                return self.loader.open(request["source"]).header()
            case "get":
                value = self._named(request)
                return {"value": packer.pack(value), "parameters": parameter_names(value)}
            case "call":
                unpacker = Unpacker(
                    frame.payload,
                    lambda found: self._instance(found.number),
                    find=lambda name: self._named({"source": request["source"], "name": name}),
                )
                return self._call(request, unpacker, packer)
            case "state":
                packer.shapes_only = not request.get("values", True)
                instance = self._instance(request["instance"])
                shared = shared_parameters(instance, self.instances.values())
                classes = self._classes(instance, request)
                anew = self.anew.get(request["instance"], [])
                known = {"shared": shared, "classes": classes, "anew": anew}
                return {**_state(instance, packer), **known}
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
        if "class" in request:
            opened.classes.choose(request["name"], request["class"])
        try:
            value = opened.namespace[request["name"]]
        except KeyError:
            # So did a constant's stub once: it raised where the constant would be.
            for failure in opened.failures:
                if (stub_exercise(failure.message) or "").endswith(f"/{request['name']}"):
                    raise NotAttempted(failure) from None
            raise Missing(request["name"]) from None
        if isinstance(value, NotImported):
            raise value.error()
        if isinstance(value, NotImplementedError):
            raise NotAttempted(describe_failure(value, self.loader.find_cell))
        return value

    def _instance(self, number: int) -> object:
        try:
            return self.instances[number]
        except KeyError:
            raise WireFault(f"no instance {number}") from None

    def _classes(self, instance: object, request: Mapping[str, Any]) -> dict[str, str]:
        """For each part of a module, the name that its class has in the file that is asked for."""
        if not isinstance(instance, nn.Module) or "source" not in request:
            return {}
        names = self.loader.open(request["source"]).classes.names()
        loose = ((name, part) for name, part, _put in _loose(instance))
        found = [(name, id(type(part))) for name, part in (*instance.named_modules(), *loose)]
        return {name: names[kind] for name, kind in found if name and kind in names}

    def _refer(self, value: object) -> RemoteObject | None:
        if isinstance(value, type):
            return RemoteObject(0, "class", value.__name__)
        if isinstance(value, types.FunctionType | types.BuiltinFunctionType | types.MethodType):
            return RemoteObject(0, "function", value.__name__)
        for number, known in self.instances.items():
            if known is value:
                return _reference(number, value)
        return self._keep(value) if isinstance(value, nn.Module) else None

    def _keep(self, instance: object) -> RemoteObject:
        number = self.first + len(self.instances) + 1
        self.instances[number] = instance
        return _reference(number, instance)

    # The verb `call`.

    def _call(
        self, request: Mapping[str, Any], unpacker: Unpacker, packer: Packer
    ) -> dict[str, Any]:
        instance = request.get("instance")
        target = self._named(request) if instance is None else self._instance(instance)
        asked = _method(target, request["method"]) if "method" in request else target
        arguments = {
            str(name): unpacker.unpack(node)
            for name, node in [*enumerate(request["args"]), *request["kwargs"].items()]
        }
        cotangent = unpacker.unpack(request.get("cotangent"))
        has_cotangent = cotangent is not None
        leaves = {name: leaf_of(value, has_cotangent) for name, value in arguments.items()}
        given = {name: argument_of(leaf, arguments[name]) for name, leaf in leaves.items()}
        if request.get("training") is not None and isinstance(target, nn.Module):
            target.train(request["training"])
        if request.get("seed") is not None:
            random.seed(request["seed"])
            # `torch.manual_seed` also formats a stack for CUDA, 1 ms a call.
            torch.default_generator.manual_seed(request["seed"])
        before = list(_loose(target)) if instance is not None else []
        operations = Operations()
        with operations if request.get("operations") else nullcontext():
            value = self._invoke(asked, given, len(request["args"]))
        if instance is not None:
            known = {id(part) for _name, part, _put in before}
            now = _loose(target)
            self.anew[instance] = [name for name, part, _put in now if id(part) not in known]
        header: dict[str, Any] = {"value": packer.pack(value)}
        if "method" in request and header["value"] == {"unsupported": type_name(value)}:
            header["value"] = packer.pack(self._keep(value))  # an iterator, another instance
        if request.get("operations"):
            header["operations"] = operations.counts
        if value is None and (body := empty_body(asked)):
            header["body"] = body
        header["changed"] = [name for name in given if is_changed(arguments[name], given[name])]
        if header["changed"]:
            header["writes"] = self._writes(asked, header["changed"])
        if has_cotangent:
            header["gradients"] = packer.pack(_gradients(value, cotangent, target, leaves))
        return header

    def _writes(self, target: object, changed: list[str]) -> list[list[Any]]:
        """The parameters that were changed, each with the line that did it, where it is known."""
        found = []
        with suppress(Exception):  # it looks at the student's objects
            for argument in changed:
                name, line = written_into(target, argument, self.loader.find_cell)
                found.append([name, asdict(line) if line else None])
        return found

    def _invoke(self, target: object, given: dict[str, Any], positional: int) -> object:
        args = [given[str(index)] for index in range(positional)]
        kwargs = {name: value for name, value in given.items() if not name.isdigit()}
        if isinstance(target, type):
            return self._keep(target(*args, **kwargs))
        if not callable(target) and hasattr(target, "forward"):
            return target.forward(*args, **kwargs)
        return target(*args, **kwargs)  # type: ignore[operator]


def _method(instance: object, name: str) -> Callable[..., object]:
    """A method of an instance; Python's own, such as `__len__`, through its class, as Python does."""
    if not name.isidentifier():
        raise WireFault("a method has no name")
    if name.startswith("__") and name.endswith("__"):
        return types.MethodType(getattr(type(instance), name), instance)
    method: Callable[..., object] = getattr(instance, name)
    return method


def _reference(number: int, value: object) -> RemoteObject:
    kind = "module" if isinstance(value, nn.Module) else "instance"
    return RemoteObject(number, kind, type(value).__name__)


def _gradients(
    value: object, cotangent: Any, target: object, leaves: Mapping[str, Any]
) -> dict[str, dict[str, torch.Tensor | None]]:
    parameters = _parameters_of(target)
    for parameter in parameters.values():
        parameter.grad = None
    # Of a result of another shape there are none: who asked for them says so.
    is_fitting = isinstance(value, torch.Tensor) and value.shape == cotangent.shape
    if isinstance(value, torch.Tensor) and value.requires_grad and is_fitting:
        torch.autograd.backward(value, cotangent)
    return {
        "parameters": {name: parameter.grad for name, parameter in parameters.items()},
        "arguments": {
            name: leaf.grad
            for name, leaf in leaves.items()
            if isinstance(leaf, torch.Tensor) and leaf.is_floating_point()
        },
    }


# The verbs `state` and `load`.


def _parameters_of(instance: object) -> dict[str, nn.Parameter]:
    if not isinstance(instance, nn.Module):
        return {}
    return dict(instance.named_parameters(remove_duplicate=False))


def _state(instance: object, packer: Packer) -> dict[str, Any]:
    parameters = _parameters_of(instance)
    buffers: dict[str, torch.Tensor] = {}
    modules: dict[str, nn.Module] = {}
    loose = [(name, value) for name, value, _put in _loose(instance)]
    if isinstance(instance, nn.Module):
        buffers = dict(instance.named_buffers(remove_duplicate=False))
        modules = dict(instance.named_modules(remove_duplicate=False))
        registered = {id(part) for part in (*instance.modules(), *parameters.values())}
        # A scale kept as a tensor works on every device; it need not move with the module.
        loose = [
            (name, value)
            for name, value in loose
            if id(value) not in registered
            and not (isinstance(value, torch.Tensor) and value.dim() == 0)
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
        "modules": {name: type(module).__name__ for name, module in modules.items() if name},
        "training": isinstance(instance, nn.Module) and instance.training,
    }


MODULES_OWN = frozenset(vars(nn.Module()))
"""What torch keeps in a module's attributes."""
HOLDERS = (torch.Tensor, nn.Module, list, tuple, dict)


Loose = tuple[str, object, Callable[[Any], None]]
"""A tensor or module that torch does not know of: its name, itself, and what replaces it."""


def _loose(instance: object) -> Iterator[Loose]:
    """Tensors and modules in plain attributes of an object (for a module, of all its parts)."""
    if isinstance(instance, nn.Module):
        for name, module in instance.named_modules():
            yield from _loose_in(vars(module), f"{name}." if name else "", MODULES_OWN)
    else:
        yield from _loose_in(getattr(instance, "__dict__", {}), "")


def _loose_in(
    holder: Any, prefix: str, skipped: frozenset[str] = frozenset(), depth: int = 0
) -> Iterator[Loose]:
    """The same in a list or mapping, and in those that it holds."""
    for key, value in list(holder.items() if isinstance(holder, dict) else enumerate(holder)):
        if key in skipped or not isinstance(value, HOLDERS):
            continue
        if isinstance(value, torch.Tensor | nn.Module):
            yield f"{prefix}{key}", value, _setter(holder, key)
        elif depth < 4:
            yield from _loose_in(value, f"{prefix}{key}.", depth=depth + 1)


def _setter(owner: Any, key: Any) -> Callable[[Any], None]:
    def put(value: Any) -> None:
        if isinstance(owner, tuple):  # cannot be changed, what it holds can
            owner[key].data = value
        else:
            owner[key] = value

    return put


def _load(instance: object, values: Mapping[str, torch.Tensor]) -> dict[str, Any]:
    """Set parameters (or tensors kept as plain attributes) to these values and their dtype."""
    owned = _parameters_of(instance)
    if isinstance(instance, nn.Module) and _convert(instance, owned, values):
        owned = _parameters_of(instance)
    parameters: dict[str, torch.Tensor] = dict(owned)
    setters: dict[str, Callable[[Any], None]] = {}
    if not values.keys() <= owned.keys():
        _add_loose(instance, parameters, setters)
    report: dict[str, str] = {}
    given: dict[str, str] = {}
    for name, value in values.items():
        matches = [name]
        if name not in parameters:
            similar = {id(t): full for full, t in parameters.items() if full.endswith(f".{name}")}
            matches = list(similar.values())
        if len(matches) != 1:
            report[name] = "missing" if not matches else "ambiguous"
            continue
        given[name] = matches[0]
        report[name] = _give(parameters[matches[0]], value, setters.get(matches[0]))
    identities = {id(parameters[name]) for name in given.values()}
    not_given = [name for name, tensor in owned.items() if id(tensor) not in identities]
    taken = {name: full for name, full in given.items() if report[name] == "loaded"}
    names = {name: full for name, full in taken.items() if full in owned}
    return {"report": report, "not_given": not_given, "names": names}


def _add_loose(
    instance: object,
    parameters: dict[str, torch.Tensor],
    setters: dict[str, Callable[[Any], None]],
) -> None:
    """Add the tensors, and the parameters of modules, that are kept as plain attributes."""
    for name, value, put in _loose(instance):
        if isinstance(value, torch.Tensor):
            setters[name] = put
            parameters.setdefault(name, value)
        elif isinstance(value, nn.Module):
            for inner, parameter in _parameters_of(value).items():
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
