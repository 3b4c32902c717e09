"""What the sandbox knows of torch before anybody has imported it: that nobody has a tensor.

It runs on both sides, beside student code as well. All that needs torch is in `tensors`,
`module_state` and `meter`; they are imported here, when something of them is first asked for.
"""

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeGuard

if TYPE_CHECKING:
    import torch

    from grader.sandbox import meter, module_state, tensors
else:

    class _Later:
        """A module that is imported when something of it is first asked for, and kept.

        Once it is, nothing that student code does to `sys.modules` changes it.
        """

        def __init__(self, name: str) -> None:
            self.name = name

        def __getattr__(self, name: str) -> Any:
            module = importlib.import_module(self.name)
            vars(self).update(vars(module))
            return getattr(module, name)

    torch = _Later("torch")
    tensors = _Later("grader.sandbox.tensors")
    module_state = _Later("grader.sandbox.module_state")
    meter = _Later("grader.sandbox.meter")

__all__ = [
    "has_torch",
    "is_module",
    "is_tensor",
    "leave_out_compiler",
    "meter",
    "module_state",
    "tensors",
    "torch",
]

COMPILER = "torch._dynamo"


class _Compiler(ModuleType):
    """Stands for torch's compiler until something is compiled.

    Optimizers and the device "meta" import it, in a second, for these two functions: which do
    nothing where nothing is compiled.
    """

    def disable(self, function: Any, *_options: Any, **_more: Any) -> Any:
        """The function, which is not compiled as it is."""
        return function

    def graph_break(self, *_options: Any, **_more: Any) -> None:
        """Nothing, outside a function that is compiled."""

    def __getattr__(self, name: str) -> Any:
        """Whatever else somebody asks for is the compiler's own."""
        if name.startswith("__") and name != "__path__":  # what tools ask any module for
            raise AttributeError(name)
        if sys.modules.get(COMPILER) is self:
            del sys.modules[COMPILER]
        return getattr(importlib.import_module(COMPILER), name)


def leave_out_compiler() -> None:
    """Where torch is imported, let nothing import its compiler but what compiles."""
    library = sys.modules.get("torch")
    if library is not None and COMPILER not in sys.modules:
        sys.modules[COMPILER] = compiler = _Compiler(COMPILER)
        vars(library)["_dynamo"] = compiler


def has_torch() -> bool:
    """Whether torch is imported, so that there may be tensors."""
    return "torch" in vars(tensors) or sys.modules.get("torch") is not None


def is_tensor(value: object) -> "TypeGuard[torch.Tensor]":
    """Whether a value is a tensor."""
    return has_torch() and isinstance(value, tensors.TENSOR)


def is_module(value: object) -> "TypeGuard[torch.nn.Module]":
    """Whether a value is an instance of `torch.nn.Module`."""
    return has_torch() and isinstance(value, tensors.MODULE)
