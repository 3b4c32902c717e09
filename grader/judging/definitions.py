"""Which definitions count: where each that was judged stands, and what does not count."""

from collections.abc import Iterable, Iterator

from grader.core.language import _
from grader.core.records import CodeLocation
from grader.core.text import clean, location_words
from grader.course.course import Exercise
from grader.judging.messages import exception_words
from grader.submissions.source_file import SourceFile, definitions
from grader.testing.lookup import Located, SubmissionHandle

MOST_LINES = 20
"""How many sentences on what does not count an assignment has."""


def defined_at(handle: SubmissionHandle, exercise: Exercise) -> CodeLocation | None:
    """Where the definition stands that was judged; in a file of its own where it is imported."""
    located = handle.last_located(exercise)
    if located is None or exercise.name not in located.names:
        return None
    sources = handle.submission.sources
    for key in dict.fromkeys((located.key, *handle.submission.beside, *sources)):
        if places := list(definitions(sources[key], exercise.name)):
            cell, line = _chosen(located, exercise) or places[-1]  # the last one, as in Python
            return CodeLocation(sources[key].name, line, cell)
    return None


def _chosen(located: Located, exercise: Exercise) -> tuple[int | None, int] | None:
    """Where the class stands that was chosen of several with one name, if it is not the last."""
    several = located.classes.get(exercise.name, ())
    if located.chosen in (-1, len(several) - 1):
        return None
    return several[located.chosen].cell, several[located.chosen].line


def ignored(handle: SubmissionHandle, exercises: Iterable[Exercise]) -> dict[str, tuple[str, ...]]:
    """What was handed in for assignments and does not count, in sentences, by assignment.

    Args:
        handle: the submission, with what was found out about it.
        exercises: those that were judged.
    """
    found: dict[str, dict[str, None]] = {}
    for exercise in exercises:
        known = found.setdefault(exercise.assignment, {})
        if located := handle.last_located(exercise):
            source = handle.submission.sources.get(located.key)
            # Of several classes a note says which one counts.
            earlier = () if _chosen(located, exercise) else _earlier(source, exercise)
            lines = [*_not_imported(located), *earlier]
            known.update(dict.fromkeys(lines))
    for id_, lines_ in found.items():
        lines_.update(dict.fromkeys(_not_read(handle, id_)))
    return {id_: tuple(lines_)[:MOST_LINES] for id_, lines_ in found.items()}


def _not_imported(located: Located) -> Iterator[str]:
    """The imports that failed in the file that counts for an exercise."""
    for failure in located.not_imported:
        at, file = failure.location, clean(located.key, 120)
        place = location_words(file, at.cell, at.line) if at else file
        sentence = _("{place}: {exception}. What does not need it counts.")
        if "ImportError" in failure.bases:
            sentence = _("{place}: the import failed ({exception}); what does not use it counts.")
        yield sentence.format(place=place, exception=exception_words(failure).rstrip("."))


def _earlier(source: SourceFile | None, exercise: Exercise) -> Iterator[str]:
    """The definitions of an exercise that a later one in the same file replaces."""
    places = list(definitions(source, exercise.name, outermost=True)) if source else []
    for place in places[:-1][:MOST_LINES] if source else ():
        sentence = _("{place}: {name} is defined again below, and the last definition counts.")
        file = clean(source.key, 120) if source else ""
        yield sentence.format(place=location_words(file, *place), name=exercise.name)


def _not_read(handle: SubmissionHandle, id_: str) -> Iterator[str]:
    """The files that are meant for an assignment, where another one counts."""
    reading = handle.submission.readings[id_]
    for key in reading.passed_over:
        sentence = _("{file} is not read: {other} counts.")
        yield sentence.format(file=clean(key, 200), other=reading.read_from)
