"""What a check that failed may say of other checks, and of the student's mistakes. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from grader.core.language import _
from grader.judging.diagnosis import BY_CHANCE
from grader.judging.fixtures import Fixtures
from grader.sandbox.torch_later import is_tensor
from grader.testing.compare import Difference, compare
from grader.testing.judge import NOT_TAKEN, Mismatch
from grader.testing.relations import named
from grader.testing.replies import Gradients
from grader.testing.student import StudentHandle


def may_follow(
    difference: Difference, first: Difference, is_general: bool, not_taken: frozenset[str]
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
        asked = first.expected if isinstance(first.expected, Mapping) else {}
        told = {**dict.fromkeys(asked), **found}
        lacking = {name for name, what in told.items() if what in (None, *NOT_TAKEN)}
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
    if not is_tensor(expected) or not _is_of_values(difference):
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


def without_values(difference: Difference, not_taken: Iterable[str]) -> Difference:
    """A difference in numbers, where parameters took no values: that is said, and nothing of the numbers.

    Args:
        difference: what a check failed for.
        not_taken: the names of the parameters that took no value in it.
    """
    actual, names = difference.actual, sorted(not_taken)
    if not names or isinstance(actual, Mapping | list | str) or is_of_shape(difference):
        return difference
    words = _(
        "No parameter of it takes the check's values for {names}. The numbers cannot be compared, so "
        "this check says nothing about what it computes."
    )
    return replace(difference, what="", summary=words.format(names=named(names)), hints=())


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
    if is_tensor(expected):
        return compare(actual, expected, math.inf) is None
    return type(actual) is type(expected) is int


def _is_part(tensor: Any, wholes: Iterable[Any]) -> bool:
    """Whether a tensor is one of others, or a part of one, not computed from it."""
    if not is_tensor(tensor):
        return False
    storage = tensor.untyped_storage().data_ptr()
    tensors = [whole for whole in wholes if is_tensor(whole)]
    return any(whole.untyped_storage().data_ptr() == storage for whole in tensors)


def is_of_shape(difference: Difference) -> bool:
    """Whether a tensor has another shape than the one expected."""
    actual, shape = difference.actual, difference.shape
    return is_tensor(actual) and shape is not None and tuple(actual.shape) != shape


def _is_of_nan(difference: Difference) -> bool:
    """Whether NaN stands in a tensor where a number is expected."""
    actual, expected = difference.actual, difference.expected
    both = is_tensor(actual) and is_tensor(expected)
    return both and bool(actual.isnan().any()) and not bool(expected.isnan().any())


def steady(student: StudentHandle, judged: Iterable[Any]) -> list[Any]:
    """The values that were judged; `BY_CHANCE` for results that are drawn without a seed."""
    drawn = [p for p in student.drew if student.calls[p].seed is None and p in student.answers]
    values = [student.answers[position].value for position in drawn]
    return [BY_CHANCE if any(v is value for v in values) else value for value in judged]


def by_chance(student: StudentHandle, difference: Difference) -> Difference | None:
    """A difference as that of a result which is another one each time; None where it is not.

    The call is made again. What the solution does is the same each time where a check compares
    a result that no seed was given for, or one of eval mode.

    Args:
        student: the handle, after a check.
        difference: what the check failed for.
    """
    actual, expected = difference.actual, difference.expected
    if not all(is_tensor(v) for v in (actual, expected)):
        return None
    answers = student.again(actual) if actual.shape == expected.shape else []
    first, *others = [answer.value for answer in answers] or [None]
    if all(compare(first, other, difference.atol) is None for other in others):
        return None
    sentence = _(
        "Two calls with the same input give different results: is something kept between them, or is "
        "memory read that was never written, as that of `torch.empty`?"
    )
    if any(answer.has_drawn for answer in answers):
        sentence = _(
            "Two calls with the same input give different results, because random numbers are drawn: by "
            "dropout, by layers that each call makes anew, or by a choice at random?"
        )
    return replace(difference, hints=(sentence,))


def came_back(student: StudentHandle) -> tuple[Any, ...]:
    """All that came back from each call, judged or not; `BY_CHANCE` where that differs each time."""
    made = {call.instance: call for call in student.calls if call.instance and not call.is_forward}
    replied: list[Any] = []
    for position, answer in student.answers.items():
        call = student.calls[position]
        maker = made.get(call.instance)
        is_drawn = call.seed is None and position in student.drew
        if call.is_forward:  # which is given a seed for dropout, and that differs by processor
            is_kept = maker is not None and maker.seed is None and not maker.given
            is_drawn |= is_kept or call.seed is not None
        gradients = answer.gradients or Gradients({}, {})
        names = {own: name for name, own in student.renamed.get(call.instance, {}).items()}
        parameters = {names.get(own, own): g for own, g in gradients.parameters.items()}
        told = (answer.value, answer.changed, gradients.arguments, parameters)
        replied.append(BY_CHANCE if is_drawn else told)
    return tuple(replied)
