"""Notes on files of a submission that no check's message says: where they stop, what they hold."""

from collections.abc import Collection, Iterable, Iterator, Mapping

from grader.core.language import N_, _, listed
from grader.core.records import CodeLocation, ExerciseResult, Outcome
from grader.core.text import clean, location_words
from grader.course.course import Assignment, Course, Exercise
from grader.judging.exception_hints import place_words
from grader.judging.messages import ended_loading, exception_words, stops_there
from grader.submissions.source_file import SourceFile, definitions
from grader.submissions.submission import Submission
from grader.testing.earlier import is_right
from grader.testing.lookup import Located, SubmissionHandle
from grader.testing.signatures import keeps_to

Notes = Iterator[tuple[str, str]]
"""Sentences, each with the id of the assignment that it is on."""


def with_file_notes(
    course: Course, handle: SubmissionHandle, exercises: Mapping[str, ExerciseResult]
) -> Submission:
    """The submission of a handle with notes on its files, once its exercises are judged.

    Args:
        course: the course.
        handle: the submission, with what was found out about it.
        exercises: the results, by id.
    """
    submission, judged = handle.submission, [course.exercises[id_] for id_ in exercises]
    found = (
        *_ended(handle, exercises),
        *_stopped(handle, judged),
        *_of_another(course, submission, exercises),
        *_choices(course, handle, judged),
        *_other_parameters(course, handle, exercises),
        *_defined_twice(course, handle, exercises),
        *((id_, _(UNLIMITED)) for id_ in handle.unlimited),
    )
    return submission.with_notes(
        {id_: tuple(note for of, note in found if of == id_) for id_ in submission.readings}
    )


UNLIMITED = N_(
    "Some checks limit how much memory your code may use. Here they ran without that limit: it "
    "needs Linux and the command `grader check`, without `--debug`."
)


def _ended(handle: SubmissionHandle, exercises: Mapping[str, ExerciseResult]) -> Notes:
    """A note on each file that was stopped, or ended its process, where no check says so."""
    outcomes = {"timeout": Outcome.TIMEOUT, "crashed": Outcome.CRASHED}
    reported = {
        (id_.partition("/")[0], check.outcome)
        for id_, exercise in exercises.items()
        for check in exercise.checks
    }
    ended = handle.ended_loading()
    for id_, reading in handle.submission.readings.items():
        for key in reading.sources:
            if key in ended and (id_, outcomes[ended[key].kind]) not in reported:
                yield id_, ended_loading(key, ended[key], handle.limits.load_seconds)


def _stopped(handle: SubmissionHandle, judged: list[Exercise]) -> Notes:
    """A note on each file that stops at an exception below all that was asked of it."""
    stops = handle.stops_below(judged)
    for id_ in dict.fromkeys(exercise.assignment for exercise in judged):
        for key in handle.submission.readings[id_].sources:
            if key in stops:
                yield id_, stops_there(key, stops[key])


def _defined_twice(
    course: Course, handle: SubmissionHandle, exercises: Mapping[str, ExerciseResult]
) -> Notes:
    """A note on each function or class that is not right and stands in its file twice."""
    for exercise in _not_right(course, handle, exercises):
        source = handle.submission.sources.get(handle.locate(exercise).key)
        places = list(definitions(source, exercise.name, outermost=True)) if source else []
        if source is None or len(places) < 2:
            continue
        note = _("{name} is defined more than once: {first} and {last}. The last one counts.")
        file = clean(source.key, 120)
        first, last = (location_words(file, *place) for place in (places[0], places[-1]))
        yield exercise.assignment, note.format(name=exercise.name, first=first, last=last)


def _not_right(
    course: Course, handle: SubmissionHandle, exercises: Mapping[str, ExerciseResult]
) -> Iterator[Exercise]:
    """The exercises that are not right, and of which no note says which class counts."""
    for id_, result in exercises.items():
        if not is_right(result.checks) and not _is_told(course, handle, course.exercises[id_]):
            yield course.exercises[id_]


def _other_parameters(
    course: Course, handle: SubmissionHandle, exercises: Mapping[str, ExerciseResult]
) -> Notes:
    """A note on what is not right and takes other parameters than the stub's, or in another order."""
    for exercise in _not_right(course, handle, exercises):
        if reordered := handle.reordered(exercise):
            words = _(
                "Your {name} takes {own}; in the stub it takes {wanted}. The order counts: the checks, "
                "and code that uses it, give it the values in the stub's order."
            )
            said = [listed(clean(p.name, 80) for p in side) for side in reordered]
            note = words.format(name=exercise.name, own=said[0], wanted=said[1])
            yield exercise.assignment, note
        located, declared = handle.locate(exercise), handle.declared.get(exercise.id, {})
        for one in located.classes.get(exercise.name, ())[located.chosen :][:1]:
            for method, own in (("__init__", one.parameters), ("forward", one.forward)):
                is_forward = method == "forward"
                wanted = declared.get(f"{exercise.name}.forward" if is_forward else exercise.name)
                if not wanted or own is None or keeps_to(wanted, own, by_place=is_forward):
                    continue
                words = _(
                    "`{method}` of your {name} takes {own}; in the stub it takes {wanted}. Names and "
                    "order count: the checks, and code that uses it, call it as the stub does."
                )
                said = [listed(clean(p.name, 80) for p in side) for side in (own, wanted)]
                note = words.format(method=method, name=exercise.name, own=said[0], wanted=said[1])
                yield exercise.assignment, note


