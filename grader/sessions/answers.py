"""Answers what student code asks back about exercises of its own that are judged already."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from grader.sandbox.failures import OutOfTime
from grader.sandbox.wire import BACK, Frame
from grader.sessions.base import OwnFrame, Session

MOST_QUESTIONS = 2_000
MOST_BYTES = 2**26
"""How much may be asked in one request: questions, and bytes of their tensors and of the answers'."""

PARTS = (*("args", "kwargs", "state", "of", "made", "training", "random", "on_meta", "cotangents"),)
"""What of a question is handed on."""


@dataclass
class Answers:
    """What the solution gives for exercises that are judged, asked by the code of another one.

    No object and no code travels, and nothing is answered of any other name: numbers go to a
    process of the solutions, which is limited as a student's is, and numbers come back.

    Args:
        solutions: a session of the solutions.
        files: by name, the file of the solution that has it.
        parameters: by file of the student's and by name, what the solution's takes.
        asked: the names that were asked for so far.
    """

    solutions: Session
    files: Mapping[str, str]
    parameters: Mapping[str, Mapping[str, list[str]]]
    seconds: float
    asked: set[str] = field(default_factory=set)
    questions_left: int = MOST_QUESTIONS
    bytes_left: int = MOST_BYTES

    def begin(self) -> None:
        """A request begins: it may ask as much as any other."""
        self.questions_left, self.bytes_left = MOST_QUESTIONS, MOST_BYTES

    def to(self, question: Frame) -> Frame:
        """The answer to a question."""
        name = question.header.get("name")
        self.questions_left -= 1
        self.bytes_left -= len(question.payload)
        if not isinstance(name, str) or name not in self.files:
            return _refused("NameError", "nothing is answered of this name")
        if self.questions_left < 0 or self.bytes_left < 0:
            return _refused(OutOfTime.__name__, "too much was asked")
        self.asked.add(name)
        parts = {part: question.header[part] for part in PARTS if part in question.header}
        header = {"verb": "answer", "source": self.files[name], "name": name, **parts}
        reply = self.solutions.ask(Frame(header, question.payload), self.seconds)
        self.bytes_left -= len(reply.payload)
        if isinstance(reply, OwnFrame) or self.bytes_left < 0:
            return _refused("RuntimeError", "it could not be answered")
        return reply

    def close(self) -> None:
        """End the process of the solutions."""
        self.solutions.close()


def is_question(frame: Frame) -> bool:
    """Whether a student's process asks something, and has not replied yet."""
    return frame.header.get("verb") == BACK


def _refused(kind: str, message: str) -> Frame:
    failure: dict[str, Any] = {"type": kind, "message": message}
    return Frame({"failure": failure})
