"""Where an exercise's name is looked up in a submission, and why it may be missing there."""

import difflib
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Any

from grader.core.language import _
from grader.course.course import Assignment, Exercise, Limits
from grader.sandbox.failures import stub_exercise
from grader.sandbox.together import has_instances, joined, parted
from grader.sandbox.wire import Frame, WireFault
from grader.sessions.answers import Answers
from grader.sessions.base import OwnFrame, Session, is_busy
from grader.submissions.source_file import definitions, has_stub, is_written
from grader.submissions.submission import Submission
from grader.testing.earlier import Judged
from grader.testing.replies import (
    Failure,
    read_failure,
    read_failures,
    read_names,
    read_printed,
)
from grader.testing.signatures import (
    Classes,
    Parameters,
    alike,
    best,
    is_in_another_order,
    read_classes,
    read_functions,
)

MOST_LINES = 1000
"""How much of a cell that failed is looked through, and of each of its lines."""

ENDED = ("timeout", "crashed", "out_of_memory", "busy")
"""Failures that end the student's process."""


@dataclass(frozen=True, slots=True)
class Located:
    """The file in which an exercise's name is looked up.

    Args:
        loading: the first failure when it was loaded, if there was one.
        names: what the file defines.
        printed: what it printed while it was loaded.
        classes: its classes by name, also earlier ones of a name.
        chosen: the place of the exercise's class among those of its name.
        is_written: whether the exercise's name stands in it.
        not_imported: its imports that failed.
        functions: what its functions take, by name.
    """

    key: str
    loading: Failure | None
    names: tuple[str, ...] = ()
    readable: bool = True
    printed: str = ""
    classes: Classes = field(default_factory=dict)
    chosen: int = -1
    is_written: bool = True
    not_imported: tuple[Failure, ...] = ()
    functions: Mapping[str, Parameters] = field(default_factory=dict)

    def obstacle(self, name: str) -> Failure | None:
        """Why the file cannot be asked for anything, if it cannot."""
        if not self.readable:
            return self.loading or Failure("missing")
        if self.loading is None or self.loading.kind not in ENDED or name in self.names:
            return None
        if self.is_written or self.loading.kind == "busy":
            return self.loading
        return Failure("missing", message=name, loading=self.loading)

    def fits(self, name: str, wanted: Parameters | None) -> bool:
        """Whether a class of this name takes as many arguments as are wanted; True for no class."""
        candidates = self.classes.get(name, ())
        return not wanted or not candidates or any(one.takes(wanted) for one in candidates)

    def choosing(self, name: str, wanted: Parameters | None) -> "Located":
        """The same, with the one of several classes of this name that fits best."""
        candidates = self.classes.get(name, ())
        return replace(self, chosen=best(candidates, wanted)) if wanted and candidates else self

    def asked_as(self, name: str, declared: Mapping[str, Parameters]) -> str:
        """What decides how this file is asked: its path, and which classes take other arguments.

        Args:
            name: of the exercise.
            declared: what the classes take that its checks call.
        """
        chosen = self.chosen if len(self.classes.get(name, ())) > 1 else -1
        own = {other: self.parameters(other, chosen if other == name else -1) for other in declared}
        unlike = {n: p for n, p in own.items() if p and not alike(p, declared[n])}
        return f"{self.key} {chosen} {unlike}" if unlike or chosen != -1 else self.key

    def parameters(self, name: str, place: int = -1) -> Parameters | None:
        """What the class of this name takes, if that is known."""
        candidates = self.classes.get(name, ())
        return candidates[place].parameters if candidates else None


@dataclass(frozen=True, slots=True)
class StandIn:
    """The solution of an earlier exercise, with the mistakes by which the student's was recognised.

    Args:
        exercise: the earlier one.
        submission: the solution, in a process where nothing of the student's runs.
    """

    exercise: Exercise
    submission: "SubmissionHandle"


