"""What the sandbox knows of torch before anybody has imported it: that nobody has a tensor.

It runs on both sides, beside student code as well. All that needs torch is in `tensors`,
`module_state` and `meter`; they are imported here, when something of them is first asked for.
"""

import importlib
import sys
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

__all__ = ["has_torch", "is_module", "is_tensor", "meter", "module_state", "tensors", "torch"]


def has_torch() -> bool:
    """Whether torch is imported, so that there may be tensors."""
    return "torch" in vars(tensors) or sys.modules.get("torch") is not None


def is_tensor(value: object) -> "TypeGuard[torch.Tensor]":
    """Whether a value is a tensor."""
    return has_torch() and isinstance(value, tensors.TENSOR)


def is_module(value: object) -> "TypeGuard[torch.nn.Module]":
    """Whether a value is an instance of `torch.nn.Module`."""
    return has_torch() and isinstance(value, tensors.MODULE)
