"""Checks that stay loaded, with torch and reference answers, from one save to the next.

Checks run in a thread of their own, so that whoever waits for them can do something else, and
stop them when the work has changed.
"""

import socket
import sys
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field

from grader.core.errors import GraderError
from grader.core.language import _
from grader.core.records import Result
from grader.course.course import Course, Exercise, Limits
from grader.judging.submission_grader import (
    VISIBLE_CHECKS,
    Scope,
    SubmissionGrader,
    grade,
    visible_grader,
)
from grader.progress.progress import Progress, remember
from grader.progress.solved import Shown, Solved, what_follows
from grader.sandbox.stream import Raw
from grader.sessions.base import OwnFrame
from grader.sessions.child import ChildSession
from grader.sessions.launchers import (
    Child,
    Launcher,
    SpawnedChild,
    SpawnLauncher,
    early_launcher,
    importing,
)
from grader.submissions.submission import Submission

END_SECONDS = 3.0

Batches = Sequence[Sequence[Exercise]]


class Stopped(BaseException):  # not an Exception: a check would take it for a failure
    """Checks were stopped from outside."""


class StoppableSession(ChildSession):
    """A child session that another thread may stop."""

    stopped = False

    def stop(self) -> None:
        """Send nothing more, and do not wait for a reply that is still missing."""
        self.stopped = True
        child = self.child
        if child is not None:
            with suppress(OSError):
                child.connection.shutdown(socket.SHUT_RDWR)

    def exchange(self, request: bytes, seconds: float) -> Raw | OwnFrame:
        """Send a request, unless stopped.

        Raises:
            Stopped: when it was stopped, before or meanwhile.
        """
        if self.stopped:
            raise Stopped
        reply = super().exchange(request, seconds)
        if self.stopped:
            raise Stopped
        return reply

    def _start(self) -> None:
        super()._start()
        if self.stopped:  # while there was no child to be stopped
            raise Stopped

    def _end(self, patience: float = 0.0) -> int | None:
        return super()._end(0.0 if self.stopped else patience)


@dataclass
class AheadLauncher(SpawnLauncher):
    """Starts fresh interpreters, the next one before it is needed.

    Args:
        limits: what every child is limited to.
    """

    limits: Limits
    ready: Child | None = None

    def prepare(self) -> None:
        """Start the next interpreter, which imports packages while the student types."""
        if self.ready is None:
            self.ready = SpawnedChild(self.limits, 1)

    def launch(self, limits: Limits, generation: int) -> Child:
        """The interpreter that is ready, or a fresh one."""
        limits = importing(limits, self.limits.packages)
        if generation == 1 and limits == self.limits and self.ready is not None:
            child, self.ready = self.ready, None
            return child
        if generation == 1:  # the next one is to fit the same code
            self.limits = limits
        return super().launch(limits, generation)

    def close(self) -> None:
        """End the interpreter that waits."""
        child, self.ready = self.ready, None
        if child is not None:
            child.end(0.0)


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result of one batch of exercises.

    Args:
        run: the number of the run it belongs to.
        result: of the checks; None when the grader itself failed.
        follows: by exercise that was just solved, what there is to show of it.
        fault: why it failed.
        is_last: whether the run is over.
    """

    run: int
    result: Result | None
    fault: str = ""
    is_last: bool = False
    follows: Mapping[str, list[Shown]] = field(default_factory=dict)


@dataclass
class LiveChecker:
    """What stays loaded, and the run that is under way.

    Args:
        course: the course.
        report: called with each verdict, in the run's own thread.
        launcher: makes the child processes.
    """

    course: Course
    report: Callable[[Verdict], None]
    launcher: Launcher
    grader: SubmissionGrader | None = None
    run: int = 0
    session: StoppableSession | None = None
    thread: threading.Thread | None = None

    def check(self, submission: Submission, batches: Batches, solved: Collection[str] = ()) -> None:
        """Check some exercises, batch by batch; a run that is under way is stopped first.

        Args:
            submission: the work.
            batches: the exercises.
            solved: the ids of those that were solved before, after which nothing follows.
        """
        self.stop()
        self.run += 1
        run, before = self.run, self.thread

        def work() -> None:
            if before is not None:
                before.join()
            with suppress(Stopped):
                try:
                    self._check(run, submission, batches, solved)
                except Exception as error:
                    fault = str(error)
                    if not isinstance(error, GraderError):
                        sentence = _("The grader itself failed: {reason}")
                        fault = sentence.format(reason=f"{type(error).__name__}: {error}")
                    self.report(Verdict(run, None, fault, is_last=True))
            if isinstance(self.launcher, AheadLauncher) and run == self.run:
                self.launcher.prepare()

        self.thread = threading.Thread(target=work, daemon=True)
        self.thread.start()

    def stop(self) -> None:
        """Stop the run that is under way, if there is one."""
        self.run += 1
        if self.session is not None:
            self.session.stop()

    def close(self) -> None:
        """Stop, and end the processes that are held."""
        self.stop()
        if self.thread is not None:
            self.thread.join(END_SECONDS)
        self.launcher.close()
        if self.grader is not None:
            self.grader.close()

    def _check(
        self, run: int, submission: Submission, batches: Batches, solved: Collection[str]
    ) -> None:
        grader = self.grader = self.grader or visible_grader(self.course)
        with closing(StoppableSession(self.launcher, submission, self.course.limits)) as session:
            self.session = session
            for position, batch in enumerate(batches, 1):
                if run != self.run:
                    raise Stopped
                scope = Scope({exercise.id: exercise for exercise in batch}, VISIBLE_CHECKS)
                result = grade(grader, submission, session, scope)
                new = [e.id for e in result.exercises if e.is_solved and e.id not in solved]
                ran = grader, submission, session
                follows = {
                    id_: what_follows(Solved(*ran, [self.course.exercises[id_]], "watch"))
                    for id_ in new
                }
                self.report(Verdict(run, result, "", position == len(batches), follows))


@contextmanager
def running(
    now: Progress, exercises: Collection[str]
) -> Iterator[tuple[SubmissionGrader, Submission, ChildSession]]:
    """The work as it is in a process, and the visible checks of some exercises, by id."""
    work, course = now.submission, now.course
    launcher, asked = early_launcher(course.packages), course.concerned(exercises)
    child = ChildSession(launcher, work, course.limits, owns_launcher=True, assignments=asked)
    with closing(child) as session, closing(visible_grader(course, exercises=exercises)) as grader:
        yield grader, work, session


def checked(now: Progress, exercises: Sequence[Exercise]) -> Progress:
    """The progress after one check of these exercises, which is remembered.

    Raises:
        GraderFault: when the grader itself fails.
    """
    chosen = {exercise.id: exercise for exercise in exercises}
    with running(now, chosen) as ran:
        result = grade(*ran, Scope(chosen, VISIBLE_CHECKS))
    remember(now.course, now.submission, result)
    return now.adding(result)


def fast_launcher(course: Course) -> Launcher:
    """A warm parent on Linux; elsewhere an interpreter that is started ahead.

    Make it while this process has one thread and nothing of the course: there it is a fork.
    """
    if sys.platform == "linux":
        return early_launcher(course.packages)
    return AheadLauncher(importing(course.limits, course.packages))