@dataclass(slots=True)
class SubmissionHandle:
    """A submission in a session: which of its files are loaded, and what each defines.

    `opened` and `located` also say which of the session's processes they hold for.

    Args:
        declared: by exercise, what its class takes as the solution has it, and what classes
            take that it builds on.
        unlimited: the assignments of checks that limit memory, where no such limit could be set.
        notes_chance: whether calls are asked if they drew random numbers.
        judged: the exercises that are judged already, by id.
        compared: the ids of earlier exercises that checks have asked for since this was cleared.
        stand_ins: what stands for earlier exercises, by id, while another is judged beside them.
        waiting: makes the instance that is to be made with what is asked of it first.
        replies: to requests that were sent together, those that were not asked for yet.
    """

    submission: Submission
    session: Session
    limits: Limits
    assignments: tuple[Assignment, ...] = ()
    opened: dict[str, tuple[int, Frame]] = field(default_factory=dict)
    located: dict[str, tuple[int, Located]] = field(default_factory=dict)
    declared: dict[str, Mapping[str, Parameters]] = field(default_factory=dict)
    unlimited: set[str] = field(default_factory=set)
    notes_chance: bool = False
    judged: dict[str, Judged] = field(default_factory=dict)
    compared: set[str] = field(default_factory=set)
    stand_ins: dict[str, StandIn] = field(default_factory=dict)
    waiting: Callable[[], object] | None = None
    replies: deque[Frame] = field(default_factory=deque)

    def ask(self, header: dict[str, Any], payload: bytes = b"") -> Frame:
        """Send one request within the time for one, or reply with what was sent together before."""
        if self.replies:
            return self.replies.popleft()
        self.settle()
        return self.session.ask(Frame(header, payload), self.limits.request_seconds)

    def settle(self) -> None:
        """Make the instance that waits, if one does: everything is asked in the order of the check."""
        waiting, self.waiting = self.waiting, None
        if waiting is not None:
            waiting()

    @contextmanager
    def together(self, frames: Sequence[Frame]) -> Iterator[None]:
        """Send requests in one frame, the first of which makes an instance; then each is asked for.

        Where it is not known at which of them the process ended, they are sent again one by one.

        Args:
            frames: the requests, as they would be sent by themselves.
        """
        self.waiting = None
        if len(frames) > 1 and not any(has_instances(frame.header) for frame in frames):
            whole = joined(frames, source=frames[0].header["source"])
            whole = self.session.ask(whole, self.limits.request_seconds)
            with suppress(WireFault):
                self.replies.extend([whole] if is_busy(whole) else parted(whole)[: len(frames)])
        try:
            yield
        finally:
            self.replies.clear()

    @contextmanager
    def within(self, memory_mib: int, assignment: str) -> Iterator["SubmissionHandle"]:
        """The same submission in a process of its own, with so much memory.

        Where that cannot be, it is this handle, and the assignment is noted.

        Args:
            memory_mib: MiB on top of what is imported before; 0 for no limit, which is this handle.
            assignment: the id of the one whose check asks.
        """
        limits = replace(self.limits, memory_mib=memory_mib)
        session = self.session.within(limits) if memory_mib else None
        if session is None:
            self.unlimited.update([assignment] if memory_mib else ())
            yield self
            return
        with closing(session):
            yield replace(self, session=session, limits=limits, opened={}, located={})

    def apart(self, answers: Answers | None = None) -> "SubmissionHandle":
        """The same submission in a process of its own; this handle where there is only one.

        Args:
            answers: what it may ask back there.
        """
        session = self.session.apart(answers)
        if session is None:
            return self
        return replace(self, session=session, opened={}, located={})

    def loads_as(self, other: "SubmissionHandle") -> None:
        """Take over which files ended another process as they were loaded: they are not run again."""
        ended = {key: one for key, one in other.opened.items() if "failure" in one[1].header}
        self.opened = ended | self.opened

    def forget(self) -> None:
        """Let go of all instances made so far."""
        self.waiting = None
        if self.opened:
            self.ask({"verb": "forget"})
        for stand_in in self.stand_ins.values():
            stand_in.submission.forget()

    def reordered(self, exercise: Exercise) -> tuple[Parameters, Parameters] | None:
        """What a function takes and what it should, where that is the same in another order; else None."""
        wanted = self.declared.get(exercise.id, {}).get(exercise.name, ())
        own = self.locate(exercise).functions.get(exercise.name, ())
        return (own, wanted) if is_in_another_order(wanted, own) else None

    def locate(self, exercise: Exercise) -> Located:
        """The file in which an exercise is looked up: the first that defines its name.

        Where the name is a class's, it is the first whose class can take what the exercise asks
        for; the first of all where none can.
        """
        generation, located = self.located.get(exercise.id, (0, None))
        if located is not None and generation == self.session.generation:
            return located
        name, wanted = exercise.name, self.declared.get(exercise.id, {}).get(exercise.name)
        seen: list[Located] = []
        for key in self._keys(exercise):
            seen.append(self._look_into(key, name))
            if name in seen[-1].names and seen[-1].fits(name, wanted):
                seen = seen[-1:]
                break
        defining = [found for found in seen if name in found.names]
        written = [found for found in seen if found.is_written]
        nothing = Located("", Failure("missing"), readable=False)
        located = next(iter(defining or written or seen), nothing).choosing(name, wanted)
        had_turn = located.loading is None or located.loading.kind != "busy"
        self.located[exercise.id] = (self.session.generation if had_turn else 0, located)
        return located

    def asked_as(self, exercise: Exercise, compared: Iterable[Exercise]) -> str:
        """What decides the requests of a check, beside replies; never the text of a file.

        Args:
            exercise: whose check it is.
            compared: the exercises whose work it may look at as well. What of their files is not
                loaded yet, it loads by a request.
        """
        found = [self.locate(exercise).asked_as(exercise.name, self.declared[exercise.id])]
        for other in compared:
            reading = self.submission.readings.get(other.assignment)
            sources = () if reading is None else reading.sources
            loaded = [key for key in sources if self._is_loaded(key)]
            located = self.last_located(other) if len(loaded) < len(sources) else self.locate(other)
            declared = self.declared.get(other.id, {})
            how = located.asked_as(other.name, declared) if located is not None else ""
            found.append(f"{other.id} {sources} {loaded} {how}")
        return "\n".join(found)

    def _is_loaded(self, key: str) -> bool:
        """Whether no request is needed to know what a file defines."""
        generation, frame = self.opened.get(key, (0, None))
        is_current = generation == self.session.generation
        return frame is not None and (is_current or bool(generation and "failure" in frame.header))

    def uses(self, exercise: Exercise, name: str, *by: str) -> bool:
        """Whether the code of an exercise looks up another name, itself or through other names.

        Args:
            exercise: whose code is looked at.
            name: the other name.
            *by: names whose code is looked at as well.
        """
        located = self.locate(exercise)
        if exercise.name not in located.names:
            return False
        of = [exercise.name, *by]
        header = {"verb": "reaches", "source": located.key, "names": of, "wanted": name}
        return self.ask(header).header.get("reaches") is True

    def _keys(self, exercise: Exercise) -> list[str]:
        """The files to look into: those that have the exercise's stub last, where others write it."""
        keys = list(self.submission.readings[exercise.assignment].sources)
        written = {key for key in keys if is_written(self.submission.sources[key], exercise)}
        if not written:
            return keys
        return sorted(keys, key=lambda key: has_stub(self.submission.sources[key], exercise))

    def _look_into(self, key: str, name: str) -> Located:
        problem = self.submission.sources[key].problem
        if problem:
            sentence = _("{file} cannot be read: {problem}").format(file=key, problem=problem)
            failure = Failure("missing", message=sentence, is_sentence=True)
            return Located(key, failure, readable=False)
        frame = self._open(key)
        loading = self._loading_failure(key, name, frame)
        names, printed, classes = read_names(frame), read_printed(frame), read_classes(frame)
        stands_there = name in names or bool(self._cells(key, name))
        lacking, functions = tuple(read_failures(frame, "not_imported")), read_functions(frame)
        how = (printed, classes, -1, stands_there, lacking, functions)
        return Located(key, loading, names, True, *how)

    def _loading_failure(self, key: str, name: str, frame: Frame) -> Failure | None:
        """What failed in the cell that defines a name; else the first failure of the file."""
        reported = read_failures(frame)
        failures = [failure for failure in reported if not stub_exercise(failure.message)]
        if not reported:
            failure = frame.header.get("failure")
            is_ours = isinstance(frame, OwnFrame)
            return None if failure is None else read_failure(failure, is_ours=is_ours)
        cells = self._cells(key, name)
        in_cell = [f for f in failures if f.location is not None and f.location.cell in cells]
        # Without another assignment's file, everything that builds on it fails further down.
        lacking = {f"No module named '{a.module}'" for a in self.assignments}
        lacks = [failure for failure in failures if failure.message in lacking]
        found = next(iter(lacks or in_cell or failures), None)
        return found and self._first_cause(key, found, failures)

    def _first_cause(self, key: str, failure: Failure, failures: list[Failure]) -> Failure:
        """For a name that is not known, the failure of the cell that was to set it before."""
        unknown = re.match(r"name '(\w+)' is not defined", failure.message)
        if unknown is None:
            return failure
        name = re.escape(unknown[1])
        setting = re.compile(rf"(?:from|import|def|class)\b.*\b{name}\b|{name}\b[^=(]*=")
        cells = {cell.number: cell.text for cell in self.submission.sources[key].cells}
        for earlier in failures[: failures.index(failure)]:
            at = earlier.location
            lines = cells.get(at.cell, "").splitlines() if at is not None else []
            below = lines[at.line - 1 :][:MOST_LINES] if at is not None else []
            if any(setting.match(line[:MOST_LINES]) for line in below):
                return earlier
        return failure

    def _cells(self, key: str, name: str) -> set[int | None]:
        """The cells that define a name by their text; None is a whole script."""
        return {cell for cell, _line in definitions(self.submission.sources[key], name)}

    def stopped_by(self, located: Located, name: str) -> Failure | None:
        """The exception that kept a file, or a cell of a notebook, from defining a name."""
        failure = located.loading
        if failure is None or failure.kind != "exception" or name in located.names:
            return None
        cell = failure.location.cell if failure.location is not None else None
        is_notebook_elsewhere = cell is not None and cell not in self._cells(located.key, name)
        return None if is_notebook_elsewhere else failure

    def stops(self, exercises: Iterable[Exercise]) -> dict[str, list[tuple[str, Failure]]]:
        """What kept files from defining these exercises, by file: where it happened, once each.

        That is another file where it cannot be imported because it stops itself.
        """
        found: dict[str, list[tuple[str, Failure]]] = {}
        for exercise, located in self._looked_up(exercises):
            failure = self.stopped_by(located, exercise.name)
            if failure is not None:
                stop = self._behind(located.key, failure)
                stops = found.setdefault(located.key, [])
                stops.extend([stop] if stop not in stops else [])
        return found

    def stops_below(self, exercises: Iterable[Exercise]) -> dict[str, Failure]:
        """The exceptions that end files, or cells, though each of these exercises is defined."""
        looked_up = list(self._looked_up(exercises))
        lacking = {
            located.key for exercise, located in looked_up if exercise.name not in located.names
        }
        return {
            located.key: located.loading
            for _exercise, located in looked_up
            if located.loading is not None and located.loading.kind == "exception"
            if located.key not in lacking
        }

    def last_located(self, exercise: Exercise) -> Located | None:
        """Where an exercise was looked up last, if it was."""
        _generation, located = self.located.get(exercise.id, (0, None))
        return located

    def _looked_up(self, exercises: Iterable[Exercise]) -> Iterator[tuple[Exercise, Located]]:
        for exercise in exercises:
            located = self.last_located(exercise)
            if located is not None:
                yield exercise, located

    def _behind(self, key: str, failure: Failure) -> tuple[str, Failure]:
        """A file's failure, or that of the file which it could not import a name from."""
        name = re.search(r"^cannot import name '\w+' from '(\w+)'", failure.message)
        for other, source in self.submission.sources.items():
            if name and source.importable and source.module == name[1] and other != key:
                reported = read_failures(self._open(other))
                stops = [found for found in reported if not stub_exercise(found.message)]
                return (other, stops[0]) if stops else (key, failure)
        return key, failure

    def _open(self, key: str) -> Frame:
        """Load a file, once per process; one that ended its process is not run again."""
        if not self._is_loaded(key):
            request = Frame({"verb": "open", "source": key})
            frame = self.session.ask(request, self.limits.load_seconds)
            had_turn = not is_busy(frame)
            self.opened[key] = (self.session.generation if had_turn else 0, frame)
        return self.opened[key][1]

    def why_missing(self, exercise: Exercise, located: Located, name: str) -> Failure:
        """Why a name that a check of an exercise asked for is missing.

        Args:
            exercise: whose check it is.
            located: the file that was asked.
            name: the name.
        """
        own = exercise.name
        mates = next((a.exercises for a in self.assignments if a.id == exercise.assignment), ())
        names = {own, *(mate.name for mate in mates)}
        others = {exercise.name for a in self.assignments for exercise in a.exercises}
        if name != own and name in names:  # another exercise, which this one builds on
            if own in located.names:
                return Failure("blocked", message=name)
            name = own
        lowered = {n.lower(): n for n in located.names if n not in names | others}
        close = difflib.get_close_matches(name.lower(), lowered, n=2, cutoff=0.75)
        similar = tuple(lowered[match] for match in close)
        is_written = bool(self._cells(located.key, name))
        stopped = located.key if is_written and self.stopped_by(located, name) else ""
        return Failure(
            "missing", message=name, loading=located.loading, similar=similar, stopped=stopped
        )

    def ended_loading(self) -> dict[str, Failure]:
        """The files whose loading was stopped, or ended its process, and where that was."""
        return {
            key: failure
            for key, (_generation, frame) in self.opened.items()
            for failure in reversed(read_failures(frame))  # the first one is the last to be kept
            if failure.kind in ("timeout", "crashed")
        }
