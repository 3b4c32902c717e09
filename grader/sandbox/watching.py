"""What a call did, besides its result: the operations of torch that ran, and parameters' names."""

import inspect
from collections import Counter
from collections.abc import Callable
from typing import Any

from torch.overrides import TorchFunctionMode


class Operations(TorchFunctionMode):
    """Counts by name the functions and methods of torch that are called while it is active.

    What these call in their turn does not count: `nn.Softmax` is one `softmax`.
    """

    def __init__(self) -> None:
        super().__init__()
        self.counts: Counter[str] = Counter()

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        """Run the function, and count it."""
        self.counts[getattr(func, "__name__", "")] += 1
        return func(*args, **(kwargs or {}))


def parameter_names(target: object) -> list[str]:
    """The names of the parameters of a function, or of a class's constructor."""
    try:
        return list(inspect.signature(target).parameters) if callable(target) else []
    except (TypeError, ValueError):  # some of those written in C do not tell
        return []
