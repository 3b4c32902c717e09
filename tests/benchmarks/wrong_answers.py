"""Random wrong answers that nobody wrote down: mutants of the solutions, and pairs of edits."""

import random
from dataclasses import dataclass

from grader.course.course import Course
from grader.course.misconceptions import read_misconceptions
from grader.extras.mutants.edits import mutants
from grader.extras.mutants.trials import written_down


@dataclass(frozen=True, slots=True)
class Sample:
    """A wrong answer to try.

    Args:
        exercise: the id of the exercise that it is an answer to.
        edits: what was changed, in words, an edit each.
        text: the solution with the edits.
    """

    exercise: str
    edits: tuple[str, ...]
    text: str


def samples(
    course: Course, mutants_: int, pairs: int, seed: int
) -> tuple[list[Sample], list[Sample]]:
    """Random mutants, and random pairs of edits of one exercise.

    Args:
        course: the course.
        mutants_: how many mutants.
        pairs: how many pairs.
        seed: of the sample.
    """
    rng = random.Random(seed)
    known = {key for _place, key in written_down(course)}
    texts, single, by_exercise = {}, [], {}
    for exercise in course.exercises.values():
        assignment = course.by_id[exercise.assignment]
        texts[exercise.id] = course.paths(assignment).solution.read_text("utf-8")
        own = [
            Sample(exercise.id, (f"{m.path}:{m.line}: {m.old}  →  {m.new}",), m.text)
            for m in mutants(course, exercise)
            if (m.exercise, m.old, m.new) not in known
        ]
        single += own
        mistakes = [
            Sample(exercise.id, (m.id,), texts[exercise.id].replace(m.find, m.replace))
            for m in read_misconceptions(course, assignment)
            if m.exercise == exercise.id
        ]
        by_exercise[exercise.id] = (own, mistakes)
    rng.shuffle(single)
    both: list[Sample] = []
    while len(both) < pairs:
        one = rng.choice(single)
        other = rng.choice(rng.choice([kind for kind in by_exercise[one.exercise] if kind]))
        text = _merged(texts[one.exercise], one.text, other.text)
        if text is not None:
            both.append(Sample(one.exercise, (*one.edits, *other.edits), text))
    return single[:mutants_], both


def _merged(text: str, *changed: str) -> str | None:
    """A text with the edits that two others have, or None where the edits touch."""
    edits = []
    for one in changed:
        start = _shared(text, one)
        after = _shared(text[start:][::-1], one[start:][::-1])
        edits.append((start, len(text) - after, one[start : len(one) - after]))
    (start, end, new), (next_start, next_end, next_new) = sorted(edits)
    if end >= next_start:
        return None
    return text[:start] + new + text[end:next_start] + next_new + text[next_end:]


def _shared(one: str, other: str) -> int:
    """With how many characters two texts begin alike."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))