def _choices(course: Course, handle: SubmissionHandle, judged: list[Exercise]) -> Notes:
    """A note on each class that was chosen by what its constructor takes, or that takes too little."""
    for exercise in judged:
        if _is_told(course, handle, exercise):
            yield exercise.assignment, _choice(handle, exercise)


def _is_told(course: Course, handle: SubmissionHandle, exercise: Exercise) -> bool:
    """Whether a note says which class of an exercise's name counts, or that none can."""
    located = handle.locate(exercise)
    wanted = handle.declared.get(exercise.id, {}).get(exercise.name)
    candidates = located.classes.get(exercise.name, ())
    if not candidates or not located.fits(exercise.name, wanted):
        names = [other.name for other in course.exercises.values()]
        return bool(candidates) and (len(candidates) > 1 or names.count(exercise.name) > 1)
    return located.chosen not in (-1, len(candidates) - 1)


def _choice(handle: SubmissionHandle, exercise: Exercise) -> str:
    """Which class of an exercise's name counts, or that none takes what it asks for."""
    located = handle.locate(exercise)
    wanted = handle.declared.get(exercise.id, {}).get(exercise.name, ())
    chosen = located.classes[exercise.name][located.chosen]
    file, number = clean(located.key, 120), exercise.assignment[:2]
    place = location_words(file, chosen.cell, chosen.line) if chosen.line else file
    if located.fits(exercise.name, wanted):
        words = _(
            "{name} is defined more than once. In {assignment} the one in {place} counts: its "
            "`__init__` takes what is asked for there."
        )
        return words.format(name=exercise.name, assignment=number, place=place)
    words = _(
        "{assignment} asks for a {name} that takes {wanted}; the one in {place} takes {own}. Write "
        "one for {assignment}, too: both may stand in one file."
    )
    own = listed(clean(parameter.name, 80) for parameter in chosen.parameters or ())
    asked = listed(parameter.name for parameter in wanted)
    return words.format(name=exercise.name, assignment=number, place=place, own=own, wanted=asked)


def _of_another(course: Course, submission: Submission, exercises: Collection[str]) -> Notes:
    """A note on each file that holds nothing of its assignment, and something of another one."""
    for assignment in course.assignments:
        sources = [submission.sources[k] for k in submission.readings[assignment.id].sources]
        is_judged = any(exercise.id in exercises for exercise in assignment.exercises)
        if is_judged and not any(_defined(source, assignment) for source in sources):
            named = [s for s in sources if s.module == assignment.module or assignment.id in s.key]
            notes = (_foreign(course, source, assignment) for source in named)
            yield from ((assignment.id, note) for note in notes if note)


def _foreign(course: Course, source: SourceFile, assignment: Assignment) -> str:
    """Whose assignment's names a file has that is called after one, in a sentence; "" where none."""
    others = {other.id: _defined(source, other) for other in course.assignments}
    most = max(others, key=lambda id_: len(others[id_]))
    if not others[most]:
        return ""
    sentence = _(
        "{file} defines what {other} asks for ({names}) and nothing of {assignment}. Was it saved "
        "in the wrong place?"
    )
    names, file = listed(others[most]), clean(source.key, 120)
    return sentence.format(file=file, other=most, names=names, assignment=assignment.id)


def _defined(source: SourceFile, assignment: Assignment) -> list[str]:
    """The names of an assignment's exercises that a file defines."""
    return [e.name for e in assignment.exercises if any(definitions(source, e.name))]


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
            cell, line = (
                _chosen_definitions(located, exercise) or places[-1]
            )  # the last one, as in Python
            return CodeLocation(sources[key].name, line, cell)
    return None


def _chosen_definitions(located: Located, exercise: Exercise) -> tuple[int | None, int] | None:
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
            earlier = () if _chosen_definitions(located, exercise) else _earlier(source, exercise)
            lines = [*_not_imported(located), *earlier]
            known.update(dict.fromkeys(lines))
    for id_, lines_ in found.items():
        lines_.update(dict.fromkeys(_not_read(handle, id_)))
    return {id_: tuple(lines_)[:MOST_LINES] for id_, lines_ in found.items()}


def _not_imported(located: Located) -> Iterator[str]:
    """The imports that failed in the file that counts for an exercise."""
    for failure in located.not_imported:
        place = place_words(failure.location, located.key)
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
