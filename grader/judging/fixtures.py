"""What checks are called with, and what it is made from: loaded once per worker, then reused."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from grader.core.records import Visibility
from grader.course.course import SOLUTIONS, Course, Exercise
from grader.course.printed_tensors import Ledger
from grader.judging.recordings import Recording
from grader.sandbox.torch_later import torch
from grader.sessions.base import Session
from grader.sessions.child import ChildSession
from grader.sessions.in_process import InProcessSession
from grader.sessions.launchers import Launcher, default_launcher
from grader.sessions.reference_sessions import CachedSession, RecordedSession, Replies
from grader.submissions.source_file import SourceFile
from grader.submissions.submission import Reading, Submission, read_submission
from grader.testing.attempt import Attempt
from grader.testing.draw import VISIBLE_SEED, Draw
from grader.testing.given_tests import GivenTests
from grader.testing.judge import Judge
from grader.testing.lookup import SubmissionHandle
from grader.testing.roles import Roles
from grader.testing.signatures import Parameters
from grader.testing.student import ReferenceHandle, StudentHandle

REFERENCE_STUDENT = "reference"


@dataclass(slots=True)
class Fixtures:
    """What one check function is called with, by the names of its parameters."""

    student: StudentHandle
    reference: ReferenceHandle
    judge: Judge
    draw: Draw
    printed: Ledger

    @property
    def attempt(self) -> Attempt:
        """The student's code beside the solution's."""
        return Attempt(self.student, self.reference, self.judge, self.student.exercise.name)


@dataclass(slots=True)
class CheckEnvironment:
    """The course, its printed tensors, and the hidden solution in a session.

    Args:
        ledger: the course's printed tensors.
        reference: the hidden solution, live or from a recording.
        seed: the run's secret seed for hidden inputs.
        overdue: ids of checks that did not return in time, and are not tried again.
        beside: makes another session with the solution; None where there is none.
        replies: what the reference is known to reply.
    """

    course: Course
    ledger: Ledger
    reference: SubmissionHandle
    reference_session: Session
    seed: str
    overdue: set[str] = field(default_factory=set)
    beside: Callable[[], CachedSession] | None = None
    replies: Replies = field(default_factory=Replies)

    def close(self) -> None:
        """End what the reference runs in."""
        self.reference_session.close()

    def declared(self, exercise: Exercise) -> dict[str, Parameters]:
        """What the classes and functions of an exercise's solution take, by name, and what a `forward` does."""
        located = self.reference.locate(exercise)
        found = {**located.functions} | {name: located.parameters(name) for name in located.classes}
        found |= {f"{name}.forward": those[-1].forward for name, those in located.classes.items()}
        return {name: parameters for name, parameters in found.items() if parameters}

    def fixtures(
        self, student: SubmissionHandle, exercise: Exercise, check: str, visibility: Visibility
    ) -> Fixtures:
        """The fixtures for one run of one check.

        Args:
            student: the submission.
            exercise: what the check belongs to.
            check: its id, by which inputs are drawn and a recording is read.
            visibility: hidden checks draw from the run's secret seed.
        """
        self.reference_session.begin(check)
        student.forget()
        roles = Roles(dict(self.course.roles), self.course.other_names)
        handle = StudentHandle(student, exercise, roles=roles)
        seed = VISIBLE_SEED if visibility is Visibility.VISIBLE else self.seed
        reference = ReferenceHandle(self.reference, exercise, roles=roles)
        judge = Judge(
            handle.calls,
            say=self.course.text,
            held=handle.held,
            roles=roles,
            renamed=handle.renamed,
            settle=student.settle,
        )
        handle.given_tests = GivenTests(reference, judge).run
        return Fixtures(
            student=handle,
            reference=reference,
            judge=judge,
            draw=Draw(seed, check),
            printed=self.ledger,
        )


def live_environment(
    course: Course, seed: str, *, apart: bool = False, launcher: Launcher | None = None
) -> CheckEnvironment:
    """An environment over the hidden solutions, for instructors.

    Args:
        course: the course.
        seed: the run's secret seed for hidden inputs.
        apart: run the solutions in a process of their own, because student code runs in this one
            (it could change torch's defaults).
        launcher: makes that process, where there is one already.
    """
    # Small tensors are quicker on one thread, and results do not depend on the machine.
    if "torch" in course.packages:
        torch.set_num_threads(1)
    submission = read_solutions(course)
    inner: Session = InProcessSession(submission)
    if apart:
        parent, is_made = launcher or default_launcher(course.packages), launcher is None
        inner = ChildSession(parent, submission, course.limits, owns_launcher=is_made)
    session = CachedSession(inner)

    def beside() -> CachedSession:
        return CachedSession(inner.of(submission) or InProcessSession(submission))

    reference = SubmissionHandle(submission, session, course.limits)
    ledger = Ledger(course.root, course.ledger)
    return CheckEnvironment(
        course, ledger, reference, session, seed, beside=beside, replies=session.replies
    )


def recorded_environment(course: Course, recordings: Mapping[str, Recording]) -> CheckEnvironment:
    """An environment for students: the reference replies from recordings, by assignment."""
    session = RecordedSession(
        transcripts={c: t for r in recordings.values() for c, t in r.transcripts.items()},
        opened={r.source: {"names": r.names, "classes": r.classes} for r in recordings.values()},
    )
    sources = {r.source: SourceFile(r.source, "", False, ()) for r in recordings.values()}
    readings = {id_: Reading((r.source,), r.source) for id_, r in recordings.items()}
    submission = Submission(REFERENCE_STUDENT, sources, readings)
    reference = SubmissionHandle(submission, session, course.limits)
    return CheckEnvironment(course, Ledger(course.root, course.ledger), reference, session, "")


def read_solutions(course: Course) -> Submission:
    """The hidden solutions, read the way a submission is."""
    return read_submission(course, course.root / SOLUTIONS, REFERENCE_STUDENT)
