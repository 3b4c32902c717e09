"""`grader hint`: the next hint for an exercise, and its words, which `grader watch` shows, too."""

from grader.cli.streams import echo
from grader.core.errors import UsageError
from grader.core.language import N_, _
from grader.core.text import filled
from grader.course.course import Course, Exercise
from grader.progress.next_hint import (
    Advice,
    Hint,
    all_hints,
    forget,
    hints_of,
    last_hint,
    next_advice,
    remember_advice,
)
from grader.progress.store import Memory

NOT_REMEMBERED = N_("(Which hint comes next could not be remembered.)")
COLUMNS = 78


def run_hint(course: Course, name: str, *, again: bool, everything: bool, restart: bool) -> None:
    """Print an exercise's next hint.

    Args:
        course: the course.
        name: the exercise's name or id.
        again: whether to show the last hint once more.
        everything: whether to show all hints.
        restart: whether to begin with the first again.

    Raises:
        UsageError: when the name is no exercise's.
        CourseError: when the author's file of hints has a problem.
    """
    exercise = _only(course, name)
    memory, hints = Memory(course.root), hints_of(course, exercise)
    if everything:
        echo("\n\n".join(advice_text(one, exercise) for one in all_hints(hints)))
        return
    is_kept = forget(memory, exercise) if restart and not again else True
    show = last_hint if again else next_advice
    advice = show(hints, memory, exercise)
    echo(f"{advice_text(advice, exercise)}\n\n{_what_follows(advice)}")
    if not again and not (remember_advice(advice, memory, exercise) and is_kept):
        echo(_(NOT_REMEMBERED), err=True)


def _only(course: Course, name: str) -> Exercise:
    chosen = list(course.select((name,)).values())
    if len(chosen) != 1:
        names = ", ".join(one.name for one in chosen)
        sentence = _("{name!r} is an assignment. Name one of its exercises: {names}.")
        raise UsageError(sentence.format(name=name, names=names))
    return chosen[0]


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


def _what_follows(advice: Advice) -> str:
    if not isinstance(advice, Hint):
        return _("Ask again for a hint.")
    if advice.is_last:
        return _("That is the last one. `--restart` begins again.")
    return _("Ask again for the next one.")


def _wrapped(text: str) -> str:
    return "\n".join(
        line for part in text.splitlines() for line in filled(part, COLUMNS, "  ", "  ")
    )
