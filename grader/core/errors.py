"""The exceptions of the kit: one root, and children by who can act on them."""


class GraderError(Exception):
    """Root of every exception the kit raises on purpose. Its text is written for people."""


class UsageError(GraderError):
    """A command was given something it cannot use: a wrong id, a missing folder."""


class CourseError(GraderError):
    """The course itself is wrong; its author can act.

    Args:
        problems: one sentence each, with its location, what was found and what is allowed.
    """

    def __init__(self, *problems: str) -> None:
        self.problems = problems
        super().__init__("\n".join(problems))


class SubmissionError(GraderError):
    """A submission cannot be read; the student can act."""


class GraderFault(GraderError):
    """The grader itself failed; its developers can act. A score it touches is undecided."""


class NoProcessFault(GraderFault):
    """No process could be started for student code; that may be the moment."""
