"""What a check that failed may say of other checks, and of the student's mistakes. Pure."""

import math
from collections.abc import Iterable, Mapping
from typing import Any

import torch

from grader.core.language import _
from grader.judging.fixtures import Fixtures
from grader.testing.compare import Difference, compare
from grader.testing.judge import NOT_TAKEN, Mismatch


def may_follow(
    difference: Difference, first: Difference, *, is_general: bool, not_taken: frozenset[str]
) -> bool:
    """Whether one check may fail for nothing but what an earlier one fails for.

    Its values may be wrong for the same reason, it may name the same tensors, or it ran with
    parameters that took no values, which is what the earlier one says.

    Args:
        difference: what failed in it.
        first: what failed in the earlier one.
        is_general: whether its values are not the solution's, which is no sign of what it is about.
        not_taken: the names of the parameters that took no value in it.
    """
    found, other = first.actual, difference.actual
    if isinstance(found, Mapping):
        lacking = {name for name, what in found.items() if what in (None, *NOT_TAKEN)}
        return bool(lacking & not_taken)
    if isinstance(found, list):
        return bool(found) and all(isinstance(name, str) for name in found) and found == other
    both = (first, difference)
    if all(map(is_of_shape, both)) or all(map(_is_of_nan, both)):
        return True
    return is_general and _is_of_values(first)


def is_general(difference: Difference, fixtures: Fixtures) -> bool:
    """Whether values, or gradients, only differ from those of the solution or the ledger."""
    actual, expected = difference.actual, difference.expected
    if not isinstance(expected, torch.Tensor) or not _is_of_values(difference):
        return type(expected) is int and _is_of_values(difference)
    of_student = _gradients(fixtures)
    of_reference = [
        tensor
        for answer in fixtures.reference.answers.values()
        for gradients in [answer.gradients]
        for tensor in (
            answer.value,
            *(gradients.parameters.values() if gradients else ()),
            *(gradients.arguments.values() if gradients else ()),
        )
    ]
    is_gradient = _is_part(actual, of_student) and bool(actual.any())
    return bool(difference.source) or is_gradient or _is_part(expected, of_reference)


def beside_gradients(difference: Difference, fixtures: Fixtures) -> tuple[str, ...]:
    """A sentence where a gradient differs, and the result that it is of does not."""
    mine, right = (
        list(handle.answers.values())[-1:] for handle in (fixtures.student, fixtures.reference)
    )
    if not _is_part(difference.actual, _gradients(fixtures)) or not mine or not right:
        return ()
    if compare(mine[0].value, right[0].value, difference.atol) is not None:
        return ()
    return (_("The result itself is right, only its gradients are not."),)


def is_slip(error: BaseException, fixtures: Fixtures) -> bool:
    """Whether a check failed for the names of layers that have their roles, or for a signature."""
    if any(call.is_unlike for call in fixtures.student.calls):
        return True
    found = error.difference.actual if isinstance(error, Mismatch) else None
    if not isinstance(found, Mapping):
        return False
    missing = [str(name) for name, what in found.items() if what in (None, "missing")]
    others = [name for name in fixtures.student.held if name not in found]
    own = {*fixtures.student.roles.stand_ins(missing, others)}
    own.update(name for names in fixtures.student.renamed.values() for name in names)
    return bool(missing) and own >= set(missing)


def _gradients(fixtures: Fixtures) -> list[Any]:
    """All gradients that came back from the student's code."""
    own = [answer.gradients for answer in fixtures.student.answers.values() if answer.gradients]
    return [t for g in own for t in (*g.parameters.values(), *g.arguments.values())]


def _is_of_values(difference: Difference) -> bool:
    """Whether nothing but numbers differ: two integers, or tensors of one shape and dtype."""
    actual, expected = difference.actual, difference.expected
    if isinstance(expected, torch.Tensor):
        return compare(actual, expected, math.inf) is None
    return type(actual) is type(expected) is int


def _is_part(tensor: Any, wholes: Iterable[Any]) -> bool:
    """Whether a tensor is one of others, or a part of one, not computed from it."""
    if not isinstance(tensor, torch.Tensor):
        return False
    storage = tensor.untyped_storage().data_ptr()
    tensors = [whole for whole in wholes if isinstance(whole, torch.Tensor)]
    return any(whole.untyped_storage().data_ptr() == storage for whole in tensors)


def is_of_shape(difference: Difference) -> bool:
    """Whether a tensor has another shape than the one expected."""
    actual, shape = difference.actual, difference.shape
    return isinstance(actual, torch.Tensor) and shape is not None and tuple(actual.shape) != shape


def _is_of_nan(difference: Difference) -> bool:
    """Whether NaN stands in a tensor where a number is expected."""
    actual, expected = difference.actual, difference.expected
    both = isinstance(actual, torch.Tensor) and isinstance(expected, torch.Tensor)
    return both and bool(actual.isnan().any()) and not bool(expected.isnan().any())
