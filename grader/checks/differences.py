"""What a check that failed may say of other checks, and of the student's mistakes."""

import math
from collections.abc import Iterable, Mapping
from typing import Any

import torch

from grader.checks.fixtures import Fixtures
from grader.testing.compare import Difference, compare
from grader.testing.judge import Mismatch
from grader.testing.roles import stand_ins


def is_general(difference: Difference, fixtures: Fixtures) -> bool:
    """Whether values, or gradients, only differ from those of the solution or the documents."""
    actual, expected = difference.actual, difference.expected
    if not isinstance(expected, torch.Tensor) or not is_of_values(difference):
        return type(expected) is int and is_of_values(difference)
    own = [answer.gradients for answer in fixtures.student.answers if answer.gradients]
    of_student = [t for g in own for t in (*g.parameters.values(), *g.arguments.values())]
    of_reference = [
        tensor
        for answer in fixtures.reference.answers
        for gradients in [answer.gradients]
        for tensor in (
            answer.value,
            *(gradients.parameters.values() if gradients else ()),
            *(gradients.arguments.values() if gradients else ()),
        )
    ]
    is_gradient = _is_part(actual, of_student) and bool(actual.any())
    return bool(difference.source) or is_gradient or _is_part(expected, of_reference)


def is_slip(error: BaseException, fixtures: Fixtures) -> bool:
    """Whether a check failed for the names of layers that have their roles, or for a signature."""
    if any(call.is_unlike for call in fixtures.student.calls):
        return True
    found = error.difference.actual if isinstance(error, Mismatch) else None
    if not isinstance(found, Mapping):
        return False
    missing = [str(name) for name, what in found.items() if what in (None, "missing")]
    others = [name for name in fixtures.student.held if name not in found]
    return bool(missing) and stand_ins(missing, others).keys() == set(missing)


def is_of_values(difference: Difference) -> bool:
    """Whether nothing but numbers differ: two integers, or tensors of one shape and dtype."""
    actual, expected = difference.actual, difference.expected
    if isinstance(expected, torch.Tensor):
        return compare(actual, expected, math.inf) is None
    return type(actual) is type(expected) is int


def _is_part(tensor: torch.Tensor, wholes: Iterable[Any]) -> bool:
    """Whether a tensor is one of others, or a part of one, not computed from it."""
    storage = tensor.untyped_storage().data_ptr()
    tensors = [whole for whole in wholes if isinstance(whole, torch.Tensor)]
    return any(whole.untyped_storage().data_ptr() == storage for whole in tensors)
