"""What an instance holds: its parameters, buffers and parts, how they are reported, given values, differentiated.

It runs beside student code. It imports torch: others reach it through `torch_later`.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import Any

import torch
from torch import nn

from grader.sandbox.plain_data import type_name


@cache
def warm_up() -> None:
    """Run one small forward and backward, so that children find it done."""
    layer = nn.Linear(3, 3)
    result = torch.softmax(layer(torch.ones(2, 3)), dim=-1)
    _backward(result, torch.ones_like(result))


class _Product(torch.autograd.Function):
    """A number whose gradient, for a result, is what is given for it."""

    @staticmethod
    def forward(ctx: Any, result: torch.Tensor, cotangent: torch.Tensor) -> torch.Tensor:
        """Nothing is computed: only the way back counts."""
        ctx.save_for_backward(cotangent)
        return result.new_zeros(())

    @staticmethod
    def backward(ctx: Any, *_given: torch.Tensor) -> tuple[torch.Tensor, None]:
        """What was given."""
        return ctx.saved_tensors[0], None


def _backward(result: torch.Tensor, cotangent: torch.Tensor) -> None:
    """Give everything that a result was made from its gradient.

    As `torch.autograd.backward` does from a cotangent, which first imports a fifth of a second's worth
    of modules.
    """
    torch.autograd.backward(_Product.apply(result, cotangent))  # type: ignore[no-untyped-call]


def of_torch(name: str) -> type[nn.Module]:
    """A module of torch's own, by its name in `torch.nn`.

    Raises:
        AttributeError: when there is none of this name.
    """
    found = getattr(nn, name)
    if not isinstance(found, type) or not issubclass(found, nn.Module):
        raise AttributeError(f"torch.nn.{name} is no module")
    return found


def shared_parameters(instance: object, instances: Iterable[object]) -> list[str]:
    """The parameters of a module whose numbers another module that was made has as well."""
    others = [one for one in instances if one is not instance and isinstance(one, nn.Module)]
    if not others or not isinstance(instance, nn.Module):
        return []
    held = {_storage(parameter) for other in others for parameter in other.parameters()} - {0}
    return [name for name, own in instance.named_parameters() if _storage(own) in held]


def _storage(tensor: torch.Tensor) -> int:
    """Where a tensor's numbers are; 0 where they are nowhere."""
    return tensor.untyped_storage().data_ptr()


def class_names(module: nn.Module, names: Mapping[int, str]) -> dict[str, str]:
    """For each part of a module, the name of its class, by the class's identity."""
    loose = ((name, part) for name, part, _put in loose_parts(module))
    found = [(name, id(type(part))) for name, part in (*_modules(module), *loose)]
    return {name: names[kind] for name, kind in found if name and kind in names}


def gradients(
    value: object, cotangent: Any, target: object, leaves: Mapping[str, Any]
) -> dict[str, dict[str, torch.Tensor | None]]:
    """The gradients of a call's parameters and arguments.

    Args:
        value: what the call returned.
        cotangent: the gradient of the result.
        target: what was called.
        leaves: the arguments, by position or name.
    """
    parameters = _parameters_of(target)
    for parameter in parameters.values():
        parameter.grad = None
    # Of a result of another shape there are none: who asked for them says so.
    is_fitting = isinstance(value, torch.Tensor) and value.shape == cotangent.shape
    if isinstance(value, torch.Tensor) and value.requires_grad and is_fitting:
        _backward(value, cotangent)
    return {
        "parameters": {name: parameter.grad for name, parameter in parameters.items()},
        "arguments": {
            name: leaf.grad
            for name, leaf in leaves.items()
            if isinstance(leaf, torch.Tensor) and leaf.is_floating_point()
        },
    }


def _parameters_of(instance: object) -> dict[str, nn.Parameter]:
    if not isinstance(instance, nn.Module):
        return {}
    return dict(instance.named_parameters(remove_duplicate=False))


def state(instance: object, pack: Callable[[object], Any]) -> dict[str, Any]:
    """What is reported of an instance; `pack` makes a JSON node of a value."""
    parameters = _parameters_of(instance)
    buffers: dict[str, torch.Tensor] = {}
    modules: dict[str, nn.Module] = {}
    loose = [(name, value) for name, value, _put in loose_parts(instance)]
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
        "parameters": pack(parameters),
        "buffers": pack(buffers),
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
PARTS = (torch.Tensor, nn.Module)
PLAIN = frozenset((bool, int, float, str, type(None)))
"""The types of most attributes; none of them is a holder."""


Loose = tuple[str, object, Callable[[Any], None]]
"""A tensor or module that torch does not know of: its name, itself, and what replaces it."""


def loose_parts(instance: object) -> Iterator[Loose]:
    """Tensors and modules in plain attributes of an object (for a module, of all its parts)."""
    if isinstance(instance, nn.Module):
        for name, module in _modules(instance):
            held = vars(module)
            others = map(held.__getitem__, held.keys() - MODULES_OWN)
            if not PLAIN.issuperset(map(type, others)):  # most modules hold nothing else
                yield from _loose_in(held, f"{name}." if name else "", MODULES_OWN)
    else:
        yield from _loose_in(getattr(instance, "__dict__", {}), "")


def _modules(module: nn.Module) -> list[tuple[str, nn.Module]]:
    """What `named_modules` has, in its order and in a third of its time: each call asks for it twice."""
    left, seen, found = [("", module)], set[int](), list[tuple[str, nn.Module]]()
    while left:
        name, part = left.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        found.append((name, part))
        inner = part._modules
        if inner:
            prefix = f"{name}." if name else ""
            below = [(prefix + key, one) for key, one in inner.items() if one is not None]
            left += reversed(below)
    return found


def _loose_in(
    holder: Any, prefix: str, skipped: frozenset[str] = frozenset(), depth: int = 0
) -> Iterator[Loose]:
    """The same in a list or mapping, and in those that it holds."""
    items = holder.items() if isinstance(holder, dict) else enumerate(holder)
    for key, value in [(k, v) for k, v in items if type(v) not in PLAIN and k not in skipped]:
        if not isinstance(value, HOLDERS):
            continue
        if isinstance(value, PARTS):
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


def load(instance: object, values: Mapping[str, torch.Tensor]) -> dict[str, Any]:
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
    for name, value, put in loose_parts(instance):
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
