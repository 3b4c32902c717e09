"""What a call costs, counted and not timed: multiplications, tensors made, numbers kept for backward.

It runs beside student code and imports torch: others reach it through `torch_later`. What is counted
here can be forged by code that wants to.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch.autograd.graph import saved_tensors_hooks
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

LEAVES_TORCH = ("numpy", "tolist", "__array__", "__dlpack__")
"""Methods after which numbers are computed with where nothing is counted."""


def _product(first: torch.Tensor, second: torch.Tensor) -> int:
    """Of matrices, of stacks of them, of a matrix and a vector, of two vectors."""
    columns = second.shape[-1] if second.dim() > 1 else 1
    return first.numel() * columns


def _attention(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> int:
    """Of torch's own attention: two products of matrices, and a quotient for each weight."""
    pairs = math.prod(query.shape[:-1]) * key.shape[-2]
    return pairs * (query.shape[-1] + value.shape[-1] + 1)


FORMULAS: dict[str, Callable[[tuple[Any, ...], int], int]] = {
    **dict.fromkeys(("mm", "bmm", "mv", "dot", "vdot"), lambda args, made: _product(*args[:2])),
    **dict.fromkeys(
        ("addmm", "baddbmm", "addbmm", "addmv"), lambda args, made: _product(*args[1:3])
    ),
    "_scaled_dot_product_flash_attention_for_cpu": lambda args, made: _attention(*args[:3]),
    **dict.fromkeys(
        (
            *("addr", "mul", "div", "square", "pow", "reciprocal", "addcmul", "addcdiv", "lerp"),
            *("_softmax", "_safe_softmax", "native_dropout", "mean", "floor_divide"),
        ),
        lambda args, made: made,
    ),
    **dict.fromkeys(
        ("var", "std", "var_mean", "std_mean", "prod", "cumprod", "linalg_vector_norm", "mse_loss"),
        lambda args, made: args[0].numel(),
    ),
    # The deviations squared, then each of them by the spread and by the weight.
    "native_layer_norm": lambda args, made: 3 * args[0].numel(),
}
"""Multiplications and divisions, by operation, from its arguments and how many numbers it makes."""

CHOOSES_OR_MOVES = """
abs all amax amin aminmax any arange argmax argmin argsort bernoulli bincount bucketize cat clone
constant_pad_nd copy copysign count_nonzero cummax cummin cumsum diag_embed embedding empty
empty_like empty_strided eq equal eye fill flip full full_like gather ge gt heaviside histc index
index_add index_copy index_fill index_put index_select isin kthvalue le lift_fresh linspace
local_scalar_dense log_softmax logcumsumexp logsumexp lt masked_fill masked_scatter masked_select
max median min mode multinomial nansum ne new_empty new_empty_strided new_full new_ones new_zeros
nll_loss_forward nonzero normal ones ones_like put rand rand_like randint randint_like randn
randn_like random randperm repeat resize roll rot90 scalar_tensor scatter scatter_add
scatter_reduce searchsorted set sort stack sum take threshold to_copy topk trace tril tril_indices
triu triu_indices uniform unique2 unique_consecutive unique_dim zero zeros zeros_like
"""
FREE = frozenset(CHOOSES_OR_MOVES.split())
"""Operations that multiply nothing: they make, copy, move, add, compare or choose numbers.

Some are elementwise, which torch says of them, but not where they are done in place.
"""


class Meter(TorchDispatchMode):
    """Counts what torch computes while it is active, in the thread that activated it.

    What is computed without torch is not seen; that numbers left torch is.

    Attributes:
        multiplications: products and quotients of two numbers, inside products of matrices as well.
        largest: the numbers in the largest tensor that was made.
        operations: how often something was computed or copied; a view is nothing.
        unknown: operations whose multiplications are not known, and are not counted.
        made: the storages of tensors that were made, so that none takes the place of another.
        kept: of these, those kept for a backward pass, with how many numbers.
    """

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.multiplications = self.largest = self.operations = 0
        self.unknown: set[str] = set()
        self.made: set[int] = set()
        self.kept: dict[int, tuple[torch.Tensor, int]] = {}

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """No, as torch asks: to keep its compiler out of here, it would import that, in a second."""
        return False

    def header(self) -> dict[str, Any]:
        """What was counted, as it travels."""
        return {
            "multiplications": self.multiplications,
            "largest": self.largest,
            "saved": sum(numbers for _tensor, numbers in self.kept.values()),
            "operations": self.operations,
            "unknown": sorted(self.unknown),
        }

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        """Run an operation, and count it."""
        kwargs = kwargs or {}
        name = func.overloadpacket.__name__
        if name not in FORMULAS:
            with self:  # one that is made of others, where torch has not taken it apart itself
                made_of_others = func.decompose(*args, **kwargs)
            if made_of_others is not NotImplemented:
                return made_of_others
        result = func(*args, **kwargs)
        self._count(func, name, args, kwargs, result)
        return result

    def _count(
        self, func: Any, name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any], result: Any
    ) -> None:
        given = {_storage(one) for one in _tensors([*args, *kwargs.values()])}
        if name == "lift_fresh":  # what `torch.tensor` has made of Python's numbers
            given = set()
        results = _tensors(result)
        new = [tensor for tensor in results if _storage(tensor) not in given]
        written = (name.endswith("_") and not name.startswith("_")) or "out" in kwargs
        is_view = results and not new and not written
        if is_view or torch.Tag.inplace_view in func.tags:
            return
        self.made.update(map(_storage, new))
        self.largest = max([self.largest, *(tensor.numel() for tensor in new)])
        self.operations += 1
        own = name.removesuffix("_")
        if own == "_local_scalar_dense" and args[0].is_floating_point():
            self.unknown.add("item")
        elif own in FORMULAS:
            self.multiplications += FORMULAS[own](args, results[0].numel() if results else 0)
        elif own.strip("_") not in FREE and torch.Tag.pointwise not in func.tags:
            self.unknown.add(own.strip("_"))

    def keep(self, tensor: torch.Tensor) -> torch.Tensor:
        """Note a tensor that is kept for a backward pass, where the call has made it."""
        storage = _storage(tensor)
        if storage in self.made:
            size = tensor.untyped_storage().nbytes() // tensor.element_size()
            self.kept[storage] = tensor.detach(), size
        return tensor.detach()


@contextmanager
def metered() -> Iterator[Meter]:
    """Count what runs inside."""
    meter = Meter()
    with (
        _Leaving(meter.unknown),
        saved_tensors_hooks(meter.keep, lambda saved: saved),
        meter,
    ):
        yield meter


class _Leaving(TorchFunctionMode):
    """Notes by which methods numbers leave torch."""

    def __init__(self, unknown: set[str]) -> None:
        super().__init__()
        self.unknown = unknown

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        """Run the function, and note it where it is one of these."""
        name = getattr(func, "__name__", "")
        if name in LEAVES_TORCH and args and args[0].is_floating_point():
            self.unknown.add(name.strip("_"))
        return func(*args, **(kwargs or {}))


def _tensors(value: Any) -> list[torch.Tensor]:
    """The tensors in arguments or results."""
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, list | tuple):
        return [tensor for item in value for tensor in _tensors(item)]
    return []


def _storage(tensor: torch.Tensor) -> int:
    """Which piece of memory a tensor's numbers are in."""
    return int(tensor.untyped_storage()._cdata)
