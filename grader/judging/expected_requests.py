"""What checks ask the solution, so that it can be asked of a submission before they run, all at once.

A check's requests hardly ever depend on the replies: where they do, it runs again by itself. Nothing
of the replies is kept here, and nothing of them is sent.
"""

from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass, field

from msgspec import msgpack

from grader.core.errors import GraderFault
from grader.core.kept import kept
from grader.core.records import Visibility
from grader.course.course import Exercise
from grader.course.outcome_parts import everything_of
from grader.judging.fixtures import CheckEnvironment
from grader.judging.run import Check
from grader.judging.solution_requests import SolutionRequests
from grader.sandbox.wire import Frame, encode
from grader.sessions.base import Session
from grader.testing.lookup import SubmissionHandle

MOST_KEPT = 1024
"""Files that are kept: an exercise of a class has one."""


@dataclass(slots=True)
class Listening(Session):
    """A session with the solution that keeps what a check asks, as it would be sent to a child.

    Args:
        inner: the session.
        requests: of the check that is under way.
        files: those that it asked.
    """

    inner: Session
    requests: list[bytes] = field(default_factory=list)
    files: set[str] = field(default_factory=set)
    is_fresh: bool = False

    def begin(self, check: str, asked: str = "") -> None:
        """A check begins."""
        self.requests, self.files = [], set()
        self.inner.begin(check)

    def ask(self, frame: Frame, seconds: float) -> Frame:
        """Keep a request, and pass it on."""
        verb = frame.header["verb"]
        if verb == "forget":
            self.is_fresh = True
        elif verb == "open":
            self.files.add(frame.header["source"])
        else:
            header = {**frame.header, "fresh": self.is_fresh}
            self.requests.append(encode(Frame(header, frame.payload)))
            self.files.add(frame.header.get("source", ""))
            self.is_fresh = False
        return self.inner.ask(frame, seconds)


@dataclass(slots=True)
class ExpectedRequests:
    """What the checks of exercises ask of the solution, worked out once per course and seed.

    Args:
        environment: what checks are called with; it has the solution.
        asked: what was worked out, by exercise and checks.
    """

    environment: CheckEnvironment
    asked: dict[tuple[str, ...], SolutionRequests] = field(default_factory=dict)

    def of(self, exercise: Exercise, checks: Iterable[Check]) -> SolutionRequests:
        """What these checks of an exercise ask.

        Args:
            exercise: the exercise.
            checks: its checks, of one visibility.
        """
        chosen = [check for check in checks if not check.memory_mib]
        key = (exercise.id, *(check.id for check in chosen))
        if key not in self.asked:
            course = self.environment.course
            assignment = course.by_id[exercise.assignment]
            is_drawn = any(check.visibility is Visibility.HIDDEN for check in chosen)
            seed = self.environment.seed if is_drawn else ""
            depends_on = [key, seed, everything_of(course, assignment)]

            def make() -> bytes:
                return msgpack.encode(self._ask(exercise, chosen))

            content = kept("requests", depends_on, make, most=MOST_KEPT)
            self.asked[key] = msgpack.decode(content, type=SolutionRequests)
        return self.asked[key]

    def _ask(self, exercise: Exercise, checks: Iterable[Check]) -> SolutionRequests:
        if self.environment.beside is None:
            raise GraderFault("there is no solution to ask")
        found: dict[str, tuple[bytes, ...]] = {}
        solution, limits = self.environment.reference.submission, self.environment.course.limits
        with closing(self.environment.beside()) as inner:
            session = Listening(inner)
            handle = SubmissionHandle(solution, session, limits)
            handle.declared[exercise.id] = self.environment.declared(exercise)
            located = handle.locate(exercise)
            for check in checks:
                session.begin(check.id)
                given = self.environment.fixtures(handle, exercise, check.id, check.visibility)
                record = check.run(given, self.environment)
                asks_alone = session.files <= {located.key, ""}
                if record.raised is None and session.requests and asks_alone:
                    found[check.id] = tuple(session.requests)
            how = located.asked_as(exercise.name, handle.declared[exercise.id])
        return SolutionRequests(located.key, how, found)
