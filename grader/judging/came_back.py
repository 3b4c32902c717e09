"""All that came back from student code in a check, judged or not: names of mistakes rest on it."""

from typing import Any

from grader.judging.diagnosis import BY_CHANCE
from grader.testing.replies import Gradients
from grader.testing.student import StudentHandle


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
