"""The next help with an exercise: the question of a mistake just seen, then its hints in turn."""

from collections.abc import Iterable
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


@dataclass(frozen=True, slots=True)
class Helper:
    """Helps with one exercise, a piece at a time, and remembers what was shown."""

    course: Course
    exercise: Exercise

    @property
    def _memory(self) -> Memory:
        return Memory(self.course.root)

    def hints(self) -> list[Hint]:
        """Every hint in the language of the run: from the author's file, or from the recording.

        Raises:
            CourseError: when the author's file has a problem.
        """
        assignment = self.course.by_id[self.exercise.assignment]
        paths = self.course.paths(assignment)
        if self.course.has_solutions:
            from grader.course.hints import read_hints

            found = read_hints(assignment, paths.hints)
        else:
            from grader.judging.recordings import read_recording

            found = dict(read_recording(paths.recording).hints)
        texts = found[self.exercise.name]
        return [Hint(n, len(texts), self.course.text(text)) for n, text in enumerate(texts, 1)]

    def last(self) -> Hint:
        """The hint that was shown last; the first where none was."""
        hints = self.hints()
        return hints[max(0, min(self._memory.hints_shown(self.exercise.id), len(hints)) - 1)]

    def next(self) -> tuple[Advice, ...]:
        """What to show next: questions that were not asked yet, and a hint; the last one stays."""
        hints, id_ = self.hints(), self.exercise.id
        asked = set(self._memory.questions_asked(id_))
        remembered = self._memory.results().get(id_)
        findings: tuple[Finding, ...] = remembered.exercise.findings if remembered else ()
        questions = (
            Question(finding.candidates)
            for finding in findings
            if not asked.issuperset(mistake.id for mistake in finding.candidates)
        )
        return (*questions, hints[min(self._memory.hints_shown(id_), len(hints) - 1)])

    def remember(self, shown: Iterable[Advice]) -> bool:
        """Remember what was shown; False when it cannot be remembered."""
        return all(self._remember(advice) for advice in shown)

    def _remember(self, advice: Advice) -> bool:
        if isinstance(advice, Hint):
            return self._memory.remember_hint(self.exercise.id, advice.number)
        asked = self._memory.questions_asked(self.exercise.id)
        mistakes = (*asked, *(mistake.id for mistake in advice.mistakes))
        return self._memory.remember_question(self.exercise.id, tuple(dict.fromkeys(mistakes)))

    def forget(self) -> bool:
        """Begin again with the first; False when that cannot be remembered."""
        memory, id_ = self._memory, self.exercise.id
        return memory.remember_question(id_, ()) and memory.remember_hint(id_, 0)
