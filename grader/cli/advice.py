"""Advice in words: for `grader hint`, and for the key that asks for it in `grader watch`."""

from grader.core.language import N_, _
from grader.core.text import filled
from grader.course.course import Exercise
from grader.progress.next_hint import Advice, Hint

NOT_REMEMBERED = N_("(Which hint comes next could not be remembered.)")
COLUMNS = 78


def advice_text(advice: Advice, exercise: Exercise) -> str:
    """A question or a hint, in lines of less than 80 columns."""
    if isinstance(advice, Hint):
        head = _("Hint {number} of {count} for {exercise}:")
        head = head.format(number=advice.number, count=advice.count, exercise=exercise.id)
        return f"{head}\n\n{_wrapped(advice.text)}"
    head = _("The last check of {exercise} saw a known mistake:")
    if len(advice.mistakes) > 1:
        head = _("The last check of {exercise} saw one of these mistakes:")
    lines = [head.format(exercise=exercise.id)]
    for mistake in advice.mistakes:
        lines += ["", _wrapped(mistake.symptom), _wrapped(mistake.question)]
    return "\n".join(lines)


def after_advice(advice: Advice) -> str:
    """How it goes on."""
    if isinstance(advice, Hint):
        if advice.is_last:
            return _("That is the last one. `--restart` begins again.")
        return _("Ask again for the next one.")
    return _("Ask again for a hint.")


def _wrapped(text: str) -> str:
    return "\n".join(
        line for part in text.splitlines() for line in filled(part, COLUMNS, "  ", "  ")
    )
