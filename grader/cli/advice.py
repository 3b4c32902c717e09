"""Advice in words: for `grader hint`, and for the key that asks for it in `grader watch`."""

import textwrap

from grader.advice import Advice, Hint
from grader.course import Exercise

ASK_AGAIN = "Ask again for the next one."
LAST = "That is the last one. `--restart` begins again."
NOT_REMEMBERED = "(Which hint comes next could not be remembered.)"
COLUMNS = 78


def advice_text(advice: Advice, exercise: Exercise) -> str:
    """A question or a hint, in lines of less than 80 columns."""
    if isinstance(advice, Hint):
        head = f"Hint {advice.number} of {advice.count} for {exercise.id}:"
        return f"{head}\n\n{_wrapped(advice.text)}"
    several = len(advice.mistakes) > 1
    what = "one of these mistakes" if several else "a known mistake"
    lines = [f"The last check of {exercise.id} saw {what}:"]
    for mistake in advice.mistakes:
        lines += ["", _wrapped(mistake.symptom), _wrapped(mistake.question)]
    return "\n".join(lines)


def after_advice(advice: Advice) -> str:
    """How it goes on."""
    if isinstance(advice, Hint):
        return LAST if advice.is_last else ASK_AGAIN
    return f"Ask again for the first of {advice.count} hints."


def _wrapped(text: str) -> str:
    lines = text.splitlines() or [""]
    return "\n".join(
        textwrap.fill(line, COLUMNS, initial_indent="  ", subsequent_indent="  ") for line in lines
    )
