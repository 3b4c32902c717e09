"""All that came back from student code in a check, judged or not: names of mistakes rest on it."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import torch

from grader.core.language import _
from grader.judging.diagnosis import BY_CHANCE
from grader.testing.compare import Difference, compare
from grader.testing.replies import Gradients
from grader.testing.student import StudentHandle


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
    if not all(isinstance(v, torch.Tensor) for v in (actual, expected)):
        return None
    answers = student.again(actual) if actual.shape == expected.shape else []
    first, *others = [answer.value for answer in answers] or [None]
    if all(compare(first, other, difference.atol) is None for other in others):
        return None
    sentence = _("Two calls with the same input give different results: what is kept between them?")
    if any(answer.has_drawn for answer in answers):
        sentence = _(
            "Two calls with the same input give different results, because random numbers are drawn: by "
            "dropout, by layers that each call makes anew, or by a choice at random?"
        )
    return replace(difference, hints=(sentence,))


def came_back(student: StudentHandle) -> tuple[Any, ...]:
    """What came back from each call; `BY_CHANCE` where that is not the same each time."""
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
