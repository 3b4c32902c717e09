"""The next help with an exercise: the question of a mistake just seen, then its hints in turn."""

from dataclasses import dataclass

from grader.core.records import Finding, Mistake
from grader.course.course import Course, Exercise
from grader.progress.store import Memory


@dataclass(frozen=True, slots=True)
class Hint:
    """One of an exercise's hints.

    Args:
        number: counted from 1.
        count: how many there are.
        text: its words.
    """

    number: int
    count: int
    text: str

    @property
    def is_last(self) -> bool:
        """Whether no other comes after it."""
        return self.number == self.count


@dataclass(frozen=True, slots=True)
class Question:
    """The question that leads out of a mistake the last check saw, or one of several.

    Args:
        mistakes: certain where there is one.
    """

    mistakes: tuple[Mistake, ...]


Advice = Question | Hint


def hints_of(course: Course, exercise: Exercise) -> tuple[str, ...]:
    """The hints in the language of the run: from the author's file, or from the recording.

    Raises:
        CourseError: when the author's file has a problem.
    """
    assignment = course.by_id[exercise.assignment]
    if course.has_solutions:
        from grader.course.hints import read_hints

        hints = read_hints(assignment, course.paths(assignment).hints)
    else:
        from grader.checks.recordings import read_recording

        hints = dict(read_recording(course.paths(assignment).recording).hints)
    return tuple(course.text(hint) for hint in hints[exercise.name])


def all_hints(hints: tuple[str, ...]) -> list[Hint]:
    """Every hint."""
    return [Hint(number, len(hints), text) for number, text in enumerate(hints, 1)]


def last_hint(hints: tuple[str, ...], memory: Memory, exercise: Exercise) -> Hint:
    """The hint that was shown last; the first where none was.

    Args:
        hints: of the exercise.
        memory: what was shown before.
        exercise: which one.
    """
    return all_hints(hints)[max(0, min(memory.hints_shown(exercise.id), len(hints)) - 1)]


def next_advice(hints: tuple[str, ...], memory: Memory, exercise: Exercise) -> Advice:
    """What to show next: a question that was not asked yet, or the next hint; the last one stays.

    Args:
        hints: of the exercise.
        memory: what was shown before.
        exercise: which one.
    """
    asked = set(memory.questions_asked(exercise.id))
    remembered = memory.results().get(exercise.id)
    findings: tuple[Finding, ...] = remembered.result.findings if remembered else ()
    for finding in findings:
        if not asked.issuperset(mistake.id for mistake in finding.candidates):
            return Question(finding.candidates)
    return all_hints(hints)[min(memory.hints_shown(exercise.id), len(hints) - 1)]


def remember_advice(advice: Advice, memory: Memory, exercise: Exercise) -> bool:
    """Remember that this was shown; False when it cannot be remembered.

    Args:
        advice: what was shown.
        memory: takes the note.
        exercise: which one.
    """
    if isinstance(advice, Hint):
        return memory.remember_hint(exercise.id, advice.number)
    asked = memory.questions_asked(exercise.id)
    mistakes = (*asked, *(mistake.id for mistake in advice.mistakes))
    return memory.remember_question(exercise.id, tuple(dict.fromkeys(mistakes)))


def forget(memory: Memory, exercise: Exercise) -> bool:
    """Begin again with the first; False when that cannot be remembered."""
    return memory.remember_question(exercise.id, ()) and memory.remember_hint(exercise.id, 0)
