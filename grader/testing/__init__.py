"""The public API for authors of checks: `student`, `reference`, `judge`, `draw`.

A check receives `student` and `reference` (`grader.testing.student`), `judge`
(`grader.testing.judge`), `draw` (`grader.testing.draw`) and `printed` (the tensors of the course's ledger) by
the names of its parameters. Whatever else it needs, it imports from here:

- `StudentOutcome`: raised when a request to student code fails; its `failure` says why.
- `Failure`: the reason, as `student.refusal` returns it.
- `RemoteObject`: stands for an instance, class or function of the student's.
- `N_`: marks words for the student that a check keeps in a variable, so that they are translated.
- `describe`: a value in a few words, for a sentence of the check.

This package stands on `sessions`; checks and all packages above may import it.
"""

from grader.core.language import N_
from grader.sandbox.wire import RemoteObject
from grader.testing.compare import describe
from grader.testing.replies import Failure
from grader.testing.student import StudentOutcome

__all__ = ["N_", "Failure", "RemoteObject", "StudentOutcome", "describe"]
