"""The public API for authors of checks.

A check asks by the names of its parameters for what it needs:

- `attempt`: the student's code beside the solution's, called and judged (`grader.testing.attempt`);
- `student` and `reference`: the same apart, request by request (`grader.testing.student`);
- `judge`: compares and explains (`grader.testing.judge`);
- `draw`: makes inputs (`grader.testing.draw`);
- `printed`: the tensors of the course's ledger.

A class of checks inherits what many exercises share (`grader.testing.mixins`): `KeepsNames`,
`KeepsArguments`, `KeepsDoublePrecision`. Whatever else it needs, it imports from here:

- `Attempt`, `Called`, `Instance`, `StudentHandle`, `ReferenceHandle`, `Judge`, `Draw`: the types of
  what a check is called with, for helpers.
- `StudentOutcome`: raised when a request to student code fails; its `failure` says why.
- `Failure`: the reason, as `student.refusal` returns it.
- `RemoteObject`: stands for an instance, class or function of the student's.
- `N_`: marks words for the student that a check keeps in a variable, so that they are translated.
- `beside_student`: lets a function of the check file run beside student code, where all is an object.
- `by_name`: a parameter, or its gradient, by its name, wherever in a module it is kept.
- `describe`: a value in a few words, for a sentence of the check.
- `view`, `ExampleText`: what right code lets a student see (`grader.testing.views`).
- `prediction`: what a student says before an exercise, and their code after it
  (`grader.testing.predictions`).
- `Heat`, `Text`: the types of what a view is called with, for helpers.

What several checks of a course share stands in `tests/checks/helpers.py`, for one assignment in
`tests/checks/<assignment>/helpers.py`; checks import it by `from ..helpers import …` and
`from .helpers import …`.

This package stands on `sessions`; checks and all packages above may import it.
"""

from grader.core.language import N_
from grader.sandbox.wire import RemoteObject
from grader.testing.attempt import Attempt, Called, Instance, by_name
from grader.testing.compare import describe
from grader.testing.draw import Draw
from grader.testing.judge import Judge
from grader.testing.predictions import prediction
from grader.testing.replies import Failure
from grader.testing.student import (
    ReferenceHandle,
    StudentHandle,
    StudentOutcome,
    beside_student,
)
from grader.testing.views import ExampleText, Heat, Text, view

__all__ = [
    "N_",
    "Attempt",
    "Called",
    "Draw",
    "ExampleText",
    "Failure",
    "Heat",
    "Instance",
    "Judge",
    "ReferenceHandle",
    "RemoteObject",
    "StudentHandle",
    "StudentOutcome",
    "Text",
    "beside_student",
    "by_name",
    "describe",
    "prediction",
    "view",
]
